# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Look at a target and at the tasks on it, in an order that misses no restart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from .._base.clock import Clock
from .._base.errors import NotFound, PermissionDenied
from .._base.parsing import Record, instant
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import RUNNING, SUCCESSFUL, Task
from .._targets.target import Observation, Target, TaskOnTarget
from .decision import Look, Operation
from .evidence import FinishedRestart, finished_restart
from .held import holder_of, newest_failure
from .in_flight import NamedTasks, listed_in_flight, named_tasks

Found = TypeVar("Found")

# Of one cluster, or of one kind of target: more tasks than these do not begin while a restart runs.
NEWEST_TASKS = 30


@dataclass(frozen=True)
class Sight:
    """What was read of a target: itself, the tasks ``named`` by it, and the ``listed`` ones on it, newest first.

    ``mark`` is the highest id of a task on the list, its own or not; None without permission to read tasks.
    All tasks since ``reach`` are on the list; None if that is not known.
    """

    observed: Observation
    named: NamedTasks
    listed: list[TaskOnTarget]
    mark: int | None
    reach: datetime | None


@dataclass
class Viewer:
    """Looks at one target, again and again. ``warnings`` gets a sentence for what these credentials may not read."""

    api: OcpApi
    target: Target
    clock: Clock
    warnings: list[str] = field(default_factory=list)
    _names_operations: bool = False

    def __post_init__(self) -> None:
        first = self.target.first_observation
        self._names_operations = first is not None and first.names_operations

    @property
    def now(self) -> datetime:
        """The time of the service."""
        return datetime.fromtimestamp(self.clock.wall() + self.api.service_clock.offset, UTC)

    def see(self) -> Sight:
        """Read the target and the tasks on it. Raises a ServiceError."""
        sight = self._see_once()
        # The target has changed since, or a stale name hides what runs.
        return self._see_once() if sight.named.outdated else sight

    def _see_once(self) -> Sight:
        # The list first: a restart that ends between the two reads then shows in the start.
        tasks = self._newest()
        listed = [] if tasks is None else self._touching(tasks)
        mark = None if tasks is None else max((task.get("id") or 0 for task in tasks), default=0)
        observed = self.target.observe(self.api)
        self._names_operations = observed.names_operations
        return Sight(observed, named_tasks(self.api, self.target, observed), listed, mark, _reach(tasks or []))

    def _newest(self) -> list[Record] | None:
        unknown = f"whether a restart of {self.target.label} is running already"
        return self._if_permitted(unknown, lambda: self.target.listed(self.api, limit=NEWEST_TASKS))

    def _touching(self, tasks: list[Record]) -> list[TaskOnTarget]:
        """Those of the newest tasks that are on the target, and those that have run for long."""
        found = {entry.record["id"]: entry for entry in self.target.touching(self.api, tasks, limit=NEWEST_TASKS)}
        if not self._names_operations:
            found.update((entry.record["id"], entry) for entry in self.target.tasks(self.api, status=RUNNING))
        return [found[number] for number in sorted(found, reverse=True)]

    def judge(self, sight: Sight, since: datetime | None) -> Look:
        """What the sight means for a restart that has to have begun ``since`` then. Raises a ServiceError."""
        unfinished = {task.task_id: task for task in [*listed_in_flight(sight.listed), *sight.named.unfinished]}
        operations: list[Operation] = [unfinished[number] for number in sorted(unfinished, reverse=True)]
        observed, failure = sight.observed, None
        if observed.is_in_flight or observed.serves is False:
            failure = newest_failure(sight.listed, operations, self._with_subtasks)
        holder = holder_of(observed, sight.named, operations, failure)
        finished = [] if since is None else list(self._finished(sight, since))
        return Look(observed, operations, self.now, holder, finished, failure)

    def _finished(self, sight: Sight, since: datetime) -> Iterator[FinishedRestart]:
        """The restarts since then that are evidence where the start is not, or not yet, shown."""
        members = [member for member in sight.observed.members if member.started is None or member.started < since]
        never_shown = any(member.started is None for member in members)
        for entry in self._evidence(sight, since, never_shown) if members else ():
            found = finished_restart(entry, Task.from_api(entry.record), since)
            if found is not None and (never_shown or self.now < found.due_until):
                detailed = self._with_subtasks(entry)
                checked = None if detailed is None else finished_restart(entry, detailed, since)
                if checked is not None:
                    yield checked

    def _evidence(self, sight: Sight, since: datetime, never_shown: bool) -> list[TaskOnTarget]:
        """The restarts among which those since then are, or those whose start may still show late."""
        is_enough = not never_shown or (sight.reach is not None and sight.reach < since)
        return sight.listed if self.target.shows_start and is_enough else self._all_finished()

    def _all_finished(self) -> list[TaskOnTarget]:
        unknown = f"when the last restart of {self.target.label} was"
        return self._if_permitted(unknown, lambda: self.target.tasks(self.api, status=SUCCESSFUL)) or []

    def _with_subtasks(self, entry: TaskOnTarget) -> Task | None:
        listed = Task.from_api(entry.record)
        if listed.subtasks:
            return listed
        try:
            return Task.from_api(self.api.task(listed.id))
        except NotFound:
            return None

    def _if_permitted(self, unknown: str, read: Callable[[], Found]) -> Found | None:
        try:
            return read()
        except PermissionDenied as error:
            self.warnings.append(f"It is not known {unknown}: {error}")
            return None


def _reach(newest: list[Record]) -> datetime | None:
    """Since when the newest tasks are all there are; a service that ignores the order gives others."""
    numbers = [task["id"] for task in newest]
    begins = [begin for task in newest if (begin := instant(task.get("startTime"))) is not None]
    return min(begins, default=None) if numbers == sorted(numbers, reverse=True) else None
