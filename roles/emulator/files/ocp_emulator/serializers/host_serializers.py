# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Hosts and agents as JSON: values of their fields, processes and ports, filters of the list."""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ocp_emulator.base import errors
from ocp_emulator.base.clock import SECOND
from ocp_emulator.base.time_format import iso
from ocp_emulator.schemas import fleet_schemas as schemas
from ocp_emulator.schemas.envelope import Paged
from ocp_emulator.serializers.paging import PageRequest, query_page
from ocp_emulator.serializers.shared_fields import ARCHITECTURE, json_or_null

_AGENT_VERSION = "4.3.5"
_AGENT_HOME = "/home/admin/ocp_agent"
_AGENT_PORTS = {"ocp_mgragent": "62888", "ocp_monagent": "62889"}

_HOSTS_FILTERED = """
    FROM hosts AS t
    WHERE (:keyword IS NULL OR instr(lower(t.name), lower(:keyword)) OR instr(t.ip, :keyword))
    AND (:statuses IS NULL OR EXISTS (SELECT 1 FROM json_each(:statuses) WHERE value = 'ONLINE'))
"""


def host_page(
    db: sqlite3.Connection, page_request: PageRequest, keyword: str | None, statuses: Sequence[str] | None
) -> Paged[schemas.Host]:
    """A page of the hosts whose name or address contains `keyword`; None for any."""
    values = {"keyword": keyword, "statuses": json_or_null(statuses)}

    def serialize(rows: list[sqlite3.Row]) -> list[schemas.Host]:
        services = _services_by_host(db, [row["id"] for row in rows])
        return [_host(row, services[row["id"]]) for row in rows]

    return query_page(db, page_request, _HOSTS_FILTERED, values, serialize, Paged[schemas.Host])


def host_detail(db: sqlite3.Connection, host_id: int) -> schemas.Host:
    """One host. ApiError 404."""
    return _host(_row_of_host(db, host_id), _services_by_host(db, [host_id])[host_id])


def agent_of(db: sqlite3.Connection, host_id: int, now: int) -> schemas.Agent:
    """The agent of a host. ApiError 404."""
    host = _row_of_host(db, host_id)
    rows = db.execute("SELECT * FROM agent_processes WHERE host_id = ? ORDER BY id", (host_id,))
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
        manager_port=_AGENT_PORTS["ocp_mgragent"],
        monitor_port=_AGENT_PORTS["ocp_monagent"],
        processes=[_process(row, now) for row in rows],
        create_time=iso(host["create_time"]),
        update_time=iso(host["update_time"]),
    )


def _row_of_host(db: sqlite3.Connection, host_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM hosts WHERE id = ?", (host_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"Host {host_id}")
    return row


def _services_by_host(db: sqlite3.Connection, host_ids: Sequence[int]) -> Mapping[int, list[schemas.HostService]]:
    services: dict[int, list[schemas.HostService]] = defaultdict(list)
    rows = db.execute(
        "SELECT servers.host_id, clusters.name || ':' || ob_cluster_id AS name, 'OB_CLUSTER' AS type, servers.version"
        " FROM servers JOIN clusters ON clusters.id = servers.cluster_id"
        " WHERE servers.host_id IN (SELECT value FROM json_each(:hosts))"
        " UNION ALL SELECT host_id, ip || ':' || port, 'ARBITRATION_SERVICE', version"
        " FROM arbitration_services WHERE host_id IN (SELECT value FROM json_each(:hosts))"
        " UNION ALL SELECT host_id, ip || ':' || port, 'OB_PROXY', version"
        " FROM obproxies WHERE host_id IN (SELECT value FROM json_each(:hosts))",
        {"hosts": json_or_null(host_ids)},
    )
    for row in rows:
        services[row["host_id"]].append(
            schemas.HostService(name=row["name"], type=row["type"], version=row["version"], software_package_id=None)
        )
    return services


def _host(row: sqlite3.Row, services: list[schemas.HostService]) -> schemas.Host:
    return schemas.Host(
        id=row["id"],
        name=row["name"],
        inner_ip_address=row["ip"],
        alias=None,
        description=None,
        architecture=ARCHITECTURE,
        kind="DEDICATED_PHYSICAL_MACHINE",
        operating_system="Linux",
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
        pid=row["pid"] if started else None,
        ports=_AGENT_PORTS.get(row["alias"]),
        status=row["status"],
        elapsed_time=(now - row["start_time"]) // SECOND if started else 0,
        last_active_time=iso(now if started else row["stop_time"]),
        start_command=f"{_AGENT_HOME}/bin/{row['alias']}",
        log_file_pattern=f"{_AGENT_HOME}/log/{row['alias']}.log*",
        user="root",
        operable=False,
        create_time=iso(row["create_time"]),
        update_time=iso(row["update_time"]),
    )
