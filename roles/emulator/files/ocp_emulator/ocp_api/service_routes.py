# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The routes of the service's time, status and version.

The form of the status below /api/v2 is our choice, and that of a time in an envelope.

See docs/dev/contract.md, "Versions and profiles".
"""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import PlainTextResponse, Response

from ocp_emulator import VERSION
from ocp_emulator.base.compatibility import RecordFields, TimeAnswer
from ocp_emulator.base.paths import TIME
from ocp_emulator.base.time_format import iso
from ocp_emulator.ocp_api.dependencies import error_responses
from ocp_emulator.schemas.envelope import Envelope
from ocp_emulator.schemas.schema import Schema, Timestamp, absent
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import Flag
from ocp_emulator.web.request_context import context_of, json_response

router = APIRouter(tags=["Service"])

_BUILT = "2026-11-21T12:00:00+08:00"
# Shown instead of the versions of Java and Spring, which the emulator does not have.
_NONE = "0"
_FIELDS: Mapping[RecordFields, dict[str, str]] = {
    "newest": {"edition": "EMULATOR"},
    "older": {"name": "ocp-emulator", "build_java_version": _NONE, "spring_boot_version": _NONE},
}


class Info(Schema):
    """What is running here; the one answer that is not enveloped (docs/dev/contract.md, "Versions and profiles")."""

    artifact: str
    build_time: Timestamp
    build_version: str
    edition: str = absent()
    group: str
    name: str = absent()
    build_java_version: str = absent()
    spring_boot_version: str = absent()


def times(form: TimeAnswer) -> APIRouter:
    """The router of the time of a service that answers in this form."""
    time = APIRouter(tags=["Service"])
    if form == "text":
        time.add_api_route(TIME, _tell_time, summary="Read the time", response_class=PlainTextResponse)
    else:
        time.add_api_route(
            TIME, read_time, summary="Read the time", response_model=Envelope[str], responses=error_responses(500)
        )
    return time


async def read_time(request: Request) -> Response:
    """The time of the service. Needs no credentials."""
    context = context_of(request)
    return context.reply(Envelope[str], iso(context.shown_now()))


async def _tell_time(request: Request) -> Response:
    """The time of the service as text, without an envelope. Needs no credentials."""
    return PlainTextResponse(iso(context_of(request).shown_now()))


@router.get(
    "/api/status",
    summary="Read the health",
    response_class=PlainTextResponse,
    responses=error_responses(400, 401, 500),
)
async def read_health(
    _request: Request,
    _names: Annotated[Flag, Query(alias="includeUnavailableComponent", description="Nothing here is down.")] = False,
) -> Response:
    """The word `okay`, without an envelope."""
    return PlainTextResponse("okay")


@router.get("/api/v2/status", summary="Read the status", response_model=Envelope[str], responses=error_responses(500))
async def read_status(request: Request) -> Response:
    """That the service is up. Needs no credentials."""
    return context_of(request).reply(Envelope[str], "UP")


@router.get("/api/v2/info", summary="Read the version", response_model=Info, responses=error_responses(401, 500))
async def read_info(request: Request) -> Response:
    """What runs here; the one answer without an envelope."""
    switches = service_of(request).switches
    return json_response(
        Info(
            artifact="ocp-emulator",
            build_time=_BUILT,
            build_version=f"{switches.reported_version}-emulator-{VERSION}",
            group="oceanbase.ocp",
            **_FIELDS[switches.record_fields],
        )
    )
