# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The route that reads audit events."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.responses import Response

from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import (
    PageParam,
    RequirePermission,
    SizeParam,
    SortParam,
    TimeParam,
    Unserved,
    error_responses,
    page_request,
)
from ocp_emulator.schemas.audit_schemas import AuditEvent
from ocp_emulator.schemas.envelope import Envelope, Paged
from ocp_emulator.serializers import audit_serializers
from ocp_emulator.serializers.audit_serializers import EventFilter
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import Sort, instant, one_or_more, split
from ocp_emulator.web.request_context import context_of

reads = APIRouter(tags=["Audit"], dependencies=[Depends(RequirePermission(Permission.AUDIT_VIEWER))])


# Events of other words are none here, so they find nothing.
Words = Annotated[str, Field(pattern=r"^[ A-Z_,]*$")]
Ids = Annotated[str, one_or_more("[0-9]{1,19}")]
Statuses = Annotated[str, one_or_more("SUCCESS", "FAILED")]


def _chosen(
    types: Annotated[list[Words] | None, Query(alias="eventType", description="One or more, with commas.")] = None,
    operations: Annotated[
        list[Words] | None, Query(alias="operationEvent", description="One or more, with commas.")
    ] = None,
    resource: Annotated[
        str | None, Query(alias="resourceName", description="Of a cluster its name, else an address.")
    ] = None,
    operators: Annotated[list[Ids] | None, Query(alias="operatorId", description="One or more, with commas.")] = None,
    status: Annotated[list[Statuses] | None, Query(description="SUCCESS or FAILED; none here has FAILED.")] = None,
    start: Annotated[TimeParam, Query(alias="startTime")] = None,
    end: Annotated[TimeParam, Query(alias="endTime")] = None,
) -> EventFilter:
    ids = split(operators)
    return EventFilter(
        split(types),
        split(operations),
        resource,
        None if ids is None else [int(number) for number in ids],
        split(status),
        instant("startTime", start),
        instant("endTime", end),
    )


@reads.get(
    "/api/v2/audit/events",
    summary="List audit events",
    response_model=Envelope[Paged[AuditEvent]],
    responses=error_responses(400, 401, 403, 500, 501),
    dependencies=[Depends(Unserved("eventInfo"))],
)
async def list_events(
    request: Request,
    chosen: Annotated[EventFilter, Depends(_chosen)],
    number: PageParam = 1,
    size: SizeParam = 10,
    sort: SortParam = "id,asc",
    order: Annotated[Sort | None, Query(description="As `sort`, before which it goes.")] = None,
) -> Response:
    """One for each target of an operation that was accepted."""
    service = service_of(request)
    page = page_request(number, size, order or sort)
    events = audit_serializers.event_page(service.store.db, page, chosen, service.switches.record_fields)
    return context_of(request).reply(Envelope[Paged[AuditEvent]], events)
