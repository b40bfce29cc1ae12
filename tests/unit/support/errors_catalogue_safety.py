# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The catalogue of restarts that are not safe for tenants: modules against a fake OCP whose tenants would be lost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.cluster_lock import ClusterLock
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue import TASKS, Entry
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_tasks import (
    ADDRESS_41,
    entry,
    fails,
    together,
    turned,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FULL3, SERVER, FakeOcp


def safety_entries() -> Iterator[Entry]:
    """Restarts that would take a majority away, and what cannot be judged."""
    unsafe = partial(entry, (TASKS, "The restart is not safe"))

    def others(service: FakeOcp) -> None:
        service.begin(SERVER, service.servers_there[1:2], seconds=1e6)

    mine = (ADDRESS_41, "sys", "10.1.0.2:2882", "1001", "tolerate_outage_of", "safety=none")
    yield unsafe("another server is being restarted", "server_restart", mine, others)
    yield unsafe("the same, after `safety_timeout`", "server_restart", mine, others, safety_timeout=60)
    single = turned(localities={"sys": FULL3, "shop": "FULL{1}@zone1"})
    yield unsafe("a tenant has one replica", "zone_restart", ("zone1", "shop", "tolerate_outage_of"), single)
    unread = together(others, fails("tenants", 403, "/api/v2/ob/clusters/31/tenants"))
    yield unsafe("tenants cannot be read", "server_restart", (ADDRESS_41, "1001", "zone3", "safety=none"), unread)
    degraded = turned(
        localities={"sys": "FULL{1}@zone1, FULL{1}@zone2"},
        arbitrated={"sys": [1001]},
    )
    yield unsafe("log streams are degraded", "arbitration_service_restart", ("10.1.0.8:2888", "sys"), degraded)
    broken = fails("tenants", 500, "/api/v2/ob/clusters/31/tenants")
    yield unsafe("reading tenants fails", "server_restart", (ADDRESS_41, "500"), broken)

    def locked(service: FakeOcp) -> None:
        ClusterLock(service.url, [31], service.time.clock, []).acquire(PollPolicy(1, 1))

    yield unsafe(
        "others of this controller look for too long", "server_restart", (ADDRESS_41,), locked, wait_timeout=60
    )
