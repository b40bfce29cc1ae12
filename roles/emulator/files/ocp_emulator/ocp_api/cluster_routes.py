# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The routes that read clusters, zones and servers, and their filters."""

from typing import Annotated, get_args

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from ocp_emulator.base.compatibility import Served
from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import (
    ClusterId,
    PageParam,
    RequirePermission,
    SizeParam,
    SortParam,
    Unserved,
    ZoneName,
    error_responses,
    page_request,
)
from ocp_emulator.schemas.envelope import Envelope, Listed, Paged
from ocp_emulator.schemas.fleet_schemas import Cluster, ClusterStatus, Server, Zone
from ocp_emulator.serializers import cluster_serializers
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import one_or_more, split
from ocp_emulator.web.request_context import context_of

reads = APIRouter(tags=["Clusters"], dependencies=[Depends(RequirePermission(Permission.CLUSTER_VIEWER))])

Statuses = Annotated[str, one_or_more(*get_args(ClusterStatus))]


@reads.get(
    "/api/v2/ob/clusters",
    summary="List clusters",
    response_model=Envelope[Paged[Cluster]],
    responses=error_responses(400, 401, 403, 500, 501),
    # Deprecated in the documents.
    dependencies=[Depends(Unserved("withStandby"))],
)
async def list_clusters(
    request: Request,
    name: Annotated[str | None, Query(description="Part of the name, ignoring case.")] = None,
    statuses: Annotated[list[Statuses] | None, Query(alias="status", description="One or more, with commas.")] = None,
    number: PageParam = 1,
    size: SizeParam = 10,
    sort: SortParam = "id,asc",
) -> Response:
    """Each with its zones."""
    service = service_of(request)
    page = cluster_serializers.cluster_page(
        service.store.db, page_request(number, size, sort), name, split(statuses), service.switches
    )
    return context_of(request).reply(Envelope[Paged[Cluster]], page)


@reads.get(
    "/api/v2/ob/clusters/{id}/zones",
    summary="List the zones of a cluster",
    response_model=Envelope[Listed[Zone]],
    responses=error_responses(400, 401, 403, 404, 500),
)
async def list_zones(request: Request, cluster_id: ClusterId) -> Response:
    """All of them, each with its servers."""
    service = service_of(request)
    zones = cluster_serializers.zones_of(service.store.db, cluster_id, service.switches)
    return context_of(request).reply(Envelope[Listed[Zone]], zones)


@reads.get(
    "/api/v2/ob/clusters/{id}/servers",
    summary="List the servers of a cluster",
    response_model=Envelope[Listed[Server]],
    responses=error_responses(400, 401, 403, 404, 500),
)
async def list_servers(
    request: Request,
    cluster_id: ClusterId,
    region: Annotated[str | None, Query(alias="regionName")] = None,
    idc: Annotated[str | None, Query(alias="idcName")] = None,
) -> Response:
    """All of them; this list is not paged."""
    service = service_of(request)
    servers = cluster_serializers.servers_of(service.store.db, cluster_id, region, idc, service.switches)
    return context_of(request).reply(Envelope[Listed[Server]], servers)


async def list_servers_of_zone(request: Request, cluster_id: ClusterId, zone_name: ZoneName) -> Response:
    """All of them; this list is not paged."""
    service = service_of(request)
    servers = cluster_serializers.servers_of_zone(service.store.db, cluster_id, zone_name, service.switches)
    return context_of(request).reply(Envelope[Listed[Server]], servers)


async def read_cluster(request: Request, cluster_id: ClusterId) -> Response:
    """The cluster with its zones and their servers."""
    service = service_of(request)
    cluster = cluster_serializers.cluster_detail(service.store.db, cluster_id, service.switches)
    return context_of(request).reply(Envelope[Cluster], cluster)


def details(served: Served) -> APIRouter:
    """The router of one cluster, which is not documented."""
    router = APIRouter(tags=["Clusters"], dependencies=[Depends(RequirePermission(Permission.CLUSTER_VIEWER))])
    if served == "served":
        router.add_api_route(
            "/api/v2/ob/clusters/{id}",
            read_cluster,
            summary="Read a cluster",
            response_model=Envelope[Cluster],
            responses=error_responses(400, 401, 403, 404, 500),
        )
    return router


# The documented path has no /ob; a public client has it.
for _prefix in ("/api/v2", "/api/v2/ob"):
    reads.add_api_route(
        f"{_prefix}/clusters/{{id}}/zones/{{zoneName}}/servers",
        list_servers_of_zone,
        summary="List the servers of a zone",
        response_model=Envelope[Listed[Server]],
        responses=error_responses(400, 401, 403, 404, 500),
    )
