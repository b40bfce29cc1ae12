# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The outages: when each server was out of service, which task caused it, and which tenants it left without a majority.

The table `ledger` has what began and ceased to serve, in that order: triggers write it, so no change of a server can
bypass it. The consequences are computed on request.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ocp_emulator.fleet.voters import TenantVoters
from ocp_emulator.store.tenant_voters import read_tenant_voters

# TENANT: its log streams are degraded.
AbsentType = Literal["OB_SERVER", "ARBITRATION_SERVICE", "TENANT"]
_Key = tuple[AbsentType, int]


@dataclass(frozen=True)
class Event:
    """Something begins to serve, or ceases to; `task_id` is the task that caused it, None for an incident."""

    object_type: AbsentType
    object_id: int
    at: int
    serves: bool
    task_id: int | None = None


@dataclass
class Absence:
    """A time in which something did not serve; `until` is None while it lasts."""

    object_type: AbsentType
    object_id: int
    since: int
    task_id: int | None
    until: int | None = None


@dataclass
class Outage:
    """A time in which a tenant had fewer voters than it needs; `needed` and `remaining` are of its worst moment.

    `absences` are all that took part in it.
    """

    tenant: TenantVoters
    since: int
    needed: int
    remaining: int
    until: int | None = None
    absences: list[Absence] = field(default_factory=list)


@dataclass
class Ledger:
    """All absences and outages, in the order in which they began."""

    absences: list[Absence]
    outages: list[Outage]


def read_ledger(db: sqlite3.Connection) -> Ledger:
    """What has happened since the database was made."""
    return follow(read_tenant_voters(db), read_events(db))


def read_events(db: sqlite3.Connection) -> list[Event]:
    """What began and ceased to serve since the database was made."""
    rows = db.execute("SELECT * FROM ledger ORDER BY id")
    return [Event(row["object_type"], row["object_id"], row["at"], bool(row["serves"]), row["task_id"]) for row in rows]


def note_degraded(db: sqlite3.Connection, tenant_id: int, degraded: bool, now: int) -> None:
    """Record that log streams of a tenant are degraded from now on, or no longer."""
    db.execute(
        "INSERT INTO ledger (object_type, object_id, at, serves) VALUES ('TENANT', ?, ?, ?)",
        (tenant_id, now, not degraded),
    )


def follow(tenants: Sequence[TenantVoters], events: Iterable[Event]) -> Ledger:
    """The absences and outages that follow from these events; at first everything serves."""
    course = _Course(tenants)
    for event in events:
        course.happen(event)
    return course.ledger


class _Course:
    """What is absent after the events so far."""

    def __init__(self, tenants: Sequence[TenantVoters]) -> None:
        self.ledger = Ledger([], [])
        self._absent: dict[_Key, Absence] = {}
        self._down: set[int] = set()
        self._lasting: dict[int, Outage] = {}
        # The zones that had failed when log streams of a tenant began to be degraded.
        self._failed: dict[int, frozenset[str]] = {}
        self._concerned: dict[_Key, list[TenantVoters]] = defaultdict(list)
        self._keys = {tenant.id: _keys(tenant) for tenant in tenants}
        for tenant in tenants:
            for key in self._keys[tenant.id]:
                self._concerned[key].append(tenant)

    def happen(self, event: Event) -> None:
        """Take in the next event."""
        key = (event.object_type, event.object_id)
        if event.serves:
            ended = self._absent.pop(key, None)
            if ended is not None:
                ended.until = event.at
        else:
            self._absent[key] = Absence(event.object_type, event.object_id, event.at, event.task_id)
            self.ledger.absences.append(self._absent[key])
        if event.object_type == "OB_SERVER":
            (self._down.discard if event.serves else self._down.add)(event.object_id)
        for tenant in self._concerned[key]:
            if event.object_type == "TENANT":
                self._failed[tenant.id] = frozenset() if event.serves else tenant.failed_half(self._down)
            self._judge(tenant, event.at)

    def _judge(self, tenant: TenantVoters, now: int) -> None:
        service = tenant.arbitration_service_id
        arbitrated = service is not None and ("ARBITRATION_SERVICE", service) not in self._absent
        degraded = ("TENANT", tenant.id) in self._absent
        members = tenant.without(self._failed.get(tenant.id, ())) if arbitrated and degraded else tenant
        needed = members.needed(arbitrated=arbitrated and not degraded)
        remaining = members.remaining(self._down)
        lasting = self._lasting.get(tenant.id)
        if remaining >= needed:
            if lasting is not None:
                lasting.until = now
                del self._lasting[tenant.id]
            return
        if lasting is None:
            lasting = self._lasting[tenant.id] = Outage(tenant, now, needed, remaining)
            self.ledger.outages.append(lasting)
        elif needed - remaining > lasting.needed - lasting.remaining:
            lasting.needed, lasting.remaining = needed, remaining
        known = {id(absence) for absence in lasting.absences}
        absences = (self._absent[key] for key in self._keys[tenant.id] if key in self._absent)
        lasting.absences += [absence for absence in absences if id(absence) not in known]


def _keys(tenant: TenantVoters) -> list[_Key]:
    """What decides about the voters of a tenant."""
    servers: list[_Key] = [("OB_SERVER", server) for server in sorted(tenant.servers())]
    if tenant.arbitration_service_id is None:
        return servers
    return [*servers, ("ARBITRATION_SERVICE", tenant.arbitration_service_id), ("TENANT", tenant.id)]
