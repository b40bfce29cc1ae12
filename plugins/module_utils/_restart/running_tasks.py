# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The tasks that work on a target now, that a lost POST may have started, or that restarted it last."""

from __future__ import annotations

from dataclasses import dataclass

from .._base.errors import NotFound, PermissionDenied, ServiceError
from .._base.parsing import Record, instant, integer
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import FAILED, RUNNING, Task
from .._targets.target import Observation, Target
from .._targets.task_names import CLUSTER_RESTART, SERVER_RESTART, ZONE_RESTART, is_named, kind_of
from .decision import Operation

DATABASE_RESTARTS = (SERVER_RESTART, ZONE_RESTART, CLUSTER_RESTART)


def listed_operations(api: OcpApi, target: Target) -> list[Operation]:
    """The restarts of ``target`` that the task list shows as running, newest first."""
    entries = [(Task.from_api(entry.record), entry.restarts) for entry in target.tasks(api, status=RUNNING)]
    return [_operation(task, restarts) for task, restarts in entries]


@dataclass(frozen=True)
class NamedOperations:
    """The tasks that a target itself names (``operatingTaskInstanceId``): those ``running``, newest first.

    ``outdated``: it names a task that has ended or is gone. The target has changed since the observation, or the stale
    name hides a running task.
    """

    running: list[Operation]
    outdated: bool


def named_operations(api: OcpApi, target: Target, observed: Observation) -> NamedOperations:
    """The current state of the tasks that ``target`` named when it was observed."""
    running, outdated = [], False
    for number in observed.operations:
        try:
            task = Task.from_api({**api.task(number), "id": number})
        except PermissionDenied:
            running.append(Operation(number, None, None, frozenset()))
            continue
        except NotFound:
            outdated = True
            continue
        if task.finished:
            outdated = True
        else:
            running.append(_operation(task, _members_restarted_by(task, target, observed)))
    return NamedOperations(running, outdated)


def failed_task_holding(api: OcpApi, observed: Observation) -> Task | None:
    """The FAILED task that the target names; it may be why the service refuses a restart."""
    try:
        tasks = [Task.from_api(api.task(number)) for number in observed.operations]
    except ServiceError:
        return None
    return next((task for task in tasks if task.status == FAILED), None)


def read_high_water_mark(api: OcpApi) -> int | None:
    """The highest task id so far: tasks started later have higher ids. None without permission to read tasks."""
    try:
        return max((integer(task.get("id")) or 0 for task in api.tasks(1)), default=0)
    except PermissionDenied:
        return None


def restarts_above(api: OcpApi, target: Target, high_water_mark: int, members: frozenset[str]) -> list[Record]:
    """The tasks above ``high_water_mark`` that the request may have started for ``members`` of ``target``."""
    return [
        entry.record
        for entry in target.tasks(api, above=high_water_mark)
        if is_named(entry.record, target.task_name) and (entry.restarts is None or members <= entry.restarts)
    ]


def _members_restarted_by(task: Task, target: Target, observed: Observation) -> frozenset[str] | None:
    """The members that a task restarts, judged by its name; the target itself names the task."""
    if kind_of(task.name) == target.task_name and (observed.operated_by == task.id or len(observed.members) == 1):
        return None
    if kind_of(task.name) in DATABASE_RESTARTS:
        return frozenset(member.name for member in observed.members if member.operated_by == task.id)
    return frozenset()


def _operation(task: Task, restarts: frozenset[str] | None) -> Operation:
    return Operation(task.id, task.name, instant(task.start_time), frozenset() if task.is_rolling_back else restarts)
