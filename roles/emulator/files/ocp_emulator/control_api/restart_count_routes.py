# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How often each target was really restarted."""

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api import control_serializers
from ocp_emulator.control_api.control_schemas import RestartCount
from ocp_emulator.ocp_api.dependencies import RequirePermission, error_responses
from ocp_emulator.schemas.envelope import Envelope, Listed
from ocp_emulator.service import service_of
from ocp_emulator.web.request_context import context_of

router = APIRouter(prefix=CONTROL, tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))])


@router.get(
    "/restarts",
    summary="Count restarts",
    response_model=Envelope[Listed[RestartCount]],
    responses=error_responses(401, 403, 500),
)
async def count_restarts(request: Request) -> Response:
    """What start steps have started, and how often; only targets that one has started are listed.

    The restart of a cluster counts for the cluster, its zones and its servers. A start by a rollback is not counted.
    """
    return context_of(request).reply(
        Envelope[Listed[RestartCount]], control_serializers.restart_list(service_of(request).store.db)
    )
