# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The control API: the plan of faults, the clock, the count of restarts, and what a task that failed leaves behind."""

from datetime import datetime, timedelta

import pytest

START = "Start observer process"
FAULTS, CLOCK = "/emulator/faults", "/emulator/clock"


def moment(text):
    return datetime.fromisoformat(text)


def fail_server(emulated, step=START, server=2):
    """A restart of a server that has failed at a step; the task id."""
    emulated.plan("fail", step)
    task_id = emulated.restart_server(server)["id"]
    emulated.pass_time(13)
    assert emulated.task(task_id)["status"] == "FAILED"
    return task_id


def test_failed_restart_leaves_its_target_down_and_occupied(emulated):
    before = emulated.server(2)
    task_id = fail_server(emulated)
    server = emulated.server(2)
    assert (server["status"], server["innerStatus"]) == ("RESTARTING", "INACTIVE")
    assert server["startTime"] == before["startTime"]
    assert server["operatingTaskInstanceId"] == task_id
    assert emulated.get("/api/v2/ob/clusters/1")["status"] == "OPERATING"
    error = emulated.error(409, "POST", "/api/v2/ob/clusters/1/restart")
    assert f"task {task_id} (Restart OB server), which has failed" in error["message"]
    assert emulated.restarts() == {}


def test_retry_finishes_the_restart_and_releases_the_target(emulated):
    task_id = fail_server(emulated)
    task = emulated.steer(task_id, "retry").json()["data"]
    emulated.pass_time(9)
    server = emulated.server(2)
    assert (server["status"], server["innerStatus"]) == ("RUNNING", "ACTIVE")
    assert moment(server["startTime"]) == moment(task["startTime"]) + timedelta(seconds=13 + 1)
    assert "operatingTaskInstanceId" not in server
    assert emulated.get("/api/v2/ob/clusters/1")["status"] == "RUNNING"
    assert emulated.restarts() == {("OB_SERVER", 2): 1}


def test_rollback_starts_the_stopped_server_again(emulated):
    task_id = fail_server(emulated, "Wait observer active")
    assert emulated.restarts() == {("OB_SERVER", 2): 1}
    started = emulated.server(2)["startTime"]
    emulated.steer(task_id, "rollback")
    emulated.pass_time(2)
    # The start step is rolled back: the process is stopped.
    server = emulated.server(2)
    assert (server["status"], server["innerStatus"], server["startTime"]) == ("RESTARTING", "INACTIVE", started)
    emulated.pass_time(1)
    server = emulated.server(2)
    assert (server["innerStatus"], server["operatingTaskInstanceId"]) == ("ACTIVE", task_id)
    assert moment(server["startTime"]) == moment(started) + timedelta(seconds=8 + 3)
    emulated.pass_time(3)
    server = emulated.server(2)
    assert (server["status"], server["stopTime"]) == ("RUNNING", "1970-01-01T08:00:00+08:00")
    assert "operatingTaskInstanceId" not in server
    cluster = emulated.get("/api/v2/ob/clusters/1")
    assert {cluster["status"], *(zone["status"] for zone in cluster["zones"])} == {"RUNNING"}
    assert emulated.restarts() == {("OB_SERVER", 2): 1}
    emulated.restart_server(2)


def test_server_is_not_started_when_its_stop_was_skipped(emulated):
    before = emulated.server(2)
    task_id = fail_server(emulated, "Stop observer process")
    emulated.steer(task_id, "skip", emulated.step(task_id, "Stop observer process")["id"])
    emulated.pass_time(20)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"
    after = emulated.server(2)
    assert (after["status"], after["startTime"]) == ("RUNNING", before["startTime"])
    assert emulated.restarts() == {}


def test_server_is_shown_as_stopped_when_its_start_was_skipped(emulated):
    task_id = fail_server(emulated)
    emulated.steer(task_id, "skip", emulated.step(task_id, START)["id"])
    emulated.pass_time(20)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"
    server = emulated.server(2)
    assert (server["status"], server["innerStatus"]) == ("STOPPED", "INACTIVE")
    assert emulated.get("/api/v2/ob/clusters/1")["status"] == "RUNNING"


def test_rolled_back_cluster_is_running_again(emulated):
    emulated.plan("fail", START)
    task_id = emulated.restart_cluster(1)["id"]
    emulated.pass_time(19)
    emulated.steer(task_id, "rollback")
    emulated.pass_time(19)
    cluster = emulated.get("/api/v2/ob/clusters/1")
    parts = [*cluster["zones"], *(server for zone in cluster["zones"] for server in zone["servers"])]
    assert {cluster["status"], *(part["status"] for part in parts)} == {"RUNNING"}
    assert {part["innerStatus"] for part in parts} == {"ACTIVE"}
    assert emulated.restarts() == {}


def test_rolled_back_agents_are_available_again(emulated):
    emulated.plan("fail", match={"subtask": "Start all OCP agent processes", "element": 1})
    task_id = emulated.restart_agents(1, 2)["id"]
    emulated.pass_time(9)
    agents = [emulated.get(f"/api/v2/compute/hosts/{host}/agent") for host in (1, 2)]
    assert [agent["status"] for agent in agents] == ["RESTARTING"] * 2
    assert [{each["status"] for each in agent["processes"][:3]} for agent in agents] == [{"STOPPED"}, {"STARTED"}]
    emulated.error(409, "POST", "/compute/hosts/batchRestartAgents", json={"hostIds": [2]})
    emulated.steer(task_id, "rollback")
    emulated.pass_time(9)
    agents = [emulated.get(f"/api/v2/compute/hosts/{host}/agent") for host in (1, 2)]
    assert [agent["status"] for agent in agents] == ["AVAILABLE"] * 2
    assert {each["status"] for agent in agents for each in agent["processes"]} == {"STARTED"}
    assert emulated.restarts() == {("HOST", 2): 1}


def test_restarts_are_counted_for_each_target(emulated):
    for begin, seconds in (
        (lambda: emulated.restart_cluster(2), 19),
        (lambda: emulated.restart_server(7), 13),
        (lambda: emulated.restart_arbitration(1), 5),
        (lambda: emulated.restart_agents(3), 9),
    ):
        begin()
        emulated.pass_time(seconds)
    assert emulated.restarts() == {
        ("ARBITRATION_SERVICE", 1): 1,
        ("HOST", 3): 1,
        ("OB_CLUSTER", 2): 1,
        **{("OB_SERVER", server): 2 if server == 7 else 1 for server in (7, 8, 9)},
        **{("OB_ZONE", zone): 1 for zone in (4, 5, 6)},
    }
    names = {each["name"] for each in emulated.get("/emulator/restarts")["contents"]}
    assert {"payments", "payments/zone1", "10.0.0.7:2882", "10.0.0.3", "10.0.0.10:2888"} <= names


@pytest.mark.parametrize(
    ("match", "hit"),
    [
        ({}, True),
        ({"task": "restart ob SERVER"}, True),
        ({"task": "Restart OB cluster"}, False),
        ({"taskId": 1001}, True),
        ({"taskId": 1002}, False),
        ({"subtask": "start observer process"}, True),
        ({"subtask": "observer"}, False),
        ({"element": 2}, True),
        ({"element": "3"}, False),
        ({"operation": "EXECUTE"}, True),
        ({"operation": "RETRY"}, False),
        ({"operation": "ROLLBACK"}, False),
        ({"task": "Restart OB server", "subtask": START, "element": "2", "operation": "EXECUTE"}, True),
        ({"task": "Restart OB server", "subtask": START, "element": "1"}, False),
    ],
)
def test_fault_hits_only_matching_subtasks(emulated, match, hit):
    emulated.plan("fail", match=match)
    task_id = emulated.restart_server(2)["id"]
    emulated.pass_time(13)
    assert emulated.task(task_id)["status"] == ("FAILED" if hit else "SUCCESSFUL")
    (fault,) = emulated.get(FAULTS)["contents"]
    assert fault["hits"] == hit


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        ({"action": "slow", "seconds": 5}, 18),
        ({"action": "slow", "factor": 2}, 13.9),
        ({"action": "slow", "factor": 2, "seconds": 1}, 14.9),
        ({"action": "slow", "factor": 0}, 12.1),
        ({"action": "slow", "factor": 2, "times": 3, "match": {}}, 15.7),
    ],
)
def test_slow_fault_extends_a_step_by_factor_and_seconds(emulated, fault, seconds):
    emulated.plan(**{"subtask": START, **fault})
    task = emulated.restart_server(2)
    emulated.pass_time(100)
    end = emulated.task(task["id"])
    assert moment(end["finishTime"]) - moment(end["startTime"]) == timedelta(seconds=seconds)


def test_faults_hit_in_order_and_as_often_as_planned(emulated):
    first = emulated.plan("fail", START, times=2, message="first")
    second = emulated.plan("fail", START, times=None, message="second")
    task_id = fail_server(emulated)
    step = emulated.step(task_id, START)["id"]
    for _retry in range(4):
        emulated.steer(task_id, "retry")
        emulated.pass_time(1)
    reasons = [line.rpartition(" ")[2] for line in emulated.log(task_id, step) if "failed:" in line]
    assert reasons == ["first", "first", "second", "second", "second"]
    hits = {fault["id"]: fault["hits"] for fault in emulated.get(FAULTS)["contents"]}
    assert (hits[first["id"]], hits[second["id"]]) == (2, 3)
    assert emulated.request("DELETE", f"{FAULTS}/{second['id']}").status_code == 200
    assert second["id"] not in {fault["id"] for fault in emulated.get(FAULTS)["contents"]}
    emulated.request("DELETE", FAULTS)
    assert emulated.get(FAULTS) == {"contents": []}
    emulated.steer(task_id, "retry")
    emulated.pass_time(10)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"


def test_first_step_of_a_cluster_restart_can_fail(emulated):
    emulated.plan("fail", "Prepare restart cluster")
    task_id = emulated.restart_cluster(2)["id"]
    emulated.pass_time(1)
    assert emulated.task(task_id)["status"] == "FAILED"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "'kind'"),
        ({"kind": "network", "action": "fail"}, "'kind'"),
        ({"kind": "subtask"}, "'action'"),
        ({"kind": "subtask", "action": "explode"}, "'action'"),
        ({"kind": "subtask", "action": "fail", "times": 0}, "'times'"),
        ({"kind": "subtask", "action": "fail", "times": 1.5}, "'times'"),
        ({"kind": "subtask", "action": "fail", "factor": 2}, "slow"),
        ({"kind": "subtask", "action": "slow"}, "factor"),
        ({"kind": "subtask", "action": "slow", "factor": -1}, "'factor'"),
        ({"kind": "subtask", "action": "stall", "message": "x"}, "message"),
        ({"kind": "subtask", "action": "fail", "match": {"host": 1}}, "'match.host'"),
        ({"kind": "subtask", "action": "fail", "match": {"operation": "SKIP"}}, "'match.operation'"),
        ({"kind": "subtask", "action": "fail", "colour": "red"}, "'colour'"),
    ],
)
def test_invalid_fault_is_400_and_named(emulated, body, named):
    assert named in emulated.error(400, "POST", FAULTS, json=body)["message"]
    assert emulated.get(FAULTS) == {"contents": []}


def test_stopped_clock_moves_only_when_advanced(emulated):
    begin = moment(emulated.get(CLOCK)["time"])
    assert emulated.data("PUT", CLOCK, json={"running": False})["running"] is False
    task_id = emulated.restart_server(1)["id"]
    emulated.pass_time(3_600)
    assert moment(emulated.get(CLOCK)["time"]) == begin
    assert moment(emulated.get("/api/v2/time")) == begin
    assert emulated.steps(task_id)[0]["status"] == "READY"
    state = emulated.data("POST", f"{CLOCK}/advance", json={"seconds": 12.9})
    assert moment(state["time"]) == begin + timedelta(seconds=12.9)
    assert emulated.task(task_id)["status"] == "RUNNING"
    emulated.data("POST", f"{CLOCK}/advance", json={"seconds": 0.1})
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"
    assert emulated.data("PUT", CLOCK, json={"running": True})["running"] is True
    emulated.pass_time(5)
    assert moment(emulated.get(CLOCK)["time"]) == begin + timedelta(seconds=18)


def test_advancing_a_running_clock_keeps_the_machine_clock_unchanged(emulated):
    begin = moment(emulated.get(CLOCK)["time"])
    emulated.data("POST", f"{CLOCK}/advance", json={"seconds": 7_200})
    emulated.pass_time(1)
    assert moment(emulated.get(CLOCK)["time"]) == begin + timedelta(seconds=7_201)
    service = emulated.app.state.service
    assert service.machine_clock.now() == service.clock.now() - 7_200_000


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", CLOCK, {}),
        ("PUT", CLOCK, {"running": "no"}),
        ("PUT", CLOCK, {"running": True, "time": 1}),
        ("POST", f"{CLOCK}/advance", {}),
        ("POST", f"{CLOCK}/advance", {"seconds": -1}),
        ("POST", f"{CLOCK}/advance", {"seconds": "1"}),
        ("POST", f"{CLOCK}/advance", {"seconds": 1e12}),
    ],
)
def test_invalid_clock_request_is_400(emulated, method, path, body):
    emulated.error(400, method, path, json=body)


def test_clock_cannot_advance_past_the_last_valid_date(emulated):
    answers = {
        emulated.request("POST", f"{CLOCK}/advance", json={"seconds": 3.15e8}).status_code for _year in range(805)
    }
    assert answers == {200, 400}
    assert emulated.get(CLOCK)["time"].startswith("99")


def test_faults_clock_and_failed_tasks_survive_a_process_restart(start, tmp_path):
    emulated = start(database=tmp_path / "state.db")
    task_id = fail_server(emulated)
    emulated.plan("stall", START)
    emulated.data("PUT", CLOCK, json={"running": False})
    before = emulated.get(CLOCK), emulated.get(FAULTS), emulated.task(task_id), emulated.restarts()
    emulated.app.state.service.close()
    emulated.pass_time(500)
    again = start(database=tmp_path / "state.db")
    assert (again.get(CLOCK), again.get(FAULTS), again.task(task_id), again.restarts()) == before
    again.steer(task_id, "retry")
    again.data("POST", f"{CLOCK}/advance", json={"seconds": 1200})
    assert again.step(task_id, START)["status"] == "RUNNING"
    again.data("POST", f"{CLOCK}/advance", json={"seconds": 0.1})
    assert again.step(task_id, START)["operation"] == "CANCEL"
