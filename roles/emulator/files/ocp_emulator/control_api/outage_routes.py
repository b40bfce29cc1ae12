# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What was out of service when, when tenants had lost their voters, and how often their leaders moved."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from ocp_emulator.base.clock import SECOND
from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api import outage_serializers
from ocp_emulator.control_api.control_schemas import Absence, LeaderMoves, Outage
from ocp_emulator.ocp_api.dependencies import RequirePermission, error_responses
from ocp_emulator.schemas.envelope import Envelope, Listed
from ocp_emulator.service import service_of
from ocp_emulator.web.request_context import context_of

router = APIRouter(prefix=CONTROL, tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))])

ClusterParam = Annotated[str | None, Query(description="Only of the cluster with this name.")]
TenantParam = Annotated[str | None, Query(description="Only of tenants with this name.")]
# A day is far longer than a run.
CatchUpParam = Annotated[
    int,
    Query(alias="catchUpSeconds", ge=0, le=86_400, description="How long a zone serves before leaders go back to it."),
]


@router.get(
    "/outages",
    summary="List the times in which tenants had lost their voters",
    response_model=Envelope[Listed[Outage]],
    responses=error_responses(400, 401, 403, 500),
)
async def list_outages(
    request: Request,
    cluster: ClusterParam = None,
    tenant: TenantParam = None,
) -> Response:
    """In the order in which they began, by whatever cause: restarts, stops, incidents."""
    outages = outage_serializers.outage_list(service_of(request).store.db, cluster, tenant)
    return context_of(request).reply(Envelope[Listed[Outage]], outages)


@router.get(
    "/leader-moves",
    summary="Count how often the leaders of tenants moved to another zone",
    response_model=Envelope[Listed[LeaderMoves]],
    responses=error_responses(400, 401, 403, 500),
)
async def list_leader_moves(
    request: Request,
    cluster: ClusterParam = None,
    tenant: TenantParam = None,
    catch_up_seconds: CatchUpParam = 0,
) -> Response:
    """All tenants with a full replica, even those whose leaders did not move."""
    context = context_of(request)
    moves = outage_serializers.leader_moves_list(
        service_of(request).store.db, cluster, tenant, catch_up=catch_up_seconds * SECOND, now=context.now
    )
    return context.reply(Envelope[Listed[LeaderMoves]], moves)


@router.get(
    "/absences",
    summary="List the times in which something did not serve",
    response_model=Envelope[Listed[Absence]],
    responses=error_responses(400, 401, 403, 500),
)
async def list_absences(request: Request, cluster: ClusterParam = None) -> Response:
    """Servers and arbitration services, and tenants with degraded log streams, in the order in which it began."""
    absences = outage_serializers.absence_list(service_of(request).store.db, cluster)
    return context_of(request).reply(Envelope[Listed[Absence]], absences)
