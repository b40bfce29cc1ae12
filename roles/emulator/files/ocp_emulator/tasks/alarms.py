# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The alarms: those that a stopped server raises by itself (schema.sql), and planted ones.

A stopped process is noticed after 30 seconds, and its alarm is cleared 180 seconds after the process runs again. The
documents say "within 60 seconds" and "within 5 minutes".
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from ocp_emulator.base import errors
from ocp_emulator.schemas.health_schemas import AlarmScope, AppType


@dataclass(frozen=True)
class NewAlarm:
    """The subject of an alarm: a cluster, one of its tenants, a server or a host; None if it has none."""

    alarm_type: str
    level: int
    app_type: AppType
    scope: AlarmScope
    cluster_id: int | None
    tenant: str | None
    server_id: int | None
    host_ip: str | None
    summary: str | None


def raise_alarm(db: sqlite3.Connection, alarm: NewAlarm, now: int) -> int:
    """Raise an alarm; it is active until it is cleared. Returns its id."""
    row = db.execute(
        "INSERT INTO alarms (alarm_type, level, app_type, scope, cluster_id, tenant, server_id, host_ip, summary,"
        " active_at, planted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1) RETURNING id",
        (
            alarm.alarm_type,
            alarm.level,
            alarm.app_type,
            alarm.scope,
            alarm.cluster_id,
            alarm.tenant,
            alarm.server_id,
            alarm.host_ip,
            alarm.summary,
            now,
        ),
    ).fetchone()
    return int(row["id"])


def clear_alarms(db: sqlite3.Connection, alarm_id: int | None, now: int) -> None:
    """Clear an alarm, or all that are active. ApiError 404 when there is no such alarm that is active."""
    values: Mapping[str, int | None] = {"id": alarm_id, "now": now}
    changed = db.execute(
        "UPDATE alarms SET resolved_at = :now"
        " WHERE id = coalesce(:id, id) AND active_at <= :now AND (resolved_at IS NULL OR resolved_at > :now)",
        values,
    )
    if alarm_id is not None and changed.rowcount == 0:
        raise errors.not_found(f"An active alarm {alarm_id}")
