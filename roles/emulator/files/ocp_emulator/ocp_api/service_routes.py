# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The routes of the service's time, status and version.

The schemas of time and status are our choice.

See docs/dev/contract.md, "Versions and profiles".
"""

from collections.abc import Mapping

from fastapi import APIRouter, Request
from starlette.responses import Response

from ocp_emulator import VERSION
from ocp_emulator.base.compatibility import RecordFields
from ocp_emulator.base.time_format import iso
from ocp_emulator.ocp_api.dependencies import error_responses
from ocp_emulator.schemas.envelope import Envelope
from ocp_emulator.schemas.schema import Schema, Timestamp, absent
from ocp_emulator.service import service_of
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


@router.get("/api/v2/time", summary="Read the time", response_model=Envelope[str], responses=error_responses(500))
async def read_time(request: Request) -> Response:
    """The time of the service. Needs no credentials."""
    context = context_of(request)
    return context.reply(Envelope[str], iso(context.shown_now()))


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
