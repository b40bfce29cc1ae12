# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""List, filter and forget the requests that the service got."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api import control_serializers
from ocp_emulator.control_api.control_schemas import RequestCount, SeenRequest
from ocp_emulator.ocp_api.dependencies import (
    PageParam,
    RequirePermission,
    SizeParam,
    SortParam,
    error_responses,
    page_request,
)
from ocp_emulator.schemas.envelope import EmptyEnvelope, Envelope, Paged
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import LARGEST_PAGE, Long
from ocp_emulator.web.request_context import context_of
from ocp_emulator.web.request_log import RequestFilter

router = APIRouter(
    prefix=f"{CONTROL}/requests", tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))]
)


def _chosen(
    method: Annotated[str | None, Query(description="GET, POST and so on.")] = None,
    path: Annotated[str | None, Query(description="Shell pattern, in which * stands for slashes too.")] = None,
    user: Annotated[str | None, Query(description="Who has logged on.")] = None,
    since: Annotated[Long | None, Query(description="Only requests with a larger id.")] = None,
    status: Annotated[Long | None, Query(description="The status of the answer.")] = None,
) -> RequestFilter:
    return RequestFilter(method, path, user, since, status)


@router.get(
    "",
    summary="List requests",
    response_model=Envelope[Paged[SeenRequest]],
    responses=error_responses(400, 401, 403, 500),
)
async def list_requests(
    request: Request,
    chosen: Annotated[RequestFilter, Depends(_chosen)],
    number: PageParam = 1,
    size: SizeParam = LARGEST_PAGE,
    sort: SortParam = "id,asc",
) -> Response:
    """The newest 10,000 since the process began, whatever their outcome, without those of the control API.

    Header values are not included, nor the values of parameters and keys whose names sound like secrets.
    """
    records = service_of(request).request_log.find(chosen)
    page = control_serializers.request_page(page_request(number, size, sort), records)
    return context_of(request).reply(Envelope[Paged[SeenRequest]], page)


@router.get(
    "/count",
    summary="Count requests",
    response_model=Envelope[RequestCount],
    responses=error_responses(400, 401, 403, 500),
)
async def count_requests(request: Request, chosen: Annotated[RequestFilter, Depends(_chosen)]) -> Response:
    """How many of the list match."""
    found = sum(1 for _each in service_of(request).request_log.find(chosen))
    return context_of(request).reply(Envelope[RequestCount], RequestCount(count=found))


@router.delete(
    "", summary="Forget all requests", response_model=EmptyEnvelope, responses=error_responses(401, 403, 500)
)
async def forget_requests(request: Request) -> Response:
    """The ids of those to come go on."""
    service_of(request).request_log.clear()
    return context_of(request).reply_empty()
