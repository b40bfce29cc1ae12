# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The targets of each operation, its context, and which targets must be free for it.

All targets of an operation exist, or it is refused as a whole. Which states it needs: wrong_state.py. If it is accepted
whatever the state, a start of a target that runs and a stop of one that is stopped change nothing. Which targets an
operation occupies: occupancy.py.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from ocp_emulator.base import errors
from ocp_emulator.tasks.blueprints import ARBITRATION_RESTART, INSPECTION, OBPROXY_RESTART
from ocp_emulator.tasks.subtask_graph import Blueprint

_IDS_SHOWN = 10
_AGENT_SERVICE = "ocp_agent"


@dataclass(frozen=True)
class Target:
    """An object that a task works on, as its tags show it."""

    object_type: str
    cluster_id: int | None = None
    zone_id: int | None = None
    server_id: int | None = None
    host_id: int | None = None
    arbitration_service_id: int | None = None
    obproxy_id: int | None = None


@dataclass(frozen=True)
class Occupant:
    """The task that occupies a target of an operation, or None; `label` begins a sentence about the target."""

    label: str
    task_id: int | None


@dataclass(frozen=True)
class NewTask:
    """A task that is not yet in the database.

    `label` is the target, as a sentence begins with it; `batch` has the elements that split steps work on.
    """

    blueprint: Blueprint
    label: str
    targets: Sequence[Target]
    occupants: Sequence[Occupant]
    strings: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    batch: Sequence[str] = ()

    def context(self) -> str:
        """JSON, in the form that the batch restart shows."""
        return json.dumps(
            {"listMap": self.lists, "parallel": False, "parallelIdx": -1, "stringMap": self.strings}, sort_keys=True
        )


def operation_on_server(
    db: sqlite3.Connection, blueprint: Blueprint, cluster_id: int, server_id: int, freeze: bool | None, force: bool
) -> NewTask:
    """An operation on one server. ApiError 404 when the cluster has no such server."""
    cluster = _cluster(db, cluster_id)
    server = db.execute(
        "SELECT servers.*, zones.name AS zone_name, zones.status AS zone_status"
        " FROM servers JOIN zones ON zones.id = zone_id WHERE servers.id = ? AND servers.cluster_id = ?",
        (server_id, cluster_id),
    ).fetchone()
    if server is None:
        raise errors.no_such_server(f"Server {server_id} of cluster {cluster_id} ({cluster['name']})")
    label = f"Server {server_id} ({server['ip']}:{server['port']}) of cluster {cluster['name']}"
    strings = {
        "cluster_id": str(cluster_id),
        "cluster_name": cluster["name"],
        "former_cluster_status": cluster["status"],
        "former_zone_status": server["zone_status"],
        "ocpagent_service_name": _AGENT_SERVICE,
        "prohibit_rollback": _java(False),
        "server_id": str(server_id),
        "target_cluster_status": "RUNNING",
        "target_zone_status": "RUNNING",
        "zone_name": server["zone_name"],
        "force": _java(force),
    }
    if freeze is not None:
        strings["freeze_server"] = _java(freeze)
    return NewTask(
        blueprint,
        label,
        [Target("OB_SERVER", cluster_id, server["zone_id"], server_id, server["host_id"])],
        [Occupant(label, server["operating_task"])],
        strings,
        {"server_ids": [str(server_id)]},
    )


def operation_on_zone(db: sqlite3.Connection, blueprint: Blueprint, cluster_id: int, zone_name: str) -> NewTask:
    """An operation on the servers of a zone. ApiError 404 when the cluster has no such zone."""
    cluster = _cluster(db, cluster_id)
    zone = db.execute("SELECT * FROM zones WHERE cluster_id = ? AND name = ?", (cluster_id, zone_name)).fetchone()
    if zone is None:
        raise errors.no_such_zone(f"Zone {zone_name} of cluster {cluster_id} ({cluster['name']})")
    servers = db.execute(
        "SELECT * FROM servers WHERE zone_id = ? AND status <> 'DELETED' ORDER BY id", (zone["id"],)
    ).fetchall()
    batch = [str(server["id"]) for server in servers]
    label = f"Zone {zone_name} of cluster {cluster['name']}"
    return NewTask(
        blueprint,
        label,
        [Target("OB_ZONE", cluster_id, zone["id"])],
        # A task that occupies the zone occupies its servers too.
        [Occupant(label, server["operating_task"]) for server in servers],
        {
            "cluster_id": str(cluster_id),
            "cluster_name": cluster["name"],
            "former_cluster_status": cluster["status"],
            "ocpagent_service_name": _AGENT_SERVICE,
            "prohibit_rollback": _java(False),
            "target_cluster_status": "RUNNING",
            "zone_name": zone_name,
        },
        {"server_ids": batch},
        batch,
    )


def operation_on_cluster(db: sqlite3.Connection, blueprint: Blueprint, cluster_id: int) -> NewTask:
    """An operation on all servers of a cluster. ApiError 404 when it does not exist."""
    cluster = _cluster(db, cluster_id)
    label = f"Cluster {cluster_id} ({cluster['name']})"
    # A task that occupies the cluster occupies its servers too.
    occupied = db.execute(
        "SELECT operating_task FROM servers WHERE cluster_id = ? AND operating_task IS NOT NULL LIMIT 1",
        (cluster_id,),
    )
    return NewTask(
        blueprint,
        label,
        [Target("OB_CLUSTER", cluster_id)],
        [Occupant(label, row["operating_task"]) for row in occupied.fetchall()],
        {
            "cluster_name": cluster["name"],
            "cluster_id": str(cluster_id),
            "former_cluster_status": cluster["status"],
        },
        _members(db, cluster_id),
    )


def operation_on_agents(db: sqlite3.Connection, blueprint: Blueprint, host_ids: Sequence[int]) -> NewTask:
    """An operation on the agents of hosts; a host that is given twice counts once.

    ApiError: 400 when there is no host, 404 when one is unknown.
    """
    host_ids = list(dict.fromkeys(host_ids))
    if not host_ids:
        raise errors.illegal_argument("The parameter 'hostIds' is empty: it needs at least one host.")
    rows = db.execute("SELECT * FROM hosts WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(host_ids),))
    hosts = {row["id"]: row for row in rows}
    unknown = [number for number in host_ids if number not in hosts]
    if unknown:
        raise errors.no_such_host(f"Host {_listed(unknown)}")
    batch = [str(number) for number in host_ids]
    return NewTask(
        blueprint,
        f"Agent of host {_listed(host_ids)}",
        [Target("HOST", host_id=number) for number in host_ids],
        [
            Occupant(f"The agent of host {number} ({host['ip']})", host["operating_task"])
            for number, host in hosts.items()
        ],
        {"prohibit_rollback": _java(False)},
        {"host_ids": batch},
        batch,
    )


def operation_on_agent(db: sqlite3.Connection, blueprint: Blueprint, host_id: int) -> NewTask:
    """An operation on the agent of one host. ApiError 404 when there is no such host."""
    host = db.execute("SELECT * FROM hosts WHERE id = ?", (host_id,)).fetchone()
    if host is None:
        raise errors.no_such_host(f"Host {host_id}")
    label = f"The agent of host {host_id} ({host['ip']})"
    return NewTask(
        blueprint,
        label,
        [Target("HOST", host_id=host_id)],
        [Occupant(label, host["operating_task"])],
        {"prohibit_rollback": _java(False), "host_id": str(host_id)},
    )


def restart_of_arbitration_service(db: sqlite3.Connection, service_id: int) -> NewTask:
    """The restart of an arbitration service. ApiError 404 when it does not exist."""
    service = db.execute("SELECT * FROM arbitration_services WHERE id = ?", (service_id,)).fetchone()
    if service is None:
        raise errors.not_found(f"Arbitration service {service_id}")
    label = f"Arbitration service {service_id} ({service['ip']}:{service['port']})"
    return NewTask(
        ARBITRATION_RESTART,
        label,
        [Target("ARBITRATION_SERVICE", host_id=service["host_id"], arbitration_service_id=service_id)],
        [Occupant(label, service["operating_task"])],
    )


def restart_of_obproxies(db: sqlite3.Connection, cluster_id: int, obproxy_ids: Sequence[int]) -> NewTask:
    """The restart of OBProxies of one OBProxy cluster; one that is given twice counts once.

    ApiError: 404 when the cluster or one of them does not exist, 400 when one that is free does not run.
    """
    cluster = db.execute("SELECT * FROM obproxy_clusters WHERE id = ?", (cluster_id,)).fetchone()
    if cluster is None:
        raise errors.not_found(f"OBProxy cluster {cluster_id}")
    obproxy_ids = list(dict.fromkeys(obproxy_ids))
    rows = db.execute("SELECT * FROM obproxies WHERE cluster_id = ?", (cluster_id,))
    there = {row["id"]: row for row in rows}
    unknown = [number for number in obproxy_ids if number not in there]
    if unknown:
        raise errors.not_found(f"OBProxy {_listed(unknown)} of OBProxy cluster {cluster_id} ({cluster['name']})")
    wanted = [there[number] for number in obproxy_ids]
    for each in wanted:
        if not each["up"] and each["operating_task"] is None:
            raise errors.illegal_argument(
                f"OBProxy {each['id']} ({each['ip']}:{each['port']}) is UNAVAILABLE: a restart needs RUNNING."
            )
    batch = [str(number) for number in obproxy_ids]
    return NewTask(
        OBPROXY_RESTART,
        f"OBProxy {_listed(obproxy_ids)} of OBProxy cluster {cluster['name']}",
        [Target("OBPROXY", host_id=each["host_id"], obproxy_id=each["id"]) for each in wanted],
        [Occupant(f"OBProxy {each['id']} ({each['ip']}:{each['port']})", each["operating_task"]) for each in wanted],
        {
            "obproxy_need_delete_cluster": _java(False),
            "prohibit_rollback": _java(False),
            "service_name": cluster["name"],
            "service_type": "OB_PROXY",
        },
        {"host_ids": [str(each["host_id"]) for each in wanted], "obproxy_server_ids": batch},
        batch,
    )


def inspection_of_clusters(db: sqlite3.Connection, cluster_ids: Sequence[int]) -> NewTask:
    """The inspection of clusters, whatever works on them; one that is given twice counts once.

    ApiError: 400 when there is no cluster, 404 when one is unknown.
    """
    cluster_ids = list(dict.fromkeys(cluster_ids))
    if not cluster_ids:
        raise errors.illegal_argument("The parameter 'objectIds' is empty: it needs at least one cluster.")
    found = db.execute(
        "SELECT id FROM clusters WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(cluster_ids),)
    )
    there = {row["id"] for row in found}
    unknown = [number for number in cluster_ids if number not in there]
    if unknown:
        raise errors.not_found(f"Cluster {_listed(unknown)}")
    return NewTask(
        INSPECTION,
        f"Cluster {_listed(cluster_ids)}",
        [Target("OB_CLUSTER", number) for number in cluster_ids],
        [],
        lists={"object_ids": [str(number) for number in cluster_ids]},
    )


def _cluster(db: sqlite3.Connection, cluster_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM clusters WHERE id = ?", (cluster_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"Cluster {cluster_id}")
    return row


def _members(db: sqlite3.Connection, cluster_id: int) -> dict[str, list[str]]:
    """The lists in the context of a cluster restart: its zones, and the servers and hosts of each."""
    lists: dict[str, list[str]] = {"zone_names": []}
    rows = db.execute(
        "SELECT zones.name AS zone, servers.id, servers.host_id FROM servers JOIN zones ON zones.id = zone_id"
        " WHERE servers.cluster_id = ? AND servers.status <> 'DELETED' ORDER BY zones.id, servers.id",
        (cluster_id,),
    )
    for row in rows:
        if row["zone"] not in lists["zone_names"]:
            lists["zone_names"].append(row["zone"])
        lists.setdefault(f"{cluster_id}.{row['zone']}.server_ids", []).append(str(row["id"]))
        lists.setdefault(f"{cluster_id}.{row['zone']}.host_ids", []).append(str(row["host_id"]))
    return lists


def _listed(ids: Sequence[int]) -> str:
    shown = ", ".join(map(str, ids[:_IDS_SHOWN]))
    return shown if len(ids) <= _IDS_SHOWN else f"{shown} and {len(ids) - _IDS_SHOWN} more"


def _java(value: bool) -> str:
    return "true" if value else "false"
