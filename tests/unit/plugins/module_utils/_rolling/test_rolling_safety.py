# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which clusters a plan blocks because of their tenants, and what is read for that."""

from __future__ import annotations

from datetime import timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import (
    RollingRequest,
    plan_rolling_restart,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.cluster_payloads import raw_cluster, raw_server
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, clock_ahead

# Clocks of database hosts are known to a minute.
LATER = BEGINNING + timedelta(minutes=2)
FULL2 = "FULL{1}@zone1, FULL{1}@zone2"
FULL3 = f"{FULL2}, FULL{{1}}@zone3"
SIZES = pytest.mark.parametrize("size", [1, 2, None], ids=["one", "two", "auto"])


def cluster(zones):
    return raw_cluster(*[raw_server(number, f"zone{(number + 1) // 2}") for number in range(1, 2 * zones + 1)])


@pytest.fixture
def planned(api, time_passes):
    """The plan of a cluster with two servers in each zone, as facts of the cluster; tenants are by name."""
    api.double.service_clock = clock_ahead(0)
    time_passes.time += 3600.0

    def run(zones, localities, *, arbiter=None, units=(), size=1, strategy=Strategy.SERVER, **options):
        api.expect("clusters", "orders", gives=[cluster(zones)])
        api.expect("tasks", clusterId=31, gives=[])
        named = enumerate(localities.items(), 1)
        api.expect("tenants", 31, gives=[{"id": n, "name": name, "locality": where} for n, (name, where) in named])
        if arbiter is not None:
            api.expect("arbitration_services", gives=arbiter)
        for number, detail in units:
            api.expect("tenant", 31, number, gives=detail)
        wanted = RollingRequest(["orders"], options.pop("only", None), None, size, strategy, LATER, **options)
        plan = plan_rolling_restart(api.double, wanted, time_passes.clock)
        plan["clusters"][0]["sizes"] = [len(batch["servers"]) for batch in plan["batches"]]
        return plan["clusters"][0]

    return run


def unit(server):
    return {"serverIp": f"10.1.0.{server}", "serverPort": 2882}


def serving(*tenants, status="RUNNING"):
    named = [{"tenantName": tenant} for tenant in tenants]
    return [{"id": 61, "status": status, "clusters": [{"clusterId": 31, "tenants": named}]}]


@SIZES
def test_three_full_replicas_are_safe_and_cost_one_request(planned, size):
    found = planned(3, {"sys": FULL3, "shop": FULL3}, size=size)
    assert (found["safe"], found["blocked"], found["message"]) == (True, False, "")
    assert found["sizes"] == {1: [1] * 6, 2: [2] * 3, None: [2] * 3}[size]


@SIZES
def test_two_full_replicas_with_an_arbiter_are_safe(planned, size):
    found = planned(2, {"sys": FULL2}, arbiter=serving("sys"), size=size)
    assert (found["safe"], found["blocked"]) == (True, False)


@SIZES
def test_two_full_replicas_without_an_arbiter_are_blocked(planned, size):
    units = [(1, {"zones": []})]
    found = planned(2, {"sys": FULL2}, arbiter=[], units=units, size=size)
    assert (found["safe"], found["blocked"], found["serves"]) == (False, True, True)
    assert "Tenant sys would lose its majority: 1 of 2 voters would remain (zone1), and it needs 2." in found["message"]


@SIZES
def test_single_replica_is_named_with_its_server_and_may_be_tolerated(planned, size):
    units = [(2, {"zones": [{"name": "zone1", "replicaType": "FULL", "units": [unit(2)]}]})]
    given = {"localities": {"sys": FULL3, "report": "FULL{1}@zone1"}, "size": size}
    found = planned(3, arbiter=[], units=units, **given)
    assert (found["safe"], found["blocked"]) == (False, True)
    named = "10.1.0.2:2882" if size == 1 else "10.1.0.2:2882, 10.1.0.1:2882"
    assert found["message"].startswith(f"Without {named}: Tenant report would lose its majority: 0 of 1 voters")
    assert found["message"].endswith("allow it with tolerate_outage_of=report, or ask for safety=none.")
    assert planned(3, tolerated=["report"], **given)["blocked"] is False


def test_server_without_a_part_of_the_tenant_is_not_blocked(planned):
    found = planned(3, {"sys": FULL3, "report": "FULL{1}@zone1"}, only=["zone2"])
    assert found["blocked"] is False


def test_zone_strategy_counts_the_whole_zone(planned):
    units = [(2, {"zones": [{"name": "zone1", "replicaType": "FULL", "units": [unit(1)]}]})]
    localities = {"sys": FULL3, "report": "FULL{1}@zone1"}
    found = planned(3, localities, arbiter=[], units=units, strategy=Strategy.ZONE, size=1)
    assert found["message"].startswith("Without 10.1.0.2:2882, 10.1.0.1:2882: Tenant report would lose")


def test_arbiter_that_is_down_now_is_judged_at_its_turn(planned):
    """The plan cannot know what will be up by then."""
    units = [(1, {"zones": []})]
    found = planned(2, {"sys": FULL2}, arbiter=serving("sys", status="UNAVAILABLE"), units=units)
    assert found["blocked"] is False
