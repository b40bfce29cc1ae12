# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Look at a target and at the tasks on it, in an order that misses no restart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from .._base.clock import Clock
from .._base.errors import NotFound, PermissionDenied
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import RUNNING, SUCCESSFUL, Task
from .._targets.target import Observation, Target, TaskOnTarget
from .decision import Look, Operation
from .evidence import FinishedRestart, finished_restart
from .held import holder_of
from .in_flight import NamedTasks, listed_in_flight, named_tasks

Found = TypeVar("Found")

# Of one cluster, or of one kind of target: more tasks than these do not begin while a restart runs.
NEWEST_TASKS = 30


@dataclass(frozen=True)
class Sight:
    """What was read of a target: itself, the tasks ``named`` by it, and the ``listed`` ones on it, newest first.

    ``mark`` is the highest id of a task on the list, its own or not; None without permission to read tasks.
    """

    observed: Observation
    named: NamedTasks
    listed: list[TaskOnTarget]
    mark: int | None


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
        mark, listed = self._listed()
        observed = self.target.observe(self.api)
        self._names_operations = observed.names_operations
        return Sight(observed, named_tasks(self.api, self.target, observed), listed, mark)

    def _listed(self) -> tuple[int | None, list[TaskOnTarget]]:
        newest: dict[str, Any] = {"limit": NEWEST_TASKS}
        unknown = f"whether a restart of {self.target.label} is running already"
        tasks = self._if_permitted(unknown, lambda: self.target.listed(self.api, **newest))
        if tasks is None:
            return None, []
        found = {entry.record["id"]: entry for entry in self.target.touching(self.api, tasks, **newest)}
        if not self._names_operations:
            found.update((entry.record["id"], entry) for entry in self.target.tasks(self.api, status=RUNNING))
        mark = max((task.get("id") or 0 for task in tasks), default=0)
        return mark, [found[number] for number in sorted(found, reverse=True)]

    def judge(self, sight: Sight, since: datetime | None) -> Look:
        """What the sight means for a restart that has to have begun ``since`` then. Raises a ServiceError."""
        unfinished = {task.task_id: task for task in [*listed_in_flight(sight.listed), *sight.named.unfinished]}
        operations: list[Operation] = [unfinished[number] for number in sorted(unfinished, reverse=True)]
        holder = holder_of(sight.observed, sight.named, sight.listed, operations)
        finished = [] if since is None else list(self._finished(sight, since))
        return Look(sight.observed, operations, self.now, holder, finished)

    def _finished(self, sight: Sight, since: datetime) -> Iterator[FinishedRestart]:
        """The restarts since then that are evidence where the start is not, or not yet, shown."""
        members = [member for member in sight.observed.members if member.started is None or member.started < since]
        never_shown = any(member.started is None for member in members)
        entries = self._all_finished() if members and not self.target.shows_start else sight.listed
        for entry in entries if members else ():
            found = finished_restart(entry, Task.from_api(entry.record), since)
            if found is not None and (never_shown or self.now < found.due_until):
                detailed = self._with_subtasks(entry)
                checked = None if detailed is None else finished_restart(entry, detailed, since)
                if checked is not None:
                    yield checked

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
