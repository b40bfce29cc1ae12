# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Plant what a service shows besides its tasks: alarms, metrics, backups, restores, merges, versions, tenants."""

import sqlite3
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import Response

from ocp_emulator.base import errors
from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api import planting_schemas as schemas
from ocp_emulator.ocp_api.dependencies import (
    ClusterId,
    ContentType,
    RequirePermission,
    ServerId,
    TenantId,
    error_responses,
    json_body,
)
from ocp_emulator.schemas.envelope import EmptyEnvelope, Envelope
from ocp_emulator.schemas.health_schemas import Alarm, AlarmScope
from ocp_emulator.serializers import alarm_serializers
from ocp_emulator.service import service_of
from ocp_emulator.tasks import alarms
from ocp_emulator.tasks.alarms import NewAlarm
from ocp_emulator.web.parameters import Long, json_object, parse_body
from ocp_emulator.web.request_context import context_of

router = APIRouter(prefix=CONTROL, tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))])

AlarmId = Annotated[Long, Path(alias="alarmId", description="Alarm id.", examples=[1])]
BackupIdParam = Annotated[Long, Path(alias="backupId", description="Backup id.", examples=[1])]
RestoreIdParam = Annotated[Long, Path(alias="restoreId", description="Restore id.", examples=[1])]

_RUNNING = frozenset({"BEGINNING", "INITIALIZING", "DOING", "CANCELING", "RESTORING"})


@router.post(
    "/alarms",
    summary="Raise an alarm",
    response_model=Envelope[Alarm],
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(
        schemas.PlantedAlarm.model_json_schema(by_alias=True),
        {"alarmType": "ob_cluster_merge_error", "cluster": "orders"},
    ),
)
async def raise_alarm(request: Request, content_type: ContentType = None) -> Response:
    """It is active from now on until it is cleared."""
    context, service = context_of(request), service_of(request)
    body = parse_body(schemas.PlantedAlarm, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        alarm_id = alarms.raise_alarm(db, _new_alarm(db, body), context.now)
    return context.reply(Envelope[Alarm], alarm_serializers.alarm_detail(service.store.db, alarm_id, context.now))


@router.delete(
    "/alarms", summary="Clear all alarms", response_model=EmptyEnvelope, responses=error_responses(401, 403, 500)
)
async def clear_alarms(request: Request) -> Response:
    """Including those that a stopped server has raised. They stay in the list as inactive."""
    return _clear(request, None)


@router.delete(
    "/alarms/{alarmId}",
    summary="Clear an alarm",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 500),
)
async def clear_alarm(request: Request, alarm_id: AlarmId) -> Response:
    """It stays in the list as inactive."""
    return _clear(request, alarm_id)


@router.put(
    "/servers/{serverId}/metric",
    summary="Set a metric of a server",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(
        schemas.PlantedMetric.model_json_schema(by_alias=True), {"name": "max_full_clog_sync_delay_second", "value": 40}
    ),
)
async def set_metric(request: Request, server_id: ServerId, content_type: ContentType = None) -> Response:
    """It has this value from now on; earlier samples keep theirs, or are 0. Any name makes a metric."""
    context, service = context_of(request), service_of(request)
    body = parse_body(schemas.PlantedMetric, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        _server(db, server_id)
        db.execute(
            "INSERT INTO metric_values (server_id, name, at, value) VALUES (?, ?, ?, ?)",
            (server_id, body.name, context.now, body.value),
        )
    return context.reply_empty()


@router.put(
    "/servers/{serverId}/version",
    summary="Set the version of a server",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(schemas.ServerVersion.model_json_schema(by_alias=True), {"version": "4.2.1.0"}),
)
async def set_version(request: Request, server_id: ServerId, content_type: ContentType = None) -> Response:
    """As in the middle of an upgrade; its cluster keeps its version."""
    context, service = context_of(request), service_of(request)
    body = parse_body(schemas.ServerVersion, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        _server(db, server_id)
        db.execute("UPDATE servers SET version = ? WHERE id = ?", (body.version, server_id))
    return context.reply_empty()


@router.put(
    "/tenants/{tenantId}",
    summary="Change the status of a tenant, or lock it",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(schemas.TenantChange.model_json_schema(by_alias=True), {"status": "MODIFYING"}),
)
async def change_tenant(request: Request, tenant_id: TenantId, content_type: ContentType = None) -> Response:
    """As a change of its locality does, or a person. It stays so until it is changed again."""
    context, service = context_of(request), service_of(request)
    body = parse_body(schemas.TenantChange, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        changed = db.execute(
            "UPDATE tenants SET status = coalesce(?, status), locked = coalesce(?, locked) WHERE id = ?",
            (body.status, body.locked, tenant_id),
        )
        if changed.rowcount == 0:
            raise errors.not_found(f"Tenant {tenant_id}")
    return context.reply_empty()


@router.put(
    "/clusters/{id}/compaction",
    summary="Let a cluster merge, or a zone of it",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(
        schemas.Compaction.model_json_schema(by_alias=True), {"compactionStatus": "MERGING", "zone": "zone2"}
    ),
)
async def set_compaction(request: Request, cluster_id: ClusterId, content_type: ContentType = None) -> Response:
    """The whole cluster with all of its zones; or one zone, and the cluster merges while a zone does."""
    context, service = context_of(request), service_of(request)
    body = parse_body(schemas.Compaction, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        _cluster(db, "id", cluster_id)
        changed = db.execute(
            "UPDATE zones SET compaction = ? WHERE cluster_id = ? AND name = coalesce(?, name)",
            (body.compaction_status, cluster_id, body.zone),
        )
        if changed.rowcount == 0:
            raise errors.not_found(f"Zone {body.zone}")
        db.execute(
            "UPDATE clusters SET compaction = (SELECT max(compaction) FROM zones WHERE cluster_id = clusters.id)"
            " WHERE id = ?",
            (cluster_id,),
        )
    return context.reply_empty()


@router.post(
    "/backups",
    summary="Begin a data backup",
    response_model=Envelope[schemas.BackupId],
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(
        schemas.PlantedBackup.model_json_schema(by_alias=True), {"cluster": "orders", "tenant": "app"}
    ),
)
async def begin_backup(request: Request, content_type: ContentType = None) -> Response:
    """For a whole cluster, or for a tenant. It does not end by itself."""
    context, service = context_of(request), service_of(request)
    body = parse_body(schemas.PlantedBackup, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        cluster = _cluster(db, "name", body.cluster)
        tenant_id = None if body.tenant is None else _tenant(db, cluster, body.tenant)["id"]
        row = db.execute(
            "INSERT INTO backups (cluster_id, tenant_id, status, start_time, finish_time) VALUES (?, ?, ?, ?, ?)"
            " RETURNING id",
            (cluster["id"], tenant_id, body.status, context.now, _finish(body.status, context.now)),
        ).fetchone()
    return context.reply(Envelope[schemas.BackupId], schemas.BackupId(id=row["id"]))


@router.put(
    "/backups/{backupId}",
    summary="Change the status of a data backup",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(schemas.BackupChange.model_json_schema(by_alias=True), {"status": "DONE"}),
)
async def change_backup(request: Request, backup_id: BackupIdParam, content_type: ContentType = None) -> Response:
    """DONE, FAILED and the like end it."""
    context, service = context_of(request), service_of(request)
    body = parse_body(schemas.BackupChange, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        changed = db.execute(
            "UPDATE backups SET status = ?, finish_time = ? WHERE id = ?",
            (body.status, _finish(body.status, context.now), backup_id),
        )
        if changed.rowcount == 0:
            raise errors.not_found(f"Backup {backup_id}")
    return context.reply_empty()


@router.post(
    "/restores",
    summary="Begin the restore of a tenant",
    response_model=Envelope[schemas.RestoreId],
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(
        schemas.PlantedRestore.model_json_schema(by_alias=True), {"cluster": "orders", "tenant": "app"}
    ),
)
async def begin_restore(request: Request, content_type: ContentType = None) -> Response:
    """As another tenant of the same cluster, which does not show there. It does not end by itself."""
    context, service = context_of(request), service_of(request)
    body = parse_body(schemas.PlantedRestore, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        cluster = _cluster(db, "name", body.cluster)
        tenant = _tenant(db, cluster, body.tenant)
        name = body.restore_tenant_name or f"{body.tenant}_restored"
        row = db.execute(
            "INSERT INTO restores (cluster_id, tenant_id, name, status, create_time, finish_time)"
            " VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            (cluster["id"], tenant["id"], name, body.status, context.now, _finish(body.status, context.now)),
        ).fetchone()
    return context.reply(Envelope[schemas.RestoreId], schemas.RestoreId(id=row["id"]))


@router.put(
    "/restores/{restoreId}",
    summary="Change the status of a restore",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(schemas.RestoreChange.model_json_schema(by_alias=True), {"status": "RESTORE_SUCCESS"}),
)
async def change_restore(request: Request, restore_id: RestoreIdParam, content_type: ContentType = None) -> Response:
    """RESTORE_SUCCESS and RESTORE_FAIL end it."""
    context, service = context_of(request), service_of(request)
    body = parse_body(schemas.RestoreChange, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        changed = db.execute(
            "UPDATE restores SET status = ?, finish_time = ? WHERE id = ?",
            (body.status, _finish(body.status, context.now), restore_id),
        )
        if changed.rowcount == 0:
            raise errors.not_found(f"Restore {restore_id}")
    return context.reply_empty()


def _finish(status: str, now: int) -> int | None:
    return None if status in _RUNNING else now


def _clear(request: Request, alarm_id: int | None) -> Response:
    context = context_of(request)
    with service_of(request).store.transaction() as db:
        alarms.clear_alarms(db, alarm_id, context.now)
    return context.reply_empty()


def _new_alarm(db: sqlite3.Connection, body: schemas.PlantedAlarm) -> NewAlarm:
    server = None if body.server is None else _server(db, body.server)
    cluster = None if body.cluster is None else _cluster(db, "name", body.cluster)
    if cluster is not None and server is not None and server["cluster_id"] != cluster["id"]:
        raise errors.not_found(f"Server {body.server} of cluster {body.cluster}")
    narrowest: AlarmScope = "Cluster" if cluster is not None else "Service"
    narrowest = "Tenant" if body.tenant is not None else narrowest
    return NewAlarm(
        alarm_type=body.alarm_type,
        level=body.level,
        app_type=body.app_type,
        scope=body.scope or ("Host" if server is not None or body.host is not None else narrowest),
        cluster_id=cluster["id"] if cluster is not None else server["cluster_id"] if server is not None else None,
        tenant=body.tenant,
        server_id=body.server,
        host_ip=body.host or (None if server is None else server["ip"]),
        summary=body.summary,
    )


def _cluster(db: sqlite3.Connection, column: str, value: Any) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute(f"SELECT * FROM clusters WHERE {column} = ?", (value,)).fetchone()
    if row is None:
        raise errors.not_found(f"Cluster {value}")
    return row


def _tenant(db: sqlite3.Connection, cluster: sqlite3.Row, name: str) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute(
        "SELECT * FROM tenants WHERE cluster_id = ? AND name = ?", (cluster["id"], name)
    ).fetchone()
    if row is None:
        raise errors.not_found(f"Tenant {name} of cluster {cluster['name']}")
    return row


def _server(db: sqlite3.Connection, server_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM servers WHERE id = ?", (server_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"Server {server_id}")
    return row
