# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The routes of arbitration services: restart, list and read."""

from typing import Annotated, get_args

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.responses import Response

from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import (
    PageParam,
    RequirePermission,
    ServiceId,
    SortParam,
    error_responses,
    page_request,
    size_description,
)
from ocp_emulator.schemas.envelope import Envelope, Paged
from ocp_emulator.schemas.fleet_schemas import ArbitrationService, ArbitrationStatus
from ocp_emulator.schemas.restart_schemas import ArbitrationRestart
from ocp_emulator.serializers import arbitration_serializers, restart_serializers
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import LARGEST_LARGE_PAGE, LargePageSize, Long, one_or_more, split
from ocp_emulator.web.request_context import context_of

reads = APIRouter(tags=["Arbitration services"], dependencies=[Depends(RequirePermission(Permission.ARBITRATION_VIEW))])
restarts = APIRouter(tags=["Restarts"], dependencies=[Depends(RequirePermission(Permission.ARBITRATION_UPDATE))])

Statuses = Annotated[str, one_or_more(*get_args(ArbitrationStatus))]
Tags = Annotated[str, Field(pattern=r"^[0-9]+(,[0-9]+)*$")]


@restarts.post(
    "/api/v2/arbitration/services/{id}/restart",
    summary="Restart an arbitration service",
    response_model=Envelope[ArbitrationRestart],
    responses=error_responses(400, 401, 403, 404, 409, 500),
)
async def restart_arbitration_service(request: Request, service_id: ServiceId) -> Response:
    """No parameters, no body."""
    context, service = context_of(request), service_of(request)
    task_id = service.submitter.restart_arbitration_service(context.require_caller().user, context.now, service_id)
    return context.reply(
        Envelope[ArbitrationRestart], restart_serializers.arbitration_restart(service.store.db, task_id)
    )


@reads.get(
    "/api/v2/arbitration/services",
    summary="List arbitration services",
    response_model=Envelope[Paged[ArbitrationService]],
    responses=error_responses(400, 401, 403, 500),
)
async def list_arbitration_services(
    request: Request,
    host_id: Annotated[Long | None, Query(alias="hostId")] = None,
    keyword: Annotated[str | None, Query(description="Part of the description or of the address.")] = None,
    statuses: Annotated[
        list[Statuses] | None, Query(alias="statusList", description="One or more, with commas.")
    ] = None,
    tags: Annotated[list[Tags] | None, Query(alias="tagIdList", description="No service here has tags.")] = None,
    number: PageParam = 1,
    size: Annotated[
        LargePageSize, Query(description=size_description(LARGEST_LARGE_PAGE, LARGEST_LARGE_PAGE))
    ] = LARGEST_LARGE_PAGE,
    sort: SortParam = "id,asc",
) -> Response:
    """All given filters have to match. The paging parameters are our choice: only the pages are documented."""
    service = service_of(request)
    page = arbitration_serializers.arbitration_page(
        service.store.db,
        page_request(number, size, sort),
        host_id,
        keyword,
        split(statuses),
        tagged=bool(tags),
        operating=service.switches.operating_task,
    )
    return context_of(request).reply(Envelope[Paged[ArbitrationService]], page)


@reads.get(
    "/api/v2/arbitration/services/{id}",
    summary="Read an arbitration service",
    response_model=Envelope[ArbitrationService],
    responses=error_responses(400, 401, 403, 404, 500),
)
async def read_arbitration_service(request: Request, service_id: ServiceId) -> Response:
    """The service. It has no start time: only `updateTime` moves with a restart."""
    service = service_of(request)
    found = arbitration_serializers.arbitration_detail(service.store.db, service_id, service.switches.operating_task)
    return context_of(request).reply(Envelope[ArbitrationService], found)
