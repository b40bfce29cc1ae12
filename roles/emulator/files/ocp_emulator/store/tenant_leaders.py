# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The zones that can have the leaders of tenants, as the database has them."""

import sqlite3
from collections import defaultdict

from ocp_emulator.fleet.leaders import LeaderZone, TenantLeaders, priorities


def read_tenant_leaders(db: sqlite3.Connection) -> list[TenantLeaders]:
    """All tenants that have a full replica."""
    servers: dict[tuple[int, str], set[int]] = defaultdict(set)
    for row in db.execute("SELECT * FROM units"):
        servers[row["tenant_id"], row["zone"]].add(row["server_id"])
    zones: dict[int, dict[str, None]] = defaultdict(dict)
    for row in db.execute("SELECT * FROM replicas WHERE type = 'FULL' ORDER BY tenant_id, position"):
        zones[row["tenant_id"]][row["zone"]] = None
    found = []
    for row in db.execute("SELECT * FROM tenants ORDER BY id"):
        ranked = priorities(row["primary_zone"], list(zones[row["id"]])).items()
        places = [LeaderZone(zone, priority, frozenset(servers[row["id"], zone])) for zone, priority in ranked]
        places.sort(key=lambda place: place.priority)
        if places:
            found.append(TenantLeaders(row["id"], row["cluster_id"], row["name"], row["primary_zone"], tuple(places)))
    return found
