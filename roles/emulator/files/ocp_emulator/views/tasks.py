# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Tasks as the service shows them: in the answer of a restart, in the list, and one by one."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ocp_emulator import errors, steering, subtask_log
from ocp_emulator.clock import iso
from ocp_emulator.schemas import tasks as forms
from ocp_emulator.schemas.envelope import Paged
from ocp_emulator.views.paging import Window, given, json_or_null, page_of

# Constant in every documented answer.
_TASK_DEFINITION_ID = -1
_TYPE: forms.TaskType = "MANUAL"
_NODE_TYPE: forms.NodeType = "JAVA_TASK"
_SKIP_PROHIBITED = False

_JAVA_PACKAGE = "com.oceanbase.ocp.emulator.task"

_FILTERED = """
    FROM tasks AS t
    WHERE (:name IS NULL OR instr(lower(t.name), lower(:name)))
    AND (:statuses IS NULL OR t.status IN (SELECT value FROM json_each(:statuses)))
    AND (:types IS NULL OR EXISTS (SELECT 1 FROM json_each(:types) WHERE value = 'MANUAL'))
    AND (:cluster_id IS NULL OR EXISTS (
        SELECT 1 FROM targets WHERE targets.task_id = t.id AND targets.cluster_id = :cluster_id))
    AND (:cluster_name IS NULL OR EXISTS (
        SELECT 1 FROM targets JOIN clusters ON clusters.id = targets.cluster_id
        WHERE targets.task_id = t.id AND clusters.name = :cluster_name))
    AND (:host_id IS NULL OR EXISTS (
        SELECT 1 FROM targets WHERE targets.task_id = t.id AND targets.host_id = :host_id))
    AND NOT :of_tenant
"""


@dataclass(frozen=True)
class TaskFilter:
    """What the list of tasks can be narrowed to; None for anything.

    `of_tenant` stands for both filters by tenant: no task here belongs to one.
    """

    name: str | None = None
    statuses: Sequence[str] | None = None
    types: Sequence[str] | None = None
    cluster_id: int | None = None
    cluster_name: str | None = None
    host_id: int | None = None
    of_tenant: bool = False


def server_restart(db: sqlite3.Connection, task_id: int) -> forms.ServerRestart:
    """The answer of 4.1."""
    task, target = _task(db, task_id), _targets(db, [task_id])[task_id][0]
    return forms.ServerRestart(
        **_manual(task),
        cluster_id=target["cluster_id"],
        host_id=target["host_id"],
        prohibit_rollback=steering.prohibits_rollback(db, task),
        subtasks=[forms.RestartSubtask(**_restart_subtask(subtask)) for subtask in _subtasks(db, task_id)],
    )


def cluster_restart(db: sqlite3.Connection, task_id: int) -> forms.ClusterRestart:
    """The answer of 4.2."""
    task, target = _task(db, task_id), _targets(db, [task_id])[task_id][0]
    return forms.ClusterRestart(
        **_started(task),
        cluster=forms.RestartedCluster(
            id=target["cluster_id"], name=target["cluster_name"], ob_cluster_id=target["ob_cluster_id"]
        ),
        context=_java_text(json.loads(task["context"])),
        creator=_creator(task),
        tasks=[forms.ClusterRestartSubtask(**_linked(subtask)) for subtask in _subtasks(db, task_id)],
    )


def zone_restart(db: sqlite3.Connection, task_id: int) -> forms.ZoneRestart:
    """The answer of a zone restart, start or stop."""
    task, target = _task(db, task_id), _targets(db, [task_id])[task_id][0]
    return forms.ZoneRestart(**_manual(task), **_batch(db, task), cluster_id=target["cluster_id"])


def agent_restart(db: sqlite3.Connection, task_id: int) -> forms.AgentRestart:
    """The answer of 4.3."""
    task = _task(db, task_id)
    return forms.AgentRestart(**_manual(task), **_batch(db, task))


def arbitration_restart(db: sqlite3.Connection, task_id: int) -> forms.ArbitrationRestart:
    """The answer of 4.4."""
    task = _task(db, task_id)
    return forms.ArbitrationRestart(
        **_manual(task),
        prohibit_rollback=steering.prohibits_rollback(db, task),
        subtasks=[forms.RestartSubtask(**_restart_subtask(subtask)) for subtask in _subtasks(db, task_id)],
    )


def task_page(db: sqlite3.Connection, window: Window, wanted: TaskFilter) -> Paged[forms.BasicTaskInstance]:
    """A page of the list of tasks."""
    values = {
        "name": wanted.name,
        "statuses": json_or_null(wanted.statuses),
        "types": json_or_null(wanted.types),
        "cluster_id": wanted.cluster_id,
        "cluster_name": wanted.cluster_name,
        "host_id": wanted.host_id,
        "of_tenant": wanted.of_tenant,
    }

    def make(rows: list[sqlite3.Row]) -> list[forms.BasicTaskInstance]:
        ids = [row["id"] for row in rows]
        targets, subtasks = _targets(db, ids), _basic_subtasks(db, ids)
        return [_basic(row, targets[row["id"]], subtasks[row["id"]]) for row in rows]

    return page_of(db, window, _FILTERED, values, make, Paged[forms.BasicTaskInstance])


def task_detail(db: sqlite3.Connection, task_id: int) -> forms.WrappedTaskInstance:
    """One task. ApiError 404 when there is none."""
    task, targets = _task(db, task_id), _targets(db, [task_id])[task_id]
    return forms.WrappedTaskInstance(
        **_started(task),
        **_since(task),
        **_cluster_of(targets),
        task_definition_id=_TASK_DEFINITION_ID,
        creator=_creator(task),
        type=_TYPE,
        executor=task["executor"],
        prohibit_rollback=steering.prohibits_rollback(db, task),
        is_remote=False,
        create_time=iso(task["create_time"]),
        subtasks=[_subtask_instance(task, subtask) for subtask in _subtasks(db, task_id)],
        tags=[_tag(target) for target in targets],
    )


def subtask_detail(db: sqlite3.Connection, task_id: int, subtask_id: int) -> forms.SubtaskInstance:
    """One subtask. ApiError 404 when there is no such task, or it has no such subtask."""
    task = _task(db, task_id)
    for subtask in _subtasks(db, task_id):
        if subtask.row["id"] == subtask_id:
            return _subtask_instance(task, subtask)
    raise errors.no_subtask(task_id, subtask_id)


def subtask_log_of(db: sqlite3.Connection, task_id: int, subtask_id: int) -> forms.SubtaskLog:
    """The log of a subtask. ApiError 404 when there is no such task, or it has no such subtask."""
    _task(db, task_id)
    row = db.execute("SELECT 1 FROM subtasks WHERE id = ? AND task_id = ?", (subtask_id, task_id)).fetchone()
    if row is None:
        raise errors.no_subtask(task_id, subtask_id)
    return forms.SubtaskLog(log=subtask_log.read(db, subtask_id))


# --- Rows ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Linked:
    """A subtask with its links."""

    row: sqlite3.Row
    upstreams: list[int]
    downstreams: list[int]


def _task(db: sqlite3.Connection, task_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM tasks WHERE id = ?", (task_id,)).fetchone()
    if row is None:
        raise errors.no_task(task_id)
    return row


def _subtasks(db: sqlite3.Connection, task_id: int) -> list[_Linked]:
    rows = db.execute("SELECT * FROM subtasks WHERE task_id = ? ORDER BY position", (task_id,)).fetchall()
    upstreams: dict[int, list[int]] = defaultdict(list)
    downstreams: dict[int, list[int]] = defaultdict(list)
    links = db.execute(
        "SELECT links.* FROM subtasks JOIN links ON links.upstream = subtasks.id WHERE subtasks.task_id = ?", (task_id,)
    )
    for upstream, downstream in links:
        upstreams[downstream].append(upstream)
        downstreams[upstream].append(downstream)
    return [_Linked(row, upstreams[row["id"]], downstreams[row["id"]]) for row in rows]


def _basic_subtasks(db: sqlite3.Connection, task_ids: Sequence[int]) -> Mapping[int, list[forms.BasicSubtask]]:
    found: dict[int, list[forms.BasicSubtask]] = defaultdict(list)
    rows = db.execute(
        "SELECT task_id, id, description, status, operation FROM subtasks"
        " WHERE task_id IN (SELECT value FROM json_each(?)) ORDER BY task_id, position",
        (json_or_null(task_ids),),
    )
    for task_id, number, description, status, operation in rows:
        found[task_id].append(
            forms.BasicSubtask(id=number, name=description, description=description, status=status, operation=operation)
        )
    return found


def _targets(db: sqlite3.Connection, task_ids: Sequence[int]) -> Mapping[int, list[sqlite3.Row]]:
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


# --- Fields of the forms ------------------------------------------------------------------------------------------


def _started(task: sqlite3.Row) -> dict[str, Any]:
    return {
        "id": task["id"],
        "name": task["name"],
        "operation": task["operation"],
        "status": task["status"],
        "start_time": iso(task["start_time"]),
    }


def _manual(task: sqlite3.Row) -> dict[str, Any]:
    return {
        **_started(task),
        "creator": task["creator_name"],
        "executor": task["executor"],
        "task_definition_id": _TASK_DEFINITION_ID,
        "type": _TYPE,
    }


def _batch(db: sqlite3.Connection, task: sqlite3.Row) -> dict[str, Any]:
    return {
        "context": forms.AgentContext.model_validate(json.loads(task["context"])),
        "subtasks": [
            forms.AgentRestartSubtask(**_full(subtask), class_name=_class_name(subtask.row["description"]))
            for subtask in _subtasks(db, task["id"])
        ],
    }


def _linked(subtask: _Linked) -> dict[str, Any]:
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


def _full(subtask: _Linked) -> dict[str, Any]:
    row = subtask.row
    return {
        **_linked(subtask),
        "node_type": _NODE_TYPE,
        "parallel_idx": row["parallel_idx"],
        "prohibit_rollback": bool(row["prohibit_rollback"]),
        "run_time": row["run_time"],
        "series_id": row["series_id"],
        "timeout": row["timeout"],
    }


def _restart_subtask(subtask: _Linked) -> dict[str, Any]:
    return {**_full(subtask), "prohibit_skip": _SKIP_PROHIBITED, "task_id": subtask.row["task_id"]}


def _subtask_instance(task: sqlite3.Row, subtask: _Linked) -> forms.SubtaskInstance:
    row = subtask.row
    started = row["start_time"] is not None
    return forms.SubtaskInstance(
        **_restart_subtask(subtask),
        **_since(row),
        **given(start_time=iso(row["start_time"]) if started else None, executor=task["executor"] if started else None),
        create_time=iso(task["create_time"]),
    )


def _since(row: sqlite3.Row) -> dict[str, Any]:
    """`finishTime` is absent until there is one."""
    return given(finish_time=None if row["finish_time"] is None else iso(row["finish_time"]))


def _creator(task: sqlite3.Row) -> forms.Creator:
    return forms.Creator(id=task["creator_id"], name=task["creator_name"])


def _cluster_of(targets: Iterable[sqlite3.Row]) -> dict[str, Any]:
    for target in targets:
        if target["cluster_id"] is not None:
            return {
                "cluster": forms.TaskCluster(
                    id=target["cluster_id"],
                    name=target["cluster_name"],
                    ob_cluster_id=target["ob_cluster_id"],
                    type=target["cluster_type"],
                )
            }
    return {}


def _basic(
    task: sqlite3.Row, targets: Sequence[sqlite3.Row], subtasks: list[forms.BasicSubtask]
) -> forms.BasicTaskInstance:
    return forms.BasicTaskInstance(
        **{**_started(task), "operation": task["operation"].lower()},
        **_since(task),
        **_cluster_of(targets),
        creator=_creator(task),
        subtasks=subtasks,
        tags=[_tag(target) for target in targets],
    )


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
)


def _tag(target: sqlite3.Row) -> forms.InstanceFullTag:
    there = given(**{name: target[name] for name in _TAG_FIELDS})
    return forms.InstanceFullTag(object_type=target["object_type"], deleted=False, **there)


def _class_name(description: str) -> str:
    return f"{_JAVA_PACKAGE}.{description.title().replace(' ', '')}Task"


def _java_text(context: Mapping[str, Any]) -> str:
    """The context as a Java object prints itself; so the documented answer of a cluster restart has it."""
    strings = ", ".join(f"{key}={value}" for key, value in context["stringMap"].items())
    lists = ", ".join(f"{key}=[{', '.join(value)}]" for key, value in context["listMap"].items())
    return f"Context(parallelIdx={context['parallelIdx']}, stringMap={{{strings}}}, listMap={{{lists}}})"
