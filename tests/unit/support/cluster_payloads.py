# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Records of clusters as the service sends them."""

from __future__ import annotations

from typing import Any

from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING

STARTED = BEGINNING.isoformat()


def raw_server(number: int, zone: str = "zone1", **fields: Any) -> dict[str, Any]:
    return {
        "id": number,
        "ip": f"10.1.0.{number}",
        "port": 2882,
        "zoneName": zone,
        "status": "RUNNING",
        "innerStatus": "ACTIVE",
        "withRootserver": number == 1,
        "startTime": STARTED,
        **fields,
    }


def raw_cluster(*servers: dict[str, Any], number: int = 31, name: str = "orders", **fields: Any) -> dict[str, Any]:
    """A cluster with these servers; by default one server in each of three zones."""
    servers = servers or tuple(raw_server(place, f"zone{place}") for place in (1, 2, 3))
    zones = dict.fromkeys(server["zoneName"] for server in servers)
    return {
        "id": number,
        "name": name,
        "status": "RUNNING",
        "serverCount": len(servers),
        "zones": [
            {
                "name": zone,
                "status": "RUNNING",
                "servers": [server for server in servers if server["zoneName"] == zone],
            }
            for zone in zones
        ],
        **fields,
    }
