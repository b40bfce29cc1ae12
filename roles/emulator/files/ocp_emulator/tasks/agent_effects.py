# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The effects of steps on the processes of an agent: stopped, started, new pids, counted as restarts."""

import sqlite3

from ocp_emulator.tasks.subtask_graph import CompletedStep

# Large enough that no process of a host gets a pid that another one had just before.
_PID_STEP = 100
# Of `hosts`: the element of a batch, or else all hosts of the task.
HOSTS_OF_STEP = "id = :host OR :host IS NULL AND operating_task = :task"


def restart_pos_proxy(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Restart the one process that is not stopped with the others."""
    return _change_processes(db, step, "pid = pid + :step, start_time = :at", "alias = 'pos_proxy'", "restarted")


def stop_agent(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Stop all other processes."""
    condition = "alias <> 'pos_proxy' AND status = 'STARTED'"
    return _change_processes(db, step, "status = 'STOPPED', stop_time = :at", condition, "stopped")


def start_agent(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Start what is stopped, and count that as a restart."""
    messages = revert_stop_agent(db, step)
    if messages:
        db.execute(
            f"UPDATE hosts SET restarts = restarts + 1 WHERE {HOSTS_OF_STEP}",
            {"host": step.element_id, "task": step.task_id},
        )
    return messages


def revert_stop_agent(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Start what is stopped; this does not count as a restart."""
    change = "pid = pid + :step, status = 'STARTED', start_time = :at, stop_time = NULL"
    return _change_processes(db, step, change, "alias <> 'pos_proxy' AND status = 'STOPPED'", "started")


def _change_processes(
    db: sqlite3.Connection, step: CompletedStep, change: str, condition: str, message: str
) -> list[str]:
    """Change processes of the agents of a step; `change` sees the instant as :at and the number to add to a pid."""
    rows = db.execute(
        f"UPDATE agent_processes SET {change}, update_time = :at"
        f" WHERE host_id IN (SELECT id FROM hosts WHERE {HOSTS_OF_STEP}) AND {condition} RETURNING host_id, alias, pid",
        {"at": step.at, "host": step.element_id, "task": step.task_id, "step": _PID_STEP},
    )
    return [f"host {row['host_id']}: {row['alias']} {message}, pid {row['pid']}" for row in rows.fetchall()]
