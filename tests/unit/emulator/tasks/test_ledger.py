# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The ledger: who is absent when, and which tenants have too few voters by that."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from ocp_emulator.fleet.voters import TenantVoters, ZoneVoters
from ocp_emulator.tasks.ledger import Event, follow

SHOP = TenantVoters(
    1,
    1,
    "shop",
    None,
    (
        ZoneVoters("zone1", 1, frozenset({1, 2})),
        ZoneVoters("zone2", 1, frozenset({3})),
        ZoneVoters("zone3", 1, frozenset({4})),
    ),
)
TWO = (ZoneVoters("zone1", 1, frozenset({1})), ZoneVoters("zone2", 1, frozenset({3})))
ARBITRATED = TenantVoters(2, 1, "pair", 8, TWO)


def server(number, at, serves, task_id=None):
    return Event("OB_SERVER", number, at, serves, task_id)


def outages(ledger):
    return [
        (
            each.tenant.name,
            each.since,
            each.until,
            each.needed,
            each.remaining,
            [one.object_id for one in each.absences],
        )
        for each in ledger.outages
    ]


def test_one_zone_may_be_absent():
    ledger = follow([SHOP], [server(1, 10, False, 77), server(2, 11, False), server(1, 12, True)])
    assert ledger.outages == []
    assert [(each.object_id, each.since, each.until, each.task_id) for each in ledger.absences] == [
        (1, 10, 12, 77),
        (2, 11, None, None),
    ]


def test_an_outage_begins_with_the_voter_that_is_too_many_and_ends_with_the_first_back():
    events = [server(1, 10, False, 77), server(3, 20, False, 78), server(1, 30, True), server(3, 40, True)]
    ledger = follow([SHOP], events)
    assert outages(ledger) == [("shop", 20, 30, 2, 1, [1, 3])]
    assert [each.task_id for each in ledger.outages[0].absences] == [77, 78]


def test_an_outage_has_its_worst_moment_and_all_who_took_part():
    events = [server(1, 10, False), server(3, 20, False), server(4, 30, False), server(1, 35, True)]
    assert outages(follow([SHOP], events)) == [("shop", 20, None, 2, 0, [1, 3, 4])]


def test_events_of_one_instant_count_in_their_order():
    one_back_first = [server(1, 10, False), server(1, 20, True), server(3, 20, False)]
    assert follow([SHOP], one_back_first).outages == []
    one_down_first = [server(1, 10, False), server(3, 20, False), server(1, 20, True)]
    assert outages(follow([SHOP], one_down_first)) == [("shop", 20, 20, 2, 1, [1, 3])]


def test_an_arbiter_stands_in_for_half_unless_it_is_away_or_log_streams_were_degraded_before():
    away = Event("ARBITRATION_SERVICE", 8, 20, False), Event("ARBITRATION_SERVICE", 8, 30, True)
    assert outages(follow([ARBITRATED], [server(1, 10, False), *away])) == [("pair", 20, 30, 2, 1, [1, 8])]
    degraded = [Event("TENANT", 2, 5, False), server(1, 10, False), Event("TENANT", 2, 30, True)]
    assert outages(follow([ARBITRATED], degraded)) == [("pair", 10, 30, 2, 1, [1, 2])]
    assert follow([ARBITRATED], [Event("ARBITRATION_SERVICE", 8, 10, False)]).outages == []
    assert outages(follow([ARBITRATED], [server(1, 10, False), server(3, 11, False)])) == [
        ("pair", 11, None, 1, 0, [1, 3])
    ]


def test_the_half_that_failed_does_not_count_while_log_streams_are_degraded():
    degraded = [server(1, 10, False), Event("TENANT", 2, 20, False)]
    assert follow([ARBITRATED], [*degraded, server(1, 30, True), server(1, 40, False)]).outages == []
    events = [*degraded, server(1, 30, True), server(3, 40, False), Event("TENANT", 2, 50, True)]
    assert outages(follow([ARBITRATED], events)) == [("pair", 40, 50, 1, 0, [3, 2])]
    away = [*degraded, Event("ARBITRATION_SERVICE", 8, 30, False)]
    assert outages(follow([ARBITRATED], away)) == [("pair", 30, None, 2, 1, [1, 8, 2])]


def test_a_read_only_zone_and_other_tenants_are_not_concerned():
    assert follow([SHOP, ARBITRATED], [server(4, 1, False), server(9, 2, False)]).outages == []


def _failed_half(zones, down):
    """The places of the zones without voters, if these are one half and the other one is whole."""
    left = [max(0, voters - len(servers & down)) for voters, servers in zones]
    failed = {place for place, count in enumerate(left) if count == 0}
    every, gone = sum(voters for voters, _servers in zones), sum(zones[place][0] for place in failed)
    return failed if 2 * gone == every == 2 * sum(left) else set()


LAYOUTS = some.lists(
    some.tuples(
        some.lists(some.tuples(some.integers(1, 2), some.frozensets(some.integers(1, 9), min_size=1)), min_size=1),
        some.booleans(),
    ),
    min_size=1,
    max_size=4,
)
CHANGES = some.lists(some.integers(0, 13), max_size=30)


@pytest.mark.nightly
@settings(max_examples=300, deadline=None)
@given(LAYOUTS, CHANGES)
def test_outages_are_those_that_counting_anew_at_each_event_finds(layouts, changes):
    tenants = [
        TenantVoters(
            number,
            1,
            str(number),
            8 if arbiter else None,
            tuple(ZoneVoters(f"z{place}", *zone) for place, zone in enumerate(zones)),
        )
        for number, (zones, arbiter) in enumerate(layouts)
    ]
    # 1 to 9 are servers, 0 is the arbiter, 10 to 13 the tenants.
    keys = [("ARBITRATION_SERVICE", 8), *(("OB_SERVER", each) for each in range(1, 10))]
    keys += [("TENANT", each) for each in range(4)]
    down, lost, events, expected, failed = set(), set(), [], Counter(), {}
    for at, change in enumerate(changes):
        down ^= {change}
        events.append(Event(*keys[change], at, change not in down))
        for number, (zones, arbiter) in enumerate(layouts):
            if change == number + 10:
                failed[number] = _failed_half(zones, down)
            helped, degraded = arbiter and 0 not in down, number + 10 in down
            out = failed.get(number, set()) if helped and degraded else set()
            members = [zone for place, zone in enumerate(zones) if place not in out]
            every = sum(voters for voters, _servers in members)
            left = sum(max(0, voters - len(servers & down)) for voters, servers in members)
            half = helped and not degraded
            enough = left * 2 >= every if half else left * 2 > every
            if not enough and number not in lost:
                expected[str(number), at] += 1
            (lost.discard if enough else lost.add)(number)
    ledger = follow(tenants, events)
    assert Counter((each.tenant.name, each.since) for each in ledger.outages) == expected
    assert {each.tenant.id for each in ledger.outages if each.until is None} == lost
