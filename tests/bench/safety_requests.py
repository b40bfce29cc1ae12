# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How many requests a restart sends with `safety: none` and with `safety: majority`, by layout of the tenants."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from emulator import Emulator, serving
from plays import Controller, play

NEWEST, OLDER = "4.3", "4.2"


@dataclass(frozen=True)
class Layout:
    """A cluster of one server a zone, and which service it is at; ``dead``: a server of another zone is."""

    label: str
    zones: int = 3
    arbitration: bool = False
    tenants: tuple[dict[str, Any], ...] = ()
    profile: str = NEWEST
    dead: bool = False


ONE_REPLICA = {"name": "report", "locality": "FULL{1}@zone0", "units": ["10.0.0.2"]}
LAYOUTS = (
    Layout("three full replicas"),
    Layout(f"three full replicas, profile {OLDER}", profile=OLDER),
    Layout("two full replicas, arbitration", zones=2, arbitration=True),
    Layout("one replica, on another server", tenants=(ONE_REPLICA,)),
    Layout("one replica, on this server: refused", tenants=({**ONE_REPLICA, "units": ["10.0.0.1"]},)),
    Layout("three, one is down: refused", dead=True),
)


def requests_of(layout: Layout, safety: str) -> int:
    """The requests of one restart, in the controller's process; it may be refused."""
    with tempfile.TemporaryDirectory() as name:
        fleet = Path(name) / "fleet.yml"
        fleet.write_text(yaml.safe_dump(_fleet(layout)))
        options = ("--fleet", str(fleet), "--step-seconds", "60", "--profile", layout.profile)
        with serving(Path(name), *options) as emulator:
            before = _prepare(layout, emulator)
            restart = {"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True, "safety": safety}
            task = {"oceanbase.ocp.server_restart": restart, "ignore_errors": True}
            Controller(Path(name), emulator.url).run([play(task)])
            return len(emulator.requests()) - before


def _prepare(layout: Layout, emulator: Emulator) -> int:
    if layout.dead:
        emulator.put("/emulator/servers/3", {"available": False})
    return len(emulator.requests())


def _fleet(layout: Layout) -> dict[str, Any]:
    """The first zone has two servers."""
    zones = []
    for zone in range(layout.zones):
        places = (1, 2) if zone == 0 else (1,)
        zones.append({"name": f"zone{zone}", "servers": [{"ip": f"10.0.{zone}.{place}"} for place in places]})
    cluster: dict[str, Any] = {"name": "orders", "zones": zones, "tenants": list(layout.tenants)}
    service = {"arbitration_service": "10.0.9.1"} if layout.arbitration else {}
    return {
        "clusters": [{**cluster, **service}],
        "arbitration_services": [{"ip": "10.0.9.1"}] if layout.arbitration else [],
    }
