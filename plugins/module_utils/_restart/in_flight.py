# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which unfinished tasks are in flight on a target, by the task list and by the record of the target."""

from __future__ import annotations

from dataclasses import dataclass, field

from .._base.errors import NotFound, PermissionDenied
from .._base.parsing import instant
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import FAILED, Task
from .._targets.target import Observation, Target, TaskOnTarget
from .._targets.task_names import DATABASE_RESTARTS, kind_of
from .decision import Operation


@dataclass(frozen=True)
class NamedTasks:
    """The tasks that a target itself names (``operatingTaskInstanceId``), newest first; ``entries`` are those read.

    ``outdated``: it names a task that ended otherwise or is gone. The target has changed since the observation, or
    the stale name hides a running task.
    """

    unfinished: list[Operation] = field(default_factory=list)
    failed: list[Task] = field(default_factory=list)
    entries: list[TaskOnTarget] = field(default_factory=list)
    outdated: bool = False


def listed_in_flight(listed: list[TaskOnTarget]) -> list[Operation]:
    """Those of the listed tasks on a target that have not ended, newest first."""
    entries = [(Task.from_api(entry.record), entry.restarts) for entry in listed]
    return [_operation(task, restarts) for task, restarts in entries if not task.finished]


def named_tasks(api: OcpApi, target: Target, observed: Observation) -> NamedTasks:
    """The current state of the tasks that ``target`` named when it was observed."""
    unfinished, failed, entries, outdated = [], [], [], False
    for number in observed.operations:
        try:
            record = api.task(number)
        except PermissionDenied:
            unfinished.append(Operation(number, None, None, frozenset()))
            continue
        except NotFound:
            outdated = True
            continue
        task = Task.from_api(record)
        restarts = _members_restarted_by(task, target, observed)
        entries.append(TaskOnTarget(record, restarts))
        if not task.finished:
            unfinished.append(_operation(task, restarts))
        elif task.status == FAILED:
            failed.append(task)
        else:
            outdated = True
    return NamedTasks(unfinished, failed, entries, outdated)


def _members_restarted_by(task: Task, target: Target, observed: Observation) -> frozenset[str] | None:
    """The members that a task restarts, judged by its name; the target itself names the task."""
    if kind_of(task.name) == target.task_name and (observed.operated_by == task.id or len(observed.members) == 1):
        return None
    if kind_of(task.name) in DATABASE_RESTARTS:
        return frozenset(member.name for member in observed.members if member.operated_by == task.id)
    return frozenset()


def _operation(task: Task, restarts: frozenset[str] | None) -> Operation:
    return Operation(task.id, task.title, instant(task.start_time), frozenset() if task.is_rolling_back else restarts)
