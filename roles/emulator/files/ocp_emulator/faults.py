# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What goes wrong on purpose: the plan of faults, in the order in which they were made.

A fault has a kind, which tells what it disturbs and what it may say; all of them stand in one table and are made, read
and taken back by one control API. A fault of kind `subtask` disturbs an attempt of a subtask when that begins. It is
used up when it has hit as often as it was told to; it stays in the plan, so that one can see that it did.
"""

import json
import sqlite3
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ocp_emulator import errors
from ocp_emulator.clock import DAY, SECOND
from ocp_emulator.schemas.base import Form, Long

_LONGEST = 365 * DAY // SECOND
_MOST = 2**31 - 1
_REASON = "a fault of the emulator's plan made it fail"

Text = Annotated[str, Field(min_length=1, max_length=1_000)]


class SubtaskMatch(Form):
    """Which attempts of which subtasks; what is left out matches any, and texts match in any case.

    `task` is the name of the task, `subtask` the description of the subtask. `element` is the id of what the subtask
    works on: of the host or server for a step that stands once for each of them, else of a target of the task.
    Without `operation`, an attempt to run (EXECUTE or RETRY) matches, and a rollback does not.
    """

    task: Text | None = None
    task_id: Long | None = None
    subtask: Text | None = None
    element: Long | Text | None = None
    operation: Literal["EXECUTE", "RETRY", "ROLLBACK"] | None = None

    def fits(self, subtask: sqlite3.Row, task_name: str, elements: frozenset[str]) -> bool:
        """Whether an attempt of this subtask is meant."""
        operations = {self.operation} if self.operation else {"EXECUTE", "RETRY"}
        return (
            subtask["operation"] in operations
            and self.task_id in (None, subtask["task_id"])
            and _same(self.task, task_name)
            and _same(self.subtask, subtask["description"])
            and (self.element is None or str(self.element) in elements)
        )


class SubtaskFault(Form):
    """Lets attempts of subtasks fail, stall until their time-out, or be slow.

    `factor` makes an attempt so many times as long, `seconds` so much longer; `message` is what the log says of a
    failure. `times` is how often it hits, null for always. With `prohibitRollback`, a subtask that was hit forbids the
    rollback of its task from then on.
    """

    kind: Literal["subtask"]
    match: SubtaskMatch = Field(default_factory=SubtaskMatch)
    action: Literal["fail", "stall", "slow"]
    factor: Annotated[float, Field(ge=0, le=_LONGEST)] | None = None
    seconds: Annotated[float, Field(ge=0, le=_LONGEST)] | None = None
    message: Text | None = None
    times: Annotated[int, Field(ge=1, le=_MOST, strict=True)] | None = 1
    prohibit_rollback: bool = False

    @model_validator(mode="after")
    def _fits_its_action(self) -> "SubtaskFault":
        if (self.action == "slow") != (self.factor is not None or self.seconds is not None):
            raise ValueError("factor and seconds go with the action slow, which needs one of them")
        if self.message is not None and self.action != "fail":
            raise ValueError("message goes with the action fail")
        return self

    def slowed(self, run_ms: int) -> int | None:
        """How long the attempt takes instead; None for ever."""
        if self.action == "stall":
            return None
        return round(run_ms * (1 if self.factor is None else self.factor) + (self.seconds or 0) * SECOND)

    def reason(self) -> str:
        """What the log says."""
        return self.message or _REASON


def add(db: sqlite3.Connection, fault: SubtaskFault, now: int) -> int:
    """Append a fault to the plan; its id."""
    cursor = db.execute(
        "INSERT INTO faults (kind, fault, times, hits, create_time) VALUES (?, ?, ?, 0, ?)",
        (fault.kind, fault.model_dump_json(by_alias=True), fault.times, now),
    )
    return int(cursor.lastrowid or 0)


def remove(db: sqlite3.Connection, fault_id: int | None) -> None:
    """Take back one fault, ApiError 404 when there is none, or all of them; what they have done stays done."""
    removed = db.execute("DELETE FROM faults WHERE ? IS NULL OR id = ?", (fault_id, fault_id)).rowcount
    if fault_id is not None and not removed:
        raise errors.not_found(f"Fault {fault_id}")


def take(db: sqlite3.Connection, subtask: sqlite3.Row) -> SubtaskFault | None:
    """The first fault of the plan that is meant for the attempt that begins now; counted as a hit."""
    rows = db.execute(
        "SELECT * FROM faults WHERE kind = 'subtask' AND (times IS NULL OR hits < times) ORDER BY id"
    ).fetchall()
    if not rows:
        return None
    (task_name,) = db.execute("SELECT name FROM tasks WHERE id = ?", (subtask["task_id"],)).fetchone()
    elements = frozenset([subtask["element"]]) if subtask["element"] else _targets(db, subtask["task_id"])
    for row in rows:
        fault = SubtaskFault.model_validate(json.loads(row["fault"]))
        if fault.match.fits(subtask, task_name, elements):
            db.execute("UPDATE faults SET hits = hits + 1 WHERE id = ?", (row["id"],))
            return fault
    return None


def _targets(db: sqlite3.Connection, task_id: int) -> frozenset[str]:
    rows = db.execute(
        "SELECT coalesce(server_id, arbitration_service_id, zone_id, cluster_id, host_id) FROM targets"
        " WHERE task_id = ?",
        (task_id,),
    )
    return frozenset(str(number) for (number,) in rows)


def _same(wanted: str | None, found: str) -> bool:
    return wanted is None or wanted.casefold() == found.casefold()
