# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The voters of tenants as the database has them."""

import sqlite3
from collections import defaultdict

from ocp_emulator.fleet.voters import TenantVoters, ZoneVoters


def read_tenant_voters(db: sqlite3.Connection, cluster_id: int | None = None) -> list[TenantVoters]:
    """The tenants of a cluster, or of all, with their voters. A zone without a voter is left out."""
    chosen = {"cluster": cluster_id}
    servers: dict[tuple[int, str], set[int]] = defaultdict(set)
    for row in db.execute(
        "SELECT units.* FROM units JOIN tenants ON tenants.id = tenant_id"
        " WHERE cluster_id = coalesce(:cluster, cluster_id)",
        chosen,
    ):
        servers[row["tenant_id"], row["zone"]].add(row["server_id"])
    zones: dict[int, list[ZoneVoters]] = defaultdict(list)
    for row in db.execute(
        "SELECT tenant_id, zone, sum(voters) AS voters FROM replicas JOIN tenants ON tenants.id = tenant_id"
        " WHERE cluster_id = coalesce(:cluster, cluster_id) GROUP BY tenant_id, zone HAVING sum(voters) > 0",
        chosen,
    ):
        place = ZoneVoters(row["zone"], row["voters"], frozenset(servers[row["tenant_id"], row["zone"]]))
        zones[row["tenant_id"]].append(place)
    return [
        TenantVoters(row["id"], row["cluster_id"], row["name"], row["arbitration_service_id"], tuple(zones[row["id"]]))
        for row in db.execute(
            "SELECT * FROM tenants WHERE cluster_id = coalesce(:cluster, cluster_id) ORDER BY id", chosen
        )
    ]
