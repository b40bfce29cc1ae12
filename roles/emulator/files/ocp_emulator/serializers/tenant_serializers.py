# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Tenants and their units as JSON: values of their fields, filters of the lists."""

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ocp_emulator.base import errors
from ocp_emulator.base.time_format import iso
from ocp_emulator.fleet.locality import ReplicaType
from ocp_emulator.schemas import tenant_schemas as schemas
from ocp_emulator.schemas.envelope import Listed, Paged
from ocp_emulator.serializers.paging import PageRequest, query_page
from ocp_emulator.serializers.shared_fields import json_or_null

_TENANTS_FILTERED = """
    FROM tenants AS t
    WHERE t.cluster_id = coalesce(:cluster_id, t.cluster_id)
    AND (:name IS NULL OR instr(lower(t.name), lower(:name)))
    AND (:modes IS NULL OR t.mode IN (SELECT upper(value) FROM json_each(:modes)))
    AND t.locked = coalesce(:locked, t.locked) AND t.readonly = coalesce(:readonly, t.readonly)
    AND (:statuses IS NULL OR t.status IN (SELECT value FROM json_each(:statuses)))
"""
_UNIT_CONFIG = schemas.UnitConfig(max_cpu_core_count=4.0, max_memory_size=8, min_cpu_core_count=2.0, min_memory_size=4)


@dataclass(frozen=True)
class TenantFilter:
    """Which tenants a list shows; None for any."""

    name: str | None = None
    modes: Sequence[str] | None = None
    locked: bool | None = None
    readonly: bool | None = None
    statuses: Sequence[str] | None = None


_SORTABLE = {
    "id": "t.id",
    "name": "lower(t.name)",
    "mode": "t.mode",
    "status": "t.status",
    "createTime": "t.create_time",
}


def tenant_page(
    db: sqlite3.Connection, page_request: PageRequest, chosen: TenantFilter, cluster_id: int | None
) -> Paged[schemas.Tenant]:
    """A page of the tenants of a cluster, or of all. ApiError 404 when the cluster does not exist."""
    if cluster_id is not None:
        _cluster(db, cluster_id)
    values = {
        "cluster_id": cluster_id,
        "name": chosen.name,
        "modes": json_or_null(chosen.modes),
        "locked": chosen.locked,
        "readonly": chosen.readonly,
        "statuses": json_or_null(chosen.statuses),
    }

    def serialize(rows: list[sqlite3.Row]) -> list[schemas.Tenant]:
        return [schemas.Tenant(**_fields(db, _cluster(db, row["cluster_id"]), row)) for row in rows]

    return query_page(db, page_request, _TENANTS_FILTERED, values, serialize, Paged[schemas.Tenant], _SORTABLE)


def tenant_detail(db: sqlite3.Connection, cluster_id: int, tenant_id: int) -> schemas.TenantDetail:
    """One tenant with its zones and units. ApiError 404 when the cluster or its tenant does not exist."""
    cluster = _cluster(db, cluster_id)
    row = _row_of_tenant(db, cluster, tenant_id)
    units: dict[str, list[schemas.Unit]] = defaultdict(list)
    for unit in units_of(db, cluster_id, tenant_id, None).contents:
        units[unit.zone_name].append(unit)
    return schemas.TenantDetail(
        **_fields(db, cluster, row),
        ob_tenant_id=row["ob_tenant_id"],
        cluster_status=cluster["status"],
        charset="utf8mb4",
        collation="utf8mb4_general_ci",
        sql_audit_enabled=True,
        whitelist="%",
        zones=[
            schemas.TenantZone(
                name=zone,
                replica_type=replica_type,
                resource_pool=schemas.ResourcePool(
                    id=tenant_id, name=f"{row['name']}_pool", unit_config=_UNIT_CONFIG, unit_count=len(units[zone])
                ),
                units=units[zone],
            )
            for zone, replica_type in _zones(db, tenant_id).items()
        ],
    )


def units_of(db: sqlite3.Connection, cluster_id: int, tenant_id: int, zone_name: str | None) -> Listed[schemas.Unit]:
    """The units of a tenant, of all zones or of one. ApiError 404 when the cluster or its tenant does not exist."""
    _row_of_tenant(db, _cluster(db, cluster_id), tenant_id)
    rows = db.execute(
        "SELECT units.*, servers.ip, servers.port FROM units JOIN servers ON servers.id = server_id"
        " WHERE tenant_id = ? AND zone = coalesce(?, zone) ORDER BY units.id",
        (tenant_id, zone_name),
    )
    return Listed[schemas.Unit](
        contents=[
            schemas.Unit(
                id=row["id"],
                resource_pool_id=tenant_id,
                server_id=row["server_id"],
                server_ip=row["ip"],
                server_port=row["port"],
                status="ACTIVE",
                zone_name=row["zone"],
            )
            for row in rows
        ]
    )


def _cluster(db: sqlite3.Connection, cluster_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM clusters WHERE id = ?", (cluster_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"Cluster {cluster_id}")
    return row


def _row_of_tenant(db: sqlite3.Connection, cluster: sqlite3.Row, tenant_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute(
        "SELECT * FROM tenants WHERE id = ? AND cluster_id = ?", (tenant_id, cluster["id"])
    ).fetchone()
    if row is None:
        raise errors.not_found(f"Tenant {tenant_id} of cluster {cluster['id']} ({cluster['name']})")
    return row


def _zones(db: sqlite3.Connection, tenant_id: int) -> dict[str, ReplicaType]:
    """The first type of replica in each zone of a tenant, in the order of its locality."""
    found: dict[str, ReplicaType] = {}
    for row in db.execute("SELECT zone, type FROM replicas WHERE tenant_id = ? ORDER BY position", (tenant_id,)):
        found.setdefault(row["zone"], row["type"])
    return found


def _fields(db: sqlite3.Connection, cluster: sqlite3.Row, row: sqlite3.Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "name": row["name"],
        "cluster_id": cluster["id"],
        "cluster_name": cluster["name"],
        "cluster_type": cluster["type"],
        "ob_cluster_id": cluster["ob_cluster_id"],
        "ob_version": cluster["version"],
        "mode": row["mode"],
        "locality": row["locality"],
        "primary_zone": row["primary_zone"],
        "zone_list": ";".join(_zones(db, row["id"])),
        "status": row["status"],
        "locked": bool(row["locked"]),
        "readonly": bool(row["readonly"]),
        "create_time": iso(row["create_time"]),
    }
