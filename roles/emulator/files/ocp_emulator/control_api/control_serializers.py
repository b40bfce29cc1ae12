# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The plan of faults, restart counts, values of parameters, lock-outs and requests as the control API shows them."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable

from ocp_emulator.base import errors
from ocp_emulator.base.time_format import iso
from ocp_emulator.control_api import control_schemas as schemas
from ocp_emulator.faults.parse_fault import parse_fault
from ocp_emulator.schemas.envelope import Listed, Paged
from ocp_emulator.security import lockout
from ocp_emulator.serializers.paging import PageRequest, list_page
from ocp_emulator.web.request_log import RequestRecord

_RESTARTS = """
    SELECT 'OB_SERVER' AS object_type, id, ip || ':' || port AS name, restarts FROM servers WHERE restarts
    UNION ALL SELECT 'OB_ZONE', zones.id, clusters.name || '/' || zones.name, zones.restarts
        FROM zones JOIN clusters ON clusters.id = cluster_id WHERE zones.restarts
    UNION ALL SELECT 'OB_CLUSTER', id, name, restarts FROM clusters WHERE restarts
    UNION ALL SELECT 'HOST', id, ip, restarts FROM hosts WHERE restarts
    UNION ALL SELECT 'ARBITRATION_SERVICE', id, ip || ':' || port, restarts FROM arbitration_services WHERE restarts
    UNION ALL SELECT 'OBPROXY', id, ip || ':' || port, restarts FROM obproxies WHERE restarts
    ORDER BY object_type, id
"""

_PARAMETERS = """
    SELECT server_id, parameters.name, CASE WHEN up THEN value END AS value, set_value
    FROM parameters JOIN servers ON servers.id = server_id
"""
_SERVERS = """
    SELECT servers.id, ip || ':' || port AS name, cluster_id, clusters.name AS cluster_name,
        (SELECT count(*) FROM starts WHERE object_type = 'OB_SERVER' AND object_id = servers.id) AS starts
    FROM servers JOIN clusters ON clusters.id = cluster_id ORDER BY servers.id
"""


def fault_list(db: sqlite3.Connection) -> Listed[schemas.Fault]:
    """All faults of the plan, in its order."""
    return Listed[schemas.Fault](contents=[_fault(row) for row in db.execute("SELECT * FROM faults ORDER BY id")])


def fault_detail(db: sqlite3.Connection, fault_id: int) -> schemas.Fault:
    """One fault. ApiError 404."""
    row = db.execute("SELECT * FROM faults WHERE id = ?", (fault_id,)).fetchone()
    if row is None:
        raise errors.not_found(f"Fault {fault_id}")
    return _fault(row)


def restart_list(db: sqlite3.Connection) -> Listed[schemas.RestartCount]:
    """Every target that a start step started at least once."""
    return Listed[schemas.RestartCount](contents=[schemas.RestartCount(**dict(row)) for row in db.execute(_RESTARTS)])


def server_parameters(db: sqlite3.Connection) -> Listed[schemas.ServerParameters]:
    """Every server with what it runs with."""
    found: dict[int, dict[str, schemas.ParameterOfServer]] = defaultdict(dict)
    for row in db.execute(_PARAMETERS):
        found[row["server_id"]][row["name"]] = schemas.ParameterOfServer(value=row["value"], set_value=row["set_value"])
    return Listed[schemas.ServerParameters](
        contents=[schemas.ServerParameters(**dict(row), parameters=found[row["id"]]) for row in db.execute(_SERVERS)]
    )


def lockout_list(db: sqlite3.Connection, now: int) -> Listed[schemas.Lockout]:
    """Users and clients that are locked now, oldest lock-out first."""
    return Listed[schemas.Lockout](
        contents=[
            schemas.Lockout(kind=row["kind"], name=row["name"], since=iso(row["since"]), until=iso(row["until"]))
            for row in lockout.active_lockouts(db, now)
        ]
    )


def request_page(page_request: PageRequest, found: Iterable[RequestRecord]) -> Paged[schemas.SeenRequest]:
    """A page of these requests."""
    return list_page(page_request, list(found), _request, Paged[schemas.SeenRequest])


def _request(record: RequestRecord) -> schemas.SeenRequest:
    return schemas.SeenRequest(
        id=record.id,
        time=iso(record.time),
        method=record.method,
        path=record.path,
        query=record.query,
        body=record.body,
        user=record.user,
        status=record.status,
        milliseconds=record.milliseconds,
        trace_id=record.trace_id,
        fault=None if record.fault is None else schemas.Hit(id=record.fault[0], action=record.fault[1]),
        task_id=record.task_id,
    )


def _fault(row: sqlite3.Row) -> schemas.Fault:
    return schemas.Fault(
        id=row["id"],
        fault=parse_fault(json.loads(row["fault"])),
        hits=row["hits"],
        create_time=iso(row["create_time"]),
    )
