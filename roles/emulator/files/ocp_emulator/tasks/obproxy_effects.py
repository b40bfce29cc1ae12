# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The effects of steps on an OBProxy: stopped, started, counted as a restart."""

import sqlite3

from ocp_emulator.tasks.subtask_graph import CompletedStep


def stop_obproxy(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Stop the process."""
    return _change(db, step, "up = 0", "stopped", "up")


def start_obproxy(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Start the process, and count that as a restart."""
    return _change(db, step, "up = 1, restarts = restarts + 1", "started", "NOT up")


def revert_stop_obproxy(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Start the process; this does not count as a restart."""
    return _change(db, step, "up = 1", "started again", "NOT up")


def _change(db: sqlite3.Connection, step: CompletedStep, change: str, message: str, condition: str) -> list[str]:
    """Change the OBProxy that the step works on, if the task occupies it."""
    rows = db.execute(
        f"UPDATE obproxies SET {change}, update_time = :at"
        f" WHERE id = :id AND operating_task = :task AND {condition} RETURNING id, ip, port",
        {"at": step.at, "task": step.task_id, "id": step.element_id or 0},
    )
    return [f"OBProxy {row['id']} ({row['ip']}:{row['port']}): {message}" for row in rows.fetchall()]
