# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which status a server, zone, cluster, agent or arbitration service shows, given its parts and its task.

The statuses are documented, but not when each is shown.
"""

import sqlite3
from collections.abc import Mapping

from ocp_emulator.tasks.agent_effects import HOSTS_OF_STEP
from ocp_emulator.tasks.arbitration_effects import change_service
from ocp_emulator.tasks.server_effects import change_servers
from ocp_emulator.tasks.subtask_graph import CompletedStep, TaskKind

# The status of a target while a task of this kind works on it; all other kinds restart it.
_IN_PROGRESS = {
    **dict.fromkeys((TaskKind.SERVER_START, TaskKind.ZONE_START, TaskKind.CLUSTER_START), "STARTING"),
    **dict.fromkeys((TaskKind.SERVER_STOP, TaskKind.ZONE_STOP, TaskKind.CLUSTER_STOP, TaskKind.AGENT_STOP), "STOPPING"),
}
_AT_REST = "('RUNNING', 'STOPPED', 'UNAVAILABLE', 'DELETED')"

# The status follows from the parts of a target. Parts that another task works on keep the status they have. If only the
# service of a server was stopped, it is up, and its stop is later than its start.
_SERVER_STATUS = """CASE
    WHEN status = 'DELETED' THEN status
    WHEN NOT up OR stop_time > start_time THEN 'STOPPED'
    WHEN inner_status = 'ACTIVE' THEN 'RUNNING'
    ELSE 'UNAVAILABLE' END"""
_ZONE_STATUS = f"""CASE
    WHEN status = 'DELETED' THEN status
    WHEN EXISTS (SELECT 1 FROM servers WHERE zone_id = zones.id AND servers.status NOT IN {_AT_REST}) THEN status
    WHEN EXISTS (SELECT 1 FROM servers WHERE zone_id = zones.id AND servers.status = 'RUNNING') THEN 'RUNNING'
    WHEN EXISTS (SELECT 1 FROM servers WHERE zone_id = zones.id AND servers.status = 'UNAVAILABLE') THEN 'UNAVAILABLE'
    ELSE 'STOPPED' END"""
_CLUSTER_STATUS = f"""CASE
    WHEN status = 'DELETING' THEN status
    WHEN EXISTS (SELECT 1 FROM zones WHERE cluster_id = clusters.id AND zones.status NOT IN {_AT_REST}) THEN status
    WHEN EXISTS (SELECT 1 FROM zones WHERE cluster_id = clusters.id AND zones.status = 'RUNNING') THEN 'RUNNING'
    ELSE 'STOPPED' END"""
_AGENT_STATUS = """CASE
    WHEN EXISTS (SELECT 1 FROM agent_processes WHERE host_id = hosts.id AND status = 'STOPPED') THEN 'OFFLINE'
    ELSE 'AVAILABLE' END"""
_ARBITRATION_STATUS = "CASE WHEN up THEN 'RUNNING' ELSE 'STOPPED' END"


def show_in_progress(db: sqlite3.Connection, task_id: int, now: int) -> None:
    """Targets that the task occupies show that it works on them; their zones and clusters show OPERATING."""
    (kind,) = db.execute("SELECT kind FROM tasks WHERE id = ?", (task_id,)).fetchone()
    values = {"task": task_id, "now": now, "sign": _IN_PROGRESS.get(TaskKind(kind), "RESTARTING")}
    for table in ("servers", "zones", "clusters", "arbitration_services"):
        db.execute(f"UPDATE {table} SET status = :sign, update_time = :now WHERE operating_task = :task", values)
    db.execute(
        "UPDATE hosts SET agent_status = :sign, update_time = :now,"
        " agent_unavailable_since = coalesce(agent_unavailable_since, :now) WHERE operating_task = :task",
        values,
    )
    for table, column in (("zones", "zone_id"), ("clusters", "cluster_id")):
        db.execute(
            f"UPDATE {table} SET status = 'OPERATING', update_time = :now WHERE operating_task IS NULL"
            f" AND id IN (SELECT {column} FROM servers WHERE operating_task = :task)",
            values,
        )


def show_rolled_back(db: sqlite3.Connection, task_id: int, now: int) -> None:
    """After a rollback: what the task occupies shows its real status, and so do its zones and clusters."""
    step = CompletedStep(task_id, None, now)
    update_server_status(db, step)
    db.execute(
        "UPDATE zones SET inner_status = CASE WHEN EXISTS ("
        " SELECT 1 FROM servers WHERE zone_id = zones.id AND servers.inner_status = 'ACTIVE'"
        ") THEN 'ACTIVE' ELSE 'INACTIVE' END WHERE operating_task = ?",
        (task_id,),
    )
    update_zone_status(db, step)
    update_cluster_status(db, step)
    _update_agents(db, "operating_task = :task", {"task": task_id, "at": now})
    update_arbitration_status(db, step)


def show_incident(db: sqlite3.Connection, server_id: int, now: int) -> None:
    """A server changed without a task: it shows that, and so do its zone and its cluster."""
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


def update_server_status(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """Servers show their real status."""
    return change_servers(db, step, f"status = {_SERVER_STATUS}", "status {}")


def update_zone_status(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """The zones of the servers that the task occupies show their real status."""
    return _update_parents(db, step, "zone", "zone_id", _ZONE_STATUS)


def update_cluster_status(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """The clusters of the servers that the task occupies show their real status."""
    return _update_parents(db, step, "cluster", "cluster_id", _CLUSTER_STATUS)


def _update_parents(db: sqlite3.Connection, step: CompletedStep, parent: str, column: str, status: str) -> list[str]:
    rows = db.execute(
        f"UPDATE {parent}s SET status = {status}, update_time = :at"
        f" WHERE id IN (SELECT {column} FROM servers WHERE operating_task = :task) AND status <> {status}"
        " RETURNING name, status",
        {"at": step.at, "task": step.task_id},
    )
    return [f"{parent} {row['name']}: status {row['status']}" for row in rows.fetchall()]


def update_agent_status(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """The agent of a host shows its real status."""
    values: dict[str, int | None] = {"host": step.element_id, "task": step.task_id, "at": step.at}
    return _update_agents(db, HOSTS_OF_STEP, values)


def _update_agents(db: sqlite3.Connection, condition: str, values: Mapping[str, int | None]) -> list[str]:
    rows = db.execute(
        f"UPDATE hosts SET agent_status = {_AGENT_STATUS}, update_time = :at, agent_unavailable_since ="
        f" CASE WHEN {_AGENT_STATUS} = 'AVAILABLE' THEN NULL ELSE coalesce(agent_unavailable_since, :at) END"
        f" WHERE {condition} RETURNING id, agent_status",
        values,
    )
    return [f"host {row['id']}: agent {row['agent_status']}" for row in rows.fetchall()]


def update_arbitration_status(db: sqlite3.Connection, step: CompletedStep) -> list[str]:
    """The arbitration service shows its real status."""
    return change_service(db, step, f"status = {_ARBITRATION_STATUS}", "status {}")
