# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The reports of inspections: begun with their task, and complete once it has succeeded; and risks that are planted.

A report keeps the risks that are there when its task succeeds, whatever is planted or cleared afterwards.
"""

import sqlite3
from dataclasses import dataclass

from ocp_emulator.base import errors
from ocp_emulator.fleet.inspection_items import ItemIdentifier, RiskLevel


@dataclass(frozen=True)
class Risk:
    """A risk of a cluster: the item that finds it, in which object, and the value that is found."""

    item: ItemIdentifier
    level: RiskLevel
    target: str
    value: str


def begin_reports(db: sqlite3.Connection, task_id: int, tag: int) -> None:
    """Begin the reports of a new inspection, one for each of its clusters."""
    db.execute(
        "INSERT INTO inspection_reports (task_id, cluster_id, tag)"
        " SELECT task_id, cluster_id, ? FROM targets WHERE task_id = ? ORDER BY rowid",
        (tag, task_id),
    )


def end_reports(db: sqlite3.Connection, task_id: int) -> None:
    """Keep in the reports of a task that has succeeded, if it has some, the risks of this moment."""
    db.execute(
        "INSERT INTO reported_risks SELECT inspection_reports.id, item, level, target, value"
        " FROM inspection_reports JOIN planted_risks USING (cluster_id) WHERE task_id = ? ORDER BY planted_risks.id",
        (task_id,),
    )


def plant_risk(db: sqlite3.Connection, cluster_id: int, risk: Risk) -> int:
    """Let inspections find a risk until it is cleared. Returns its id."""
    row = db.execute(
        "INSERT INTO planted_risks (cluster_id, item, level, target, value) VALUES (?, ?, ?, ?, ?) RETURNING id",
        (cluster_id, risk.item, risk.level, risk.target, risk.value),
    ).fetchone()
    return int(row["id"])


def clear_risks(db: sqlite3.Connection, risk_id: int | None) -> None:
    """Clear a risk, or all of them. ApiError 404 when there is no such risk."""
    deleted = db.execute("DELETE FROM planted_risks WHERE id = coalesce(?, id)", (risk_id,))
    if risk_id is not None and deleted.rowcount == 0:
        raise errors.not_found(f"Risk {risk_id}")
