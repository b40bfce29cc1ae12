# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How the tasks of own requests end, as the journal has it; whoever sees an end notes it, since OCP may forget it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from .._base.errors import OcpError
from .._journal.journal_folder import journal_file
from .._journal.rows import REFUSED, RequestRow, has_another_begin
from .._ocp.task_model import FAILED, SUCCESSFUL, Task
from .evidence import work_of
from .knowledge import Work

if TYPE_CHECKING:
    from .._journal.journal import Journal
    from .._ocp.endpoints import OcpApi

# The values that the restart was for have been shown since.
IN_EFFECT = "IN_EFFECT"
# It ended SUCCESSFUL by undoing its work, or with a step skipped that may have mattered.
ROLLED_BACK, SKIPPED = "ROLLED_BACK", "SKIPPED"
# Ends of a task, after which it works no more.
ENDS = (SUCCESSFUL, FAILED, REFUSED, IN_EFFECT, ROLLED_BACK, SKIPPED)
# Of these, the ones after which nothing of it is down; and those after which something may be.
DONE = (SUCCESSFUL, IN_EFFECT)
UNDONE = (FAILED, ROLLED_BACK, SKIPPED)


def outcome_of(task: Task) -> str:
    """How a task has ended, as it is noted."""
    if task.rolled_back:
        return ROLLED_BACK
    return SKIPPED if work_of(task) is Work.SKIPPED else str(task.status)


def is_known_end(row: RequestRow) -> bool:
    """Whether the task of a request is noted to have ended."""
    return row.outcome in ENDS


def tells_another_end(row: RequestRow, task: Task) -> bool:
    """Whether an ended task has ended otherwise than is noted of the request that started it.

    A record without its steps does not overrule that one was skipped.
    """
    knows_more = row.outcome == SKIPPED and not task.subtasks
    return task.finished and not knows_more and row.outcome not in (outcome_of(task), IN_EFFECT)


@contextmanager
def noting_ends(api: OcpApi, journal_url: str | None, task_ids: Collection[int]) -> Iterator[None]:
    """Note how these tasks have ended, as far as the journal has requests for them, once they were awaited.

    If OCP has archived a task by the next run, only this note tells that run how the task ended.
    """
    try:
        yield
    except OcpError:
        _note_ends(api, journal_url, task_ids)
        raise
    _note_ends(api, journal_url, task_ids)


def _note_ends(api: OcpApi, journal_url: str | None, task_ids: Collection[int]) -> None:
    """What cannot be read or noted is left to the next run."""
    with suppress(OcpError, OSError):
        if task_ids and (journal_url or journal_file().exists()):
            from .._journal.open_journal import open_journal

            journal = open_journal(journal_url, read_only=False, is_required=False, warnings=[])
            for number in task_ids:
                _note_end(api, journal, number)


def _note_end(api: OcpApi, journal: Journal, task_id: int) -> None:
    rows = [row for row in journal.requests_of_task(task_id) if journal.is_of_service(row, api.url)]
    if all(row.outcome in DONE for row in rows):
        return
    task = Task.from_api(api.task(task_id))
    for row in rows:
        if not has_another_begin(row.began, task.start_time) and tells_another_end(row, task):
            journal.note(row.number or 0, outcome=outcome_of(task), began=task.start_time or row.began)
