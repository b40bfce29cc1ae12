# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Stop, start, advance or speed up the emulator's clock, and how far it goes."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import Field, model_validator
from starlette.responses import Response

from ocp_emulator.base import errors
from ocp_emulator.base.clock import DAY, SECOND
from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.base.time_format import iso
from ocp_emulator.control_api.control_schemas import ClockState
from ocp_emulator.ocp_api.dependencies import ContentType, RequirePermission, error_responses, json_body
from ocp_emulator.schemas.envelope import Envelope
from ocp_emulator.schemas.schema import Schema
from ocp_emulator.service import service_of
from ocp_emulator.store.controllable_clock import FASTEST, SLOWEST
from ocp_emulator.web.parameters import json_object, parse_body
from ocp_emulator.web.request_context import RequestContext, context_of

router = APIRouter(prefix=CONTROL, tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))])

_FURTHEST = 3_650 * DAY // SECOND

# Times have four digits for the year. Even the longest timeout ends before this.
_END_OF_TIME = 8_000 * 365 * DAY


class ClockChange(Schema):
    running: Annotated[bool, Field(strict=True)] | None = None
    speed: Annotated[float, Field(ge=SLOWEST, le=FASTEST, strict=True)] | None = None

    @model_validator(mode="after")
    def _check_that_there_is_one(self) -> "ClockChange":
        if self.running is None and self.speed is None:
            raise ValueError("it needs running or speed")
        return self


class _Advance(Schema):
    seconds: Annotated[float, Field(ge=0, le=_FURTHEST, strict=True)]


@router.get(
    "/clock", summary="Read the clock", response_model=Envelope[ClockState], responses=error_responses(401, 403, 500)
)
async def read_clock(request: Request) -> Response:
    """The time that drives tasks. Signed calls are checked by the clock of the machine."""
    return _clock(request, context_of(request))


@router.put(
    "/clock",
    summary="Stop the clock, let it run, or speed it up",
    response_model=Envelope[ClockState],
    responses=error_responses(400, 401, 403, 415, 500),
    openapi_extra=json_body({**ClockChange.model_json_schema(by_alias=True), "minProperties": 1}, {"speed": 60}),
)
async def set_clock(request: Request, content_type: ContentType = None) -> Response:
    """A stopped clock moves only by advances. With a speed of 60, an hour takes a minute.

    Both survive a restart of the emulator.
    """
    context, clock = context_of(request), service_of(request).clock
    body = parse_body(ClockChange, json_object(context, content_type, required=True))
    if body.speed is not None:
        clock.set_speed(body.speed)
    if body.running is not None:
        clock.set_running(body.running)
    return _clock(request, context)


@router.post(
    "/clock/advance",
    summary="Advance the clock",
    response_model=Envelope[ClockState],
    responses=error_responses(400, 401, 403, 415, 500),
    openapi_extra=json_body(
        {
            "type": "object",
            "required": ["seconds"],
            "properties": {"seconds": {"type": "number", "minimum": 0, "maximum": _FURTHEST}},
        },
        {"seconds": 60},
    ),
)
async def advance_clock(request: Request, content_type: ContentType = None) -> Response:
    """When this is answered, tasks have moved on by this much. The clock cannot go back."""
    context, service = context_of(request), service_of(request)
    body = parse_body(_Advance, json_object(context, content_type, required=True))
    milliseconds = round(body.seconds * SECOND)
    if service.clock.now() + milliseconds > _END_OF_TIME:
        raise errors.illegal_argument(f"The clock cannot go beyond {iso(_END_OF_TIME)}.")
    service.clock.advance(milliseconds)
    service.catch_up(service.held.until(service.clock.now()))
    return _clock(request, context)


def _clock(request: Request, context: RequestContext) -> Response:
    clock = service_of(request).clock
    state = ClockState(time=iso(clock.now()), running=clock.running, speed=clock.speed)
    return context.reply(Envelope[ClockState], state)
