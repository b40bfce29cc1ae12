# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The list of mutants, what was found of each, and why some may survive; and the table of all that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ansible_collections.oceanbase.ocp.tests.mutants.keys import FILES, KEPT, ROOT, Key, Outcome

HERE = Path(__file__).resolve().parent
LIST, EXPLAINED = HERE / "mutants.txt", HERE / "explained.txt"
OUTCOMES = KEPT / "outcomes.jsonl"
# Per cent of the mutants that tests have to kill.
LEAST = 95.0


def listed() -> list[Key]:
    """The mutants of the list."""
    keys = [Key.of(line) for line in LIST.read_text().splitlines()]
    return [key for key in keys if key.file in FILES]


def write_list(keys: Iterable[Key], files: Collection[str]) -> None:
    """Write the mutants of these files anew into the list. Reasons for what is gone go, too."""
    every = [*(key for key in listed() if key.file not in files), *keys]
    every.sort(key=lambda key: FILES.index(key.file))
    LIST.write_text("".join(f"{key}\n" for key in every))
    reasons = {key: reason for key, reason in explained().items() if key in every}
    EXPLAINED.write_text("".join(f"{key}\t{reason}\n" for key, reason in reasons.items()))


def explained() -> dict[Key, str]:
    """Mutants that no test can kill, or none needs to, each with the reason."""
    lines = EXPLAINED.read_text().splitlines()
    return {Key.of(line): line.split("\t")[5] for line in lines}


def note(outcome: Outcome) -> None:
    """Keep an outcome, so that a hunt that is ended goes on where it was."""
    row = [str(outcome.key), _code_of(outcome.key.file), outcome.killed, outcome.by, outcome.tests, outcome.seconds]
    with OUTCOMES.open("a") as file:
        file.write(json.dumps(row) + "\n")


def noted() -> dict[Key, Outcome]:
    """The last outcome of each mutant of the code as it is."""
    rows = map(json.loads, OUTCOMES.read_text().splitlines()) if OUTCOMES.exists() else ()
    found = {}
    for line, code, *outcome in rows:
        key = Key.of(line)
        if (ROOT / key.file).exists() and code == _code_of(key.file):
            found[key] = Outcome(key, *outcome)
    return found


@cache
def _code_of(file: str) -> str:
    return hashlib.sha256((ROOT / file).read_bytes()).hexdigest()[:16]


@dataclass(frozen=True)
class Row:
    """How many mutants of a file there are, and how many were killed, have survived, or were not tried yet."""

    file: str
    mutants: int
    killed: int
    explained: int
    survived: int
    untried: int

    @property
    def percent(self) -> float:
        """Of those that were tried, how many were killed."""
        tried = self.mutants - self.untried
        return 100 * self.killed / tried if tried else 0.0

    def __str__(self) -> str:
        counts = f"{self.mutants:7} {self.killed:6} {self.explained:9} {self.survived:8} {self.untried:7}"
        return f"{self.file:32} {counts} {self.percent:8.1f}"


HEAD = f"{'file':32} mutants killed explained survived untried per cent"


def table(keys: Collection[Key], outcomes: Mapping[Key, Outcome], reasons: Mapping[Key, str]) -> list[Row]:
    """A row for each file, then one for all."""
    rows = [_row(file, [key for key in keys if key.file == file], outcomes, reasons) for file in FILES]
    return [*(row for row in rows if row.mutants), _row("all", keys, outcomes, reasons)]


def _row(file: str, keys: Collection[Key], outcomes: Mapping[Key, Outcome], reasons: Mapping[Key, str]) -> Row:
    killed = {key for key in keys if key in outcomes and outcomes[key].killed}
    left = [key for key in keys if key in outcomes and key not in killed]
    reasoned = sum(key in reasons for key in left)
    return Row(file, len(keys), len(killed), reasoned, len(left) - reasoned, len(keys) - len(killed) - len(left))


def complaints(rows: list[Row], unknown: Iterable[Key]) -> Iterator[str]:
    """What makes it fail."""
    everything = rows[-1]
    if everything.untried:
        yield f"{everything.untried} mutants were not tried"
    if everything.survived:
        yield f"{everything.survived} mutants have survived and are not explained"
    if everything.percent < LEAST:
        yield f"fewer than {LEAST:g} % were killed"
    gone = len(list(unknown))
    if gone:
        yield f"{gone} mutants of the list are gone, since the code has changed; LIST=yes writes it anew"
