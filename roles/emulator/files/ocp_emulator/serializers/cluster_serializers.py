# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Clusters, zones and servers as JSON: values of their fields by the switches, filters of the lists."""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ocp_emulator.base import errors
from ocp_emulator.base.compatibility import Switches
from ocp_emulator.base.time_format import iso
from ocp_emulator.schemas import fleet_schemas as schemas
from ocp_emulator.schemas.envelope import Listed, Paged
from ocp_emulator.serializers.paging import PageRequest, query_page
from ocp_emulator.serializers.shared_fields import (
    ARCHITECTURE,
    HOST_TYPE,
    INSTALL_PATH,
    RUN_USER,
    json_or_null,
    operating_task,
)

_SERVERS = (
    "SELECT servers.*, zones.name AS zone_name, zones.region, zones.idc FROM servers"
    " JOIN zones ON zones.id = servers.zone_id"
)
_ZONES = (
    "SELECT zones.*, clusters.ob_cluster_id, idcs.id AS idc_id FROM zones"
    " JOIN clusters ON clusters.id = zones.cluster_id JOIN idcs ON idcs.name = zones.idc"
)

_CLUSTERS_FILTERED = """
    FROM clusters AS t
    WHERE (:name IS NULL OR instr(lower(t.name), lower(:name)))
    AND (:statuses IS NULL OR t.status IN (SELECT value FROM json_each(:statuses)))
"""

# A zone and its servers.
_ZoneRows = tuple[sqlite3.Row, list[sqlite3.Row]]


_SORTABLE = {
    "id": "t.id",
    "name": "lower(t.name)",
    "status": "t.status",
    "createTime": "t.create_time",
    "updateTime": "t.update_time",
}


def cluster_page(
    db: sqlite3.Connection,
    page_request: PageRequest,
    name: str | None,
    statuses: Sequence[str] | None,
    switches: Switches,
) -> Paged[schemas.Cluster]:
    """A page of the clusters whose name contains `name` and whose status is one of `statuses`; None for any."""
    values = {"name": name, "statuses": json_or_null(statuses)}

    def serialize(rows: list[sqlite3.Row]) -> list[schemas.Cluster]:
        ids = [row["id"] for row in rows]
        zones = _zones_by_cluster(db, ids)
        counts = db.execute(
            "SELECT cluster_id, count(*) FROM tenants WHERE cluster_id IN (SELECT value FROM json_each(?))"
            " GROUP BY cluster_id",
            (json_or_null(ids),),
        )
        tenants = dict(map(tuple, counts))
        return [_cluster(row, zones[row["id"]], tenants.get(row["id"], 0), switches) for row in rows]

    return query_page(db, page_request, _CLUSTERS_FILTERED, values, serialize, Paged[schemas.Cluster], _SORTABLE)


def cluster_detail(db: sqlite3.Connection, cluster_id: int, switches: Switches) -> schemas.Cluster:
    """One cluster with its servers. ApiError 404."""
    row, complete = _row_of_cluster(db, cluster_id), replace(switches, cluster_servers="complete")
    (tenants,) = db.execute("SELECT count(*) FROM tenants WHERE cluster_id = ?", (cluster_id,)).fetchone()
    return _cluster(row, _zones_by_cluster(db, [cluster_id])[cluster_id], tenants, complete)


def zones_of(db: sqlite3.Connection, cluster_id: int, switches: Switches) -> Listed[schemas.Zone]:
    """The zones of a cluster, each with its servers. ApiError 404."""
    _row_of_cluster(db, cluster_id)
    zones = _zones_by_cluster(db, [cluster_id])[cluster_id]
    return Listed[schemas.Zone](contents=[_listed_zone(row, servers, switches) for row, servers in zones])


def servers_of(
    db: sqlite3.Connection, cluster_id: int, region: str | None, idc: str | None, switches: Switches
) -> Listed[schemas.Server]:
    """The servers of a cluster, narrowed to a region and a data center. ApiError 404."""
    _row_of_cluster(db, cluster_id)
    rows = db.execute(
        f"{_SERVERS} WHERE servers.cluster_id = :cluster AND zones.region = coalesce(:region, zones.region)"
        " AND zones.idc = coalesce(:idc, zones.idc) ORDER BY servers.id",
        {"cluster": cluster_id, "region": region, "idc": idc},
    )
    return Listed[schemas.Server](contents=[_server(row, switches) for row in rows])


def servers_of_zone(
    db: sqlite3.Connection, cluster_id: int, zone_name: str, switches: Switches
) -> Listed[schemas.Server]:
    """The servers of a zone. ApiError 404 when the cluster or its zone does not exist."""
    cluster = _row_of_cluster(db, cluster_id)
    zone = db.execute("SELECT id FROM zones WHERE cluster_id = ? AND name = ?", (cluster_id, zone_name)).fetchone()
    if zone is None:
        raise errors.no_such_zone(f"Zone {zone_name} of cluster {cluster_id} ({cluster['name']})")
    rows = db.execute(f"{_SERVERS} WHERE servers.zone_id = ? ORDER BY servers.id", (zone["id"],))
    return Listed[schemas.Server](contents=[_server(row, switches) for row in rows])


def _row_of_cluster(db: sqlite3.Connection, cluster_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM clusters WHERE id = ?", (cluster_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"Cluster {cluster_id}")
    return row


def _zones_by_cluster(db: sqlite3.Connection, cluster_ids: Sequence[int]) -> Mapping[int, list[_ZoneRows]]:
    """Rows of the zones of each cluster, each with the rows of its servers."""
    ids = (json_or_null(cluster_ids),)
    servers: dict[int, list[sqlite3.Row]] = defaultdict(list)
    rows = db.execute(
        f"{_SERVERS} WHERE servers.cluster_id IN (SELECT value FROM json_each(?)) ORDER BY servers.id", ids
    )
    for row in rows:
        servers[row["zone_id"]].append(row)
    zones: dict[int, list[_ZoneRows]] = defaultdict(list)
    rows = db.execute(f"{_ZONES} WHERE zones.cluster_id IN (SELECT value FROM json_each(?)) ORDER BY zones.id", ids)
    for row in rows:
        zones[row["cluster_id"]].append((row, servers[row["id"]]))
    return zones


def _cluster(row: sqlite3.Row, zones: list[_ZoneRows], tenants: int, switches: Switches) -> schemas.Cluster:
    newest: dict[str, Any] = {}
    if switches.record_fields == "newest":
        newest = {
            "architecture": ARCHITECTURE,
            "origin": "CREATED",
            "compaction_status": row["compaction"],
            "ob_start_time": iso(row["start_time"]),
            "update_time": iso(row["update_time"]),
        }
    return schemas.Cluster(
        id=row["id"],
        name=row["name"],
        ob_cluster_id=row["ob_cluster_id"],
        ob_version=row["version"],
        type=row["type"],
        creator="admin",
        status=row["status"],
        **operating_task(row, switches.operating_task),
        region_count=len({zone["region"] for zone, _servers in zones}),
        server_count=sum(len(servers) for _zone, servers in zones),
        tenant_count=tenants,
        root_servers=[_root_server(servers) for _zone, servers in zones],
        standby_clusters=[],
        zones=[_zone_of_cluster(zone, servers, switches) for zone, servers in zones],
        create_time=iso(row["create_time"]),
        **newest,
    )


def _zone_of_cluster(row: sqlite3.Row, servers: list[sqlite3.Row], switches: Switches) -> schemas.ZoneOfCluster:
    shown = servers if switches.cluster_servers == "complete" else []
    newest = {"compaction_status": row["compaction"]} if switches.record_fields == "newest" else {}
    return schemas.ZoneOfCluster(
        **_zone_state(row, servers),
        servers=[_server(server, switches) for server in shown],
        operate_status="NORMAL" if row["operating_task"] is None else "OPERATING",
        **({"id": row["id"]} if switches.zone_ids == "shown" else {}),
        **operating_task(row, switches.operating_task),
        **newest,
    )


def _listed_zone(row: sqlite3.Row, servers: list[sqlite3.Row], switches: Switches) -> schemas.Zone:
    newest: dict[str, Any] = {"architecture": ARCHITECTURE} if switches.record_fields == "newest" else {}
    return schemas.Zone(
        **_zone_state(row, servers),
        servers=[_server_of_zone(server, switches) for server in servers],
        cluster_id=row["cluster_id"],
        ob_cluster_id=row["ob_cluster_id"],
        **newest,
        compaction_status=row["compaction"],
        root_server=_root_server(servers),
        host_count=len({server["host_id"] for server in servers}),
        create_time=iso(row["create_time"]),
        update_time=iso(row["update_time"]),
    )


def _zone_state(row: sqlite3.Row, servers: list[sqlite3.Row]) -> dict[str, Any]:
    return {
        "number": row["id"],
        "name": row["name"],
        "region_name": row["region"],
        "idc_id": row["idc_id"],
        "idc_name": row["idc"],
        "status": row["status"],
        "inner_status": row["inner_status"],
        "server_count": len(servers),
    }


def _root_server(servers: list[sqlite3.Row]) -> schemas.RootServer:
    leader = next((server for server in servers if server["root"]), None)
    root = leader or servers[0]
    return schemas.RootServer(
        address=f"{root['ip']}:{root['port']}",
        role="LEADER" if leader else "FOLLOWER",
        sql_port=root["sql_port"],
    )


def _server_of_zone(row: sqlite3.Row, switches: Switches) -> schemas.Server:
    """A server in the list of zones, which shows other fields than the list of servers."""
    host: dict[str, Any] = {"host_id": row["host_id"]} if switches.record_fields == "older" else {}
    return schemas.Server(**_server_state(row), **host, **_place(row), host_type_name=HOST_TYPE)


def _server(row: sqlite3.Row, switches: Switches) -> schemas.Server:
    newest: dict[str, Any] = {}
    if switches.record_fields == "newest":
        newest = {
            **_place(row),
            "host_status": "ONLINE",
            "host_type_name": HOST_TYPE,
            "run_user": RUN_USER,
            "run_path": INSTALL_PATH,
            "install_path": INSTALL_PATH,
        }
    return schemas.Server(
        **_server_state(row), host_id=row["host_id"], **operating_task(row, switches.operating_task), **newest
    )


def _place(row: sqlite3.Row) -> dict[str, Any]:
    return {"region_name": row["region"], "idc_name": row["idc"]}


def _server_state(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "cluster_id": row["cluster_id"],
        "zone_name": row["zone_name"],
        "ip": row["ip"],
        "port": row["port"],
        "sql_port": row["sql_port"],
        "version": row["version"],
        "with_rootserver": bool(row["root"]),
        "status": row["status"],
        "inner_status": row["inner_status"],
        "start_time": iso(row["start_time"]),
        "stop_time": iso(row["stop_time"]),
        "update_time": iso(row["update_time"]),
    }
