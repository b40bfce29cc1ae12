# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of kind `busy`: an operation on a busy target is refused, fails, or is accepted."""

import json
import sqlite3
from typing import Literal

from pydantic import Field

from ocp_emulator.faults import fault_plan
from ocp_emulator.faults.fault_plan import Count, Text
from ocp_emulator.schemas.schema import Schema

# An operation on a busy target is refused; or it is accepted, and its first subtask fails, or waits for the target.
BusyPolicy = Literal["refuse", "fail", "accept"]


class BusyMatch(Schema):
    """Which operations; an omitted field matches any. `task` is the name of the new task, ignoring case."""

    task: Text | None = None
    user: Text | None = None


class BusyFault(Schema):
    """Refuses operations on a busy target, accepts them and lets them fail, or accepts them and carries them out.

    It hits only operations on a busy target. `times` is how often it hits, null for always.
    """

    kind: Literal["busy"]
    match: BusyMatch = Field(default_factory=BusyMatch)
    action: BusyPolicy
    times: Count | None = 1


def match_operation(db: sqlite3.Connection, task_name: str, user: str) -> BusyPolicy | None:
    """What the first fault of the plan that matches does to this operation on a busy target. Counts its hit."""
    for row in fault_plan.active(db, "busy"):
        fault = BusyFault.model_validate(json.loads(row["fault"]))
        if (fault.match.task or task_name).casefold() == task_name.casefold() and fault.match.user in (None, user):
            fault_plan.count_hit(db, row["id"])
            return fault.action
    return None
