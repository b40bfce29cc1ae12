# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Audit events as JSON: an event shows who requested an operation, not the outcome of its task."""

import json
import sqlite3

from ocp_emulator.base.compatibility import RecordFields
from ocp_emulator.base.time_format import iso
from ocp_emulator.schemas import audit_schemas as schemas
from ocp_emulator.schemas.envelope import Paged
from ocp_emulator.serializers.paging import PageRequest, query_page
from ocp_emulator.tasks.audit import EVENTS
from ocp_emulator.tasks.subtask_graph import TaskKind

# The target of each type: type of event and resource, and the columns of `targets` with its id and its name.
_RESOURCES = {
    "HOST": ("COMPUTE_HOST_MANAGEMENT", "COMPUTE_HOST", "host_id", "host_ip"),
    "OB_SERVER": ("OB_CLUSTER_MANAGEMENT", "OB_SERVER", "server_id", "server_ip"),
    "OB_ZONE": ("OB_CLUSTER_MANAGEMENT", "OB_ZONE", "zone_id", "zone_name"),
    "OB_CLUSTER": ("OB_CLUSTER_MANAGEMENT", "OB_CLUSTER", "cluster_id", "cluster_name"),
    "ARBITRATION_SERVICE": ("ARBITRATION_MANAGEMENT", "ARBITRATION_SERVICE", "arbitration_service_id", "host_ip"),
    "OBPROXY": ("OBPROXY_MANAGEMENT", "OBPROXY", "obproxy_id", "host_ip"),
}
_IN_EVENT = {"clusterId": "cluster_id", "zoneName": "zone_name", "serverId": "server_id", "hostId": "host_id"}

_EVENTS = " FROM audit_events AS t"
_DETAILS = """
    SELECT audit_events.id AS event_id, client, tasks.id AS task_number, tasks.kind, tasks.creator_id,
        tasks.creator_name, tasks.create_time, targets.*, clusters.name AS cluster_name, zones.name AS zone_name,
        servers.ip AS server_ip, hosts.ip AS host_ip
    FROM audit_events JOIN tasks ON tasks.id = audit_events.task_id JOIN targets ON targets.rowid = target
    LEFT JOIN clusters ON clusters.id = targets.cluster_id LEFT JOIN zones ON zones.id = targets.zone_id
    LEFT JOIN servers ON servers.id = targets.server_id LEFT JOIN hosts ON hosts.id = targets.host_id
    WHERE audit_events.id IN (SELECT value FROM json_each(?))
"""


def event_page(db: sqlite3.Connection, page_request: PageRequest, fields: RecordFields) -> Paged[schemas.AuditEvent]:
    """A page of the audit events."""

    def serialize(rows: list[sqlite3.Row]) -> list[schemas.AuditEvent]:
        ids = [row["id"] for row in rows]
        details = {row["event_id"]: row for row in db.execute(_DETAILS, (json.dumps(ids),)).fetchall()}
        return [_event(details[number], fields) for number in ids]

    return query_page(db, page_request, _EVENTS, {}, serialize, Paged[schemas.AuditEvent])


def _event(row: sqlite3.Row, fields: RecordFields) -> schemas.AuditEvent:
    event_type, resource_type, number, name = _RESOURCES[row["object_type"]]
    info = {key: row[column] for key, column in _IN_EVENT.items() if row[column] is not None}
    asked = iso(row["create_time"])
    return schemas.AuditEvent(
        id=row["event_id"],
        client_ip=row["client"],
        event_type=event_type,
        event_info=json.dumps(info, separators=(",", ":")),
        execution_type="NEW",
        operation_event=EVENTS[TaskKind(row["kind"])],
        operator_id=row["creator_id"],
        operator_name=row["creator_name"],
        resource_id=row[number],
        resource_name=row[name],
        resource_type=resource_type,
        status="SUCCESSFUL",
        **({"task_id": row["task_number"]} if fields == "newest" else {}),
        start_time=asked,
        end_time=asked,
    )
