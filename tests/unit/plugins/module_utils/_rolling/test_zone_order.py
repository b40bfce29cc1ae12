# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The order of zones by the primary zones of tenants, and the reason for each place."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.zone_order import ZoneOrder, zone_order

ZONES = ("zone1", "zone2", "zone3")


def ordered(primary_zones, root_zones=("zone1",), zones=ZONES):
    records = [{"name": f"t{number}", "primaryZone": shown} for number, shown in enumerate(primary_zones)]
    return sorted(zones, key=zone_order(zones, root_zones, records).rank)


@pytest.mark.parametrize(
    ("primary_zones", "expected"),
    [
        ([], "231"),
        (["zone1"], "231"),
        (["zone2"], "312"),
        (["zone2;zone1;zone3"], "312"),
        (["zone1", "zone2"], "321"),
        (["zone2", "zone3", "zone2"], "132"),
        (["zone1", "zone2", "zone2"], "312"),
        (["zone1", "zone2", "zone3"], "231"),
        (["zone2,zone3;zone1"], "123"),
        (["zone1,zone2,zone3"], "231"),
        (["zone3,zone2,zone1", "zone2"], "312"),
        (["RANDOM"], "231"),
        (["random", "zone3"], "213"),
        ([None, ""], "231"),
        (["ZONE2 ; zone1"], "312"),
        (["zone2, zone9"], "312"),
        (["zone9"], "231"),
        (["zone9;zone2"], "312"),
        (["zone2,zone2,zone2"], "312"),
    ],
)
def test_zones_with_more_tenants_come_later_and_the_root_server_decides_between_equal_ones(primary_zones, expected):
    assert ordered(primary_zones) == [f"zone{number}" for number in expected]


def test_zones_of_equal_rank_keep_the_order_of_the_service():
    assert ordered([], root_zones=[]) == list(ZONES)
    zones = ["zone3", "zone4", "zone1", "zone2"]
    assert ordered(["zone4"], zones=zones) == ["zone3", "zone2", "zone1", "zone4"]


def test_all_zones_are_those_of_the_cluster_not_those_of_a_priority():
    assert ordered(["zone1,zone2"], root_zones=[], zones=["zone1", "zone2"]) == ["zone1", "zone2"]
    assert ordered(["zone1,zone2"], root_zones=[]) == ["zone3", "zone1", "zone2"]


TWO = ZoneOrder(["zone1"], {"zone2": ["shop", "cart"], "zone1": ["sys"]})
MANY = ZoneOrder(["zone1"], {"zone2": ["a", "b", "c", "d"]})
OF_MANY = "zone2, the primary zone of 4 tenants, such as a"
THREE = ZoneOrder([], {"zone2": ["a", "b", "c"]})


@pytest.mark.parametrize(
    ("order", "zone", "is_last", "expected"),
    [
        (TWO, "zone3", False, "before zone2 and zone1, the primary zones of tenants"),
        (TWO, "zone1", False, "zone1 is the primary zone of tenant sys, and no later zone is that of fewer tenants"),
        (TWO, "zone2", True, "zone2 comes last, since it is the primary zone of tenants shop and cart"),
        (MANY, "zone2", True, "zone2 comes last, since it is the primary zone of 4 tenants, such as a"),
        (MANY, "zone3", False, f"before {OF_MANY}"),
        (MANY, "zone1", False, f"zone1 has the root server, but comes before {OF_MANY}"),
        (THREE, "zone2", True, "zone2 comes last, since it is the primary zone of tenants a, b and c"),
        (ZoneOrder(["zone1"]), "zone2", False, "before zone1, where the root server is"),
        (ZoneOrder(["zone1"]), "zone1", True, "zone1 comes last, since it has the root server"),
        (ZoneOrder(["zone1", "zone2"]), "zone3", False, "before zone1 and zone2, where the root server is"),
        (ZoneOrder(), "zone1", True, "as the service lists them"),
    ],
)
def test_reason_says_whose_primary_zone_comes_later(order, zone, is_last, expected):
    assert order.reason(zone, is_last=is_last) == expected
