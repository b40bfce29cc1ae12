# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The file in which the clusters of one run note how far they are: how many ended or failed, how long it takes."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import OptionError
from .._base.text import counted

# Words at the beginning of a line, before the seconds that the cluster took, and what is known of it as JSON.
ENDED, FAILED, STOPPED = "ended", "failed", "stopped"
ENDS = (ENDED, FAILED, STOPPED)
# The same of a cluster in progress, before the number of servers left, seconds for each, the time, and the host.
UNDER_WAY = "under-way"
# The newest ones predict how long the next will take.
LOOKED_AT = 50


@dataclass(frozen=True)
class RunRecord:
    """The record at ``path`` of a run over this many ``clusters``, up to ``forks`` of them at the same time.

    ``host`` is the one that is noted. All have one file, and each writes one line at a time under a lock. It stops when
    more than ``most`` have failed.
    """

    path: str
    host: str
    clusters: int
    forks: int
    most: int | None
    clock: Clock = SYSTEM_CLOCK

    def objection(self) -> str:
        """Why no further restart should begin; empty if it may. Raises OptionError."""
        failed = _failed(self._lines())
        if self.most is None or failed <= self.most:
            return ""
        return f"{failed} of {counted(self.clusters, 'cluster')} of this run failed, and max_failures={self.most}"

    def note(self, word: str, elapsed: float, entry: dict[str, Any]) -> str:
        """Add the outcome of a cluster after these seconds; returns what is left. Raises OptionError."""
        return self._words(self._add(f"{word} {elapsed:.1f} {json.dumps({'host': self.host, **entry}, default=str)}"))

    def note_under_way(self, left: int, pace: float) -> None:
        """Note that this many servers of the cluster are left, at these seconds for each. Raises OptionError."""
        self._add(f"{UNDER_WAY} {left} {pace:.1f} {self.clock.wall():.1f} {self.host}")

    def _add(self, line: str) -> list[str]:
        """Add a line; returns all lines."""
        try:
            with Path(self.path).open("a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                before = file.read().decode(errors="replace")
                # A killed process may have left half a line.
                file.write(f"{'' if before.endswith(chr(10)) or not before else chr(10)}{line}\n".encode())
        except OSError as error:
            raise self._unusable(error) from error
        return [*before.splitlines(), line]

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
        return f"{ended} of {counted(self.clusters, 'cluster')}{failures}{self._time_left(lines)}"

    def _time_left(self, lines: Sequence[str]) -> str:
        ended = [line for line in lines if line.startswith(ENDS)]
        open_ones = self.clusters - len(ended)
        if open_ones <= 0:
            return ""
        if self.most is not None and _failed(lines) > self.most:
            # The run is ending.
            return ""
        # How long a failure took tells nothing of the others.
        took = [float(line.split(" ", 2)[1]) for line in ended if line.startswith(ENDED)][-LOOKED_AT:]
        under_way = self._under_way(lines)
        if not took and not any(under_way):
            return ""
        # Those that have not begun may take as long as others.
        work = sum(under_way) + (sum(took) / len(took) if took else 0.0) * (open_ones - len(under_way))
        left = max([work / min(self.forks, open_ones), *under_way])
        return f", about {duration_words(left)} left"

    def _under_way(self, lines: Sequence[str]) -> list[float]:
        """The seconds that each cluster in progress still needs."""
        newest: dict[str, tuple[int, float, float]] = {}
        for line in lines:
            word, *rest = line.split(" ", 4)
            if word == UNDER_WAY and len(rest) == 4:
                left, pace, at, host = rest
                newest[host] = int(left), float(pace), float(at)
            elif word in ENDS:
                newest.pop(_host_of(line), None)
        known = [pace for _left, pace, _at in newest.values() if pace]
        usual, now = sum(known) / len(known) if known else 0.0, self.clock.wall()
        # Where nothing has ended yet, the next servers may take as long as the first one has taken so far. A server
        # that takes longer than the others has at least those after it left.
        each = [(left, pace or usual or now - at, now - at) for left, pace, at in newest.values()]
        return [max(left * pace - so_far, (left - 1) * pace, 0.0) for left, pace, so_far in each]


def _host_of(line: str) -> str:
    """The host of an end; empty if a killed process has left half of it."""
    try:
        host: str = json.loads(line.split(" ", 2)[2])["host"]
    except (IndexError, ValueError):
        return ""
    return host


def _failed(lines: Sequence[str]) -> int:
    return sum(line.startswith(FAILED) for line in lines)


def duration_words(seconds: float) -> str:
    """As in ``3 h 10 min``, ``12 min`` or ``40 s``."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if minutes >= 2 else f"{round(seconds)} s"
