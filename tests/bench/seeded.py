# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A database of the emulator with thousands of tasks, made by its own code on a clock that is moved by hand."""

from __future__ import annotations

import random
import time
from pathlib import Path

from ocp_emulator.base.clock import DAY, SECOND
from ocp_emulator.base.errors import ApiError
from ocp_emulator.faults import fault_plan
from ocp_emulator.faults.subtask_faults import SubtaskFault
from ocp_emulator.fleet.generate_fleet import generated_fleet
from ocp_emulator.service import Service, Settings
from ocp_emulator.tasks import blueprints

CLUSTERS, ZONES, SERVERS_PER_ZONE = 60, 3, 4
SERVERS = ZONES * SERVERS_PER_ZONE
FLEET = ("--clusters", str(CLUSTERS), "--zones", str(ZONES), "--servers-per-zone", str(SERVERS_PER_ZONE))
# The 13 steps of what still runs take longer than any benchmark.
SLOW_STEP = 30 * SECOND
# Seconds.
LONGEST_RUN = 14 * SLOW_STEP // SECOND
_LONGEST = 90 * SECOND
_AGENTS_OF_A_BATCH = 4


class _HandClock:
    def __init__(self, instant: int) -> None:
        self.instant = instant

    def now(self) -> int:
        return self.instant


def fill(database: Path, tasks: int, running: int) -> list[int]:
    """Make the database; the ids of the server restarts that still run, which have begun just now.

    There are `tasks` tasks: restarts of all kinds, starts and stops; of those that have ended, some FAILED, some were
    retried and some rolled back.
    """
    now = time.time_ns() // 1_000_000
    fleet = generated_fleet(CLUSTERS, ZONES, SERVERS_PER_ZONE)
    clock = _HandClock(now - DAY)
    service = Service(Settings(database=database, fleet=fleet, step_ms=SECOND), clock)
    chance = random.Random(tasks)
    while (left := tasks - running - _count(service)) > 0:
        _wave(service, clock, chance, left)
    service.close()
    clock.instant = now
    service = Service(Settings(database=database, fleet=fleet, step_ms=SLOW_STEP), clock)
    return _restarted(service, now, running, CLUSTERS)


def start(database: Path, running: int) -> list[int]:
    """Make a database with nothing but server restarts that have begun just now, in a fleet as large; their ids.

    They take no longer than LONGEST_RUN.
    """
    now = time.time_ns() // 1_000_000
    clusters = -(-running // SERVERS)
    settings = Settings(database=database, fleet=generated_fleet(clusters, ZONES, SERVERS_PER_ZONE), step_ms=SLOW_STEP)
    return _restarted(Service(settings, _HandClock(now)), now, running, clusters)


def _restarted(service: Service, now: int, running: int, clusters: int) -> list[int]:
    ids: list[int] = []
    for server in range(1, clusters * SERVERS + 1):
        if len(ids) < running:
            ids += _started(service, now, "restart_server", _cluster_of(server), server, freeze=True, force=False)
    service.close()
    return ids


def _wave(service: Service, clock: _HandClock, chance: random.Random, limit: int) -> None:
    """Start what is free, let all of it end, and deal with what failed; `limit` is how many tasks may be added."""
    _plan_failures(service, clock.instant, chance)
    orders = [order for cluster in range(1, CLUSTERS + 1) for order in _orders(cluster, chance)]
    orders.append(("restart_arbitration_service", (1,), {}))
    chance.shuffle(orders)
    ids: list[int] = []
    for name, arguments, options in orders:
        if len(ids) < limit:
            ids += _started(service, clock.instant, name, *arguments, **options)
    clock.instant += _LONGEST
    service.engine.advance(clock.instant)
    admin = service.store.users()[0]
    for (task_id,) in service.store.db.execute("SELECT id FROM tasks WHERE status = 'FAILED'").fetchall():
        steer = chance.choice([service.task_actions.retry_task, service.task_actions.rollback_task, None])
        if steer:
            steer(admin, clock.instant, task_id)
    clock.instant += _LONGEST
    service.engine.advance(clock.instant)


def _orders(cluster: int, chance: random.Random) -> list[tuple[str, tuple, dict]]:
    first = (cluster - 1) * SERVERS + 1
    servers = range(first, first + SERVERS)
    freeze = {"freeze": chance.random() < 0.5, "force": False}
    kinds = [
        [("restart_server", (cluster, server), freeze) for server in servers],
        [("operate_server", (blueprints.SERVER_STOP, cluster, server), {}) for server in servers[:2]],
        [("operate_server", (blueprints.SERVER_START, cluster, server), {}) for server in servers[:2]],
        [("restart_cluster", (cluster,), {})],
        [("operate_zone", (blueprints.ZONE_RESTART, cluster, f"zone{zone}"), {}) for zone in range(1, ZONES + 1)],
        [
            ("agent_rolling_restart", (list(servers[at : at + _AGENTS_OF_A_BATCH]),), {})
            for at in range(0, SERVERS, _AGENTS_OF_A_BATCH)
        ],
    ]
    return chance.choice(kinds)


def _started(service: Service, now: int, name: str, *arguments: object, **options: object) -> list[int]:
    """The id of the new task; nothing where the target is busy."""
    admin = service.store.users()[0]
    blueprint, rest = ([arguments[0]], arguments[1:]) if name.startswith("operate") else ([], arguments)
    try:
        return [getattr(service.submitter, name)(*blueprint, admin, now, *rest, **options)]
    except ApiError:
        return []


def _plan_failures(service: Service, now: int, chance: random.Random) -> None:
    with service.store.transaction() as db:
        fault_plan.remove(db, None)
        for step in ("Stop observer process", "Wait observer active", "Start all OCP agent processes"):
            fault = {"kind": "subtask", "action": "fail", "match": {"subtask": step}, "times": chance.randint(1, 4)}
            fault_plan.add(db, SubtaskFault.model_validate(fault), now)


def _cluster_of(server: int) -> int:
    return (server - 1) // SERVERS + 1


def _count(service: Service) -> int:
    (count,) = service.store.db.execute("SELECT count(*) FROM tasks").fetchone()
    return count
