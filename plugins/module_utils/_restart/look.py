# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What one look at a target has read: its record, the tasks on it, and the FAILED ones that may hold it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from .._base.parsing import Record, instant
from .._ocp.task_model import Task
from .._targets.target import Observation, TaskOnTarget

STILL_TO_COME = datetime.max.replace(tzinfo=UTC)


def age_order(task: Task) -> tuple[datetime, int]:
    """The order of tasks, as ids need not rise: by begin, then by id; one without a begin is the newest."""
    return instant(task.start_time) or STILL_TO_COME, task.id


def newest_first(entries: Iterable[TaskOnTarget]) -> list[TaskOnTarget]:
    """Tasks on a target by their age."""
    return sorted(entries, key=lambda entry: age_order(entry.task), reverse=True)


@dataclass(frozen=True)
class Look:
    """A target at one moment, ``now`` by the clock of the service.

    ``tasks`` are all that is known on it, newest first, each with its detail where that was read; ``listed`` is the
    whole list that they are from. ``named_failed`` are the FAILED tasks that the target names, newest first.
    ``is_outdated``: it names a task that ended otherwise or is gone, so it has changed since, or hides what runs;
    ``unseen`` are the ids of those that are gone, or that a replica does not have yet. ``failure`` is its newest
    restart, if that FAILED and explains what the target shows. ``reads_tasks``: whether these credentials may read
    tasks.
    """

    observed: Observation
    now: datetime
    tasks: Sequence[TaskOnTarget] = ()
    listed: Sequence[Record] = field(default=())
    named_failed: Sequence[Task] = ()
    is_outdated: bool = False
    unseen: frozenset[int] = frozenset()
    failure: Task | None = None
    reads_tasks: bool = True

    @property
    def unfinished(self) -> list[Task]:
        """The tasks that have not ended, newest first."""
        return [task for task, _restarts in self.unfinished_with_parts]

    @property
    def unfinished_with_parts(self) -> list[tuple[Task, frozenset[str] | None]]:
        """The same, each with the members that it restarts; a task that is undoing its work restarts none."""
        seen = ((entry.task, entry.restarts) for entry in self.tasks)
        found = [(task, parts) for task, parts in seen if not task.finished]
        return [(task, frozenset() if task.is_rolling_back else parts) for task, parts in found]

    @property
    def ids(self) -> frozenset[int]:
        """The ids of all tasks that are known, on the target or not."""
        return frozenset([*(task["id"] for task in self.listed), *(entry.record["id"] for entry in self.tasks)])

    def task(self, task_id: int) -> Task | None:
        """The task with this id, if it is on the target."""
        named = (entry.task for entry in self.tasks if entry.record["id"] == task_id)
        return next(named, None) or next((task for task in self.named_failed if task.id == task_id), None)
