# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""In which state a task or subtask may be retried, rolled back, skipped or canceled, and what that does.

Each call changes states and makes subtasks due; the engine does the rest. All raise ApiError 404/20000 for an unknown
task or subtask and 400/20003 for a wrong state.

Our choices where the contract is silent: a task keeps its first `startTime` and has no `finishTime` while it is RUNNING
again; a subtask that is READY again has neither until it runs; the retry and the skip of one subtask do not change the
operation of the task. A subtask that failed in a rollback by time-out or cancel has the operation CANCEL: like one with
the operation ROLLBACK it cannot be retried; roll the task back again, or skip the subtask.

See docs/dev/contract.md, "Task actions".
"""

import logging
import sqlite3

from ocp_emulator.base import errors
from ocp_emulator.fleet.entities import User
from ocp_emulator.store.database import Store
from ocp_emulator.tasks import statuses, subtask_log

_LOG = logging.getLogger(__name__)


class TaskActions:
    """Retry, rollback, skip and cancel."""

    def __init__(self, store: Store) -> None:
        """Work on this store."""
        self._store = store

    def retry_task(self, user: User, now: int, task_id: int) -> None:
        """Run all FAILED subtasks of a FAILED task again. Not for a task that was being rolled back."""
        with self._store.transaction() as db:
            task = _task(db, task_id)
            if task["status"] != "FAILED" or task["operation"] == "ROLLBACK":
                raise errors.invalid_state(_state(f"Task {task_id}", task), "retry")
            _resume(db, task_id, "RETRY")
            db.execute(
                "UPDATE subtasks SET run_time = run_time + 1 WHERE task_id = ? AND status = 'FAILED'", (task_id,)
            )
            _make_ready(db, now, "RETRY", "task_id = ? AND status = 'FAILED'", task_id)
        _log_action(task, "retried", user)

    def rollback_task(self, user: User, now: int, task_id: int) -> None:
        """Undo a FAILED task in reverse order. A rollback that FAILED can be repeated.

        ApiError 400/20004 when the rollback is prohibited.
        """
        with self._store.transaction() as db:
            task = _task(db, task_id)
            if task["status"] != "FAILED":
                raise errors.invalid_state(_state(f"Task {task_id}", task), "rollback")
            if prohibits_rollback(db, task):
                raise errors.rollback_prohibited(task_id)
            _resume(db, task_id, "ROLLBACK")
            statuses.show_in_progress(db, task_id, now)
            db.execute(
                "UPDATE subtasks SET operation = 'ROLLBACK' WHERE task_id = ? AND status <> 'PENDING'", (task_id,)
            )
            _make_ready(db, now, "ROLLBACK", f"task_id = ? AND status <> 'PENDING' AND {ROLLED_BACK_BELOW}", task_id)
        _log_action(task, "rolled back", user)

    def retry_subtask(self, user: User, now: int, task_id: int, subtask_id: int) -> None:
        """Run one FAILED subtask again. Not in a rollback."""
        with self._store.transaction() as db:
            task, subtask = _task(db, task_id), _subtask(db, task_id, subtask_id)
            backwards = "ROLLBACK" in (task["operation"], subtask["operation"])
            if subtask["status"] != "FAILED" or backwards:
                raise errors.invalid_state(_state(f"Subtask {subtask_id} of task {task_id}", subtask), "retry")
            _resume(db, task_id, task["operation"])
            _make_ready(db, now, "RETRY", "id = ?", subtask_id)
        _log_action(task, f"subtask {subtask_id} retried", user)

    def skip_subtask(self, user: User, now: int, task_id: int, subtask_id: int) -> None:
        """Count a FAILED subtask as done, or in a rollback as undone, without doing anything.

        Its step has no effect on the fleet, so a later step may have nothing to start.
        """
        with self._store.transaction() as db:
            task, subtask = _task(db, task_id), _subtask(db, task_id, subtask_id)
            if subtask["status"] != "FAILED":
                raise errors.invalid_state(_state(f"Subtask {subtask_id} of task {task_id}", subtask), "skip")
            _resume(db, task_id, task["operation"])
            operation = "ROLLBACK_SKIP" if task["operation"] == "ROLLBACK" else "SKIP"
            _make_ready(db, now, operation, "id = ?", subtask_id)
        _log_action(task, f"subtask {subtask_id} skipped", user)

    def cancel_subtask(self, user: User, now: int, task_id: int, subtask_id: int) -> None:
        """Let a RUNNING subtask fail; it is CANCELING until a worker notices."""
        with self._store.transaction() as db:
            task, subtask = _task(db, task_id), _subtask(db, task_id, subtask_id)
            if subtask["status"] != "RUNNING":
                raise errors.invalid_state(_state(f"Subtask {subtask_id} of task {task_id}", subtask), "cancel")
            db.execute(
                "UPDATE subtasks SET status = 'CANCELING', operation = 'CANCEL', due_at = ? + ready_ms WHERE id = ?",
                (now, subtask_id),
            )
            subtask_log.append(db, subtask_id, now, ["status RUNNING -> CANCELING"])
        _log_action(task, f"subtask {subtask_id} canceled", user)


# All downstreams of a subtask are PENDING, or it has none.
ROLLED_BACK_BELOW = """
    NOT EXISTS (
        SELECT 1 FROM links JOIN subtasks AS downstream ON downstream.id = links.downstream
        WHERE links.upstream = subtasks.id AND downstream.status <> 'PENDING'
    )
"""


def prohibits_rollback(db: sqlite3.Connection, task: sqlite3.Row) -> bool:
    """Whether a subtask that has begun, or the context of the task, prohibits the rollback."""
    return bool(
        db.execute(
            "SELECT EXISTS (SELECT 1 FROM subtasks WHERE task_id = :id AND prohibit_rollback"
            " AND status NOT IN ('PENDING', 'READY'))"
            " OR coalesce(json_extract(:context, '$.stringMap.prohibit_rollback'), 'false') = 'true'",
            {"id": task["id"], "context": task["context"]},
        ).fetchone()[0]
    )


def _task(db: sqlite3.Connection, task_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM tasks WHERE id = ?", (task_id,)).fetchone()
    if row is None:
        raise errors.task_not_found(task_id)
    return row


def _subtask(db: sqlite3.Connection, task_id: int, subtask_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute(
        "SELECT * FROM subtasks WHERE id = ? AND task_id = ?", (subtask_id, task_id)
    ).fetchone()
    if row is None:
        raise errors.subtask_not_found(task_id, subtask_id)
    return row


def _resume(db: sqlite3.Connection, task_id: int, operation: str) -> None:
    db.execute(
        "UPDATE tasks SET status = 'RUNNING', operation = ?, finish_time = NULL WHERE id = ?", (operation, task_id)
    )


def _make_ready(db: sqlite3.Connection, now: int, operation: str, condition: str, value: int) -> None:
    db.execute(
        "UPDATE subtasks SET status = 'READY', operation = ?, due_at = ? + ready_ms, start_time = NULL,"
        f" finish_time = NULL WHERE {condition}",
        (operation, now, value),
    )


def _state(what: str, row: sqlite3.Row) -> str:
    return f"{what} is {row['status']} with the operation {row['operation']}"


def _log_action(task: sqlite3.Row, what: str, user: User) -> None:
    _LOG.info("task %d (%s) %s by %s", task["id"], task["name"], what, user.name)
