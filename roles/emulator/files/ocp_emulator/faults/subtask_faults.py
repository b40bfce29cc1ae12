# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of kind `subtask`: which attempts they match, and whether these fail, stall or are slow."""

import json
import sqlite3
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ocp_emulator.base.clock import SECOND
from ocp_emulator.faults import fault_plan
from ocp_emulator.faults.fault_plan import MAX_SECONDS, Count, Text
from ocp_emulator.schemas.schema import Long, Schema

_REASON = "a fault of the emulator's plan made it fail"


class SubtaskMatch(Schema):
    """Which attempts of which subtasks; an omitted field matches any, and texts match ignoring case.

    `task` is the name of the task, `subtask` the description of the subtask. `element` is the id of what the subtask
    works on: of the host or server for a step that stands once for each of them, else of a target of the task.
    Without `operation`, an attempt to run (EXECUTE or RETRY) matches, and a rollback does not.
    """

    task: Text | None = None
    task_id: Long | None = None
    subtask: Text | None = None
    element: Long | Text | None = None
    operation: Literal["EXECUTE", "RETRY", "ROLLBACK"] | None = None

    def matches(self, subtask: sqlite3.Row, task_name: str, elements: frozenset[str]) -> bool:
        """Whether an attempt of this subtask matches."""
        operations = {self.operation} if self.operation else {"EXECUTE", "RETRY"}
        return (
            subtask["operation"] in operations
            and self.task_id in (None, subtask["task_id"])
            and _matches_text(self.task, task_name)
            and _matches_text(self.subtask, subtask["description"])
            and (self.element is None or str(self.element) in elements)
        )


class SubtaskFault(Schema):
    """Lets attempts of subtasks fail, stall until their time-out, or be slow.

    `factor` makes an attempt this many times as long, `seconds` this much longer; `message` is the failure in the log.
    `times` is how often it hits, null for always. With `prohibitRollback`, a subtask that was hit forbids the rollback
    of its task from then on.
    """

    kind: Literal["subtask"]
    match: SubtaskMatch = Field(default_factory=SubtaskMatch)
    action: Literal["fail", "stall", "slow"]
    factor: Annotated[float, Field(ge=0, le=MAX_SECONDS)] | None = None
    seconds: Annotated[float, Field(ge=0, le=MAX_SECONDS)] | None = None
    message: Text | None = None
    times: Count | None = 1
    prohibit_rollback: bool = False

    @model_validator(mode="after")
    def _check_options_of_action(self) -> "SubtaskFault":
        if (self.action == "slow") != (self.factor is not None or self.seconds is not None):
            raise ValueError("factor and seconds go with the action slow, which needs one of them")
        if self.message is not None and self.action != "fail":
            raise ValueError("message goes with the action fail")
        return self

    def attempt_duration(self, run_ms: int) -> int | None:
        """How long an attempt takes with this fault; None if it never ends."""
        if self.action == "stall":
            return None
        return round(run_ms * (1 if self.factor is None else self.factor) + (self.seconds or 0) * SECOND)

    def reason(self) -> str:
        """The reason of a failure, for the log."""
        return self.message or _REASON


def match_attempt(db: sqlite3.Connection, subtask: sqlite3.Row) -> SubtaskFault | None:
    """The first fault of the plan that matches the attempt that begins now. Counts its hit."""
    rows = fault_plan.active(db, "subtask")
    if not rows:
        return None
    (task_name,) = db.execute("SELECT name FROM tasks WHERE id = ?", (subtask["task_id"],)).fetchone()
    elements = frozenset([subtask["element"]]) if subtask["element"] else _targets(db, subtask["task_id"])
    for row in rows:
        fault = SubtaskFault.model_validate(json.loads(row["fault"]))
        if fault.match.matches(subtask, task_name, elements):
            fault_plan.count_hit(db, row["id"])
            return fault
    return None


def _targets(db: sqlite3.Connection, task_id: int) -> frozenset[str]:
    rows = db.execute(
        "SELECT coalesce(server_id, arbitration_service_id, obproxy_id, zone_id, cluster_id, host_id) FROM targets"
        " WHERE task_id = ?",
        (task_id,),
    )
    return frozenset(str(number) for (number,) in rows)


def _matches_text(pattern: str | None, found: str) -> bool:
    return pattern is None or pattern.casefold() == found.casefold()
