# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fleet of a campaign, and what is restarted in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone

# The faults are meant for the victim; the administrator looks on.
ADMIN, VICTIM = ("admin", "ocp-demo-1"), ("victim", "not-a-secret")


@dataclass(frozen=True)
class Place:
    """Something to restart: what the emulator counts its restarts under, and how the collection finds it."""

    name: str
    object_type: str
    selector: Selector


def places(clusters: int, *, arbitration: bool, named: bool) -> tuple[dict[str, Any], list[Place]]:
    """A fleet file, and all that is restarted in it. No two verbs share a target.

    If tasks are not ``named`` after their targets, one zone of a cluster: its tasks may be of any.
    """
    users = [{"name": name, "password": password, "permissions": ["ADMIN"]} for name, password in (ADMIN, VICTIM)]
    fleet: dict[str, Any] = {"clusters": [], "arbitration_services": [], "users": users}
    found: list[Place] = []
    for number in range(clusters):
        verb = ("server", "zone", "cluster", "agent")[number % 4]
        name, addresses = f"{verb}{number}", [f"10.{number}.{zone}.1" for zone in range(3)]
        zones = [{"name": f"zone{zone}", "servers": [{"ip": ip}]} for zone, ip in enumerate(addresses)]
        fleet["clusters"].append({"name": name, "zones": zones})
        of_verb = {"server": _servers, "zone": _zones, "cluster": _cluster, "agent": _agents}[verb](name, addresses)
        found += of_verb if named or verb != "zone" else of_verb[:1]
        if arbitration:
            ip = f"10.200.0.{number + 1}"
            fleet["arbitration_services"].append({"ip": ip})
            found.append(_arbitration_service(f"{ip}:2888"))
    return fleet, found


def _servers(cluster: str, addresses: list[str]) -> list[Place]:
    names = [f"{ip}:2882" for ip in addresses]
    return [
        Place(
            name,
            "OB_SERVER",
            Selector(Server, {"cluster": cluster, "server": name, "freeze_server": True, "force": False}),
        )
        for name in names
    ]


def _zones(cluster: str, addresses: list[str]) -> list[Place]:
    return [
        Place(f"{cluster}/{zone}", "OB_ZONE", Selector(Zone, {"cluster": cluster, "zone": zone}))
        for zone in (f"zone{number}" for number in range(len(addresses)))
    ]


def _cluster(cluster: str, _addresses: list[str]) -> list[Place]:
    return [Place(cluster, "OB_CLUSTER", Selector(Cluster, {"cluster": cluster}))]


def _agents(_cluster: str, addresses: list[str]) -> list[Place]:
    return [Place(ip, "HOST", Selector(Agents, {"hosts": [ip]})) for ip in addresses]


def _arbitration_service(name: str) -> Place:
    return Place(name, "ARBITRATION_SERVICE", Selector(ArbitrationService, {"arbitration_service": name}))
