# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The routes that restart, start and stop servers, zones and clusters.

All paths, parameters and responses are documented; the defaults of the parameters of starts and stops are our choice.
"""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from ocp_emulator.base.compatibility import ClusterAnswer, ServerRestartSteps, Switches
from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import ClusterId, RequirePermission, ServerId, ZoneName, error_responses
from ocp_emulator.ocp_api.restart_parameters import ServerParameters
from ocp_emulator.schemas.envelope import Envelope
from ocp_emulator.schemas.restart_schemas import (
    ClusterRestart,
    ModernClusterRestart,
    ReducedTask,
    ServerRestart,
    ServerRestartOf11,
    ZoneRestart,
)
from ocp_emulator.schemas.schema import Schema
from ocp_emulator.serializers import restart_serializers
from ocp_emulator.service import service_of
from ocp_emulator.tasks import blueprints
from ocp_emulator.tasks.subtask_graph import Blueprint
from ocp_emulator.web.request_context import context_of


@dataclass(frozen=True)
class _OperationResponse:
    """The response of an operation: its envelope, and the function that serializes the task."""

    envelope: type[Envelope[Any]]
    serialize: Callable[[sqlite3.Connection, int], Schema]

    def reply(self, request: Request, task_id: int) -> Response:
        return context_of(request).reply(self.envelope, self.serialize(service_of(request).store.db, task_id))


_ZONE_RESPONSE = _OperationResponse(Envelope[ZoneRestart], restart_serializers.zone_restart)
_SERVER_RESPONSES: Mapping[ServerRestartSteps, _OperationResponse] = {
    "13": _OperationResponse(Envelope[ServerRestart], restart_serializers.server_restart),
    "11": _OperationResponse(Envelope[ServerRestartOf11], restart_serializers.server_restart_of_11),
}
# The older form of the start and the stop of a server is that of a cluster.
_SERVER_START_RESPONSES: Mapping[ServerRestartSteps, _OperationResponse] = {
    "13": _SERVER_RESPONSES["13"],
    "11": _OperationResponse(Envelope[ReducedTask], restart_serializers.reduced_task),
}
_CLUSTER_RESPONSES: Mapping[ClusterAnswer, _OperationResponse] = {
    "tasks": _OperationResponse(Envelope[ClusterRestart], restart_serializers.cluster_restart),
    "subtasks": _OperationResponse(Envelope[ModernClusterRestart], restart_serializers.modern_cluster_restart),
}
_CLUSTER_START_RESPONSES: Mapping[ClusterAnswer, _OperationResponse] = {
    "tasks": _OperationResponse(Envelope[ReducedTask], restart_serializers.reduced_task),
    "subtasks": _CLUSTER_RESPONSES["subtasks"],
}
_ERROR_STATUSES = (400, 401, 403, 404, 409, 500)


def routers(switches: Switches) -> tuple[APIRouter, APIRouter]:
    """The routers of restarts, and of starts and stops, of a service with these switches."""
    permission = [Depends(RequirePermission(Permission.CLUSTER_MANAGER))]
    restarts = APIRouter(tags=["Restarts"], dependencies=permission)
    starts_and_stops = APIRouter(tags=["Starts and stops"], dependencies=permission)
    parameters = ServerParameters(switches.freeze_server, switches.parameters_in)
    steps, cluster_response = switches.server_restart_steps, _CLUSTER_START_RESPONSES[switches.cluster_answer]
    _add_server_restart(restarts, parameters, _SERVER_RESPONSES[steps])
    _add_cluster_operation(restarts, "restart", blueprints.CLUSTER_RESTART, _CLUSTER_RESPONSES[switches.cluster_answer])
    _add_zone_operation(restarts, "restart", blueprints.ZONE_RESTART)
    _add_zone_operation(starts_and_stops, "start", blueprints.ZONE_START)
    _add_zone_operation(starts_and_stops, "stop", blueprints.ZONE_STOP)
    _add_cluster_operation(starts_and_stops, "start", blueprints.CLUSTER_START, cluster_response)
    _add_cluster_operation(starts_and_stops, "stop", blueprints.CLUSTER_STOP, cluster_response)
    _add_server_start(starts_and_stops, steps)
    _add_server_stop(starts_and_stops, parameters, steps)
    return restarts, starts_and_stops


def _add_server_restart(router: APIRouter, parameters: ServerParameters, response: _OperationResponse) -> None:
    async def restart_server(request: Request, cluster_id: ClusterId, server_id: ServerId) -> Response:
        context, values = context_of(request), parameters.read(request)
        task_id = service_of(request).submitter.restart_server(
            context.require_caller().user,
            context.now,
            cluster_id,
            server_id,
            freeze=parameters.freeze_for_restart(values),
            force=values.flag("force") or False,
        )
        return response.reply(request, task_id)

    router.add_api_route(
        "/api/v2/ob/clusters/{id}/servers/{serverId}/restart",
        restart_server,
        methods=["POST"],
        summary="Restart a server node",
        description="A parameter in both the query and the body must have the same value.",
        response_model=response.envelope,
        responses=error_responses(*sorted({*_ERROR_STATUSES, *parameters.error_statuses()})),
        openapi_extra=parameters.openapi_of_restart(),
    )


def _add_server_start(router: APIRouter, steps: ServerRestartSteps) -> None:
    response, blueprint = _SERVER_START_RESPONSES[steps], blueprints.SERVER_STARTS[steps]

    async def start_server(request: Request, cluster_id: ClusterId, server_id: ServerId) -> Response:
        context = context_of(request)
        task_id = service_of(request).submitter.operate_server(
            blueprint, context.require_caller().user, context.now, cluster_id, server_id
        )
        return response.reply(request, task_id)

    router.add_api_route(
        "/api/v2/ob/clusters/{id}/servers/{serverId}/start",
        start_server,
        methods=["POST"],
        summary="Start a server node",
        description="No parameters, no body.",
        response_model=response.envelope,
        responses=error_responses(*_ERROR_STATUSES),
    )


def _add_server_stop(router: APIRouter, parameters: ServerParameters, steps: ServerRestartSteps) -> None:
    response = _SERVER_START_RESPONSES[steps]

    async def stop_server(request: Request, cluster_id: ClusterId, server_id: ServerId) -> Response:
        context, values = context_of(request), parameters.read(request)
        kind = parameters.stop_type(values)
        task_id = service_of(request).submitter.operate_server(
            blueprints.SERVER_STOP_SERVICE if kind == "STOP_SERVICE" else blueprints.SERVER_STOPS[steps],
            context.require_caller().user,
            context.now,
            cluster_id,
            server_id,
            freeze=parameters.freeze_for_stop(values),
            force=values.flag("force") or False,
        )
        return response.reply(request, task_id)

    router.add_api_route(
        "/api/v2/ob/clusters/{id}/servers/{serverId}/stop",
        stop_server,
        methods=["POST"],
        summary="Stop a server node",
        description="STOP_PROCESS ends the process; after STOP_SERVICE it goes on out of service.\n\n"
        "A parameter in both the query and the body must have the same value.",
        response_model=response.envelope,
        responses=error_responses(*sorted({*_ERROR_STATUSES, *parameters.error_statuses()})),
        openapi_extra=parameters.openapi_of_stop(),
    )


def _add_zone_operation(router: APIRouter, operation: str, blueprint: Blueprint) -> None:
    async def operate_zone(request: Request, cluster_id: ClusterId, zone_name: ZoneName) -> Response:
        context = context_of(request)
        user = context.require_caller().user
        task_id = service_of(request).submitter.operate_zone(blueprint, user, context.now, cluster_id, zone_name)
        return _ZONE_RESPONSE.reply(request, task_id)

    router.add_api_route(
        f"/api/v2/ob/clusters/{{id}}/zones/{{zoneName}}/{operation}",
        operate_zone,
        methods=["POST"],
        summary=f"{operation.capitalize()} a zone",
        description="All servers of the zone, at the same time. No parameters, no body.",
        response_model=_ZONE_RESPONSE.envelope,
        responses=error_responses(*_ERROR_STATUSES),
    )


def _add_cluster_operation(
    router: APIRouter, operation: str, blueprint: Blueprint, response: _OperationResponse
) -> None:
    async def operate_cluster(request: Request, cluster_id: ClusterId) -> Response:
        context = context_of(request)
        user = context.require_caller().user
        task_id = service_of(request).submitter.operate_cluster(blueprint, user, context.now, cluster_id)
        return response.reply(request, task_id)

    router.add_api_route(
        f"/api/v2/ob/clusters/{{id}}/{operation}",
        operate_cluster,
        methods=["POST"],
        summary=f"{operation.capitalize()} a cluster",
        description="All servers of the cluster. No parameters, no body.",
        response_model=response.envelope,
        responses=error_responses(*_ERROR_STATUSES),
    )
