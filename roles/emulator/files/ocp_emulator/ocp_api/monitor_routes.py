# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The route that reads metrics: which samples are requested."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from ocp_emulator.base import errors
from ocp_emulator.ocp_api.dependencies import TimeParam, error_responses
from ocp_emulator.schemas.envelope import Envelope
from ocp_emulator.serializers import metric_serializers
from ocp_emulator.serializers.metric_serializers import LARGEST_POINTS, MetricRequest, Samples
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import Count, Whole, instant
from ocp_emulator.web.request_context import context_of

# The documents require a login, but no permission.
reads = APIRouter(tags=["Metrics"])


def _wanted(
    metrics: Annotated[str, Query(description="Names, by comma.", examples=["max_full_clog_sync_delay_second"])],
    labels: Annotated[str, Query(description="= may stand for the colon.", examples=["app:OB,ob_cluster_name:orders"])],
    interval: Annotated[Count, Query(description="Seconds between samples.", examples=[5])],
    group_by: Annotated[
        str,
        Query(alias="groupBy", description="Names of labels, by comma. All is one group here.", examples=["svr_ip"]),
    ],
    start: Annotated[TimeParam, Query(alias="startTime", examples=["2026-01-01T12:00:00Z"])] = None,
    end: Annotated[TimeParam, Query(alias="endTime", examples=["2026-01-01T12:05:00Z"])] = None,
    old_start: Annotated[TimeParam, Query(alias="start_time", description="As older versions name it.")] = None,
    old_end: Annotated[TimeParam, Query(alias="end_time", description="As older versions name it.")] = None,
    points: Annotated[Count, Query(alias="maxPoints")] = LARGEST_POINTS,
    step: Annotated[Whole, Query(alias="minStep", description="The least seconds between samples.")] = 0,
) -> MetricRequest:
    since, until = instant("startTime", start or old_start), instant("endTime", end or old_end)
    if since is None or until is None:
        raise errors.bad_request(f"The parameter '{'startTime' if since is None else 'endTime'}' is missing.")
    if not group_by:
        raise errors.illegal_argument("The parameter 'groupBy' is empty.")
    names = metrics.split(",")
    return MetricRequest(names, _labels(labels), since, until, max(interval, step), min(points, LARGEST_POINTS))


def _labels(text: str) -> Mapping[str, str]:
    pairs = (each.replace("=", ":", 1).partition(":") for each in text.split(","))
    return {name: value for name, _colon, value in pairs}


@reads.get(
    "/api/v2/monitor/metric",
    summary="Read metrics",
    response_model=Envelope[Samples],
    responses=error_responses(400, 401, 500),
)
async def read_metrics(request: Request, wanted: Annotated[MetricRequest, Depends(_wanted)]) -> Response:
    """The largest values of the servers that the labels choose, at instants that are multiples of the interval."""
    context, db = context_of(request), service_of(request).store.db
    known = metric_serializers.known_metrics(db)
    for name in wanted.metrics:
        if name not in known:
            raise errors.illegal_argument(
                f"The parameter 'metrics' has '{name}', which is not among: {', '.join(sorted(known))}."
            )
    found = metric_serializers.samples(db, wanted, context.now)
    return context.reply(Envelope[Samples], found)
