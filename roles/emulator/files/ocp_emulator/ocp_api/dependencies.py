# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What routes share: the permission that each requires, path and paging parameters, documented errors."""

from typing import Annotated, Any

from fastapi import Header, Path, Query, Request

from ocp_emulator.base import errors, permissions
from ocp_emulator.base.permissions import Permission
from ocp_emulator.schemas.envelope import ErrorEnvelope
from ocp_emulator.serializers.paging import PageRequest
from ocp_emulator.web.parameters import LARGEST_PAGE, Long, PageNumber, PageSize, Sort
from ocp_emulator.web.request_context import context_of

_ERROR_DESCRIPTIONS = {
    400: "A parameter or the body is missing or invalid.",
    401: "No credentials, or wrong ones, or a caller who is locked.",
    403: "The caller lacks the permission.",
    404: "The target does not exist.",
    409: "The target is occupied by another task.",
    415: "The body is not application/json.",
    500: "The emulator failed.",
    501: "The emulator does not have this documented parameter, or this value of it.",
}

_DIRECTIONS = ("asc", "desc")
_WHOLE = {"schema": {"type": "integer"}}


def size_description(largest: int, default: int) -> str:
    """What the OpenAPI document says of the size of a page."""
    return f"Elements a page; a size above {largest} is {largest}, one below 1, or no number, is {default}."


# Every call of the service can have this response; with a rate limit, the headers are on all responses.
RATE_LIMITED: dict[str, Any] = {
    "description": "The caller has used up the calls of the current time window.",
    "headers": {
        "RateLimit-Limit": {"description": "Calls that the window allows.", **_WHOLE},
        "RateLimit-Remaining": {"description": "Calls that are left.", **_WHOLE},
        "RateLimit-Reset": {"description": "Seconds until the window ends.", **_WHOLE},
    },
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorEnvelope"}}},
}

ClusterId = Annotated[Long, Path(alias="id", description="Cluster id.", examples=[1])]
ServerId = Annotated[Long, Path(alias="serverId", description="Server id.", examples=[1])]
ZoneName = Annotated[str, Path(alias="zoneName", examples=["zone1"])]
TenantId = Annotated[Long, Path(alias="tenantId", description="Tenant id.", examples=[5001])]
HostId = Annotated[Long, Path(alias="hostId", description="Host id.", examples=[1])]
ProcessId = Annotated[Long, Path(alias="agentProcessId", description="Process id.", examples=[1000000001])]
ServiceId = Annotated[Long, Path(alias="id", description="Arbitration service id.", examples=[1])]
ObProxyClusterId = Annotated[Long, Path(alias="id", description="OBProxy cluster id.", examples=[1])]
ObProxyId = Annotated[Long, Path(alias="id", description="OBProxy id.", examples=[1])]
TaskId = Annotated[Long, Path(alias="taskInstanceId", description="Task id.", examples=[1001])]
SubtaskId = Annotated[Long, Path(alias="subtaskInstanceId", description="Subtask id.", examples=[50001])]
PageParam = Annotated[PageNumber, Query(alias="page", description="Page, from 1; a lower one, or no number, is 1.")]
SizeParam = Annotated[PageSize, Query(description=size_description(LARGEST_PAGE, 10))]
TimeParam = Annotated[str | None, Query(json_schema_extra={"format": "date-time"})]
ContentType = Annotated[str | None, Header(include_in_schema=False)]
SortParam = Annotated[Sort, Query(alias="sort", description="A field and asc or desc, such as id,desc.")]


class RequirePermission:
    """A dependency: the caller needs this permission. Dependencies are checked before parameters, so 403 before 400."""

    def __init__(self, permission: Permission) -> None:
        """The OpenAPI document shows the permission too."""
        self.permission = permission

    async def __call__(self, request: Request) -> None:
        """ApiError 403 when the caller lacks the permission."""
        user = context_of(request).require_caller().user
        permissions.require(user.name, user.permissions, self.permission)


class Unserved:
    """A dependency: documented filters that the emulator does not have are an error. To ignore one would be a lie."""

    def __init__(self, *names: str) -> None:
        """Their names in the query."""
        self.names = names

    async def __call__(self, request: Request) -> None:
        """ApiError 501 when the request has one of them."""
        for name in self.names:
            if name in request.query_params:
                raise errors.not_implemented(name)


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error responses of a call in the OpenAPI document."""
    return {status: {"model": ErrorEnvelope, "description": _ERROR_DESCRIPTIONS[status]} for status in statuses}


def json_body(schema: dict[str, Any], example: object, *, required: bool = True) -> dict[str, Any]:
    """The body of a request in the OpenAPI document, for routes that read it themselves."""
    content = {"application/json": {"schema": schema, "example": example}}
    return {"requestBody": {"required": required, "content": content}}


def page_request(number: int, size: int, sort: str) -> PageRequest:
    """The page that the parameters request."""
    words = [word.strip() for word in sort.split(",")]
    directions = [word for word in words if len(words) > 1 and word.lower() in _DIRECTIONS]
    # A page of the documents has the direction first.
    keys = [word for word in words if word and word not in directions]
    return PageRequest(number, size, directions[:1] != [] and directions[0].lower() == "desc", *keys[:1])
