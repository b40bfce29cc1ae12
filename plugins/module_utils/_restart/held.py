# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""When a FAILED task holds a target, so that only a person can go on; held wins over in flight."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from .._base.parsing import instant
from .._ocp.task_model import FAILED, Task
from .._targets.target import Observation, TaskOnTarget
from .decision import Operation
from .in_flight import NamedTasks


def holder_of(
    observed: Observation, named: NamedTasks, unfinished: Iterable[Operation], failure: Task | None
) -> Task | None:
    """The FAILED task that the target names, or the ``failure`` of its newest restart if its status shows it at work.

    A restart that began after the named task holds the target instead.
    """
    newest = _newest_restart(unfinished)
    holding = next((task for task in named.failed if task.id > newest), None)
    return holding or (failure if observed.is_in_flight else None)


def newest_failure(
    listed: Collection[TaskOnTarget],
    unfinished: Collection[Operation],
    newest: int | None,
    read: Callable[[TaskOnTarget], Task | None],
    troubled: frozenset[str] = frozenset(),
) -> Task | None:
    """The newest restart among the ``listed`` tasks, newest first, if it is FAILED and none runs; else None.

    Restarts of other members than the ``troubled`` ones say nothing of these; without any, all count. ``read`` gives a
    task with its subtasks; None if it is gone. One that FAILED before it changed anything counts only if nothing is
    unfinished, it is the ``newest`` of all tasks, and no other restart of the target ended since it began, so that
    no other explains what the target shows.
    """
    running = _newest_restart(unfinished)
    explained_by = None if unfinished else newest
    left = troubled
    for entry in listed:
        task, restarts = Task.from_api(entry.record), entry.restarts
        if restarts == frozenset() or (troubled and restarts is not None and left.isdisjoint(restarts)):
            continue
        if task.id <= running:
            return None
        if task.status != FAILED:
            left = left - restarts if restarts is not None else frozenset()
            if not left:
                return None
            continue
        failed = read(entry)
        is_cause = task.id == explained_by and not _has_another_ended_since(task, listed)
        if failed is not None and (is_cause or not failed.failed_at_first_step):
            return failed
    return None


def _has_another_ended_since(task: Task, listed: Iterable[TaskOnTarget]) -> bool:
    began = instant(task.start_time)
    others = [Task.from_api(entry.record) for entry in listed if entry.restarts != frozenset()]
    ends = [instant(other.finish_time) for other in others if other.id != task.id]
    return began is not None and any(end is not None and end >= began for end in ends)


def _newest_restart(unfinished: Iterable[Operation]) -> int:
    return max((task.task_id for task in unfinished if task.restarts != frozenset()), default=0)
