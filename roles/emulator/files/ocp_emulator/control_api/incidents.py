# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Incidents that no task causes: a server that does not answer, log streams that are degraded."""

import json
import sqlite3
from collections.abc import Sequence

from ocp_emulator.base import errors
from ocp_emulator.control_api.control_schemas import Degraded
from ocp_emulator.tasks import statuses


def set_available(db: sqlite3.Connection, server_id: int, available: bool, now: int) -> None:
    """Let a server answer or not; its process runs on. ApiError: 404, or 409 while a task occupies it."""
    server = db.execute("SELECT * FROM servers WHERE id = ?", (server_id,)).fetchone()
    if server is None:
        raise errors.not_found(f"Server {server_id}")
    if server["operating_task"] is not None:
        task = db.execute("SELECT * FROM tasks WHERE id = ?", (server["operating_task"],)).fetchone()
        raise errors.busy(f"Server {server_id}", task["id"], task["name"], task["status"])
    inner = "ACTIVE" if available else "INACTIVE"
    db.execute("UPDATE servers SET inner_status = ? WHERE id = ? AND up", (inner, server_id))
    statuses.show_incident(db, server_id, now)


def set_degraded(db: sqlite3.Connection, service_id: int, degraded: Sequence[Degraded]) -> None:
    """Let an arbitration service show these log streams as degraded, and no others. ApiError 404."""
    if db.execute("SELECT 1 FROM arbitration_services WHERE id = ?", (service_id,)).fetchone() is None:
        raise errors.not_found(f"Arbitration service {service_id}")
    clusters = {row["name"]: row["id"] for row in db.execute("SELECT id, name FROM clusters")}
    db.execute("DELETE FROM degraded WHERE service_id = ?", (service_id,))
    for one in degraded:
        if one.cluster not in clusters:
            raise errors.not_found(f"Cluster {one.cluster}")
        db.execute(
            "INSERT OR REPLACE INTO degraded VALUES (?, ?, ?, ?)",
            (service_id, clusters[one.cluster], one.tenant, json.dumps(one.log_streams)),
        )
