# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Plant risks that inspections find, and clear them."""

import sqlite3
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import Response

from ocp_emulator.base import errors
from ocp_emulator.base.paths import CONTROL
from ocp_emulator.base.permissions import Permission
from ocp_emulator.control_api.planting_schemas import PlantedRisk, RiskId
from ocp_emulator.ocp_api.dependencies import ContentType, RequirePermission, error_responses, json_body
from ocp_emulator.schemas.envelope import EmptyEnvelope, Envelope
from ocp_emulator.service import service_of
from ocp_emulator.tasks import inspections
from ocp_emulator.tasks.inspections import Risk
from ocp_emulator.web.parameters import Long, json_object, parse_body
from ocp_emulator.web.request_context import context_of

router = APIRouter(prefix=CONTROL, tags=["Emulator"], dependencies=[Depends(RequirePermission(Permission.ADMIN))])

RiskIdParam = Annotated[Long, Path(alias="riskId", description="Risk id.", examples=[1])]


@router.post(
    "/inspection-risks",
    summary="Plant a risk that inspections find",
    response_model=Envelope[RiskId],
    responses=error_responses(400, 401, 403, 404, 415, 500),
    openapi_extra=json_body(
        PlantedRisk.model_json_schema(by_alias=True),
        {"cluster": "orders", "item": "data_disk_usage", "level": "HIGH", "target": "10.0.0.1:2882", "value": "97"},
    ),
)
async def plant_risk(request: Request, content_type: ContentType = None) -> Response:
    """Reports of inspections that succeed from now on have it, until it is cleared; earlier ones stay as they are."""
    context, service = context_of(request), service_of(request)
    body = parse_body(PlantedRisk, json_object(context, content_type, required=True))
    risk = Risk(body.item, body.level, body.target or body.cluster, body.value)
    with service.store.transaction() as db:
        risk_id = inspections.plant_risk(db, _cluster_id(db, body.cluster), risk)
    return context.reply(Envelope[RiskId], RiskId(id=risk_id))


@router.delete(
    "/inspection-risks",
    summary="Clear all risks",
    response_model=EmptyEnvelope,
    responses=error_responses(401, 403, 500),
)
async def clear_risks(request: Request) -> Response:
    """Reports that have them keep them."""
    return _clear(request, None)


@router.delete(
    "/inspection-risks/{riskId}",
    summary="Clear a risk",
    response_model=EmptyEnvelope,
    responses=error_responses(400, 401, 403, 404, 500),
)
async def clear_risk(request: Request, risk_id: RiskIdParam) -> Response:
    """Reports that have it keep it."""
    return _clear(request, risk_id)


def _clear(request: Request, risk_id: int | None) -> Response:
    with service_of(request).store.transaction() as db:
        inspections.clear_risks(db, risk_id)
    return context_of(request).reply_empty()


def _cluster_id(db: sqlite3.Connection, name: str) -> int:
    row = db.execute("SELECT id FROM clusters WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise errors.not_found(f"Cluster {name}")
    return int(row["id"])
