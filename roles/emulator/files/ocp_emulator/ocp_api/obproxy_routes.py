# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The routes of OBProxies: restart of several, list and read of their clusters."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import (
    ObProxyClusterId,
    PageParam,
    RequirePermission,
    SizeParam,
    SortParam,
    error_responses,
    page_request,
)
from ocp_emulator.schemas.envelope import Envelope, Paged
from ocp_emulator.schemas.obproxy_schemas import ObProxyCluster
from ocp_emulator.schemas.restart_schemas import ObProxyRestart
from ocp_emulator.serializers import obproxy_serializers, restart_serializers
from ocp_emulator.service import service_of
from ocp_emulator.web.request_context import context_of

reads = APIRouter(tags=["OBProxies"], dependencies=[Depends(RequirePermission(Permission.OBPROXY_VIEWER))])
restarts = APIRouter(tags=["Restarts"], dependencies=[Depends(RequirePermission(Permission.OBPROXY_MANAGER))])

ObProxyIds = Annotated[
    Annotated[str, Field(pattern=r"^[0-9]{1,18}(,[0-9]{1,18})*$")],
    Path(alias="obproxyIds", description="OBProxy ids, by comma.", examples=["1,2"]),
]


@restarts.post(
    "/api/v2/obproxy/clusters/{id}/obproxies/{obproxyIds}/restart",
    summary="Restart OBProxies",
    response_model=Envelope[ObProxyRestart],
    responses=error_responses(400, 401, 403, 404, 409, 500),
)
async def restart_obproxies(request: Request, cluster_id: ObProxyClusterId, obproxy_ids: ObProxyIds) -> Response:
    """All of them or none, by one task. No parameters, no body. Each has to be RUNNING."""
    context, service = context_of(request), service_of(request)
    numbers = [int(number) for number in obproxy_ids.split(",")]
    task_id = service.submitter.restart_obproxies(context.require_caller().user, context.now, cluster_id, numbers)
    return context.reply(Envelope[ObProxyRestart], restart_serializers.obproxy_restart(service.store.db, task_id))


@reads.get(
    "/api/v2/obproxy/clusters",
    summary="List OBProxy clusters",
    response_model=Envelope[Paged[ObProxyCluster]],
    responses=error_responses(400, 401, 403, 500),
)
async def list_obproxy_clusters(
    request: Request,
    name: Annotated[str | None, Query(description="Part of the name.")] = None,
    number: PageParam = 1,
    size: SizeParam = 10,
    sort: SortParam = "id,asc",
) -> Response:
    """The OBProxy clusters, each with its OBProxies."""
    context = context_of(request)
    page = obproxy_serializers.obproxy_page(
        service_of(request).store.db, page_request(number, size, sort), name, context.now
    )
    return context.reply(Envelope[Paged[ObProxyCluster]], page)


@reads.get(
    "/api/v2/obproxy/clusters/{id}",
    summary="Read an OBProxy cluster",
    response_model=Envelope[ObProxyCluster],
    responses=error_responses(400, 401, 403, 404, 500),
)
async def read_obproxy_cluster(request: Request, cluster_id: ObProxyClusterId) -> Response:
    """The OBProxy cluster with its OBProxies. These have no start time."""
    context = context_of(request)
    found = obproxy_serializers.obproxy_cluster_detail(service_of(request).store.db, cluster_id, context.now)
    return context.reply(Envelope[ObProxyCluster], found)
