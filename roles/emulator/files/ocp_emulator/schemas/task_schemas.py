# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fields and status words of tasks and subtasks that are read, in the list and one by one.

They are documented (docs/dev/contract.md, "Task list"). A restart responds with other schemas: restart_schemas.py.
"""

from typing import Literal

from pydantic import ConfigDict, SkipValidation, with_config
from typing_extensions import TypedDict

from ocp_emulator.schemas.schema import Long, Schema, Timestamp, absent

TaskStatus = Literal["RUNNING", "FAILED", "SUCCESSFUL"]
SubtaskStatus = Literal["PENDING", "READY", "RUNNING", "CANCELING", "FAILED", "SUCCESSFUL"]
TaskOperation = Literal["EXECUTE", "RETRY", "ROLLBACK"]
SubtaskOperation = Literal["EXECUTE", "RETRY", "ROLLBACK", "SKIP", "CANCEL", "ROLLBACK_SKIP"]
TaskType = Literal["MANUAL"]
NodeType = Literal["JAVA_TASK"]


class Creator(Schema):
    """The user who started a task."""

    id: Long
    name: str


class LinkedSubtask(Schema):
    """The fields of every form of a subtask that shows links."""

    id: Long
    name: str
    description: str
    status: SubtaskStatus
    operation: SubtaskOperation
    upstreams: list[Long]
    downstreams: list[Long]


class FullSubtask(LinkedSubtask):
    """The fields of all forms but the reduced one."""

    node_type: NodeType
    parallel_idx: int
    prohibit_rollback: bool
    run_time: int
    series_id: int
    timeout: int


class TaskCluster(Schema):
    """The cluster that a task belongs to."""

    id: Long
    name: str
    ob_cluster_id: Long
    type: Literal["PRIMARY", "STANDBY"]


class InstanceFullTag(Schema):
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
    obproxy_id: Long = absent()


@with_config(ConfigDict(extra="forbid"))
class BasicSubtask(TypedDict):
    """A subtask in the list of tasks: no links. A page has tens of thousands, so they are no models."""

    id: Long
    name: str
    description: str
    status: SubtaskStatus
    operation: SubtaskOperation


class BasicTaskInstance(Schema):
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


class WrappedTaskInstance(Schema):
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


class SubtaskLog(Schema):
    """The log of a subtask as one text; empty before it has run."""

    log: str
