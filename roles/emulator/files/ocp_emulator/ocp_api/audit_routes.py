# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The route that reads audit events."""

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import (
    PageParam,
    RequirePermission,
    SizeParam,
    SortParam,
    error_responses,
    page_request,
)
from ocp_emulator.schemas.audit_schemas import AuditEvent
from ocp_emulator.schemas.envelope import Envelope, Paged
from ocp_emulator.serializers import audit_serializers
from ocp_emulator.service import service_of
from ocp_emulator.web.request_context import context_of

reads = APIRouter(tags=["Audit"], dependencies=[Depends(RequirePermission(Permission.AUDIT_VIEWER))])


@reads.get(
    "/api/v2/audit/events",
    summary="List audit events",
    response_model=Envelope[Paged[AuditEvent]],
    responses=error_responses(400, 401, 403, 500),
)
async def list_events(
    request: Request, number: PageParam = 1, size: SizeParam = 10, sort: SortParam = "id,asc"
) -> Response:
    """One for each target of an operation that was accepted."""
    service = service_of(request)
    events = audit_serializers.event_page(
        service.store.db, page_request(number, size, sort), service.switches.record_fields
    )
    return context_of(request).reply(Envelope[Paged[AuditEvent]], events)
