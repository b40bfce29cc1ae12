# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Plan, list and remove faults."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import Response

from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api import control_serializers
from ocp_emulator.control_api.control_schemas import Fault
from ocp_emulator.faults import fault_plan
from ocp_emulator.faults.parse_fault import SCHEMAS, FaultError, parse_fault
from ocp_emulator.ocp_api.dependencies import ContentType, RequirePermission, error_responses, json_body
from ocp_emulator.schemas.envelope import EmptyEnvelope, Envelope, Listed
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import Long, invalid_body, json_object
from ocp_emulator.web.request_context import context_of

router = APIRouter(prefix=CONTROL, tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))])

FaultId = Annotated[Long, Path(alias="faultId", description="Fault id.", examples=[1])]


@router.post(
    "/faults",
    summary="Plan a fault",
    response_model=Envelope[Fault],
    responses=error_responses(400, 401, 403, 415, 500),
    openapi_extra=json_body(
        {"oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in SCHEMAS]},
        {"kind": "subtask", "action": "fail", "match": {"subtask": "Stop observer process"}, "message": "disk full"},
    ),
)
async def plan_fault(request: Request, content_type: ContentType = None) -> Response:
    """Plan a fault from now on; if several faults match, the first one hits. It survives a restart."""
    context, service = context_of(request), service_of(request)
    try:
        fault = parse_fault(json_object(context, content_type, required=True))
    except FaultError as error:
        raise invalid_body(error.key, error.reason) from None
    with service.store.transaction() as db:
        fault_id = fault_plan.add(db, fault, context.now)
    return context.reply(Envelope[Fault], control_serializers.fault_detail(service.store.db, fault_id))


@router.get(
    "/faults",
    summary="Read the plan of faults",
    response_model=Envelope[Listed[Fault]],
    responses=error_responses(401, 403, 500),
)
async def list_faults(request: Request) -> Response:
    """All of them, used up or not."""
    return context_of(request).reply(
        Envelope[Listed[Fault]], control_serializers.fault_list(service_of(request).store.db)
    )


@router.delete(
    "/faults",
    summary="Take back all faults",
    response_model=EmptyEnvelope,
    responses=error_responses(401, 403, 500),
)
async def remove_faults(request: Request) -> Response:
    """Their effects so far remain, including on a subtask that is RUNNING."""
    with service_of(request).store.transaction() as db:
        fault_plan.remove(db, None)
    return context_of(request).reply_empty()


@router.delete(
    "/faults/{faultId}",
    summary="Take back a fault",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 500),
)
async def remove_fault(request: Request, fault_id: FaultId) -> Response:
    """Its effects so far remain, including on a subtask that is RUNNING."""
    with service_of(request).store.transaction() as db:
        fault_plan.remove(db, fault_id)
    return context_of(request).reply_empty()
