# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The initial state of a fleet: what runs, since when, and which processes an agent has."""

import json
import sqlite3

from ocp_emulator.base.clock import DAY, SECOND
from ocp_emulator.fleet.entities import Fleet
from ocp_emulator.fleet.locality import VOTING
from ocp_emulator.fleet.ob_parameters import PARAMETERS
from ocp_emulator.fleet.obproxy_parameters import OBPROXY_PARAMETERS

# Everything has been running for a month when the emulator starts for the first time.
_UPTIME = 30 * DAY

# Documented names of processes (docs/dev/contract.md, "Agents").
_AGENT_PROCESSES = ("ocp_mgragent", "ocp_monagent", "ocp_agentd", "pos_proxy")


def seed(db: sqlite3.Connection, fleet: Fleet, now: int) -> None:
    """Insert the fleet into empty tables."""
    since = now - now % SECOND - _UPTIME
    _insert_users(db, fleet)
    _insert_hosts(db, fleet, since)
    _insert_clusters(db, fleet, since)
    _insert_arbitration_services(db, fleet, since)
    _insert_obproxies(db, fleet, since)
    _insert_tenants(db, fleet, since)
    _insert_parameters(db, fleet)


def _insert_users(db: sqlite3.Connection, fleet: Fleet) -> None:
    db.executemany(
        "INSERT INTO users VALUES (?, ?, ?, ?)",
        [(user.id, user.name, user.password, json.dumps(user.permissions)) for user in fleet.users],
    )
    db.executemany(
        "INSERT INTO access_keys VALUES (?, ?, ?)",
        [(key.id, key.secret, key.user_id) for key in fleet.access_keys],
    )


def _insert_hosts(db: sqlite3.Connection, fleet: Fleet, since: int) -> None:
    db.executemany(
        "INSERT INTO hosts VALUES (?, ?, ?, 'AVAILABLE', NULL, NULL, ?, ?, 0)",
        [(host.id, host.ip, host.name, since, since) for host in fleet.hosts],
    )
    db.executemany(
        "INSERT INTO agent_processes (host_id, alias, pid, status, start_time, create_time, update_time)"
        " VALUES (?, ?, ?, 'STARTED', ?, ?, ?)",
        [
            (host.id, alias, 2_000 + host.id * 7 % 20_000 + number, since, since, since)
            for host in fleet.hosts
            for number, alias in enumerate(_AGENT_PROCESSES)
        ],
    )


def _insert_clusters(db: sqlite3.Connection, fleet: Fleet, since: int) -> None:
    db.executemany(
        "INSERT INTO clusters VALUES (?, ?, ?, ?, ?, 'RUNNING', ?, NULL, ?, ?, 0, 'IDLE')",
        [
            (cluster.id, cluster.name, cluster.ob_cluster_id, cluster.type, cluster.version, since, since, since)
            for cluster in fleet.clusters
        ],
    )
    db.executemany(
        "INSERT INTO zones VALUES (?, ?, ?, ?, ?, 'RUNNING', 'ACTIVE', NULL, ?, ?, 0, 'IDLE')",
        [(zone.id, zone.cluster_id, zone.name, zone.region, zone.idc, since, since) for zone in fleet.zones],
    )
    db.executemany(
        "INSERT INTO servers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'RUNNING', 'ACTIVE', ?, 0, NULL, ?, 1, 0)",
        [
            (
                server.id,
                server.cluster_id,
                server.zone_id,
                server.host_id,
                server.ip,
                server.port,
                server.sql_port,
                server.version,
                server.root,
                since,
                since,
            )
            for server in fleet.servers
        ],
    )


def _insert_arbitration_services(db: sqlite3.Connection, fleet: Fleet, since: int) -> None:
    db.executemany(
        "INSERT INTO arbitration_services VALUES (?, ?, ?, ?, ?, 'RUNNING', NULL, ?, ?, 1, 0)",
        [
            (service.id, service.host_id, service.ip, service.port, service.version, since, since)
            for service in fleet.arbitration_services
        ],
    )


def _insert_obproxies(db: sqlite3.Connection, fleet: Fleet, since: int) -> None:
    db.executemany(
        "INSERT INTO obproxy_clusters VALUES (?, ?, ?, ?, ?)",
        [(cluster.id, cluster.name, cluster.address, cluster.port, since) for cluster in fleet.obproxy_clusters],
    )
    db.executemany(
        "INSERT INTO obproxies VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, 1, 0)",
        [
            (
                each.id,
                each.cluster_id,
                each.host_id,
                each.ip,
                each.port,
                each.exporter_port,
                each.idc,
                each.version,
                since,
            )
            for each in fleet.obproxies
        ],
    )


def _insert_tenants(db: sqlite3.Connection, fleet: Fleet, since: int) -> None:
    db.executemany(
        "INSERT INTO tenants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                tenant.id,
                tenant.cluster_id,
                tenant.ob_tenant_id,
                tenant.name,
                tenant.mode,
                tenant.locality,
                tenant.primary_zone,
                tenant.status,
                tenant.locked,
                tenant.readonly,
                tenant.arbitration_service_id,
                since,
            )
            for tenant in fleet.tenants
        ],
    )
    db.executemany(
        "INSERT INTO replicas VALUES (?, ?, ?, ?, ?, ?)",
        [
            (tenant.id, position, each.zone, each.type, each.number, each.number if each.type in VOTING else 0)
            for tenant in fleet.tenants
            for position, each in enumerate(tenant.replicas)
        ],
    )
    db.executemany(
        "INSERT INTO units VALUES (?, ?, ?, ?)",
        [(unit.id, unit.tenant_id, unit.zone, unit.server_id) for unit in fleet.units],
    )


def _insert_parameters(db: sqlite3.Connection, fleet: Fleet) -> None:
    """For a static parameter, a server's entry is what it runs with, and the cluster's entry is what was set."""
    of_clusters = {cluster.id: dict(cluster.parameters) for cluster in fleet.clusters}
    rows = []
    for server in fleet.servers:
        own = dict(server.parameters)
        for each in PARAMETERS:
            given = of_clusters[server.cluster_id].get(each.name, each.default)
            runs = own.get(each.name, given)
            was_set = given if each.static else runs
            rows.append((server.id, each.name, runs, was_set, was_set))
    db.executemany("INSERT INTO parameters VALUES (?, ?, ?, ?, ?)", rows)
    db.executemany(
        "INSERT INTO obproxy_parameters VALUES (?, ?, ?)",
        [(proxy.id, name, each.default) for proxy in fleet.obproxies for name, each in OBPROXY_PARAMETERS.items()],
    )
