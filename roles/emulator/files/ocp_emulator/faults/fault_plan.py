# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The plan of faults in the database: their order, how often one hits, how hits are counted.

A fault that hit as often as `times` allows is used up. It stays in the plan, so that its hits can be read.
"""

import sqlite3
from typing import Annotated, Protocol

from pydantic import Field

from ocp_emulator.base import errors
from ocp_emulator.base.clock import DAY, SECOND

MAX_SECONDS = 365 * DAY // SECOND
_LARGEST_COUNT = 2**31 - 1

Text = Annotated[str, Field(min_length=1, max_length=1_000)]
Count = Annotated[int, Field(ge=1, le=_LARGEST_COUNT, strict=True)]


class PlannableFault(Protocol):
    """The attributes of a fault of any kind."""

    @property
    def kind(self) -> str:
        """`http`, `subtask` or another one of parse_fault.py."""

    @property
    def times(self) -> int | None:
        """How often it hits at most; None for no limit."""

    def model_dump_json(self, *, by_alias: bool) -> str:
        """The fault as text."""


def add(db: sqlite3.Connection, fault: PlannableFault, now: int) -> int:
    """Append a fault to the plan; returns its id."""
    cursor = db.execute(
        "INSERT INTO faults (kind, fault, times, matches, hits, create_time) VALUES (?, ?, ?, 0, 0, ?)",
        (fault.kind, fault.model_dump_json(by_alias=True), fault.times, now),
    )
    return int(cursor.lastrowid or 0)


def remove(db: sqlite3.Connection, fault_id: int | None) -> None:
    """Remove one fault, or all of them for None. ApiError 404 for an unknown id. Their effects stay."""
    removed = db.execute("DELETE FROM faults WHERE ? IS NULL OR id = ?", (fault_id, fault_id)).rowcount
    if fault_id is not None and not removed:
        raise errors.not_found(f"Fault {fault_id}")


def active(db: sqlite3.Connection, kind: str) -> list[sqlite3.Row]:
    """The faults of a kind that are not used up."""
    return db.execute(
        "SELECT * FROM faults WHERE kind = ? AND (times IS NULL OR hits < times) ORDER BY id", (kind,)
    ).fetchall()


def count_hit(db: sqlite3.Connection, fault_id: int) -> None:
    """Count a hit of a fault."""
    db.execute("UPDATE faults SET hits = hits + 1 WHERE id = ?", (fault_id,))


def count_match(db: sqlite3.Connection, fault_id: int) -> None:
    """Count a request that matches a fault, whether it hits or not."""
    db.execute("UPDATE faults SET matches = matches + 1 WHERE id = ?", (fault_id,))
