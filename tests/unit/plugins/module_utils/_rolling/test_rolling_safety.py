# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which clusters a plan blocks because of their tenants, and what is read for that."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import (
    RollingRequest,
    plan_rolling_restart,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.cluster_payloads import raw_cluster, raw_server
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, clock_ahead, raw_task

# Clocks of database hosts are known to a minute.
LATER = BEGINNING + timedelta(minutes=2)
FULL2 = "FULL{1}@zone1, FULL{1}@zone2"
FULL3 = f"{FULL2}, FULL{{1}}@zone3"
MODIFYING = {"status": "MODIFYING"}
SIZES = pytest.mark.parametrize("size", [1, 2, None], ids=["one", "two", "auto"])


def cluster(zones, **changed):
    """Two servers in each zone; some are ``changed``, by ``s`` and the number."""
    servers = [
        raw_server(number, f"zone{(number + 1) // 2}", **changed.get(f"s{number}", {}))
        for number in range(1, 2 * zones + 1)
    ]
    return raw_cluster(*servers)


@pytest.fixture
def planned(api, time_passes):
    """The plan of a cluster with two servers in each zone, as facts of the cluster; tenants are by name."""
    api.double.service_clock = clock_ahead(0)
    time_passes.time += 3600.0

    def run(
        zones,
        localities,
        *,
        arbiter=None,
        units=(),
        size=1,
        strategy=Strategy.SERVER,
        servers=None,
        tasks=(),
        tenants=None,
        **options,
    ):
        api.expect("clusters", "orders", gives=[cluster(zones, **(servers or {}))])
        api.expect("tasks", clusterId=31, gives=list(tasks))
        named = enumerate(localities.items(), 1)
        shown = [{"id": n, "name": name, "locality": where} for n, (name, where) in named]
        if options.get("majority", True):
            api.expect("tenants", 31, gives=[{**one, **(tenants or {}).get(one["name"], {})} for one in shown])
        if arbiter is not None:
            api.expect("arbitration_services", gives=arbiter)
            if arbiter:
                api.expect("tasks", name="arbitration", gives=[])
        for number, detail in units:
            api.expect("tenant", 31, number, gives=detail)
        wanted = RollingRequest(["orders"], options.pop("only", None), None, size, strategy, LATER, **options)
        plan = plan_rolling_restart(api.double, wanted, time_passes.clock)
        plan["clusters"][0]["sizes"] = [len(batch["servers"]) for batch in plan["batches"]]
        return plan["clusters"][0]

    return run


# The only server of a tenant, by the tenant's number.
PLACES = {2: 2, 3: 1}.items()


def unit(server):
    return {"serverIp": f"10.1.0.{server}", "serverPort": 2882}


def serving(*tenants, status="RUNNING"):
    named = [{"tenantName": tenant} for tenant in tenants]
    return [{"id": 61, "status": status, "clusters": [{"clusterId": 31, "tenants": named}]}]


@SIZES
def test_three_full_replicas_are_safe_and_cost_one_request(planned, size):
    found = planned(3, {"sys": FULL3, "shop": FULL3}, size=size)
    assert (found["safe"], found["blocked"], found["message"]) == (True, False, "")
    assert found["sizes"] == {1: [1] * 6, 2: [2, 2, 1, 1], None: [2, 2, 1, 1]}[size]


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
    assert found["message"].startswith("With 10.1.0.2:2882 down: Tenant report would lose its majority: 0 of 1 voters")
    assert found["message"].endswith("allow it with tolerate_outage_of=report or ask for safety=none this time.")
    assert planned(3, tolerated=["report"], **given)["blocked"] is False


def test_server_without_a_part_of_the_tenant_is_not_blocked(planned):
    found = planned(3, {"sys": FULL3, "report": "FULL{1}@zone1"}, only=["zone2"])
    assert found["blocked"] is False


def test_zone_strategy_counts_the_whole_zone(planned):
    units = [(2, {"zones": [{"name": "zone1", "replicaType": "FULL", "units": [unit(1)]}]})]
    localities = {"sys": FULL3, "report": "FULL{1}@zone1"}
    found = planned(3, localities, arbiter=[], units=units, strategy=Strategy.ZONE, size=1)
    assert found["message"].startswith("With 10.1.0.2:2882 and 10.1.0.1:2882 down: Tenant report would lose")


def test_servers_that_are_not_down_at_the_same_time_are_told_apart(planned):
    units = [(1, {"zones": []})]
    found = planned(2, {"sys": FULL2}, arbiter=[], units=units)
    others = ", or ".join(f"10.1.0.{number}:2882" for number in (3, 4, 2, 1))
    assert found["message"].startswith(f"With {others} down: Tenant sys would lose its majority")


def test_each_server_is_told_with_the_tenants_that_it_takes(planned):
    parts = {number: [{"name": "zone1", "replicaType": "FULL", "units": [unit(server)]}] for number, server in PLACES}
    localities = {"sys": FULL3, "report": "FULL{1}@zone1", "audit": "FULL{1}@zone1"}
    units = [(number, {"zones": zones}) for number, zones in parts.items()]
    found = planned(3, localities, arbiter=[], units=units)
    first, second = re.findall(r"With (\S+) down: Tenant (\w+) would lose its majority", found["message"])
    assert [first, second] == [("10.1.0.2:2882", "report"), ("10.1.0.1:2882", "audit")]
    assert "allow it with tolerate_outage_of=report,audit or " in found["message"]


def test_arbiter_that_is_down_now_is_judged_at_its_turn(planned):
    """The plan cannot know what will be up by then."""
    units = [(1, {"zones": []})]
    found = planned(2, {"sys": FULL2}, arbiter=serving("sys", status="UNAVAILABLE"), units=units)
    assert found["blocked"] is False


def test_arbiter_that_is_stopped_blocks_the_plan_with_the_command_that_starts_it(planned):
    """Check mode was green, and the run waited ten minutes for what nothing starts."""
    units = [(1, {"zones": []})]
    [service] = serving("sys", status="STOPPED")
    found = planned(2, {"sys": FULL2}, arbiter=[{**service, "svrIp": "10.1.0.9", "svrPort": 2888}], units=units)
    assert (found["safe"], found["blocked"]) == (False, True)
    *_words, start, again = found["message"].splitlines()
    assert start.startswith(
        "  Start arbitration service 10.1.0.9:2888 by a restart: ansible localhost -m oceanbase.ocp."
    )
    assert again == "Then run the same command again."


def test_cluster_without_an_obstacle_names_none(planned):
    found = planned(3, {"sys": FULL3, "shop": FULL3}, tenants={"shop": {"status": "NORMAL", "locked": False}})
    assert (found["obstacles"], found["safe"], found["blocked"]) == ([], True, False)


@SIZES
@pytest.mark.parametrize("status", ["CREATING", "MODIFYING", "DELETING"])
def test_tenant_that_changes_is_named_and_waited_for_at_its_turn(planned, status, size):
    found = planned(3, {"sys": FULL3, "shop": FULL3}, tenants={"shop": {"status": status}}, size=size)
    assert found["obstacles"] == [f"tenant shop is {status} (-4179)"]
    assert (found["safe"], found["blocked"], found["message"]) == (True, False, "")


def test_locked_tenant_blocks_its_cluster_unless_it_is_tolerated(planned):
    given = {"localities": {"sys": FULL3, "shop": FULL3}, "tenants": {"shop": {"locked": True}, "sys": MODIFYING}}
    found = planned(3, **given)
    assert found["obstacles"] == ["tenant sys is MODIFYING (-4179)", "tenant shop is locked"]
    assert (found["safe"], found["blocked"], found["serves"]) == (False, True, True)
    assert found["message"] == (
        "The database would refuse to stop a server, since tenant shop is locked. To go on, unlock tenant shop or "
        "leave it out with tolerate_outage_of=shop or ask for safety=none this time."
    )
    assert "tolerate_outage_of=blog,shop or" in planned(3, tolerated=["blog"], **given)["message"]
    found = planned(3, tolerated=["shop"], **given)
    assert (found["obstacles"], found["blocked"]) == (["tenant sys is MODIFYING (-4179)"], False)


def test_what_is_stopped_or_restarts_in_another_zone_is_named(planned):
    stopped = {"servers": {"s3": {"status": "STOPPED", "innerStatus": "INACTIVE"}}}
    found = planned(3, {"sys": FULL3}, **stopped, only=["zone1"])
    assert found["obstacles"] == ["10.1.0.3:2882 is STOPPED and INACTIVE in zone2 (-4660)"]
    restart = raw_task(9, name="Restart OB server", tags=[{"serverId": 3}])
    found = planned(3, {"sys": FULL3}, tasks=[restart], only=["zone1"])
    [words] = found["obstacles"]
    assert words.startswith("10.1.0.3:2882 is RUNNING and ACTIVE (task 9 (Restart OB server)) in zone2")
    assert (found["blocked"], found["task_ids"]) == (False, [9])
    assert planned(3, {"sys": FULL3}, **stopped, only=["zone2"])["obstacles"] == []


def test_first_batch_that_is_down_meets_no_obstacle(planned):
    """There is nothing to stop."""
    down = {"servers": {f"s{number}": {"status": "UNAVAILABLE", "innerStatus": "INACTIVE"} for number in (1, 2)}}
    found = planned(3, {"sys": FULL3}, tenants={"sys": MODIFYING}, only=["zone1"], **down)
    assert found["obstacles"] == []


def test_plan_without_batches_or_without_the_check_looks_for_no_obstacle(planned):
    assert planned(3, {"sys": FULL3}, tenants={"sys": MODIFYING}, majority=False)["obstacles"] == []
