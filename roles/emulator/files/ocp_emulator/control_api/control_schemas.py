# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The schemas of the control API."""

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from ocp_emulator.faults.parse_fault import AnyFault
from ocp_emulator.schemas.schema import Long, Schema, Timestamp
from ocp_emulator.security.lockout import LockoutKind
from ocp_emulator.tasks.ledger import AbsentType


class Fault(Schema):
    """A fault of the plan, and how often it has hit so far."""

    id: Long
    fault: AnyFault
    hits: int
    create_time: Timestamp


class ClockState(Schema):
    """The time of the emulator, whether its clock runs, and how many times as fast as the machine's."""

    time: Timestamp
    running: bool
    speed: float


class RestartCount(Schema):
    """A target and how often a start step has started it."""

    object_type: Literal["OB_SERVER", "OB_ZONE", "OB_CLUSTER", "HOST", "ARBITRATION_SERVICE", "OBPROXY"]
    id: Long
    name: str
    restarts: int


class ParameterOfServer(Schema):
    """The value that a server runs with, null while it does not run, and the value that was set."""

    value: str | None
    set_value: str


class ServerParameters(Schema):
    """A server with all of its parameters by their names, and how often its process was started."""

    id: Long
    name: str
    cluster_id: Long
    cluster_name: str
    starts: int
    parameters: dict[str, ParameterOfServer]


class Lockout(Schema):
    """A locked user or client address, whose passwords are not checked."""

    kind: LockoutKind
    name: str
    since: Timestamp
    until: Timestamp


class Hit(Schema):
    """The fault that has hit a request."""

    id: Long
    action: str


class SeenRequest(Schema):
    """A request to the service.

    `body` is JSON without secrets, or the length of another body. `status` is null when no answer was sent, `user` when
    nobody was logged in, `milliseconds` while it lasts; `taskId` is the task that it has started.
    """

    id: Long
    time: Timestamp
    method: str
    path: str
    query: str
    body: JsonValue
    user: str | None
    status: int | None
    milliseconds: float | None
    trace_id: str
    fault: Hit | None
    task_id: Long | None


class RequestCount(Schema):
    """How many requests match."""

    count: int


class SnapshotRecord(Schema):
    """A snapshot, and the time of the emulator's clock that it shows."""

    name: str
    time: Timestamp


class IndexedCall(Schema):
    """A call of the control API."""

    method: str
    path: str
    summary: str


class Index(Schema):
    """What runs here, and what can be done with it."""

    version: str
    openapi: str
    docs: str
    switches: dict[str, str]
    calls: list[IndexedCall]


class Availability(Schema):
    """Whether a server answers, and to which zone of its cluster it moves."""

    available: Annotated[bool, Field(strict=True)]
    zone: Annotated[str, Field(strict=True, min_length=1)] | None = None


class Process(Schema):
    """Whether the process of a server runs."""

    running: Annotated[bool, Field(strict=True)]


def _written_as(name: str) -> Any:
    """A field whose name is not valid in Python."""
    return Field(serialization_alias=name, alias_priority=2)


class Absence(Schema):
    """A time in which a server or an arbitration service did not serve, or log streams of a tenant were degraded.

    `to` is null while it lasts; the task that caused it and its user are null for an incident.
    """

    object_type: AbsentType
    id: Long
    name: str
    cluster_name: str | None
    zone_name: str | None
    since: Timestamp = _written_as("from")
    until: Timestamp | None = _written_as("to")
    cause: Literal["task", "incident"]
    task_id: Long | None
    task_name: str | None
    user: str | None


class Outage(Schema):
    """A time in which a tenant had fewer voters than it needs; `to` is null while it lasts.

    `needed` and `remaining` are from its worst moment; `down` is everything that was down then.
    """

    cluster_id: Long
    cluster_name: str
    tenant_id: Long
    tenant_name: str
    since: Timestamp = _written_as("from")
    until: Timestamp | None = _written_as("to")
    voters: int
    needed: int
    remaining: int
    down: list[Absence]


class LeaderMoves(Schema):
    """How often the leaders of a tenant moved to another zone, and the zones in which they were one after another."""

    cluster_id: Long
    cluster_name: str
    tenant_id: Long
    tenant_name: str
    primary_zone: str
    moves: int
    zones: list[str]


class Degraded(Schema):
    """Log streams of a tenant of a cluster, by its name, that are degraded."""

    cluster: Annotated[str, Field(strict=True)]
    tenant: Annotated[str, Field(strict=True, min_length=1)]
    log_streams: Annotated[list[Annotated[int, Field(strict=True, ge=1, le=2**63 - 1)]], Field(min_length=1)]


class DegradedLogStreams(Schema):
    """All that an arbitration service shows as degraded."""

    degraded: list[Degraded]

    @classmethod
    def document(cls) -> dict[str, Any]:
        """The JSON schema, without references to others."""
        schema = cls.model_json_schema(by_alias=True)
        [inner] = schema.pop("$defs").values()
        schema["properties"]["degraded"]["items"] = inner
        return schema
