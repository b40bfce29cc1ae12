# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Read and change how long the steps of new tasks take."""

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.ocp_api.dependencies import ContentType, RequirePermission, error_responses, json_body
from ocp_emulator.schemas.envelope import Envelope
from ocp_emulator.service import service_of
from ocp_emulator.tasks import durations
from ocp_emulator.tasks.durations import Durations
from ocp_emulator.web.parameters import json_object, parse_body
from ocp_emulator.web.request_context import context_of

router = APIRouter(
    prefix=f"{CONTROL}/durations", tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))]
)


@router.get(
    "",
    summary="Read how long steps take",
    response_model=Envelope[Durations],
    responses=error_responses(401, 403, 500),
)
async def read_durations(request: Request) -> Response:
    """Those of new tasks."""
    return _reply(request, durations.kept(service_of(request).store.db))


@router.put(
    "",
    summary="Set how long steps take",
    response_model=Envelope[Durations],
    responses=error_responses(400, 401, 403, 415, 500),
    openapi_extra=json_body(
        Durations.model_json_schema(by_alias=True),
        {"tasks": {"Restart OB server": 1200}, "subtasks": {"Start observer process": 60}, "jitter": 0.2, "seed": 1},
    ),
)
async def set_durations(request: Request, content_type: ContentType = None) -> Response:
    """For tasks that begin from now on, until a reset. A field that is left out stays as it is."""
    context, service = context_of(request), service_of(request)
    given = parse_body(Durations, json_object(context, content_type, required=True))
    with service.store.transaction() as db:
        changes = {name: getattr(given, name) for name in given.model_fields_set}
        changed = durations.kept(db).model_copy(update=changes)
        durations.keep(db, changed)
    return _reply(request, changed)


def _reply(request: Request, shown: Durations) -> Response:
    return context_of(request).reply(Envelope[Durations], Durations.model_validate(shown.model_dump()))
