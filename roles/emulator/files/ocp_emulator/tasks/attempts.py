# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One attempt of a subtask: how long it runs and how it ends is decided when it begins (ocp-api.md, section 3)."""

import sqlite3
from enum import StrEnum

from ocp_emulator.base import errors
from ocp_emulator.base.clock import SECOND
from ocp_emulator.faults import subtask_faults
from ocp_emulator.tasks import effects, subtask_log
from ocp_emulator.tasks.blueprints import Action

# Operations of a subtask that lead back to PENDING.
BACKWARDS = frozenset({"ROLLBACK", "ROLLBACK_SKIP"})
SKIPS = frozenset({"SKIP", "ROLLBACK_SKIP"})


class Outcome(StrEnum):
    """How an attempt ends."""

    SUCCEED = "SUCCEED"
    FAIL = "FAIL"
    TIME_OUT = "TIME_OUT"


def begin(db: sqlite3.Connection, row: sqlite3.Row, instant: int, run_ms: int) -> int:
    """READY -> RUNNING for an attempt that takes `run_ms` undisturbed; returns when it will end.

    A retry first rolls back what the attempt before may have left. The attempt of a task that does not occupy its
    targets, since they were busy when it was accepted, fails if they still are, and occupies them if not.
    """
    held_up = _held_up(db, row, instant)
    fault = None if held_up else subtask_faults.take(db, row)
    needed = fault.slowed(run_ms) if fault else run_ms
    longest: int = row["timeout"] * SECOND
    due = instant + (longest if needed is None else min(needed, longest))
    outcome, reason = Outcome.SUCCEED, None
    if held_up:
        outcome, reason = Outcome.FAIL, held_up
    elif needed is None or needed > longest:
        outcome, reason = Outcome.TIME_OUT, f"it ran longer than its time-out of {row['timeout']} s"
    elif fault is not None and fault.action == "fail":
        outcome, reason = Outcome.FAIL, fault.reason()
    db.execute(
        "UPDATE subtasks SET status = 'RUNNING', start_time = ?, due_at = ?, outcome = ?, reason = ?,"
        " prohibit_rollback = prohibit_rollback OR ? WHERE id = ?",
        (instant, due, outcome, reason, fault is not None and fault.prohibit_rollback, row["id"]),
    )
    subtask_log.begin_attempt(db, row["id"], row["operation"], instant)
    subtask_log.tell(db, row["id"], instant, ["status READY -> RUNNING"])
    if row["operation"] == "RETRY" and row["action"] and not held_up:
        done = effects.Done(row["task_id"], row["element"], instant)
        subtask_log.tell(db, row["id"], instant, effects.revert(db, Action(row["action"]), done))
    return due


def _held_up(db: sqlite3.Connection, row: sqlite3.Row, instant: int) -> str | None:
    """Why the task cannot get at its targets; None when it has them, or has them from now on, or goes back."""
    if row["operation"] in BACKWARDS or effects.occupies(db, row["task_id"]):
        return None
    holder = effects.holder(db, row["task_id"])
    if holder is None:
        effects.begin(db, row["task_id"], instant)
        return None
    task = db.execute("SELECT name, status FROM tasks WHERE id = ?", (holder,)).fetchone()
    return errors.occupied("the target", holder, task["name"], task["status"])


def finish(db: sqlite3.Connection, row: sqlite3.Row, instant: int) -> str:
    """End the attempt that is due, or the skip that has been asked for; returns the state that the subtask has then."""
    operation, reason = row["operation"], row["reason"]
    told: list[str] = []
    if operation in SKIPS:
        subtask_log.begin_attempt(db, row["id"], operation, instant)
        status = "PENDING" if operation in BACKWARDS else "SUCCESSFUL"
        told = ["skipped, nothing done"]
    elif row["status"] == "CANCELING":
        status, reason = "FAILED", "it was canceled"
    elif row["outcome"] != Outcome.SUCCEED:
        status = "FAILED"
        operation = "CANCEL" if row["outcome"] == Outcome.TIME_OUT else operation
    else:
        work, status = (effects.revert, "PENDING") if operation in BACKWARDS else (effects.apply, "SUCCESSFUL")
        if row["action"] and effects.occupies(db, row["task_id"]):
            told = work(db, Action(row["action"]), effects.Done(row["task_id"], row["element"], instant))
    db.execute(
        "UPDATE subtasks SET status = ?, operation = ?, start_time = coalesce(start_time, ?), finish_time = ?,"
        " due_at = NULL, outcome = NULL, reason = NULL WHERE id = ?",
        (status, operation, instant, instant, row["id"]),
    )
    if status == "FAILED":
        subtask_log.tell(db, row["id"], instant, [f"failed: {reason}"], "ERROR")
    subtask_log.tell(db, row["id"], instant, [*told, f"status {row['status']} -> {status}"])
    return status
