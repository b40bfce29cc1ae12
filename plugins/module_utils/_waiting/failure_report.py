# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The message about a failed, held or unfinished task: failed subtasks, how many logs, the next steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .._base.cli_hints import NEXT_STEPS_HEADING, RUN_AGAIN, adhoc_command
from .._base.errors import CredentialsRefused, NotVerified, ServiceError, TargetHeld, TaskFailed, WaitTimeout
from .._base.text import display_width, in_seconds, log_tail, shorten
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import FAILED, RUNNING, Subtask, Task, task_label
from .poll_pauses import DEFAULT_LOG_LINES
from .stop_refusals import explained_refusal

MOST_LOGS_READ = 10
LOG_WIDTH = 500
# Unless more lines of a log are asked for, its end takes this many rows, so that the rest is on the same screen.
LOG_ROWS, ROW_WIDTH = 12, 120
MOST_IDS_SHOWN = 20
MOST_NAMED = 20
# Precedes each attempt (docs/dev/contract.md, "Task log"). A rollback is not an attempt.
ATTEMPT_HEADING = re.compile(r"^#+\{(?!ROLLBACK)\w+\}", re.MULTILINE)
RUN_AGAIN_UNLESS_RETRIED = "Then run the same command again, unless a retry has restarted it."
# For a command that only waits, and does not know what has started the task.
RUN_ITS_STARTER_AGAIN = "A retry that succeeds has done the work. After a rollback, run again what started the task."


@dataclass(frozen=True)
class Purpose:
    """What is awaited, as in "The restart of …", and the trace id of the request that started it.

    ``targets`` has the name of what a task restarts, by the task's id, where that is known better than from the task.
    ``names`` has the same for progress lines only.
    ``then`` is what to do when a failure is cleared. ``state`` reads the state that a task that failed has left its
    target in, as a sentence; empty if it cannot be read.
    """

    what: str = ""
    trace_id: str | None = None
    targets: Mapping[int, str] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    then: str = RUN_ITS_STARTER_AGAIN
    state: Callable[[Task], str] = lambda _task: ""

    def named(self, task: Task) -> Task:
        """The task with the name of its target."""
        name = self.targets.get(task.id)
        return task if name is None else replace(task, targets=[name])

    def headline(self, outcome: str) -> list[str]:
        """The first line of a message; empty without ``what``."""
        return [f"{self.what} {outcome}."] if self.what else []


@dataclass(frozen=True)
class _FailedSubtask:
    """A FAILED subtask: the number of its attempt, and the end of its log or why the log is missing.

    ``meaning`` is that of an error of the database in the log, and what to do about it.
    """

    task: Task
    step: Subtask
    attempt: int | None
    log: list[str] | None = None
    no_log: str | None = None
    meaning: str | None = None

    def fact(self) -> dict[str, Any]:
        step = self.step
        return {
            "task_id": self.task.id,
            "id": step.id,
            "position": self.task.subtasks.index(step) + 1,
            "name": step.name,
            "description": step.description,
            "status": step.status,
            "operation": step.operation,
            "attempt": self.attempt,
            "duration": step.duration,
            "start_time": step.start_time,
            "finish_time": step.finish_time,
            "executor": step.executor,
            "log_tail": None if self.log is None else "\n".join(self.log),
        }


def task_failed(api: OcpApi, failed: list[Task], total: int, purpose: Purpose, log_lines: int) -> TaskFailed:
    """The error for ``failed`` of ``total`` tasks: the first one in detail, the others by name.

    Its fact ``failed_subtasks`` has every FAILED subtask, the first few with the last ``log_lines`` lines of the log of
    their last attempt as ``log_tail``.
    """
    first = failed[0]
    # Before the logs are read: the trace id of the response that showed the end.
    trace_id = purpose.trace_id or api.trace_id
    steps = list(_failed_subtasks(api, failed, log_lines))
    others = ", ".join(task.label for task in failed[1 : MOST_NAMED + 1])
    others += f" and {len(failed) - 1 - MOST_NAMED} more" if len(failed) > MOST_NAMED + 1 else ""
    lines = [
        *purpose.headline("did not succeed"),
        *_what_failed(first, [step for step in steps if step.task is first], log_lines),
        *_state_line(purpose.state(first), *_durations(first)),
        *_trace_line(trace_id),
        *([f"Not successful either: {others}; {len(failed)} of {total} tasks in all."] if others else []),
        *_next_steps(first, purpose.then),
    ]
    return TaskFailed(
        "\n".join(lines),
        at_first_step=first.failed_at_first_step,
        task_id=first.id,
        trace_id=trace_id,
        **_failure_facts(failed, steps),
    )


def then_of_restart(*, at_most_once: bool) -> str:
    """What to do when a failure of a restart is cleared.

    ``at_most_once`` says whether the same command would leave alone what a retry has restarted.
    """
    retried = "A retry that succeeds has restarted it. After a rollback, run the same command again."
    return RUN_AGAIN if at_most_once else retried


def target_held(
    api: OcpApi, holder: Task, headline: str, state: str, log_lines: int, *, at_most_once: bool
) -> TargetHeld:
    """The error for a target, in this ``state``, that the FAILED ``holder`` holds: where, and what releases it.

    ``at_most_once`` says whether the same command would leave alone what has restarted meanwhile.
    """
    then = RUN_AGAIN if at_most_once else RUN_AGAIN_UNLESS_RETRIED
    message, facts = _failure_words(api, holder, headline, log_lines, state, then)
    return TargetHeld(message, **facts)


def not_serving(api: OcpApi, failure: Task, headline: str, log_lines: int) -> NotVerified:
    """The error for a target that does not serve, and whose newest restart is this FAILED one."""
    message, facts = _failure_words(api, failure, headline, log_lines)
    return NotVerified(message, **facts)


def _failure_words(
    api: OcpApi, task: Task, headline: str, log_lines: int, state: str = "", then: str = RUN_AGAIN
) -> tuple[str, dict[str, Any]]:
    """The message below ``headline`` about a FAILED task that was not awaited, and its facts."""
    steps = list(_failed_subtasks(api, [task], log_lines))
    lines = [headline, *_what_failed(task, steps, log_lines), *_state_line(state), *_next_steps(task, then)]
    return "\n".join(lines), _failure_facts([task], steps)


def _failure_facts(failed: list[Task], steps: list[_FailedSubtask]) -> dict[str, Any]:
    return {"failed_task_ids": [task.id for task in failed], "failed_subtasks": [step.fact() for step in steps]}


def wait_timed_out(
    api: OcpApi,
    unfinished: Mapping[int, Task | None],
    waited: float,
    poll_warnings: list[str],
    purpose: Purpose,
    *,
    was_seen: bool,
) -> WaitTimeout:
    """The error for tasks that had not ended after ``waited`` seconds, each as last read.

    ``was_seen`` says whether the last poll succeeded. If not, what runs now is not known.
    """
    task_id, task = next(iter(unfinished.items()))
    name = task.label if task is not None else task_label(task_id, purpose.targets.get(task_id))
    trace_id = purpose.trace_id or api.trace_id
    running = [step for step in task.subtasks if step.status == RUNNING and step.id is not None] if task else []
    steps = running[:1] if was_seen else []
    lines = [
        *purpose.headline("goes on" if was_seen else "may go on"),
        _unfinished_words(name, task, len(unfinished) - 1, in_seconds(round(waited)), was_seen=was_seen),
        *(f"It is at subtask {_at(task, step)}." for step in steps if task is not None),
        *poll_warnings,
        *_trace_line(trace_id),
        f"It {'keeps' if was_seen else 'may keep'} running in OCP. {NEXT_STEPS_HEADING}",
        f"  Wait again: {adhoc_command('task_wait', task_ids=_task_ids(unfinished))}",
        *(f"  End the subtask, if it hangs: {_cancel(task_id, step)}" for step in steps),
        *([RUN_AGAIN] if purpose.then == RUN_AGAIN else []),
    ]
    return WaitTimeout("\n".join(lines), task_id=task_id, trace_id=trace_id, unfinished_task_ids=list(unfinished))


def _unfinished_words(name: str, task: Task | None, others: int, waited: str, *, was_seen: bool) -> str:
    more, verb = (f" and {others} more", "are") if others else ("", "is")
    shown = "no status is shown" if task is None or task.status is None else f"status {task.status}"
    status = f" ({shown})" if task is not None else ""
    if was_seen:
        return f"Task {name}{more} {verb} not finished after {waited}{status}."
    if task is None:
        return f"Task {name}{more} {'were' if others else 'was'} not seen in {waited}."
    return f"Task {name}{more} {verb} not finished as last read{status}; after {waited} the last poll failed."


def _cancel(task_id: int, step: Subtask) -> str:
    return adhoc_command("task", task_id=task_id, subtask_id=step.id, state="canceled")


def _task_ids(task_ids: Collection[int]) -> str:
    return (
        ",".join(map(str, task_ids)) if len(task_ids) <= MOST_IDS_SHOWN else "(the unfinished_task_ids of this result)"
    )


def _failed_subtasks(api: OcpApi, failed: list[Task], log_lines: int) -> Iterator[_FailedSubtask]:
    """All FAILED subtasks, with the first MOST_LOGS_READ logs; a missing permission holds for all logs."""
    left = MOST_LOGS_READ if log_lines else 0
    for task in failed:
        for step in task.failed_subtasks:
            if not left:
                yield _FailedSubtask(task, step, step.run_time)
                continue
            if step.id is None:
                no_log = "Its log is not shown, since the service does not show its id."
                yield _FailedSubtask(task, step, step.run_time, no_log=no_log)
                continue
            left -= 1
            try:
                log = api.subtask_log(task.id, step.id)
            except ServiceError as error:
                refused = isinstance(error, CredentialsRefused)
                left = 0 if refused else left
                why = "these credentials may not read it (TASK_VIEWER)" if refused else str(error).rstrip(".")
                yield _FailedSubtask(task, step, step.run_time, no_log=f"Its log is not shown, since {why}.")
            else:
                yield _with_log(task, step, log, log_lines)


def _with_log(task: Task, step: Subtask, log: str, log_lines: int) -> _FailedSubtask:
    headings = [heading.start() for heading in ATTEMPT_HEADING.finditer(log)]
    attempt_log = log[headings[-1] if headings else 0 :]
    lines = [line for line in attempt_log.splitlines() if line.strip()]
    end = log_tail(lines, log_lines)
    # run_time does not count retries of a single subtask.
    attempt = max(step.run_time or 0, len(headings)) or None
    meaning = explained_refusal(step.label, attempt_log)
    return _FailedSubtask(task, step, attempt, end.lines if end else [], meaning=meaning)


def _what_failed(task: Task, failed: list[_FailedSubtask], log_lines: int) -> Iterator[str]:
    """The outcome of the task, where it failed, and the end of the log."""
    if task.rolled_back:
        yield f"Task {task.label} FAILED and was rolled back: it ended SUCCESSFUL, but by undoing its work."
        return
    what = f"Task {task.label} {_end(task)}"
    if not failed:
        yield f"{what}."
        return
    what += "" if task.status == FAILED else ". It failed"
    first = failed[0]
    attempt = "" if first.attempt is None else f", attempt {first.attempt}"
    more = f", and at {len(failed) - 1} more" if len(failed) > 1 else ""
    yield f"{what} at subtask {_at(task, first.step)}{attempt}{more}.{' The end of its log:' if first.log else ''}"
    yield from _log_rows(first.log or [], log_lines)
    if first.meaning:
        yield first.meaning
    if first.no_log:
        yield first.no_log


def _log_rows(log: list[str], log_lines: int) -> list[str]:
    """The end of the log, indented: its last line at least, and as much of the rest as fits on a screen."""
    lines = [f"  {shorten(line, LOG_WIDTH)}" for line in log]
    if log_lines > DEFAULT_LOG_LINES:
        return lines
    left, first = LOG_ROWS, len(lines)
    for number in reversed(range(len(lines))):
        left -= -(-display_width(lines[number]) // ROW_WIDTH)
        if left < 0:
            break
        first = number
    return lines[min(first, len(lines) - 1) :]


def failed_words(task: Task) -> str:
    """How a FAILED task ended and where, as in "FAILED at subtask 5 of 13, Start observer process (id 50006)"."""
    return " at subtask ".join([_end(task), *(_at(task, step) for step in task.failed_subtasks[:1])])


def _end(task: Task) -> str:
    if task.status != FAILED:
        return f"ended without success: its status is {task.status}"
    return f"{task.status}{' while it was rolled back' if task.is_rolling_back else ''}"


def _at(task: Task, step: Subtask) -> str:
    number = "" if step.id is None else f" (id {step.id})"
    return f"{task.position(step)}, {step.label}{number}"


def _trace_line(trace_id: str | None) -> Iterator[str]:
    if trace_id:
        yield f"Trace id {trace_id}."


def _state_line(*sentences: str) -> Iterator[str]:
    yield from filter(None, [" ".join(filter(None, sentences))])


def _durations(task: Task) -> Iterator[str]:
    part = next((step.duration for step in task.failed_subtasks), None)
    if task.duration is not None:
        yield f"The task took {in_seconds(task.duration)}{'' if part is None else f', the subtask {part:g}'}."
    elif part is not None:
        yield f"The subtask took {in_seconds(part)}."


def _next_steps(task: Task, then: str) -> Iterator[str]:
    """The next steps after a task that did not succeed, each with its command, and what to do ``then``."""
    if task.rolled_back or task.status != FAILED:
        yield NEXT_STEPS_HEADING
        yield f"  See what it did: {adhoc_command('task_info', task_id=task.id)}"
        yield "Then run the same command again, if the restart is still wanted."
        return
    yield f"Nothing restarts it until that is cleared. {NEXT_STEPS_HEADING}"
    yield from remedies(task)
    yield then


def remedies(task: Task) -> Iterator[str]:
    """What a person can do about a FAILED task, as far as OCP allows it: a line for each, with its command."""
    yield from (f"  {what}: {command}" for what, command in remedy_commands(task))


def remedy_commands(task: Task) -> Iterator[tuple[str, str]]:
    """The same as pairs."""
    if not task.is_rolling_back:
        yield "Retry what failed", adhoc_command("task", task_id=task.id, state="retried")
    for step in task.failed_subtasks[:1]:
        if not step.prohibit_skip and step.id is not None:
            skip = adhoc_command("task", task_id=task.id, subtask_id=step.id, state="skipped")
            yield "Skip this subtask, leaving its work undone", skip
    if not task.prohibit_rollback:
        yield "Roll the task back", adhoc_command("task", task_id=task.id, state="rolled_back")
