# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Absences, outages and moves of leaders as the control API shows them: names, times and causes."""

import sqlite3
from collections.abc import Mapping

from ocp_emulator.base.time_format import iso
from ocp_emulator.control_api import control_schemas as schemas
from ocp_emulator.schemas.envelope import Listed
from ocp_emulator.tasks import leader_moves, ledger

_NAMED = """
    SELECT 'OB_SERVER' AS object_type, servers.id, ip || ':' || port AS name, clusters.name AS cluster,
        zones.name AS zone
        FROM servers JOIN zones ON zones.id = zone_id JOIN clusters ON clusters.id = servers.cluster_id
    UNION ALL SELECT 'ARBITRATION_SERVICE', id, ip || ':' || port, NULL, NULL FROM arbitration_services
    UNION ALL SELECT 'TENANT', tenants.id, tenants.name, clusters.name, NULL
        FROM tenants JOIN clusters ON clusters.id = cluster_id
"""


def absence_list(db: sqlite3.Connection, cluster: str | None) -> Listed[schemas.Absence]:
    """All absences, or those of what belongs to one cluster."""
    shown = _Shown(db)
    absences = [shown.absence(absence) for absence in ledger.read_ledger(db).absences]
    return Listed[schemas.Absence](contents=[each for each in absences if cluster in (None, each.cluster_name)])


def outage_list(db: sqlite3.Connection, cluster: str | None, tenant: str | None) -> Listed[schemas.Outage]:
    """All outages, or those of one cluster or of tenants with one name."""
    shown = _Shown(db)
    outages = [shown.outage(outage) for outage in ledger.read_ledger(db).outages]
    return Listed[schemas.Outage](
        contents=[
            each for each in outages if cluster in (None, each.cluster_name) and tenant in (None, each.tenant_name)
        ]
    )


def leader_moves_list(
    db: sqlite3.Connection, cluster: str | None, tenant: str | None, *, catch_up: int, now: int
) -> Listed[schemas.LeaderMoves]:
    """The moves of the leaders of all tenants, or of those of one cluster or with one name; `catch_up` is in ms."""
    shown = _Shown(db)
    moves = [shown.leader_moves(each) for each in leader_moves.read_leader_moves(db, catch_up, now)]
    return Listed[schemas.LeaderMoves](
        contents=[each for each in moves if cluster in (None, each.cluster_name) and tenant in (None, each.tenant_name)]
    )


class _Shown:
    """The names for all ids in a ledger."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._objects: Mapping[tuple[str, int], sqlite3.Row] = {
            (row["object_type"], row["id"]): row for row in db.execute(_NAMED)
        }
        self._clusters = {row["id"]: row["name"] for row in db.execute("SELECT id, name FROM clusters")}
        self._tasks = {row["id"]: row for row in db.execute("SELECT id, name, creator_name FROM tasks")}

    def absence(self, absence: ledger.Absence) -> schemas.Absence:
        found = self._objects[absence.object_type, absence.object_id]
        task = None if absence.task_id is None else self._tasks[absence.task_id]
        return schemas.Absence(
            object_type=absence.object_type,
            id=absence.object_id,
            name=found["name"],
            cluster_name=found["cluster"],
            zone_name=found["zone"],
            since=iso(absence.since),
            until=None if absence.until is None else iso(absence.until),
            cause="incident" if task is None else "task",
            task_id=absence.task_id,
            task_name=None if task is None else task["name"],
            user=None if task is None else task["creator_name"],
        )

    def outage(self, outage: ledger.Outage) -> schemas.Outage:
        return schemas.Outage(
            cluster_id=outage.tenant.cluster_id,
            cluster_name=self._clusters[outage.tenant.cluster_id],
            tenant_id=outage.tenant.id,
            tenant_name=outage.tenant.name,
            since=iso(outage.since),
            until=None if outage.until is None else iso(outage.until),
            voters=outage.tenant.voters(),
            needed=outage.needed,
            remaining=outage.remaining,
            down=[self.absence(absence) for absence in outage.absences],
        )

    def leader_moves(self, found: leader_moves.LeaderMoves) -> schemas.LeaderMoves:
        return schemas.LeaderMoves(
            cluster_id=found.tenant.cluster_id,
            cluster_name=self._clusters[found.tenant.cluster_id],
            tenant_id=found.tenant.id,
            tenant_name=found.tenant.name,
            primary_zone=found.tenant.primary_zone,
            moves=len(found.zones) - 1,
            zones=list(found.zones),
        )
