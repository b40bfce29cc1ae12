# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What an operation does to the fleet: when it begins, with each step that is done, and when it ends.

The target of a step is whatever the task occupies (`operating_task`), for a step of a batch one host of it; so one
function serves the restart of one server and of a whole cluster. A step takes effect at the instant it is SUCCESSFUL:
what an unfinished task leaves behind is what its finished steps did. Which state is seen when is not documented; the
statuses are (ocp-api.md, section 6).
"""

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ocp_emulator.graphs import Action

# Far enough that no process of a host takes a number that another one of it had just before.
_PID_STEP = 100


@dataclass(frozen=True)
class Done:
    """A step that is done: its task, the batch element it worked on (or None), and when."""

    task_id: int
    element: str | None
    at: int


def begin_server_restart(db: sqlite3.Connection, task_id: int, server_id: int, now: int) -> None:
    """Occupy the server; its zone and cluster show that something goes on in them."""
    db.execute(
        "UPDATE servers SET operating_task = ?, status = 'RESTARTING', update_time = ? WHERE id = ?",
        (task_id, now, server_id),
    )
    db.execute(
        "UPDATE zones SET status = 'OPERATING', update_time = ? WHERE id = (SELECT zone_id FROM servers WHERE id = ?)",
        (now, server_id),
    )
    db.execute(
        "UPDATE clusters SET status = 'OPERATING', update_time = ?"
        " WHERE id = (SELECT cluster_id FROM servers WHERE id = ?)",
        (now, server_id),
    )


def begin_cluster_restart(db: sqlite3.Connection, task_id: int, cluster_id: int, now: int) -> None:
    """Occupy the cluster with all its zones and servers."""
    for table, column in (("clusters", "id"), ("zones", "cluster_id"), ("servers", "cluster_id")):
        db.execute(
            f"UPDATE {table} SET operating_task = ?, status = 'RESTARTING', update_time = ? WHERE {column} = ?",
            (task_id, now, cluster_id),
        )


def begin_agent_restart(db: sqlite3.Connection, task_id: int, host_ids: Sequence[int], now: int) -> None:
    """Occupy the agents of the hosts."""
    db.execute(
        "UPDATE hosts SET operating_task = ?, agent_status = 'RESTARTING', agent_unavailable_since = ?, update_time = ?"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (task_id, now, now, json.dumps(host_ids)),
    )


def begin_arbitration_restart(db: sqlite3.Connection, task_id: int, service_id: int, now: int) -> None:
    """Occupy the arbitration service."""
    db.execute(
        "UPDATE arbitration_services SET operating_task = ?, status = 'RESTARTING', update_time = ? WHERE id = ?",
        (task_id, now, service_id),
    )


def release(db: sqlite3.Connection, task_id: int) -> None:
    """Give free what the task occupied."""
    for table in ("servers", "zones", "clusters", "hosts", "arbitration_services"):
        db.execute(f"UPDATE {table} SET operating_task = NULL WHERE operating_task = ?", (task_id,))


def apply(db: sqlite3.Connection, action: Action, done: Done) -> list[str]:
    """Carry out what a step does, and tell it in sentences for the log of the subtask."""
    return _EFFECTS[action](db, done)


def _servers(db: sqlite3.Connection, done: Done, change: str, told: str) -> list[str]:
    """Change the servers that the task occupies; `change` sees the instant as :at."""
    rows = db.execute(
        f"UPDATE servers SET {change}, update_time = :at WHERE operating_task = :task RETURNING id, ip, port",
        {"at": done.at, "task": done.task_id},
    )
    return [f"server {row['id']} ({row['ip']}:{row['port']}): {told}" for row in rows.fetchall()]


def _freeze(db: sqlite3.Connection, done: Done) -> list[str]:
    row = db.execute("SELECT context FROM tasks WHERE id = ?", (done.task_id,)).fetchone()
    freeze = json.loads(row["context"])["stringMap"]["freeze_server"] == "true"
    return ["minor compaction finished" if freeze else "minor compaction left out, as freezeServer is false"]


def _stop_observer(db: sqlite3.Connection, done: Done) -> list[str]:
    # Only the restart of more than one server occupies zones.
    db.execute(
        "UPDATE zones SET inner_status = 'INACTIVE', update_time = ? WHERE operating_task = ?", (done.at, done.task_id)
    )
    return _servers(db, done, "inner_status = 'INACTIVE', stop_time = :at", "process stopped")


def _start_observer(db: sqlite3.Connection, done: Done) -> list[str]:
    # Only the restart of the whole cluster occupies the cluster, and only that is a new start of it.
    db.execute(
        "UPDATE clusters SET start_time = ?, update_time = ? WHERE operating_task = ?", (done.at, done.at, done.task_id)
    )
    return _servers(db, done, "start_time = :at", "process started")


def _observer_active(db: sqlite3.Connection, done: Done) -> list[str]:
    return _servers(db, done, "inner_status = 'ACTIVE'", "active")


def _start_service(db: sqlite3.Connection, done: Done) -> list[str]:
    return _servers(db, done, "stop_time = 0", "in service")


def _server_status(db: sqlite3.Connection, done: Done) -> list[str]:
    return _servers(db, done, "status = 'RUNNING'", "status RUNNING")


def _start_zone(db: sqlite3.Connection, done: Done) -> list[str]:
    rows = db.execute(
        "UPDATE zones SET inner_status = 'ACTIVE', update_time = ? WHERE operating_task = ? RETURNING name",
        (done.at, done.task_id),
    )
    return [f"zone {row['name']}: started" for row in rows.fetchall()]


def _zone_status(db: sqlite3.Connection, done: Done) -> list[str]:
    # A zone in which another server is still being restarted is left to that server's task.
    rows = db.execute(
        "UPDATE zones SET status = 'RUNNING', update_time = :at"
        " WHERE id IN (SELECT zone_id FROM servers WHERE operating_task = :task)"
        " AND NOT EXISTS (SELECT 1 FROM servers WHERE zone_id = zones.id AND status <> 'RUNNING') RETURNING name",
        {"at": done.at, "task": done.task_id},
    )
    return [f"zone {row['name']}: status RUNNING" for row in rows.fetchall()]


def _cluster_status(db: sqlite3.Connection, done: Done) -> list[str]:
    rows = db.execute(
        "UPDATE clusters SET status = 'RUNNING', update_time = :at"
        " WHERE id IN (SELECT cluster_id FROM servers WHERE operating_task = :task)"
        " AND NOT EXISTS (SELECT 1 FROM zones WHERE cluster_id = clusters.id AND status <> 'RUNNING') RETURNING name",
        {"at": done.at, "task": done.task_id},
    )
    return [f"cluster {row['name']}: status RUNNING" for row in rows.fetchall()]


def _processes(db: sqlite3.Connection, done: Done, change: str, which: str, told: str) -> list[str]:
    """Change processes of the agent of one host; `change` sees the instant as :at and the number to add to a pid."""
    rows = db.execute(
        f"UPDATE agent_processes SET {change}, update_time = :at WHERE host_id = :host AND {which}"
        " RETURNING alias, pid",
        {"at": done.at, "host": int(done.element or 0), "step": _PID_STEP},
    )
    return [f"host {done.element}: {row['alias']} {told}, pid {row['pid']}" for row in rows.fetchall()]


def _restart_pos_proxy(db: sqlite3.Connection, done: Done) -> list[str]:
    return _processes(db, done, "pid = pid + :step, start_time = :at", "alias = 'pos_proxy'", "restarted")


def _stop_agent(db: sqlite3.Connection, done: Done) -> list[str]:
    return _processes(db, done, "status = 'STOPPED', stop_time = :at", "alias <> 'pos_proxy'", "stopped")


def _start_agent(db: sqlite3.Connection, done: Done) -> list[str]:
    change = "pid = pid + :step, status = 'STARTED', start_time = :at, stop_time = NULL"
    return _processes(db, done, change, "alias <> 'pos_proxy'", "started")


def _agent_status(db: sqlite3.Connection, done: Done) -> list[str]:
    db.execute(
        "UPDATE hosts SET agent_status = 'AVAILABLE', agent_unavailable_since = NULL, update_time = ? WHERE id = ?",
        (done.at, int(done.element or 0)),
    )
    return [f"host {done.element}: agent AVAILABLE"]


def _arbitration(db: sqlite3.Connection, done: Done, change: str, told: str) -> list[str]:
    rows = db.execute(
        f"UPDATE arbitration_services SET {change}update_time = :at WHERE operating_task = :task"
        " RETURNING id, ip, port",
        {"at": done.at, "task": done.task_id},
    )
    return [f"arbitration service {row['id']} ({row['ip']}:{row['port']}): {told}" for row in rows.fetchall()]


def _stop_arbitration(db: sqlite3.Connection, done: Done) -> list[str]:
    return _arbitration(db, done, "", "stopped")


def _start_arbitration(db: sqlite3.Connection, done: Done) -> list[str]:
    return _arbitration(db, done, "", "started")


def _arbitration_status(db: sqlite3.Connection, done: Done) -> list[str]:
    return _arbitration(db, done, "status = 'RUNNING', ", "status RUNNING")


_EFFECTS: dict[Action, Callable[[sqlite3.Connection, Done], list[str]]] = {
    Action.FREEZE: _freeze,
    Action.STOP_OBSERVER: _stop_observer,
    Action.START_OBSERVER: _start_observer,
    Action.OBSERVER_ACTIVE: _observer_active,
    Action.START_SERVICE: _start_service,
    Action.SERVER_STATUS: _server_status,
    Action.START_ZONE: _start_zone,
    Action.ZONE_STATUS: _zone_status,
    Action.CLUSTER_STATUS: _cluster_status,
    Action.RESTART_POS_PROXY: _restart_pos_proxy,
    Action.STOP_AGENT: _stop_agent,
    Action.START_AGENT: _start_agent,
    Action.AGENT_STATUS: _agent_status,
    Action.STOP_ARBITRATION: _stop_arbitration,
    Action.START_ARBITRATION: _start_arbitration,
    Action.ARBITRATION_STATUS: _arbitration_status,
}
