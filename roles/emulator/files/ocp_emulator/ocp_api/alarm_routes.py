# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The route that lists alarms, and its filters."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import (
    PageParam,
    RequirePermission,
    TimeParam,
    Unserved,
    error_responses,
    page_request,
    size_description,
)
from ocp_emulator.schemas.envelope import Envelope, Paged
from ocp_emulator.schemas.health_schemas import Alarm, AlarmDetail, AlarmScope, AlarmStatus, AppType
from ocp_emulator.serializers import alarm_serializers
from ocp_emulator.serializers.alarm_serializers import AlarmFilter
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import LARGEST_ALARM_PAGE, AlarmPageSize, Flag, Level, Long, instant
from ocp_emulator.web.request_context import context_of

reads = APIRouter(tags=["Alarms"], dependencies=[Depends(RequirePermission(Permission.ALARM_VIEWER))])


def _chosen(
    app_type: Annotated[AppType | None, Query(alias="appType")] = None,
    alarm_type: Annotated[str | None, Query(alias="alarmType")] = None,
    scope: Annotated[AlarmScope | None, Query()] = None,
    level: Annotated[Level | None, Query()] = None,
    cluster: Annotated[str | None, Query(alias="obCluster", description="Name of a cluster.")] = None,
    tenant: Annotated[str | None, Query(alias="obTenant", description="Name of a tenant.")] = None,
    host_ip: Annotated[str | None, Query(alias="hostIp")] = None,
    host_name: Annotated[str | None, Query(alias="hostName")] = None,
    status: Annotated[AlarmStatus | None, Query()] = None,
    keyword: Annotated[str | None, Query(description="Part of the type or the summary, ignoring case.")] = None,
    active_since: Annotated[TimeParam, Query(alias="activeAtStart")] = None,
    active_until: Annotated[TimeParam, Query(alias="activeAtEnd")] = None,
    subscribed: Annotated[
        Flag | None, Query(alias="isSubscribedByMe", description="True finds none: nobody subscribes here.")
    ] = None,
) -> AlarmFilter:
    return AlarmFilter(
        status,
        app_type,
        alarm_type,
        scope,
        level,
        cluster,
        tenant,
        host_ip,
        host_name,
        keyword,
        instant("activeAtStart", active_since),
        instant("activeAtEnd", active_until),
        subscribed,
    )


@reads.get(
    "/api/v2/alarm/alarms",
    summary="List alarms",
    response_model=Envelope[Paged[Alarm]],
    responses=error_responses(400, 401, 403, 500, 501),
    # Of older versions.
    dependencies=[Depends(Unserved("obClusterGroup", "appCluster", "serviceName", "category"))],
)
async def list_alarms(
    request: Request,
    chosen: Annotated[AlarmFilter, Depends(_chosen)],
    number: PageParam = 1,
    size: Annotated[AlarmPageSize, Query(description=size_description(LARGEST_ALARM_PAGE, 10))] = 10,
) -> Response:
    """Active and past alarms, the newest first."""
    context = context_of(request)
    page = page_request(number, size, "id,desc")
    alarms = alarm_serializers.alarm_page(service_of(request).store.db, page, chosen, context.now)
    return context.reply(Envelope[Paged[Alarm]], alarms)


@reads.get(
    "/api/v2/alarm/alarms/{id}",
    summary="Read an alarm",
    response_model=Envelope[AlarmDetail],
    responses=error_responses(400, 401, 403, 404, 500),
)
async def read_alarm(
    request: Request, alarm_id: Annotated[Long, Path(alias="id", description="Alarm id.", examples=[1])]
) -> Response:
    """Active or past."""
    context, service = context_of(request), service_of(request)
    fields = service.switches.record_fields
    alarm = alarm_serializers.alarm_by_id(service.store.db, alarm_id, context.now, fields)
    return context.reply(Envelope[AlarmDetail], alarm)
