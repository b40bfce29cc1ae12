# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Hosts and agents as JSON: values of their fields, processes and ports, filters of the list."""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ocp_emulator.base import errors
from ocp_emulator.base.clock import SECOND
from ocp_emulator.base.time_format import iso
from ocp_emulator.schemas import fleet_schemas as schemas
from ocp_emulator.schemas.envelope import Paged
from ocp_emulator.serializers.paging import PageRequest, list_page, query_page
from ocp_emulator.serializers.shared_fields import ARCHITECTURE, HOST_TYPE, json_or_null
from ocp_emulator.tasks.agent_processes import WORKER, worker_id

_AGENT_VERSION = "4.3.5"
_AGENT_HOME = "/home/admin/ocp_agent"
_AGENT_PORTS = {"ocp_mgragent": "62888", "ocp_monagent": "62889"}
_HOST_TYPE_ID = 1

# What runs on hosts; agents are no services of them, as in the documented records.
_SERVICES = """
    SELECT servers.host_id, clusters.name || ':' || ob_cluster_id AS name, 'OB_CLUSTER' AS type, servers.version
    FROM servers JOIN clusters ON clusters.id = servers.cluster_id
    UNION ALL SELECT host_id, ip || ':' || port, 'ARBITRATION_SERVICE', version FROM arbitration_services
    UNION ALL SELECT host_id, ip || ':' || port, 'OB_PROXY', version FROM obproxies
"""
# Every host has an agent, though it is not among its services.
_TYPES = f"""
    SELECT 'OCP_AGENT' UNION ALL SELECT type FROM ({_SERVICES}) WHERE host_id = t.id
"""
_HOSTS_FILTERED = f"""
    FROM hosts AS t
    WHERE (:keyword IS NULL OR instr(lower(t.name), lower(:keyword)) OR instr(t.ip, :keyword) OR EXISTS (
        SELECT 1 FROM ({_SERVICES}) WHERE host_id = t.id AND instr(lower(name), lower(:keyword))))
    AND (:statuses IS NULL OR EXISTS (SELECT 1 FROM json_each(:statuses) WHERE value = 'ONLINE'))
    AND (:included IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(:included) WHERE value NOT IN ({_TYPES})))
    AND (:excluded IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(:excluded) WHERE value IN ({_TYPES})))
"""
_SORTABLE = {
    "id": "t.id",
    "name": "lower(t.name)",
    "innerIpAddress": "t.ip",
    "createTime": "t.create_time",
    "updateTime": "t.update_time",
}


@dataclass(frozen=True)
class HostFilter:
    """The filters of the list of hosts; None for any.

    `keyword` is part of a name, an address or what runs there. A host has all `included` types of services, and none of
    the `excluded`.
    """

    keyword: str | None = None
    statuses: Sequence[str] | None = None
    included: Sequence[str] | None = None
    excluded: Sequence[str] | None = None


def host_page(db: sqlite3.Connection, page_request: PageRequest, chosen: HostFilter) -> Paged[schemas.Host]:
    """A page of the hosts."""
    values = {
        "keyword": chosen.keyword,
        "statuses": json_or_null(chosen.statuses),
        "included": json_or_null(chosen.included),
        "excluded": json_or_null(chosen.excluded),
    }

    def serialize(rows: list[sqlite3.Row]) -> list[schemas.Host]:
        services = _services_by_host(db, [row["id"] for row in rows])
        places = _places(db)
        return [_host(row, services[row["id"]], places[row["id"]]) for row in rows]

    return query_page(db, page_request, _HOSTS_FILTERED, values, serialize, Paged[schemas.Host], _SORTABLE)


def host_detail(db: sqlite3.Connection, host_id: int) -> schemas.Host:
    """One host. ApiError 404."""
    return _host(_row_of_host(db, host_id), _services_by_host(db, [host_id])[host_id], _places(db)[host_id])


def agent_of(db: sqlite3.Connection, host_id: int, now: int) -> schemas.Agent:
    """The agent of a host. ApiError 404."""
    host = _row_of_host(db, host_id)
    since = host["agent_unavailable_since"]
    return schemas.Agent(
        id=host_id,
        host_id=host_id,
        host_inner_ip_address=host["ip"],
        version=_AGENT_VERSION,
        status=host["agent_status"],
        last_available_time=iso(now if since is None else since),
        install_home=_AGENT_HOME,
        log_home=f"{_AGENT_HOME}/log",
        processes=_processes(db, host, now),
        manager_port=_AGENT_PORTS["ocp_mgragent"],
        monitor_port=_AGENT_PORTS["ocp_monagent"],
        create_time=iso(host["create_time"]),
        update_time=iso(host["update_time"]),
    )


def process_page(
    db: sqlite3.Connection, page_request: PageRequest, host_id: int, now: int
) -> Paged[schemas.AgentProcess]:
    """A page of the processes of the agent of a host. ApiError 404."""
    processes = _processes(db, _row_of_host(db, host_id), now)
    return list_page(page_request, processes, lambda process: process, Paged[schemas.AgentProcess])


def process_detail(db: sqlite3.Connection, host_id: int, process_id: int, now: int) -> schemas.AgentProcess:
    """A process of the agent of a host, both of which exist."""
    return next(each for each in _processes(db, _row_of_host(db, host_id), now) if each.id == process_id)


def _processes(db: sqlite3.Connection, host: sqlite3.Row, now: int) -> list[schemas.AgentProcess]:
    rows = db.execute("SELECT * FROM agent_processes WHERE host_id = ? ORDER BY id", (host["id"],)).fetchall()
    # A recorded service may have shown it itself.
    stopped = [] if any(row["alias"] == WORKER for row in rows) else [_stopped_process(host)]
    return [*(_process(row, now) for row in rows), *stopped]


def _row_of_host(db: sqlite3.Connection, host_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM hosts WHERE id = ?", (host_id,)).fetchone()
    if row is None:
        raise errors.no_such_host(f"Host {host_id}")
    return row


def _services_by_host(db: sqlite3.Connection, host_ids: Sequence[int]) -> Mapping[int, list[schemas.HostService]]:
    services: dict[int, list[schemas.HostService]] = defaultdict(list)
    rows = db.execute(
        f"SELECT * FROM ({_SERVICES}) WHERE host_id IN (SELECT value FROM json_each(?))", (json_or_null(host_ids),)
    )
    for row in rows:
        services[row["host_id"]].append(
            schemas.HostService(name=row["name"], type=row["type"], version=row["version"], software_package_id=None)
        )
    return services


def _places(db: sqlite3.Connection) -> Mapping[int, sqlite3.Row]:
    """Region and data center of each host: those of a server on it, or of the first zone if it has none."""
    rows = db.execute(
        "SELECT hosts.id AS host_id, regions.id AS region_id, zones.region, idcs.id AS idc_id, zones.idc FROM hosts"
        " JOIN zones ON zones.id = coalesce((SELECT min(zone_id) FROM servers WHERE host_id = hosts.id),"
        " (SELECT min(id) FROM zones))"
        " JOIN regions ON regions.name = zones.region JOIN idcs ON idcs.name = zones.idc"
    )
    return {row["host_id"]: row for row in rows.fetchall()}


def _host(row: sqlite3.Row, services: list[schemas.HostService], place: sqlite3.Row) -> schemas.Host:
    return schemas.Host(
        id=row["id"],
        name=row["name"],
        inner_ip_address=row["ip"],
        alias=None,
        description=None,
        architecture=ARCHITECTURE,
        kind="DEDICATED_PHYSICAL_MACHINE",
        operating_system="Linux",
        operating_system_release="emulated",
        region_id=place["region_id"],
        region_name=place["region"],
        region_description=None,
        idc_id=place["idc_id"],
        idc_name=place["idc"],
        idc_description=None,
        type_id=_HOST_TYPE_ID,
        type_name=HOST_TYPE,
        type_description=None,
        serial_number=None,
        publish_ports=None,
        ssh_port=22,
        status="ONLINE",
        host_agent_id=row["id"],
        host_agent_status=row["agent_status"],
        host_agent_version=_AGENT_VERSION,
        services=services,
        create_time=iso(row["create_time"]),
        update_time=iso(row["update_time"]),
    )


def _process(row: sqlite3.Row, now: int) -> schemas.AgentProcess:
    started = row["status"] == "STARTED"
    return schemas.AgentProcess(
        id=row["id"],
        host_id=row["host_id"],
        alias=row["alias"],
        **(_running(row, now) if started else _stopped(iso(row["stop_time"]))),
        log_file_pattern=f"{_AGENT_HOME}/log/{row['alias']}.log*",
        operable=row["alias"] == WORKER,
        create_time=iso(row["create_time"]),
        update_time=iso(row["update_time"]),
    )


def _running(row: sqlite3.Row, now: int) -> dict[str, Any]:
    return {
        "pid": row["pid"],
        "ports": _AGENT_PORTS.get(row["alias"], ""),
        "status": "STARTED",
        "elapsed_time": (now - row["start_time"]) // SECOND,
        "last_active_time": iso(now),
        "start_command": f"{_AGENT_HOME}/bin/{row['alias']}",
        "user": "root",
    }


def _stopped(since: str) -> dict[str, Any]:
    nothing = dict.fromkeys(("ports", "start_command", "user"))
    return {"pid": 0, "status": "STOPPED", "elapsed_time": 0, "last_active_time": since, **nothing}


def _stopped_process(host: sqlite3.Row) -> schemas.AgentProcess:
    since = iso(host["create_time"])
    return schemas.AgentProcess(
        id=worker_id(host["id"]),
        host_id=host["id"],
        alias=WORKER,
        **_stopped(since),
        log_file_pattern=f"{_AGENT_HOME}/log/{WORKER}.log*",
        operable=True,
        create_time=since,
        update_time=since,
    )
