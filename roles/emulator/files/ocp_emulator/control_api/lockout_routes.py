# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""List and end the lock-outs after wrong passwords."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import Response

from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api import control_serializers
from ocp_emulator.control_api.control_schemas import Lockout
from ocp_emulator.ocp_api.dependencies import RequirePermission, error_responses
from ocp_emulator.schemas.envelope import EmptyEnvelope, Envelope, Listed
from ocp_emulator.security import lockout
from ocp_emulator.service import service_of
from ocp_emulator.web.request_context import context_of

router = APIRouter(
    prefix=f"{CONTROL}/lockouts", tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))]
)

Name = Annotated[str, Path(description="Name of a user, or address of a client.", examples=["viewer"])]


@router.get(
    "", summary="List lock-outs", response_model=Envelope[Listed[Lockout]], responses=error_responses(401, 403, 500)
)
async def list_lockouts(request: Request) -> Response:
    """Users and client addresses whose wrong passwords have locked them, and until when."""
    context = context_of(request)
    return context.reply(
        Envelope[Listed[Lockout]], control_serializers.lockout_list(service_of(request).store.db, context.now)
    )


@router.delete("", summary="Unlock all", response_model=EmptyEnvelope, responses=error_responses(401, 403, 500))
async def unlock_all(request: Request) -> Response:
    """Wrong passwords are counted from zero again."""
    return _unlock(request, None)


@router.delete(
    "/{name}",
    summary="Unlock a user or a client",
    response_model=EmptyEnvelope,
    responses=error_responses(401, 403, 404, 500),
)
async def unlock_one(request: Request, name: Name) -> Response:
    """Its wrong passwords are counted from zero again."""
    return _unlock(request, name)


def _unlock(request: Request, name: str | None) -> Response:
    context = context_of(request)
    with service_of(request).store.transaction() as db:
        lockout.unlock(db, context.now, name)
    return context.reply_empty()
