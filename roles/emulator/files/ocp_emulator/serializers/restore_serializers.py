# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Restores of tenants as JSON, in the form of the list of a cluster."""

import sqlite3

from ocp_emulator.base import errors
from ocp_emulator.base.time_format import iso_without_colon
from ocp_emulator.schemas.envelope import Paged
from ocp_emulator.schemas.health_schemas import TenantRestore
from ocp_emulator.serializers.backup_serializers import BackupFilter
from ocp_emulator.serializers.paging import PageRequest, query_page
from ocp_emulator.serializers.shared_fields import without_none

_RESTORES_FILTERED = """
    FROM restores AS t
    WHERE t.cluster_id = :cluster_id
    AND t.create_time BETWEEN coalesce(:since, t.create_time) AND coalesce(:until, t.create_time)
"""
_DESCRIBED = {"RESTORING": "Restoring", "RESTORE_SUCCESS": "Completed", "RESTORE_FAIL": "Failed"}


def cluster_restores(
    db: sqlite3.Connection, page_request: PageRequest, cluster_id: int, chosen: BackupFilter
) -> Paged[TenantRestore]:
    """A page of the restores of a cluster; of the filter, only the times count. ApiError 404."""
    cluster = db.execute("SELECT * FROM clusters WHERE id = ?", (cluster_id,)).fetchone()
    if cluster is None:
        raise errors.not_found(f"Cluster {cluster_id}")
    tenants = {
        row["id"]: row for row in db.execute("SELECT * FROM tenants WHERE cluster_id = ?", (cluster_id,)).fetchall()
    }

    def serialize(rows: list[sqlite3.Row]) -> list[TenantRestore]:
        return [_restore(cluster, tenants[row["tenant_id"]], row) for row in rows]

    values = {"cluster_id": cluster_id, "since": chosen.since, "until": chosen.until}
    return query_page(db, page_request, _RESTORES_FILTERED, values, serialize, Paged[TenantRestore])


def _restore(cluster: sqlite3.Row, tenant: sqlite3.Row, row: sqlite3.Row) -> TenantRestore:
    status, created, finished = row["status"], iso_without_colon(row["create_time"]), row["finish_time"]
    return TenantRestore(
        backup_cluster_id=cluster["id"],
        backup_cluster_name=cluster["name"],
        backup_mode="PHYSICAL_BACKUP",
        backup_ob_cluster_id=cluster["ob_cluster_id"],
        backup_ob_tenant_id=tenant["ob_tenant_id"],
        backup_tenant_id=tenant["id"],
        backup_tenant_name=tenant["name"],
        create_time=created,
        error_msg="the emulator was told that it failed" if status == "RESTORE_FAIL" else "",
        **without_none(finish_time=None if finished is None else iso_without_colon(finished)),
        finished=finished is not None,
        id=row["id"],
        ocp_job_id=-1,
        restore_cluster_id=cluster["id"],
        restore_cluster_name=cluster["name"],
        restore_end_time=created,
        restore_ob_cluster_id=cluster["ob_cluster_id"],
        restore_pool_list_str=f"pool_{row['name']}",
        restore_tenant_name=row["name"],
        restore_uri="file:///backup/",
        status=status,
        status_desc=_DESCRIBED[status],
        successful=status == "RESTORE_SUCCESS",
    )
