# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Find out whether a restart runs whose response was lost."""

from __future__ import annotations

from .._base.clock import Clock
from .._base.errors import CredentialsRefused, OutcomeUnknown, ServiceError
from .._base.parsing import Record
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._targets.target import Target
from .._waiting.poll import SHORTEST_PAUSE
from .running_tasks import restarts_above


def find_lost_task(
    api: OcpApi, target: Target, members: frozenset[str], high_water_mark: int | None, lost: ServiceError, clock: Clock
) -> Task:
    """The only task for ``members`` of ``target`` with an id above ``high_water_mark``.

    The search lasts at most as long as a request. ``high_water_mark`` is None without permission to read tasks;
    ``lost`` is the error of the request. Raises OutcomeUnknown if there is no such task, or more than one.
    """
    until = clock.now() + api.timeout
    found: list[Record] = []
    problem: ServiceError | None = None
    while high_water_mark is not None:
        try:
            found, problem = restarts_above(api, target, high_water_mark, members), None
        except ServiceError as error:
            problem = error
        is_permanent = isinstance(problem, CredentialsRefused)
        if found or is_permanent or clock.now() >= until:
            break
        clock.sleep(SHORTEST_PAUSE)
    if len(found) == 1:
        return Task.from_api(found[0])
    wanted = f'a task "{target.task_name}" of it with an id above {high_water_mark}'
    if high_water_mark is None:
        search = "The tasks could not be looked at, since these credentials may not read them (TASK_VIEWER)"
    elif found:
        search = f"More than one is {wanted}: {', '.join(str(task.get('id')) for task in found)}"
    else:
        search = f"For {api.timeout:g} seconds {wanted} was looked for, and none was found"
    if problem is not None:
        search += f" (the last look failed: {str(problem).rstrip('.')})"
    raise _outcome_unknown(target, lost, search)


def _outcome_unknown(target: Target, lost: ServiceError, search: str) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"It is not known whether a restart of {target.label} is running. {lost} {search}. "
        "Check its state and the newest tasks in OCP; then run this again with started_before, which restarts only "
        "what has not started since.",
        **lost.facts,
    )
