# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The new task as JSON in the answer to each restart, start, stop and inspection.

See docs/dev/contract.md, "Task".
"""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from ocp_emulator.schemas import restart_schemas as schemas
from ocp_emulator.schemas.inspection_schemas import InspectionTask
from ocp_emulator.serializers import task_rows
from ocp_emulator.tasks import task_actions

# Parameters that a task keeps in its context for its steps. No documented context shows them.
_PARAMETERS = {"freeze_server", "force"}

_JAVA_PACKAGE = "com.oceanbase.ocp.emulator.task"


def server_restart(db: sqlite3.Connection, task_id: int) -> schemas.ServerRestart:
    """The response of 4.1."""
    task, target = task_rows.task_of(db, task_id), task_rows.targets_of(db, [task_id])[task_id][0]
    return schemas.ServerRestart(
        **_manual_task_fields(task),
        cluster_id=target["cluster_id"],
        host_id=target["host_id"],
        prohibit_rollback=task_actions.prohibits_rollback(db, task),
        subtasks=[
            schemas.RestartSubtask(**task_rows.newest_fields(subtask)) for subtask in task_rows.subtasks_of(db, task_id)
        ],
    )


def server_restart_of_11(db: sqlite3.Connection, task_id: int) -> schemas.ServerRestartOf11:
    """The response of 4.1 in older versions."""
    task, target = task_rows.task_of(db, task_id), task_rows.targets_of(db, [task_id])[task_id][0]
    return schemas.ServerRestartOf11(
        **_manual_task_fields(task), **_batch_fields(db, task), cluster_id=target["cluster_id"]
    )


def cluster_restart(db: sqlite3.Connection, task_id: int) -> schemas.ClusterRestart:
    """The response of 4.2."""
    return schemas.ClusterRestart(**_reduced_fields(db, task_id), operation=task_rows.task_of(db, task_id)["operation"])


def reduced_task(db: sqlite3.Connection, task_id: int) -> schemas.ReducedTask:
    """The response of the start or stop of a cluster, and in older versions of a server."""
    return schemas.ReducedTask(**_reduced_fields(db, task_id))


def _reduced_fields(db: sqlite3.Connection, task_id: int) -> dict[str, Any]:
    task, target = task_rows.task_of(db, task_id), task_rows.targets_of(db, [task_id])[task_id][0]
    started = task_rows.started_fields(task)
    del started["operation"]
    return dict(
        **started,
        cluster=schemas.RestartedCluster(
            id=target["cluster_id"], name=target["cluster_name"], ob_cluster_id=target["ob_cluster_id"]
        ),
        context=_java_text(json.loads(task["context"])),
        creator=task_rows.creator(task),
        tasks=[
            schemas.ClusterRestartSubtask(**task_rows.linked_fields(subtask))
            for subtask in task_rows.subtasks_of(db, task_id)
        ],
    )


def modern_cluster_restart(db: sqlite3.Connection, task_id: int) -> schemas.ModernClusterRestart:
    """The response of 4.2 in the schema of the other restarts."""
    task, target = task_rows.task_of(db, task_id), task_rows.targets_of(db, [task_id])[task_id][0]
    return schemas.ModernClusterRestart(
        **_manual_task_fields(task),
        cluster_id=target["cluster_id"],
        prohibit_rollback=task_actions.prohibits_rollback(db, task),
        subtasks=[
            schemas.RestartSubtask(**task_rows.newest_fields(subtask)) for subtask in task_rows.subtasks_of(db, task_id)
        ],
    )


def zone_restart(db: sqlite3.Connection, task_id: int) -> schemas.ZoneRestart:
    """The response of a zone restart, start or stop."""
    task, target = task_rows.task_of(db, task_id), task_rows.targets_of(db, [task_id])[task_id][0]
    return schemas.ZoneRestart(**_manual_task_fields(task), **_batch_fields(db, task), cluster_id=target["cluster_id"])


def agent_restart(db: sqlite3.Connection, task_id: int) -> schemas.AgentRestart:
    """The response of 4.3."""
    task = task_rows.task_of(db, task_id)
    return schemas.AgentRestart(**_manual_task_fields(task), **_batch_fields(db, task))


def single_agent_restart(db: sqlite3.Connection, task_id: int) -> schemas.SingleAgentRestart:
    """The response of the restart or stop of the agent of one host."""
    task, target = task_rows.task_of(db, task_id), task_rows.targets_of(db, [task_id])[task_id][0]
    return schemas.SingleAgentRestart(**_manual_task_fields(task), **_batch_fields(db, task), host_id=target["host_id"])


def obproxy_restart(db: sqlite3.Connection, task_id: int) -> schemas.ObProxyRestart:
    """The response of a restart of OBProxies."""
    task = task_rows.task_of(db, task_id)
    return schemas.ObProxyRestart(**_manual_task_fields(task), **_batch_fields(db, task))


def arbitration_restart(db: sqlite3.Connection, task_id: int) -> schemas.ArbitrationRestart:
    """The response of 4.4."""
    return schemas.ArbitrationRestart(**_untargeted_task_fields(db, task_id))


def inspection_task(db: sqlite3.Connection, task_id: int) -> InspectionTask:
    """The task in the response of an inspection."""
    return InspectionTask(**_untargeted_task_fields(db, task_id))


def _untargeted_task_fields(db: sqlite3.Connection, task_id: int) -> dict[str, Any]:
    task = task_rows.task_of(db, task_id)
    return {
        **_manual_task_fields(task),
        "prohibit_rollback": task_actions.prohibits_rollback(db, task),
        "subtasks": [
            schemas.RestartSubtask(**task_rows.newest_fields(subtask)) for subtask in task_rows.subtasks_of(db, task_id)
        ],
    }


def _manual_task_fields(task: sqlite3.Row) -> dict[str, Any]:
    return {
        **task_rows.started_fields(task),
        "creator": task["creator_name"],
        "executor": task["executor"],
        "task_definition_id": task_rows.TASK_DEFINITION_ID,
        "type": task_rows.TYPE,
    }


def _batch_fields(db: sqlite3.Connection, task: sqlite3.Row) -> dict[str, Any]:
    context = json.loads(task["context"])
    strings = {key: value for key, value in context["stringMap"].items() if key not in _PARAMETERS}
    return {
        "context": schemas.AgentContext.model_validate({**context, "stringMap": strings}),
        "subtasks": [
            schemas.AgentRestartSubtask(
                **task_rows.full_fields(subtask), class_name=_class_name(subtask.row["description"])
            )
            for subtask in task_rows.subtasks_of(db, task["id"])
        ],
    }


def _class_name(description: str) -> str:
    return f"{_JAVA_PACKAGE}.{description.title().replace(' ', '')}Task"


def _java_text(context: Mapping[str, Any]) -> str:
    """The context as Java prints an object: this is how the documented response of a cluster restart shows it."""
    strings = ", ".join(f"{key}={value}" for key, value in context["stringMap"].items())
    lists = ", ".join(f"{key}=[{', '.join(value)}]" for key, value in context["listMap"].items())
    return f"Context(parallelIdx={context['parallelIdx']}, stringMap={{{strings}}}, listMap={{{lists}}})"
