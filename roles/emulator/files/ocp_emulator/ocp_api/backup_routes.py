# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The routes that list data backups and restores, and their filters."""

from typing import Annotated, get_args

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import (
    ClusterId,
    PageParam,
    RequirePermission,
    SizeParam,
    TenantId,
    TimeParam,
    error_responses,
    page_request,
)
from ocp_emulator.schemas.envelope import Envelope, Paged
from ocp_emulator.schemas.health_schemas import BackupStatus, DataBackup, TenantRestore
from ocp_emulator.serializers import backup_serializers, restore_serializers
from ocp_emulator.serializers.backup_serializers import BackupFilter
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import Long, instant, one_or_more, split
from ocp_emulator.web.request_context import context_of

reads = APIRouter(tags=["Backups"], dependencies=[Depends(RequirePermission(Permission.BACKUP_VIEWER))])

Statuses = Annotated[str, one_or_more(*get_args(BackupStatus))]


def _chosen(
    start: Annotated[TimeParam, Query(alias="startTime")] = None,
    end: Annotated[TimeParam, Query(alias="endTime")] = None,
    status: Annotated[list[Statuses] | None, Query(description="One or more, with commas.")] = None,
    set_id: Annotated[Long | None, Query(alias="backupSetId")] = None,
) -> BackupFilter:
    return BackupFilter(set_id, split(status), instant("startTime", start), instant("endTime", end))


_Chosen = Annotated[BackupFilter, Depends(_chosen)]


@reads.get(
    "/api/v2/ob/clusters/{id}/backup/task/dataBackupTasks",
    summary="List the data backups of a cluster",
    response_model=Envelope[Paged[DataBackup]],
    responses=error_responses(400, 401, 403, 404, 500),
)
async def list_cluster_backups(
    request: Request, cluster_id: ClusterId, chosen: _Chosen, number: PageParam = 1, size: SizeParam = 10
) -> Response:
    """The newest first; those of its tenants too."""
    page = backup_serializers.cluster_backups(
        service_of(request).store.db, page_request(number, size, "id,desc"), cluster_id, chosen
    )
    return context_of(request).reply(Envelope[Paged[DataBackup]], page)


@reads.get(
    "/api/v2/ob/clusters/{id}/tenants/{tenantId}/backup/task/dataBackupTasks",
    summary="List the data backups of a tenant",
    response_model=Envelope[Paged[DataBackup]],
    responses=error_responses(400, 401, 403, 404, 500),
)
async def list_tenant_backups(
    request: Request,
    cluster_id: ClusterId,
    tenant_id: TenantId,
    chosen: _Chosen,
    number: PageParam = 1,
    size: SizeParam = 10,
) -> Response:
    """The newest first."""
    page = backup_serializers.tenant_backups(
        service_of(request).store.db, page_request(number, size, "id,desc"), cluster_id, tenant_id, chosen
    )
    return context_of(request).reply(Envelope[Paged[DataBackup]], page)


@reads.get(
    "/api/v2/ob/clusters/{id}/backup/task/restoreTasks",
    summary="List the restores of the tenants of a cluster",
    response_model=Envelope[Paged[TenantRestore]],
    responses=error_responses(400, 401, 403, 404, 500),
)
async def list_cluster_restores(
    request: Request,
    cluster_id: ClusterId,
    start: Annotated[TimeParam, Query(alias="startTime")] = None,
    end: Annotated[TimeParam, Query(alias="endTime")] = None,
    number: PageParam = 1,
    size: SizeParam = 10,
) -> Response:
    """The newest first."""
    chosen = BackupFilter(since=instant("startTime", start), until=instant("endTime", end))
    page = restore_serializers.cluster_restores(
        service_of(request).store.db, page_request(number, size, "id,desc"), cluster_id, chosen
    )
    return context_of(request).reply(Envelope[Paged[TenantRestore]], page)
