# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The forms of a task.

A restart answers with a form of its own for each operation: which field appears where is told by the tables of
restart-operations.md, sections 2.2 and 2.3. Reading the same task gives other forms: BasicTaskInstance in the list,
WrappedTaskInstance for one (ocp-api.md, section 2).
"""

from typing import Literal

from pydantic import ConfigDict, SkipValidation, with_config
from typing_extensions import TypedDict

from ocp_emulator.schemas.schema import Form, Long, Timestamp, absent

TaskStatus = Literal["RUNNING", "FAILED", "SUCCESSFUL"]
SubtaskStatus = Literal["PENDING", "READY", "RUNNING", "CANCELING", "FAILED", "SUCCESSFUL"]
TaskOperation = Literal["EXECUTE", "RETRY", "ROLLBACK"]
SubtaskOperation = Literal["EXECUTE", "RETRY", "ROLLBACK", "SKIP", "CANCEL", "ROLLBACK_SKIP"]
TaskType = Literal["MANUAL"]
NodeType = Literal["JAVA_TASK"]


class Creator(Form):
    """The user who started a task."""

    id: Long
    name: str


# --- Answers of the restarts --------------------------------------------------------------------------------------


class LinkedSubtask(Form):
    """What every form of a subtask has that shows links (section 2.3)."""

    id: Long
    name: str
    description: str
    status: SubtaskStatus
    operation: SubtaskOperation
    upstreams: list[Long]
    downstreams: list[Long]


class ClusterRestartSubtask(LinkedSubtask):
    """The reduced form: nothing but the links."""


class FullSubtask(LinkedSubtask):
    """What all but the reduced form have."""

    node_type: NodeType
    parallel_idx: int
    prohibit_rollback: bool
    run_time: int
    series_id: int
    timeout: int


class RestartSubtask(FullSubtask):
    """A subtask in the answer of a server or arbitration service restart."""

    prohibit_skip: bool
    task_id: Long


class AgentRestartSubtask(FullSubtask):
    """A subtask in the answer of a batch restart of agents or of a zone restart."""

    class_name: str


class StartedTask(Form):
    """What every operation's task has (section 2.2)."""

    id: Long
    name: str
    operation: TaskOperation
    status: TaskStatus
    start_time: Timestamp


class ManualTask(StartedTask):
    """What the tasks of servers, agents and arbitration services have."""

    creator: str
    executor: str
    task_definition_id: int
    type: TaskType


class ServerRestart(ManualTask):
    """The task of a server restart (4.1); the start and the stop of a server have the same form."""

    cluster_id: Long
    host_id: Long
    prohibit_rollback: bool
    subtasks: list[RestartSubtask]


class RestartedCluster(Form):
    """The cluster in the answer of its restart."""

    id: Long
    name: str
    ob_cluster_id: Long


class ClusterRestart(StartedTask):
    """The task of a cluster restart (4.2), start or stop; its context is text."""

    cluster: RestartedCluster
    context: str
    creator: Creator
    tasks: list[ClusterRestartSubtask]


class AgentContext(Form):
    """The context of a batch restart of agents or of a zone restart; ids are strings in it."""

    list_map: dict[str, list[str]]
    parallel: bool
    parallel_idx: int
    string_map: dict[str, str]


class AgentRestart(ManualTask):
    """The task of a batch restart of agents (4.3)."""

    context: AgentContext
    subtasks: list[AgentRestartSubtask]


class ZoneRestart(ManualTask):
    """The task of a zone restart (ocp-api.md, 4.5); the start and the stop of a zone have the same form."""

    cluster_id: Long
    context: AgentContext
    subtasks: list[AgentRestartSubtask]


class ServerRestartOf11(ZoneRestart):
    """The task of a server restart in the form of older versions; the start and the stop of a server have it too."""


class ModernClusterRestart(ManualTask):
    """The task of a cluster restart, start or stop in the form of the other restarts."""

    cluster_id: Long
    prohibit_rollback: bool
    subtasks: list[RestartSubtask]


class ArbitrationRestart(ManualTask):
    """The task of an arbitration service restart (4.4)."""

    prohibit_rollback: bool
    subtasks: list[RestartSubtask]


# --- Answers of the reads -----------------------------------------------------------------------------------------


class TaskCluster(Form):
    """The cluster that a task belongs to."""

    id: Long
    name: str
    ob_cluster_id: Long
    type: Literal["PRIMARY", "STANDBY"]


class InstanceFullTag(Form):
    """One object that a task works on; only what applies to the object is there."""

    object_type: str
    deleted: bool
    cluster_id: Long = absent()
    cluster_name: str = absent()
    cluster_type: Literal["PRIMARY", "STANDBY"] = absent()
    ob_cluster_id: Long = absent()
    ob_version: str = absent()
    zone_name: str = absent()
    server_id: Long = absent()
    host_id: Long = absent()
    svr_ip: str = absent()
    arbitration_service_id: Long = absent()
    arbitration_service_svr_port: int = absent()


@with_config(ConfigDict(extra="forbid"))
class BasicSubtask(TypedDict):
    """A subtask in the list of tasks: no links. A page has tens of thousands, so they are no models."""

    id: Long
    name: str
    description: str
    status: SubtaskStatus
    operation: SubtaskOperation


class BasicTaskInstance(Form):
    """A task in the list. Its own `operation` is documented in lower case here, in capitals everywhere else.

    `operation` and `tags` come with newer versions of the service.
    """

    id: Long
    name: str
    cluster: TaskCluster = absent()
    creator: Creator
    status: TaskStatus
    operation: Literal["execute", "retry", "rollback"] = absent()
    start_time: Timestamp
    finish_time: Timestamp = absent()
    subtasks: SkipValidation[list[BasicSubtask]]
    tags: list[InstanceFullTag] = absent()


class SubtaskInstance(FullSubtask):
    """A subtask of one task that is read. `prohibitSkip` and `taskId` come with newer versions of the service."""

    prohibit_skip: bool = absent()
    task_id: Long = absent()
    create_time: Timestamp
    start_time: Timestamp = absent()
    finish_time: Timestamp = absent()
    executor: str = absent()


class WrappedTaskInstance(Form):
    """One task that is read. `isRemote` and `tags` come with newer versions of the service."""

    id: Long
    name: str
    task_definition_id: int
    cluster: TaskCluster = absent()
    creator: Creator
    status: TaskStatus
    type: TaskType
    operation: TaskOperation
    executor: str
    prohibit_rollback: bool
    is_remote: bool = absent()
    create_time: Timestamp
    start_time: Timestamp
    finish_time: Timestamp = absent()
    subtasks: list[SubtaskInstance]
    tags: list[InstanceFullTag] = absent()


class SubtaskLog(Form):
    """The log of a subtask as one text; empty before it has run."""

    log: str
