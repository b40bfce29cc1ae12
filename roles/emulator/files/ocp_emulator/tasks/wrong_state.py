# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Refuses operations that the state of their target does not allow: a start of what runs, a stop of what is stopped.

The codes are those of the error table (docs/dev/contract.md, "Errors and statuses"). When exactly the service refuses
is our choice. A restart needs a target that exists; a target that another task works on is busy, which is decided
elsewhere.
"""

import sqlite3

from ocp_emulator.base import errors
from ocp_emulator.tasks.operation_targets import NewTask
from ocp_emulator.tasks.subtask_graph import TaskKind

_STARTS = frozenset({TaskKind.SERVER_START, TaskKind.ZONE_START, TaskKind.CLUSTER_START})
_STOPS = frozenset({TaskKind.SERVER_STOP, TaskKind.ZONE_STOP, TaskKind.CLUSTER_STOP})
# What comes or goes takes no operation.
_NOT_THERE = frozenset({"CREATING", "DELETING", "DELETED", "TAKINGOVER", "MOVINGOUT"})
_AGENT_NOT_THERE = frozenset({"REINTSTALLING", "DELETED"})
_STARTABLE = "STOPPED or UNAVAILABLE"
_THERE = "RUNNING, STOPPED or UNAVAILABLE"


def refuse_wrong_state(db: sqlite3.Connection, new_task: NewTask) -> None:
    """Raise ApiError 400 when the state of a target does not allow the operation."""
    for target in new_task.targets:
        if target.object_type == "OB_SERVER":
            _refuse_server(db, new_task, target.server_id)
        elif target.object_type == "OB_ZONE":
            _refuse(errors.ZONE_STATE, new_task, _status(db, "zones", target.zone_id))
        elif target.object_type == "OB_CLUSTER":
            _refuse(errors.CLUSTER_STATE, new_task, _status(db, "clusters", target.cluster_id))
        elif target.object_type == "HOST":
            _refuse_agent(db, new_task, target.host_id)


def _refuse_server(db: sqlite3.Connection, new_task: NewTask, server_id: int | None) -> None:
    row = db.execute("SELECT * FROM servers WHERE id = ?", (server_id,)).fetchone()
    status = str(row["status"])
    # Only its service is stopped: the process can still be stopped.
    if status == "STOPPED" and row["up"] and new_task.blueprint.stops_process():
        return
    _refuse(errors.SERVER_STATE, new_task, status)
    if new_task.blueprint.kind == TaskKind.SERVER_STOP:
        (servers,) = db.execute(
            "SELECT count(*) FROM servers WHERE cluster_id = ? AND status <> 'DELETED'", (row["cluster_id"],)
        ).fetchone()
        if servers == 1:
            raise errors.only_server(new_task.label)


def _refuse_agent(db: sqlite3.Connection, new_task: NewTask, host_id: int | None) -> None:
    (status,) = db.execute("SELECT agent_status FROM hosts WHERE id = ?", (host_id,)).fetchone()
    if status in _AGENT_NOT_THERE or (new_task.blueprint.kind == TaskKind.AGENT_STOP and status == "OFFLINE"):
        raise errors.wrong_state(errors.AGENT_STATE, f"The agent of host {host_id}", status, "AVAILABLE")


def _refuse(code: int, new_task: NewTask, status: str) -> None:
    kind = new_task.blueprint.kind
    if status in _NOT_THERE:
        raise errors.wrong_state(code, new_task.label, status, _THERE)
    if kind in _STARTS and status == "RUNNING":
        raise errors.wrong_state(code, new_task.label, status, _STARTABLE)
    if kind in _STOPS and status == "STOPPED":
        raise errors.wrong_state(code, new_task.label, status, "RUNNING or UNAVAILABLE")


def _status(db: sqlite3.Connection, table: str, number: int | None) -> str:
    (status,) = db.execute(f"SELECT status FROM {table} WHERE id = ?", (number,)).fetchone()
    return str(status)
