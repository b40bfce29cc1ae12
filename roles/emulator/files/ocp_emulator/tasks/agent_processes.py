# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The worker process of an agent, the only one that users may restart and stop: at once, without a task.

Every documented agent shows it, and that it does not run. Until it is started, it is not in the database.
"""

import sqlite3

from ocp_emulator.base import errors

WORKER = "ob_cleaner"
_FIRST_WORKER = 1_000_000_000
_FIRST_PID = 30_000


def worker_id(host_id: int) -> int:
    """The id of the worker process of a host."""
    return _FIRST_WORKER + host_id


def restart_process(db: sqlite3.Connection, host_id: int, process_id: int, now: int) -> None:
    """Restart it, or start it. ApiError: 404 when there is no such process, 400 for another one, 409 when busy."""
    _check(db, host_id, process_id)
    (pid,) = db.execute("SELECT max(pid) + 1 FROM agent_processes WHERE host_id = ?", (host_id,)).fetchone()
    db.execute("DELETE FROM agent_processes WHERE id = ?", (process_id,))
    db.execute(
        "INSERT INTO agent_processes (id, host_id, alias, pid, status, start_time, create_time, update_time)"
        " VALUES (?, ?, ?, ?, 'STARTED', ?, ?, ?)",
        (process_id, host_id, WORKER, max(pid or 0, _FIRST_PID), now, now, now),
    )


def stop_process(db: sqlite3.Connection, host_id: int, process_id: int, now: int) -> None:
    """Stop it, if it runs. ApiError as above."""
    _check(db, host_id, process_id)
    if process_id == worker_id(host_id):
        db.execute("DELETE FROM agent_processes WHERE id = ?", (process_id,))
    else:
        db.execute(
            "UPDATE agent_processes SET status = 'STOPPED', stop_time = ?, update_time = ? WHERE id = ?",
            (now, now, process_id),
        )


def _check(db: sqlite3.Connection, host_id: int, process_id: int) -> None:
    host = db.execute("SELECT * FROM hosts WHERE id = ?", (host_id,)).fetchone()
    if host is None:
        raise errors.no_such_host(f"Host {host_id}")
    label = f"Process {process_id} of host {host_id} ({host['ip']})"
    row = db.execute("SELECT * FROM agent_processes WHERE id = ? AND host_id = ?", (process_id, host_id)).fetchone()
    # A recorded service may have shown it under an id of its own.
    shown = db.execute("SELECT 1 FROM agent_processes WHERE host_id = ? AND alias = ?", (host_id, WORKER)).fetchone()
    if row is None and (shown is not None or process_id != worker_id(host_id)):
        raise errors.not_found(label)
    if row is not None and row["alias"] != WORKER:
        raise errors.illegal_argument(f"{label} is {row['alias']}, which is not operable.")
    if host["operating_task"] is not None:
        task = db.execute("SELECT * FROM tasks WHERE id = ?", (host["operating_task"],)).fetchone()
        raise errors.busy(errors.AGENT_STATE, label, task["id"], task["name"], task["status"])
