# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of kind `answer`: which answers match, and what they falsify: lag, filters, clock, status, start."""

from collections.abc import Mapping, Set
from datetime import datetime
from typing import Annotated, Literal, get_args

from pydantic import AwareDatetime, Field, model_validator

from ocp_emulator.base.clock import DAY, SECOND
from ocp_emulator.faults.fault_plan import Text
from ocp_emulator.faults.request_faults import ActionOptions, HttpMatch, RequestFault, check_options
from ocp_emulator.schemas.schema import Long

RecordType = Literal["server", "zone", "cluster", "agent", "arbitration_service", "obproxy", "task"]
Parameter = Literal[
    "name",
    "status",
    "type",
    "clusterName",
    "cluterName",
    "clusterId",
    "hostId",
    "keyword",
    "regionName",
    "idcName",
    "sort",
]

_MOST_SECONDS = 100 * 365 * DAY // SECOND
_BACKWARDS = frozenset({"clock", "moved_start"})
_SECONDS = frozenset({"seconds"})
_OPTIONS: Mapping[str, ActionOptions] = {
    "lag": ActionOptions(needed=_SECONDS),
    "ignore": ActionOptions(needed=frozenset({"parameters"})),
    "clock": ActionOptions(possible=frozenset({"seconds", "time", "scope"})),
    "status": ActionOptions(possible=frozenset({"status", "inner_status"})),
    "late_start": ActionOptions(needed=_SECONDS),
    "moved_start": ActionOptions(needed=_SECONDS),
}
_OF_READS = frozenset({"lag", "ignore"})
# Which records each action changes, for actions on records.
_RECORDS: Mapping[str, tuple[str, ...]] = {
    "status": get_args(RecordType),
    "late_start": ("server", "cluster", "agent"),
    "moved_start": ("server", "cluster", "agent"),
}


class AnswerMatch(HttpMatch):
    """Which answers, and which records in them; an omitted field matches any.

    `id` is that of the record, of an agent that of its host. `status` is the word that it really has. `afterTask`: only
    records on which a task has been SUCCESSFUL since the fault was planned.
    """

    record: RecordType | None = None
    id: Long | None = None
    status: Text | None = None
    after_task: bool | None = None


class AnswerFault(RequestFault):
    """Shows an older state, ignores filters, or shows false times and status words.

    `seconds` are those of the emulator's clock. An answer without anything to change does not match. `scope` is whether
    a clock that is off shows in the time of the answer (`now`), or in all times (`all`).
    """

    kind: Literal["answer"]
    match: AnswerMatch = Field(default_factory=AnswerMatch)
    action: Literal["lag", "ignore", "clock", "status", "late_start", "moved_start"]
    seconds: Annotated[float, Field(ge=-_MOST_SECONDS, le=_MOST_SECONDS)] | None = None
    time: AwareDatetime | None = None
    scope: Literal["now", "all"] | None = None
    parameters: Annotated[list[Parameter], Field(min_length=1)] | None = None
    status: Text | None = None
    inner_status: Text | None = None

    @model_validator(mode="after")
    def _check_options_of_action(self) -> "AnswerFault":
        check_options(self, self.action, _OPTIONS)
        if self.action == "clock" and (self.seconds is None) == (self.time is None):
            raise ValueError("the action clock needs either seconds or time")
        if self.action not in _BACKWARDS and (self.seconds or 0) < 0:
            raise ValueError(f"seconds of the action {self.action} cannot be below 0")
        if self.action == "status" and self.status is None and self.inner_status is None:
            raise ValueError("the action status needs status or innerStatus")
        return self

    @model_validator(mode="after")
    def _check_match(self) -> "AnswerFault":
        if self.action in _OF_READS and (self.match.method or "GET").upper() != "GET":
            raise ValueError(f"the action {self.action} hits GET only")
        of_record = self.match.model_dump(
            by_alias=True, include={"record", "id", "status", "after_task"}, exclude_none=True
        )
        if of_record and self.action not in _RECORDS:
            raise ValueError(f"match.{min(of_record)} does not go with the action {self.action}")
        if of_record and self.match.record is None:
            raise ValueError(f"match.{min(of_record)} goes with match.record")
        if self.action == "status" and self.match.record is None:
            raise ValueError("the action status needs match.record")
        if self.match.record not in (None, *_RECORDS.get(self.action, ())):
            raise ValueError(f"the record {self.match.record} shows no start")
        if self.inner_status is not None and self.match.record not in ("server", "zone"):
            raise ValueError("innerStatus goes with the records server and zone")
        return self

    def changes_records(self) -> bool:
        """Whether it looks at the records of an answer, not at the request alone."""
        return self.action in _RECORDS

    def changes_request(self, method: str, parameters: Set[str]) -> bool:
        """Whether there may be something to change in a request with this method and these parameters."""
        if self.action == "ignore":
            return method == "GET" and not parameters.isdisjoint(self.parameters or ())
        return self.action != "lag" or method == "GET"

    def milliseconds(self) -> int:
        """`seconds` in the unit of instants."""
        return round((self.seconds or 0) * SECOND)

    def clock_offset(self, now: int) -> int:
        """How far its clock is off, in milliseconds."""
        return self.milliseconds() if self.time is None else _instant(self.time) - now


def _instant(time: datetime) -> int:
    return round(time.timestamp() * SECOND)
