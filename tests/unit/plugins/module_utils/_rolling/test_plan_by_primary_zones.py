# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Plans in which the primary zones of tenants decide the order, and what is read for that."""

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
ORDERS = raw_cluster()
PAYMENTS = raw_cluster(
    *[raw_server(number, f"zone{number - 10}", withRootserver=number == 13) for number in (11, 12, 13)],
    number=32,
    name="payments",
)
FULL3 = "FULL{1}@zone1, FULL{1}@zone2, FULL{1}@zone3"
SHOP = {"sys": "zone1;zone2,zone3", "shop": "zone2;zone3;zone1"}


def tenants(primary_zones):
    named = enumerate(primary_zones.items(), 1)
    return [{"id": n, "name": name, "locality": FULL3, "primaryZone": zone} for n, (name, zone) in named]


@pytest.fixture
def planned(api, time_passes):
    """The plan of clusters of three servers in three zones, each with its tenants by their primary zones."""
    api.double.service_clock = clock_ahead(0)
    time_passes.time += 3600.0

    def run(*clusters, **options):
        for cluster, _primary_zones in clusters:
            api.expect("clusters", cluster["name"], gives=[cluster])
            api.expect("tasks", clusterId=cluster["id"], gives=[])
        for cluster, primary_zones in clusters:
            if primary_zones is not None:
                api.expect("tenants", cluster["id"], gives=tenants(primary_zones))
        names = [cluster["name"] for cluster, _tenants in clusters]
        wanted = RollingRequest(names, options.pop("zones", None), None, 1, Strategy.SERVER, LATER, **options)
        return plan_rolling_restart(api.double, wanted, time_passes.clock)["batches"]

    return run


def order(batches):
    return [(batch["zone"], batch["reason"]) for batch in batches]


def test_zone_of_no_tenant_goes_first_and_the_root_server_after_the_other_primary_zone(planned):
    assert order(planned((ORDERS, SHOP))) == [
        ("zone3", "before zone1 and zone2, the primary zones of tenants"),
        ("zone2", "zone2 is the primary zone of tenant shop, and no later zone is that of fewer tenants"),
        (
            "zone1",
            "zone1 comes last, since it is the primary zone of tenant sys; the root server, 10.1.0.1:2882, is the last "
            "in it",
        ),
    ]


def test_zone_of_more_tenants_comes_after_the_root_server(planned):
    batches = planned((ORDERS, {**SHOP, "cart": "zone2"}))
    assert [batch["zone"] for batch in batches] == ["zone3", "zone1", "zone2"]
    assert batches[2]["reason"] == "zone2 comes last, since it is the primary zone of tenants shop and cart"


def test_canary_is_in_no_primary_zone(planned):
    batches = planned((ORDERS, {"sys": "zone1", "shop": "zone2"}), canary=1)
    assert [(batch["zone"], batch["canary"]) for batch in batches] == [
        ("zone3", True),
        ("zone2", False),
        ("zone1", False),
    ]


def test_each_cluster_has_its_own_order(planned):
    batches = planned((PAYMENTS, {"sys": "zone3", "cart": "zone1"}), (ORDERS, {"sys": "zone2"}))
    assert [batch["zone"] for batch in batches] == ["zone2", "zone1", "zone3", "zone3", "zone1", "zone2"]


def test_last_of_the_zones_in_scope_comes_last(planned):
    assert order(planned((ORDERS, SHOP), zones=["zone2", "zone3"])) == [
        ("zone3", "before zone1 and zone2, the primary zones of tenants"),
        ("zone2", "zone2 comes last, since it is the primary zone of tenant shop"),
    ]


@pytest.mark.parametrize("primary_zones", [{"sys": None}, {"sys": "RANDOM", "shop": "zone1,zone2,zone3"}])
def test_tenants_that_say_nothing_leave_the_order_to_the_root_server(planned, primary_zones):
    assert order(planned((ORDERS, primary_zones)))[:2] == [
        ("zone2", "before zone1, where the root server is"),
        ("zone3", "before zone1, where the root server is"),
    ]


def test_without_safety_tenants_are_not_read_for_the_order(planned):
    assert [batch["zone"] for batch in planned((ORDERS, None), majority=False)] == ["zone2", "zone3", "zone1"]
