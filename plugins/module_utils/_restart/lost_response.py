# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What became of a restart that was sent and whose answer was lost."""

from __future__ import annotations

from .._base.clock import Clock
from .._base.errors import CredentialsRefused, OutcomeUnknown, ServiceError
from .._base.parsing import Record
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._targets.target import Target
from .._waiting.poll import SHORTEST_PAUSE
from .in_flight import restarts_above


def find_lost_task(
    api: OcpApi, target: Target, members: frozenset[str], mark: int | None, lost: ServiceError, clock: Clock
) -> Task:
    """The only task for ``members`` of ``target`` with an id above ``mark``, looked for as long as a request may take.

    ``mark`` is None where these credentials may not read tasks, ``lost`` how the answer was lost. Raises OutcomeUnknown
    when there is none, or there are several.
    """
    until = clock.now() + api.timeout
    found: list[Record] = []
    problem: ServiceError | None = None
    while mark is not None:
        try:
            found, problem = restarts_above(api, target, mark, members), None
        except ServiceError as error:
            problem = error
        hopeless = isinstance(problem, CredentialsRefused)
        if found or hopeless or clock.now() >= until:
            break
        clock.sleep(SHORTEST_PAUSE)
    if len(found) == 1:
        return Task.from_api(found[0])
    wanted = f'a task "{target.task_name}" of it with an id above {mark}'
    if mark is None:
        looked = "The tasks could not be looked at, since these credentials may not read them (TASK_VIEWER)"
    elif found:
        looked = f"More than one is {wanted}: {', '.join(str(task.get('id')) for task in found)}"
    else:
        looked = f"For {api.timeout:g} seconds {wanted} was looked for, and none was found"
    if problem is not None:
        looked += f" (the last look failed: {str(problem).rstrip('.')})"
    raise OutcomeUnknown(
        f"It is not known whether a restart of {target.label} is running. {lost} {looked}. "
        "Check its state and the newest tasks in OCP; then run this again with started_before, which restarts only "
        "what has not started since.",
        **lost.facts,
    )
