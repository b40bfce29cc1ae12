# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Set the emulator back to its start, or to a named snapshot."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import Response

from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.base.time_format import iso
from ocp_emulator.control_api.control_schemas import SnapshotRecord
from ocp_emulator.ocp_api.dependencies import RequirePermission, error_responses
from ocp_emulator.schemas.envelope import EmptyEnvelope, Envelope, Listed
from ocp_emulator.service import service_of
from ocp_emulator.web.request_context import context_of

router = APIRouter(prefix=CONTROL, tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))])

Name = Annotated[str, Path(pattern=r"^[A-Za-z0-9._-]{1,100}$", description="Name of a snapshot.", examples=["before"])]


@router.post(
    "/reset",
    summary="Set all back to the start",
    response_model=EmptyEnvelope,
    responses=error_responses(401, 403, 500),
)
async def reset(request: Request) -> Response:
    """Fleet, tasks, faults, clock and list of requests are as when the process began. Snapshots stay."""
    service_of(request).go_back(None)
    return context_of(request).reply_empty()


@router.get(
    "/snapshots",
    summary="List snapshots",
    response_model=Envelope[Listed[SnapshotRecord]],
    responses=error_responses(401, 403, 500),
)
async def list_snapshots(request: Request) -> Response:
    """Oldest first."""
    found = service_of(request).snapshots.all()
    contents = [SnapshotRecord(name=name, time=iso(each.at)) for name, each in found.items()]
    return context_of(request).reply(Envelope[Listed[SnapshotRecord]], Listed[SnapshotRecord](contents=contents))


@router.put(
    "/snapshots/{name}",
    summary="Take a snapshot",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 500),
)
async def take_snapshot(request: Request, name: Name) -> Response:
    """In memory, of fleet, tasks, faults and clock. One of the same name is replaced."""
    context = context_of(request)
    service_of(request).snapshots.take(name, context.now)
    return context.reply_empty()


@router.post(
    "/snapshots/{name}/restore",
    summary="Go back to a snapshot",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 500),
)
async def restore_snapshot(request: Request, name: Name) -> Response:
    """The clock goes back too. The list of requests is empty then."""
    service = service_of(request)
    service.go_back(service.snapshots.find(name))
    return context_of(request).reply_empty()


@router.delete(
    "/snapshots/{name}",
    summary="Forget a snapshot",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 500),
)
async def forget_snapshot(request: Request, name: Name) -> Response:
    """What was restored from it stays."""
    service_of(request).snapshots.remove(name)
    return context_of(request).reply_empty()
