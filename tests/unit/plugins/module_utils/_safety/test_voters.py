# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which tenants a restart would leave without their voters, against brute force and case by case."""

from __future__ import annotations

from random import Random

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.voters import (
    UNKNOWN_ARBITER,
    Arbiter,
    Replica,
    ServerState,
    Tenant,
    asks_for_arbiter,
    outages,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.tenant_layouts import is_lost, random_cluster


def exact(tenants):
    """Those whose voters can all lead: the rule counts others as voters also where none is left to lead them."""
    voting = {tenant.name: [replica for replica in tenant.replicas if replica.votes is not False] for tenant in tenants}
    return {name for name, replicas in voting.items() if all(replica.leads for replica in replicas)}


def compare(seeds):
    """Compare the rule with brute force; returns how many of the tenants were lost, and how many there were."""
    lost = tenants = 0
    for seed in seeds:
        there, servers = random_cluster(Random(seed))
        found = {outage.tenant.name for outage in outages(there, servers)}
        expected = {tenant.name for tenant in there if is_lost(tenant, servers)}
        assert expected <= found, f"seed {seed}"
        assert {name for name in found - expected if name in exact(there)} == set(), f"seed {seed}"
        lost, tenants = lost + len(expected), tenants + len(there)
    return lost, tenants


def test_rule_equals_brute_force_on_some_hundred_random_clusters():
    lost, tenants = compare(range(400))
    assert 0.1 < lost / tenants < 0.6  # neither is rare


@pytest.mark.nightly
@pytest.mark.slow
def test_rule_equals_brute_force_on_thousands_of_random_clusters():
    compare(range(1000, 3000))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(10_000, 110_000, 5_000))
def test_rule_equals_brute_force_on_100_000_random_clusters(first):
    compare(range(first, first + 5_000))


def cluster(**changed):
    """Three zones of one server each, the first of which is about to be restarted."""
    states = {"a": {"taken": True}, "b": {}, "c": {}}
    return {
        name: ServerState(f"zone{number}", **{**of, **changed.get(name, {})})
        for number, (name, of) in enumerate(states.items(), 1)
    }


FULL3 = Tenant("shop", tuple(Replica(f"zone{number}") for number in (1, 2, 3)))
FULL2 = Tenant("shop", FULL3.replicas[:2])


def test_outage_says_what_remains_and_who_is_down():
    [found] = outages([FULL3], cluster(b={"in_flight": True, "words": "b is RESTARTING (task 7)"}))
    assert (found.voters, found.needed, found.remaining, found.taken) == (3, 2, ("zone3",), ("zone1",))
    assert found.others_down == ("b is RESTARTING (task 7) in zone2",)


@pytest.mark.parametrize(("voters", "dead", "needed"), [(2, "b", 1), (4, "bc", 2), (5, "cd", 3)])
def test_outage_says_how_many_voters_are_needed_beside_an_arbitration_service(voters, dead, needed):
    names = "abcde"[:voters]
    tenant = Tenant("shop", tuple(Replica(f"zone{name}") for name in names), Arbiter())
    servers = {name: ServerState(f"zone{name}", dead=name in dead, taken=name == "a") for name in names}
    [found] = outages([tenant], servers)
    assert (found.needed, found.voters) == (needed, voters)


def test_healthy_majority_allows_one_zone():
    assert not outages([FULL3], cluster())


def test_dead_server_takes_nothing_away():
    assert not outages([FULL3], cluster(a={"dead": True, "taken": False}, b={"dead": True}))


def test_tenant_that_is_lost_already_is_not_lost_by_this():
    assert not outages([FULL3], cluster(b={"dead": True}, c={"dead": True}))


def test_server_in_flight_may_have_been_the_majority():
    """When it is back, this one is needed."""
    assert outages([FULL3], cluster(b={"in_flight": True}, c={"dead": True}))


def test_two_full_replicas_need_an_arbiter():
    assert outages([FULL2], cluster())
    assert not outages([Tenant("shop", FULL2.replicas, Arbiter())], cluster())


@pytest.mark.parametrize(
    "arbiter",
    [Arbiter(may_serve=False, stays=False), Arbiter(stays=False), Arbiter(degraded=True), Arbiter(taken=True)],
    ids=["dead", "in flight", "degraded", "taken"],
)
def test_arbiter_that_cannot_help_does_not_count(arbiter):
    assert outages([Tenant("shop", FULL2.replicas, arbiter)], cluster())


def test_arbiter_that_holds_a_degraded_tenant_is_not_taken_away():
    servers = cluster(a={"taken": False}, b={"dead": True})
    assert outages([Tenant("shop", FULL2.replicas, Arbiter(taken=True, degraded=True))], servers)
    assert not outages([Tenant("shop", FULL2.replicas, Arbiter(taken=True))], cluster(a={"taken": False}))


def test_units_elsewhere_are_not_concerned():
    servers = {"a1": ServerState("zone1", taken=True), "a2": ServerState("zone1")}
    elsewhere = Tenant("shop", (Replica("zone1", servers=frozenset({"a2"})),))
    assert not outages([elsewhere], servers)
    assert outages([Tenant("shop", (Replica("zone1"),))], servers)


@pytest.mark.parametrize("state", [{"unclear": True}, {"in_flight": True}], ids=["unclear", "in flight"])
def test_what_may_serve_is_taken_away_and_does_not_remain(state):
    assert outages([FULL3], cluster(a={"taken": True, **state}, b={"dead": True}))
    assert outages([FULL3], cluster(b=state))
    assert not outages([FULL3], cluster(a={"taken": True, **state}))


def test_unclear_server_that_is_taken_is_named():
    odd = {"unclear": True, "words": "a is odd"}
    [found] = outages([FULL3], cluster(a={"taken": True, **odd}, b={"unclear": True, "words": "b is odd"}))
    assert found.may_serve == ("a is odd",)


def test_last_voter_beside_an_arbiter_is_not_taken():
    """Half of the voters are enough before the restart."""
    assert outages([Tenant("shop", FULL2.replicas, Arbiter())], cluster(b={"dead": True}))
    assert not outages([FULL2], cluster(b={"dead": True}))


@pytest.mark.parametrize("degraded", [True, False])
def test_half_that_is_degraded_does_not_remain_whatever_its_servers_show(degraded):
    four = Tenant("shop", tuple(Replica(f"zone{number}") for number in (1, 2, 3, 4)), Arbiter(degraded=degraded))
    servers = {**cluster(), "d": ServerState("zone4")}
    assert bool(outages([four], servers)) == degraded
    assert asks_for_arbiter(four, servers)


def test_arbiter_of_three_voters_is_asked_for_only_where_few_remain():
    assert not asks_for_arbiter(FULL3, cluster())
    assert not asks_for_arbiter(FULL3, cluster(a={"taken": False}, b={"dead": True}))
    assert asks_for_arbiter(FULL3, cluster(b={"dead": True}))
    assert asks_for_arbiter(Tenant("shop", (*FULL2.replicas, Replica("zone3", None))), cluster())


def test_arbiter_of_five_voters_is_asked_for_where_no_majority_remains():
    five = Tenant("shop", tuple(Replica(f"zone{number}") for number in range(1, 6)))
    more = {"d": ServerState("zone4"), "e": ServerState("zone5")}
    assert asks_for_arbiter(five, {**cluster(b={"dead": True}, c={"dead": True}), **more})
    assert not asks_for_arbiter(five, {**cluster(b={"dead": True}), **more})


def test_arbiter_may_be_needed_beside_replicas_of_unknown_types_that_may_be_missed():
    replicas = (*FULL2.replicas, Replica("zone3", None), Replica("zone4", None))
    tenant = Tenant("shop", replicas, Arbiter(taken=True))
    moving = {"in_flight": True}
    assert outages([tenant], {**cluster(a={"taken": False}, c=moving), "d": ServerState("zone4", **moving)})


def test_arbiter_of_a_single_voter_breaks_no_tie():
    alone = Tenant("shop", (Replica("zone1", None),), Arbiter(taken=True))
    assert not outages([alone], cluster(a={"taken": False, "in_flight": True}))


def test_arbiter_that_may_be_needed_by_servers_that_may_be_back_is_not_taken():
    four = Tenant("shop", tuple(Replica(f"zone{number}") for number in (1, 2, 3, 4)), Arbiter(taken=True))
    moving = {"taken": False, "in_flight": True}
    assert outages([four], {**cluster(a=moving, b=moving, c=moving), "d": ServerState("zone4")})


def test_arbiter_that_is_not_known_helps_before_and_not_after():
    unknown = Tenant("shop", FULL2.replicas, UNKNOWN_ARBITER)
    assert outages([unknown], cluster())
    assert outages([unknown], cluster(b={"dead": True}))
    assert not outages([unknown], cluster(a={"taken": False}))


def test_log_only_replicas_alone_have_no_leader():
    replicas = (Replica("zone1"), Replica("zone2", leads=False), Replica("zone3", leads=False))
    [found] = outages([Tenant("shop", replicas)], cluster())
    assert (found.leaderless, found.remaining) == (True, ("zone2", "zone3"))
    assert not outages([Tenant("shop", replicas)], cluster(a={"taken": False}, b={"taken": True}))


def test_unknown_type_votes_when_lost_and_not_when_it_remains():
    unknown_lost = (Replica("zone1", None), Replica("zone2"))
    assert outages([Tenant("shop", unknown_lost)], cluster())
    unknown_remains = (Replica("zone1"), Replica("zone2"), Replica("zone3", None))
    assert outages([Tenant("shop", unknown_remains)], cluster())


def test_zone_without_servers_may_be_there():
    """A person has moved them, or the service does not show them."""
    [found] = outages([FULL2], {"a": ServerState("zone1", taken=True)})
    assert found.others_down == ("no server is shown in zone2",)


def test_server_whose_zone_is_not_shown_may_be_in_any():
    assert outages([FULL3], {**cluster(b={"dead": True}, a={"taken": False}), "d": ServerState(None, taken=True)})
