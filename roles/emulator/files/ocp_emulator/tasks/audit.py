# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which accepted operations become audit events, and from which address they came."""

import json
from collections.abc import Mapping

from ocp_emulator.store.database import Store
from ocp_emulator.tasks.subtask_graph import TaskKind

# Those of a server, a cluster, agents and OBProxies are documented, the others are spelled like them. An inspection is
# none: no document has an event for it.
EVENTS: Mapping[TaskKind, str] = {
    TaskKind.SERVER_RESTART: "RESTART_OB_SERVER",
    TaskKind.SERVER_START: "START_OB_SERVER",
    TaskKind.SERVER_STOP: "STOP_OB_SERVER",
    TaskKind.ZONE_RESTART: "RESTART_OB_ZONE",
    TaskKind.ZONE_START: "START_OB_ZONE",
    TaskKind.ZONE_STOP: "STOP_OB_ZONE",
    TaskKind.CLUSTER_RESTART: "RESTART_OB_CLUSTER",
    TaskKind.CLUSTER_START: "START_OB_CLUSTER",
    TaskKind.CLUSTER_STOP: "STOP_OB_CLUSTER",
    TaskKind.AGENT_RESTART: "RESTART_OCP_AGENT",
    TaskKind.AGENT_STOP: "STOP_OCP_AGENT",
    TaskKind.ARBITRATION_RESTART: "RESTART_ARBITRATION_SERVICE",
    TaskKind.OBPROXY_RESTART: "RESTART_OB_PROXIES",
}


def note(store: Store, task_id: int, client: str) -> None:
    """Record that the operation of this task was requested from this address: one event for each target.

    A task of another kind leaves no event.
    """
    with store.transaction() as db:
        db.execute(
            "INSERT INTO audit_events (task_id, client, target)"
            " SELECT task_id, ?, targets.rowid FROM targets JOIN tasks ON tasks.id = task_id"
            " WHERE task_id = ? AND kind IN (SELECT value FROM json_each(?)) ORDER BY targets.rowid",
            (client, task_id, json.dumps(list(EVENTS))),
        )
