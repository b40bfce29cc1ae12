# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Alarms as JSON: their labels and texts, filters of the list."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ocp_emulator.base import errors
from ocp_emulator.base.compatibility import RecordFields
from ocp_emulator.base.time_format import iso_utc
from ocp_emulator.schemas.envelope import Paged
from ocp_emulator.schemas.health_schemas import (
    Alarm,
    AlarmDetail,
    AlarmedCluster,
    AlarmedTenant,
    AlarmStatus,
    AlarmTarget,
    ClusterTarget,
    ClusterTargets,
    IncludedTarget,
    MessagePush,
)
from ocp_emulator.serializers.paging import PageRequest, query_page

# An alarm that is not due yet is not listed; the newest comes first, as in the documented sample.
_ALARMS_FILTERED = """
    FROM alarms AS t
    WHERE t.active_at <= :now
    AND (:status IS NULL OR :status = CASE WHEN t.resolved_at <= :now THEN 'Inactive' ELSE 'Active' END)
    AND (:app_type IS NULL OR t.app_type = :app_type) AND (:alarm_type IS NULL OR t.alarm_type = :alarm_type)
    AND (:scope IS NULL OR t.scope = :scope) AND (:level IS NULL OR t.level = :level)
    AND (:tenant IS NULL OR t.tenant = :tenant) AND (:host_ip IS NULL OR t.host_ip = :host_ip)
    AND (:host_name IS NULL OR t.host_ip IN (SELECT ip FROM hosts WHERE name = :host_name))
    AND (:cluster IS NULL OR t.cluster_id IN (SELECT id FROM clusters WHERE name = :cluster))
    AND (:keyword IS NULL OR instr(lower(t.alarm_type || ' ' || coalesce(t.summary, '')), lower(:keyword)))
    AND (:subscribed IS NULL OR NOT :subscribed)
    AND t.active_at BETWEEN coalesce(:since, t.active_at) AND coalesce(:until, t.active_at)
"""
# That of the rules that the service has by itself.
_TEMPLATE = 0
# Labels that the text of a target is made of, and those that are shown apart.
_TARGET = ("ob_cluster", "tenant_name", "svr_ip")
_TARGET_LABELS = {*_TARGET, "ob_cluster_id", "alarm_template_id"}
_LEVELS = {1: "Stopped", 2: "Critical", 3: "Warning", 4: "Caution", 5: "Reminder"}


@dataclass(frozen=True)
class AlarmFilter:
    """Which alarms the list shows; None for any. `since` and `until` are about when they were raised.

    `subscribed` finds none: nobody here subscribes to alarms.
    """

    status: str | None = None
    app_type: str | None = None
    alarm_type: str | None = None
    scope: str | None = None
    level: int | None = None
    cluster: str | None = None
    tenant: str | None = None
    host_ip: str | None = None
    host_name: str | None = None
    keyword: str | None = None
    since: int | None = None
    until: int | None = None
    subscribed: bool | None = None


def alarm_page(db: sqlite3.Connection, page_request: PageRequest, chosen: AlarmFilter, now: int) -> Paged[Alarm]:
    """A page of the alarms as they are at `now`."""

    def serialize(rows: list[sqlite3.Row]) -> list[Alarm]:
        return [_alarm(db, row, now) for row in rows]

    return query_page(db, page_request, _ALARMS_FILTERED, {**vars(chosen), "now": now}, serialize, Paged[Alarm])


def alarm_detail(db: sqlite3.Connection, alarm_id: int, now: int) -> Alarm:
    """An alarm that was raised by `now`. ApiError 404."""
    row = db.execute("SELECT * FROM alarms WHERE id = ? AND active_at <= ?", (alarm_id, now)).fetchone()
    if row is None:
        raise errors.not_found(f"Alarm {alarm_id}")
    return _alarm(db, row, now)


def alarm_by_id(db: sqlite3.Connection, alarm_id: int, now: int, fields: RecordFields) -> AlarmDetail:
    """An alarm that was raised by `now`, as it is read by its id. ApiError 404."""
    alarm = alarm_detail(db, alarm_id, now)
    shown = {name: getattr(alarm, name) for name in alarm.model_fields_set}
    if fields == "newest":
        return AlarmDetail(**shown)
    del shown["message_push"]
    target = alarm.alarm_target
    clusters = [ClusterTarget(cluster=each.cluster) for each in target.include_targets]
    if clusters:
        shown["ob_cluster"] = ClusterTargets(
            app_type=target.app_type, scope="Cluster", include_targets=clusters, exclude_targets=[]
        )
    labels = {name: text for name, text in alarm.labels.items() if name in _TARGET_LABELS}
    return AlarmDetail(**shown, target_labels=labels)


def _alarm(db: sqlite3.Connection, row: sqlite3.Row, now: int) -> Alarm:
    resolved = row["resolved_at"] is not None and row["resolved_at"] <= now
    status: AlarmStatus = "Inactive" if resolved else "Active"
    about = _about(db, row)
    target = ":".join(f"{name}={about[name]}" for name in _TARGET if name in about)
    target = target or f"service={row['app_type']}"
    name = row["alarm_type"].replace("_", " ")
    summary = row["summary"] or f"{target} {name}"
    texts: dict[str, Any] = {"target": target, "summary": summary, "description": f"{summary}."}
    times = _times(row, resolved)
    labels = {**texts, **times, "name": name, "type": row["alarm_type"], "level": _LEVELS[row["level"]]}
    labels |= {"scope": row["scope"], "status": status, "evaluation_interval": "60"}
    labels |= {"template_id": str(_TEMPLATE)}
    return Alarm(
        id=row["id"],
        name=name,
        alarm_type=row["alarm_type"],
        alarm_template_id=_TEMPLATE,
        alarm_target=_alarm_target(db, row),
        message_push=MessagePush(configured=False, success_count=0, no_success_count=0),
        app_type=row["app_type"],
        scope=row["scope"],
        level=row["level"],
        status=status,
        **texts,
        labels={
            **about,
            "app": row["app_type"],
            "app_type": row["app_type"],
            **{f"alarm_{label}": text for label, text in labels.items()},
        },
        **times,
        status_updated_at=times["updated_at"],
        gmt_create=times["active_at"],
        gmt_modified=times["updated_at"],
    )


def _alarm_target(db: sqlite3.Connection, row: sqlite3.Row) -> AlarmTarget:
    cluster = db.execute("SELECT * FROM clusters WHERE id = ?", (row["cluster_id"],)).fetchone()
    tenants = db.execute(
        "SELECT * FROM tenants WHERE cluster_id = ? AND name = ?", (row["cluster_id"], row["tenant"])
    ).fetchall()
    included = [
        IncludedTarget(
            cluster=AlarmedCluster(cluster_id=each["id"], name=each["name"], ob_cluster_id=each["ob_cluster_id"]),
            tenants=[
                AlarmedTenant(name=tenant["name"], ob_tenant_id=tenant["ob_tenant_id"], tenant_id=tenant["id"])
                for tenant in tenants
            ],
        )
        for each in ([] if cluster is None else [cluster])
    ]
    return AlarmTarget(app_type=row["app_type"], scope=row["scope"], include_targets=included, exclude_targets=[])


def _times(row: sqlite3.Row, resolved: bool) -> dict[str, Any]:
    raised = iso_utc(row["active_at"])
    if not resolved:
        return {"active_at": raised, "updated_at": raised}
    cleared = iso_utc(row["resolved_at"])
    return {"active_at": raised, "updated_at": cleared, "resolved_at": cleared}


def _about(db: sqlite3.Connection, row: sqlite3.Row) -> Mapping[str, str]:
    """The labels that say what an alarm is about."""
    found: dict[str, str] = {}
    cluster = db.execute("SELECT * FROM clusters WHERE id = ?", (row["cluster_id"],)).fetchone()
    if cluster is not None:
        found["ob_cluster"] = f"{cluster['name']}-{cluster['ob_cluster_id']}"
        found["ob_cluster_name"] = found["obregion"] = cluster["name"]
        found["ob_cluster_id"] = str(cluster["ob_cluster_id"])
    if row["tenant"] is not None:
        found["tenant_name"] = row["tenant"]
    if row["host_ip"] is not None:
        found["svr_ip"] = found["host_ip"] = row["host_ip"]
    server = db.execute(
        "SELECT port, zones.name FROM servers JOIN zones ON zones.id = zone_id WHERE servers.id = ?",
        (row["server_id"],),
    ).fetchone()
    if server is not None:
        found["svr_port"], found["obzone"] = str(server["port"]), server["name"]
    return found
