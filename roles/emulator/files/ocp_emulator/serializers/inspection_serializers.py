# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Reports of inspections as JSON: what is shown while the task runs, and which risks count.

A report has results once its task has succeeded. Until then, and for good if the task fails or is rolled back, no item
is finished. An item counts once, by the highest level of what it has found.
"""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ocp_emulator.base import errors
from ocp_emulator.base.time_format import iso
from ocp_emulator.fleet.inspection_items import ITEMS, SCENARIOS, InspectionItem
from ocp_emulator.schemas import inspection_schemas as schemas
from ocp_emulator.schemas.envelope import Listed
from ocp_emulator.serializers.shared_fields import without_none

_REPORTS = """
    SELECT inspection_reports.id, cluster_id, tag, task_id, clusters.name AS cluster_name, tasks.status,
        tasks.start_time, tasks.finish_time, tasks.status = 'SUCCESSFUL' AND operation <> 'ROLLBACK' AS is_complete
    FROM inspection_reports JOIN tasks ON tasks.id = task_id JOIN clusters ON clusters.id = cluster_id
"""
_LEVELS = ("HIGH", "MEDIUM", "LOW")
_CONFIG_TYPE = "DEFAULT"
_STATE = "ENABLED"


def inspection_report(db: sqlite3.Connection, report_id: int) -> schemas.InspectionReport:
    """One report. ApiError 404."""
    row = db.execute(f"{_REPORTS} WHERE inspection_reports.id = ?", (report_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"Inspection report {report_id}")
    results = _results(db, row)
    worst = Counter(min(_LEVELS.index(each.level) for each in found) for found in map(_risks, results) if found)
    return schemas.InspectionReport(
        id=row["id"],
        tag=_tag(row["tag"]),
        inspection_object=schemas.InspectionObject(
            object_id=row["cluster_id"], inspection_object_type="OB_CLUSTER", name=row["cluster_name"]
        ),
        **_times(row),
        task_id=row["task_id"],
        item_total_count=len(ITEMS),
        item_finished_count=len(results),
        high_risk_count=worst[0],
        medium_risk_count=worst[1],
        low_risk_count=worst[2],
        task_state=row["status"],
        inspection_items=[_item(item) for item in ITEMS],
        report_items=[each for result in results for each in result.report_items],
    )


def last_results(db: sqlite3.Connection, tag: int, cluster_id: int | None) -> Listed[schemas.InspectionReportAggrInfo]:
    """The last report in this scenario of each cluster, or of one. ApiError 404 when there is no such cluster."""
    if cluster_id is not None and not db.execute("SELECT 1 FROM clusters WHERE id = ?", (cluster_id,)).fetchone():
        raise errors.not_found(f"Cluster {cluster_id}")
    rows = db.execute(
        f"{_REPORTS} WHERE inspection_reports.id IN (SELECT max(id) FROM inspection_reports"
        " WHERE tag = ? AND cluster_id = coalesce(?, cluster_id) GROUP BY cluster_id) ORDER BY cluster_id",
        (tag, cluster_id),
    )
    return Listed[schemas.InspectionReportAggrInfo](contents=[_last_result(db, row) for row in rows.fetchall()])


def _last_result(db: sqlite3.Connection, row: sqlite3.Row) -> schemas.InspectionReportAggrInfo:
    return schemas.InspectionReportAggrInfo(
        report_id=row["id"],
        object_id=row["cluster_id"],
        object_name=row["cluster_name"],
        object_type="OB_CLUSTER",
        tag=_tag(row["tag"]),
        **_times(row),
        result_list=_results(db, row),
    )


def _results(db: sqlite3.Connection, row: sqlite3.Row) -> list[schemas.InspectionItemResult]:
    """The result of each item; none as long as the inspection is not complete."""
    if not row["is_complete"]:
        return []
    risks = db.execute("SELECT * FROM reported_risks WHERE report_id = ? ORDER BY rowid", (row["id"],)).fetchall()
    return [
        _result(item, row["cluster_name"], [risk for risk in risks if risk["item"] == item.identifier])
        for item in ITEMS
    ]


def _result(item: InspectionItem, cluster_name: str, risks: Sequence[sqlite3.Row]) -> schemas.InspectionItemResult:
    found = [_report_item(item, risk["target"], risk["value"], level=risk["level"]) for risk in risks]
    return schemas.InspectionItemResult(
        item_id=item.id,
        name=item.name,
        description=item.description,
        report_items=found or [_report_item(item, cluster_name, item.good)],
        rules=_rules(item),
    )


def _report_item(item: InspectionItem, target: str, value: str, **risk: Any) -> schemas.ReportItem:
    return schemas.ReportItem(item_id=item.id, key=item.identifier, target=target, raw_value=value, value=value, **risk)


def _risks(result: schemas.InspectionItemResult) -> list[schemas.ReportItem]:
    return [each for each in result.report_items if each.level is not None]


def _item(item: InspectionItem) -> schemas.InspectionItem:
    return schemas.InspectionItem(
        id=item.id,
        identifier=item.identifier,
        name=item.name,
        description=item.description,
        target_type=item.target_type,
        state=_STATE,
        config_type=_CONFIG_TYPE,
        tags=[_tag(number) for number in SCENARIOS],
        rules=_rules(item),
    )


def _rules(item: InspectionItem) -> list[schemas.InspectionRule]:
    return [schemas.InspectionRule(level=level, validator=validator) for level, validator in item.rules.items()]


def _tag(number: int) -> schemas.InspectionTag:
    name = SCENARIOS[number]
    return schemas.InspectionTag(id=number, name=name, description=name, config_type=_CONFIG_TYPE)


def _times(row: sqlite3.Row) -> dict[str, Any]:
    ended = row["finish_time"] is not None
    return without_none(start_time=iso(row["start_time"]), end_time=iso(row["finish_time"]) if ended else None)
