# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Clusters, zones and servers: restarts (restart-operations.md, 4.1 and 4.2) and reads (ocp-api.md, section 6)."""

from typing import Annotated, get_args

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from starlette.responses import Response

from ocp_emulator import errors
from ocp_emulator.api.common import ClusterId, Needs, Number, Order, ServerId, Size, refusals, window
from ocp_emulator.call import call_of
from ocp_emulator.parameters import Flag, body_flag, json_object, one_or_more, split
from ocp_emulator.permissions import Permission
from ocp_emulator.schemas.envelope import Envelope, Listed, Paged
from ocp_emulator.schemas.fleet import Cluster, ClusterStatus, Server, Zone
from ocp_emulator.schemas.tasks import ClusterRestart, ServerRestart
from ocp_emulator.service import service_of
from ocp_emulator.views import fleet as fleet_views
from ocp_emulator.views import tasks as task_views

reads = APIRouter(tags=["Clusters"], dependencies=[Depends(Needs(Permission.CLUSTER_VIEWER))])
restarts = APIRouter(tags=["Restarts"], dependencies=[Depends(Needs(Permission.CLUSTER_MANAGER))])

Statuses = Annotated[str, one_or_more(*get_args(ClusterStatus))]

_SWITCHES = {
    "type": "object",
    "properties": {
        "freezeServer": {"type": "boolean", "description": "A minor compaction before the node is stopped."},
        "force": {"type": "boolean", "description": "Restart forcibly; false when left out."},
    },
}


@restarts.post(
    "/api/v2/ob/clusters/{id}/servers/{serverId}/restart",
    summary="Restart a server node",
    response_model=Envelope[ServerRestart],
    responses=refusals(400, 401, 403, 404, 409, 415, 500),
    openapi_extra={"requestBody": {"required": False, "content": {"application/json": {"schema": _SWITCHES}}}},
)
async def restart_server(
    request: Request,
    cluster_id: ClusterId,
    server_id: ServerId,
    freeze_server: Annotated[Flag | None, Query(alias="freezeServer", description="Here or in the body.")] = None,
    force: Annotated[Flag | None, Query(description="Here or in the body; false when left out.")] = None,
    content_type: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """`freezeServer` and `force` are read from the query and from a JSON body; no document tells which it should be.

    What stands in both places has to agree.
    """
    call, service = call_of(request), service_of(request)
    body = json_object(call, content_type, required=False)
    freeze = _agreed("freezeServer", freeze_server, body_flag(body, "freezeServer"))
    if freeze is None:
        raise errors.bad_request("The parameter 'freezeServer' is missing: give it in the query or the body.")
    forced = _agreed("force", force, body_flag(body, "force")) or False
    user = call.logged_on().user
    task_id = service.operations.restart_server(user, call.now, cluster_id, server_id, freeze=freeze, force=forced)
    return call.reply(Envelope[ServerRestart], task_views.server_restart(service.store.db, task_id))


def _agreed(name: str, in_query: bool | None, in_body: bool | None) -> bool | None:
    if in_query is not None and in_body is not None and in_query != in_body:
        raise errors.bad_request(f"The parameter '{name}' has one value in the query and another in the body.")
    return in_body if in_query is None else in_query


@restarts.post(
    "/api/v2/ob/clusters/{id}/restart",
    summary="Restart a cluster",
    response_model=Envelope[ClusterRestart],
    responses=refusals(400, 401, 403, 404, 409, 500),
)
async def restart_cluster(request: Request, cluster_id: ClusterId) -> Response:
    """All servers of the cluster; the answer has the reduced form of the specification, with `tasks`."""
    call, service = call_of(request), service_of(request)
    task_id = service.operations.restart_cluster(call.logged_on().user, call.now, cluster_id)
    return call.reply(Envelope[ClusterRestart], task_views.cluster_restart(service.store.db, task_id))


@reads.get(
    "/api/v2/ob/clusters",
    summary="List clusters",
    response_model=Envelope[Paged[Cluster]],
    responses=refusals(400, 401, 403, 500),
)
async def list_clusters(
    request: Request,
    name: Annotated[str | None, Query(description="Part of the name, in any case.")] = None,
    statuses: Annotated[list[Statuses] | None, Query(alias="status", description="One or several, by comma.")] = None,
    number: Number = 1,
    size: Size = 10,
    sort: Order = "id,asc",
) -> Response:
    """Each with its zones and their servers."""
    page = fleet_views.cluster_page(service_of(request).store.db, window(number, size, sort), name, split(statuses))
    return call_of(request).reply(Envelope[Paged[Cluster]], page)


@reads.get(
    "/api/v2/ob/clusters/{id}",
    summary="Read a cluster",
    response_model=Envelope[Cluster],
    responses=refusals(400, 401, 403, 404, 500),
)
async def read_cluster(request: Request, cluster_id: ClusterId) -> Response:
    """The cluster with its zones and their servers."""
    cluster = fleet_views.cluster_detail(service_of(request).store.db, cluster_id)
    return call_of(request).reply(Envelope[Cluster], cluster)


@reads.get(
    "/api/v2/ob/clusters/{id}/zones",
    summary="List the zones of a cluster",
    response_model=Envelope[Listed[Zone]],
    responses=refusals(400, 401, 403, 404, 500),
)
async def list_zones(request: Request, cluster_id: ClusterId) -> Response:
    """All of them, each with its servers."""
    zones = fleet_views.zones_of(service_of(request).store.db, cluster_id)
    return call_of(request).reply(Envelope[Listed[Zone]], zones)


@reads.get(
    "/api/v2/ob/clusters/{id}/servers",
    summary="List the servers of a cluster",
    response_model=Envelope[Listed[Server]],
    responses=refusals(400, 401, 403, 404, 500),
)
async def list_servers(
    request: Request,
    cluster_id: ClusterId,
    region: Annotated[str | None, Query(alias="regionName")] = None,
    idc: Annotated[str | None, Query(alias="idcName")] = None,
) -> Response:
    """All of them; this list is not paged."""
    servers = fleet_views.servers_of(service_of(request).store.db, cluster_id, region, idc)
    return call_of(request).reply(Envelope[Listed[Server]], servers)


async def list_servers_of_zone(
    request: Request, cluster_id: ClusterId, zone_name: Annotated[str, Path(alias="zoneName")]
) -> Response:
    """All of them; this list is not paged."""
    servers = fleet_views.servers_of_zone(service_of(request).store.db, cluster_id, zone_name)
    return call_of(request).reply(Envelope[Listed[Server]], servers)


# The documented path lacks /ob; a public client has it.
for _prefix in ("/api/v2", "/api/v2/ob"):
    reads.add_api_route(
        f"{_prefix}/clusters/{{id}}/zones/{{zoneName}}/servers",
        list_servers_of_zone,
        summary="List the servers of a zone",
        response_model=Envelope[Listed[Server]],
        responses=refusals(400, 401, 403, 404, 500),
    )
