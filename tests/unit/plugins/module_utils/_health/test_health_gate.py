# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The wait for a healthy cluster: what it looks at, what it shows, and what its end says."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AnswerLost,
    AuthenticationFailed,
    NotFound,
    NotHealthy,
    OptionError,
    PermissionDenied,
    RequestRefused,
    TargetError,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._health.health_gate import await_health
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll import Patience
from ansible_collections.oceanbase.ocp.tests.unit.support.cluster_payloads import raw_cluster, raw_server
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, raw_task

LOST = AnswerLost("The answer was lost.", url=URL)
ILL = raw_cluster(raw_server(1), raw_server(2, "zone2", status="UNAVAILABLE"), raw_server(3, "zone3"))


@pytest.fixture
def wait(api, time_passes):
    lines = []

    def run(cluster="orders", min_zones=3, timeout=60):
        patience = Patience(timeout, 10, lambda line, failed: lines.append((line, failed)))
        return await_health(api.double, cluster, min_zones, patience, clock=time_passes.clock)

    run.lines = lines
    return run


def finds(api, cluster, *tasks, again=False):
    if again:
        api.expect("cluster", cluster["id"], gives=cluster)
    else:
        api.expect("clusters", "orders", gives=[cluster])
    api.expect("tasks", clusterId=cluster["id"], status="RUNNING", gives=list(tasks))


def test_a_healthy_cluster_costs_one_look_and_no_word(api, wait, time_passes):
    finds(api, raw_cluster())
    result = wait()
    assert result.keys() == {"changed", "cluster", "servers", "problems", "elapsed", "warnings"}
    assert (result["changed"], result["problems"], result["elapsed"], result["warnings"]) == (False, [], 0.0, [])
    assert result["cluster"]["name"] == "orders"
    assert [server["name"] for server in result["servers"]] == ["10.1.0.1:2882", "10.1.0.2:2882", "10.1.0.3:2882"]
    assert (wait.lines, time_passes.pauses) == ([], [])


def test_it_goes_on_when_the_cluster_has_recovered(api, wait):
    finds(api, ILL)
    finds(api, ILL, again=True)
    finds(api, raw_cluster(), again=True)
    assert wait()["elapsed"] == 1.0
    assert wait.lines == [
        ("  orders: server 10.1.0.2:2882 of zone2 is UNAVAILABLE", True),
        ("  orders: 2 of 3 zones are up (zone1, zone3), fewer than min_zones=3", True),
        ("  orders: healthy after 1 s", False),
    ]


def test_lines_name_a_cluster_that_was_asked_for_by_its_id(api, wait):
    api.expect("cluster", 31, gives=ILL).expect("tasks", clusterId=31, status="RUNNING", gives=[])
    finds(api, raw_cluster(), again=True)
    wait("31")
    assert wait.lines[0] == ("  orders: server 10.1.0.2:2882 of zone2 is UNAVAILABLE", True)


def test_its_end_names_who_is_not_well(api, wait):
    finds(api, ILL)
    for _look in range(2):
        finds(api, ILL, again=True)
    with pytest.raises(NotHealthy) as raised:
        wait(timeout=1)
    assert str(raised.value) == (
        "Cluster orders (id 31) is not healthy after 1 seconds: server 10.1.0.2:2882 of zone2 is UNAVAILABLE; 2 of 3 "
        "zones are up (zone1, zone3), fewer than min_zones=3. Look there first; then wait again, or with a larger "
        "wait_timeout."
    )
    assert raised.value.facts["problems"][0] == "server 10.1.0.2:2882 of zone2 is UNAVAILABLE"
    assert raised.value.facts["cluster"]["id"] == 31


def test_of_many_problems_the_first_are_named(api, wait):
    finds(api, raw_cluster(*[raw_server(number, "zone1", status="STOPPED") for number in range(1, 13)]))
    with pytest.raises(NotHealthy, match=r"10\.1\.0\.10:2882 of zone1 is STOPPED; and 3 more\. Look"):
        wait(timeout=0)


def test_a_wait_without_news_has_a_word_every_minute(api, wait):
    finds(api, ILL)
    while len(api._expected) < 200:
        finds(api, ILL, again=True)
    with pytest.raises(NotHealthy):
        wait(timeout=130)
    api._expected.clear()
    assert [line for line, _failed in wait.lines[2:]] == [
        "  orders not healthy after 60 s: server 10.1.0.2:2882 of zone2 is UNAVAILABLE",
        "  orders not healthy after 120 s: server 10.1.0.2:2882 of zone2 is UNAVAILABLE",
    ]


@pytest.mark.parametrize(
    "named", [raw_task(9, "SUCCESSFUL"), refused(404)], ids=["ended well", "gone from the list of tasks"]
)
def test_a_task_that_holds_nothing_any_more_is_passed_over(named, api, wait):
    finds(api, raw_cluster(raw_server(1, operatingTaskInstanceId=9), raw_server(2, "zone2"), raw_server(3, "zone3")))
    api.expect("task", 9, gives=named)
    assert wait()["problems"] == []


def test_a_task_that_failed_and_still_holds_a_server_is_read_and_named(api, wait):
    held = raw_cluster(
        raw_server(1, operatingTaskInstanceId=9), raw_server(2, "zone2"), raw_server(3, "zone3", status="RUNNING")
    )
    finds(api, held)
    api.expect("task", 9, gives=raw_task(9, "FAILED"))
    with pytest.raises(NotHealthy, match=r"task 9 \(Restart 9\) FAILED and still holds server 10\.1\.0\.1:2882"):
        wait(timeout=0)


def test_servers_that_a_cluster_does_not_show_itself_are_read(api, wait):
    older = raw_cluster()
    servers = [server for zone in older["zones"] for server in zone.pop("servers")]
    api.expect("clusters", "orders", gives=[older]).expect("servers", 31, gives=servers)
    api.expect("tasks", clusterId=31, status="RUNNING", gives=[])
    assert len(wait()["servers"]) == 3


@pytest.mark.parametrize("error", [LOST, RequestRefused("No.", status=503, reason="", url=URL)], ids=str)
def test_a_look_that_fails_is_survived(error, api, wait):
    api.expect("clusters", "orders", gives=error)
    finds(api, raw_cluster())
    result = wait()
    assert result["warnings"] == [f"1 look at the cluster failed and did not end the wait. The last: {error}"]
    unread = f"  orders: it cannot be read: {str(error).rstrip('.')}"
    assert wait.lines == [(unread, True), ("  orders: healthy after 0 s", False)]


@pytest.mark.parametrize("kind", [AuthenticationFailed, PermissionDenied, NotFound])
def test_what_no_later_look_can_mend_ends_it(kind, api, wait):
    api.expect("clusters", "orders", gives=kind("No.", status=400, reason="", url=URL))
    with pytest.raises(kind):
        wait()


def test_a_cluster_that_is_not_there_ends_it(api, wait):
    api.expect("clusters", "orders", gives=[])
    with pytest.raises(TargetError, match="cluster: orders matches nothing"):
        wait()


def test_a_number_of_zones_that_cannot_be_is_refused(wait):
    with pytest.raises(OptionError, match="min_zones: 0 is out of range"):
        wait(min_zones=0)
