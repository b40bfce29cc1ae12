# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How faults of kind `answer` falsify records in an answer: status words, late or unmoved starts."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ocp_emulator.base.clock import SECOND
from ocp_emulator.base.time_format import iso
from ocp_emulator.faults.answer_faults import AnswerFault, RecordType
from ocp_emulator.faults.request_faults import Planned
from ocp_emulator.schemas.fleet_schemas import Agent, AgentProcess, ArbitrationService, Cluster, Host, Server, ZoneState
from ocp_emulator.schemas.obproxy_schemas import ObProxy
from ocp_emulator.schemas.restart_schemas import StartedTask
from ocp_emulator.schemas.schema import Schema
from ocp_emulator.schemas.task_schemas import BasicTaskInstance, WrappedTaskInstance


@dataclass(frozen=True)
class _Record:
    """How a schema shows a record: its type, and the fields of its id and its status."""

    type: RecordType
    id: str = "id"
    status: str = "status"


_RECORDS: Mapping[type[Schema], _Record] = {
    Server: _Record("server"),
    ZoneState: _Record("zone", id="number"),
    Cluster: _Record("cluster"),
    Host: _Record("agent", status="host_agent_status"),
    Agent: _Record("agent", id="host_id"),
    ArbitrationService: _Record("arbitration_service"),
    ObProxy: _Record("obproxy"),
    BasicTaskInstance: _Record("task"),
    WrappedTaskInstance: _Record("task"),
    StartedTask: _Record("task"),
}

# The targets of tasks that work on a record.
_TARGETS: Mapping[RecordType, str] = {
    "server": """server_id = :id
        OR object_type = 'OB_ZONE' AND zone_id = (SELECT zone_id FROM servers WHERE id = :id)
        OR object_type = 'OB_CLUSTER' AND cluster_id = (SELECT cluster_id FROM servers WHERE id = :id)""",
    "zone": """zone_id = :id
        OR object_type = 'OB_CLUSTER' AND cluster_id = (SELECT cluster_id FROM zones WHERE id = :id)""",
    "cluster": "cluster_id = :id",
    "agent": "object_type = 'HOST' AND host_id = :id",
    "arbitration_service": "arbitration_service_id = :id",
    "obproxy": "obproxy_id = :id",
    "task": "task_id = :id",
}


@dataclass(frozen=True)
class RecordChanges:
    """Changes the records of one answer, as seen in `db` at `now`."""

    db: sqlite3.Connection
    now: int

    def apply(self, planned: Planned[AnswerFault], data: object) -> object:
        """The data of the answer as the fault shows it; the same object if there is nothing to change."""
        change = self._changed_status if planned.fault.action == "status" else self._changed_start
        return _walk(data, lambda record: change(planned, record))

    def _changed_status(self, planned: Planned[AnswerFault], record: Schema) -> Schema:
        kind = next((found for schema, found in _RECORDS.items() if isinstance(record, schema)), None)
        fault, match = planned.fault, planned.fault.match
        if kind is None or kind.type != match.record or match.id not in (None, getattr(record, kind.id)):
            return record
        if match.status not in (None, getattr(record, kind.status)):
            return record
        if match.after_task and not self._has_succeeded(kind.type, getattr(record, kind.id), planned.create_time):
            return record
        shown = {kind.status: fault.status, "inner_status": fault.inner_status}
        changed = {name: word for name, word in shown.items() if word not in (None, getattr(record, name, None))}
        return record.model_copy(update=changed) if changed else record

    def _has_succeeded(self, kind: RecordType, record_id: int, since: int) -> bool:
        """Whether a task on this record has ended SUCCESSFUL since then."""
        return bool(
            self.db.execute(
                "SELECT EXISTS (SELECT 1 FROM targets JOIN tasks ON tasks.id = task_id"
                f" WHERE tasks.status = 'SUCCESSFUL' AND finish_time >= :since AND ({_TARGETS[kind]}))",
                {"id": record_id, "since": since},
            ).fetchone()[0]
        )

    def _changed_start(self, planned: Planned[AnswerFault], record: Schema) -> Schema:
        match = planned.fault.match
        changed: dict[str, Any] = {}
        if isinstance(record, Server) and _fits(match.record, match.id, "server", record.id):
            start = self._shown_start(planned, "OB_SERVER", record.id)
            changed = {} if start is None else {"start_time": iso(start)}
        elif isinstance(record, Cluster) and _fits(match.record, match.id, "cluster", record.id):
            start = self._shown_start(planned, "OB_CLUSTER", record.id)
            changed = {} if start is None or not record.ob_start_time else {"ob_start_time": iso(start)}
        elif isinstance(record, AgentProcess) and _fits(match.record, match.id, "agent", record.host_id):
            start = self._shown_start(planned, "AGENT_PROCESS", record.id)
            if start is not None and record.pid > 0:
                changed = {"elapsed_time": (self.now - start) // SECOND}
        return record.model_copy(update=changed) if changed else record

    def _shown_start(self, planned: Planned[AnswerFault], object_type: str, object_id: int) -> int | None:
        """The start that the fault shows; None for the true one."""
        starts = self.db.execute(
            "SELECT before, finish_time FROM starts LEFT JOIN tasks ON tasks.id = task_id"
            " WHERE object_type = ? AND object_id = ? AND at >= ? ORDER BY starts.id",
            (object_type, object_id, planned.create_time),
        ).fetchall()
        milliseconds = planned.fault.milliseconds()
        if planned.fault.action == "moved_start":
            return int(starts[0]["before"]) + len(starts) * milliseconds if starts else None
        hidden = (
            row["before"]
            for row in starts
            if row["finish_time"] is None or self.now < row["finish_time"] + milliseconds
        )
        return next(hidden, None)


def _fits(wanted: str | None, wanted_id: int | None, record: str, record_id: int) -> bool:
    return wanted in (None, record) and wanted_id in (None, record_id)


def _walk(value: object, change: Callable[[Schema], Schema]) -> object:
    """A value of an answer with each schema in it changed; the same object if none was."""
    if isinstance(value, Schema):
        fields = {name: getattr(value, name) for name in value.model_fields_set}
        changed = {name: new for name, old in fields.items() if (new := _walk(old, change)) is not old}
        return change(value.model_copy(update=changed) if changed else value)
    if isinstance(value, list):
        elements: Sequence[object] = [_walk(element, change) for element in value]
        return elements if any(new is not old for new, old in zip(elements, value, strict=True)) else value
    return value
