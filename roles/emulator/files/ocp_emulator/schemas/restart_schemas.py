# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fields of the task in the answer to each restart, start and stop.

docs/dev/contract.md, "Task" and "Subtask", says which field appears where. Reading the same task gives other schemas:
task_schemas.py.
"""

from ocp_emulator.schemas.schema import Long, Schema, Timestamp
from ocp_emulator.schemas.task_schemas import Creator, FullSubtask, LinkedSubtask, TaskOperation, TaskStatus, TaskType


class ClusterRestartSubtask(LinkedSubtask):
    """The reduced form: nothing but the links."""


class RestartSubtask(FullSubtask):
    """A subtask in the answer of a server or arbitration service restart."""

    prohibit_skip: bool
    task_id: Long


class AgentRestartSubtask(FullSubtask):
    """A subtask in the answer of a batch restart of agents or of a zone restart."""

    class_name: str


class StartedTask(Schema):
    """The fields of the task of every operation."""

    id: Long
    name: str
    status: TaskStatus
    start_time: Timestamp


class ManualTask(StartedTask):
    """The fields of the tasks of servers, agents and arbitration services."""

    operation: TaskOperation
    creator: str
    executor: str
    task_definition_id: int
    type: TaskType


class ServerRestart(ManualTask):
    """The task of a server restart, start or stop."""

    cluster_id: Long
    host_id: Long
    prohibit_rollback: bool
    subtasks: list[RestartSubtask]


class RestartedCluster(Schema):
    """The cluster in the answer of its restart, start or stop."""

    id: Long
    name: str
    ob_cluster_id: Long


class ReducedTask(StartedTask):
    """The task of the start or stop of a cluster, and in older versions of a server; its context is text."""

    cluster: RestartedCluster
    context: str
    creator: Creator
    tasks: list[ClusterRestartSubtask]


class ClusterRestart(ReducedTask):
    """The task of a cluster restart."""

    operation: TaskOperation


class AgentContext(Schema):
    """The context of a batch restart of agents or of a zone restart; ids are strings in it."""

    list_map: dict[str, list[str]]
    parallel: bool
    parallel_idx: int
    string_map: dict[str, str]


class AgentRestart(ManualTask):
    """The task of a batch restart of agents."""

    context: AgentContext
    subtasks: list[AgentRestartSubtask]


class SingleAgentRestart(AgentRestart):
    """The task of a restart of the agent of one host; the stop has the same form."""

    host_id: Long


class ObProxyRestart(AgentRestart):
    """The task of a restart of OBProxies: its context has their ids, which no read shows."""


class ZoneRestart(ManualTask):
    """The task of a zone restart; the start and the stop of a zone have the same form."""

    cluster_id: Long
    context: AgentContext
    subtasks: list[AgentRestartSubtask]


class ServerRestartOf11(ZoneRestart):
    """The task of a server restart in the form of older versions."""


class ModernClusterRestart(ManualTask):
    """The task of a cluster restart, start or stop in the form of the other restarts."""

    cluster_id: Long
    prohibit_rollback: bool
    subtasks: list[RestartSubtask]


class ArbitrationRestart(ManualTask):
    """The task of an arbitration service restart."""

    prohibit_rollback: bool
    subtasks: list[RestartSubtask]
