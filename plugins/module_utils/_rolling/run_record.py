# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The file in which the clusters of one run note how far they are: how many ended or failed, how long it takes."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

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
    more than ``most`` have failed. ``servers`` are to be restarted in all clusters; None if that is not known.
    """

    path: str
    host: str
    clusters: int
    forks: int
    most: int | None
    servers: int | None = None
    clock: Clock = SYSTEM_CLOCK

    def objection(self) -> str:
        """Why no further restart should begin; empty if it may. Raises OptionError."""
        failed = _failed(self._lines())
        if self.most is None or failed <= self.most:
            return ""
        return f"{failed} of {counted(self.clusters, 'cluster')} of this run failed, and max_failures={self.most}"

    def check(self) -> None:
        """Raise OptionError if the record cannot be written."""
        folder = Path(self.path).parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise OptionError(f"run: the record {self.path} cannot be used: {folder} is not a folder to write to.")

    def note(self, word: str, elapsed: float, entry: dict[str, Any]) -> RunState:
        """Add the outcome of a cluster after these seconds; returns how far the run is. Raises OptionError."""
        lines = self._add(f"{word} {elapsed:.1f} {json.dumps({'host': self.host, **entry}, default=str)}")
        is_last = sum(line.startswith(ENDS) for line in lines) == self.clusters
        return RunState(self._words(lines), is_last, _failed(lines))

    def entries(self) -> list[dict[str, Any]]:
        """What is noted of each cluster that has ended, in this order. Raises OptionError."""
        return [entry for line in self._lines() if line.startswith(ENDS) and "outcome" in (entry := _entry(line))]

    def note_under_way(self, left: int, pace: float) -> None:
        """Note that this many servers of the cluster are left, at these seconds for each. Raises OptionError."""
        self._add(f"{UNDER_WAY} {left} {pace:.1f} {self.clock.wall():.1f} {self.host}")

    def _add(self, line: str) -> list[str]:
        """Add a line; returns all lines."""
        try:
            with open(self.path, "a+b", opener=_private) as file:
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
        except FileNotFoundError:
            return []
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
        under_way = self._under_way(lines)
        ahead = self._ahead(lines, open_ones - len(under_way))
        if ahead is None and not any(under_way):
            return ""
        left = max([(sum(under_way) + (ahead or 0.0)) / min(self.forks, open_ones), *under_way])
        # Less than a second says that nothing is known yet.
        return f", about {duration_words(left)} left" if left >= 1 else ""

    def _ahead(self, lines: Sequence[str], clusters: int) -> float | None:
        """The seconds of all clusters that have not begun, one after another; None if nothing tells."""
        # How long a failure took tells nothing of the others.
        ended = [line for line in lines if line.startswith(ENDED)][-LOOKED_AT:]
        took = sum(float(line.split(" ", 2)[1]) for line in ended)
        if self.servers is None:
            return took / len(ended) * clusters if ended else None
        begun = {_host_of(line): _planned(line) for line in lines if line.startswith(ENDS)}
        for mark in _marks(lines):
            # The first one of a cluster has all of its servers.
            begun.setdefault(mark.host, mark.left)
        done, paces = sum(map(_planned, ended)), [mark.pace for mark in _marks(lines) if mark.pace]
        if not done and not paces:
            return None
        pace = took / done if done else sum(paces) / len(paces)
        return pace * max(self.servers - sum(begun.values()), 0)

    def _under_way(self, lines: Sequence[str]) -> list[float]:
        """The seconds that each cluster in progress still needs."""
        over = {_host_of(line) for line in lines if line.startswith(ENDS)}
        newest = {mark.host: mark for mark in _marks(lines) if mark.host not in over}.values()
        known = [mark.pace for mark in newest if mark.pace]
        usual, now = sum(known) / len(known) if known else 0.0, self.clock.wall()
        # Where nothing has ended yet, the next servers may take as long as the first one has taken so far. A server
        # that takes longer than the others has at least those after it left.
        each = [(mark.left, mark.pace or usual or now - mark.at, now - mark.at) for mark in newest]
        return [max(left * pace - so_far, (left - 1) * pace, 0.0) for left, pace, so_far in each]


@dataclass(frozen=True)
class RunState:
    """How far a run is, in ``words``; whether all of it ``is_over``; how many clusters have ``failed``."""

    words: str
    is_over: bool
    failed: int


class _Mark(NamedTuple):
    """How far a cluster in progress was at a time: servers left, seconds for each of those before."""

    left: int
    pace: float
    at: float
    host: str


def _marks(lines: Sequence[str]) -> Iterator[_Mark]:
    for line in lines:
        word, *rest = line.split(" ", 4)
        if word == UNDER_WAY and len(rest) == 4:
            left, pace, at, host = rest
            yield _Mark(int(left), float(pace), float(at), host)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _entry(line: str) -> dict[str, Any]:
    """What an end says of its cluster; empty if a killed process has left half of it."""
    try:
        entry: dict[str, Any] = json.loads(line.split(" ", 2)[2])
    except (IndexError, ValueError):
        return {}
    return entry


def _host_of(line: str) -> str:
    return str({"host": "", **_entry(line)}["host"])


def _planned(line: str) -> int:
    """How many servers an ended cluster had to restart; 0 if that is not told."""
    return int({"planned": 0, **_entry(line)}["planned"])


def _failed(lines: Sequence[str]) -> int:
    return sum(line.startswith(FAILED) for line in lines)


def duration_words(seconds: float) -> str:
    """As in ``3 h 10 min``, ``12 min`` or ``40 s``."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if minutes >= 2 else f"{round(seconds)} s"
