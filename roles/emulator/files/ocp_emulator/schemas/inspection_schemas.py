# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fields of the task of an inspection, of its reports, and of the last result of an object."""

from typing import Literal

from ocp_emulator.fleet.inspection_items import RiskLevel
from ocp_emulator.schemas.restart_schemas import ManualTask, RestartSubtask
from ocp_emulator.schemas.schema import Long, Schema, Timestamp, absent
from ocp_emulator.schemas.task_schemas import TaskStatus

InspectionObjectType = Literal["OB_CLUSTER", "OB_TENANT", "HOST", "OB_PROXY"]


class InspectionTask(ManualTask):
    """The task of an inspection."""

    prohibit_rollback: bool
    subtasks: list[RestartSubtask]


class InspectionTag(Schema):
    """The scenario of an inspection."""

    id: Long
    name: str
    description: str
    config_type: str


class InspectionObject(Schema):
    """What was inspected."""

    object_id: Long
    inspection_object_type: InspectionObjectType
    name: str


class InspectionRule(Schema):
    """From which value on a risk has a level."""

    level: RiskLevel
    validator: str


class InspectionItem(Schema):
    """An item of a report: what it looks at."""

    id: Long
    identifier: str
    name: str
    description: str
    target_type: str
    state: str
    config_type: str
    tags: list[InspectionTag]
    rules: list[InspectionRule]


class ReportItem(Schema):
    """What an item has found in one object. `level` is absent where this is no risk."""

    item_id: Long
    key: str
    target: str
    raw_value: str
    value: str
    level: RiskLevel = absent()


class InspectionReport(Schema):
    """A report. `endTime` is absent while its task is RUNNING."""

    id: Long
    tag: InspectionTag
    inspection_object: InspectionObject
    start_time: Timestamp
    end_time: Timestamp = absent()
    task_id: Long
    item_total_count: int
    item_finished_count: int
    high_risk_count: int
    medium_risk_count: int
    low_risk_count: int
    task_state: TaskStatus
    inspection_items: list[InspectionItem]
    report_items: list[ReportItem]


class InspectionItemResult(Schema):
    """The result of one item."""

    item_id: Long
    name: str
    description: str
    report_items: list[ReportItem]
    rules: list[InspectionRule]


class InspectionReportAggrInfo(Schema):
    """The last result of an object. `endTime` is absent while the task of its report is RUNNING."""

    report_id: Long
    object_id: Long
    object_name: str
    object_type: InspectionObjectType
    tag: InspectionTag
    start_time: Timestamp
    end_time: Timestamp = absent()
    result_list: list[InspectionItemResult]
