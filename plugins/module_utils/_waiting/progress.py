# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The progress lines of a wait: one for each subtask that ends, totals for many tasks, a line each minute."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from .._base.errors import RequestRefused, ServiceError
from .._base.text import counted, state_words
from .._ocp.task_model import FAILED, RUNNING, SUCCESSFUL, Subtask, Task
from .progress_lines import HEARTBEAT_SECONDS, Show, minutes_and_seconds, progress_line

MOST_TASKS_IN_DETAIL = 4
# Ansible's word for success, so that only other statuses stand out.
STATUS_WORDS = {SUCCESSFUL: "ok"}


@dataclass(frozen=True)
class Unseen:
    """A task that the service does not show, and for how many ``seconds`` more that may be a replica that lags."""

    task_id: int
    seconds: float


@dataclass(frozen=True)
class PollResult:
    """The result of one poll: tasks just read, ids of the unfinished ones, two counts, and the error if it failed.

    ``waited`` is the seconds since the wait began. ``names`` are those of what tasks work on, where they are known.
    """

    waited: float
    just_read: Mapping[int, Task]
    unfinished: Collection[int]
    ended: int
    unsuccessful: int
    problem: ServiceError | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    unseen: Unseen | None = None

    @property
    def total(self) -> int:
        """How many tasks are waited for."""
        return self.ended + len(self.unfinished)


class Progress:
    """The lines of one wait: step by step for up to MOST_TASKS_IN_DETAIL tasks, totals for more.

    ``offline_time`` is how many seconds a server may be offline. From half of it on, a line a minute says what is left.
    Without ``steps`` there is a line for each task that ends before the last one, and where nothing was shown for a
    minute: what the task works on, and its step.
    """

    def __init__(self, show: Show, offline_time: float | None = None, *, steps: bool = True) -> None:
        self._show = show
        self._steps = steps
        self._offline_time = offline_time
        self._offline_due = math.inf if offline_time is None else offline_time / 2
        self._reported: set[tuple[object, ...]] = set()
        self._latest: dict[int, Task] = {}
        self._names: Mapping[int, str] = {}
        # What is at work in each task, and since when.
        self._at_work: dict[int, tuple[str, float]] = {}
        self._totals: tuple[str, str] | None = None
        self._error_shown = ""
        self._last = 0.0

    @property
    def heartbeat_due(self) -> float:
        """Seconds into the wait at which ``heartbeat`` is due."""
        return min(self._last + HEARTBEAT_SECONDS, self._offline_due)

    def report(self, result: PollResult) -> None:
        """Show the news."""
        waited = result.waited
        if result.unfinished:
            self._report_offline_time(waited)
        many = result.total > MOST_TASKS_IN_DETAIL
        error = _poll_error(result.problem) if result.problem else ""
        if error and not self._error_shown:
            self._say(_error_line(error, result), waited)
        self._error_shown = error
        self._names = result.names
        for task in result.just_read.values():
            self._note_work(task, waited)
            if self._steps and not many:
                self._report_steps(task, waited)
            elif task.finished and result.total > 1:
                self._report_end(task, result, many=many)
        if many:
            self._report_totals(result)
        else:
            known = {**self._latest, **result.just_read}
            self._latest = {task_id: known[task_id] for task_id in result.unfinished if task_id in known}

    def heartbeat(self, waited: float) -> None:
        """Show that the wait continues, after a minute without news."""
        self._report_offline_time(waited)
        if waited < self._last + HEARTBEAT_SECONDS:
            return
        after = f" after {minutes_and_seconds(waited)}"
        if self._error_shown:
            self._say(f"{self._error_shown} still{after}; the wait goes on", waited)
        elif self._totals:
            self._say(after.join(self._totals), waited)
        else:
            for task in self._latest.values():
                standing = f"{task.id} {task.status}{after}{_running_steps(task)}"
                self._say(standing if self._steps else self._work(task, waited), waited)
        self._last = waited

    def _note_work(self, task: Task, waited: float) -> None:
        work = _work_words(task)
        if self._at_work.get(task.id, ("", 0.0))[0] != work:
            self._at_work[task.id] = work, waited

    def _work(self, task: Task, waited: float) -> str:
        """As in ``10.0.0.4:2882 (task 1001): Stop observer service, for 3:00``."""
        what, since = self._at_work[task.id]
        return f"{self._named(task)}: {what}, for {minutes_and_seconds(waited - since)}"

    def _named(self, task: Task) -> str:
        name = self._names.get(task.id)
        return f"{name} (task {task.id})" if name else f"Task {task.label}"

    def _report_end(self, task: Task, result: PollResult, *, many: bool) -> None:
        """Show the end of a task that did not succeed; where few are awaited, show each end before the last one, too.

        For many tasks, totals are shown elsewhere. The caller shows the last end of a few.
        """
        is_told = not task.succeeded or (result.unfinished and not many)
        if not is_told or not self._is_new(task.id, task.status, task.finish_time):
            return
        left = f", {counted(len(result.unfinished), 'task')} left" if result.unfinished and not many else ""
        words = f"{self._named(task)} {_outcome(task)}{_failed_step(task)}{left}"
        self._say(words, result.waited, failed=not task.succeeded)

    def _report_offline_time(self, waited: float) -> None:
        if self._offline_time is None or waited < self._offline_due:
            return
        self._offline_due = waited + HEARTBEAT_SECONDS
        left, allowed = self._offline_time - waited, minutes_and_seconds(self._offline_time)
        what = f"{minutes_and_seconds(left)} of {allowed} left" if left > 0 else f"{allowed} used up"
        self._show(progress_line(f"server_permanent_offline_time: {what}"), left <= 0)

    def _report_totals(self, result: PollResult) -> None:
        bad = f" ({result.unsuccessful} not successful)" if result.unsuccessful else ""
        named = f": {', '.join(map(str, result.unfinished))}" if len(result.unfinished) <= MOST_TASKS_IN_DETAIL else ""
        totals = (
            f"{result.ended} of {result.total} tasks ended{bad}",
            f", {len(result.unfinished)} go on{named}" if result.unfinished else "",
        )
        if totals != self._totals:
            self._totals = totals
            self._say(f" after {minutes_and_seconds(result.waited)}".join(totals), result.waited)

    def _report_steps(self, task: Task, waited: float) -> None:
        done = [step for step in task.subtasks if step.status in (SUCCESSFUL, FAILED)]
        new = [step for step in done if self._is_new(task.id, step.id, step.status, step.finish_time, step.run_time)]
        if self._is_new(task.id):
            standing = f" {len(done)}/{len(task.subtasks)}" if task.subtasks else ""
            kind = "rollback of " if task.is_rolling_back else ""
            if not task.finished:
                self._say(f"{kind}{task.label} {task.status}{standing}{_running_steps(task)}", waited)
            new = [step for step in new if step.status == FAILED]
        for (_label, status, _skipped), alike in groupby(new, key=lambda one: (one.label, one.status, one.is_skipped)):
            steps = list(alike)
            running = _running_steps(task) if steps[-1] is new[-1] else ""
            self._say(f"{_step_line(task, steps)}{running}", waited, failed=status == FAILED)
        if task.finished and self._is_new(task.id, task.status, task.finish_time):
            self._say(f"{task.label} {_outcome(task)}{_duration(task.duration)}", waited, failed=not task.succeeded)

    def _is_new(self, *what: object) -> bool:
        new = what not in self._reported
        self._reported.add(what)
        return new

    def _say(self, text: str, waited: float, *, failed: bool = False) -> None:
        self._last = waited
        self._show(progress_line(text), failed)


def _error_line(error: str, result: PollResult) -> str:
    """How long the wait goes on: a task that is not shown may not exist."""
    if result.unseen is None:
        return f"{error} after {minutes_and_seconds(result.waited)}; the wait goes on"
    until = minutes_and_seconds(result.waited + result.unseen.seconds)
    return f"OCP does not show task {result.unseen.task_id}; it may come late, and is looked for until {until}"


def _poll_error(problem: ServiceError) -> str:
    return f"Service answers {problem.status}" if isinstance(problem, RequestRefused) else "No answer from the service"


def _outcome(task: Task) -> str:
    return "ROLLED BACK" if task.rolled_back else str(task.status)


def _step_line(task: Task, steps: list[Subtask]) -> str:
    """One line for equal subtasks, such as one for each host: last position, count and longest time."""
    last = steps[-1]
    position, total = task.position(last).split(" of ")
    times = f" {len(steps)} times" if len(steps) > 1 else ""
    longest = max((step.duration for step in steps if step.duration is not None), default=None)
    status = "skipped" if last.is_skipped else STATUS_WORDS.get(str(last.status), last.status)
    return f"{task.id} {position.rjust(len(total))}/{total} {status} {last.label}{times}{_duration(longest)}"


def _work_words(task: Task) -> str:
    """The step that runs, else the status; of a task that is rolled back, that too."""
    running = [step.label for step in task.subtasks if step.status == RUNNING]
    more = f" and {len(running) - 1} more" if len(running) > 1 else ""
    what = f"{running[0]}{more}" if running else state_words(task.status or None)
    return f"rollback, {what}" if task.is_rolling_back else what


def _running_steps(task: Task) -> str:
    running = [step.label for step in task.subtasks if step.status == RUNNING]
    more = f" and {len(running) - 1} more" if len(running) > 1 else ""
    return f"; now {running[0]}{more}" if running else ""


def _failed_step(task: Task) -> str:
    return "".join(f" at subtask {task.position(step)}, {step.label}" for step in task.failed_subtasks[:1])


def _duration(duration: float | None) -> str:
    if duration is None:
        return ""
    return f", {duration:.1f} s" if duration < 10 else f", {duration:.0f} s"
