# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Why a task did not succeed, in words for the person who has to act on it."""

from __future__ import annotations

from ._api import OcpApi
from ._errors import ServiceError, TaskFailed
from ._tasks import Subtask, Task

LOG_LINES = 20
ATTEMPT_HEADING = "############{"


def failure(api: OcpApi, failed: list[Task], total: int) -> TaskFailed:
    """The error for ``failed`` of ``total`` tasks: the first one explained, the others counted."""
    first = failed[0]
    sentences = [_explain(api, first)]
    if len(failed) > 1:
        others = ", ".join(str(task.id) for task in failed[1:])
        sentences.append(f"Not successful either: {others}; {len(failed)} of {total} tasks in all.")
    return TaskFailed(
        "\n".join(sentences),
        at_first_step=first.failed_at_first_step,
        task_id=first.id,
        failed_task_ids=[task.id for task in failed],
    )


def _explain(api: OcpApi, task: Task) -> str:
    name = f"Task {task.label}"
    if task.rolled_back:
        return f"{name} was rolled back: it ended SUCCESSFUL, but undid its work. Restart anew if still wanted."
    what = f"{name} {task.status}"
    step = next(iter(task.failed_subtasks), None)
    if step is not None:
        took = "" if step.duration is None else f", after {step.duration:g} seconds"
        what += f" at subtask {task.position(step)}, {step.label} (id {step.id}){took}"
    log = _end_of_log(api, task, step) if step is not None else ""
    advice = (
        "Retry it or roll it back in OCP, and then wait for it with "
        f"oceanbase.ocp.task_wait task_ids={task.id}; a new restart would start from the beginning."
    )
    return f"{what}. The end of its log:\n{log}\n{advice}" if log else f"{what}. {advice}"


def _end_of_log(api: OcpApi, task: Task, step: Subtask) -> str:
    try:
        log = api.subtask_log(task.id, step.id)
    except ServiceError:
        # The log is a help; without it the failure is still to be told.
        return ""
    last_attempt = log[max(0, log.rfind(ATTEMPT_HEADING)) :]
    lines = [line for line in last_attempt.splitlines() if line.strip()]
    return "\n".join(f"  {line}" for line in lines[-LOG_LINES:])
