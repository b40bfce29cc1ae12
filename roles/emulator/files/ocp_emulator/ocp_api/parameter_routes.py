# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The routes that read and set the parameters of a cluster, and read those of an OBProxy cluster."""

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import (
    ClusterId,
    ContentType,
    ObProxyClusterId,
    RequirePermission,
    error_responses,
    json_body,
)
from ocp_emulator.schemas.envelope import EmptyEnvelope, Envelope, Listed
from ocp_emulator.schemas.parameter_schemas import ClusterParameter, ObProxyClusterParameter, ParameterSetting
from ocp_emulator.serializers import parameter_serializers
from ocp_emulator.service import service_of
from ocp_emulator.tasks.set_parameters import set_parameters
from ocp_emulator.web.parameters import json_array, parse_bodies
from ocp_emulator.web.request_context import context_of

_PATH = "/api/v2/ob/clusters/{id}/parameters"
_SETTINGS = {"type": "array", "minItems": 1, "items": ParameterSetting.model_json_schema(by_alias=True)}

reads = APIRouter(tags=["Clusters"], dependencies=[Depends(RequirePermission(Permission.CLUSTER_VIEWER))])
writes = APIRouter(tags=["Clusters"], dependencies=[Depends(RequirePermission(Permission.CLUSTER_MANAGER))])
obproxy_reads = APIRouter(tags=["OBProxies"], dependencies=[Depends(RequirePermission(Permission.OBPROXY_VIEWER))])


@reads.get(
    _PATH,
    summary="List the parameters of a cluster",
    response_model=Envelope[Listed[ClusterParameter]],
    responses=error_responses(400, 401, 403, 404, 500),
)
async def list_parameters(request: Request, cluster_id: ClusterId) -> Response:
    """All of them with the value of each server that answers; this list is not paged."""
    service = service_of(request)
    parameters = parameter_serializers.parameters_of(service.store.db, cluster_id, service.switches)
    return context_of(request).reply(Envelope[Listed[ClusterParameter]], parameters)


@writes.put(
    _PATH,
    summary="Set parameters of a cluster",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(_SETTINGS, [{"name": "stack_size", "value": "5M"}]),
)
async def update_parameters(request: Request, cluster_id: ClusterId, content_type: ContentType = None) -> Response:
    """All of them or none. A static one takes effect on a server at its next start."""
    context, service = context_of(request), service_of(request)
    settings = parse_bodies(ParameterSetting, json_array(context, content_type))
    with service.store.transaction() as db:
        set_parameters(db, cluster_id, settings, service.switches.static_parameters)
    return context.reply_empty()


@obproxy_reads.get(
    "/api/v2/obproxy/clusters/{id}/parameters",
    summary="List the parameters of an OBProxy cluster",
    response_model=Envelope[Listed[ObProxyClusterParameter]],
    responses=error_responses(400, 401, 403, 404, 500),
)
async def list_obproxy_parameters(request: Request, cluster_id: ObProxyClusterId) -> Response:
    """All of them with the value of each OBProxy that runs; this list is not paged. There is no call to set them."""
    parameters = parameter_serializers.obproxy_parameters_of(service_of(request).store.db, cluster_id)
    return context_of(request).reply(Envelope[Listed[ObProxyClusterParameter]], parameters)
