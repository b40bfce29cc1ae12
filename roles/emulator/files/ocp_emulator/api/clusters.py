# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Clusters, zones and servers: restarts (restart-operations.md, 4.1 and 4.2), neighbours (ocp-api.md, 4.5), reads.

Of the neighbours, paths and parameters are documented, and the shape of the zone restart. That starts and stops answer
in the shape of the restart of the same target is our choice, and so is what their parameters default to. The reads are
those of ocp-api.md, section 6.
"""

from typing import Annotated, Any, Literal, TypeVar, get_args

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from starlette.responses import Response

from ocp_emulator import errors, graphs
from ocp_emulator.api.common import ClusterId, Needs, Number, Order, ServerId, Size, refusals, window
from ocp_emulator.call import call_of
from ocp_emulator.parameters import Flag, body_flag, body_name, json_object, one_or_more, split
from ocp_emulator.permissions import Permission
from ocp_emulator.schemas.envelope import Envelope, Listed, Paged
from ocp_emulator.schemas.fleet import Cluster, ClusterStatus, Server, Zone
from ocp_emulator.schemas.tasks import ClusterRestart, ServerRestart, ZoneRestart
from ocp_emulator.service import service_of
from ocp_emulator.views import fleet as fleet_views
from ocp_emulator.views import tasks as task_views

reads = APIRouter(tags=["Clusters"], dependencies=[Depends(Needs(Permission.CLUSTER_VIEWER))])
restarts = APIRouter(tags=["Restarts"], dependencies=[Depends(Needs(Permission.CLUSTER_MANAGER))])
neighbours = APIRouter(tags=["Starts and stops"], dependencies=[Depends(Needs(Permission.CLUSTER_MANAGER))])

Statuses = Annotated[str, one_or_more(*get_args(ClusterStatus))]

T = TypeVar("T")

_SWITCHES: dict[str, Any] = {
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


def _agreed(name: str, in_query: T | None, in_body: T | None) -> T | None:
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


ZoneName = Annotated[str, Path(alias="zoneName")]
StopType = Literal["STOP_SERVICE", "STOP_PROCESS"]

_STOP_SWITCHES = {
    "type": "object",
    "properties": {
        **_SWITCHES["properties"],
        "type": {"enum": list(get_args(StopType)), "description": "STOP_PROCESS when left out."},
    },
}


def _add_zone_call(router: APIRouter, verb: str, blueprint: graphs.Blueprint) -> None:
    async def operate_zone(request: Request, cluster_id: ClusterId, zone_name: ZoneName) -> Response:
        call, service = call_of(request), service_of(request)
        user = call.logged_on().user
        task_id = service.operations.operate_zone(blueprint, user, call.now, cluster_id, zone_name)
        return call.reply(Envelope[ZoneRestart], task_views.zone_restart(service.store.db, task_id))

    router.add_api_route(
        f"/api/v2/ob/clusters/{{id}}/zones/{{zoneName}}/{verb}",
        operate_zone,
        methods=["POST"],
        summary=f"{verb.capitalize()} a zone",
        description="All servers of the zone, at the same time. No parameters, no body.",
        response_model=Envelope[ZoneRestart],
        responses=refusals(400, 401, 403, 404, 409, 500),
    )


def _add_cluster_call(verb: str, blueprint: graphs.Blueprint) -> None:
    async def operate_cluster(request: Request, cluster_id: ClusterId) -> Response:
        call, service = call_of(request), service_of(request)
        task_id = service.operations.operate_cluster(blueprint, call.logged_on().user, call.now, cluster_id)
        return call.reply(Envelope[ClusterRestart], task_views.cluster_restart(service.store.db, task_id))

    neighbours.add_api_route(
        f"/api/v2/ob/clusters/{{id}}/{verb}",
        operate_cluster,
        methods=["POST"],
        summary=f"{verb.capitalize()} a cluster",
        description="All servers of the cluster. No parameters, no body.",
        response_model=Envelope[ClusterRestart],
        responses=refusals(400, 401, 403, 404, 409, 500),
    )


_add_zone_call(restarts, "restart", graphs.ZONE_RESTART)
_add_zone_call(neighbours, "start", graphs.ZONE_START)
_add_zone_call(neighbours, "stop", graphs.ZONE_STOP)
_add_cluster_call("start", graphs.CLUSTER_START)
_add_cluster_call("stop", graphs.CLUSTER_STOP)


@neighbours.post(
    "/api/v2/ob/clusters/{id}/servers/{serverId}/start",
    summary="Start a server node",
    response_model=Envelope[ServerRestart],
    responses=refusals(400, 401, 403, 404, 409, 500),
)
async def start_server(request: Request, cluster_id: ClusterId, server_id: ServerId) -> Response:
    """No parameters, no body. A server that runs is left alone."""
    call, service = call_of(request), service_of(request)
    user = call.logged_on().user
    task_id = service.operations.operate_server(graphs.SERVER_START, user, call.now, cluster_id, server_id)
    return call.reply(Envelope[ServerRestart], task_views.server_restart(service.store.db, task_id))


@neighbours.post(
    "/api/v2/ob/clusters/{id}/servers/{serverId}/stop",
    summary="Stop a server node",
    response_model=Envelope[ServerRestart],
    responses=refusals(400, 401, 403, 404, 409, 415, 500),
    openapi_extra={"requestBody": {"required": False, "content": {"application/json": {"schema": _STOP_SWITCHES}}}},
)
async def stop_server(
    request: Request,
    cluster_id: ClusterId,
    server_id: ServerId,
    freeze_server: Annotated[
        Flag | None, Query(alias="freezeServer", description="Here or in the body; false when left out.")
    ] = None,
    force: Annotated[Flag | None, Query(description="Here or in the body; false when left out.")] = None,
    stop_type: Annotated[
        StopType | None, Query(alias="type", description="Here or in the body; STOP_PROCESS when left out.")
    ] = None,
    content_type: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """STOP_PROCESS ends the process; after STOP_SERVICE it goes on out of service.

    The parameters are read from the query and from a JSON body; what stands in both places has to agree.
    """
    call, service = call_of(request), service_of(request)
    body = json_object(call, content_type, required=False)
    freeze = _agreed("freezeServer", freeze_server, body_flag(body, "freezeServer")) or False
    forced = _agreed("force", force, body_flag(body, "force")) or False
    kind = _agreed("type", stop_type, body_name(body, "type", get_args(StopType)))
    blueprint = graphs.SERVER_STOP_SERVICE if kind == "STOP_SERVICE" else graphs.SERVER_STOP
    user = call.logged_on().user
    task_id = service.operations.operate_server(
        blueprint, user, call.now, cluster_id, server_id, freeze=freeze, force=forced
    )
    return call.reply(Envelope[ServerRestart], task_views.server_restart(service.store.db, task_id))


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


async def list_servers_of_zone(request: Request, cluster_id: ClusterId, zone_name: ZoneName) -> Response:
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
