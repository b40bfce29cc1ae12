# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The effects of steps on an arbitration service: stopped, started, counted as a restart."""

import sqlite3

from ocp_emulator.tasks.subtask_graph import CompletedStep


def change_service(
    db: sqlite3.Connection, step: CompletedStep, change: str, message: str, condition: str = "TRUE"
) -> list[str]:
    """Change the arbitration service that the task occupies; `{}` in `message` stands for the new status."""
    rows = db.execute(
        f"UPDATE arbitration_services SET {change}, update_time = :at WHERE operating_task = :task AND {condition}"
        " RETURNING id, ip, port, status",
        {"at": step.at, "task": step.task_id},
    )
    return [
        f"arbitration service {row['id']} ({row['ip']}:{row['port']}): {message.format(row['status'])}"
        for row in rows.fetchall()
    ]


def stop_arbitration(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Stop the service."""
    return change_service(db, step, "up = 0", "stopped", "up")


def start_arbitration(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Start the service, and count that as a restart."""
    return change_service(db, step, "up = 1, restarts = restarts + 1", "started", "NOT up")


def revert_stop_arbitration(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Start the service; this does not count as a restart."""
    return change_service(db, step, "up = 1", "started again", "NOT up")
