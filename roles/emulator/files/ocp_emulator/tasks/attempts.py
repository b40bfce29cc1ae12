# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One attempt of a subtask: how long it waits for a worker and runs, and whether it succeeds, fails or times out."""

import sqlite3
from enum import StrEnum

from ocp_emulator.base.clock import SECOND
from ocp_emulator.faults import subtask_faults
from ocp_emulator.tasks import effects, occupancy, stop_check, subtask_log
from ocp_emulator.tasks.subtask_graph import CompletedStep, StepAction

# Operations of a subtask that lead back to PENDING.
BACKWARDS = frozenset({"ROLLBACK", "ROLLBACK_SKIP"})
SKIPS = frozenset({"SKIP", "ROLLBACK_SKIP"})
# So many subtasks of a task run at once; the others wait for a worker.
MOST_AT_ONCE = 10
# A subtask spends this share of its time READY, waiting for a worker, and the rest RUNNING.
_READY_SHARE = 0.1


class Outcome(StrEnum):
    """How an attempt ends."""

    SUCCEED = "SUCCEED"
    FAIL = "FAIL"
    TIME_OUT = "TIME_OUT"


def shares(step_ms: int) -> tuple[int, int]:
    """How long a subtask that takes `step_ms` altogether is READY and RUNNING, in milliseconds."""
    ready = round(step_ms * _READY_SHARE)
    return ready, step_ms - ready


def begin(db: sqlite3.Connection, row: sqlite3.Row, instant: int, run_ms: int) -> int:
    """READY -> RUNNING for an attempt that takes `run_ms` without faults; returns when it will end.

    A retry first rolls back what the attempt before may have left. Except for a rollback, the attempt fails if another
    task occupies the targets; or it stays READY, and the returned value is when it looks again. It also does while no
    worker is free.
    """
    again = _when_free(db, row["task_id"])
    if again is None and row["operation"] not in BACKWARDS:
        again = occupancy.wait_or_take_over(db, row["task_id"])
    if again is not None:
        db.execute("UPDATE subtasks SET due_at = ? WHERE id = ?", (again, row["id"]))
        return again
    blocked = None if row["operation"] in BACKWARDS else occupancy.occupy_if_free(db, row["task_id"], instant)
    fault = None if blocked else subtask_faults.match_attempt(db, row)
    duration = fault.attempt_duration(run_ms) if fault else run_ms
    timeout: int = row["timeout"] * SECOND
    due = instant + (timeout if duration is None else min(duration, timeout))
    outcome, reason = Outcome.SUCCEED, None
    if blocked:
        outcome, reason = Outcome.FAIL, blocked
    elif duration is None or duration > timeout:
        outcome, reason = Outcome.TIME_OUT, f"it ran longer than its time-out of {row['timeout']} s"
    elif fault is not None and fault.action == "fail":
        outcome, reason = Outcome.FAIL, fault.reason()
    db.execute(
        "UPDATE subtasks SET status = 'RUNNING', start_time = ?, due_at = ?, outcome = ?, reason = ?,"
        " prohibit_rollback = prohibit_rollback OR ? WHERE id = ?",
        (instant, due, outcome, reason, fault is not None and fault.prohibit_rollback, row["id"]),
    )
    subtask_log.begin_attempt(db, row["id"], row["operation"], instant)
    subtask_log.append(db, row["id"], instant, ["status READY -> RUNNING"])
    if row["operation"] == "RETRY" and row["action"] and not blocked:
        step = CompletedStep(row["task_id"], row["element"], instant)
        subtask_log.append(db, row["id"], instant, effects.revert(db, StepAction(row["action"]), step))
    return due


def _when_free(db: sqlite3.Connection, task_id: int) -> int | None:
    """When the next of the running subtasks of a task ends, if there are as many as there may be."""
    count: int
    due: int | None
    count, due = db.execute(
        "SELECT count(*), min(due_at) FROM subtasks WHERE task_id = ? AND status IN ('RUNNING', 'CANCELING')",
        (task_id,),
    ).fetchone()
    # A recorded task has no times at which its subtasks end.
    return due if count >= MOST_AT_ONCE else None


def finish(db: sqlite3.Connection, row: sqlite3.Row, instant: int, *, checks_stops: bool) -> str:
    """End the attempt that is due, or the skip that was requested; returns the new state of the subtask.

    `checks_stops`: the database may refuse to stop servers.
    """
    operation, reason = row["operation"], row["reason"]
    messages: list[str] = []
    if operation in SKIPS:
        subtask_log.begin_attempt(db, row["id"], operation, instant)
        status = "PENDING" if operation in BACKWARDS else "SUCCESSFUL"
        messages = ["skipped, nothing done"]
    elif row["status"] == "CANCELING":
        status, reason = "FAILED", "it was canceled"
    elif row["outcome"] != Outcome.SUCCEED:
        status = "FAILED"
        operation = "CANCEL" if row["outcome"] == Outcome.TIME_OUT else operation
    elif checks_stops and operation not in BACKWARDS and (refused := stop_check.refusal(db, row)) is not None:
        status, reason = "FAILED", refused
    else:
        carry_out, status = (effects.revert, "PENDING") if operation in BACKWARDS else (effects.apply, "SUCCESSFUL")
        if row["action"] and occupancy.occupies(db, row["task_id"]):
            messages = carry_out(db, StepAction(row["action"]), CompletedStep(row["task_id"], row["element"], instant))
    db.execute(
        "UPDATE subtasks SET status = ?, operation = ?, start_time = coalesce(start_time, ?), finish_time = ?,"
        " due_at = NULL, outcome = NULL, reason = NULL WHERE id = ?",
        (status, operation, instant, instant, row["id"]),
    )
    if status == "FAILED":
        subtask_log.append(db, row["id"], instant, [f"failed: {reason}"], "ERROR")
    subtask_log.append(db, row["id"], instant, [*messages, f"status {row['status']} -> {status}"])
    return status
