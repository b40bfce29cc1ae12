# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which files decide, what a mutant of them is called, and what was found of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "plugins/module_utils"
# What decides; its files below ``ROOT``.
DECIDING = {
    "_restart": (
        *(
            "rules",
            "know",
            "knowledge",
            "change",
            "evidence",
            "held",
            "look",
            "awaited_start",
            "start_proof",
            "observed_starts",
        ),
        *("earlier_looks", "own_request", "own_notes", "time_gate", "back", "down_servers", "values_seen"),
        "failure_limit",
    ),
    "_safety": ("voters", "verdict", "database_rules", "server_states", "caps"),
    "_health": ("health_rules",),
    "_signs": ("sign_rules", "alarm_rules", "offline_budget"),
    "_waiting": ("outcome_search",),
    "_journal": ("rows", "clearing"),
}
FILES = tuple(f"{package}/{stem}.py" for package, stems in DECIDING.items() for stem in stems)
# Where what was found is kept.
KEPT = Path(".build/mutants")
# A hundred of the list, drawn by `random.Random(36).sample`, each with the number of the promise that it breaks, or
# "no", and why: judged by reading, before anything was searched.
JUDGED = Path(__file__).resolve().parent / "judged.txt"


@dataclass(frozen=True, order=True)
class Key:
    """Which mutant: the ``nth`` place where an operator applies within a definition, from 1, in a ``file``.

    ``digest`` is that of the line before and after, so a mutant of code that has changed is another one.
    """

    file: str
    definition: str
    operator: str
    nth: int
    digest: str

    def __str__(self) -> str:
        return "\t".join((self.file, self.definition, self.operator, str(self.nth), self.digest))

    @classmethod
    def of(cls, line: str) -> Key:
        """The key that a line shows."""
        file, definition, operator, nth, digest = line.rstrip("\n").split("\t")[:5]
        return cls(file, definition, operator, int(nth), digest)


@dataclass(frozen=True)
class Outcome:
    """Whether a test fails with a mutant, and which; ``tests`` were run, in so many seconds of a processor."""

    key: Key
    killed: bool
    by: str
    tests: int
    seconds: float
