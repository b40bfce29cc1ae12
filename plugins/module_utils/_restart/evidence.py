# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a task has done to its target, and until when the service may not show the start that it made."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from .._base.parsing import instant
from .._ocp.task_model import SUCCESSFUL, Subtask, Task
from .knowledge import Work

# Seconds within which the service shows a new start. It refreshes agents about once a minute.
PROOF_TIMEOUT = 180.0
SKIP = "SKIP"
# The status here of a task of our own that the service does not show any more, and whose end was not seen.
GONE = "GONE"
# States of a step that has not begun: it waits for others, or for a worker; and of one that has not ended.
WAITING = ("PENDING", "READY")
UNFINISHED = (*WAITING, "RUNNING")
# The first words of steps, in the names and descriptions of the service.
STARTING = ("start", "restart")
ESSENTIAL = ("stop", *STARTING)
PROCESS = "process"
HARMLESS = ("check", "clean", "finish", "prepare", "set", "sync", "update", "validate", "verify", "wait")


def work_of(task: Task) -> Work:
    """What ``task`` has done, as far as its form shows; whether a step was skipped is only in its detail."""
    if task.status == GONE:
        return Work.GONE
    if not task.finished:
        return Work.RUNNING
    if task.succeeded:
        return Work.SKIPPED if steps_left_undone(task) else Work.RESTARTED
    if task.is_undone:
        return Work.UNDONE
    # Without steps it may have failed at any of them.
    is_harmless = bool(task.subtasks) and (task.failed_at_first_step or not _has_begun_to_start(task))
    return Work.NOTHING if is_harmless else Work.RAN


def steps_left_undone(task: Task) -> list[Subtask]:
    """The skipped steps of ``task`` that stop or start something; those whose names do not tell count too."""
    return [step for step in task.subtasks if _leaves_work_undone(step)]


def needs_detail(task: Task) -> bool:
    """Whether only its detail shows what it has done, or when it began or ended."""
    lacks_begin = instant(task.start_time) is None
    lacks_end = task.status == SUCCESSFUL and instant(task.finish_time) is None
    return lacks_begin or (task.finished and (not task.subtasks or lacks_end))


def shows_until(task: Task) -> datetime | None:
    """When the service shows the start that it made at the latest; None if no end and no begin is shown."""
    end = instant(task.finish_time) or instant(task.start_time)
    return None if end is None else end + timedelta(seconds=PROOF_TIMEOUT)


def may_have_started(task: Task) -> bool:
    """Whether a restart may have started something by now.

    A running one may have once a step has begun that starts something. If no steps are shown, all may have ended.
    """
    if task.finished:
        return work_of(task) is not Work.NOTHING
    return not task.subtasks or _has_begun_to_start(task)


def may_start_yet(task: Task) -> bool:
    """Whether a restart may start something from now on: not all its steps have ended that do, or it is rolled back."""
    if task.finished:
        return False
    return task.is_rolling_back or not task.subtasks or any(step.status in UNFINISHED for step in _starting_steps(task))


def started_within(task: Task) -> tuple[str | None, str | None]:
    """From when to when an ended task may have started something: the times of such steps, else its own."""
    steps = _timed_steps(task)
    begins = {begin: step.start_time for step in steps if (begin := instant(step.start_time))}
    ends = {end: step.finish_time for step in steps if (end := instant(step.finish_time))}
    is_shown = bool(steps) and not lacks_step_times(task)
    return (begins[min(begins)], ends[max(ends)]) if is_shown else (task.start_time, task.finish_time)


def lacks_step_times(task: Task) -> bool:
    """Whether it is not shown when the steps of an ended task ran that start something; its detail may show it."""
    times = [time for step in _timed_steps(task) for time in (step.start_time, step.finish_time)]
    return task.finished and not (times and all(map(instant, times)))


def _timed_steps(task: Task) -> Sequence[Subtask]:
    """Those that start a process, which is what the service shows the start of; a statement may start more after it."""
    steps = _starting_steps(task)
    named = [step for step in steps if any(PROCESS in str(each).lower() for each in (step.name, step.description))]
    return named or steps


def _has_begun_to_start(task: Task) -> bool:
    return any(step.status not in WAITING for step in _starting_steps(task))


def _starting_steps(task: Task) -> Sequence[Subtask]:
    """The steps that start something, by their names; without such a name, all but the first."""
    return [step for step in task.subtasks if _begins_with(step, STARTING)] or task.subtasks[1:]


def _leaves_work_undone(step: Subtask) -> bool:
    if SKIP not in str(step.operation).upper():
        return False
    return not _begins_with(step, HARMLESS) or _begins_with(step, ESSENTIAL)


def _begins_with(step: Subtask, words: tuple[str, ...]) -> bool:
    return any(str(each).strip().lower().startswith(words) for each in (step.name, step.description) if each)
