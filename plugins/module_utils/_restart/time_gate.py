# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether a restart would end before an instant and in its window, by the durations of past restarts of its kind."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from .._base.clock import Clock
from .._base.parsing import Record
from .._base.text import in_seconds
from .._ocp.task_model import SUCCESSFUL, Task, longest
from .._targets.target import Target
from .._targets.task_names import kind_of
from .look import Look
from .verdicts import Go, Judgement, Postpone

if TYPE_CHECKING:
    from .._base.windows import Calendar


class TimeGate:
    """Judges the time for one restart. Without ``finish_before`` and ``windows`` there is always enough.

    It reads nothing.
    """

    requests = 0

    def __init__(
        self, target: Target, finish_before: datetime | None, clock: Clock, windows: Calendar | None = None
    ) -> None:
        self._target = target
        self._finish_before = finish_before
        self._clock = clock
        self._windows = windows

    def read(self) -> None:
        """The look has all tasks."""

    def judge(self, look: Look, _waited: float) -> Judgement:
        """Postpone a restart that would not end in time."""
        if self._finish_before is None and self._windows is None:
            return Judgement(Go())
        slowest = longest_restart(look.listed, self._target.task_name)
        taken = 0.0 if slowest is None else slowest.duration or 0.0
        now = datetime.fromtimestamp(self._clock.wall(), UTC)
        past = "" if slowest is None else f", since task {slowest.label} took {in_seconds(round(taken))}"
        if self._finish_before is not None and now + timedelta(seconds=taken) > self._finish_before:
            until = look.observed.in_its_zone(self._finish_before).isoformat(timespec="seconds")
            return Judgement(Postpone(f"it would not be done before {until}{past}"))
        outside = "" if self._windows is None else self._windows.outside_words(now, taken, past)
        return Judgement(Postpone(outside) if outside else Go())


def longest_restart(tasks: Iterable[Record], kind: str | None) -> Task | None:
    """Of the restarts of this ``kind`` that nobody retried, the one that took longest."""
    return longest(past_restarts(tasks, kind))


def past_restarts(tasks: Iterable[Record], kind: str | None) -> Iterable[Task]:
    """The restarts of this ``kind`` that have succeeded."""
    restarts = (task for task in tasks if kind_of(task.get("name")) == kind and task.get("status") == SUCCESSFUL)
    return map(Task.from_api, restarts)
