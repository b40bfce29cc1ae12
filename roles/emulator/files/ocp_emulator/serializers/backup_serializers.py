# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Data backups as JSON: the forms of those of a cluster and of a tenant differ, as documented."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ocp_emulator.base import errors
from ocp_emulator.base.time_format import iso_utc, iso_without_colon
from ocp_emulator.schemas.envelope import Paged
from ocp_emulator.schemas.health_schemas import DataBackup
from ocp_emulator.serializers.paging import PageRequest, query_page
from ocp_emulator.serializers.shared_fields import json_or_null, without_none

_BACKUPS_FILTERED = """
    FROM backups AS t
    WHERE t.cluster_id = :cluster_id AND (:tenant_id IS NULL OR t.tenant_id = :tenant_id)
    AND (:set_id IS NULL OR t.id = :set_id)
    AND (:statuses IS NULL OR t.status IN (SELECT value FROM json_each(:statuses)))
    AND t.start_time BETWEEN coalesce(:since, t.start_time) AND coalesce(:until, t.start_time)
"""
_URI = "file:///backup/"


@dataclass(frozen=True)
class BackupFilter:
    """Which backups a list shows; None for any. `since` and `until` are about their start."""

    set_id: int | None = None
    statuses: Sequence[str] | None = None
    since: int | None = None
    until: int | None = None


def cluster_backups(
    db: sqlite3.Connection, page_request: PageRequest, cluster_id: int, chosen: BackupFilter
) -> Paged[DataBackup]:
    """A page of the data backups of a cluster and its tenants. ApiError 404."""
    return _page(db, page_request, cluster_id, None, chosen)


def tenant_backups(
    db: sqlite3.Connection, page_request: PageRequest, cluster_id: int, tenant_id: int, chosen: BackupFilter
) -> Paged[DataBackup]:
    """A page of the data backups of a tenant. ApiError 404."""
    return _page(db, page_request, cluster_id, tenant_id, chosen)


def _page(
    db: sqlite3.Connection, page_request: PageRequest, cluster_id: int, tenant_id: int | None, chosen: BackupFilter
) -> Paged[DataBackup]:
    cluster = db.execute("SELECT * FROM clusters WHERE id = ?", (cluster_id,)).fetchone()
    if cluster is None:
        raise errors.not_found(f"Cluster {cluster_id}")
    tenants = {
        row["id"]: row for row in db.execute("SELECT * FROM tenants WHERE cluster_id = ?", (cluster_id,)).fetchall()
    }
    if tenant_id is not None and tenant_id not in tenants:
        raise errors.not_found(f"Tenant {tenant_id} of cluster {cluster_id} ({cluster['name']})")

    def serialize(rows: list[sqlite3.Row]) -> list[DataBackup]:
        if tenant_id is not None:
            return [_of_tenant(cluster, tenants[tenant_id], row) for row in rows]
        return [_of_cluster(cluster, row) for row in rows]

    values = {
        "cluster_id": cluster_id,
        "tenant_id": tenant_id,
        "set_id": chosen.set_id,
        "statuses": json_or_null(chosen.statuses),
        "since": chosen.since,
        "until": chosen.until,
    }
    return query_page(db, page_request, _BACKUPS_FILTERED, values, serialize, Paged[DataBackup])


def _of_cluster(cluster: sqlite3.Row, row: sqlite3.Row) -> DataBackup:
    return DataBackup(
        backup_mode="PHYSICAL_BACKUP",
        backup_set_id=row["id"],
        backup_uri=_URI,
        cluster_id=cluster["id"],
        cluster_name=cluster["name"],
        cluster_type=cluster["type"],
        data_backup_task_type="FULL_BACKUP",
        data_secondary_backup_task_ids=[],
        data_version=row["id"],
        **_finish_time(row, iso_without_colon),
        ob_cluster_id=cluster["ob_cluster_id"],
        start_time=iso_without_colon(row["start_time"]),
        status=row["status"],
        task_id=row["id"],
        tenant_id=row["tenant_id"] or 0,
    )


def _of_tenant(cluster: sqlite3.Row, tenant: sqlite3.Row, row: sqlite3.Row) -> DataBackup:
    return DataBackup(
        backup_dimension="TENANT",
        backup_mode="PHYSICAL_BACKUP",
        backup_set_id=row["id"],
        backup_uri=f"{_URI}{cluster['name']}/{tenant['ob_tenant_id']}/data",
        cluster_id=cluster["id"],
        cluster_name=cluster["name"],
        cluster_type=cluster["type"],
        data_backup_task_type="FULL_BACKUP",
        **_finish_time(row, iso_utc),
        ob_cluster_id=cluster["ob_cluster_id"],
        ob_tenant_id=tenant["ob_tenant_id"],
        start_time=iso_utc(row["start_time"]),
        status=row["status"],
        task_id=row["id"],
        tenant_id=tenant["id"],
        tenant_name=tenant["name"],
    )


def _finish_time(row: sqlite3.Row, written: Callable[[int], str]) -> dict[str, Any]:
    return without_none(finish_time=None if row["finish_time"] is None else written(row["finish_time"]))
