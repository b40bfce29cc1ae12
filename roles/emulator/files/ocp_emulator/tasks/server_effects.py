# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The effects of steps on servers, zones and clusters: stopped, started, in service, counted as restarts."""

import json
import sqlite3

from ocp_emulator.tasks.subtask_graph import CompletedStep

# When the task began: it did not start or stop what was started or stopped before.
_BEGIN = "(SELECT start_time FROM tasks WHERE id = :task)"


def change_servers(
    db: sqlite3.Connection, step: CompletedStep, change: str, message: str, condition: str = "TRUE"
) -> list[str]:
    """Change the servers that the task occupies, or only the batch element; `change` sees the instant as :at.

    Returns one line for each server that was changed; `{}` in `message` stands for the new status.
    """
    rows = db.execute(
        f"UPDATE servers SET {change}, update_time = :at WHERE operating_task = :task"
        f" AND (:element IS NULL OR id = :element) AND ({condition}) RETURNING id, ip, port, status",
        {"at": step.at, "task": step.task_id, "element": step.element_id},
    )
    return [
        f"server {row['id']} ({row['ip']}:{row['port']}): {message.format(row['status'])}" for row in rows.fetchall()
    ]


def freeze(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Run a minor compaction, unless the task was started without; this changes nothing that can be read."""
    row = db.execute("SELECT context FROM tasks WHERE id = ?", (step.task_id,)).fetchone()
    requested = json.loads(row["context"])["stringMap"].get("freeze_server")
    messages = {"true": "minor compaction finished", "false": "minor compaction left out, as freezeServer is false"}
    return [messages[requested]] if requested else []


def stop_service(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Take servers out of service; their processes run on."""
    return [*freeze(db, step), *change_servers(db, step, "stop_time = :at", "out of service", "up AND stop_time = 0")]


def revert_stop_service(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Take the servers that this task stopped back into service."""
    condition = f"up AND stop_time > start_time AND stop_time >= {_BEGIN}"
    return change_servers(db, step, "stop_time = 0", "in service again", condition)


def start_service(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Take servers into service."""
    return change_servers(db, step, "stop_time = 0", "in service", "up")


def stop_process(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Stop the processes of servers."""
    return _stop_process(db, step, "up")


def revert_start_process(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Stop the processes that this task started."""
    return _stop_process(db, step, f"up AND start_time >= {_BEGIN}")


def _stop_process(db: sqlite3.Connection, step: CompletedStep, condition: str) -> list[str]:
    change = "up = 0, inner_status = 'INACTIVE', stop_time = :at"
    messages = change_servers(db, step, change, "process stopped", condition)
    # Only operations on more than one server occupy zones.
    db.execute(
        "UPDATE zones SET inner_status = 'INACTIVE', update_time = :at WHERE operating_task = :task"
        " AND NOT EXISTS (SELECT 1 FROM servers WHERE zone_id = zones.id AND up)",
        {"at": step.at, "task": step.task_id},
    )
    return messages


def start_process(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Start the processes of servers, and count that as restarts."""
    change = "up = 1, restarts = restarts + 1, start_time = :at"
    return _start_process(db, step, change, "process started", 1, "NOT up")


def revert_stop_process(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Start the processes that this task stopped; this does not count as a restart."""
    change = "up = 1, inner_status = 'ACTIVE', start_time = :at, stop_time = 0"
    return _start_process(db, step, change, "process started again", 0, f"NOT up AND stop_time >= {_BEGIN}")


def _start_process(
    db: sqlite3.Connection, step: CompletedStep, change: str, message: str, restarts: int, condition: str
) -> list[str]:
    """`restarts` is what is added to the restarts of zones and clusters whose servers are all up."""
    messages = change_servers(db, step, change, message, condition)
    if messages:
        # Only operations on a whole cluster occupy the cluster, and only they are a new start of it.
        for table, column, changed in (("zones", "zone_id", ""), ("clusters", "cluster_id", "start_time = :at, ")):
            db.execute(
                f"UPDATE {table} SET {changed}restarts = restarts + :counted, update_time = :at"
                " WHERE operating_task = :task"
                f" AND NOT EXISTS (SELECT 1 FROM servers WHERE {column} = {table}.id"
                " AND NOT up AND status <> 'DELETED')",
                {"at": step.at, "task": step.task_id, "counted": restarts},
            )
    return messages


def activate(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Let servers whose processes run answer."""
    return change_servers(db, step, "inner_status = 'ACTIVE'", "active", "up")


def stop_zone(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Stop the zones that the task occupies."""
    rows = db.execute(
        "UPDATE zones SET inner_status = 'INACTIVE', update_time = ? WHERE operating_task = ? RETURNING name",
        (step.at, step.task_id),
    )
    return [f"zone {row['name']}: stopped" for row in rows.fetchall()]


def start_zone(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Start the zones that the task occupies and that have a server that answers."""
    rows = db.execute(
        "UPDATE zones SET inner_status = 'ACTIVE', update_time = :at WHERE operating_task = :task AND EXISTS ("
        "SELECT 1 FROM servers WHERE zone_id = zones.id AND servers.inner_status = 'ACTIVE') RETURNING name",
        {"at": step.at, "task": step.task_id},
    )
    messages = [f"zone {row['name']}: started" for row in rows.fetchall()]
    # The operations on a zone have no other step that takes its servers into service.
    return [*messages, *change_servers(db, step, "stop_time = 0", "in service", "up AND stop_time")]
