# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The restart of the service itself: connections are reset, and refused for a while."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import Field
from starlette.responses import Response

from ocp_emulator.base.clock import DAY, SECOND
from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import ContentType, RequirePermission, error_responses, json_body
from ocp_emulator.schemas.envelope import EmptyEnvelope
from ocp_emulator.schemas.schema import Schema
from ocp_emulator.web.connection import connection_of
from ocp_emulator.web.parameters import json_object, parse_body
from ocp_emulator.web.request_context import context_of

router = APIRouter(prefix=CONTROL, tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))])

# Seconds of the machine.
_LONGEST_PAUSE = DAY // SECOND


class _Pause(Schema):
    seconds: Annotated[float, Field(ge=0, le=_LONGEST_PAUSE, strict=True)]


@router.post(
    "/service/restart",
    summary="Restart the service",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 415, 500),
    openapi_extra=json_body(
        {
            "type": "object",
            "required": ["seconds"],
            "properties": {"seconds": {"type": "number", "minimum": 0, "maximum": _LONGEST_PAUSE}},
        },
        {"seconds": 5},
    ),
)
async def restart_service(request: Request, content_type: ContentType = None) -> Response:
    """All other connections are reset, and new ones are refused for this many seconds of the machine.

    Nothing is lost, not even a database in memory; tasks move on by the clock, as they do while no service runs.
    """
    context = context_of(request)
    body = parse_body(_Pause, json_object(context, content_type, required=True))
    connection_of(request).outage(body.seconds, reset=True)
    response = context.reply_empty()
    response.headers["Connection"] = "close"
    return response
