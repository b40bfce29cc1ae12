# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Restarts of servers, zones and clusters (restart-operations.md, 4.1 and 4.2), and their neighbours (ocp-api.md, 4.5).

Of the neighbours, paths and parameters are documented, and the shape of the zone restart. That starts and stops answer
in the shape of the restart of the same target is our choice, and so is what their parameters default to.
"""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from ocp_emulator.base.compatibility import ClusterAnswer, ServerRestartSteps, Switches
from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import ClusterId, Needs, ServerId, ZoneName, refusals
from ocp_emulator.ocp_api.server_parameters import ServerParameters, StopType
from ocp_emulator.schemas.envelope import Envelope
from ocp_emulator.schemas.restart_schemas import (
    ClusterRestart,
    ModernClusterRestart,
    ServerRestart,
    ServerRestartOf11,
    ZoneRestart,
)
from ocp_emulator.schemas.schema import Form
from ocp_emulator.serializers import restart_serializers
from ocp_emulator.service import service_of
from ocp_emulator.tasks import blueprints
from ocp_emulator.tasks.subtask_graph import Blueprint
from ocp_emulator.web.request_context import call_of


@dataclass(frozen=True)
class _Answer:
    """What an operation answers: the envelope with its form, and what makes the form of a task."""

    form: type[Envelope[Any]]
    view: Callable[[sqlite3.Connection, int], Form]

    def reply(self, request: Request, task_id: int) -> Response:
        return call_of(request).reply(self.form, self.view(service_of(request).store.db, task_id))


_OF_ZONE = _Answer(Envelope[ZoneRestart], restart_serializers.zone_restart)
_OF_SERVER: Mapping[ServerRestartSteps, _Answer] = {
    "13": _Answer(Envelope[ServerRestart], restart_serializers.server_restart),
    "11": _Answer(Envelope[ServerRestartOf11], restart_serializers.server_restart_of_11),
}
_OF_CLUSTER: Mapping[ClusterAnswer, _Answer] = {
    "tasks": _Answer(Envelope[ClusterRestart], restart_serializers.cluster_restart),
    "subtasks": _Answer(Envelope[ModernClusterRestart], restart_serializers.modern_cluster_restart),
}
_REFUSALS = (400, 401, 403, 404, 409, 500)


def routers(switches: Switches) -> tuple[APIRouter, APIRouter]:
    """The restarts, and their neighbours, as a service with these switches has them."""
    needs = [Depends(Needs(Permission.CLUSTER_MANAGER))]
    restarts = APIRouter(tags=["Restarts"], dependencies=needs)
    neighbours = APIRouter(tags=["Starts and stops"], dependencies=needs)
    parameters = ServerParameters(switches.freeze_server, switches.parameters_in)
    of_server = _OF_SERVER[switches.server_restart_steps]
    of_cluster = _OF_CLUSTER[switches.cluster_answer]
    _add_server_restart(restarts, parameters, of_server)
    _add_cluster_call(restarts, "restart", blueprints.CLUSTER_RESTART, of_cluster)
    _add_zone_call(restarts, "restart", blueprints.ZONE_RESTART)
    _add_zone_call(neighbours, "start", blueprints.ZONE_START)
    _add_zone_call(neighbours, "stop", blueprints.ZONE_STOP)
    _add_cluster_call(neighbours, "start", blueprints.CLUSTER_START, of_cluster)
    _add_cluster_call(neighbours, "stop", blueprints.CLUSTER_STOP, of_cluster)
    _add_server_start(neighbours, of_server)
    _add_server_stop(neighbours, parameters, of_server)
    return restarts, neighbours


def _add_server_restart(router: APIRouter, parameters: ServerParameters, answer: _Answer) -> None:
    async def restart_server(request: Request, cluster_id: ClusterId, server_id: ServerId) -> Response:
        call, given = call_of(request), parameters.given(request)
        task_id = service_of(request).submitter.restart_server(
            call.logged_on().user,
            call.now,
            cluster_id,
            server_id,
            freeze=parameters.freeze_for_restart(given),
            force=given.flag("force") or False,
        )
        return answer.reply(request, task_id)

    router.add_api_route(
        "/api/v2/ob/clusters/{id}/servers/{serverId}/restart",
        restart_server,
        methods=["POST"],
        summary="Restart a server node",
        description="What stands both in the query and in the body has to agree.",
        response_model=answer.form,
        responses=refusals(*sorted({*_REFUSALS, *parameters.refusals()})),
        openapi_extra=parameters.of_restart(),
    )


def _add_server_start(router: APIRouter, answer: _Answer) -> None:
    async def start_server(request: Request, cluster_id: ClusterId, server_id: ServerId) -> Response:
        call = call_of(request)
        task_id = service_of(request).submitter.operate_server(
            blueprints.SERVER_START, call.logged_on().user, call.now, cluster_id, server_id
        )
        return answer.reply(request, task_id)

    router.add_api_route(
        "/api/v2/ob/clusters/{id}/servers/{serverId}/start",
        start_server,
        methods=["POST"],
        summary="Start a server node",
        description="No parameters, no body. A server that runs is left alone.",
        response_model=answer.form,
        responses=refusals(*_REFUSALS),
    )


def _add_server_stop(router: APIRouter, parameters: ServerParameters, answer: _Answer) -> None:
    async def stop_server(request: Request, cluster_id: ClusterId, server_id: ServerId) -> Response:
        call, given = call_of(request), parameters.given(request)
        kind = given.name("type", get_args(StopType))
        task_id = service_of(request).submitter.operate_server(
            blueprints.SERVER_STOP_SERVICE if kind == "STOP_SERVICE" else blueprints.SERVER_STOP,
            call.logged_on().user,
            call.now,
            cluster_id,
            server_id,
            freeze=parameters.freeze_for_stop(given),
            force=given.flag("force") or False,
        )
        return answer.reply(request, task_id)

    router.add_api_route(
        "/api/v2/ob/clusters/{id}/servers/{serverId}/stop",
        stop_server,
        methods=["POST"],
        summary="Stop a server node",
        description="STOP_PROCESS ends the process; after STOP_SERVICE it goes on out of service.\n\n"
        "What stands both in the query and in the body has to agree.",
        response_model=answer.form,
        responses=refusals(*sorted({*_REFUSALS, *parameters.refusals()})),
        openapi_extra=parameters.of_stop(),
    )


def _add_zone_call(router: APIRouter, verb: str, blueprint: Blueprint) -> None:
    async def operate_zone(request: Request, cluster_id: ClusterId, zone_name: ZoneName) -> Response:
        call = call_of(request)
        user = call.logged_on().user
        task_id = service_of(request).submitter.operate_zone(blueprint, user, call.now, cluster_id, zone_name)
        return _OF_ZONE.reply(request, task_id)

    router.add_api_route(
        f"/api/v2/ob/clusters/{{id}}/zones/{{zoneName}}/{verb}",
        operate_zone,
        methods=["POST"],
        summary=f"{verb.capitalize()} a zone",
        description="All servers of the zone, at the same time. No parameters, no body.",
        response_model=_OF_ZONE.form,
        responses=refusals(*_REFUSALS),
    )


def _add_cluster_call(router: APIRouter, verb: str, blueprint: Blueprint, answer: _Answer) -> None:
    async def operate_cluster(request: Request, cluster_id: ClusterId) -> Response:
        call = call_of(request)
        user = call.logged_on().user
        task_id = service_of(request).submitter.operate_cluster(blueprint, user, call.now, cluster_id)
        return answer.reply(request, task_id)

    router.add_api_route(
        f"/api/v2/ob/clusters/{{id}}/{verb}",
        operate_cluster,
        methods=["POST"],
        summary=f"{verb.capitalize()} a cluster",
        description="All servers of the cluster. No parameters, no body.",
        response_model=answer.form,
        responses=refusals(*_REFUSALS),
    )
