# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Random fleets: clusters of one to five zones, tenants of all kinds of layouts, arbitration services."""

from __future__ import annotations

from typing import Any

from ansible_collections.oceanbase.ocp.tests.outages.emulated import PASSWORD
from ansible_collections.oceanbase.ocp.tests.simulation.choices import Stream

PEOPLE = "admin"
CONTROLLERS = ("ops1", "ops2")
TYPES = ("FULL", "READONLY", "LOGONLY")


def draw_fleet(draw: Stream) -> dict[str, Any]:
    """A fleet file. A cluster with an even number of zones often has an arbitration service."""
    users = [{"name": name, "password": PASSWORD, "permissions": ["ADMIN"]} for name in (PEOPLE, *CONTROLLERS)]
    fleet: dict[str, Any] = {"clusters": [], "arbitration_services": [], "users": users}
    for number in range(1, 1 + draw.pick((1, 2), (70, 30))):
        zones = draw.pick((3, 2, 1, 4, 5), (50, 20, 8, 10, 12))
        cluster: dict[str, Any] = {
            "name": f"c{number}",
            "zones": [
                {"name": f"z{zone}", "servers": _servers(number, zone, draw.pick((1, 2, 3), (40, 40, 20)))}
                for zone in range(1, zones + 1)
            ],
        }
        if draw.chance(0.6 if zones % 2 == 0 else 0.1):
            cluster["arbitration_service"] = f"10.200.0.{number}"
            fleet["arbitration_services"].append({"ip": cluster["arbitration_service"]})
        cluster["tenants"] = [
            _tenant(draw, cluster, place) for place in range(1, 1 + draw.pick((1, 0, 2, 4), (40, 20, 25, 15)))
        ]
        fleet["clusters"].append(cluster)
    return fleet


def _servers(cluster: int, zone: int, count: int) -> list[dict[str, str]]:
    return [{"ip": f"10.{cluster}.{zone}.{place}"} for place in range(1, count + 1)]


def _tenant(draw: Stream, cluster: dict[str, Any], place: int) -> dict[str, Any]:
    """A tenant with replicas in some of the zones, on all servers there or on one or more of each zone."""
    zones = cluster["zones"]
    there = [zone for zone in zones if not draw.chance(0.2)] or zones[:1]
    types = ["FULL", *(draw.pick(TYPES, (75, 20, 5)) for _zone in there[1:])]
    tenant: dict[str, Any] = {
        "name": f"t{place}",
        "locality": ", ".join(f"{kind}{{1}}@{zone['name']}" for kind, zone in zip(types, there, strict=True)),
    }
    if draw.chance(0.6):
        tenant["units"] = [draw.pick(zone["servers"])["ip"] for zone in there]
    if "arbitration_service" in cluster and draw.chance(0.2):
        tenant["arbitration"] = False
    return tenant
