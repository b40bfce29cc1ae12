# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Where the leaders of a tenant are while servers come and go, and how often they moved."""

import pytest
from ocp_emulator.fleet.leaders import LeaderZone, TenantLeaders, priorities
from ocp_emulator.tasks.leader_moves import follow_leaders
from ocp_emulator.tasks.ledger import Event

ZONES = ["zone1", "zone2", "zone3"]


def tenant(primary_zone, size=1):
    """A tenant with so many servers in each of three zones; those of zone2 are 21, 22 and so on."""
    ranked = priorities(primary_zone, ZONES)
    places = [
        LeaderZone(zone, ranked[zone], frozenset(10 * number + one for one in range(1, size + 1)))
        for number, zone in enumerate(ZONES, 1)
    ]
    return TenantLeaders(1, 1, "shop", primary_zone, tuple(sorted(places, key=lambda place: place.priority)))


def restarts(*servers, length=10, gap=10):
    """One server after another is away for a while; the next one stops a while after the start of the last."""
    events = []
    for number, server in enumerate(servers):
        at = 100 + number * (length + gap)
        events += [Event("OB_SERVER", server, at, False), Event("OB_SERVER", server, at + length, True)]
    return events


def moves(primary_zone, events, catch_up=0, now=10_000, size=1):
    [found] = follow_leaders([tenant(primary_zone, size)], events, catch_up, now)
    return [int(zone[-1]) for zone in found.zones]


@pytest.mark.parametrize(
    ("primary_zone", "expected"),
    [
        ("zone2;zone3;zone1", {"zone1": 2, "zone2": 0, "zone3": 1}),
        ("zone2, zone3;zone1", {"zone1": 1, "zone2": 0, "zone3": 0}),
        ("zone2", {"zone1": 1, "zone2": 0, "zone3": 1}),
        ("RANDOM", {"zone1": 1, "zone2": 1, "zone3": 1}),
        ("zone1;zone2;zone1", {"zone1": 0, "zone2": 1, "zone3": 3}),
    ],
)
def test_semicolons_separate_priorities(primary_zone, expected):
    assert priorities(primary_zone, ZONES) == expected


@pytest.mark.parametrize(
    ("primary_zone", "servers", "expected"),
    [
        ("zone1;zone2;zone3", (11,), [1, 2, 1]),
        ("zone1;zone3;zone2", (11,), [1, 3, 1]),
        ("zone1", (21, 31, 11), [1, 2, 1]),
        ("zone1;zone2;zone3", (31, 21), [1]),
        # Those of one priority keep the leaders, so that they move once.
        ("RANDOM", (11,), [1, 2]),
        ("RANDOM", (11, 21, 31), [1, 2, 1]),
        ("RANDOM", (21, 31, 11), [1, 2]),
        ("zone2,zone3;zone1", (21, 31), [2, 3, 2]),
    ],
)
def test_leaders_are_in_the_serving_zone_of_the_highest_priority(primary_zone, servers, expected):
    assert moves(primary_zone, restarts(*servers)) == expected


def test_zone_serves_while_one_of_its_servers_does():
    assert moves("zone1", restarts(11, 12), size=2) == [1]
    both = [Event("OB_SERVER", 11, 10, False), Event("OB_SERVER", 12, 20, False), Event("OB_SERVER", 12, 30, True)]
    assert moves("zone1", both, size=2) == [1, 2, 1]


def test_leaders_stay_where_they_were_while_no_zone_serves():
    down = [Event("OB_SERVER", server, 10, False) for server in (21, 31, 11)]
    assert moves("zone1", down) == [1]
    assert moves("zone1", [*down, Event("OB_SERVER", 31, 20, True)]) == [1, 3]
    assert moves("zone1", [*down, Event("OB_SERVER", 11, 20, True)]) == [1]


@pytest.mark.parametrize(
    ("servers", "expected"),
    [
        # The zone that is restarted next has the leaders.
        ((11, 21, 31), [1, 2, 3, 1]),
        ((21, 31, 11), [1, 2, 1]),
        # The zone that they prefer has not caught up at first.
        ((31, 21, 11), [1, 3, 2, 1]),
    ],
)
def test_leaders_that_are_not_back_yet_move_again(servers, expected):
    assert moves("zone1;zone2;zone3", restarts(*servers), catch_up=15) == expected


def test_zone_that_has_not_caught_up_has_leaders_only_if_no_other_can():
    events = restarts(11, 21)
    assert moves("zone1;zone2;zone3", events, catch_up=15) == [1, 2, 3, 1]
    down = [Event("OB_SERVER", 31, 50, False), *events]
    assert moves("zone1;zone2;zone3", down, catch_up=20_000) == [1, 2, 1]


def test_zones_catch_up_between_events_and_until_now():
    assert moves("zone1", restarts(11, 11, gap=20), catch_up=15) == [1, 2, 1, 2, 1]
    assert moves("zone1", [*restarts(11)], catch_up=1_000, now=1_109) == [1, 2]
    assert moves("zone1", [*restarts(11)], catch_up=1_000, now=1_110) == [1, 2, 1]


def test_other_things_and_other_servers_are_not_concerned():
    events = [Event("ARBITRATION_SERVICE", 11, 10, False), Event("TENANT", 11, 20, False)]
    assert moves("zone1", [*events, Event("OB_SERVER", 99, 30, False)]) == [1]
