# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The one POST of a restart, what its answer proves, and the search for its task if the answer was lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from .._base.cli_hints import NEXT_STEPS_HEADING, RUN_AGAIN, RUN_AGAIN_IF_NONE, look_lines
from .._base.clock import Clock
from .._base.errors import OutcomeUnknown, ResponseUnreadable, ServiceError
from .._base.parsing import Record
from .._base.text import in_seconds, join_names
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._targets.target import Target, TaskOnTarget
from .._waiting.outcome_search import search_outcome
from .._waiting.progress_lines import Show, started_line
from .own_request import Sent, is_answer, own_tasks, undated_tasks


@dataclass(frozen=True)
class Started:
    """The task in the answer to a request, and the trace id of that."""

    task: Task
    trace_id: str | None


class DoubtfulAnswer(ResponseUnreadable):
    """The answer shows a task that the request can not have started, or not for sure: ``claimed`` is its id then."""

    claimed: int | None = None


def post_restart(api: OcpApi, target: Target, sent: Sent, announce: Show) -> Started:
    """Send the request. Raises a ServiceError, whose ``may_have_run`` says whether its task has to be searched for.

    ``announce`` gets a line with a task that may be ours.
    """
    answer = target.restart(api, sent.members)
    task = Task.from_api(answer.data)
    is_possible = is_answer(answer.data, target)
    is_new = sent.known is None or sent.is_new(task.id)
    if is_possible and is_new and not sent.is_denied_by(task):
        return Started(task, answer.trace_id)
    words = f"shows task {task.label}, which is not a new restart of {target.label}."
    claimed = task.id if is_possible and sent.fits(task) else None
    if claimed is not None:
        announce(started_line(target.label, f"submitted, perhaps as task {claimed}"), False)
        words += " That task was there before the request; otherwise it fits (see task_id)."
    error = DoubtfulAnswer(
        f"The answer to POST {answer.url} {words}", url=answer.url, trace_id=answer.trace_id, may_have_run=True
    )
    error.claimed = claimed
    raise error


def find_own_task(
    api: OcpApi,
    target: Target,
    sent: Sent,
    lost: ServiceError,
    clock: Clock,
    noted_tasks: Callable[[], Collection[int]] = frozenset,
) -> Task:
    """The only task that the request may have started; ``lost`` is how its answer was lost.

    ``noted_tasks`` reads the ids of the tasks of other requests. The search lasts at most as long as a request. Raises
    OutcomeUnknown if there is no such task, or more than one.
    """
    wanted = f'new task "{target.task_name}" of it' if target.task_name else "new task of it"
    if sent.known is None:
        raise outcome_unknown(
            target,
            lost,
            "The tasks cannot be read, since these credentials lack the permission (TASK_VIEWER)",
            at_most_once=sent.at_most_once,
        )
    others: list[Task] = []
    details: dict[int, Record] = {}

    def look() -> list[Task]:
        noted, fitting = noted_tasks(), own_tasks(target, _dated(api, target, sent, details), sent)
        others[:] = [task for task in fitting if task.id in noted]
        return [task for task in fitting if task.id not in noted]

    search = search_outcome(api, look, clock)
    found = search.found or []
    if len(found) == 1:
        return found[0]
    if found:
        result = f"There is more than one {wanted}: {', '.join(str(task.id) for task in found)}"
    else:
        result = f"For {in_seconds(api.timeout)} the task list did not show a {wanted}{_but(others)}"
    raise outcome_unknown(target, lost, result + search.last_look, at_most_once=sent.at_most_once)


def _dated(api: OcpApi, target: Target, sent: Sent, details: dict[int, Record]) -> list[TaskOnTarget]:
    """The restarts of the target, with the ``details`` of those whose begin is not listed; they are read once."""
    tasks = target.tasks(api)
    for entry in undated_tasks(target, tasks, sent):
        number = entry.record["id"]
        details[number] = details.get(number) or api.task(number)
    return [replace(entry, record={**entry.record, **details.get(entry.record["id"], {})}) for entry in tasks]


def then_of_unknown(*, at_most_once: bool) -> str:
    """What comes after a look, if it is not known whether a restart runs."""
    return RUN_AGAIN if at_most_once else RUN_AGAIN_IF_NONE


def of_another_request(tasks: Iterable[Task]) -> str:
    """Whose these tasks are, by the journal."""
    return f"task {join_names(task.label for task in tasks)} of another request that the journal has"


def _but(others: Collection[Task]) -> str:
    return f", but {of_another_request(others)}" if others else ""


def outcome_unknown(target: Target, lost: ServiceError, search: str, *, at_most_once: bool) -> OutcomeUnknown:
    """The error for a request that may or may not restart the target.

    ``at_most_once`` says whether the same command would leave alone what it may have restarted. Otherwise it would
    restart again what has restarted, so a person has to look first.
    """
    details = "\n".join([f"{lost.what} {search}. {NEXT_STEPS_HEADING}", *look_lines(target.cluster_id)])
    words = f"It is not known whether a restart of {target.label} is running. {details}"
    error = OutcomeUnknown(f"{words}\n{then_of_unknown(at_most_once=at_most_once)}", **lost.facts)
    error.details = details
    return error
