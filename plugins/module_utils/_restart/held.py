# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Held: a FAILED task has a target, and only a person can clear that. Held wins over in flight."""

from __future__ import annotations

from collections.abc import Sequence

from .._ocp.task_model import Task
from .._targets.target import Observation, TaskOnTarget
from .decision import Operation
from .in_flight import NamedTasks


def holder_of(
    observed: Observation, named: NamedTasks, listed: list[TaskOnTarget], unfinished: Sequence[Operation]
) -> Task | None:
    """The FAILED task that the target names, or its newest restart, if that is FAILED and the status shows it at work.

    ``listed`` are the tasks on the target, newest first. A restart that FAILED before it changed anything holds
    nothing, nor does one after which another restart began.
    """
    restarting = max((task.task_id for task in unfinished if task.restarts != frozenset()), default=0)
    holding = [task for task in named.failed if task.id > restarting]
    if holding:
        return holding[0]
    if not observed.is_in_flight:
        return None
    restarts = [Task.from_api(entry.record) for entry in listed if entry.restarts != frozenset()]
    newest = next((task for task in restarts if not task.failed_at_first_step), None)
    ended_badly = (
        newest is not None
        and newest.id > restarting
        and newest.finished
        and not (newest.succeeded or newest.rolled_back)
    )
    return newest if ended_badly else None
