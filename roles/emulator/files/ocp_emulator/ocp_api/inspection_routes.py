# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The routes of inspections: run one, and read reports.

They need credentials and no permission, as documented. Of the documented objects, clusters alone are inspected here.

See docs/dev/contract.md, "Inspections".
"""

from typing import Annotated, Any, get_args

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from ocp_emulator.base import errors
from ocp_emulator.fleet.inspection_items import SCENARIOS
from ocp_emulator.ocp_api.dependencies import error_responses
from ocp_emulator.ocp_api.query_or_body import openapi_of, values_of
from ocp_emulator.schemas.envelope import Envelope, Listed
from ocp_emulator.schemas.inspection_schemas import (
    InspectionObjectType,
    InspectionReport,
    InspectionReportAggrInfo,
    InspectionTask,
)
from ocp_emulator.serializers import inspection_serializers, restart_serializers
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import Long, Scenario
from ocp_emulator.web.request_context import context_of

router = APIRouter(tags=["Inspections"])

_OBJECT_TYPES: tuple[str, ...] = get_args(InspectionObjectType)
# The OpenAPI document has what is served alone.
_SERVED = ["OB_CLUSTER"]
_UNSERVED = "The other documented types are answered with 501."
_PARAMETERS: dict[str, dict[str, Any]] = {
    "inspectionObjectType": {"enum": _SERVED, "description": _UNSERVED},
    "objectIds": {
        "type": "array",
        "items": {"type": "integer", "format": "int64"},
        "minItems": 1,
        "description": "Cluster ids; in the query by comma, or repeated.",
    },
    "tags": {"enum": list(SCENARIOS), "description": "1 basic, 2 performance, 3 in-depth, 4 installation inspection."},
}
_EXAMPLE = {"inspectionObjectType": "OB_CLUSTER", "objectIds": [1], "tags": 1}


@router.post(
    "/api/v2/inspection/run",
    summary="Run an inspection",
    response_model=Envelope[Listed[InspectionTask]],
    responses=error_responses(400, 401, 404, 415, 500, 501),
    openapi_extra=openapi_of(_PARAMETERS, "either", list(_PARAMETERS), _EXAMPLE),
)
async def run_inspection(request: Request) -> Response:
    """One task for all objects, with a report for each. All three parameters are required."""
    context, service, values = context_of(request), service_of(request), values_of(request, "either")
    object_type = values.required("inspectionObjectType", values.name("inspectionObjectType", _OBJECT_TYPES))
    cluster_ids = values.required("objectIds", values.longs("objectIds"))
    tag = values.required("tags", values.long("tags"))
    _refuse_unserved("inspectionObjectType", object_type)
    if tag not in SCENARIOS:
        raise errors.illegal_argument(f"The parameter 'tags' is {tag}: it is one of {', '.join(map(str, SCENARIOS))}.")
    task_id = service.submitter.inspect_clusters(context.require_caller().user, context.now, cluster_ids, tag)
    context.task_id = task_id
    tasks = [restart_serializers.inspection_task(service.store.db, task_id)]
    return context.reply(Envelope[Listed[InspectionTask]], Listed[InspectionTask](contents=tasks))


# Before the reports by their ids, which would take the path too.
@router.get(
    "/api/v2/inspection/report/info",
    summary="Read the last inspection result of each object",
    response_model=Envelope[Listed[InspectionReportAggrInfo]],
    responses=error_responses(400, 401, 404, 500, 501),
)
async def read_last_results(
    request: Request,
    tag_id: Annotated[
        Scenario,
        Query(alias="tagId", description="1 basic, 2 performance, 3 in-depth, 4 installation.", examples=[1]),
    ],
    object_type: Annotated[
        InspectionObjectType,
        Query(alias="objectType", description=_UNSERVED, examples=["OB_CLUSTER"], json_schema_extra={"enum": _SERVED}),
    ],
    object_id: Annotated[Long | None, Query(alias="objectId", description="Cluster id.")] = None,
) -> Response:
    """An inspection that runs is the last one too; it has no results and no end yet."""
    _refuse_unserved("objectType", object_type)
    found = inspection_serializers.last_results(service_of(request).store.db, tag_id, object_id)
    return context_of(request).reply(Envelope[Listed[InspectionReportAggrInfo]], found)


@router.get(
    "/api/v2/inspection/report/{id}",
    summary="Read an inspection report",
    response_model=Envelope[InspectionReport],
    responses=error_responses(400, 401, 404, 500),
)
async def read_report(
    request: Request, report_id: Annotated[Long, Path(alias="id", description="Report id.", examples=[1])]
) -> Response:
    """Of an inspection that runs or has ended; it has results once its task has succeeded."""
    found = inspection_serializers.inspection_report(service_of(request).store.db, report_id)
    return context_of(request).reply(Envelope[InspectionReport], found)


def _refuse_unserved(parameter: str, object_type: str) -> None:
    if object_type not in _SERVED:
        raise errors.value_not_implemented(parameter, object_type)
