# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The plan of a rolling restart: its servers, the unchanged servers, and refusals."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.cli_hints import Hints
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError, TargetError
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import (
    RollingRequest,
    plan_rolling_restart,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.caps import Caps
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.sign_rules import Sign, Watch
from ansible_collections.oceanbase.ocp.tests.unit.support.cluster_payloads import raw_cluster, raw_server
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, clock_ahead, raw_task, step

ORDERS = raw_cluster(*[raw_server(number, f"zone{(number + 1) // 2}") for number in range(1, 7)])
PAYMENTS = raw_cluster(
    *[raw_server(number, f"zone{number - 10}", withRootserver=number == 13) for number in (11, 12, 13)],
    number=32,
    name="payments",
)
# Clocks of database hosts are known to a minute.
LATER = BEGINNING + timedelta(minutes=2)
FRESH = {"startTime": (LATER + timedelta(minutes=1)).isoformat()}
ALL = RollingRequest(["orders"], None, None, 1, Strategy.SERVER, LATER, majority=False)


@pytest.fixture
def planned(api, time_passes):
    api.double.service_clock = clock_ahead(0)
    time_passes.time += 3600.0

    def run(*clusters, running=(), held=None, **options):
        seen = set()
        wanted = replace(ALL, **{"clusters": [cluster["name"] for cluster in clusters], **options})
        for cluster in clusters:
            api.expect("clusters", cluster["name"], gives=[cluster])
            if cluster["id"] not in seen:
                api.expect("tasks", clusterId=cluster["id"], gives=list(running))
            seen.add(cluster["id"])
        for number, task in (held or {}).items():
            api.expect("task", number, gives=task)
        return plan_rolling_restart(api.double, wanted, time_passes.clock)

    return run


@pytest.fixture
def refused(api, time_passes):
    api.double.service_clock = clock_ahead(0)

    def run(error, match, *clusters, **options):
        for cluster in clusters:
            api.expect("clusters", cluster["name"], gives=[cluster])
            api.expect("tasks", clusterId=cluster["id"], gives=[])
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
    well = {
        "task_ids": [],
        "waits_for": [],
        "problems": [],
        "serves": True,
        "safe": True,
        "obstacles": [],
        "blocked": False,
        "message": "",
    }
    well |= {"signs": [], "alarms": [], "metrics": {}, "offline_time": None}
    assert plan["clusters"] == [
        {"id": 32, "name": "payments", "batches": 3, **well},
        {"id": 31, "name": "orders", "batches": 6, **well},
    ]
    assert (plan["changed"], plan["left_alone"], plan["warnings"]) == (False, [], [])
    assert plan["batches"][8] == {
        "number": 9,
        "cluster": "orders",
        "cluster_id": 31,
        "zone": "zone1",
        "servers": [
            {
                "cluster": "orders",
                "cluster_id": 31,
                "zone": "zone1",
                "id": 1,
                "name": "10.1.0.1:2882",
                "with_rootserver": True,
                "needed": True,
                "reason": "10.1.0.1:2882 started at 2026-05-04T03:00:00+08:00, before 2026-05-04T03:02:00+08:00",
                "serves": True,
                "restarted": False,
            }
        ],
        "reason": ("zone1 comes last, since it has the root server; the root server, 10.1.0.1:2882, is the last in it"),
        "first_of_zone": False,
        "last_of_zone": True,
        "canary": False,
    }


def test_duplicate_cluster_is_planned_once(planned):
    assert order(planned(PAYMENTS, PAYMENTS)) == [[11], [12], [13]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"batch": 2}, [[3, 4], [5, 6], [2], [1]]),
        ({"batch": 9}, [[3, 4], [5, 6], [2], [1]]),
        ({"batch": None}, [[3, 4], [5, 6], [2], [1]]),
        ({"strategy": Strategy.ZONE}, [[3, 4], [5, 6], [2, 1]]),
        ({"zones": ["zone1", "zone3"]}, [[5], [6], [2], [1]]),
        ({"servers": ["2", "10.1.0.5:2882"]}, [[5], [2]]),
        ({"zones": ["zone1"], "servers": ["2", "5"]}, [[2]]),
    ],
    ids=["batch", "large batch", "auto", "zone", "zones", "servers", "servers of zones"],
)
def test_scope_and_batch_options_shape_the_plan(planned, options, expected):
    plan = planned(ORDERS, **options)
    assert order(plan) == expected
    assert plan["left_alone"] == []


def test_first_servers_of_the_run_are_canaries_but_none_of_a_blocked_cluster(planned):
    plan = planned(PAYMENTS, ORDERS, batch=2, canary=4)
    assert order(plan) == [[11], [12], [13], [3], [4], [5, 6], [2], [1]]
    assert [batch["canary"] for batch in plan["batches"]] == [True] * 4 + [False] * 4
    assert [cluster["batches"] for cluster in plan["clusters"]] == [3, 5]
    ill = raw_cluster(raw_server(11), raw_server(12, "zone2", status="STOPPED"), number=32, name="payments")
    plan = planned(ill, ORDERS, batch=2, canary=1)
    assert order(plan) == [[11], [12], [3], [4], [5, 6], [2], [1]]
    assert [batch["canary"] for batch in plan["batches"]] == [False, False, True, False, False, False, False]


def test_fresh_servers_are_unchanged_and_unknown_ones_are_planned(planned):
    cluster = raw_cluster(
        raw_server(1),
        raw_server(2, "zone2", **FRESH),
        raw_server(3, "zone3", startTime=None),
        raw_server(4, "zone4", startTime=(LATER + timedelta(seconds=59)).isoformat()),
    )
    plan = planned(cluster)
    assert order(plan) == [[3], [4], [1]]
    for batch, name in zip(plan["batches"], ("10.1.0.3:2882", "10.1.0.4:2882"), strict=False):
        assert f"not proven that {name} started" in batch["servers"][0]["reason"]
    [skipped] = plan["left_alone"]
    assert (skipped["cluster"], skipped["zone"], skipped["name"], skipped["needed"]) == (
        "orders",
        "zone2",
        "10.1.0.2:2882",
        False,
    )
    assert skipped["reason"].endswith("not before 2026-05-04T03:02:00+08:00")


@pytest.mark.parametrize("ahead", [2, 300, 3600])
def test_start_by_a_clock_that_is_ahead_does_not_show_that_it_was_since(ahead, planned):
    """The plan left it alone, where a single restart restarts it."""
    now = BEGINNING + timedelta(hours=1)
    cluster = raw_cluster(
        *[raw_server(number, f"zone{number}", **FRESH) for number in (1, 2)],
        raw_server(3, "zone3", startTime=(now + timedelta(minutes=ahead)).isoformat()),
    )
    plan = planned(cluster)
    assert order(plan) == [[3]]
    assert [server["id"] for server in plan["left_alone"]] == [1, 2]


def test_servers_have_the_same_facts_wherever_they_are_in_the_plan(planned):
    plan = planned(raw_cluster(raw_server(1), raw_server(2, "zone2", **FRESH), raw_server(3, "zone3")))
    servers = [server for batch in plan["batches"] + plan["done"] for server in batch["servers"]]
    assert [(server["id"], server["cluster"], server["cluster_id"], server["zone"]) for server in servers] == [
        (3, "orders", 31, "zone3"),
        (1, "orders", 31, "zone1"),
        (2, "orders", 31, "zone2"),
    ]
    assert servers[2:] == plan["left_alone"]
    assert {tuple(server) for server in servers} == {tuple(plan["left_alone"][0])}


def test_plan_lists_running_restarts_but_no_other_tasks(planned):
    running = [raw_task(9, name="Restart OB server"), raw_task(8, name="Back up"), raw_task(7, name="Restart OB zone")]
    assert planned(ORDERS, running=running)["clusters"][0]["task_ids"] == [9, 7]


def test_server_whose_start_does_not_show_yet_is_planned_so_that_it_is_waited_for(planned):
    times = {"startTime": LATER + timedelta(minutes=56), "finishTime": LATER + timedelta(minutes=57)}
    task = raw_task(
        80,
        "SUCCESSFUL",
        name="Restart OB server",
        tags=[{"serverId": 1}],
        subtasks=[step(1, "Stop observer", "SUCCESSFUL"), step(2, "Start observer", "SUCCESSFUL")],
        **{name: time.isoformat() for name, time in times.items()},
    )
    cluster = raw_cluster(raw_server(1), raw_server(2, "zone2", **FRESH), raw_server(3, "zone3", **FRESH))
    plan = planned(cluster, running=[task])
    assert order(plan) == [[1]]
    [[server]] = [batch["servers"] for batch in plan["batches"]]
    assert server["reason"] == (
        "task 80 (Restart OB server) has restarted it, and the service does not show the start yet"
    )


def test_plan_for_a_name_asks_no_clock(planned, api):
    api.double.service_clock = clock_ahead(3600)
    plan = planned(raw_cluster(), started_before=None, change="memory-2026-11-20")
    assert (len(order(plan)), plan["warnings"]) == (3, [])


def test_started_before_is_shifted_by_the_clock_offset(planned, api):
    api.double.service_clock = clock_ahead(-240)
    plan = planned(raw_cluster(), started_before=BEGINNING + timedelta(minutes=2))
    assert order(plan) == []
    assert ["240 seconds behind" in warning for warning in plan["warnings"]] == [True]


def test_cluster_below_min_zones_is_refused(refused, planned):
    two = raw_cluster(raw_server(1), raw_server(2, "zone2"))
    refused(
        TargetError, r"orders \(id 31\) has 2 zones \(zone1, zone2\), and min_zones=3 is required", two, min_zones=3
    )
    hints = Hints({"min_zones": "rolling_restart_min_zones"})
    refused(TargetError, "Give a smaller rolling_restart_min_zones, or leave it out", two, min_zones=3, hints=hints)
    assert order(planned(two)) == [[2], [1]]


def test_server_without_a_zone_counts_as_none(refused, planned):
    cluster = raw_cluster(*[raw_server(number, zone) for number, zone in enumerate(("zone1", "zone2", None), 1)])
    refused(TargetError, r"has 2 zones \(zone1, zone2\), and min_zones=3 is required", cluster, min_zones=3)
    refused(
        TargetError,
        r"zones: zone9 matches nothing .* to choose from: zone1, zone2\.",
        cluster,
        zones=["zone9"],
        min_zones=2,
    )
    assert order(planned(cluster, min_zones=2)) == [[2], [3], [1]]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"clusters": []}, "clusters: is empty"),
        ({"clusters": ["orders", ""]}, "clusters: is empty or has an empty entry"),
        ({"zones": []}, "zones: is empty"),
        ({"servers": []}, "servers: is empty"),
        ({"batch": 0}, "batch: 0 is out of range"),
        ({"min_zones": -1}, "min_zones: -1 is out of range"),
        ({"canary": -1}, "canary: -1 is out of range"),
        ({"tolerated": [""]}, "tolerate_outage_of: is empty or has an empty entry"),
        ({"servers": ["1"], "strategy": Strategy.ZONE}, "strategy: zone restarts whole zones, and servers are given"),
    ],
)
def test_invalid_options_are_refused_before_any_request(refused, options, match):
    refused(OptionError, match, **options)


def test_unknown_zone_or_server_is_named(refused):
    where = r" in cluster orders \(id 31\); to choose from: "
    refused(TargetError, rf"zones: zone9 matches nothing{where}zone1, zone2", ORDERS, zones=["zone1", "zone9"])
    refused(TargetError, rf"servers: 10\.9\.9\.9:1 matches nothing{where}10\.1", ORDERS, servers=["1", "10.9.9.9:1"])


def test_zones_without_any_of_the_servers_are_refused(refused):
    outside = {"zones": ["zone2"], "servers": ["10.1.0.1:2882"]}
    refused(TargetError, r"zones, servers: none of 10\.1\.0\.1:2882 is in zone2\.", ORDERS, **outside)


def test_unknown_cluster_is_named(api, time_passes):
    api.expect("clusters", "order", gives=[ORDERS])
    api.expect("clusters", gives=[ORDERS])
    with pytest.raises(TargetError, match="clusters: order matches nothing; to choose from: orders"):
        plan_rolling_restart(api.double, replace(ALL, clusters=["order"]), time_passes.clock)


def test_ill_cluster_is_blocked_and_says_why(planned):
    cluster = raw_cluster(raw_server(1), raw_server(2, "zone2", status="UNAVAILABLE"), raw_server(3, "zone3"))
    [found] = planned(cluster)["clusters"]
    assert (found["serves"], found["blocked"]) == (False, True)
    words = "server 10.1.0.2:2882 of zone2 is UNAVAILABLE"
    assert (found["message"], found["problems"]) == (f"{words}.", [words])


def test_held_cluster_is_blocked_with_the_commands_though_nothing_is_left_to_do(planned):
    named = {**FRESH, "operatingTaskInstanceId": 9, "innerStatus": "INACTIVE"}
    cluster = raw_cluster(raw_server(1, **named), raw_server(2, "zone2", **FRESH), raw_server(3, "zone3", **FRESH))
    plan = planned(cluster, held={9: raw_task(9, "FAILED", name="Restart OB server")})
    assert plan["batches"] == []
    assert plan["clusters"][0]["blocked"] is True
    assert plan["clusters"][0]["message"].startswith(
        "task 9 (Restart OB server) FAILED, and still holds server 10.1.0.1"
    )
    assert "task_id=9 state=retried" in plan["clusters"][0]["message"]
    assert [server["serves"] for server in plan["left_alone"]] == [False, True, True]


def test_cluster_at_work_does_not_serve_but_is_not_blocked(planned):
    work = {"status": "RESTARTING", "innerStatus": "INACTIVE", "operatingTaskInstanceId": 9}
    cluster = raw_cluster(raw_server(1, **work), raw_server(2, "zone2"), raw_server(3, "zone3"), status="OPERATING")
    [found] = planned(cluster, running=[raw_task(9, name="Restart OB server")])["clusters"]
    assert (found["serves"], found["blocked"], found["task_ids"], found["message"]) == (False, False, [9], "")


def test_cluster_where_a_task_runs_beside_serves(planned):
    [found] = planned(raw_cluster(), running=[raw_task(9, name="Back up")])["clusters"]
    assert (found["serves"], found["blocked"], found["task_ids"]) == (True, False, [])


def test_done_servers_are_shown_by_zone(planned):
    servers = [
        raw_server(number, f"zone{(number + 1) // 2}", **(FRESH if number in (1, 3, 4) else {}))
        for number in range(1, 7)
    ]
    done = planned(raw_cluster(*servers))["done"]
    shown = [(zone["zone"], [server["id"] for server in zone["servers"]], zone["last_of_zone"]) for zone in done]
    assert shown == [("zone1", [1], False), ("zone2", [3, 4], True)]
    assert {(zone["number"], zone["cluster_id"], zone["first_of_zone"]) for zone in done} == {(None, 31, False)}


def test_alarms_that_are_there_are_known_and_other_signs_are_told(api, planned):
    """What no wait ends blocks the cluster; the rest is waited for at its turn."""
    mixed = raw_cluster(raw_server(1, version="4.2"), raw_server(2, "zone2", version="4.3"), raw_server(3, "zone3"))
    alarm = {"id": 12, "alarmType": "x", "labels": {"ob_cluster_name": "orders"}}
    other = {**alarm, "id": 13, "labels": {"ob_cluster_name": "payments"}}
    api.expect("clusters", "orders", gives=[{**mixed, "compactionStatus": "MERGING"}])
    api.expect("tasks", clusterId=31, gives=[])
    api.expect("active_alarms", gives=[alarm, other])
    api.expect("cluster_parameters", 31, gives=[{"name": "server_permanent_offline_time", "currentValue": {}}])
    watch = Watch(frozenset({Sign.ALARMS, Sign.MERGE, Sign.VERSIONS}), 30)
    plan = planned(clusters=["orders"], watch=watch, judges_budget=True)
    [cluster] = plan["clusters"]
    versions = (
        "the servers of orders have different versions: 4.2 (10.1.0.1:2882); 4.3 (10.1.0.2:2882) (stop_on: versions)"
    )
    merge = "cluster orders is merging: its compaction is MERGING (stop_on: merge)"
    assert (cluster["alarms"], cluster["signs"], cluster["offline_time"]) == ([12], [merge, versions], None)
    assert (cluster["blocked"], cluster["message"], cluster["problems"]) == (True, f"{versions}.", [])
    assert plan["warnings"] == [
        "The service does not show server_permanent_offline_time of cluster 31, so offline_budget is ignored."
    ]


def test_no_batch_takes_down_more_than_the_caps_allow(planned):
    zones = [[3, 4], [5, 6], [2], [1]]
    assert order(planned(ORDERS, batch=None)) == zones
    assert order(planned(ORDERS, batch=None, caps=Caps({"servers": 1}))) == [[one] for zone in zones for one in zone]
    assert order(planned(ORDERS, batch=None, caps=Caps({"servers": 2}))) == zones


def test_zone_that_has_more_servers_than_the_caps_allow_blocks_its_cluster(planned):
    plan = planned(ORDERS, strategy=Strategy.ZONE, caps=Caps({"servers": 1}))
    [cluster] = plan["clusters"]
    assert (cluster["blocked"], cluster["safe"], cluster["message"]) == (
        True,
        False,
        "A zone cannot restart at once: it takes down 2 servers at once, more than the 1 that may be down. Give "
        "strategy=server this time.",
    )
    assert planned(ORDERS, strategy=Strategy.ZONE, caps=Caps({"servers": 2}))["clusters"][0]["blocked"] is False
