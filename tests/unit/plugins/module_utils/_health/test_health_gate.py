# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The wait for a healthy cluster: its requests, its progress lines and its errors."""

from __future__ import annotations

from datetime import UTC, timedelta
from unittest.mock import ANY

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    NotFound,
    NotHealthy,
    OptionError,
    PageNotFound,
    PermissionDenied,
    RequestRefused,
    ResponseLost,
    TargetError,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._health.health_gate import await_health
from ansible_collections.oceanbase.ocp.plugins.module_utils._health.health_rules import Apart
from ansible_collections.oceanbase.ocp.plugins.module_utils._health.read_health import Demands
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.sign_reads import LAG
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.sign_rules import Sign, Watch
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.progress_lines import HEARTBEAT_SECONDS
from ansible_collections.oceanbase.ocp.tests.unit.support.cluster_payloads import raw_cluster, raw_server
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, URL, chain, raw_task, step

LOST = ResponseLost("The answer was lost.", url=URL, advice="Check that the service is well; run this again.")
ILL = raw_cluster(raw_server(1), raw_server(2, "zone2", status="UNAVAILABLE"), raw_server(3, "zone3"))


@pytest.fixture
def wait(api, time_passes):
    lines = []

    def run(cluster="orders", min_zones=3, timeout=60, soak=0, watch=None, **demands):
        policy = PollPolicy(timeout, 10, lambda line, failed: lines.append((line, failed)))
        wanted, more = Demands(min_zones, **demands), {"soak": soak, "watch": watch, "clock": time_passes.clock}
        return await_health(api.double, cluster, wanted, policy, **more)

    run.lines = lines
    return run


def finds(api, cluster, *tasks, again=False):
    if again:
        api.expect("cluster", cluster["id"], gives=cluster)
    else:
        api.expect("clusters", "orders", gives=[cluster])
    api.expect("tasks", clusterId=cluster["id"], gives=list(tasks))


def test_healthy_cluster_takes_one_poll_and_no_progress_line(api, wait, time_passes):
    finds(api, raw_cluster())
    result = wait()
    assert result.keys() == {"changed", "cluster", "servers", "problems", "held", "elapsed", "warnings"}
    assert (result["changed"], result["problems"], result["elapsed"], result["warnings"]) == (False, [], 0.0, [])
    assert result["held"] is False
    assert result["cluster"]["name"] == "orders"
    assert [server["name"] for server in result["servers"]] == ["10.1.0.1:2882", "10.1.0.2:2882", "10.1.0.3:2882"]
    assert (wait.lines, time_passes.pauses) == ([], [])


def test_wait_ends_when_the_cluster_recovers(api, wait):
    finds(api, ILL)
    finds(api, ILL, again=True)
    finds(api, raw_cluster(), again=True)
    assert wait()["elapsed"] == 1.0
    assert wait.lines == [
        ("  orders: server 10.1.0.2:2882 of zone2 is UNAVAILABLE", True),
        ("  orders: 2 of 3 zones are up (zone1, zone3), fewer than min_zones=3", True),
        ("  orders: healthy after 1 s", False),
    ]


def test_progress_shows_the_name_of_a_cluster_given_by_id(api, wait):
    api.expect("cluster", 31, gives=ILL).expect("tasks", clusterId=31, gives=[])
    finds(api, raw_cluster(), again=True)
    wait("31")
    assert wait.lines[0] == ("  orders: server 10.1.0.2:2882 of zone2 is UNAVAILABLE", True)


def test_timeout_names_the_unhealthy_servers(api, wait):
    finds(api, ILL)
    for _look in range(2):
        finds(api, ILL, again=True)
    with pytest.raises(NotHealthy) as raised:
        wait(timeout=1)
    assert str(raised.value) == (
        "Cluster orders (id 31) is not healthy after 1 second: server 10.1.0.2:2882 of zone2 is UNAVAILABLE; 2 of 3 "
        "zones are up (zone1, zone3), fewer than min_zones=3. Check the cluster first; then wait again, or with a "
        "larger wait_timeout."
    )
    assert raised.value.facts["problems"][0] == "server 10.1.0.2:2882 of zone2 is UNAVAILABLE"
    assert raised.value.facts["cluster"]["id"] == 31


def test_only_the_first_of_many_problems_are_named(api, wait):
    finds(api, raw_cluster(*[raw_server(number, "zone1", status="STOPPED") for number in range(1, 13)]))
    with pytest.raises(NotHealthy, match=r"10\.1\.0\.10:2882 of zone1 is STOPPED; and 3 more\. Check"):
        wait(timeout=0)


def test_unchanged_problems_are_repeated_every_minute(api, wait):
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
    "named",
    [raw_task(9, "SUCCESSFUL"), raw_task(9, "CANCELED", finishTime="2026-05-04T03:00:05+08:00"), refused(404)],
    ids=["ended well", "ended without success, and is not FAILED", "gone from the list of tasks"],
)
def test_ended_task_named_by_a_server_is_ignored(named, api, wait):
    finds(api, raw_cluster(raw_server(1, operatingTaskInstanceId=9), raw_server(2, "zone2"), raw_server(3, "zone3")))
    api.expect("task", 9, gives=named)
    assert wait()["problems"] == []


FAILED_TASK = raw_task(
    9,
    "FAILED",
    name="Restart OB server",
    subtasks=[*chain(step(91, "Stop it", "SUCCESSFUL"), step(92, "Start it", "FAILED", prohibitSkip=True))],
)
HELD = (
    "Cluster orders (id 31) is not healthy, and waiting does not help: task 9 (Restart OB server) FAILED at subtask 2 "
    "of "
    "2, Start it (id 92), and still holds server 10.1.0.1:2882. With OCP_URL and the credentials in the environment:\n"
    "  Show why: ansible-playbook oceanbase.ocp.task_report -e task_report_id=9\n"
    "  Retry what failed: ansible localhost -m oceanbase.ocp.task "
    "-a 'task_id=9 state=retried wait=true detail=compact'\n"
    "  Roll the task back: ansible localhost -m oceanbase.ocp.task "
    "-a 'task_id=9 state=rolled_back wait=true detail=compact'\n"
    "Then run the same command again."
)


def test_held_cluster_fails_at_once_with_the_commands_that_clear_it(api, wait, time_passes):
    named = raw_server(1, operatingTaskInstanceId=9)
    finds(api, raw_cluster(named, raw_server(2, "zone2"), raw_server(3, "zone3", status="UNAVAILABLE")))
    api.expect("task", 9, gives=FAILED_TASK)
    with pytest.raises(NotHealthy) as raised:
        wait(timeout=600)
    assert str(raised.value) == HELD
    assert raised.value.facts["held"] is True
    # The others are there, too.
    assert "server 10.1.0.3:2882 of zone3 is UNAVAILABLE" in raised.value.facts["problems"]
    assert time_passes.pauses == []


RESTARTING = raw_cluster(raw_server(1, status="RESTARTING"), raw_server(2, "zone2"), raw_server(3, "zone3"))
OTHERS = {"tags": [{"serverId": 2, "clusterId": 31}]}


@pytest.mark.parametrize(
    "restarts",
    [
        [FAILED_TASK],
        [raw_task(11, "FAILED", name="Restart OB server", **OTHERS), FAILED_TASK],
        [raw_task(11, "SUCCESSFUL", name="Restart OB zone", tags=[{"zoneName": "zone2"}]), FAILED_TASK],
    ],
    ids=["newest", "newer one of another server", "newer one of another zone"],
)
def test_failed_newest_restart_holds_what_names_no_task(api, wait, restarts):
    finds(api, RESTARTING, *restarts)
    api.expect("task", 9, gives=FAILED_TASK)
    with pytest.raises(NotHealthy) as raised:
        wait(timeout=600)
    assert str(raised.value) == HELD


@pytest.mark.parametrize(
    "restarts",
    [[], [raw_task(11, "SUCCESSFUL", name="Restart OB server"), FAILED_TASK], [raw_task(11, "FAILED", name="Back up")]],
    ids=["none", "a newer one did it", "another task"],
)
def test_status_in_flight_without_a_task_is_waited_for(api, wait, restarts):
    finds(api, RESTARTING, *restarts)
    for task in restarts:
        if task["name"] == "Restart OB server" and task["status"] != "FAILED":
            api.expect("task", task["id"], gives=task)
    finds(api, raw_cluster(), again=True)
    assert wait()["elapsed"] == 0.5


@pytest.mark.parametrize(
    ("servers", "words"),
    [
        (["2", "10.1.0.1:2882"], "server 10.1.0.1:2882 is in zone1 and no longer in zone2; run the plan again"),
        (["2", "7"], "server 7 is no longer in the cluster; run the plan again"),
    ],
    ids=["moved", "gone"],
)
def test_server_that_has_moved_fails_at_once(api, wait, servers, words):
    finds(api, raw_cluster())
    with pytest.raises(NotHealthy) as raised:
        wait(timeout=600, zone="zone2", servers=servers)
    assert str(raised.value) == f"Cluster orders (id 31) is not healthy, and waiting does not help: {words}."


def test_zone_that_is_being_restarted_is_left_out(api, wait):
    busy = {"status": "RESTARTING", "innerStatus": "INACTIVE"}
    finds(
        api, raw_cluster(raw_server(1), raw_server(2, "zone2", **busy), raw_server(3, "zone3"), status="OPERATING"), OWN
    )
    apart = Apart("zone2", [8])
    assert wait(zone="zone2", servers=["2"], apart=apart)["problems"] == []


OWN = raw_task(8, name="Restart OB server")


def test_servers_missing_from_the_cluster_record_are_read(api, wait):
    older = raw_cluster()
    servers = [server for zone in older["zones"] for server in zone.pop("servers")]
    api.expect("clusters", "orders", gives=[older]).expect("servers", 31, gives=servers)
    api.expect("tasks", clusterId=31, gives=[])
    assert len(wait()["servers"]) == 3


@pytest.mark.parametrize("error", [LOST, RequestRefused("No.", status=503, reason="", url=URL)], ids=str)
def test_failed_poll_does_not_end_the_wait(error, api, wait):
    api.expect("clusters", "orders", gives=error)
    finds(api, raw_cluster())
    result = wait()
    assert result["warnings"] == [f"1 poll of the cluster failed; the wait went on. The last error: {error.what}"]
    assert "again" not in result["warnings"][0]
    unread = f"  orders: it cannot be read: {error.what.rstrip('.')}"
    assert wait.lines == [(unread, True), ("  orders: healthy after 0 s", False)]


@pytest.mark.parametrize("kind", [AuthenticationFailed, PermissionDenied, NotFound])
def test_permanent_error_ends_the_wait(kind, api, wait):
    api.expect("clusters", "orders", gives=kind("No.", status=400, reason="", url=URL))
    with pytest.raises(kind):
        wait()


def test_unknown_cluster_ends_the_wait(api, wait):
    api.expect("clusters", "orders", gives=[]).expect("clusters", gives=[])
    with pytest.raises(TargetError, match="cluster: orders matches nothing"):
        wait()


def test_min_zones_out_of_range_is_refused(wait):
    with pytest.raises(OptionError, match="min_zones: 0 is out of range"):
        wait(min_zones=0)


EVERY_SIGN = Watch(frozenset(Sign), 30)


def reads_signs(api, *, alarms=(), lag=0.1):
    now = BEGINNING.astimezone(UTC)
    api.double.service_clock = ServiceClock()
    begin = {"since": now - timedelta(seconds=120), "until": now}
    api.expect("lag_samples", "orders", **begin, gives=[{"timestamp": 1, LAG: lag}])
    api.expect("active_alarms", gives=list(alarms))
    api.expect("data_backups", 31, now - timedelta(days=7), gives=[])
    api.expect("tenant_restores", 31, now - timedelta(days=7), gives=[])


def test_signs_of_trouble_cost_four_requests_once_all_is_well(api, wait):
    finds(api, raw_cluster())
    reads_signs(api)
    assert wait(watch=EVERY_SIGN)["problems"] == []


def test_no_sign_is_read_of_a_cluster_that_is_ill_anyway(api, wait):
    finds(api, ILL)
    with pytest.raises(NotHealthy):
        wait(timeout=0, watch=EVERY_SIGN)


def test_sign_that_may_end_is_waited_for_and_named(api, wait):
    finds(api, raw_cluster())
    reads_signs(api, lag=40)
    with pytest.raises(NotHealthy) as raised:
        wait(timeout=0, watch=EVERY_SIGN)
    assert (
        "not healthy after 0 seconds: replicas of orders lag 40 seconds behind, more than max_lag=30 (stop_on: lag)."
        in (str(raised.value))
    )
    assert raised.value.facts["held"] is False


def test_new_alarm_ends_the_wait_at_once(api, wait, time_passes):
    finds(api, raw_cluster())
    reads_signs(api, alarms=[{"id": 12, "alarmType": "x", "labels": {"ob_cluster_name": "orders"}}])
    with pytest.raises(NotHealthy, match=r"waiting does not help: alarm 12 \(x\) is active \(stop_on: alarms\)\."):
        wait(watch=EVERY_SIGN)
    assert time_passes.pauses == []


def test_sign_that_is_not_shown_is_a_warning(api, wait):
    finds(api, raw_cluster())
    api.double.service_clock = ServiceClock()
    api.expect("active_alarms", gives=refused(403))
    warnings = wait(watch=Watch(frozenset({Sign.ALARMS}), 30))["warnings"]
    assert warnings == ["The service does not show alarms (status 403), so stop_on=alarms cannot check it."]


def test_cluster_that_stays_healthy_is_watched_to_the_end(api, wait):
    finds(api, raw_cluster())
    for _look in range(2):
        finds(api, raw_cluster(), again=True)
    finds(api, raw_cluster(), raw_task(9, name="Back up"), again=True)
    result = wait(timeout=1, soak=1)
    assert (result["elapsed"], wait.lines) == (1.0, [("  orders: task 9 (Back up) is RUNNING on cluster orders", True)])


def test_illness_while_it_is_watched_is_a_failure_at_once(api, wait):
    finds(api, raw_cluster())
    finds(api, raw_cluster(), again=True)
    finds(api, ILL, again=True)
    with pytest.raises(NotHealthy) as raised:
        wait(min_zones=None, soak=3600)
    assert str(raised.value) == (
        "Cluster orders (id 31) did not stay healthy for 3600 seconds; it is not healthy: server 10.1.0.2:2882 of "
        "zone2 is UNAVAILABLE. Check the cluster before you go on."
    )
    assert raised.value.facts["problems"]


def test_long_watch_shows_that_it_goes_on(api, wait):
    finds(api, raw_cluster())
    for _look in range(60):
        finds(api, raw_cluster(), again=True)
    api.finish = lambda: None
    wait(soak=HEARTBEAT_SECONDS + 1)
    assert wait.lines == [(f"  orders: healthy for {HEARTBEAT_SECONDS:.0f} s", False)]


def test_without_min_zones_each_zone_has_to_be_running(api, wait):
    stopped = raw_cluster()
    stopped["zones"][1]["status"] = "STOPPED"
    finds(api, stopped)
    finds(api, raw_cluster(), again=True)
    wait(min_zones=None)
    assert wait.lines[0] == ("  orders: zone zone2 of cluster orders is STOPPED", True)


HEALTHY_AGAIN = "  orders: healthy after 0 s"
LAGGING = Watch(frozenset({Sign.LAG}), 30)


def finds_lag(api, *found, again=True):
    for lag in found:
        finds(api, raw_cluster(), again=again)
        api.expect("lag_samples", "orders", since=ANY, until=ANY, gives=[{"timestamp": 1, LAG: lag}])


def test_sign_at_the_end_of_a_watch_has_to_pass(api, wait):
    """One that a wait may end stopped no watch, and did not count at its end."""
    api.double.service_clock = ServiceClock()
    finds_lag(api, 0.1, again=False)
    finds_lag(api, 0.1, 0.1, 40, 40, 0.1)
    result = wait(soak=1, watch=LAGGING)
    assert (result["problems"], [line for line, _failed in wait.lines]) == (
        [],
        ["  orders: replicas of orders lag 40 seconds behind, more than max_lag=30 (stop_on: lag)", HEALTHY_AGAIN],
    )


def test_sign_that_does_not_pass_after_a_watch_is_a_failure(api, wait):
    api.double.service_clock = ServiceClock()
    finds_lag(api, 0.1, again=False)
    finds_lag(api, *[40] * 6)
    with pytest.raises(NotHealthy, match=r"did not stay healthy for 1 second; .* lag 40 seconds behind"):
        wait(timeout=1, soak=1, watch=LAGGING)


def test_work_that_somebody_begins_hides_no_sign_from_a_watch(api, wait):
    api.double.service_clock = ServiceClock()
    alarms = [{"id": 12, "alarmType": "x", "labels": {"ob_cluster_name": "orders"}}]
    finds(api, raw_cluster())
    api.expect("active_alarms", gives=[])
    finds(api, raw_cluster(), raw_task(9, name="Back up"), again=True)
    api.expect("active_alarms", gives=alarms)
    with pytest.raises(NotHealthy, match=r"did not stay healthy for 60 seconds; .* alarm 12"):
        wait(soak=60, watch=Watch(frozenset({Sign.ALARMS}), 30))


def test_backup_that_begins_while_it_is_watched_is_work(api, wait):
    api.double.service_clock = ServiceClock()
    running = {"backupStatus": "DOING", "status": "DOING", "tenantName": "shop"}
    finds(api, raw_cluster())
    reads_backups(api)
    for _look in range(3):
        finds(api, raw_cluster(), again=True)
        reads_backups(api, running)
    assert wait(soak=1, watch=Watch(frozenset({Sign.BACKUP}), 30))["problems"]


def reads_backups(api, *backups):
    api.expect("data_backups", 31, ANY, gives=list(backups))
    api.expect("tenant_restores", 31, ANY, gives=[])


def test_watch_ends_with_an_answer(api, wait):
    """A service that did not answer at the end of a watch was healthy."""
    finds(api, raw_cluster())
    for _poll in range(4):
        api.expect("cluster", 31, gives=LOST)
    with pytest.raises(NotHealthy, match="did not stay healthy for 1 second; it is not healthy: it cannot be read"):
        wait(timeout=0, soak=1)


def test_server_that_is_at_work_at_the_end_of_a_watch_has_to_serve_again(api, wait):
    """Its status alone explained it, or any task that ran: the watch was green with a server down."""
    moving = raw_cluster(raw_server(1), raw_server(2, "zone2", status="STOPPING"), raw_server(3, "zone3"))
    finds(api, raw_cluster())
    for found in (moving, moving, moving, moving, raw_cluster()):
        finds(api, found, raw_task(9, name="Back up"), again=True)
    assert wait(soak=1)["problems"] == ["task 9 (Back up) is RUNNING on cluster orders"]


def test_server_that_stays_down_beside_a_task_fails_after_a_watch(api, wait):
    finds(api, raw_cluster())
    for _look in range(6):
        finds(api, ILL, raw_task(9, name="Back up"), again=True)
    with pytest.raises(
        NotHealthy, match=r"did not stay healthy for 1 second; .* 10\.1\.0\.2:2882 of zone2 is UNAVAILABLE"
    ):
        wait(timeout=1, soak=1, min_zones=None)


def test_page_of_a_proxy_is_no_answer_about_a_task_and_does_not_end_the_wait(api, wait):
    """It was taken for a task that is deleted, and holds nothing."""
    held = raw_cluster(raw_server(1), raw_server(2, "zone2", operatingTaskInstanceId=1001), raw_server(3, "zone3"))
    page = PageNotFound("Not found.", status=404, reason="", url=URL)
    finds(api, held)
    api.expect("task", 1001, gives=page)
    finds(api, held)
    api.expect("task", 1001, gives=raw_task(1001, "FAILED", subtasks=chain(step(1, "A"), step(2, "B", "FAILED"))))
    with pytest.raises(NotHealthy, match="waiting does not help: task 1001"):
        wait()


def test_page_of_another_service_ends_the_wait_at_first(api, wait):
    api.expect("clusters", "orders", gives=PageNotFound("Not found.", status=404, reason="", url=URL))
    with pytest.raises(PageNotFound):
        wait()
