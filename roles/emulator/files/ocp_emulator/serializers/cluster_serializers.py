# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Clusters, zones and servers as JSON: values of their fields, filters of the lists.

`operating` tells whether an object shows which task works on it, as it does in newer versions.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ocp_emulator.base import errors
from ocp_emulator.base.compatibility import Visibility
from ocp_emulator.base.time_format import iso
from ocp_emulator.schemas import fleet_schemas as schemas
from ocp_emulator.schemas.envelope import Listed, Paged
from ocp_emulator.serializers.paging import PageRequest, query_page
from ocp_emulator.serializers.shared_fields import ARCHITECTURE, INSTALL_PATH, RUN_USER, json_or_null, operating_task

_SERVERS = (
    "SELECT servers.*, zones.name AS zone_name, zones.region, zones.idc FROM servers"
    " JOIN zones ON zones.id = servers.zone_id"
)
_ZONES = "SELECT zones.*, clusters.ob_cluster_id FROM zones JOIN clusters ON clusters.id = zones.cluster_id"

_CLUSTERS_FILTERED = """
    FROM clusters AS t
    WHERE (:name IS NULL OR instr(lower(t.name), lower(:name)))
    AND (:statuses IS NULL OR t.status IN (SELECT value FROM json_each(:statuses)))
"""


def cluster_page(
    db: sqlite3.Connection,
    page_request: PageRequest,
    name: str | None,
    statuses: Sequence[str] | None,
    operating: Visibility,
) -> Paged[schemas.Cluster]:
    """A page of the clusters whose name contains `name` and whose status is one of `statuses`; None for any."""
    values = {"name": name, "statuses": json_or_null(statuses)}

    def serialize(rows: list[sqlite3.Row]) -> list[schemas.Cluster]:
        zones = _zones_by_cluster(db, [row["id"] for row in rows], operating)
        return [_cluster(row, zones[row["id"]], operating) for row in rows]

    return query_page(db, page_request, _CLUSTERS_FILTERED, values, serialize, Paged[schemas.Cluster])


def cluster_detail(db: sqlite3.Connection, cluster_id: int, operating: Visibility) -> schemas.Cluster:
    """One cluster. ApiError 404."""
    row = _row_of_cluster(db, cluster_id)
    return _cluster(row, _zones_by_cluster(db, [cluster_id], operating)[cluster_id], operating)


def zones_of(db: sqlite3.Connection, cluster_id: int, operating: Visibility) -> Listed[schemas.Zone]:
    """The zones of a cluster. ApiError 404."""
    _row_of_cluster(db, cluster_id)
    return Listed[schemas.Zone](contents=_zones_by_cluster(db, [cluster_id], operating)[cluster_id])


def servers_of(
    db: sqlite3.Connection, cluster_id: int, region: str | None, idc: str | None, operating: Visibility
) -> Listed[schemas.Server]:
    """The servers of a cluster, narrowed to a region and a data center. ApiError 404."""
    _row_of_cluster(db, cluster_id)
    rows = db.execute(
        f"{_SERVERS} WHERE servers.cluster_id = :cluster AND zones.region = coalesce(:region, zones.region)"
        " AND zones.idc = coalesce(:idc, zones.idc) ORDER BY servers.id",
        {"cluster": cluster_id, "region": region, "idc": idc},
    )
    return Listed[schemas.Server](contents=[_server(row, operating) for row in rows])


def servers_of_zone(
    db: sqlite3.Connection, cluster_id: int, zone_name: str, operating: Visibility
) -> Listed[schemas.Server]:
    """The servers of a zone. ApiError 404 when the cluster or its zone does not exist."""
    cluster = _row_of_cluster(db, cluster_id)
    zone = db.execute("SELECT id FROM zones WHERE cluster_id = ? AND name = ?", (cluster_id, zone_name)).fetchone()
    if zone is None:
        raise errors.not_found(f"Zone {zone_name} of cluster {cluster_id} ({cluster['name']})")
    rows = db.execute(f"{_SERVERS} WHERE servers.zone_id = ? ORDER BY servers.id", (zone["id"],))
    return Listed[schemas.Server](contents=[_server(row, operating) for row in rows])


def _row_of_cluster(db: sqlite3.Connection, cluster_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM clusters WHERE id = ?", (cluster_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"Cluster {cluster_id}")
    return row


def _zones_by_cluster(
    db: sqlite3.Connection, cluster_ids: Sequence[int], operating: Visibility
) -> Mapping[int, list[schemas.Zone]]:
    ids = (json_or_null(cluster_ids),)
    servers: dict[int, list[schemas.Server]] = defaultdict(list)
    rows = db.execute(
        f"{_SERVERS} WHERE servers.cluster_id IN (SELECT value FROM json_each(?)) ORDER BY servers.id", ids
    )
    for row in rows:
        servers[row["zone_id"]].append(_server(row, operating))
    zones: dict[int, list[schemas.Zone]] = defaultdict(list)
    rows = db.execute(f"{_ZONES} WHERE zones.cluster_id IN (SELECT value FROM json_each(?)) ORDER BY zones.id", ids)
    for row in rows:
        zones[row["cluster_id"]].append(_zone(row, servers[row["id"]], operating))
    return zones


def _cluster(row: sqlite3.Row, zones: list[schemas.Zone], operating: Visibility) -> schemas.Cluster:
    return schemas.Cluster(
        id=row["id"],
        name=row["name"],
        ob_cluster_id=row["ob_cluster_id"],
        ob_version=row["version"],
        type=row["type"],
        architecture=ARCHITECTURE,
        origin="CREATED",
        creator="admin",
        status=row["status"],
        compaction_status=row["compaction"],
        **operating_task(row, operating),
        region_count=len({zone.region_name for zone in zones}),
        server_count=sum(zone.server_count for zone in zones),
        ob_start_time=iso(row["start_time"]),
        zones=zones,
        create_time=iso(row["create_time"]),
        update_time=iso(row["update_time"]),
    )


def _zone(row: sqlite3.Row, servers: list[schemas.Server], operating: Visibility) -> schemas.Zone:
    leader = next((server for server in servers if server.with_rootserver), None)
    root = leader or servers[0]
    return schemas.Zone(
        id=row["id"],
        cluster_id=row["cluster_id"],
        ob_cluster_id=row["ob_cluster_id"],
        name=row["name"],
        region_name=row["region"],
        idc_name=row["idc"],
        architecture=ARCHITECTURE,
        status=row["status"],
        inner_status=row["inner_status"],
        compaction_status=row["compaction"],
        **operating_task(row, operating),
        root_server=schemas.RootServer(
            address=f"{root.ip}:{root.port}", role="LEADER" if leader else "FOLLOWER", sql_port=root.sql_port
        ),
        server_count=len(servers),
        host_count=len({server.host_id for server in servers}),
        servers=servers,
        create_time=iso(row["create_time"]),
        update_time=iso(row["update_time"]),
    )


def _server(row: sqlite3.Row, operating: Visibility) -> schemas.Server:
    return schemas.Server(
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
        run_user=RUN_USER,
        run_path=INSTALL_PATH,
        install_path=INSTALL_PATH,
        with_rootserver=bool(row["root"]),
        status=row["status"],
        inner_status=row["inner_status"],
        **operating_task(row, operating),
        start_time=iso(row["start_time"]),
        stop_time=iso(row["stop_time"]),
        update_time=iso(row["update_time"]),
    )
