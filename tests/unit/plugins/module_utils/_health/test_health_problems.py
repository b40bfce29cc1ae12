# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Health problems of a cluster, and their words."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._fleet.facts import cluster_facts, server_facts
from ansible_collections.oceanbase.ocp.plugins.module_utils._health.health_problems import health_problems
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.tests.unit.support.cluster_payloads import raw_cluster, raw_server
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import raw_task


def judged(cluster, *tasks, min_zones=3):
    servers = [server for zone in cluster["zones"] for server in zone["servers"]]
    facts = [server_facts(server, cluster) for server in servers]
    return health_problems(cluster_facts(cluster), facts, [Task.from_api(task) for task in tasks], min_zones)


def with_second(**fields):
    return raw_cluster(raw_server(1), raw_server(2, "zone2", **fields), raw_server(3, "zone3"))


def with_zone(status, *names):
    cluster = raw_cluster()
    for zone in cluster["zones"]:
        if zone["name"] in names:
            zone["status"] = status
    return cluster


UP = "2 of 3 zones are up (zone1, zone3), fewer than min_zones=3"


@pytest.mark.parametrize(
    ("cluster", "tasks", "expected"),
    [
        (raw_cluster(), [], []),
        (with_second(innerStatus=None), [], []),
        (raw_cluster(status="OPERATING"), [], ["cluster orders is OPERATING"]),
        (with_second(status="UNAVAILABLE"), [], ["server 10.1.0.2:2882 of zone2 is UNAVAILABLE", UP]),
        (with_second(innerStatus="INACTIVE"), [], ["server 10.1.0.2:2882 of zone2 is RUNNING and INACTIVE", UP]),
        (with_second(status=None), [], ["server 10.1.0.2:2882 of zone2 is None", UP]),
        (with_zone("STOPPED", "zone2"), [], [UP]),
        (
            with_zone("STOPPED", "zone1", "zone2", "zone3"),
            [],
            ["0 of 3 zones are up, fewer than min_zones=3"],
        ),
        (raw_cluster(), [raw_task(9)], ["task 9 (Restart 9) is RUNNING on cluster orders"]),
        (
            with_second(operatingTaskInstanceId=9),
            [raw_task(9)],
            ["task 9 (Restart 9) is RUNNING on server 10.1.0.2:2882"],
        ),
        (
            with_second(operatingTaskInstanceId=9, status="RESTARTING"),
            [raw_task(9, "FAILED")],
            [
                "task 9 (Restart 9) FAILED and still holds server 10.1.0.2:2882: retry it or roll it back",
                "server 10.1.0.2:2882 of zone2 is RESTARTING",
                UP,
            ],
        ),
        (
            raw_cluster(operatingTaskInstanceId=9),
            [raw_task(9, "FAILED")],
            ["task 9 (Restart 9) FAILED and still holds cluster orders: retry it or roll it back"],
        ),
    ],
    ids=[
        "healthy",
        "inner status not told",
        "cluster",
        "server",
        "inner status",
        "status not told",
        "zone",
        "no zone",
        "task",
        "task on a server",
        "failed task",
        "failed task on the cluster",
    ],
)
def test_health_problems_are_named(cluster, tasks, expected):
    assert judged(cluster, *tasks) == expected


def test_cluster_without_servers_is_unhealthy():
    assert judged(raw_cluster(zones=[]), min_zones=1) == [
        "the service shows no server of cluster orders",
        "0 of 0 zones are up, fewer than min_zones=1",
    ]


@pytest.mark.parametrize(("min_zones", "healthy"), [(1, True), (2, True), (3, False)])
def test_cluster_is_healthy_while_min_zones_are_up(min_zones, healthy):
    assert (judged(with_zone("STOPPED", "zone2"), min_zones=min_zones) == []) is healthy
