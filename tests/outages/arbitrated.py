# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Runs in clusters with arbitration services, as the database does with them: log streams are degraded and catch up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ansible_collections.oceanbase.ocp.tests.outages.activities import Controller
from ansible_collections.oceanbase.ocp.tests.outages.fleets import draw_fleet
from ansible_collections.oceanbase.ocp.tests.outages.schedule import Run
from ansible_collections.oceanbase.ocp.tests.simulation.choices import Stream
from ocp_emulator.fleet.voters import TenantVoters
from ocp_emulator.store.tenant_voters import read_tenant_voters

# Seconds between two looks of the database at its log streams, until the last one, and until a half has caught up.
EVERY, UNTIL, CATCH_UP = 5.0, 1200.0, 20.0
SERVICE = "10.200.0.1"
# Zones of a cluster, and the localities of its tenants by their numbers; None for those without arbitration.
FORMS = {
    "2F1A": (2, (("FULL", "FULL"),)),
    "4F1A": (4, (("FULL",) * 4,)),
    "three full": (3, (("FULL",) * 3,)),
    "mixed": (4, (("FULL",) * 4, ("FULL", "FULL"), ("FULL", "FULL", "READONLY"), ("FULL", "FULL", "FULL"))),
}


class Arbitrated(Run):
    """A run with 2F1A, 4F1A, three full replicas or all of them; clusters share one arbitration service."""

    def draw_fleet(self, draw: Stream) -> dict[str, Any]:
        """The fleet file."""
        fleet = draw_fleet(draw)
        clusters = [self._cluster(draw, number) for number in range(1, 1 + draw.pick((1, 2), (60, 40)))]
        return {**fleet, "clusters": clusters, "arbitration_services": [{"ip": SERVICE}]}

    def _cluster(self, draw: Stream, number: int) -> dict[str, Any]:
        form = draw.pick(tuple(FORMS), (40, 25, 10, 25))
        self.counts[f"activities: in a cluster of {form}"] += 1
        count, localities = FORMS[form]
        zones = [
            {
                "name": f"z{zone}",
                "servers": [
                    {"ip": f"10.{number}.{zone}.{place}"} for place in range(1, 1 + draw.pick((1, 2), (70, 30)))
                ],
            }
            for zone in range(1, count + 1)
        ]
        tenants = [
            {
                "name": f"t{place}",
                "locality": ", ".join(f"{kind}{{1}}@z{zone}" for zone, kind in enumerate(kinds, 1)),
                "arbitration": kinds.count("FULL") % 2 == 0,
            }
            for place, kinds in enumerate(localities, 1)
        ]
        service = {"arbitration_service": SERVICE} if count % 2 == 0 else {}
        tenants = tenants if service else [{**tenant, "arbitration": False} for tenant in tenants]
        return {"name": f"c{number}", "zones": zones, "tenants": tenants, **service}

    def plan(self, controllers: Sequence[Controller]) -> None:
        """What controllers and people do, what the database does, and servers that OCP cannot see."""
        super().plan(controllers)
        self._failed: dict[int, frozenset[str]] = {}
        self._whole_since: dict[int, float] = {}
        for number in range(1, int(UNTIL / EVERY)):
            self.scheduler.at(number * EVERY, self._look)
        draw = self._choices.stream("unseen")
        servers = sum(len(zone["servers"]) for cluster in self.fleet["clusters"] for zone in cluster["zones"])
        for _event in range(draw.pick((0, 1, 2), (50, 35, 15))):
            number, when = draw.below(servers) + 1, draw.below(1500) / 10
            self.told.append(f"at {when:.1f} OCP cannot see server {number}")
            self.counts["people: server not seen"] += 1
            fault = {
                "kind": "answer",
                "match": {"record": "server", "id": number, "status": "RUNNING"},
                "action": "status",
                "status": "UNAVAILABLE",
                "innerStatus": "ACTIVE",
            }
            self.scheduler.at(when, partial(self.emulated.call, "POST", "/emulator/faults", **fault))
            end = when + 10 + draw.below(2000) / 10
            self.scheduler.at(end, partial(self.emulated.call, "DELETE", "/emulator/faults"))

    def _look(self) -> None:
        """Degrade what has lost half of its voters, and take back what has caught up."""
        self.emulated.call("GET", "/emulator/absences")
        db = self.emulated.service.store.db
        down = {row["id"] for row in db.execute("SELECT id FROM servers WHERE NOT serves")}
        is_up = bool(db.execute("SELECT up FROM arbitration_services").fetchone()["up"])
        tenants = [tenant for tenant in read_tenant_voters(db) if tenant.arbitration_service_id is not None]
        before = set(self._failed)
        for tenant in tenants:
            self._follow(tenant, down, is_up=is_up)
        if set(self._failed) != before:
            names = {row["id"]: row["name"] for row in db.execute("SELECT id, name FROM clusters")}
            shown = [
                {"cluster": names[tenant.cluster_id], "tenant": tenant.name, "logStreams": [1001]}
                for tenant in tenants
                if tenant.id in self._failed
            ]
            self.counts["activities: log streams degraded"] += len(set(self._failed) - before)
            self.emulated.call("PUT", "/emulator/arbitration-services/1", degraded=shown)

    def _follow(self, tenant: TenantVoters, down: set[int], *, is_up: bool) -> None:
        if tenant.id not in self._failed:
            half = tenant.failed_half(down)
            if half and is_up:
                self._failed[tenant.id] = half
            return
        ill = {server for zone in tenant.zones for server in zone.servers if zone.zone in self._failed[tenant.id]}
        if ill & down:
            self._whole_since.pop(tenant.id, None)
        elif self.scheduler.now >= self._whole_since.setdefault(tenant.id, self.scheduler.now) + CATCH_UP:
            del self._failed[tenant.id], self._whole_since[tenant.id]
