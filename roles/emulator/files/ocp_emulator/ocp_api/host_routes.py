# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The routes of hosts and agents: batch restart, list and read."""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Annotated, get_args

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from ocp_emulator.base.compatibility import AgentPaths
from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import (
    ContentType,
    HostId,
    PageParam,
    ProcessId,
    RequirePermission,
    SizeParam,
    SortParam,
    error_responses,
    json_body,
    page_request,
)
from ocp_emulator.schemas.envelope import Envelope, Paged
from ocp_emulator.schemas.fleet_schemas import Agent, AgentProcess, Host, HostStatus, ServiceType
from ocp_emulator.schemas.restart_schemas import AgentRestart, SingleAgentRestart
from ocp_emulator.serializers import host_serializers, restart_serializers
from ocp_emulator.serializers.host_serializers import HostFilter
from ocp_emulator.service import service_of
from ocp_emulator.tasks import agent_processes
from ocp_emulator.tasks.blueprints import AGENT_RESTART, AGENTS_STOP, SINGLE_AGENT_RESTART, SINGLE_AGENT_STOP
from ocp_emulator.tasks.subtask_graph import Blueprint
from ocp_emulator.web.parameters import body_longs, json_object, one_or_more, split
from ocp_emulator.web.request_context import context_of

reads = APIRouter(tags=["Hosts"], dependencies=[Depends(RequirePermission(Permission.HOST_VIEWER))])

Statuses = Annotated[str, one_or_more(*get_args(HostStatus))]
ServiceTypes = Annotated[str, one_or_more(*get_args(ServiceType))]

# The documents show the paths of agents without /api/v2; the real service probably has it.
_PREFIXES: Mapping[AgentPaths, tuple[str, ...]] = {
    "both": ("", "/api/v2"),
    "plain": ("",),
    "prefixed": ("/api/v2",),
}

_HOST_IDS = {
    "type": "object",
    "required": ["hostIds"],
    "properties": {
        "hostIds": {"type": "array", "minItems": 1, "items": {"type": "integer", "format": "int64"}},
    },
}


async def restart_agents(request: Request, content_type: ContentType = None) -> Response:
    """The agents of the hosts in `hostIds`, all of them or none.

    `hostids`, as the documented sample has it, is taken too.
    """
    return _operate_all(request, AGENT_RESTART, content_type)


async def stop_agents(request: Request, content_type: ContentType = None) -> Response:
    """The agents of the hosts in `hostIds`, all of them or none, until they are restarted."""
    return _operate_all(request, AGENTS_STOP, content_type)


def _operate_all(request: Request, blueprint: Blueprint, content_type: str | None) -> Response:
    context, service = context_of(request), service_of(request)
    host_ids = body_longs(json_object(context, content_type, required=True), "hostIds", "hostids")
    task_id = service.submitter.operate_agents(blueprint, context.require_caller().user, context.now, host_ids)
    return context.reply(Envelope[AgentRestart], restart_serializers.agent_restart(service.store.db, task_id))


def _chosen(
    keyword: Annotated[
        str | None, Query(description="Part of the name, the inner address, or of what runs there.")
    ] = None,
    statuses: Annotated[list[Statuses] | None, Query(alias="status", description="One or more, with commas.")] = None,
    included: Annotated[
        list[ServiceTypes] | None, Query(alias="includedServiceType", description="The host has all of them.")
    ] = None,
    excluded: Annotated[
        list[ServiceTypes] | None, Query(alias="excludedServiceType", description="The host has none of them.")
    ] = None,
) -> HostFilter:
    return HostFilter(keyword, split(statuses), split(included), split(excluded))


@reads.get(
    "/api/v2/compute/hosts",
    summary="List hosts",
    response_model=Envelope[Paged[Host]],
    responses=error_responses(400, 401, 403, 500),
)
async def list_hosts(
    request: Request,
    chosen: Annotated[HostFilter, Depends(_chosen)],
    number: PageParam = 1,
    size: SizeParam = 10,
    sort: SortParam = "id,asc",
) -> Response:
    """Each with what runs on it."""
    page = host_serializers.host_page(service_of(request).store.db, page_request(number, size, sort), chosen)
    return context_of(request).reply(Envelope[Paged[Host]], page)


@reads.get(
    "/api/v2/compute/hosts/{hostId}",
    summary="Read a host",
    response_model=Envelope[Host],
    responses=error_responses(400, 401, 403, 404, 500),
)
async def read_host(request: Request, host_id: HostId) -> Response:
    """The host, the state of its agent, and what runs on it."""
    host = host_serializers.host_detail(service_of(request).store.db, host_id)
    return context_of(request).reply(Envelope[Host], host)


async def read_agent(request: Request, host_id: HostId) -> Response:
    """The agent with its processes."""
    service = service_of(request)
    agent = host_serializers.agent_of(service.store.db, host_id, context_of(request).now)
    return context_of(request).reply(Envelope[Agent], agent)


async def list_processes(
    request: Request, host_id: HostId, number: PageParam = 1, size: SizeParam = 10, sort: SortParam = "id,asc"
) -> Response:
    """The processes of the agent."""
    page = host_serializers.process_page(
        service_of(request).store.db, page_request(number, size, sort), host_id, context_of(request).now
    )
    return context_of(request).reply(Envelope[Paged[AgentProcess]], page)


async def restart_agent(request: Request, host_id: HostId) -> Response:
    """The agent of one host."""
    return _operate(request, SINGLE_AGENT_RESTART, host_id)


async def stop_agent(request: Request, host_id: HostId) -> Response:
    """The agent of one host, until it is restarted."""
    return _operate(request, SINGLE_AGENT_STOP, host_id)


async def restart_process(request: Request, host_id: HostId, process_id: ProcessId) -> Response:
    """At once, without a task. Only a process that is `operable`."""
    return _change_process(request, agent_processes.restart_process, host_id, process_id)


async def stop_process(request: Request, host_id: HostId, process_id: ProcessId) -> Response:
    """At once, without a task. Only a process that is `operable`."""
    return _change_process(request, agent_processes.stop_process, host_id, process_id)


def _change_process(
    request: Request, change: Callable[[sqlite3.Connection, int, int, int], None], host_id: int, process_id: int
) -> Response:
    context, service = context_of(request), service_of(request)
    with service.store.transaction() as db:
        change(db, host_id, process_id, context.now)
    process = host_serializers.process_detail(service.store.db, host_id, process_id, context.now)
    return context.reply(Envelope[AgentProcess], process)


def _operate(request: Request, blueprint: Blueprint, host_id: int) -> Response:
    context, service = context_of(request), service_of(request)
    task_id = service.submitter.operate_agent(blueprint, context.require_caller().user, context.now, host_id)
    task = restart_serializers.single_agent_restart(service.store.db, task_id)
    return context.reply(Envelope[SingleAgentRestart], task)


def agents(paths: AgentPaths) -> tuple[APIRouter, APIRouter]:
    """The routers of the restarts and the reads of agents, with the paths of this switch."""
    restarts = APIRouter(tags=["Restarts"], dependencies=[Depends(RequirePermission(Permission.HOST_MANAGER))])
    reads = APIRouter(tags=["Hosts"], dependencies=[Depends(RequirePermission(Permission.HOST_VIEWER))])
    for prefix in _PREFIXES[paths]:
        agent = f"{prefix}/compute/hosts/{{hostId}}/agent"
        _add_operations(restarts, prefix, agent)
        _add_reads(reads, agent)
    return restarts, reads


def _add_operations(restarts: APIRouter, prefix: str, agent: str) -> None:
    for path, operate_all, summary in (
        ("batchRestartAgents", restart_agents, "Restart agents"),
        ("batchStopAgents", stop_agents, "Stop agents"),
    ):
        restarts.add_api_route(
            f"{prefix}/compute/hosts/{path}",
            operate_all,
            methods=["POST"],
            summary=summary,
            response_model=Envelope[AgentRestart],
            responses=error_responses(400, 401, 403, 404, 409, 415, 500),
            openapi_extra=json_body(_HOST_IDS, {"hostIds": [1, 2]}),
        )
    for verb, operation in (("restart", restart_agent), ("stop", stop_agent)):
        restarts.add_api_route(
            f"{agent}/{verb}",
            operation,
            methods=["POST"],
            summary=f"{verb.title()} the agent of a host",
            response_model=Envelope[SingleAgentRestart],
            responses=error_responses(400, 401, 403, 404, 409, 500),
        )
    for verb, change in (("restart", restart_process), ("stop", stop_process)):
        restarts.add_api_route(
            f"{agent}/processes/{{agentProcessId}}/{verb}",
            change,
            methods=["POST"],
            summary=f"{verb.title()} a worker process of an agent",
            response_model=Envelope[AgentProcess],
            responses=error_responses(400, 401, 403, 404, 409, 500),
        )


def _add_reads(reads: APIRouter, agent: str) -> None:
    for path, read, model, summary in (
        (agent, read_agent, Agent, "Read the agent of a host"),
        (f"{agent}/processes", list_processes, Paged[AgentProcess], "List the processes of the agent of a host"),
    ):
        reads.add_api_route(
            path,
            read,
            summary=summary,
            response_model=Envelope[model],  # type: ignore[valid-type]
            responses=error_responses(400, 401, 403, 404, 500),
        )
