# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The plan of a fleet restart: its waves, who is left alone or refused, why, and what is read for it."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError, TargetError
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.side_by_side import Crew
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.fleet_plan import (
    FleetRequest,
    _lost_tenants,
    plan_fleet,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.caps import Caps
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER, FakeOcp, Thing, at, refused

CHANGE = at(0)
ALL = ["10.1.0.1:2882", "10.1.0.2:2882", "10.1.0.3:2882"]
SINGLE = {"sys": "FULL{1}@zone1, FULL{1}@zone2, FULL{1}@zone3", "test": "FULL{1}@zone2"}


@pytest.fixture
def ocp(time_passes):
    return FakeOcp(time_passes)


@pytest.fixture
def plan(ocp, time_passes):
    def run(*servers, cluster="orders", since=CHANGE, safety=True, tolerated=(), change=None, caps=None):
        wanted = [(cluster, server) for server in servers or ALL]
        crew = Crew(lambda: nullcontext(ocp), 1, time_passes.clock)
        return plan_fleet(crew, FleetRequest(wanted, since, safety, list(tolerated) or None, change, caps=caps))

    return run


def waves(found):
    return [[server["server"] for server in wave["servers"]] for wave in found["waves"]]


def test_zones_go_one_after_another(plan):
    found = plan()
    assert waves(found) == [[server] for server in ALL]
    assert found["message"] == (
        "The servers of cluster orders (id 31) cannot all be down at once. Tenant sys would lose its majority: 0 of 3 "
        "voters would remain, and it needs 2."
    )
    assert found["lost_tenants"] == ["sys"]
    assert found["waves"][0]["servers"][0] == {
        "cluster": "orders", "cluster_id": 31, "zone": "zone1", "server": ALL[0], "id": 41, "tolerate_outage_of": [],
        "reason": found["waves"][0]["servers"][0]["reason"],
    }  # fmt: skip
    assert "before 2026-05-04T03:00:00+08:00" in found["waves"][0]["servers"][0]["reason"]
    assert (found["changed"], found["left_alone"], found["refused"], found["warnings"]) == (False, [], [], [])


def test_each_thing_is_read_once(plan, ocp):
    """For several waves the arbitration services and their tasks too."""
    plan()
    read = ["clusters", "cluster", "servers", "tasks", "tenants", "arbitration_services", "tenant"]
    assert [ocp.calls.count(call) for call in read] == [1, 1, 1, 2, 2, 1, 1]  # the fake's tenant asks its tenants
    ocp.calls.clear()
    plan(ALL[0])
    assert sorted(ocp.calls) == ["cluster", "clusters", "servers", "tasks", "tenants"]


def test_servers_of_a_zone_go_together(plan, ocp):
    ocp.servers_there.append(Thing(44, 54, "zone1"))
    assert waves(plan(*ALL, "44")) == [[ALL[0], "10.1.0.4:2882"], [ALL[1]], [ALL[2]]]


def test_zones_go_in_the_order_of_a_rolling_restart(plan, ocp):
    ocp.servers_there[0].root_server = True
    assert waves(plan()) == [[ALL[1]], [ALL[2]], [ALL[0]]]
    ocp.localities = dict.fromkeys(("sys", "shop", "cart"), ocp.localities["sys"])
    ocp.tenant_fields = {"sys": {"primaryZone": "zone1"}, "shop": {"primaryZone": "zone2"}}
    assert waves(plan()) == [[ALL[2]], [ALL[1]], [ALL[0]]]
    ocp.tenant_fields["cart"] = {"primaryZone": "zone2;zone1"}
    assert waves(plan()) == [[ALL[2]], [ALL[0]], [ALL[1]]]


FIVE = {"sys": ", ".join(f"FULL{{1}}@zone{number}" for number in range(1, 6))}


def of_five_zones(ocp):
    ocp.servers_there += [Thing(44, 54, "zone4"), Thing(45, 55, "zone5"), Thing(46, 56, "zone5")]
    ocp.localities = FIVE
    return [*ALL, "10.1.0.4:2882", "10.1.0.5:2882", "10.1.0.6:2882"]


def test_no_wave_has_servers_of_two_zones_as_the_database_stops_those_of_one(plan, ocp):
    """Though five voters can do without two."""
    servers = of_five_zones(ocp)
    found = plan(*servers)
    assert waves(found) == [*([server] for server in servers[:4]), servers[4:]]
    assert found["message"] == (
        "The servers of cluster orders (id 31) cannot all be down at once. Tenant sys would lose its majority: 0 of 5 "
        "voters would remain, and it needs 3."
    )
    assert plan(*servers[:2])["message"] == (
        "The servers of cluster orders (id 31) cannot all be down at once. The database stops servers of one zone at a "
        "time."
    )


def test_server_of_another_zone_does_not_join_one_that_is_down(plan, ocp):
    servers = of_five_zones(ocp)
    ocp.servers_there[1].status = "UNAVAILABLE"
    assert waves(plan(*servers[:2])) == [[servers[1]], [servers[0]]]
    ocp.servers_there[4].status = "UNAVAILABLE"
    assert waves(plan(*servers[4:])) == [servers[4:]]


def test_started_server_is_in_no_wave(plan, ocp):
    ocp.servers_there[1].started = 60.0
    ocp.passes(100)
    found = plan()
    assert waves(found) == [[ALL[0]], [ALL[2]]]
    assert [(server["server"], server["reason"]) for server in found["left_alone"]] == [
        (ALL[1], "it has started since")
    ]


@pytest.mark.parametrize("status", ["STOPPED", "RESTARTING"])
def test_server_that_is_down_goes_first_and_the_others_when_it_is_back(plan, ocp, status):
    ocp.servers_there[2].status = status
    found = plan(*ALL[1:])
    assert waves(found) == [[ALL[2]], [ALL[1]]]
    assert status in found["waves"][0]["servers"][0]["reason"]


def test_server_that_has_started_and_does_not_serve_is_in_the_first_wave(plan, ocp):
    ocp.servers_there[0].started, ocp.servers_there[0].status = 60.0, "UNAVAILABLE"
    ocp.passes(100)
    assert waves(plan(*ALL[:2])) == [[ALL[0]], [ALL[1]]]


def test_server_that_may_serve_is_planned_as_one_that_does(plan, ocp):
    """The first wave would have taken it together with what it cannot be away with."""
    ocp.servers_there[1].status, ocp.servers_there[1].inner_status = "UNAVAILABLE", "ACTIVE"
    ocp.servers_there[2].status = "STOPPED"
    found = plan(*ALL)
    assert waves(found) == [[ALL[2]], [ALL[0]], [ALL[1]]]
    assert [len(wave) for wave in waves(plan(*ALL[:2]))] == []


def test_last_server_beside_an_arbiter_is_refused(plan, ocp):
    ocp.localities, ocp.arbitrated = {"sys": "FULL{1}@zone1, FULL{1}@zone2"}, {"sys": []}
    ocp.servers_there[1].status = "UNAVAILABLE"
    assert [server["server"] for server in plan(ALL[0])["refused"]] == [ALL[0]]
    assert waves(plan(*ALL[:2])) == [[ALL[1]], [ALL[0]]]


def test_other_server_that_is_down_refuses_all(plan, ocp):
    ocp.begin(SERVER, [ocp.servers_there[2]])
    found = plan(*ALL[:2])
    assert waves(found) == []
    assert [server["server"] for server in found["refused"]] == ALL[:2]
    shown = f"{ALL[2]} is RUNNING (task 1001 (Restart OB server)) in zone3"
    assert "cannot be down now. Tenant sys would lose its majority: 1 of 3 voters" in found["message"]
    assert f"also, {shown}" in found["message"]
    assert found["obstacles"] == [f"{shown} (-4660)"]
    assert plan(*ALL[:2], tolerated=["sys"])["obstacles"] == []


def test_only_replica_is_refused_unless_its_outage_is_tolerated(plan, ocp):
    ocp.localities = SINGLE
    found = plan(*ALL[:2])
    assert (waves(found), [server["server"] for server in found["refused"]]) == ([[ALL[0]]], [ALL[1]])
    assert (
        f"{ALL[1]} of cluster orders (id 31) cannot be down at all. Tenant test would lose its majority"
        in found["message"]
    )
    tolerated = plan(*ALL[:2], tolerated=["test", "tset"])
    assert (waves(tolerated), tolerated["refused"]) == ([[ALL[0]], [ALL[1]]], [])
    assert tolerated["waves"][0]["servers"][0]["tolerate_outage_of"] == ["test"]
    assert tolerated["warnings"] == ["tolerate_outage_of: no tenant of these clusters has the name tset."]


def test_only_the_outage_is_proposed_to_be_tolerated_for_which_a_server_is_refused(plan, ocp):
    """That of sys is lost only if all are down at once, which waves avoid."""
    ocp.localities = {**ocp.localities, **SINGLE}
    found = plan()
    assert (len(waves(found)), [server["server"] for server in found["refused"]]) == (2, [ALL[1]])
    assert "sys" in found["message"]
    assert found["lost_tenants"] == ["test"]


def test_clusters_that_only_need_waves_ask_for_nothing_where_another_one_is_refused():
    plans = [SimpleNamespace(refused=[{}], lost={"cart"}), SimpleNamespace(refused=[], lost={"sys"})]
    assert (_lost_tenants(plans), _lost_tenants(plans[1:])) == (["cart"], ["sys"])


def test_stopped_arbitration_service_that_refuses_servers_can_be_started(plan, ocp):
    ocp.localities, ocp.arbitrated = {"sys": "FULL{1}@zone1, FULL{1}@zone2"}, {"sys": []}
    ocp.arbitration[0].status = "STOPPED"
    found = plan(*ALL[:2])
    assert len(found["refused"]) == 2
    assert [line.partition(":")[0] for line in found["remedies"]] == ["  Start arbitration service 10.1.0.8"]
    ocp.arbitration[0].status = "RUNNING"
    assert plan(*ALL[:2])["remedies"] == []


def test_without_safety_all_go_at_once_and_tenants_are_not_read(plan, ocp):
    ocp.servers_there[2].status = "STOPPED"
    found = plan(safety=False)
    assert [sorted(wave) for wave in waves(found)] == [ALL]
    assert found["message"] == ""
    assert "tenants" not in ocp.calls


def test_zones_decide_where_tenants_cannot_be_read(plan, ocp):
    ocp.failing["tenants"] = [refused(403)]
    found = plan()
    assert len(found["waves"]) == 3
    assert "The cluster would lose its majority" in found["message"]
    assert "the tenants of cluster 31 cannot be read" in found["warnings"][0]


def test_tasks_that_may_not_be_read_are_warned_of(plan, ocp):
    ocp.failing["tasks"] = [refused(403)]
    assert "It is not known what works on cluster orders (id 31)" in plan()["warnings"][0]


def test_server_that_is_named_twice_is_in_one_wave(plan):
    assert waves(plan(ALL[0], "41")) == [[ALL[0]]]


def test_unknown_names_are_refused(plan):
    with pytest.raises(TargetError, match="servers: ordrs matches nothing"):
        plan(cluster="ordrs")
    with pytest.raises(TargetError, match=r"servers: 10\.9\.9\.9:1 matches nothing in cluster orders \(id 31\)"):
        plan("10.9.9.9:1")


def test_plan_for_a_name_asks_no_clock(plan, ocp):
    ocp.clock_offset = 3600
    found = plan(since=None, change="memory-2026-11-20")
    assert (waves(found), found["warnings"]) == ([[server] for server in ALL], [])


def test_neither_name_nor_instant_is_refused(plan, ocp):
    with pytest.raises(OptionError, match=r"change: is not given, nor is started_before; give the name of the change"):
        plan(since=None)
    assert ocp.calls == []


def test_empty_list_is_refused(ocp, time_passes):
    with pytest.raises(OptionError, match="servers: is empty"):
        plan_fleet(Crew(lambda: nullcontext(ocp), 1, time_passes.clock), FleetRequest([], at(0)))


def in_one_zone(ocp):
    """Six servers of one zone, in turn in two IDCs, all of which no tenant minds."""
    ocp.servers_there = [Thing(number, number + 10, "zone1") for number in range(41, 47)]
    ocp.idcs = {number: f"idc{number % 2}" for number in range(41, 47)}
    return [f"10.1.0.{number}:2882" for number in range(1, 7)]


def test_wave_is_split_by_caps(plan, ocp):
    one, two, three, four, five, six = in_one_zone(ocp)
    every = [one, two, three, four, five, six]
    assert waves(plan(*every, safety=False)) == [every]
    found = plan(*every, safety=False, caps=Caps({"idc": 1}))
    assert waves(found) == [[one, two], [three, four], [five, six]]
    assert [wave["number"] for wave in found["waves"]] == [1, 2, 3]
    assert found["message"] == "With most_down they take 3 waves, and 1 without."
    assert waves(plan(*every, safety=False, caps=Caps({"servers": 4}))) == [every[:4], every[4:]]


def test_caps_that_allow_all_change_nothing(plan, ocp):
    every = in_one_zone(ocp)
    assert plan(*every, safety=False, caps=Caps({"idc": 3})) == plan(*every, safety=False)


def test_share_is_of_all_servers_of_the_service(plan, ocp):
    every = in_one_zone(ocp)
    ocp.calls.clear()
    assert waves(plan(*every[:4], safety=False, caps=Caps({"percent": 34}))) == [every[:2], every[2:4]]
    assert ocp.calls.count("clusters") == 2


def test_caps_split_the_waves_of_tenants_further(plan, ocp):
    ocp.servers_there.append(Thing(44, 54, "zone1"))
    ocp.idcs = dict.fromkeys(range(41, 45), "idc1")
    found = plan(*ALL, "44", caps=Caps({"idc": 1}))
    assert waves(found) == [[ALL[0]], ["10.1.0.4:2882"], [ALL[1]], [ALL[2]]]
    assert found["message"].endswith("With most_down they take 4 waves, and 3 without.")
