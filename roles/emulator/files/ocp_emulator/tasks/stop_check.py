# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The database's own check of ALTER SYSTEM STOP SERVER: it refuses in the steps that stop the service of servers.

Error -4660: a server or zone of another zone is stopped. Error -4179: a log stream of any tenant has no leader, the
locality of a tenant changes, the voters on the other servers are no majority, or logs differ by more than 5 seconds. An
arbitration service makes up for one of two voters only. Servers that are down or stopped already are not checked, nor
is an operation with `force`, or one on a whole cluster.
"""

import json
import sqlite3

from ocp_emulator.fleet.voters import TenantVoters
from ocp_emulator.store.tenant_voters import read_tenant_voters
from ocp_emulator.tasks.pre_check import CHECKED, is_arbitrated
from ocp_emulator.tasks.subtask_graph import StepAction, TaskKind

_STOPS = frozenset({StepAction.FREEZE, StepAction.STOP_SERVICE, StepAction.STOP_ZONE})
_ZONE_STOPPED, _NOT_ALLOWED = -4660, -4179
_LAG, _MOST_LAG = "max_full_clog_sync_delay_second", 5
_CHANGING = {"MODIFYING": "its locality is changing", "CREATING": "it has no leader yet"}

# Out of service in the database: stopped, or by a task that has stopped it and not yet started it again.
_OUT_OF_SERVICE = """
    (stop_time > 0 OR EXISTS (
        SELECT 1 FROM subtasks WHERE task_id = operating_task AND action IN ('FREEZE', 'STOP_SERVICE', 'STOP_ZONE')
        AND status = 'SUCCESSFUL' AND NOT EXISTS (
            SELECT 1 FROM subtasks AS later WHERE later.task_id = operating_task AND later.status = 'SUCCESSFUL'
            AND later.action IN ('START_SERVICE', 'START_ZONE'))))
"""


def refusal(db: sqlite3.Connection, subtask: sqlite3.Row) -> str | None:
    """Why the database refuses the stop of this subtask; None if it does not, or if the subtask stops no service."""
    if subtask["action"] not in _STOPS:
        return None
    task = db.execute("SELECT kind, context FROM tasks WHERE id = ?", (subtask["task_id"],)).fetchone()
    if TaskKind(task["kind"]) not in CHECKED or json.loads(task["context"])["stringMap"].get("force") == "true":
        return None
    servers = db.execute(
        "SELECT id, cluster_id, zone_id FROM servers WHERE operating_task = ? AND up AND stop_time = 0",
        (subtask["task_id"],),
    ).fetchall()
    if not servers:
        return None
    cluster_id, taken = servers[0]["cluster_id"], {row["id"] for row in servers}
    other = _stopped_elsewhere(db, cluster_id, servers[0]["zone_id"])
    if other is not None:
        return f"ALTER SYSTEM STOP SERVER: error {_ZONE_STOPPED}: {other} is stopped in another zone"
    why = _not_allowed(db, cluster_id, taken)
    return None if why is None else f"ALTER SYSTEM STOP SERVER: error {_NOT_ALLOWED}: {why}"


def _stopped_elsewhere(db: sqlite3.Connection, cluster_id: int, zone_id: int) -> str | None:
    row = db.execute(
        "SELECT 'zone ' || name AS label FROM zones WHERE cluster_id = :cluster AND id <> :zone"
        " AND inner_status = 'INACTIVE' UNION ALL"
        f" SELECT 'server ' || ip || ':' || port FROM servers WHERE cluster_id = :cluster AND zone_id <> :zone"
        f" AND {_OUT_OF_SERVICE} LIMIT 1",
        {"cluster": cluster_id, "zone": zone_id},
    ).fetchone()
    return None if row is None else str(row["label"])


def _not_allowed(db: sqlite3.Connection, cluster_id: int, taken: set[int]) -> str | None:
    down = {
        row["id"] for row in db.execute("SELECT id FROM servers WHERE cluster_id = ? AND NOT serves", (cluster_id,))
    }
    shown = {
        row["id"]: row["status"] for row in db.execute("SELECT * FROM tenants WHERE cluster_id = ?", (cluster_id,))
    }
    for tenant in read_tenant_voters(db, cluster_id):
        why = _CHANGING.get(shown[tenant.id]) or _lost(db, tenant, down, taken)
        if why is not None:
            return f"tenant {tenant.name}: {why}"
    lag = _largest_lag(db, cluster_id)
    return f"logs are not in sync, replicas are {lag:g} seconds behind" if lag > _MOST_LAG else None


def _lost(db: sqlite3.Connection, tenant: TenantVoters, down: set[int], taken: set[int]) -> str | None:
    arbitrated = is_arbitrated(db, tenant)
    if tenant.remaining(down) < tenant.needed(arbitrated=arbitrated):
        return "a log stream has no leader"
    needed = tenant.needed(arbitrated=arbitrated and tenant.voters() == 2)
    is_touched = not tenant.servers().isdisjoint(taken)
    return "too few voters would remain" if is_touched and tenant.remaining(down | taken) < needed else None


def _largest_lag(db: sqlite3.Connection, cluster_id: int) -> float:
    """The largest of the values that were planted last."""
    rows = db.execute(
        "SELECT value FROM metric_values AS planted JOIN servers ON servers.id = server_id"
        " WHERE cluster_id = :cluster AND name = :name AND planted.id = (SELECT id FROM metric_values"
        " WHERE server_id = planted.server_id AND name = :name ORDER BY at DESC, id DESC LIMIT 1)",
        {"cluster": cluster_id, "name": _LAG},
    )
    return max((row["value"] for row in rows), default=0.0)
