# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Incidents that no task causes: tests bring them on and heal them."""

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api import incidents
from ocp_emulator.control_api.control_schemas import Availability, DegradedLogStreams
from ocp_emulator.ocp_api.dependencies import ContentType, Needs, ServerId, ServiceId, json_body, refusals
from ocp_emulator.schemas.envelope import EmptyEnvelope
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import form_of, json_object
from ocp_emulator.web.request_context import call_of

router = APIRouter(prefix=CONTROL, tags=["Emulator"], dependencies=[Depends(Needs(Permission.ADMIN))])


@router.put(
    "/servers/{serverId}",
    summary="Let a server answer or not",
    response_model=EmptyEnvelope,
    responses=refusals(400, 401, 403, 404, 409, 415, 500),
    openapi_extra=json_body(Availability.model_json_schema(by_alias=True)),
)
async def set_server(request: Request, server_id: ServerId, content_type: ContentType = None) -> Response:
    """Until it is told to answer, or is restarted, the server is UNAVAILABLE; its process runs on."""
    call, service = call_of(request), service_of(request)
    wanted = form_of(Availability, json_object(call, content_type, required=True))
    with service.store.transaction() as db:
        incidents.set_available(db, server_id, wanted.available, call.now)
    return call.done()


@router.put(
    "/arbitration-services/{id}",
    summary="Let log streams be degraded",
    response_model=EmptyEnvelope,
    responses=refusals(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(DegradedLogStreams.document()),
)
async def set_service(request: Request, service_id: ServiceId, content_type: ContentType = None) -> Response:
    """The service shows these in `clusters[].tenants[].degradedLsIdList`, and no others; an empty list heals all."""
    call, service = call_of(request), service_of(request)
    wanted = form_of(DegradedLogStreams, json_object(call, content_type, required=True))
    with service.store.transaction() as db:
        incidents.set_degraded(db, service_id, wanted.degraded)
    return call.done()
