# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What requests the service has seen, for administrators."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api import control_serializers
from ocp_emulator.control_api.control_schemas import SeenRequest
from ocp_emulator.ocp_api.dependencies import Needs, Number, Order, Size, refusals, window
from ocp_emulator.schemas.envelope import EmptyEnvelope, Envelope, Paged
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import LARGEST_PAGE, Long
from ocp_emulator.web.request_context import call_of
from ocp_emulator.web.request_log import Wanted

router = APIRouter(prefix=f"{CONTROL}/requests", tags=["Emulator"], dependencies=[Depends(Needs(Permission.ADMIN))])


@router.get(
    "", summary="List requests", response_model=Envelope[Paged[SeenRequest]], responses=refusals(400, 401, 403, 500)
)
async def list_requests(
    request: Request,
    method: Annotated[str | None, Query(description="GET, POST and so on.")] = None,
    path: Annotated[str | None, Query(description="Shell pattern, in which * stands for slashes too.")] = None,
    user: Annotated[str | None, Query(description="Who has logged on.")] = None,
    since: Annotated[Long | None, Query(description="Only requests with a larger id.")] = None,
    number: Number = 1,
    size: Size = LARGEST_PAGE,
    sort: Order = "id,asc",
) -> Response:
    """The newest 10,000 since the process began, whatever became of them; those of the control API are not there.

    There are no bodies and no header values, and no values of parameters whose names sound like secrets.
    """
    found = service_of(request).history.find(Wanted(method, path, user, since))
    page = control_serializers.request_page(window(number, size, sort), found)
    return call_of(request).reply(Envelope[Paged[SeenRequest]], page)


@router.delete("", summary="Forget all requests", response_model=EmptyEnvelope, responses=refusals(401, 403, 500))
async def forget_requests(request: Request) -> Response:
    """The ids of those to come go on."""
    service_of(request).history.clear()
    return call_of(request).done()
