# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The values that each server really runs with, whatever the service shows, and how to plant others."""

import sqlite3
from collections.abc import Container

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from ocp_emulator.base import errors
from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api import control_serializers
from ocp_emulator.control_api.control_schemas import ServerParameters
from ocp_emulator.control_api.planting_schemas import ParameterValues
from ocp_emulator.fleet.ob_parameters import BY_NAME
from ocp_emulator.fleet.obproxy_parameters import OBPROXY_PARAMETERS
from ocp_emulator.ocp_api.dependencies import (
    ContentType,
    ObProxyId,
    RequirePermission,
    ServerId,
    error_responses,
    json_body,
)
from ocp_emulator.schemas.envelope import EmptyEnvelope, Envelope, Listed
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import json_object, parse_body
from ocp_emulator.web.request_context import context_of

router = APIRouter(prefix=CONTROL, tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))])


@router.get(
    "/parameters",
    summary="Tell what each server runs with",
    response_model=Envelope[Listed[ServerParameters]],
    responses=error_responses(401, 403, 500),
)
async def list_server_parameters(request: Request) -> Response:
    """The values it runs with, the values that were set, and how often its process was started, by anybody."""
    servers = control_serializers.server_parameters(service_of(request).store.db)
    return context_of(request).reply(Envelope[Listed[ServerParameters]], servers)


@router.put(
    "/servers/{serverId}/parameters",
    summary="Set values of parameters on a server",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(ParameterValues.model_json_schema(by_alias=True), {"parameters": {"stack_size": "2M"}}),
)
async def plant_parameters(request: Request, server_id: ServerId, content_type: ContentType = None) -> Response:
    """The server runs with these values immediately. The set value of a static parameter stays, for its next start."""
    context, service = context_of(request), service_of(request)
    values = _values(request, content_type, BY_NAME)
    with service.store.transaction() as db:
        if db.execute("SELECT 1 FROM servers WHERE id = ?", (server_id,)).fetchone() is None:
            raise errors.not_found(f"Server {server_id}")
        for name, value in values.items():
            _plant(db, server_id, name, value)
    return context.reply_empty()


@router.put(
    "/obproxies/{id}/parameters",
    summary="Set values of parameters on an OBProxy",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(
        ParameterValues.model_json_schema(by_alias=True), {"parameters": {"net_accept_threads": "4"}}
    ),
)
async def plant_obproxy_parameters(
    request: Request, obproxy_id: ObProxyId, content_type: ContentType = None
) -> Response:
    """The service shows these values of it from now on."""
    context, service = context_of(request), service_of(request)
    values = _values(request, content_type, OBPROXY_PARAMETERS)
    with service.store.transaction() as db:
        if db.execute("SELECT 1 FROM obproxies WHERE id = ?", (obproxy_id,)).fetchone() is None:
            raise errors.not_found(f"OBProxy {obproxy_id}")
        db.executemany(
            "UPDATE obproxy_parameters SET value = ? WHERE obproxy_id = ? AND name = ?",
            [(value, obproxy_id, name) for name, value in values.items()],
        )
    return context.reply_empty()


def _values(request: Request, content_type: str | None, known: Container[str]) -> dict[str, str]:
    """The values in the body. ApiError 400 for an unknown name."""
    body = parse_body(ParameterValues, json_object(context_of(request), content_type, required=True))
    for name in body.parameters:
        if name not in known:
            raise errors.bad_request(f"There is no parameter '{name}'.")
    return body.parameters


def _plant(db: sqlite3.Connection, server_id: int, name: str, value: str) -> None:
    changes = "value = :value" if BY_NAME[name].static else "value = :value, set_value = :value, start_value = :value"
    db.execute(
        f"UPDATE parameters SET {changes} WHERE server_id = :server AND name = :name",
        {"value": value, "server": server_id, "name": name},
    )
