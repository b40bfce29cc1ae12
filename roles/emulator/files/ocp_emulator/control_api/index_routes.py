# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What runs here, and which calls the control API has."""

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from ocp_emulator import VERSION
from ocp_emulator.base.paths import CONTROL, DOCS, is_control
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api.control_schemas import Index, IndexedCall
from ocp_emulator.ocp_api.dependencies import RequirePermission, error_responses
from ocp_emulator.schemas.envelope import Envelope
from ocp_emulator.service import service_of
from ocp_emulator.web.request_context import context_of

router = APIRouter(tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))])


@router.get(
    CONTROL, summary="Read this index", response_model=Envelope[Index], responses=error_responses(401, 403, 500)
)
async def read_index(request: Request) -> Response:
    """The calls in the order of their paths; the OpenAPI document has their fields."""
    calls = [
        IndexedCall(method=method, path=route.path, summary=route.summary or "")
        for route in request.app.routes
        if isinstance(route, APIRoute) and is_control(route.path)
        for method in sorted(route.methods or ())
    ]
    index = Index(
        version=VERSION,
        openapi="/openapi.json",
        docs=DOCS,
        switches=vars(service_of(request).switches),
        calls=sorted(calls, key=lambda call: (call.path, call.method)),
    )
    return context_of(request).reply(Envelope[Index], index)
