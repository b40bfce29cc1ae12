# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What an operation does to the fleet: when it begins, with each step that is done or rolled back, and when it ends.

The target of a step is whatever the task occupies (`operating_task`), for a step of a batch one element of it; so one
function serves the restart of one server and of a whole cluster. A step takes effect at the instant it is SUCCESSFUL:
what an unfinished task leaves behind is what its finished steps did. Each step finds things as they are: what was not
stopped, since its step was skipped, is not started, so that nothing looks restarted that was not. Which state is seen
when is not documented; the statuses are (ocp-api.md, section 6).

A task occupies its targets from the beginning until it is SUCCESSFUL, by EXECUTE, RETRY or ROLLBACK. That a task which
FAILED goes on occupying them is our choice: its targets may be down, they still show RESTARTING and the task, and a
second operation on them is refused until somebody retries, skips or rolls back.
"""

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ocp_emulator.tasks.blueprints import Action, Kind

# Far enough that no process of a host takes a number that another one of it had just before.
_PID_STEP = 100

# What a target of each type occupies: the table, the column to find its rows by, and the column of `targets` for it.
_HELD: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "OB_SERVER": (("servers", "id", "server_id"),),
    "OB_ZONE": (("servers", "zone_id", "zone_id"), ("zones", "id", "zone_id")),
    "OB_CLUSTER": (
        ("servers", "cluster_id", "cluster_id"),
        ("zones", "cluster_id", "cluster_id"),
        ("clusters", "id", "cluster_id"),
    ),
    "HOST": (("hosts", "id", "host_id"),),
    "ARBITRATION_SERVICE": (("arbitration_services", "id", "arbitration_service_id"),),
}
_HOLDERS = ("servers", "zones", "clusters", "hosts", "arbitration_services")
# What a target shows while a task of this kind is at work; all others restart it.
_SIGNS = {
    **dict.fromkeys((Kind.SERVER_START, Kind.ZONE_START, Kind.CLUSTER_START), "STARTING"),
    **dict.fromkeys((Kind.SERVER_STOP, Kind.ZONE_STOP, Kind.CLUSTER_STOP), "STOPPING"),
}
_SETTLED = "('RUNNING', 'STOPPED', 'UNAVAILABLE')"

# Statuses as they follow from what is below. What somebody else's task has in hand is left to that task.
# A server of which only the service was stopped has been stopped after its start, and is up.
_SERVER_STATUS = """CASE
    WHEN NOT up OR stop_time > start_time THEN 'STOPPED'
    WHEN inner_status = 'ACTIVE' THEN 'RUNNING'
    ELSE 'UNAVAILABLE' END"""
_ZONE_STATUS = f"""CASE
    WHEN EXISTS (SELECT 1 FROM servers WHERE zone_id = zones.id AND servers.status NOT IN {_SETTLED}) THEN status
    WHEN EXISTS (SELECT 1 FROM servers WHERE zone_id = zones.id AND servers.status = 'RUNNING') THEN 'RUNNING'
    WHEN EXISTS (SELECT 1 FROM servers WHERE zone_id = zones.id AND servers.status = 'UNAVAILABLE') THEN 'UNAVAILABLE'
    ELSE 'STOPPED' END"""
_CLUSTER_STATUS = f"""CASE
    WHEN EXISTS (SELECT 1 FROM zones WHERE cluster_id = clusters.id AND zones.status NOT IN {_SETTLED}) THEN status
    WHEN EXISTS (SELECT 1 FROM zones WHERE cluster_id = clusters.id AND zones.status = 'RUNNING') THEN 'RUNNING'
    ELSE 'STOPPED' END"""
_AGENT_STATUS = """CASE
    WHEN EXISTS (SELECT 1 FROM agent_processes WHERE host_id = hosts.id AND status = 'STOPPED') THEN 'OFFLINE'
    ELSE 'AVAILABLE' END"""
_ARBITRATION_STATUS = "CASE WHEN up THEN 'RUNNING' ELSE 'STOPPED' END"

# When the task began: what was started or stopped before was not so by it.
_BEGIN = "(SELECT start_time FROM tasks WHERE id = :task)"


@dataclass(frozen=True)
class Done:
    """A step that is done or rolled back: its task, the batch element it worked on (or None), and when."""

    task_id: int
    element: str | None
    at: int


def holder(db: sqlite3.Connection, task_id: int) -> int | None:
    """The task that occupies a target of this one; None when all of its targets are free or its own."""
    for target in db.execute("SELECT * FROM targets WHERE task_id = ?", (task_id,)).fetchall():
        for table, column, of_target in _HELD[target["object_type"]]:
            row = db.execute(
                f"SELECT operating_task FROM {table} WHERE {column} = ? AND operating_task <> ? LIMIT 1",
                (target[of_target], task_id),
            ).fetchone()
            if row is not None:
                return int(row["operating_task"])
    return None


def occupies(db: sqlite3.Connection, task_id: int) -> bool:
    """Whether the task has its targets in hand: only then may it change something."""
    return any(
        db.execute(f"SELECT 1 FROM {table} WHERE operating_task = ? LIMIT 1", (task_id,)).fetchone()
        for table in _HOLDERS
    )


def begin(db: sqlite3.Connection, task_id: int, now: int) -> None:
    """Occupy the targets of a task."""
    for target in db.execute("SELECT * FROM targets WHERE task_id = ?", (task_id,)).fetchall():
        for table, column, of_target in _HELD[target["object_type"]]:
            db.execute(f"UPDATE {table} SET operating_task = ? WHERE {column} = ?", (task_id, target[of_target]))
    show(db, task_id, now)


def show(db: sqlite3.Connection, task_id: int, now: int) -> None:
    """Let what the task occupies show that it is at work, and what is around it that something goes on there."""
    (kind,) = db.execute("SELECT kind FROM tasks WHERE id = ?", (task_id,)).fetchone()
    values = {"task": task_id, "now": now, "sign": _SIGNS.get(Kind(kind), "RESTARTING")}
    for table in ("servers", "zones", "clusters", "arbitration_services"):
        db.execute(f"UPDATE {table} SET status = :sign, update_time = :now WHERE operating_task = :task", values)
    db.execute(
        "UPDATE hosts SET agent_status = 'RESTARTING', update_time = :now,"
        " agent_unavailable_since = coalesce(agent_unavailable_since, :now) WHERE operating_task = :task",
        values,
    )
    for table, column in (("zones", "zone_id"), ("clusters", "cluster_id")):
        db.execute(
            f"UPDATE {table} SET status = 'OPERATING', update_time = :now WHERE operating_task IS NULL"
            f" AND id IN (SELECT {column} FROM servers WHERE operating_task = :task)",
            values,
        )


def settle(db: sqlite3.Connection, task_id: int, now: int) -> None:
    """After a rollback: what the task occupies shows what has become of it, and so does what is around it."""
    done = Done(task_id, None, now)
    _server_status(db, done)
    db.execute(
        "UPDATE zones SET inner_status = CASE WHEN EXISTS ("
        " SELECT 1 FROM servers WHERE zone_id = zones.id AND servers.inner_status = 'ACTIVE'"
        ") THEN 'ACTIVE' ELSE 'INACTIVE' END WHERE operating_task = ?",
        (task_id,),
    )
    _zone_status(db, done)
    _cluster_status(db, done)
    _agents(db, "operating_task = :task", {"task": task_id, "at": now})
    _arbitration_status(db, done)


def release(db: sqlite3.Connection, task_id: int) -> None:
    """Give free what the task occupied."""
    for table in _HOLDERS:
        db.execute(f"UPDATE {table} SET operating_task = NULL WHERE operating_task = ?", (task_id,))


def reflect(db: sqlite3.Connection, server_id: int, now: int) -> None:
    """A server has changed by itself: it shows that, and so do its zone and its cluster."""
    for table, of_server, status in (
        ("servers", "id", _SERVER_STATUS),
        ("zones", "zone_id", _ZONE_STATUS),
        ("clusters", "cluster_id", _CLUSTER_STATUS),
    ):
        db.execute(
            f"UPDATE {table} SET status = {status}, update_time = ?"
            f" WHERE id = (SELECT {of_server} FROM servers WHERE id = ?) AND operating_task IS NULL",
            (now, server_id),
        )


def apply(db: sqlite3.Connection, action: Action, done: Done) -> list[str]:
    """Carry out what a step does, and tell it in sentences for the log of the subtask."""
    return _EFFECTS[action](db, done)


def revert(db: sqlite3.Connection, action: Action, done: Done) -> list[str]:
    """Carry out the rollback of a step, and tell it. It changes only what is as the step leaves it.

    What the task stopped is started again: that is a new start, though not one by a start step. What the task started
    is stopped. Statuses are left to `show` and `settle`.
    """
    return _REVERTS[action](db, done) if action in _REVERTS else []


def _servers(db: sqlite3.Connection, done: Done, change: str, told: str, which: str = "TRUE") -> list[str]:
    """Change the servers that the task occupies, or the one the step is about; `change` sees the instant as :at."""
    rows = db.execute(
        f"UPDATE servers SET {change}, update_time = :at WHERE operating_task = :task"
        f" AND (:element IS NULL OR id = :element) AND ({which}) RETURNING id, ip, port, status",
        {"at": done.at, "task": done.task_id, "element": None if done.element is None else int(done.element)},
    )
    return [f"server {row['id']} ({row['ip']}:{row['port']}): {told.format(row['status'])}" for row in rows.fetchall()]


def _freeze(db: sqlite3.Connection, done: Done) -> list[str]:
    row = db.execute("SELECT context FROM tasks WHERE id = ?", (done.task_id,)).fetchone()
    freeze = json.loads(row["context"])["stringMap"].get("freeze_server")
    told = {"true": "minor compaction finished", "false": "minor compaction left out, as freezeServer is false"}
    return [told[freeze]] if freeze else []


def _stop_service(db: sqlite3.Connection, done: Done) -> list[str]:
    return [*_freeze(db, done), *_servers(db, done, "stop_time = :at", "out of service", "up AND stop_time = 0")]


def _into_service_again(db: sqlite3.Connection, done: Done) -> list[str]:
    which = f"up AND stop_time > start_time AND stop_time >= {_BEGIN}"
    return _servers(db, done, "stop_time = 0", "in service again", which)


def _stop_zone(db: sqlite3.Connection, done: Done) -> list[str]:
    rows = db.execute(
        "UPDATE zones SET inner_status = 'INACTIVE', update_time = ? WHERE operating_task = ? RETURNING name",
        (done.at, done.task_id),
    )
    return [f"zone {row['name']}: stopped" for row in rows.fetchall()]


def _stop_observer(db: sqlite3.Connection, done: Done) -> list[str]:
    return _stop(db, done, "up")


def _stop_observer_again(db: sqlite3.Connection, done: Done) -> list[str]:
    return _stop(db, done, f"up AND start_time >= {_BEGIN}")


def _stop(db: sqlite3.Connection, done: Done, which: str) -> list[str]:
    told = _servers(db, done, "up = 0, inner_status = 'INACTIVE', stop_time = :at", "process stopped", which)
    # Only what is done to more than one server occupies zones.
    db.execute(
        "UPDATE zones SET inner_status = 'INACTIVE', update_time = :at WHERE operating_task = :task"
        " AND NOT EXISTS (SELECT 1 FROM servers WHERE zone_id = zones.id AND up)",
        {"at": done.at, "task": done.task_id},
    )
    return told


def _start_observer(db: sqlite3.Connection, done: Done) -> list[str]:
    return _start(db, done, "up = 1, restarts = restarts + 1, start_time = :at", "process started", 1, "NOT up")


def _start(db: sqlite3.Connection, done: Done, change: str, told: str, counted: int, which: str) -> list[str]:
    started = _servers(db, done, change, told, which)
    if started:
        # Only what is done to a whole cluster occupies the cluster, and only that is a new start of it.
        for table, column, changed in (("zones", "zone_id", ""), ("clusters", "cluster_id", "start_time = :at, ")):
            db.execute(
                f"UPDATE {table} SET {changed}restarts = restarts + :counted, update_time = :at"
                " WHERE operating_task = :task"
                f" AND NOT EXISTS (SELECT 1 FROM servers WHERE {column} = {table}.id AND NOT up)",
                {"at": done.at, "task": done.task_id, "counted": counted},
            )
    return started


def _start_again(db: sqlite3.Connection, done: Done) -> list[str]:
    change = "up = 1, inner_status = 'ACTIVE', start_time = :at, stop_time = 0"
    return _start(db, done, change, "process started again", 0, f"NOT up AND stop_time >= {_BEGIN}")


def _observer_active(db: sqlite3.Connection, done: Done) -> list[str]:
    return _servers(db, done, "inner_status = 'ACTIVE'", "active", "up")


def _start_service(db: sqlite3.Connection, done: Done) -> list[str]:
    return _servers(db, done, "stop_time = 0", "in service", "up")


def _server_status(db: sqlite3.Connection, done: Done) -> list[str]:
    return _servers(db, done, f"status = {_SERVER_STATUS}", "status {}")


def _start_zone(db: sqlite3.Connection, done: Done) -> list[str]:
    rows = db.execute(
        "UPDATE zones SET inner_status = 'ACTIVE', update_time = :at WHERE operating_task = :task AND EXISTS ("
        "SELECT 1 FROM servers WHERE zone_id = zones.id AND servers.inner_status = 'ACTIVE') RETURNING name",
        {"at": done.at, "task": done.task_id},
    )
    told = [f"zone {row['name']}: started" for row in rows.fetchall()]
    # The operations on a zone have no other step that takes its servers into service.
    return [*told, *_servers(db, done, "stop_time = 0", "in service", "up AND stop_time")]


def _zone_status(db: sqlite3.Connection, done: Done) -> list[str]:
    return _around(db, done, "zone", "zone_id", _ZONE_STATUS)


def _cluster_status(db: sqlite3.Connection, done: Done) -> list[str]:
    return _around(db, done, "cluster", "cluster_id", _CLUSTER_STATUS)


def _around(db: sqlite3.Connection, done: Done, what: str, column: str, status: str) -> list[str]:
    rows = db.execute(
        f"UPDATE {what}s SET status = {status}, update_time = :at"
        f" WHERE id IN (SELECT {column} FROM servers WHERE operating_task = :task) AND status <> {status}"
        " RETURNING name, status",
        {"at": done.at, "task": done.task_id},
    )
    return [f"{what} {row['name']}: status {row['status']}" for row in rows.fetchall()]


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
    which = "alias <> 'pos_proxy' AND status = 'STARTED'"
    return _processes(db, done, "status = 'STOPPED', stop_time = :at", which, "stopped")


def _start_agent(db: sqlite3.Connection, done: Done) -> list[str]:
    started = _start_agent_again(db, done)
    if started:
        db.execute("UPDATE hosts SET restarts = restarts + 1 WHERE id = ?", (int(done.element or 0),))
    return started


def _start_agent_again(db: sqlite3.Connection, done: Done) -> list[str]:
    change = "pid = pid + :step, status = 'STARTED', start_time = :at, stop_time = NULL"
    return _processes(db, done, change, "alias <> 'pos_proxy' AND status = 'STOPPED'", "started")


def _agent_status(db: sqlite3.Connection, done: Done) -> list[str]:
    return _agents(db, "id = :host", {"host": int(done.element or 0), "at": done.at})


def _agents(db: sqlite3.Connection, which: str, values: Mapping[str, int]) -> list[str]:
    rows = db.execute(
        f"UPDATE hosts SET agent_status = {_AGENT_STATUS}, update_time = :at, agent_unavailable_since ="
        f" CASE WHEN {_AGENT_STATUS} = 'AVAILABLE' THEN NULL ELSE coalesce(agent_unavailable_since, :at) END"
        f" WHERE {which} RETURNING id, agent_status",
        values,
    )
    return [f"host {row['id']}: agent {row['agent_status']}" for row in rows.fetchall()]


def _arbitration(db: sqlite3.Connection, done: Done, change: str, told: str, which: str = "TRUE") -> list[str]:
    rows = db.execute(
        f"UPDATE arbitration_services SET {change}, update_time = :at WHERE operating_task = :task AND {which}"
        " RETURNING id, ip, port, status",
        {"at": done.at, "task": done.task_id},
    )
    return [
        f"arbitration service {row['id']} ({row['ip']}:{row['port']}): {told.format(row['status'])}"
        for row in rows.fetchall()
    ]


def _stop_arbitration(db: sqlite3.Connection, done: Done) -> list[str]:
    return _arbitration(db, done, "up = 0", "stopped", "up")


def _start_arbitration(db: sqlite3.Connection, done: Done) -> list[str]:
    return _arbitration(db, done, "up = 1, restarts = restarts + 1", "started", "NOT up")


def _start_arbitration_again(db: sqlite3.Connection, done: Done) -> list[str]:
    return _arbitration(db, done, "up = 1", "started again", "NOT up")


def _arbitration_status(db: sqlite3.Connection, done: Done) -> list[str]:
    return _arbitration(db, done, f"status = {_ARBITRATION_STATUS}", "status {}")


_EFFECTS: dict[Action, Callable[[sqlite3.Connection, Done], list[str]]] = {
    Action.FREEZE: _freeze,
    Action.STOP_SERVICE: _stop_service,
    Action.STOP_ZONE: _stop_zone,
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

_REVERTS: dict[Action, Callable[[sqlite3.Connection, Done], list[str]]] = {
    Action.STOP_SERVICE: _into_service_again,
    Action.STOP_OBSERVER: _start_again,
    Action.START_OBSERVER: _stop_observer_again,
    Action.STOP_AGENT: _start_agent_again,
    Action.START_AGENT: _stop_agent,
    Action.STOP_ARBITRATION: _start_arbitration_again,
    Action.START_ARBITRATION: _stop_arbitration,
}
