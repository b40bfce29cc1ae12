# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Fields of tasks and subtasks that answers of operations and reads share, and the order of subtasks."""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ocp_emulator.base import errors
from ocp_emulator.base.time_format import iso
from ocp_emulator.schemas import task_schemas as schemas
from ocp_emulator.serializers.shared_fields import json_or_null

# The same in every documented response.
TASK_DEFINITION_ID = -1
TYPE: schemas.TaskType = "MANUAL"
_NODE_TYPE: schemas.NodeType = "JAVA_TASK"
_SKIP_PROHIBITED = False


@dataclass(frozen=True)
class LinkedRow:
    """A subtask with its links."""

    row: sqlite3.Row
    upstreams: list[int]
    downstreams: list[int]


def task_of(db: sqlite3.Connection, task_id: int) -> sqlite3.Row:
    """One task. ApiError 404 when it does not exist."""
    row: sqlite3.Row | None = db.execute("SELECT * FROM tasks WHERE id = ?", (task_id,)).fetchone()
    if row is None:
        raise errors.task_not_found(task_id)
    return row


def subtasks_of(db: sqlite3.Connection, task_id: int) -> list[LinkedRow]:
    """The subtasks of a task in the order in which the service shows them."""
    rows = db.execute("SELECT * FROM subtasks WHERE task_id = ? ORDER BY position", (task_id,)).fetchall()
    upstreams: dict[int, list[int]] = defaultdict(list)
    downstreams: dict[int, list[int]] = defaultdict(list)
    links = db.execute(
        "SELECT links.* FROM subtasks JOIN links ON links.upstream = subtasks.id WHERE subtasks.task_id = ?", (task_id,)
    )
    for upstream, downstream in links:
        upstreams[downstream].append(upstream)
        downstreams[upstream].append(downstream)
    return [LinkedRow(row, upstreams[row["id"]], downstreams[row["id"]]) for row in rows]


def targets_of(db: sqlite3.Connection, task_ids: Sequence[int]) -> Mapping[int, list[sqlite3.Row]]:
    """The targets of each task, with names and addresses."""
    found: dict[int, list[sqlite3.Row]] = defaultdict(list)
    rows = db.execute(
        "SELECT targets.*, clusters.name AS cluster_name, ob_cluster_id, clusters.type AS cluster_type,"
        " clusters.version AS ob_version, zones.name AS zone_name, hosts.ip AS svr_ip,"
        " arbitration_services.port AS arbitration_service_svr_port"
        " FROM targets LEFT JOIN clusters ON clusters.id = targets.cluster_id"
        " LEFT JOIN zones ON zones.id = targets.zone_id LEFT JOIN hosts ON hosts.id = targets.host_id"
        " LEFT JOIN arbitration_services ON arbitration_services.id = targets.arbitration_service_id"
        " WHERE targets.task_id IN (SELECT value FROM json_each(?)) ORDER BY targets.rowid",
        (json_or_null(task_ids),),
    )
    for row in rows:
        found[row["task_id"]].append(row)
    return found


def started_fields(task: sqlite3.Row) -> dict[str, Any]:
    """The fields that the task of every operation has."""
    return {
        "id": task["id"],
        "name": task["name"],
        "operation": task["operation"],
        "status": task["status"],
        "start_time": iso(task["start_time"]),
    }


def creator(task: sqlite3.Row) -> schemas.Creator:
    """The user who started a task, as an object."""
    return schemas.Creator(id=task["creator_id"], name=task["creator_name"])


def linked_fields(subtask: LinkedRow) -> dict[str, Any]:
    """The fields of every schema of a subtask with links."""
    row = subtask.row
    return {
        "id": row["id"],
        "name": row["description"],
        "description": row["description"],
        "status": row["status"],
        "operation": row["operation"],
        "upstreams": subtask.upstreams,
        "downstreams": subtask.downstreams,
    }


def full_fields(subtask: LinkedRow) -> dict[str, Any]:
    """The fields of all schemas but the reduced one."""
    row = subtask.row
    return {
        **linked_fields(subtask),
        "node_type": _NODE_TYPE,
        "parallel_idx": row["parallel_idx"],
        "prohibit_rollback": bool(row["prohibit_rollback"]),
        "run_time": row["run_time"],
        "series_id": row["series_id"],
        "timeout": row["timeout"],
    }


def newest_fields(subtask: LinkedRow) -> dict[str, Any]:
    """The fields in newer versions."""
    return {**full_fields(subtask), "prohibit_skip": _SKIP_PROHIBITED, "task_id": subtask.row["task_id"]}
