# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether a restart would end before an instant, by the durations of past restarts of its kind."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from .._base.clock import Clock
from .._base.parsing import Record
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import SUCCESSFUL, Task, longest
from .._targets.target import Target
from .._targets.task_names import kind_of
from .look import Sight

# Of the target's kind, in its cluster.
RESTARTS_COUNTED = 30


class TimeLeft:
    """Judges the time for one restart. Without ``finish_before`` there is always enough, and nothing is read."""

    def __init__(self, api: OcpApi, target: Target, finish_before: datetime | None, clock: Clock) -> None:
        self._api = api
        self._target = target
        self._finish_before = finish_before
        self._clock = clock
        self._past: list[Record] | None = None

    def read(self) -> None:
        """Read how long past restarts took, once, before the target itself is looked at. Raises a ServiceError."""
        if self._finish_before is not None and self._past is None:
            filters = {"status": SUCCESSFUL, "name": self._target.task_name, "limit": RESTARTS_COUNTED}
            self._past = self._target.listed(self._api, **filters)

    def objection(self, sight: Sight) -> str | None:
        """Why the restart would not end in time; None if it would."""
        if self._finish_before is None:
            return None
        slowest = longest_restart([*sight.newest, *(self._past or [])], self._target.task_name)
        taken = 0.0 if slowest is None else slowest.duration or 0.0
        now = datetime.fromtimestamp(self._clock.wall(), UTC)
        if now + timedelta(seconds=taken) <= self._finish_before:
            return None
        past = "" if slowest is None else f", since task {slowest.label} took {taken:.0f} seconds"
        return f"it would not be done before {self._finish_before.isoformat(timespec='seconds')}{past}"


def longest_restart(tasks: Iterable[Record], kind: str | None) -> Task | None:
    """Of the restarts of this ``kind`` that nobody retried, the one that took longest."""
    return longest(Task.from_api(task) for task in tasks if kind_of(task.get("name")) == kind)
