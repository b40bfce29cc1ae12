# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Incidents that no task causes: a server stops, does not answer or moves to another zone, log streams degrade."""

import json
import sqlite3
from collections.abc import Sequence

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from ocp_emulator.base import errors
from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api.control_schemas import Availability, Degraded, DegradedLogStreams, Process
from ocp_emulator.ocp_api.dependencies import (
    ContentType,
    ObProxyId,
    RequirePermission,
    ServerId,
    ServiceId,
    error_responses,
    json_body,
)
from ocp_emulator.schemas.envelope import EmptyEnvelope
from ocp_emulator.service import service_of
from ocp_emulator.tasks import ledger, statuses
from ocp_emulator.web.parameters import json_object, parse_body
from ocp_emulator.web.request_context import context_of

router = APIRouter(prefix=CONTROL, tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))])


_DEGRADED = "SELECT tenants.id FROM tenants JOIN degraded USING (cluster_id) WHERE tenant = tenants.name"


@router.put(
    "/servers/{serverId}",
    summary="Let a server answer or not, or be in another zone",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 409, 415, 500),
    openapi_extra=json_body(Availability.model_json_schema(by_alias=True), {"available": False}),
)
async def set_server(request: Request, server_id: ServerId, content_type: ContentType = None) -> Response:
    """The server is UNAVAILABLE until it is set to answer or restarted; its process keeps running."""
    context, service = context_of(request), service_of(request)
    body = parse_body(Availability, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        _set_available(db, server_id, body.available, context.now)
        if body.zone is not None:
            _move(db, server_id, body.zone)
    return context.reply_empty()


@router.delete(
    "/servers/{serverId}",
    summary="Let a server be deleted",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 409, 500),
)
async def delete_server(request: Request, server_id: ServerId) -> Response:
    """It stays in the lists as DELETED. A zone whose last server goes is DELETED too, and a cluster then DELETING."""
    context, service = context_of(request), service_of(request)
    with service.store.transaction() as db:
        _delete(db, server_id, context.now)
    return context.reply_empty()


@router.put(
    "/servers/{serverId}/process",
    summary="End the process of a server, or start it",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 409, 415, 500),
    openapi_extra=json_body(Process.model_json_schema(by_alias=True), {"running": False}),
)
async def set_process(request: Request, server_id: ServerId, content_type: ContentType = None) -> Response:
    """As somebody does on the host, without OCP. It is not a restart; a start moves the start time."""
    context, service = context_of(request), service_of(request)
    body = parse_body(Process, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        _set_running(db, server_id, body.running, context.now)
    return context.reply_empty()


@router.put(
    "/arbitration-services/{id}/process",
    summary="End the process of an arbitration service, or start it",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 409, 415, 500),
    openapi_extra=json_body(Process.model_json_schema(by_alias=True), {"running": False}),
)
async def set_service_process(request: Request, service_id: ServiceId, content_type: ContentType = None) -> Response:
    """As somebody does on the host, without OCP. It is not a restart."""
    context, service = context_of(request), service_of(request)
    body = parse_body(Process, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        _check_free(db, "arbitration_services", f"Arbitration service {service_id}", service_id)
        db.execute(
            "UPDATE arbitration_services SET up = :up, status = CASE WHEN :up THEN 'RUNNING' ELSE 'STOPPED' END,"
            " update_time = :now WHERE id = :id",
            {"up": body.running, "now": context.now, "id": service_id},
        )
    return context.reply_empty()


@router.put(
    "/obproxies/{id}/process",
    summary="End the process of an OBProxy, or start it",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 409, 415, 500),
    openapi_extra=json_body(Process.model_json_schema(by_alias=True), {"running": False}),
)
async def set_obproxy_process(request: Request, obproxy_id: ObProxyId, content_type: ContentType = None) -> Response:
    """As somebody does on the host, without OCP. It is not a restart."""
    context, service = context_of(request), service_of(request)
    body = parse_body(Process, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        _check_free(db, "obproxies", f"OBProxy {obproxy_id}", obproxy_id)
        db.execute("UPDATE obproxies SET up = ?, update_time = ? WHERE id = ?", (body.running, context.now, obproxy_id))
    return context.reply_empty()


@router.put(
    "/arbitration-services/{id}",
    summary="Let log streams be degraded",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(
        DegradedLogStreams.document(), {"degraded": [{"cluster": "orders", "tenant": "app", "logStreams": [1001]}]}
    ),
)
async def set_service(request: Request, service_id: ServiceId, content_type: ContentType = None) -> Response:
    """The service shows these in `clusters[].tenants[].degradedLsIdList`, and no others; an empty list clears all."""
    context, service = context_of(request), service_of(request)
    body = parse_body(DegradedLogStreams, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        _set_degraded(db, service_id, body.degraded, context.now)
    return context.reply_empty()


def _set_available(db: sqlite3.Connection, server_id: int, available: bool, now: int) -> None:
    """Let a server answer or not; its process keeps running. ApiError: 404, or 409 while a task occupies it."""
    _check_server(db, server_id)
    inner = "ACTIVE" if available else "INACTIVE"
    db.execute("UPDATE servers SET inner_status = ?, update_time = ? WHERE id = ? AND up", (inner, now, server_id))
    statuses.show_incident(db, server_id, now)


def _set_running(db: sqlite3.Connection, server_id: int, running: bool, now: int) -> None:
    """Start the process of a server unless it runs, or end it. ApiError as above."""
    _check_server(db, server_id)
    change = (
        "up = 1, inner_status = 'ACTIVE', start_time = :now, stop_time = 0"
        if running
        else "up = 0, inner_status = 'INACTIVE', stop_time = :now"
    )
    db.execute(
        f"UPDATE servers SET {change}, update_time = :now WHERE id = :id AND up <> :running",
        {"now": now, "id": server_id, "running": running},
    )
    statuses.show_incident(db, server_id, now)


def _delete(db: sqlite3.Connection, server_id: int, now: int) -> None:
    """Delete a server, and with the last one its zone and its cluster. ApiError as above."""
    _check_server(db, server_id)
    db.execute(
        "UPDATE servers SET status = 'DELETED', up = 0, inner_status = 'INACTIVE', stop_time = :now,"
        " update_time = :now WHERE id = :id",
        {"now": now, "id": server_id},
    )
    for table, column, status in (("zones", "zone_id", "DELETED"), ("clusters", "cluster_id", "DELETING")):
        db.execute(
            f"UPDATE {table} SET status = ?, update_time = ?"
            f" WHERE id = (SELECT {column} FROM servers WHERE id = ?)"
            f" AND NOT EXISTS (SELECT 1 FROM servers WHERE {column} = {table}.id AND status <> 'DELETED')",
            (status, now, server_id),
        )
    statuses.show_incident(db, server_id, now)


def _check_server(db: sqlite3.Connection, server_id: int) -> None:
    """ApiError: 404 when there is no such server, or none any more; 409 while a task occupies it."""
    _check_free(db, "servers", f"Server {server_id}", server_id)
    (status,) = db.execute("SELECT status FROM servers WHERE id = ?", (server_id,)).fetchone()
    if status == "DELETED":
        raise errors.no_such_server(f"Server {server_id}")


def _check_free(db: sqlite3.Connection, table: str, label: str, number: int) -> None:
    row = db.execute(f"SELECT * FROM {table} WHERE id = ?", (number,)).fetchone()
    if row is None:
        raise errors.not_found(label)
    if row["operating_task"] is not None:
        task = db.execute("SELECT * FROM tasks WHERE id = ?", (row["operating_task"],)).fetchone()
        raise errors.busy(errors.UNSPECIFIC, label, task["id"], task["name"], task["status"])


def _move(db: sqlite3.Connection, server_id: int, zone: str) -> None:
    """Let a server be in another zone of its cluster. ApiError 404."""
    found = db.execute(
        "SELECT zones.id FROM zones JOIN servers USING (cluster_id) WHERE servers.id = ? AND zones.name = ?",
        (server_id, zone),
    ).fetchone()
    if found is None:
        raise errors.not_found(f"Zone {zone}")
    db.execute("UPDATE servers SET zone_id = ? WHERE id = ?", (found["id"], server_id))


def _set_degraded(db: sqlite3.Connection, service_id: int, degraded: Sequence[Degraded], now: int) -> None:
    """Let an arbitration service show these log streams as degraded, and no others. ApiError 404."""
    if db.execute("SELECT 1 FROM arbitration_services WHERE id = ?", (service_id,)).fetchone() is None:
        raise errors.not_found(f"Arbitration service {service_id}")
    clusters = {row["name"]: row["id"] for row in db.execute("SELECT id, name FROM clusters")}
    before = {row["id"] for row in db.execute(_DEGRADED)}
    db.execute("DELETE FROM degraded WHERE service_id = ?", (service_id,))
    for one in degraded:
        if one.cluster not in clusters:
            raise errors.not_found(f"Cluster {one.cluster}")
        db.execute(
            "INSERT OR REPLACE INTO degraded VALUES (?, ?, ?, ?)",
            (service_id, clusters[one.cluster], one.tenant, json.dumps(one.log_streams)),
        )
    after = {row["id"] for row in db.execute(_DEGRADED)}
    for tenant_id in sorted(before ^ after):
        ledger.note_degraded(db, tenant_id, tenant_id in after, now)
