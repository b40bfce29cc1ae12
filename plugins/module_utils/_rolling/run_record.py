# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The file in which the clusters of one run note how they ended: how many have, how many failed, how long it takes."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._base.errors import OptionError

# Words at the beginning of a line, before the seconds that the cluster took, and what is known of it as JSON.
ENDED, FAILED, STOPPED = "ended", "failed", "stopped"
# The newest ones predict how long the next will take.
LOOKED_AT = 50


@dataclass(frozen=True)
class RunRecord:
    """The record at ``path`` of a run over this many ``clusters``, up to ``forks`` of them at the same time.

    ``host`` is the one whose end is noted. All have one file, and each writes one line under a lock. It stops when more
    than ``most`` have failed.
    """

    path: str
    host: str
    clusters: int
    forks: int
    most: int | None

    def objection(self) -> str:
        """Why no further restart should begin; empty if it may. Raises OptionError."""
        failed = _failed(self._lines())
        if self.most is None or failed <= self.most:
            return ""
        return f"{failed} of {self.clusters} clusters of this run failed, and max_failures={self.most}"

    def note(self, word: str, elapsed: float, entry: dict[str, Any]) -> str:
        """Add the outcome of a cluster after these seconds; returns what is left. Raises OptionError."""
        added = f"{word} {elapsed:.1f} {json.dumps({'host': self.host, **entry}, default=str)}\n"
        try:
            with Path(self.path).open("a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                before = file.read().decode(errors="replace")
                # A killed process may have left half a line.
                file.write(f"{'' if before.endswith(chr(10)) or not before else chr(10)}{added}".encode())
        except OSError as error:
            raise self._unusable(error) from error
        return self._words([*before.splitlines(), added])

    def _lines(self) -> list[str]:
        try:
            with Path(self.path).open(encoding="utf-8", errors="replace") as file:
                return file.read().splitlines()
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> OptionError:
        return OptionError(f"run: the record {self.path} cannot be used: {error.strerror}.")

    def _words(self, lines: Sequence[str]) -> str:
        ended = sum(line.startswith((ENDED, FAILED)) for line in lines)
        failed = _failed(lines)
        failures = f", {failed} failed" if failed else ""
        return f"{ended} of {self.clusters} clusters{failures}{self._time_left(lines)}"

    def _time_left(self, lines: Sequence[str]) -> str:
        open_ones = self.clusters - len(lines)
        if open_ones <= 0:
            return ""
        took = [float(line.split(" ", 2)[1]) for line in lines if line.startswith((ENDED, FAILED))][-LOOKED_AT:]
        each = sum(took) / len(took) if took else 0.0
        return f", about {duration_words(each * open_ones / min(self.forks, open_ones))} left"


def _failed(lines: Sequence[str]) -> int:
    return sum(line.startswith(FAILED) for line in lines)


def duration_words(seconds: float) -> str:
    """As in ``3 h 10 min``, ``12 min`` or ``40 s``."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if minutes >= 2 else f"{round(seconds)} s"
