# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The pre-check of restarts and stops of servers and zones: it refuses those that would take a tenant's voters.

Servers count as gone if they do not serve, if a RUNNING task works on them, or if the operation is on them. It does not
apply with `force`, nor to operations on whole clusters, which take everything down.
"""

import sqlite3

from ocp_emulator.base import errors
from ocp_emulator.fleet.voters import TenantVoters, with_voters_on
from ocp_emulator.store.tenant_voters import read_tenant_voters
from ocp_emulator.tasks.operation_targets import NewTask
from ocp_emulator.tasks.subtask_graph import TaskKind

CHECKED = frozenset({TaskKind.SERVER_RESTART, TaskKind.SERVER_STOP, TaskKind.ZONE_RESTART, TaskKind.ZONE_STOP})


def refuse_outage(db: sqlite3.Connection, new_task: NewTask) -> None:
    """Raise ApiError 400 when the operation would leave a tenant with fewer voters than it needs."""
    if new_task.blueprint.kind not in CHECKED or new_task.strings.get("force") == "true":
        return
    cluster_id = int(new_task.strings["cluster_id"])
    taken = {int(server) for server in new_task.lists["server_ids"]}
    gone = taken | {
        row["id"]
        for row in db.execute(
            "SELECT servers.id FROM servers LEFT JOIN tasks ON tasks.id = operating_task"
            " WHERE cluster_id = ? AND (NOT serves OR tasks.status = 'RUNNING')",
            (cluster_id,),
        )
    }
    for tenant in with_voters_on(read_tenant_voters(db, cluster_id), taken):
        remaining, needed = tenant.remaining(gone), tenant.needed(arbitrated=is_arbitrated(db, tenant))
        if remaining < needed:
            raise errors.majority_lost(new_task.label, tenant.name, remaining, tenant.voters(), needed)


def is_arbitrated(db: sqlite3.Connection, tenant: TenantVoters) -> bool:
    """Whether an arbitration service can stand in for half of the voters now."""
    return bool(
        db.execute(
            "SELECT EXISTS (SELECT 1 FROM arbitration_services WHERE id = ? AND up)"
            " AND NOT EXISTS (SELECT 1 FROM degraded WHERE cluster_id = ? AND tenant = ?)",
            (tenant.arbitration_service_id, tenant.cluster_id, tenant.name),
        ).fetchone()[0]
    )
