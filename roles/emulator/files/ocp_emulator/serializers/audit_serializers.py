# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Audit events as JSON: an event shows who requested an operation, not the outcome of its task."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from ocp_emulator.base.compatibility import RecordFields
from ocp_emulator.base.time_format import iso
from ocp_emulator.schemas import audit_schemas as schemas
from ocp_emulator.schemas.envelope import Paged
from ocp_emulator.serializers.paging import PageRequest, query_page
from ocp_emulator.serializers.shared_fields import json_or_null
from ocp_emulator.tasks.audit import EVENTS
from ocp_emulator.tasks.subtask_graph import TaskKind

# The target of each type: type of event and resource, and the columns of its id and its name.
_RESOURCES = {
    "HOST": ("COMPUTE_HOST_MANAGEMENT", "COMPUTE_HOST", "host_id", "host_ip"),
    "OB_SERVER": ("OB_CLUSTER_MANAGEMENT", "OB_CLUSTER", "cluster_id", "cluster_name"),
    "OB_ZONE": ("OB_CLUSTER_MANAGEMENT", "OB_CLUSTER", "cluster_id", "cluster_name"),
    "OB_CLUSTER": ("OB_CLUSTER_MANAGEMENT", "OB_CLUSTER", "cluster_id", "cluster_name"),
    "ARBITRATION_SERVICE": ("ARBITRATION_MANAGEMENT", "ARBITRATION_SERVICE", "arbitration_service_id", "host_ip"),
    "OBPROXY": ("OB_PROXY_CLUSTER_MANAGEMENT", "OB_PROXY_CLUSTER", "obproxy_cluster_id", "obproxy_cluster_name"),
}
_IN_EVENT = {"clusterId": "cluster_id", "zoneName": "zone_name", "serverId": "server_id", "hostId": "host_id"}

_EVENTS = """
    FROM (
        SELECT audit_events.id AS id, client, tasks.id AS task_number, tasks.kind, tasks.creator_id,
            tasks.creator_name, tasks.create_time, targets.object_type, targets.cluster_id, targets.server_id,
            targets.host_id, targets.arbitration_service_id, clusters.name AS cluster_name, zones.name AS zone_name,
            hosts.ip AS host_ip, obproxy_clusters.id AS obproxy_cluster_id,
            obproxy_clusters.name AS obproxy_cluster_name
        FROM audit_events JOIN tasks ON tasks.id = audit_events.task_id JOIN targets ON targets.rowid = target
        LEFT JOIN clusters ON clusters.id = targets.cluster_id LEFT JOIN zones ON zones.id = targets.zone_id
        LEFT JOIN hosts ON hosts.id = targets.host_id LEFT JOIN obproxies ON obproxies.id = targets.obproxy_id
        LEFT JOIN obproxy_clusters ON obproxy_clusters.id = obproxies.cluster_id
    ) AS t
    WHERE (:kinds IS NULL OR t.kind IN (SELECT value FROM json_each(:kinds)))
    AND (:types IS NULL OR t.object_type IN (SELECT value FROM json_each(:types)))
    AND (:resource IS NULL OR :resource IN (t.cluster_name, t.obproxy_cluster_name)
        OR :resource = t.host_ip AND t.object_type IN ('HOST', 'ARBITRATION_SERVICE'))
    AND (:operators IS NULL OR t.creator_id IN (SELECT value FROM json_each(:operators)))
    AND (:statuses IS NULL OR EXISTS (SELECT 1 FROM json_each(:statuses) WHERE value = 'SUCCESS'))
    AND t.create_time BETWEEN coalesce(:since, t.create_time) AND coalesce(:until, t.create_time)
"""
_SORTABLE = {"id": "t.id", "startTime": "t.create_time", "endTime": "t.create_time"}


@dataclass(frozen=True)
class EventFilter:
    """The filters of the list of events; None for any. `since` and `until` are about when they began."""

    types: Sequence[str] | None = None
    operations: Sequence[str] | None = None
    resource: str | None = None
    operators: Sequence[int] | None = None
    statuses: Sequence[str] | None = None
    since: int | None = None
    until: int | None = None


def event_page(
    db: sqlite3.Connection, page_request: PageRequest, chosen: EventFilter, fields: RecordFields
) -> Paged[schemas.AuditEvent]:
    """A page of the audit events."""
    values = {
        "kinds": json_or_null(chosen.operations and [kind for kind in EVENTS if EVENTS[kind] in chosen.operations]),
        "types": json_or_null(chosen.types and [each for each in _RESOURCES if _RESOURCES[each][0] in chosen.types]),
        "resource": chosen.resource,
        "operators": json_or_null(chosen.operators),
        "statuses": json_or_null(chosen.statuses),
        "since": chosen.since,
        "until": chosen.until,
    }

    def serialize(rows: list[sqlite3.Row]) -> list[schemas.AuditEvent]:
        return [_event(row, fields) for row in rows]

    return query_page(db, page_request, _EVENTS, values, serialize, Paged[schemas.AuditEvent], _SORTABLE)


def _event(row: sqlite3.Row, fields: RecordFields) -> schemas.AuditEvent:
    event_type, resource_type, number, name = _RESOURCES[row["object_type"]]
    info = {key: row[column] for key, column in _IN_EVENT.items() if row[column] is not None}
    asked = iso(row["create_time"])
    return schemas.AuditEvent(
        id=row["id"],
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
        status="SUCCESS",
        **({"task_id": row["task_number"]} if fields == "newest" else {}),
        start_time=asked,
        end_time=asked,
    )
