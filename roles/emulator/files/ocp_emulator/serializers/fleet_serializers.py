# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Clusters, zones, servers, hosts, agents and arbitration services as the service shows them.

`operating` tells whether an object shows which task is at work on it, as it does in newer versions.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ocp_emulator.base import errors
from ocp_emulator.base.clock import SECOND, iso
from ocp_emulator.base.compatibility import Shown
from ocp_emulator.schemas import fleet_schemas as forms
from ocp_emulator.schemas.envelope import Listed, Paged
from ocp_emulator.serializers.paging import Window, given, json_or_null, page_of
from ocp_emulator.store.database import AGENT_VERSION

_ARCHITECTURE = "x86_64"
_RUN_USER = "admin"
_INSTALL_PATH = "/home/admin/oceanbase"
_AGENT_HOME = "/home/admin/ocp_agent"
_AGENT_PORTS = {"ocp_mgragent": "62888", "ocp_monagent": "62889"}

_SERVERS = (
    "SELECT servers.*, zones.name AS zone_name, zones.region, zones.idc, clusters.version FROM servers"
    " JOIN zones ON zones.id = servers.zone_id JOIN clusters ON clusters.id = servers.cluster_id"
)
_ZONES = "SELECT zones.*, clusters.ob_cluster_id FROM zones JOIN clusters ON clusters.id = zones.cluster_id"

_CLUSTERS_FILTERED = """
    FROM clusters AS t
    WHERE (:name IS NULL OR instr(lower(t.name), lower(:name)))
    AND (:statuses IS NULL OR t.status IN (SELECT value FROM json_each(:statuses)))
"""
_HOSTS_FILTERED = """
    FROM hosts AS t
    WHERE (:keyword IS NULL OR instr(lower(t.name), lower(:keyword)) OR instr(t.ip, :keyword))
    AND (:statuses IS NULL OR EXISTS (SELECT 1 FROM json_each(:statuses) WHERE value = 'ONLINE'))
"""
_SERVICES_FILTERED = """
    FROM arbitration_services AS t
    WHERE (:host_id IS NULL OR t.host_id = :host_id)
    AND (:keyword IS NULL OR instr(lower(:description || t.id), lower(:keyword)) OR instr(t.ip, :keyword))
    AND (:statuses IS NULL OR t.status IN (SELECT value FROM json_each(:statuses)))
    AND NOT :tagged
"""
_SERVICE_DESCRIPTION = "arbitration service "
# Tenants of users have ids from 1002 on.
_FIRST_TENANT = 1002


# --- Clusters, zones, servers -------------------------------------------------------------------------------------


def cluster_page(
    db: sqlite3.Connection, window: Window, name: str | None, statuses: Sequence[str] | None, operating: Shown
) -> Paged[forms.Cluster]:
    """A page of the clusters whose name contains `name` and whose status is one of `statuses`; None for any."""
    values = {"name": name, "statuses": json_or_null(statuses)}

    def make(rows: list[sqlite3.Row]) -> list[forms.Cluster]:
        zones = _zones_by_cluster(db, [row["id"] for row in rows], operating)
        return [_cluster(row, zones[row["id"]], operating) for row in rows]

    return page_of(db, window, _CLUSTERS_FILTERED, values, make, Paged[forms.Cluster])


def cluster_detail(db: sqlite3.Connection, cluster_id: int, operating: Shown) -> forms.Cluster:
    """One cluster. ApiError 404."""
    row = _row_of_cluster(db, cluster_id)
    return _cluster(row, _zones_by_cluster(db, [cluster_id], operating)[cluster_id], operating)


def zones_of(db: sqlite3.Connection, cluster_id: int, operating: Shown) -> Listed[forms.Zone]:
    """The zones of a cluster. ApiError 404."""
    _row_of_cluster(db, cluster_id)
    return Listed[forms.Zone](contents=_zones_by_cluster(db, [cluster_id], operating)[cluster_id])


def servers_of(
    db: sqlite3.Connection, cluster_id: int, region: str | None, idc: str | None, operating: Shown
) -> Listed[forms.Server]:
    """The servers of a cluster, narrowed to a region and a data center. ApiError 404."""
    _row_of_cluster(db, cluster_id)
    rows = db.execute(
        f"{_SERVERS} WHERE servers.cluster_id = :cluster AND zones.region = coalesce(:region, zones.region)"
        " AND zones.idc = coalesce(:idc, zones.idc) ORDER BY servers.id",
        {"cluster": cluster_id, "region": region, "idc": idc},
    )
    return Listed[forms.Server](contents=[_server(row, operating) for row in rows])


def servers_of_zone(db: sqlite3.Connection, cluster_id: int, zone_name: str, operating: Shown) -> Listed[forms.Server]:
    """The servers of a zone. ApiError 404 when the cluster or its zone does not exist."""
    cluster = _row_of_cluster(db, cluster_id)
    zone = db.execute("SELECT id FROM zones WHERE cluster_id = ? AND name = ?", (cluster_id, zone_name)).fetchone()
    if zone is None:
        raise errors.not_found(f"Zone {zone_name} of cluster {cluster_id} ({cluster['name']})")
    rows = db.execute(f"{_SERVERS} WHERE servers.zone_id = ? ORDER BY servers.id", (zone["id"],))
    return Listed[forms.Server](contents=[_server(row, operating) for row in rows])


def _row_of_cluster(db: sqlite3.Connection, cluster_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM clusters WHERE id = ?", (cluster_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"Cluster {cluster_id}")
    return row


def _zones_by_cluster(
    db: sqlite3.Connection, cluster_ids: Sequence[int], operating: Shown
) -> Mapping[int, list[forms.Zone]]:
    wanted = (json_or_null(cluster_ids),)
    servers: dict[int, list[forms.Server]] = defaultdict(list)
    rows = db.execute(
        f"{_SERVERS} WHERE servers.cluster_id IN (SELECT value FROM json_each(?)) ORDER BY servers.id", wanted
    )
    for row in rows:
        servers[row["zone_id"]].append(_server(row, operating))
    zones: dict[int, list[forms.Zone]] = defaultdict(list)
    rows = db.execute(f"{_ZONES} WHERE zones.cluster_id IN (SELECT value FROM json_each(?)) ORDER BY zones.id", wanted)
    for row in rows:
        zones[row["cluster_id"]].append(_zone(row, servers[row["id"]], operating))
    return zones


def _cluster(row: sqlite3.Row, zones: list[forms.Zone], operating: Shown) -> forms.Cluster:
    return forms.Cluster(
        id=row["id"],
        name=row["name"],
        ob_cluster_id=row["ob_cluster_id"],
        ob_version=row["version"],
        type=row["type"],
        architecture=_ARCHITECTURE,
        origin="CREATED",
        creator="admin",
        status=row["status"],
        compaction_status="IDLE",
        **_operating(row, operating),
        region_count=len({zone.region_name for zone in zones}),
        server_count=sum(zone.server_count for zone in zones),
        ob_start_time=iso(row["start_time"]),
        zones=zones,
        create_time=iso(row["create_time"]),
        update_time=iso(row["update_time"]),
    )


def _zone(row: sqlite3.Row, servers: list[forms.Server], operating: Shown) -> forms.Zone:
    leader = next((server for server in servers if server.with_rootserver), None)
    root = leader or servers[0]
    return forms.Zone(
        id=row["id"],
        cluster_id=row["cluster_id"],
        ob_cluster_id=row["ob_cluster_id"],
        name=row["name"],
        region_name=row["region"],
        idc_name=row["idc"],
        architecture=_ARCHITECTURE,
        status=row["status"],
        inner_status=row["inner_status"],
        compaction_status="IDLE",
        **_operating(row, operating),
        root_server=forms.RootServer(
            address=f"{root.ip}:{root.port}", role="LEADER" if leader else "FOLLOWER", sql_port=root.sql_port
        ),
        server_count=len(servers),
        host_count=len({server.host_id for server in servers}),
        servers=servers,
        create_time=iso(row["create_time"]),
        update_time=iso(row["update_time"]),
    )


def _server(row: sqlite3.Row, operating: Shown) -> forms.Server:
    return forms.Server(
        id=row["id"],
        cluster_id=row["cluster_id"],
        zone_name=row["zone_name"],
        region_name=row["region"],
        idc_name=row["idc"],
        host_id=row["host_id"],
        host_status="ONLINE",
        host_type_name="emulated",
        ip=row["ip"],
        port=row["port"],
        sql_port=row["sql_port"],
        version=row["version"],
        run_user=_RUN_USER,
        run_path=_INSTALL_PATH,
        install_path=_INSTALL_PATH,
        with_rootserver=bool(row["root"]),
        status=row["status"],
        inner_status=row["inner_status"],
        **_operating(row, operating),
        start_time=iso(row["start_time"]),
        stop_time=iso(row["stop_time"]),
        update_time=iso(row["update_time"]),
    )


# --- Hosts and agents ---------------------------------------------------------------------------------------------


def host_page(
    db: sqlite3.Connection, window: Window, keyword: str | None, statuses: Sequence[str] | None
) -> Paged[forms.Host]:
    """A page of the hosts whose name or address contains `keyword`; None for any."""
    values = {"keyword": keyword, "statuses": json_or_null(statuses)}

    def make(rows: list[sqlite3.Row]) -> list[forms.Host]:
        services = _services_by_host(db, [row["id"] for row in rows])
        return [_host(row, services[row["id"]]) for row in rows]

    return page_of(db, window, _HOSTS_FILTERED, values, make, Paged[forms.Host])


def host_detail(db: sqlite3.Connection, host_id: int) -> forms.Host:
    """One host. ApiError 404."""
    return _host(_row_of_host(db, host_id), _services_by_host(db, [host_id])[host_id])


def agent_of(db: sqlite3.Connection, host_id: int, now: int) -> forms.Agent:
    """The agent of a host. ApiError 404."""
    host = _row_of_host(db, host_id)
    rows = db.execute("SELECT * FROM agent_processes WHERE host_id = ? ORDER BY id", (host_id,))
    since = host["agent_unavailable_since"]
    return forms.Agent(
        id=host_id,
        host_id=host_id,
        host_inner_ip_address=host["ip"],
        version=AGENT_VERSION,
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


def _services_by_host(db: sqlite3.Connection, host_ids: Sequence[int]) -> Mapping[int, list[forms.HostService]]:
    services: dict[int, list[forms.HostService]] = defaultdict(list)
    rows = db.execute(
        "SELECT servers.host_id, clusters.name || ':' || ob_cluster_id AS name, 'OB_CLUSTER' AS type, version"
        " FROM servers JOIN clusters ON clusters.id = servers.cluster_id"
        " WHERE servers.host_id IN (SELECT value FROM json_each(:hosts))"
        " UNION ALL SELECT host_id, ip || ':' || port, 'ARBITRATION_SERVICE', version"
        " FROM arbitration_services WHERE host_id IN (SELECT value FROM json_each(:hosts))",
        {"hosts": json_or_null(host_ids)},
    )
    for row in rows:
        services[row["host_id"]].append(
            forms.HostService(name=row["name"], type=row["type"], version=row["version"], software_package_id=None)
        )
    return services


def _host(row: sqlite3.Row, services: list[forms.HostService]) -> forms.Host:
    return forms.Host(
        id=row["id"],
        name=row["name"],
        inner_ip_address=row["ip"],
        alias=None,
        description=None,
        architecture=_ARCHITECTURE,
        kind="DEDICATED_PHYSICAL_MACHINE",
        operating_system="Linux",
        serial_number=None,
        publish_ports=None,
        ssh_port=22,
        status="ONLINE",
        host_agent_id=row["id"],
        host_agent_status=row["agent_status"],
        host_agent_version=AGENT_VERSION,
        services=services,
        create_time=iso(row["create_time"]),
        update_time=iso(row["update_time"]),
    )


def _process(row: sqlite3.Row, now: int) -> forms.AgentProcess:
    started = row["status"] == "STARTED"
    return forms.AgentProcess(
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


# --- Arbitration services -----------------------------------------------------------------------------------------


def arbitration_page(
    db: sqlite3.Connection,
    window: Window,
    host_id: int | None,
    keyword: str | None,
    statuses: Sequence[str] | None,
    tagged: bool,
    operating: Shown,
) -> Paged[forms.ArbitrationService]:
    """A page of the arbitration services. `tagged`: only those with certain tags, and here none has any."""
    values = {
        "host_id": host_id,
        "keyword": keyword,
        "statuses": json_or_null(statuses),
        "tagged": tagged,
        "description": _SERVICE_DESCRIPTION,
    }

    def make(rows: list[sqlite3.Row]) -> list[forms.ArbitrationService]:
        return [_service(db, row, operating) for row in rows]

    return page_of(db, window, _SERVICES_FILTERED, values, make, Paged[forms.ArbitrationService])


def arbitration_detail(db: sqlite3.Connection, service_id: int, operating: Shown) -> forms.ArbitrationService:
    """One arbitration service. ApiError 404."""
    row = db.execute("SELECT * FROM arbitration_services WHERE id = ?", (service_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"Arbitration service {service_id}")
    return _service(db, row, operating)


def _service(db: sqlite3.Connection, row: sqlite3.Row, operating: Shown) -> forms.ArbitrationService:
    return forms.ArbitrationService(
        id=row["id"],
        host_id=row["host_id"],
        svr_ip=row["ip"],
        svr_port=row["port"],
        version=row["version"],
        architecture=_ARCHITECTURE,
        description=f"{_SERVICE_DESCRIPTION}{row['id']}",
        install_path=_INSTALL_PATH,
        run_path=_INSTALL_PATH,
        run_user=_RUN_USER,
        startup_parameters=[],
        clusters=_degraded(db, row["id"]),
        tags=[],
        status=row["status"],
        **_operating(row, operating),
        create_time=iso(row["create_time"]),
        update_time=iso(row["update_time"]),
    )


def _degraded(db: sqlite3.Connection, service_id: int) -> list[forms.ServedCluster]:
    """Which clusters a service serves is not told in any fleet; those with degraded log streams are among them."""
    tenants: dict[int, list[forms.DegradedTenant]] = defaultdict(list)
    clusters: dict[int, sqlite3.Row] = {}
    rows = db.execute(
        "SELECT clusters.id, clusters.name, ob_cluster_id, tenant, log_streams FROM degraded"
        " JOIN clusters ON clusters.id = cluster_id WHERE service_id = ? ORDER BY clusters.id, tenant",
        (service_id,),
    )
    for row in rows:
        clusters[row["id"]] = row
        number = _FIRST_TENANT + len(tenants[row["id"]])
        tenants[row["id"]].append(
            forms.DegradedTenant(id=number, name=row["tenant"], degraded_ls_id_list=json.loads(row["log_streams"]))
        )
    return [
        forms.ServedCluster(id=number, name=row["name"], ob_cluster_id=row["ob_cluster_id"], tenants=tenants[number])
        for number, row in clusters.items()
    ]


def _operating(row: sqlite3.Row, operating: Shown) -> dict[str, Any]:
    return given(operating_task_instance_id=row["operating_task"] if operating == "shown" else None)
