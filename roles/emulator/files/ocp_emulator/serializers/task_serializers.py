# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Tasks as JSON, in the list and one by one: values of their fields, filters of the list, the log."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ocp_emulator.base import errors
from ocp_emulator.base.compatibility import Visibility
from ocp_emulator.base.time_format import iso
from ocp_emulator.schemas import task_schemas as schemas
from ocp_emulator.schemas.envelope import Paged
from ocp_emulator.serializers import task_rows
from ocp_emulator.serializers.paging import PageRequest, query_page
from ocp_emulator.serializers.shared_fields import json_or_null, without_none
from ocp_emulator.tasks import subtask_log, task_actions

# The condition of each filter. The query has only those that were given, so it need not read every task.
_CONDITIONS = {
    "name": "instr(lower(t.name), lower(:name))",
    "statuses": "t.status IN (SELECT value FROM json_each(:statuses))",
    "types": "EXISTS (SELECT 1 FROM json_each(:types) WHERE value = 'MANUAL')",
    "cluster_id": "t.id IN (SELECT task_id FROM targets WHERE cluster_id = :cluster_id)",
    "cluster_name": """t.id IN (
        SELECT task_id FROM targets JOIN clusters ON clusters.id = targets.cluster_id
        WHERE instr(lower(clusters.name), lower(:cluster_name)))""",
    "host_id": "t.id IN (SELECT task_id FROM targets WHERE host_id = :host_id)",
}

_SORTABLE = {
    "id": "t.id",
    "name": "lower(t.name)",
    "status": "t.status",
    "startTime": "t.start_time",
    "finishTime": "t.finish_time",
    "createTime": "t.create_time",
}


@dataclass(frozen=True)
class TaskFilter:
    """The filters of the list of tasks; None for any.

    `of_tenant` stands for both filters by tenant: no task here has one.
    """

    name: str | None = None
    statuses: Sequence[str] | None = None
    types: Sequence[str] | None = None
    cluster_id: int | None = None
    cluster_name: str | None = None
    host_id: int | None = None
    of_tenant: bool = False


def task_page(
    db: sqlite3.Connection, page_request: PageRequest, task_filter: TaskFilter, tags: Visibility
) -> Paged[schemas.BasicTaskInstance]:
    """A page of the list of tasks; `tags` says whether it has the fields of newer versions."""
    values = {
        "name": task_filter.name,
        "statuses": json_or_null(task_filter.statuses),
        "types": json_or_null(task_filter.types),
        "cluster_id": task_filter.cluster_id,
        "cluster_name": task_filter.cluster_name,
        "host_id": task_filter.host_id,
    }
    conditions = [_CONDITIONS[name] for name, value in values.items() if value is not None]
    selection = " AND ".join(["FROM tasks AS t WHERE NOT :of_tenant", *conditions])

    def serialize(rows: list[sqlite3.Row]) -> list[schemas.BasicTaskInstance]:
        ids = [row["id"] for row in rows]
        targets, subtasks = task_rows.targets_of(db, ids), _basic_subtasks(db, ids)
        return [_basic_task(row, targets[row["id"]], subtasks[row["id"]], tags) for row in rows]

    values["of_tenant"] = task_filter.of_tenant
    return query_page(db, page_request, selection, values, serialize, Paged[schemas.BasicTaskInstance], _SORTABLE)


def task_detail(db: sqlite3.Connection, task_id: int, tags: Visibility) -> schemas.WrappedTaskInstance:
    """One task; `tags` as in the list. ApiError 404 when it does not exist."""
    task, targets = task_rows.task_of(db, task_id), task_rows.targets_of(db, [task_id])[task_id]
    return schemas.WrappedTaskInstance(
        **task_rows.started_fields(task),
        **_finish_time(task),
        **_cluster_of(targets),
        task_definition_id=task_rows.TASK_DEFINITION_ID,
        creator=task_rows.creator(task),
        type=task_rows.TYPE,
        executor=task["executor"],
        prohibit_rollback=task_actions.prohibits_rollback(db, task),
        create_time=iso(task["create_time"]),
        subtasks=[_subtask_instance(task, subtask, tags) for subtask in task_rows.subtasks_of(db, task_id)],
        **_newer_fields(tags, is_remote=False, tags=_tags(targets)),
    )


def subtask_detail(db: sqlite3.Connection, task_id: int, subtask_id: int, tags: Visibility) -> schemas.SubtaskInstance:
    """One subtask; `tags` as in the list. ApiError 404 when the task or the subtask does not exist."""
    task = task_rows.task_of(db, task_id)
    for subtask in task_rows.subtasks_of(db, task_id):
        if subtask.row["id"] == subtask_id:
            return _subtask_instance(task, subtask, tags)
    raise errors.subtask_not_found(task_id, subtask_id)


def subtask_log_of(db: sqlite3.Connection, task_id: int, subtask_id: int) -> schemas.SubtaskLog:
    """The log of a subtask. ApiError 404 when the task or the subtask does not exist."""
    task_rows.task_of(db, task_id)
    row = db.execute("SELECT 1 FROM subtasks WHERE id = ? AND task_id = ?", (subtask_id, task_id)).fetchone()
    if row is None:
        raise errors.subtask_not_found(task_id, subtask_id)
    return schemas.SubtaskLog(log=subtask_log.read(db, subtask_id))


def _basic_subtasks(db: sqlite3.Connection, task_ids: Sequence[int]) -> Mapping[int, list[schemas.BasicSubtask]]:
    found: dict[int, list[schemas.BasicSubtask]] = defaultdict(list)
    rows = db.execute(
        "SELECT task_id, id, description, status, operation FROM subtasks"
        " WHERE task_id IN (SELECT value FROM json_each(?)) ORDER BY task_id, position",
        (json_or_null(task_ids),),
    )
    for task_id, number, description, status, operation in rows:
        found[task_id].append(
            schemas.BasicSubtask(
                id=number, name=description, description=description, status=status, operation=operation
            )
        )
    return found


def _subtask_instance(task: sqlite3.Row, subtask: task_rows.LinkedRow, tags: Visibility) -> schemas.SubtaskInstance:
    row = subtask.row
    started = row["start_time"] is not None
    return schemas.SubtaskInstance(
        **(task_rows.newest_fields(subtask) if tags == "shown" else task_rows.full_fields(subtask)),
        **_finish_time(row),
        **without_none(
            start_time=iso(row["start_time"]) if started else None, executor=task["executor"] if started else None
        ),
        create_time=iso(task["create_time"]),
    )


def _basic_task(
    task: sqlite3.Row, targets: Sequence[sqlite3.Row], subtasks: list[schemas.BasicSubtask], tags: Visibility
) -> schemas.BasicTaskInstance:
    started = task_rows.started_fields(task)
    operation = started.pop("operation").lower()
    return schemas.BasicTaskInstance(
        **started,
        **_finish_time(task),
        **_cluster_of(targets),
        creator=task_rows.creator(task),
        subtasks=subtasks,
        **_newer_fields(tags, operation=operation, tags=_tags(targets)),
    )


def _newer_fields(shown: Visibility, **fields: object) -> dict[str, Any]:
    """The fields of newer versions of the service."""
    return fields if shown == "shown" else {}


def _finish_time(row: sqlite3.Row) -> dict[str, Any]:
    """`finishTime` is absent until there is one."""
    return without_none(finish_time=None if row["finish_time"] is None else iso(row["finish_time"]))


def _cluster_of(targets: Iterable[sqlite3.Row]) -> dict[str, Any]:
    for target in targets:
        if target["cluster_id"] is not None:
            return {
                "cluster": schemas.TaskCluster(
                    id=target["cluster_id"],
                    name=target["cluster_name"],
                    ob_cluster_id=target["ob_cluster_id"],
                    type=target["cluster_type"],
                )
            }
    return {}


_TAG_FIELDS = (
    "cluster_id",
    "cluster_name",
    "cluster_type",
    "ob_cluster_id",
    "ob_version",
    "zone_name",
    "server_id",
    "host_id",
    "svr_ip",
    "arbitration_service_id",
    "arbitration_service_svr_port",
    "obproxy_id",
)


def _tags(targets: Iterable[sqlite3.Row]) -> list[schemas.InstanceFullTag]:
    return [_tag(target) for target in targets]


def _tag(target: sqlite3.Row) -> schemas.InstanceFullTag:
    fields = without_none(**{name: target[name] for name in _TAG_FIELDS})
    return schemas.InstanceFullTag(object_type=target["object_type"], deleted=False, **fields)
