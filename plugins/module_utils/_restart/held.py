# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which FAILED task holds a target, and which FAILED restart explains one that is at work or does not serve."""

from __future__ import annotations

from collections.abc import Callable

from .._base.parsing import instant
from .._ocp.task_model import FAILED, SUCCESSFUL, Task
from .._targets.target import TaskOnTarget
from .._targets.task_names import is_known
from .look import Look, age_order


def holder_of(look: Look) -> Task | None:
    """The FAILED task that the target names, or its newest restart if that FAILED and its status shows it at work.

    A restart that began after the named task holds the target instead.
    """
    running = [age_order(task) for task, parts in look.unfinished_with_parts if parts != frozenset()]
    holding = next((task for task in look.named_failed if not running or age_order(task) > max(running)), None)
    return holding or (look.failure if look.observed.is_in_flight else None)


def newest_failure(look: Look, read: Callable[[TaskOnTarget], Task | None]) -> Task | None:
    """The newest restart of the target, if it is FAILED and none runs; else None.

    Restarts of other members than the troubled ones say nothing of these; without any, all count. ``read`` gives a task
    with its subtasks; None if it is gone. One that FAILED before it changed anything counts only if nothing is
    unfinished, it is the newest of all tasks, and no other restart of the target ended since it began, so that no other
    explains what the target shows. A restart of a part counts for all members if OCP does not show for which. One that
    is FAILED on the list and not by itself has been retried since.
    """
    unfinished = look.unfinished_with_parts
    running = [age_order(task) for task, parts in unfinished if parts != frozenset()]
    left = troubled = look.observed.troubled
    for entry in look.tasks:
        task, restarts = entry.task, None if entry.of_untold_part else entry.restarts
        if restarts == frozenset() or (troubled and restarts is not None and left.isdisjoint(restarts)):
            continue
        if running and age_order(task) <= max(running):
            return None
        if task.status != FAILED:
            left = left - restarts if restarts is not None else frozenset()
            if not left:
                return None
            continue
        failed = read(entry)
        if failed is not None and failed.status != FAILED:
            return None
        is_cause = not unfinished and _is_newest_cause(task, look) and not _has_another_ended_since(task, look)
        if failed is not None and (is_cause or not failed.failed_at_first_step):
            return failed
    return None


def _is_newest_cause(failure: Task, look: Look) -> bool:
    """Whether no task on the list is newer that may have caused what the target shows.

    A restart of something else has not, nor has other work that SUCCEEDED before the failure ended.
    """
    own = {entry.record["id"] for entry in look.tasks}
    listed = [Task.from_api(task) for task in look.listed if task["id"] in own or not is_known(task.get("name"))]
    causes = [task for task in listed if task.id in own or not _has_succeeded_before(task, failure)]
    newest = max(causes, key=age_order, default=None)
    return newest is not None and newest.id == failure.id


def _has_succeeded_before(task: Task, failure: Task) -> bool:
    end, failed = instant(task.finish_time), instant(failure.finish_time)
    return task.status == SUCCESSFUL and end is not None and failed is not None and end <= failed


def _has_another_ended_since(task: Task, look: Look) -> bool:
    began = instant(task.start_time)
    others = [entry.task for entry in look.tasks if entry.restarts != frozenset()]
    ends = [instant(other.finish_time) for other in others if other.id != task.id]
    return began is not None and any(end is not None and end >= began for end in ends)
