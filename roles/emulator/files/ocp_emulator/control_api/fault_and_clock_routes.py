# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The control API: nothing of the service, but of the emulator, to break things on purpose and to look behind."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Request
from pydantic import Field
from starlette.responses import Response

from ocp_emulator.base import errors
from ocp_emulator.base.clock import DAY, SECOND, iso
from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api import control_serializers
from ocp_emulator.control_api.control_schemas import ClockState, Fault, RestartCount
from ocp_emulator.faults import fault_plan
from ocp_emulator.faults.fault_kinds import FaultError, fault_of
from ocp_emulator.ocp_api.dependencies import Needs, refusals
from ocp_emulator.schemas.envelope import EmptyEnvelope, Envelope, Listed
from ocp_emulator.schemas.schema import Form
from ocp_emulator.service import service_of
from ocp_emulator.web.network import connection_of
from ocp_emulator.web.parameters import Long, form_of, json_object, misfit
from ocp_emulator.web.request_context import Call, call_of

router = APIRouter(prefix=CONTROL, tags=["Emulator"], dependencies=[Depends(Needs(Permission.ADMIN))])

_FURTHEST = 3_650 * DAY // SECOND

# Of a restart of the service, in seconds of the machine.
_LONGEST_PAUSE = DAY // SECOND

# Times are written with four digits for the year; so far even the longest time-out ends before.
_END_OF_TIME = 8_000 * 365 * DAY

FaultId = Annotated[Long, Path(alias="faultId", description="Fault id.")]
ContentType = Annotated[str | None, Header(include_in_schema=False)]


class _Running(Form):
    running: Annotated[bool, Field(strict=True)]


class _Pause(Form):
    seconds: Annotated[float, Field(ge=0, le=_LONGEST_PAUSE, strict=True)]


class _Advance(Form):
    seconds: Annotated[float, Field(ge=0, le=_FURTHEST, strict=True)]


def _body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


# --- Faults -------------------------------------------------------------------------------------------------------


@router.post(
    "/faults",
    summary="Plan a fault",
    response_model=Envelope[Fault],
    responses=refusals(400, 401, 403, 415, 500),
    openapi_extra=_body(
        {"oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("SubtaskFault", "HttpFault")]}
    ),
)
async def plan_fault(request: Request, content_type: ContentType = None) -> Response:
    """Let something go wrong from now on; of several faults that fit the first one hits. It survives a restart."""
    call, service = call_of(request), service_of(request)
    try:
        fault = fault_of(json_object(call, content_type, required=True))
    except FaultError as error:
        raise misfit(error.key, error.reason) from None
    with service.store.transaction() as db:
        fault_id = fault_plan.add(db, fault, call.now)
    return call.reply(Envelope[Fault], control_serializers.fault_detail(service.store.db, fault_id))


@router.get(
    "/faults",
    summary="Read the plan of faults",
    response_model=Envelope[Listed[Fault]],
    responses=refusals(401, 403, 500),
)
async def list_faults(request: Request) -> Response:
    """All of them, used up or not."""
    return call_of(request).reply(Envelope[Listed[Fault]], control_serializers.fault_list(service_of(request).store.db))


@router.delete(
    "/faults",
    summary="Take back all faults",
    response_model=EmptyEnvelope,
    responses=refusals(401, 403, 500),
)
async def remove_faults(request: Request) -> Response:
    """What they have done already stays done, and so does what they will do to a subtask that is RUNNING."""
    with service_of(request).store.transaction() as db:
        fault_plan.remove(db, None)
    return call_of(request).done()


@router.delete(
    "/faults/{faultId}",
    summary="Take back a fault",
    response_model=EmptyEnvelope,
    responses=refusals(400, 401, 403, 404, 500),
)
async def remove_fault(request: Request, fault_id: FaultId) -> Response:
    """What it has done already stays done, and so does what it will do to a subtask that is RUNNING."""
    with service_of(request).store.transaction() as db:
        fault_plan.remove(db, fault_id)
    return call_of(request).done()


# --- Clock --------------------------------------------------------------------------------------------------------


@router.get("/clock", summary="Read the clock", response_model=Envelope[ClockState], responses=refusals(401, 403, 500))
async def read_clock(request: Request) -> Response:
    """The time by which tasks move on. Signed calls are checked by the clock of the machine."""
    return _clock(request, call_of(request))


@router.put(
    "/clock",
    summary="Stop the clock or let it run",
    response_model=Envelope[ClockState],
    responses=refusals(400, 401, 403, 415, 500),
    openapi_extra=_body(
        {"type": "object", "required": ["running"], "properties": {"running": {"type": "boolean"}}},
    ),
)
async def set_clock(request: Request, content_type: ContentType = None) -> Response:
    """A clock that is stopped moves by advances only; it stays so when the emulator is started again."""
    call = call_of(request)
    wanted = form_of(_Running, json_object(call, content_type, required=True))
    service_of(request).clock.let_run(wanted.running)
    return _clock(request, call)


@router.post(
    "/clock/advance",
    summary="Advance the clock",
    response_model=Envelope[ClockState],
    responses=refusals(400, 401, 403, 415, 500),
    openapi_extra=_body(
        {
            "type": "object",
            "required": ["seconds"],
            "properties": {"seconds": {"type": "number", "minimum": 0, "maximum": _FURTHEST}},
        }
    ),
)
async def advance_clock(request: Request, content_type: ContentType = None) -> Response:
    """Tasks have moved on by so much when this is answered. There is no way back."""
    call, service = call_of(request), service_of(request)
    wanted = form_of(_Advance, json_object(call, content_type, required=True))
    milliseconds = round(wanted.seconds * SECOND)
    if service.clock.now() + milliseconds > _END_OF_TIME:
        raise errors.illegal_argument(f"The clock cannot go beyond {iso(_END_OF_TIME)}.")
    service.clock.advance(milliseconds)
    service.engine.advance(service.clock.now())
    return _clock(request, call)


def _clock(request: Request, call: Call) -> Response:
    clock = service_of(request).clock
    return call.reply(Envelope[ClockState], ClockState(time=iso(clock.now()), running=clock.running))


# --- The service itself -------------------------------------------------------------------------------------------


@router.post(
    "/service/restart",
    summary="Restart the service",
    response_model=EmptyEnvelope,
    responses=refusals(400, 401, 403, 415, 500),
    openapi_extra=_body(
        {
            "type": "object",
            "required": ["seconds"],
            "properties": {"seconds": {"type": "number", "minimum": 0, "maximum": _LONGEST_PAUSE}},
        }
    ),
)
async def restart_service(request: Request, content_type: ContentType = None) -> Response:
    """All other connections are reset, and new ones are refused for so many seconds of the machine.

    Nothing is lost, not even a database in memory; tasks move on by the clock, as they do while no service runs.
    """
    call = call_of(request)
    wanted = form_of(_Pause, json_object(call, content_type, required=True))
    connection_of(request).outage(wanted.seconds, reset=True)
    response = call.done()
    response.headers["Connection"] = "close"
    return response


# --- Restarts -----------------------------------------------------------------------------------------------------


@router.get(
    "/restarts",
    summary="Count restarts",
    response_model=Envelope[Listed[RestartCount]],
    responses=refusals(401, 403, 500),
)
async def count_restarts(request: Request) -> Response:
    """What start steps have started, and how often; a target that none has started is not there.

    The restart of a cluster counts for the cluster, its zones and its servers. What a rollback starts again is not
    counted.
    """
    return call_of(request).reply(
        Envelope[Listed[RestartCount]], control_serializers.restart_list(service_of(request).store.db)
    )
