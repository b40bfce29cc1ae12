# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Health problems of a cluster, and their words."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._fleet.facts import cluster_facts, server_facts
from ansible_collections.oceanbase.ocp.plugins.module_utils._health.health_rules import (
    Apart,
    Kind,
    health_problems,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.tests.unit.support.cluster_payloads import raw_cluster, raw_server
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import raw_task


def judged(cluster, *tasks, min_zones=3, apart=None):
    servers = [server for zone in cluster["zones"] for server in zone["servers"]]
    facts = [server_facts(server, cluster) for server in servers]
    return health_problems(cluster_facts(cluster), facts, [Task.from_api(task) for task in tasks], min_zones, apart)


def texts(*given, **options):
    return [problem.text for problem in judged(*given, **options)]


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
        (
            with_second(status=None),
            [],
            ["server 10.1.0.2:2882 of zone2 is in an unknown state, since no status is shown", UP],
        ),
        (with_zone("STOPPED", "zone2"), [], [f"{UP}: zone2 is STOPPED"]),
        (
            with_zone("STOPPED", "zone1", "zone2", "zone3"),
            [],
            ["0 of 3 zones are up, fewer than min_zones=3: zone1 is STOPPED, zone2 is STOPPED, zone3 is STOPPED"],
        ),
        (raw_cluster(), [raw_task(9)], ["task 9 (Restart 9) is RUNNING on cluster orders"]),
        (
            raw_cluster(),
            [raw_task(9, operation="ROLLBACK")],
            ["rollback of task 9 (Restart 9) is RUNNING on cluster orders"],
        ),
        (
            with_second(operatingTaskInstanceId=9),
            [raw_task(9)],
            ["task 9 (Restart 9) is RUNNING on server 10.1.0.2:2882"],
        ),
        (
            with_second(operatingTaskInstanceId=9, status="RESTARTING"),
            [raw_task(9, "FAILED")],
            [
                "task 9 (Restart 9) FAILED, and still holds server 10.1.0.2:2882",
                "server 10.1.0.2:2882 of zone2 is RESTARTING",
                UP,
            ],
        ),
        (
            raw_cluster(operatingTaskInstanceId=9),
            [raw_task(9, "FAILED")],
            ["task 9 (Restart 9) FAILED, and still holds cluster orders"],
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
        "rollback",
        "task on a server",
        "failed task",
        "failed task on the cluster",
    ],
)
def test_health_problems_are_named(cluster, tasks, expected):
    assert texts(cluster, *tasks) == expected


def test_cluster_without_servers_is_unhealthy():
    assert texts(raw_cluster(zones=[]), min_zones=1) == [
        "the service shows no server of cluster orders",
        "0 of 0 zones are up, fewer than min_zones=1",
    ]


@pytest.mark.parametrize(("min_zones", "healthy"), [(1, True), (2, True), (3, False)])
def test_cluster_is_healthy_while_min_zones_are_up(min_zones, healthy):
    assert (judged(with_zone("STOPPED", "zone2"), min_zones=min_zones) == []) is healthy


WORK, FLIGHT, ILL, HELD = Kind.AT_WORK, Kind.IN_FLIGHT, Kind.ILL, Kind.HELD
NAMED = {"operatingTaskInstanceId": 9}


@pytest.mark.parametrize(
    ("cluster", "tasks", "kinds"),
    [
        (with_second(status="UNAVAILABLE"), [], [ILL, ILL]),
        (with_second(status="STOPPED"), [], [ILL, ILL]),
        (with_second(status="RESTARTING"), [], [FLIGHT, FLIGHT]),
        (with_second(status="UNAVAILABLE", **NAMED), [raw_task(9)], [WORK, FLIGHT, FLIGHT]),
        # The work is not known to be of another server.
        (with_second(status="UNAVAILABLE"), [raw_task(9)], [WORK, FLIGHT, FLIGHT]),
        (with_second(status="UNAVAILABLE", operatingTaskInstanceId=8), [raw_task(9)], [WORK, ILL, ILL]),
        (with_second(status="RESTARTING", **NAMED), [raw_task(9, "FAILED")], [HELD, FLIGHT, FLIGHT]),
        (with_second(status="UNAVAILABLE", **NAMED), [raw_task(9, "FAILED")], [HELD, ILL, ILL]),
        (raw_cluster(status="OPERATING"), [], [FLIGHT]),
        (raw_cluster(status="STOPPED"), [], [ILL]),
        (with_zone("OPERATING", "zone2"), [], [FLIGHT]),
        (with_zone("STOPPED", "zone2"), [], [ILL]),
        (raw_cluster(), [raw_task(9)], [WORK]),
    ],
)
def test_problem_tells_whether_work_explains_it(cluster, tasks, kinds):
    assert [problem.kind for problem in judged(cluster, *tasks)] == kinds


def test_held_problem_has_the_commands_that_clear_it():
    [held, *_others] = judged(with_second(**NAMED), raw_task(9, "FAILED", prohibitRollback=True))
    assert held.remedies == (
        "  Show why: ansible-playbook oceanbase.ocp.task_report -e task_report_id=9",
        "  Retry what failed: ansible localhost -m oceanbase.ocp.task "
        "-a 'task_id=9 state=retried wait=true detail=compact'",
    )


@pytest.mark.parametrize(
    ("cluster", "tasks", "expected"),
    [
        (with_second(status="RESTARTING", **NAMED), [raw_task(9)], []),
        (with_second(status="UNAVAILABLE"), [raw_task(8)], []),
        (with_second(status="RESTARTING"), [raw_task(9)], ["task 9 (Restart 9) is RUNNING on cluster orders"]),
        (
            with_second(status="RESTARTING", **NAMED),
            [raw_task(9, "FAILED")],
            ["task 9 (Restart 9) FAILED, and still holds server 10.1.0.2:2882"],
        ),
        (
            raw_cluster(raw_server(1, **NAMED), raw_server(2, "zone2", **NAMED), raw_server(3, "zone3")),
            [raw_task(9)],
            ["task 9 (Restart 9) is RUNNING on server 10.1.0.1:2882, server 10.1.0.2:2882"],
        ),
        (
            raw_cluster(raw_server(1), raw_server(2, "zone2"), raw_server(3, "zone3", status="STOPPED")),
            [],
            [
                "server 10.1.0.3:2882 of zone3 is STOPPED",
                "2 of 3 zones are up (zone1, zone2), fewer than min_zones=3",
            ],
        ),
    ],
    ids=["its own work", "a task of ours", "unknown work", "held", "work on two zones", "another zone"],
)
def test_zone_that_is_being_restarted_need_not_be_healthy(cluster, tasks, expected):
    cluster["status"] = "OPERATING"
    assert texts(cluster, *tasks, apart=Apart("zone2", [8])) == expected


def test_status_that_no_restart_explains_counts_beside_a_restarting_zone():
    assert texts(raw_cluster(status="STOPPED"), apart=Apart("zone2")) == ["cluster orders is STOPPED"]


def test_servers_that_are_restarted_are_apart_alone():
    cluster = raw_cluster(
        raw_server(1),
        raw_server(2, "zone2", status="RESTARTING", operatingTaskInstanceId=8),
        raw_server(4, "zone2", status="STOPPED"),
        raw_server(3, "zone3"),
        status="OPERATING",
    )
    apart = Apart("zone2", [], {"10.1.0.2:2882"})
    assert texts(cluster, raw_task(8), apart=apart) == ["server 10.1.0.4:2882 of zone2 is STOPPED"]
