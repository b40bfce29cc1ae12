# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The catalogue of restarts that are not safe for tenants: modules against a fake OCP whose tenants would be lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import MemberKey, Place
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue import TASKS, Entry
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_tasks import (
    ADDRESS_41,
    entry,
    fails,
    together,
    turned,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FULL3, SERVER, FakeOcp
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING
from ansible_collections.oceanbase.ocp.tests.unit.support.journal_cases import request


def safety_entries() -> Iterator[Entry]:
    """Restarts that would take a majority away, and what cannot be judged."""
    unsafe = partial(entry, (TASKS, "The restart is not safe"))

    def others(service: FakeOcp) -> None:
        service.begin(SERVER, service.servers_there[1:2], seconds=1e6)

    mine = (ADDRESS_41, "sys", "10.1.0.2:2882", "1001", "-4660", "safety_timeout")
    yield unsafe("another server is being restarted", "server_restart", mine, others)
    yield unsafe("the same, after `safety_timeout`", "server_restart", mine, others, safety_timeout=60)
    single = turned(localities={"sys": FULL3, "shop": "FULL{1}@zone1"})
    yield unsafe("a tenant has one replica", "zone_restart", ("zone1", "shop", "tolerate_outage_of"), single)
    unread = together(others, fails("tenants", 403, "/api/v2/ob/clusters/31/tenants"))
    yield unsafe("tenants cannot be read", "server_restart", (ADDRESS_41, "1001", "zone3", "safety_timeout"), unread)
    changed = turned(tenant_fields={"sys": {"status": "MODIFYING"}})
    yield unsafe("a tenant is changed", "server_restart", (ADDRESS_41, "sys is MODIFYING", "safety_timeout"), changed)
    locked_tenant = turned(tenant_fields={"sys": {"locked": True}})
    yield unsafe("a tenant is locked", "zone_restart", ("zone1", "sys is locked", "tolerate_outage_of"), locked_tenant)
    degraded = turned(
        localities={"sys": "FULL{1}@zone1, FULL{1}@zone2"},
        arbitrated={"sys": [1001]},
    )
    yield unsafe("log streams are degraded", "arbitration_service_restart", ("10.1.0.8:2888", "sys"), degraded)
    broken = fails("tenants", 500, "/api/v2/ob/clusters/31/tenants")
    yield unsafe("reading tenants fails", "server_restart", (ADDRESS_41, "500"), broken)

    def failed(service: FakeOcp) -> None:
        service.begin(SERVER, service.servers_there[1:2], seconds=1, end="FAILED")
        service.passes(5)

    held = (ADDRESS_41, "1001", "max_failures=0", "judged_tasks=1001")
    limits = {"started_before": BEGINNING.isoformat(), "max_failures": 0}
    yield unsafe("a restart of the same change has failed", "server_restart", held, failed, **limits)

    yield from _signs(unsafe)
    yield from _caps(unsafe)

    def locked(service: FakeOcp) -> None:
        held = journal_here().lock(["cluster 31"], service.time.clock, 1.0)
        held.__enter__()
        vars(service)["held_by_others"] = held

    yield unsafe(
        "others of this controller look for too long", "server_restart", (ADDRESS_41,), locked, wait_timeout=60
    )


def _caps(unsafe: Callable[..., Entry]) -> Iterator[Entry]:
    """Servers that are down, by restarts and otherwise."""

    def restarted(service: FakeOcp) -> None:
        other = MemberKey("stock 2", "server", 51, "10.2.0.1:2882")
        places = (Place(other.address, "hz1", "hz"),)
        journal_here().begin(request(other, url=service.url, at=service.time.clock.wall(), places=places))

    ahead = (ADDRESS_41, "10.2.0.1:2882", "request 1", "oceanbase.ocp.restart_journal_clear", "most_down")
    one = {"most_down": {"servers": 1}}
    yield unsafe("it never is its turn", "server_restart", ahead, restarted, wait_timeout=60, **one)

    def stopped(service: FakeOcp) -> None:
        service.servers_there[1].status = "STOPPED"

    down = (ADDRESS_41, "10.1.0.2:2882", "most_down")
    yield unsafe("too many servers are down anyway", "server_restart", down, stopped, safety="none", **one)


def _signs(unsafe: Callable[..., Entry]) -> Iterator[Entry]:
    """Signs of trouble, and past restarts that took too long."""
    alarm = {"id": 12, "alarmType": "ob_cluster_no_frozen", "labels": {"ob_cluster_name": "orders"}}
    stops = {"stop_on": ["alarms", "merge"]}
    named = (ADDRESS_41, "alarm 12", "stop_on: alarms")
    yield unsafe("there is a new alarm", "server_restart", named, turned(alarms=[alarm]), **stops)
    merge = turned(compaction="MERGING")
    late = ("zone1", "MERGING", "stop_on: merge", "60 seconds")
    yield unsafe("a merge runs, after `safety_timeout`", "zone_restart", late, merge, **stops, safety_timeout=60)
    broken = fails("active_alarms", 500, "/api/v2/alarm/alarms")
    yield unsafe("reading alarms fails", "server_restart", (ADDRESS_41, "500"), broken, **stops)

    def slow(service: FakeOcp) -> None:
        service.begin(SERVER, service.servers_there[:1], ago=5000, seconds=4000)

    budget = (ADDRESS_41, "4000", "1001", "server_permanent_offline_time=3600", "offline_budget=warn")
    yield unsafe("a past restart took too long", "server_restart", budget, slow, offline_budget="refuse")
    unread = fails("cluster_parameters", 500, "/api/v2/ob/clusters/31/parameters")
    words = (ADDRESS_41, "500", "offline_budget=ignore")
    yield unsafe("reading parameters fails", "server_restart", words, unread, offline_budget="refuse")
