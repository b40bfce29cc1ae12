# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which tasks work on a target: now, since a POST whose answer was lost, or when it was last restarted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from .._base.errors import NotFound, PermissionDenied, ServiceError
from .._base.parsing import Record, instant, integer
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import FAILED, RUNNING, SUCCESSFUL, Task
from .._targets.target import Observation, Target
from .._targets.task_names import CLUSTER_RESTART, SERVER_RESTART, ZONE_RESTART
from .decision import Operation

DATABASE_RESTARTS = (SERVER_RESTART, ZONE_RESTART, CLUSTER_RESTART)


def listed_operations(api: OcpApi, target: Target) -> list[Operation]:
    """The restarts of ``target`` that the task list shows as running, newest first."""
    entries = [(Task.from_api(entry.record), entry.restarts) for entry in target.tasks(api, status=RUNNING)]
    return [_operation(task, restarts) for task, restarts in entries]


@dataclass(frozen=True)
class NamedOperations:
    """The tasks that a target names itself (``operatingTaskInstanceId``): those ``running``, newest first.

    ``outdated`` tells that it names one that has ended or gone: the target has changed since it was observed, or the
    name stands where that of a running one would.
    """

    running: list[Operation]
    outdated: bool


def named_operations(api: OcpApi, target: Target, observed: Observation) -> NamedOperations:
    """What ``target`` named when it was observed, as it is now."""
    running, outdated = [], False
    for number in observed.operations:
        try:
            task = Task.from_api(api.task(number))
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
    """The FAILED task that the target names as working on it, which may be why it refuses a restart."""
    try:
        tasks = [Task.from_api(api.task(number)) for number in observed.operations]
    except ServiceError:
        return None
    return next((task for task in tasks if task.status == FAILED), None)


def read_high_water_mark(api: OcpApi) -> int | None:
    """The high-water mark: what is started from now on has a higher id. None where tasks may not be read."""
    try:
        return max((integer(task.get("id")) or 0 for task in api.tasks(1)), default=0)
    except PermissionDenied:
        return None


def restarts_above(api: OcpApi, target: Target, high_water_mark: int, members: frozenset[str]) -> list[Record]:
    """The tasks with an id above ``high_water_mark`` that the call of ``target`` may have started for ``members``."""
    return [
        entry.record
        for entry in target.tasks(api, above=high_water_mark)
        if entry.record.get("name") == target.task_name and (entry.restarts is None or members <= entry.restarts)
    ]


def with_last_restart(api: OcpApi, target: Target, observed: Observation, since: datetime) -> Observation:
    """``observed`` with the begin of the last successful restart ``since`` then as the start, if there was one.

    It is the evidence for what shows no start of its own. The begin counts, not the end: what began earlier may have
    started the process earlier.
    """
    for entry in target.tasks(api, status=SUCCESSFUL):
        task = Task.from_api(entry.record)
        started_at = instant(task.start_time)
        if started_at is not None and started_at >= since and entry.restarts is None and task.succeeded:
            return replace(observed, members=tuple(replace(member, started=started_at) for member in observed.members))
    return observed


def _members_restarted_by(task: Task, target: Target, observed: Observation) -> frozenset[str] | None:
    """Which members a task restarts that the target itself names: what it is called tells what it does."""
    if task.name == target.task_name and (observed.operated_by == task.id or len(observed.members) == 1):
        return None
    if task.name in DATABASE_RESTARTS:
        return frozenset(member.name for member in observed.members if member.operated_by == task.id)
    return frozenset()


def _operation(task: Task, restarts: frozenset[str] | None) -> Operation:
    return Operation(task.id, task.name, instant(task.start_time), frozenset() if task.is_rolling_back else restarts)
