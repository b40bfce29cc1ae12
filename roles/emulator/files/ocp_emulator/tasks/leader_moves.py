# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How often the leaders of each tenant moved to another zone, by the servers that began and ceased to serve."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ocp_emulator.fleet.leaders import TenantLeaders
from ocp_emulator.store.tenant_leaders import read_tenant_leaders
from ocp_emulator.tasks.ledger import Event, read_events


@dataclass(frozen=True)
class LeaderMoves:
    """The zones in which the leaders of a tenant have been, one after another."""

    tenant: TenantLeaders
    zones: tuple[str, ...]


def read_leader_moves(db: sqlite3.Connection, catch_up: int, now: int) -> list[LeaderMoves]:
    """The moves of all tenants since the database was made; a zone that comes back catches up in `catch_up` ms."""
    return follow_leaders(read_tenant_leaders(db), read_events(db), catch_up, now)


def follow_leaders(
    tenants: Iterable[TenantLeaders], events: Iterable[Event], catch_up: int, now: int
) -> list[LeaderMoves]:
    """The moves that follow from these events until `now`; at first everything serves."""
    courses = [_Course(tenant, catch_up) for tenant in tenants]
    concerned: dict[int, list[_Course]] = defaultdict(list)
    for course in courses:
        for server in course.tenant.servers():
            concerned[server].append(course)
    for event in events:
        for course in concerned[event.object_id] if event.object_type == "OB_SERVER" else ():
            course.pass_time(event.at)
            course.happen(event)
    for course in courses:
        course.pass_time(now)
    return [LeaderMoves(course.tenant, tuple(course.zones)) for course in courses]


class _Course:
    """Where the leaders of a tenant have been after the events so far."""

    def __init__(self, tenant: TenantLeaders, catch_up: int) -> None:
        self.tenant, self._catch_up = tenant, catch_up
        self._down: set[int] = set()
        # When each zone that serves has caught up; None for those that have served from the beginning.
        self._caught_up: dict[str, int | None] = {zone.zone: None for zone in tenant.zones}
        self.zones = [tenant.zones[0].zone]

    def pass_time(self, until: int) -> None:
        """Let the zones catch up that do so before this time, or at it."""
        for at in sorted(at for at in self._caught_up.values() if at is not None and at <= until):
            self._move(at)

    def happen(self, event: Event) -> None:
        """Take in the next event."""
        (self._down.discard if event.serves else self._down.add)(event.object_id)
        for zone in self.tenant.zones:
            if zone.servers <= self._down:
                self._caught_up.pop(zone.zone, None)
            else:
                self._caught_up.setdefault(zone.zone, event.at + self._catch_up)
        self._move(event.at)

    def _move(self, now: int) -> None:
        serving = {zone: at is None or at <= now for zone, at in self._caught_up.items()}
        zone = self.tenant.next_zone(self.zones[-1], serving)
        if zone != self.zones[-1]:
            self.zones.append(zone)
