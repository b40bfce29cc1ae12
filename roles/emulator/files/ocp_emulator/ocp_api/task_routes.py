# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The routes of tasks: list and its filters, read, log; retry, rollback, skip, cancel."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from ocp_emulator.base.compatibility import RollbackAnswer
from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import (
    PageParam,
    RequirePermission,
    SizeParam,
    SortParam,
    SubtaskId,
    TaskId,
    error_responses,
    page_request,
)
from ocp_emulator.schemas.envelope import EmptyEnvelope, Envelope, Paged
from ocp_emulator.schemas.task_schemas import BasicTaskInstance, SubtaskInstance, SubtaskLog, WrappedTaskInstance
from ocp_emulator.serializers import task_serializers
from ocp_emulator.serializers.task_serializers import TaskFilter
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import Long, one_or_more, split
from ocp_emulator.web.request_context import context_of

reads = APIRouter(tags=["Tasks"], dependencies=[Depends(RequirePermission(Permission.TASK_VIEWER))])
actions = APIRouter(tags=["Tasks"], dependencies=[Depends(RequirePermission(Permission.TASK_MANAGER))])

Statuses = Annotated[str, one_or_more("RUNNING", "FAILED", "SUCCESSFUL")]
Types = Annotated[str, one_or_more("MANUAL", "SYS_ONECE", "SYS_ONCE", "SCHEDULED", "SYS_SCHEDULED")]


@reads.get(
    "/api/v2/tasks/instances",
    summary="List tasks",
    response_model=Envelope[Paged[BasicTaskInstance]],
    responses=error_responses(400, 401, 403, 500),
)
async def list_tasks(
    request: Request,
    name: Annotated[str | None, Query(description="Part of the name, ignoring case.")] = None,
    statuses: Annotated[list[Statuses] | None, Query(alias="status", description="One or more, with commas.")] = None,
    types: Annotated[list[Types] | None, Query(alias="type", description="One or more, with commas.")] = None,
    misspelt_name: Annotated[str | None, Query(alias="cluterName", description="Part of it; as documented.")] = None,
    cluster_name: Annotated[str | None, Query(alias="clusterName", description="As it should be documented.")] = None,
    cluster_id: Annotated[Long | None, Query(alias="clusterId")] = None,
    tenant_name: Annotated[str | None, Query(alias="tenantName", description="No task here has a tenant.")] = None,
    tenant_id: Annotated[Long | None, Query(alias="tenantId", description="No task here has a tenant.")] = None,
    host_id: Annotated[Long | None, Query(alias="hostId")] = None,
    number: PageParam = 1,
    size: SizeParam = 10,
    sort: SortParam = "id,desc",
) -> Response:
    """All given filters have to match. `hostId` is the host of the restarted target, except for zones and clusters."""
    task_filter = TaskFilter(
        name=name,
        statuses=split(statuses),
        types=split(types),
        cluster_id=cluster_id,
        cluster_name=cluster_name if misspelt_name is None else misspelt_name,
        host_id=host_id,
        of_tenant=tenant_name is not None or tenant_id is not None,
    )
    service = service_of(request)
    page = task_serializers.task_page(
        service.store.db, page_request(number, size, sort), task_filter, service.switches.task_tags
    )
    return context_of(request).reply(Envelope[Paged[BasicTaskInstance]], page)


@reads.get(
    "/api/v2/tasks/instances/{taskInstanceId}",
    summary="Read a task",
    response_model=Envelope[WrappedTaskInstance],
    responses=error_responses(400, 401, 403, 404, 500),
)
async def read_task(request: Request, task_id: TaskId) -> Response:
    """The task with its subtasks and their links, times and states."""
    service = service_of(request)
    task = task_serializers.task_detail(service.store.db, task_id, service.switches.task_tags)
    return context_of(request).reply(Envelope[WrappedTaskInstance], task)


@reads.get(
    "/api/v2/tasks/instances/{taskInstanceId}/subtasks/{subtaskInstanceId}/log",
    summary="Read the log of a subtask",
    response_model=Envelope[SubtaskLog],
    responses=error_responses(400, 401, 403, 404, 500),
)
async def read_subtask_log(request: Request, task_id: TaskId, subtask_id: SubtaskId) -> Response:
    """One text; each attempt begins with a line of number signs with its operation and time."""
    log = task_serializers.subtask_log_of(service_of(request).store.db, task_id, subtask_id)
    return context_of(request).reply(Envelope[SubtaskLog], log)


_TASK = "/api/v2/tasks/instances/{taskInstanceId}"
_SUBTASK = f"{_TASK}/subtasks/{{subtaskInstanceId}}"
_ACTION_ERRORS = error_responses(400, 401, 403, 404, 500)


@actions.post(
    f"{_TASK}/retry", summary="Retry a task", response_model=Envelope[WrappedTaskInstance], responses=_ACTION_ERRORS
)
async def retry_task(request: Request, task_id: TaskId) -> Response:
    """Run all FAILED subtasks of a FAILED task again; 400 with code 20003 in any other state and after a rollback."""
    context, service = context_of(request), service_of(request)
    service.task_actions.retry_task(context.require_caller().user, context.now, task_id)
    task = task_serializers.task_detail(service.store.db, task_id, service.switches.task_tags)
    return context.reply(Envelope[WrappedTaskInstance], task)


def rollback(response_kind: RollbackAnswer) -> APIRouter:
    """The router of the rollback, with the response of this switch."""

    async def rollback_task(request: Request, task_id: TaskId) -> Response:
        context, service = context_of(request), service_of(request)
        service.task_actions.rollback_task(context.require_caller().user, context.now, task_id)
        if response_kind == "empty":
            return context.reply_empty()
        task = task_serializers.task_detail(service.store.db, task_id, service.switches.task_tags)
        return context.reply(Envelope[WrappedTaskInstance], task)

    router = APIRouter(tags=["Tasks"], dependencies=[Depends(RequirePermission(Permission.TASK_MANAGER))])
    router.add_api_route(
        f"{_TASK}/rollback",
        rollback_task,
        methods=["POST"],
        summary="Roll back a task",
        description="Undo a FAILED task in reverse order. In the end it is SUCCESSFUL with the operation ROLLBACK.\n\n"
        "400 with code 20003 in any other state, with code 20004 when the rollback is prohibited.",
        response_model=EmptyEnvelope if response_kind == "empty" else Envelope[WrappedTaskInstance],
        responses=_ACTION_ERRORS,
    )
    return router


@actions.post(
    f"{_SUBTASK}/retry",
    summary="Retry a subtask",
    response_model=Envelope[SubtaskInstance],
    responses=_ACTION_ERRORS,
)
async def retry_subtask(request: Request, task_id: TaskId, subtask_id: SubtaskId) -> Response:
    """Run one FAILED subtask again; 400 with code 20003 in any other state and in a rollback."""
    context, service = context_of(request), service_of(request)
    service.task_actions.retry_subtask(context.require_caller().user, context.now, task_id, subtask_id)
    subtask = task_serializers.subtask_detail(service.store.db, task_id, subtask_id, service.switches.task_tags)
    return context.reply(Envelope[SubtaskInstance], subtask)


@actions.post(f"{_SUBTASK}/skip", summary="Skip a subtask", response_model=EmptyEnvelope, responses=_ACTION_ERRORS)
async def skip_subtask(request: Request, task_id: TaskId, subtask_id: SubtaskId) -> Response:
    """Let a FAILED subtask count as done without doing it; 400 with code 20003 in any other state. There is no data."""
    context, service = context_of(request), service_of(request)
    service.task_actions.skip_subtask(context.require_caller().user, context.now, task_id, subtask_id)
    return context.reply_empty()


@actions.post(f"{_SUBTASK}/cancel", summary="Cancel a subtask", response_model=EmptyEnvelope, responses=_ACTION_ERRORS)
async def cancel_subtask(request: Request, task_id: TaskId, subtask_id: SubtaskId) -> Response:
    """Let a RUNNING subtask fail; 400 with code 20003 in any other state. There is no data."""
    context, service = context_of(request), service_of(request)
    service.task_actions.cancel_subtask(context.require_caller().user, context.now, task_id, subtask_id)
    return context.reply_empty()
