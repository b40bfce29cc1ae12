# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The rolling restart of one cluster in one process: its order, its end, its lines, and what is noted of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    ChangeStopped,
    NotHealthy,
    NotVerified,
    OcpError,
    TargetError,
    TaskFailed,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.failure_limit import FailureLimit
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling import cluster_run
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.cluster_run import (
    ClusterRun,
    end_run,
    roll_cluster,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import RollingRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.run_record import ENDS, FAILED, RunRecord
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.metric_limit import MetricLimit
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.sign_rules import Sign, Watch
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER, Thing, at

CHANGE = at(-600)


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "run.record"
    path.touch()
    return RunRecord(str(path), "orders+31", 2, 1, 0)


def fail_elsewhere(record):
    """Another cluster of the run fails."""
    cluster = {"cluster": {"id": 32, "name": "payments"}, "planned": 2, "left_alone": 1, "postponed": None}
    facts = {"results": [], "untouched": ["10.2.0.1:2882", "10.2.0.2:2882"], "elapsed": 1.0, "tasks": []}
    replace(record, host="payments+32").note(FAILED, 1, {"outcome": FAILED, "message": "no", **cluster, **facts})


@pytest.fixture
def roll(service):
    def run(
        *,
        strategy=Strategy.SERVER,
        servers=None,
        soak=0.0,
        record=None,
        check_mode=False,
        safety_timeout=60,
        steps=True,
        **asked,
    ):
        run.lines = []
        policy = PollPolicy(7200, 10, run.show, announce=run.show, steps=steps)
        since = asked.pop("since", CHANGE)
        restart = RestartRequest(
            check_mode, True, policy, since, safety=Safety(healthy=True), safety_timeout=safety_timeout, **asked
        )
        plan = RollingRequest(["orders"], None, servers, 1, strategy, since, change=restart.change, watch=restart.watch)
        return roll_cluster(service, ClusterRun(plan, restart, True, None, soak, record), service.time.clock)

    run.show = lambda line, _failed: run.lines.append(line)
    return run


def noted(record):
    """The ends in the record: the word, and the entry."""
    with Path(record.path).open() as file:
        found = [line.split(" ", 2) for line in file]
    return [(word, json.loads(entry)) for word, _seconds, entry in found if word in ENDS]


def restarted(service):
    return [sent[1] for _call, sent in service.posts]


def test_servers_restart_one_after_another_and_each_has_its_lines(service, roll, record):
    found = roll(record=record)
    assert restarted(service) == [41, 42, 43]
    assert [(one["name"], one["outcome"], one["task_id"]) for one in found["results"]] == [
        ("10.1.0.1:2882", "submitted", 1001),
        ("10.1.0.2:2882", "submitted", 1002),
        ("10.1.0.3:2882", "submitted", 1003),
    ]
    assert all(one["start_before"] < one["start_after"] and one["verified"] for one in found["results"])
    assert (found["changed"], found["planned"], found["left_alone"], found["untouched"]) == (True, 3, 0, [])
    assert (found["stopped"], found["postponed"], found["warnings"]) == (None, None, [])
    [(word, entry)] = noted(record)
    assert (word, entry["host"], entry["results"]) == ("ended", "orders+31", found["results"])
    own = [line.strip() for line in roll.lines if line.startswith("  orders: ")]
    assert own[1].startswith("orders: 2 of 3, 10.1.0.2:2882 (zone2) restarted in ")
    assert own[1].rpartition(", about ")[0].endswith(", 1 left")
    assert own[2].endswith(", 0 left")
    assert roll.lines[-1].startswith("  1 of 2 clusters, about ")
    assert all(len(line) <= 120 for line in roll.lines)


def test_metrics_from_before_the_change_are_read_once_for_the_run(service, roll):
    limits = [MetricLimit("sql_rt", rise=50)]
    found = roll(watch=Watch(frozenset({Sign.METRICS}), 5, limits=limits), safety_timeout=300)
    assert restarted(service) == [41, 42, 43]
    assert service.calls.count("metric_samples") == 1
    assert found["stopped"] is None


def test_metric_that_has_risen_since_the_change_stops_before_the_first_server(service, roll):
    """The plan reads what it was from the time before the change."""
    service.metric = lambda _name, instant: 10.0 if instant <= CHANGE.timestamp() else 20.0
    limits = [MetricLimit("sql_rt", rise=50)]
    with pytest.raises(OcpError, match="sql_rt of orders has risen from 10 to 20"):
        roll(watch=Watch(frozenset({Sign.METRICS}), 5, limits=limits), safety_timeout=1)
    assert restarted(service) == []


def test_second_run_leaves_all_alone_in_one_line_and_with_steps_with_each_reason(service, roll, record):
    roll()
    service.posts.clear()
    again = roll(record=record, steps=False)
    assert (service.posts, again["changed"], again["planned"], again["left_alone"]) == ([], False, 0, 3)
    assert roll.lines[:-1] == ["  orders: 0 to restart, 3 left alone"]
    roll(record=record)
    assert [line for line in roll.lines if "left alone: 10.1.0.2:2882 started at " in line]
    assert len([line for line in roll.lines if "orders: left alone: " in line]) == 3


def test_zone_is_one_request(service, roll):
    service.servers_there.append(Thing(44, 54, "zone1"))
    found = roll(strategy=Strategy.ZONE)
    assert service.posts == [("zone", (31, zone)) for zone in ("zone1", "zone2", "zone3")]
    assert [one["task_id"] for one in found["results"]] == [1001, 1001, 1002, 1003]
    assert all(one["start_before"] < one["start_after"] for one in found["results"])


def test_check_mode_plans_alone(service, roll, record):
    found = roll(check_mode=True, record=record)
    assert (service.posts, found["changed"], found["planned"]) == ([], True, 3)
    assert found["untouched"] == ["10.1.0.1:2882", "10.1.0.2:2882", "10.1.0.3:2882"]
    assert noted(record) == []


def test_failed_restart_ends_it_and_only_the_record_has_the_task(service, roll, record):
    service.end = "FAILED"
    with pytest.raises(TaskFailed) as raised:
        roll(record=record)
    assert restarted(service) == [41]
    facts = raised.value.facts
    assert (facts["changed"], facts["failed_task_ids"], facts["untouched"]) == (
        True,
        [1001],
        ["10.1.0.2:2882", "10.1.0.3:2882"],
    )
    assert [one["outcome"] for one in facts["results"]] == ["failed"]
    assert "task" not in facts
    assert "tasks" not in facts
    [(word, entry)] = noted(record)
    assert (word, [task["id"] for task in entry["tasks"]]) == ("failed", [1001])
    assert entry["message"] == str(raised.value)


def test_ill_cluster_is_not_touched(service, roll, record):
    service.servers_there[1].status = "STOPPED"
    with pytest.raises(NotHealthy, match=r"^Cluster orders \(id 31\) is not healthy: "):
        roll(record=record)
    assert service.posts == []
    assert noted(record)[0][0] == "failed"


def test_restart_that_runs_already_is_awaited(service, roll):
    service.begin(SERVER, [service.servers_there[0]], seconds=30)
    found = roll()
    assert restarted(service) == [42, 43]
    assert [one["task_id"] for one in found["results"]][-2:] == [1002, 1003]


def test_cluster_that_falls_ill_at_its_end_fails(service, roll):
    def fall_ill():
        if len(service.posts) == 3:
            service.servers_there[0].inner_status = "INACTIVE"

    service.after_restart = fall_ill
    with pytest.raises((NotHealthy, NotVerified)):
        roll()


def test_canary_is_watched_after_its_restarts_alone(service, roll):
    before = service.now
    roll(soak=900.0)
    assert service.now - before > 900
    before = service.now
    roll(soak=900.0)
    assert service.now - before < 60


def test_canary_that_others_wait_for_is_watched_also_if_an_earlier_run_restarted_it(service, roll, record):
    """That run may have ended in its watch."""
    roll()
    before = service.now
    roll(soak=900.0, record=record)
    assert service.now - before >= 900


def test_canary_that_is_left_for_the_next_run_is_watched_there(service, roll, record):
    before = service.now
    assert roll(finish_before=at(-60), soak=900.0, record=record)["postponed"]
    assert service.now - before < 60


def test_server_that_joins_meanwhile_is_no_success(service, roll):
    def join():
        if len(service.servers_there) == 3:
            service.servers_there.append(Thing(44, 54, "zone1"))

    service.after_restart = join
    with pytest.raises(NotVerified, match=r"were not restarted, but should have been: 10\.1\.0\.4:2882 \(.*before"):
        roll()
    # It is not asked for.
    service.after_restart = lambda: None
    assert roll(servers=["41", "42", "43"])["planned"] == 0


def test_fresh_servers_of_a_zone_that_another_joins_are_not_named(service, roll):
    service.servers_there[0].started = -300.0

    def join():
        if len(service.servers_there) == 3:
            service.servers_there.append(Thing(44, 54, "zone1"))

    service.after_restart = join
    with pytest.raises(NotVerified, match=r"should have been: 10\.1\.0\.4:2882 \(") as raised:
        roll(strategy=Strategy.ZONE)
    assert "10.1.0.1:2882" not in str(raised.value)
    assert [sent for _call, sent in service.posts] == [(31, "zone2"), (31, "zone3")]


def test_run_that_failed_elsewhere_begins_nothing(service, roll, record):
    record = replace(record, clusters=3)
    fail_elsewhere(record)
    found = roll(record=record)
    assert (service.calls, found["changed"], found["cluster"]) == ([], False, {"id": None, "name": "orders"})
    # By the name of its host, since the option may be its id.
    assert roll.lines[-1].endswith("(orders+31 stopped)")
    assert "1 of 3 clusters of this run failed, and max_failures=0" in found["stopped"]
    assert noted(record)[1][0] == "stopped"


def test_last_cluster_ends_the_run_with_a_table_and_its_document(roll, record):
    fail_elsewhere(replace(record, most=1))
    roll(record=replace(record, most=1))
    rows = [line.split() for line in roll.lines[-4:]]
    assert rows[0][:6] == ["orders", "ok", "3", "of", "3", "restarted"]
    assert rows[1][:6] == ["payments", "FAILED", "0", "of", "2", "restarted"]
    servers = "servers: 3 restarted, 1 left alone, 2 not touched, 0 failed"
    assert roll.lines[-2] == f"  2 clusters: 1 ok, 1 failed, 0 stopped or not begun; {servers}"
    assert roll.lines[-1].startswith("  When the cause is gone, run the same command again: ")
    [left] = Path(record.path).parent.iterdir()
    written = json.loads(left.read_text())
    assert (left.suffix, [one["host"] for one in written["clusters"]]) == (".json", ["payments+32", "orders+31"])
    assert (written["started_before"], written["not_begun"]) == (CHANGE.isoformat(), [])


def test_run_of_which_all_went_well_ends_with_its_counts_alone(roll, record):
    roll(record=replace(record, clusters=1))
    servers = "servers: 3 restarted, 0 left alone, 0 failed"
    assert roll.lines[-1] == f"  1 cluster: 1 ok, 0 failed, 0 stopped or not begun; {servers}"
    assert not [line for line in roll.lines if " ok   " in line or "of 1 cluster" in line]


def test_run_that_no_other_cluster_begins_is_ended_once(roll, record):
    """The clusters after a canary do so, side by side."""
    record = replace(record, clusters=3)
    roll(record=record, finish_before=at(-60))
    plan = RollingRequest(["payments"], None, None, 1, Strategy.SERVER, None, change="memory")
    run = ClusterRun(plan, RestartRequest(False, True, PollPolicy(60, 10, announce=roll.show)), True, record=record)
    roll.lines.clear()
    assert end_run(run, ["orders+31", "b", "c"])["changed"] is False
    assert re.search(
        r"; left for the next run, since it would not be done before .*: 10\.1\.0\.1:2882, ", roll.lines[0]
    )
    assert roll.lines[1] == "  not begun, since canaries are left for the next run: b, c"
    servers = "servers: 0 restarted, 0 left alone, 3 left for the next run, 0 failed"
    assert roll.lines[2] == f"  3 clusters: 1 ok, 0 failed, 2 stopped or not begun; {servers}"
    roll.lines.clear()
    end_run(run, ["orders+31", "b", "c"])
    assert roll.lines == []


def test_run_that_fails_meanwhile_stops_between_servers(service, roll, record):
    service.after_restart = lambda: fail_elsewhere(record) if len(service.posts) == 2 else None
    found = roll(record=record)
    assert (restarted(service), found["untouched"]) == ([41, 42], ["10.1.0.3:2882"])
    assert found["changed"]


def test_change_that_failed_elsewhere_stops(service, roll, record):
    service.begin(SERVER, [Thing(901, 901)], ago=300, of_cluster=99, end="FAILED", seconds=1)
    limit = FailureLimit(0)
    found = roll(failures=limit, record=record)
    assert (service.posts, found["results"]) == ([], [])
    assert "1 target of this change is held by a FAILED restart" in found["stopped"]
    with pytest.raises(ChangeStopped):
        roll(failures=limit)
    assert roll(failures=replace(limit, judged=frozenset([1001])))["changed"]


def test_what_would_not_be_done_in_time_is_left(service, roll, record):
    found = roll(finish_before=at(-60), record=record)
    assert (service.posts, len(found["untouched"])) == ([], 3)
    assert found["postponed"]
    assert noted(record)[0][0] == "ended"


def test_what_a_person_restarts_after_the_run_has_begun_counts_for_its_name(service, roll):
    """The run is killed at its first server, a person restarts the second one, and the same name goes on."""
    named = {"since": None, "change": "memory-2"}
    show = roll.show

    def killed_after_the_first(line, failed):
        show(line, failed)
        if "1 of 3" in line:
            raise KeyboardInterrupt

    roll.show = killed_after_the_first
    with pytest.raises(KeyboardInterrupt):
        roll(**named)
    roll.show = show
    service.begin(SERVER, [thing for thing in service.servers_there if thing.id == 42])
    service.passes(120)
    found = roll(**named)
    assert restarted(service) == [41, 43]
    assert (found["planned"], found["left_alone"]) == (1, 2)


def test_name_of_a_rolling_restart_begins_for_the_servers_of_its_scope_alone(service, roll):
    roll(since=None, change="memory-2", servers=["10.1.0.1:2882"])
    service.begin(SERVER, [thing for thing in service.servers_there if thing.id == 42])
    service.passes(120)
    assert roll(since=None, change="memory-2", servers=["10.1.0.2:2882"])["planned"] == 1
    assert restarted(service) == [41, 42]


@pytest.mark.parametrize(
    ("servers", "started", "planned"),
    [
        pytest.param(None, 400.0, 0, id="and has started since, by the clocks"),
        pytest.param(None, -3600.0, 1, id="and has run since before"),
        pytest.param(["42"], 400.0, 1, id="to a cluster that the name was not used for as a whole"),
    ],
)
def test_server_that_was_added_since_the_name_was_used_for_its_cluster(servers, started, planned, service, roll):
    """The name has begun for the cluster, so clocks decide about a server that has joined since."""
    named = {"since": None, "change": "memory-2"}
    roll(servers=servers, **named)
    before = len(service.posts)
    service.passes(600)
    service.servers_there.append(Thing(44, 54, "zone2", started=started))
    found = roll(servers=None if servers is None else ["44"], **named)
    assert (found["planned"], len(service.posts) - before) == (planned, planned)


@pytest.mark.parametrize("seconds", [20.0, 50.0])
def test_list_that_is_behind_after_a_restart_is_waited_for(seconds, service, roll):
    service.list_lags = seconds
    roll(safety_timeout=0)
    assert restarted(service) == [41, 42, 43]


def test_server_whose_id_has_another_address_by_its_turn_is_not_restarted(service, roll):
    """Its host was replaced while the run waited: nobody named the address that the id has now."""
    show = roll.show

    def replaced(line, failed):
        show(line, failed)
        if "1 of 3" in line:
            service.moved_to[42] = "10.1.0.9"

    roll.show = replaced
    with pytest.raises(TargetError, match=r"server: 10\.1\.0\.2:2882 matches nothing"):
        roll()
    assert restarted(service) == [41]


def test_last_look_waits_out_an_answer_that_is_behind(service, roll, monkeypatch):
    gate, last = cluster_run.await_health, service.servers_there[2]

    def then_behind(*args, **options):
        found = gate(*args, **options)
        last.status, until = "RESTARTING", service.now + 20
        service.time.after_sleep = lambda: setattr(last, "status", None) if service.now > until else None
        return found

    monkeypatch.setattr(cluster_run, "await_health", then_behind)
    assert roll(safety_timeout=0)["untouched"] == []


def test_restart_by_somebody_else_that_only_its_task_proves_is_remembered(roll, service):
    """It began too near to the change for the clock of a host, and OCP forgets its task."""
    service.begin(SERVER, [service.servers_there[1]], ago=30.0)
    service.passes(60)
    change = at(service.now - 100)
    roll(since=change)
    service.passes(86400)
    service.jobs.clear()
    again = roll(since=change)
    assert (again["changed"], len(service.posts)) == (False, 2)


@pytest.mark.parametrize("check_mode", [False, True])
def test_restart_by_somebody_else_is_remembered_by_a_run_that_stops_half_way(check_mode, roll, service):
    """But not in check mode."""
    service.begin(SERVER, [service.servers_there[1]], ago=30.0)
    service.passes(60)
    change = at(service.now - 100)
    service.end = "FAILED"
    if check_mode:
        roll(since=change, check_mode=True)
    else:
        with pytest.raises(TaskFailed):
            roll(since=change)
    noted = journal_here().entries()["requests"]
    assert [row["witnessed"] for row in noted] == ([] if check_mode else [True, False])
