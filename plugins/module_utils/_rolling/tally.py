# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How far a rolling run is: how many servers have ended, how many are left, about how long these will take."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .._base.clock import Clock
from .forecast import time_left_words
from .run_record import RunRecord, duration_words

if TYPE_CHECKING:
    from .._base.windows import Calendar


class Tally:
    """Counts the servers of a run up to ``total``. A ``record`` is told how many of its cluster are left.

    ``watch`` is how many seconds a cluster has to stay healthy in between, before others are restarted.
    With ``windows`` its words have how many of them what is left needs, at the pace so far.
    """

    def __init__(
        self,
        total: int,
        clock: Clock,
        record: RunRecord | None = None,
        watch: float = 0.0,
        windows: Calendar | None = None,
    ) -> None:
        self._total = total
        self._clock = clock
        self._record = record
        self._windows = windows
        # The watch that is still to come, and the one that is over.
        self._watch = watch
        self._watched = 0.0
        # Those that have ended, and those of them that have their words.
        self._ended = 0
        self._done = 0
        self._began: float | None = None

    def begin(self) -> None:
        """A restart begins."""
        if self._began is None:
            self._began = self._clock.now()
            self._tell()

    def ended(self, count: int) -> None:
        """So many servers have ended at the same time."""
        self._ended += count
        self._tell()

    def words(self, what: str, *, goes_on: bool = True) -> str:
        """The next server that has ended, as in ``3 of 9, 10.0.0.6 restarted in 5.7 s, 6 left, about 40 s``.

        ``what`` became of it; unless the run ``goes_on``, the time is left out.
        """
        self._done += 1
        left = self._total - self._done
        time_left = self._time_left(left) if left and goes_on else ""
        return f"{self._done} of {self._total}, {what}, {left} left{time_left}"

    def _time_left(self, left: int) -> str:
        about = f", about {duration_words(left * self._pace + self._watch)}"
        if self._windows is None:
            return about
        now = datetime.fromtimestamp(self._clock.wall(), UTC)
        return f"{about}, {time_left_words(left, self._pace, self._watch, now, self._windows)}"

    def watched(self) -> None:
        """The watch is over."""
        self._watched, self._watch = self._watch, 0.0

    @property
    def _pace(self) -> float:
        """Seconds for each server, with all that comes between two restarts."""
        took = 0.0 if self._began is None else self._clock.now() - self._began - self._watched
        return took / self._ended if self._ended else 0.0

    def _tell(self) -> None:
        if self._record is not None:
            self._record.note_under_way(self._total - self._ended, self._pace)
