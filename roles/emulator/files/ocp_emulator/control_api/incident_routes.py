# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Incidents that no task causes: tests bring them on and heal them."""

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api import incidents
from ocp_emulator.control_api.control_schemas import Availability, DegradedLogStreams
from ocp_emulator.ocp_api.dependencies import (
    ContentType,
    RequirePermission,
    ServerId,
    ServiceId,
    error_responses,
    json_body,
)
from ocp_emulator.schemas.envelope import EmptyEnvelope
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import json_object, parse_body
from ocp_emulator.web.request_context import context_of

router = APIRouter(prefix=CONTROL, tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))])


@router.put(
    "/servers/{serverId}",
    summary="Let a server answer or not",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 409, 415, 500),
    openapi_extra=json_body(Availability.model_json_schema(by_alias=True)),
)
async def set_server(request: Request, server_id: ServerId, content_type: ContentType = None) -> Response:
    """Until it is told to answer, or is restarted, the server is UNAVAILABLE; its process runs on."""
    context, service = context_of(request), service_of(request)
    body = parse_body(Availability, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        incidents.set_available(db, server_id, body.available, context.now)
    return context.reply_empty()


@router.put(
    "/arbitration-services/{id}",
    summary="Let log streams be degraded",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(DegradedLogStreams.document()),
)
async def set_service(request: Request, service_id: ServiceId, content_type: ContentType = None) -> Response:
    """The service shows these in `clusters[].tenants[].degradedLsIdList`, and no others; an empty list heals all."""
    context, service = context_of(request), service_of(request)
    body = parse_body(DegradedLogStreams, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        incidents.set_degraded(db, service_id, body.degraded)
    return context.reply_empty()
