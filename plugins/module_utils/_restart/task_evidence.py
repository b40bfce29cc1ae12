# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which start or restart task is evidence of a restart, and for how long a task alone is (PROOF_TIMEOUT).

A task counts before the start is visible, for PROOF_TIMEOUT after its end; from then on the start that is shown
decides. For what shows no start at all, the task remains the evidence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from .._base.clock import SECOND
from .._base.parsing import instant
from .._ocp.task_model import Task, task_label
from .._targets.target import Target, TaskOnTarget

# Seconds within which the service shows a new start. It refreshes agents about once a minute.
PROOF_TIMEOUT = 180.0
# A start computed from an uptime varies slightly between reads.
UPTIME_TOLERANCE = timedelta(seconds=2 * SECOND)
# A skipped subtask leaves its work undone.
ESSENTIAL_WORDS = ("stop", "start", "restart")
SKIP = "SKIP"


@dataclass(frozen=True)
class FinishedRestart:
    """A restart that did its work: when it began and ended; ``restarts`` as for TaskOnTarget."""

    task_id: int
    name: str | None
    started_at: datetime
    ended_at: datetime
    restarts: frozenset[str] | None

    @property
    def label(self) -> str:
        """As in ``1001 (Restart OB cluster)``."""
        return task_label(self.task_id, self.name)

    @property
    def due_until(self) -> datetime:
        """When the service shows the start at the latest."""
        return self.ended_at + timedelta(seconds=PROOF_TIMEOUT)

    def restarted(self, member: str) -> bool:
        """Whether it restarted a member."""
        return self.restarts is None or member in self.restarts


def finished_restart(entry: TaskOnTarget, task: Task, since: datetime) -> FinishedRestart | None:
    """The restart that ``task``, read with its subtasks, was; None if it is not evidence for a restart since then.

    The start of the task counts, not its end: the process may have started right after it.
    """
    began = instant(task.start_time)
    if began is None or began < since or entry.restarts == frozenset() or not did_its_work(task):
        return None
    return FinishedRestart(task.id, task.title, began, instant(task.finish_time) or began, entry.restarts)


def untold_restart(target: Target, entries: Iterable[TaskOnTarget], since: datetime) -> FinishedRestart | None:
    """The newest restart of its kind since then that may have been one of the target, or of another."""
    for entry in entries:
        task = Task.from_api(entry.record)
        whole = finished_restart(replace(entry, restarts=None), task, since)
        if whole is not None and entry.restarts == frozenset() and target.may_be_kind(entry.record):
            return whole
    return None


def did_its_work(task: Task) -> bool:
    """Whether a restart ended SUCCESSFUL, not by its rollback, and without skipping what stops or starts."""
    return task.succeeded and not any(
        SKIP in str(step.operation).upper()
        # "Prepare restart observer" does neither.
        and any(str(words).lower().startswith(ESSENTIAL_WORDS) for words in (step.name, step.description))
        for step in task.subtasks
    )


def proven_by_task(finished: Iterable[FinishedRestart], member: str) -> bool:
    """Whether one of these restarts is evidence for a member whose start is not shown."""
    return any(task.restarted(member) for task in finished)


def due_starts(
    finished: Iterable[FinishedRestart], members: Iterable[str], now: datetime
) -> dict[str, FinishedRestart]:
    """The last restart of each of ``members`` whose start need not show yet."""
    recent = sorted((task for task in finished if now < task.due_until), key=lambda task: task.due_until)
    return {member: task for member in members for task in recent if task.restarted(member)}
