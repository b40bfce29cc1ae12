# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The plan of a rolling restart: its servers, the unchanged servers, and refusals."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError, TargetError
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import (
    RollingRequest,
    plan_rolling_restart,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.cluster_payloads import raw_cluster, raw_server
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, clock_ahead, raw_task

ORDERS = raw_cluster(*[raw_server(number, f"zone{(number + 1) // 2}") for number in range(1, 7)])
PAYMENTS = raw_cluster(
    *[raw_server(number, f"zone{number - 10}", withRootserver=number == 13) for number in (11, 12, 13)],
    number=32,
    name="payments",
)
LATER = BEGINNING + timedelta(minutes=1)
ALL = RollingRequest(["orders"], None, None, 1, Strategy.SERVER, LATER, 3)


@pytest.fixture
def planned(api, time_passes):
    api.double.service_clock = clock_ahead(0)
    time_passes.time += 3600.0

    def run(*clusters, running=(), **options):
        wanted = replace(ALL, clusters=[cluster["name"] for cluster in clusters], **options)
        for cluster in clusters:
            api.expect("clusters", cluster["name"], gives=[cluster])
        for cluster in {cluster["id"]: cluster for cluster in clusters}.values():
            api.expect("tasks", clusterId=cluster["id"], status="RUNNING", gives=list(running))
        return plan_rolling_restart(api.double, wanted, time_passes.clock)

    return run


@pytest.fixture
def refused(api, time_passes):
    api.double.service_clock = clock_ahead(0)

    def run(error, match, *clusters, **options):
        for cluster in clusters:
            api.expect("clusters", cluster["name"], gives=[cluster])
        wanted = replace(ALL, **{"clusters": [cluster["name"] for cluster in clusters] or ["orders"], **options})
        with pytest.raises(error, match=match):
            plan_rolling_restart(api.double, wanted, time_passes.clock)

    return run


def order(plan):
    return [[server["id"] for server in batch["servers"]] for batch in plan["batches"]]


def test_clusters_keep_their_order_with_root_servers_last(planned):
    plan = planned(PAYMENTS, ORDERS)
    assert order(plan) == [[11], [12], [13], [3], [4], [5], [6], [2], [1]]
    assert [batch["number"] for batch in plan["batches"]] == list(range(1, 10))
    assert plan["clusters"] == [
        {"id": 32, "name": "payments", "batches": 3, "task_ids": []},
        {"id": 31, "name": "orders", "batches": 6, "task_ids": []},
    ]
    assert (plan["changed"], plan["left_alone"], plan["warnings"]) == (False, [], [])
    assert plan["batches"][8] == {
        "number": 9,
        "cluster": "orders",
        "cluster_id": 31,
        "zone": "zone1",
        "servers": [
            {
                "id": 1,
                "name": "10.1.0.1:2882",
                "with_rootserver": True,
                "needed": True,
                "reason": "10.1.0.1:2882 started at 2026-05-04T03:00:00+08:00, before 2026-05-04T03:01:00+08:00",
            }
        ],
        "reason": "zone1 comes last, and in it the root server, 10.1.0.1:2882",
        "first_of_zone": False,
        "last_of_zone": True,
    }


def test_duplicate_cluster_is_planned_once(planned):
    assert order(planned(PAYMENTS, PAYMENTS)) == [[11], [12], [13]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"batch": 2}, [[3, 4], [5, 6], [2, 1]]),
        ({"batch": 9}, [[3, 4], [5, 6], [2, 1]]),
        ({"strategy": Strategy.ZONE}, [[3, 4], [5, 6], [2, 1]]),
        ({"zones": ["zone1", "zone3"]}, [[5], [6], [2], [1]]),
        ({"servers": ["2", "10.1.0.5:2882"]}, [[5], [2]]),
        ({"zones": ["zone1"], "servers": ["2", "5"]}, [[2]]),
    ],
    ids=["batch", "large batch", "zone", "zones", "servers", "servers of zones"],
)
def test_scope_and_batch_options_shape_the_plan(planned, options, expected):
    plan = planned(ORDERS, **options)
    assert order(plan) == expected
    assert plan["left_alone"] == []


def test_fresh_servers_are_unchanged_and_unknown_ones_are_planned(planned):
    cluster = raw_cluster(
        raw_server(1),
        raw_server(2, "zone2", startTime=LATER.isoformat()),
        raw_server(3, "zone3", startTime=None),
    )
    plan = planned(cluster)
    assert order(plan) == [[3], [1]]
    assert "not proven that 10.1.0.3:2882 started" in plan["batches"][0]["servers"][0]["reason"]
    [skipped] = plan["left_alone"]
    assert (skipped["cluster"], skipped["zone"], skipped["name"], skipped["needed"]) == (
        "orders",
        "zone2",
        "10.1.0.2:2882",
        False,
    )
    assert skipped["reason"].endswith("not before 2026-05-04T03:01:00+08:00")


def test_plan_lists_running_restarts_but_no_other_tasks(planned):
    running = [raw_task(9, name="Restart OB server"), raw_task(8, name="Back up"), raw_task(7, name="Restart OB zone")]
    assert planned(ORDERS, running=running)["clusters"][0]["task_ids"] == [9, 7]


def test_started_before_is_shifted_by_the_clock_offset(planned, api):
    api.double.service_clock = clock_ahead(-240)
    plan = planned(raw_cluster(), started_before=BEGINNING + timedelta(minutes=2))
    assert order(plan) == []
    assert ["240 seconds behind" in warning for warning in plan["warnings"]] == [True]


def test_cluster_below_min_zones_is_refused(refused, planned):
    two = raw_cluster(raw_server(1), raw_server(2, "zone2"))
    refused(TargetError, r"orders \(id 31\) has 2 zones \(zone1, zone2\), and min_zones=3 are asked for", two)
    assert order(planned(two, min_zones=2)) == [[2], [1]]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"clusters": []}, "clusters: is empty"),
        ({"clusters": ["orders", ""]}, "clusters: is empty or has an empty entry"),
        ({"zones": []}, "zones: is empty"),
        ({"servers": []}, "servers: is empty"),
        ({"batch": 0}, "batch: 0 is out of range"),
        ({"min_zones": 0}, "min_zones: 0 is out of range"),
        ({"servers": ["1"], "strategy": Strategy.ZONE}, "strategy: zone restarts whole zones, and servers are given"),
    ],
)
def test_invalid_options_are_refused_before_any_request(refused, options, match):
    refused(OptionError, match, **options)


def test_unknown_zone_or_server_is_named(refused):
    where = r" in cluster orders \(id 31\); to choose from: "
    refused(TargetError, rf"zones: zone9 matches nothing{where}zone1, zone2", ORDERS, zones=["zone1", "zone9"])
    refused(TargetError, rf"servers: 10\.9\.9\.9:1 matches nothing{where}10\.1", ORDERS, servers=["1", "10.9.9.9:1"])


def test_unknown_cluster_is_named(api, time_passes):
    api.expect("clusters", "order", gives=[ORDERS])
    with pytest.raises(TargetError, match="clusters: order matches nothing; to choose from: orders"):
        plan_rolling_restart(api.double, replace(ALL, clusters=["order"]), time_passes.clock)
