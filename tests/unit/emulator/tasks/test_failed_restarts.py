# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a failed restart leaves behind, and what retry, skip and rollback make of it."""

from datetime import datetime, timedelta

START = "Start observer process"


def moment(text):
    return datetime.fromisoformat(text)


def test_failed_restart_leaves_its_target_down_and_occupied(emulated):
    before = emulated.server(2)
    task_id = emulated.failed_restart(START)
    server = emulated.server(2)
    assert (server["status"], server["innerStatus"]) == ("RESTARTING", "INACTIVE")
    assert server["startTime"] == before["startTime"]
    assert server["operatingTaskInstanceId"] == task_id
    assert emulated.cluster(1)["status"] == "OPERATING"
    error = emulated.error(409, "POST", "/api/v2/ob/clusters/1/restart")
    assert f"task {task_id} (Restart OB server), which has failed" in error["message"]
    assert emulated.restarts() == {}


def test_retry_finishes_the_restart_and_releases_the_target(emulated):
    task_id = emulated.failed_restart(START)
    task = emulated.steer(task_id, "retry").json()["data"]
    emulated.pass_time(9)
    server = emulated.server(2)
    assert (server["status"], server["innerStatus"]) == ("RUNNING", "ACTIVE")
    assert moment(server["startTime"]) == moment(task["startTime"]) + timedelta(seconds=13 + 1)
    assert "operatingTaskInstanceId" not in server
    assert emulated.cluster(1)["status"] == "RUNNING"
    assert emulated.restarts() == {("OB_SERVER", 2): 1}


def test_rollback_starts_the_stopped_server_again(emulated):
    task_id = emulated.failed_restart("Wait observer active")
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
    cluster = emulated.cluster(1)
    assert {cluster["status"], *(zone["status"] for zone in cluster["zones"])} == {"RUNNING"}
    assert emulated.restarts() == {("OB_SERVER", 2): 1}
    emulated.restart_server(2)


def test_server_is_not_started_when_its_stop_was_skipped(emulated):
    before = emulated.server(2)
    task_id = emulated.failed_restart("Stop observer process")
    emulated.steer(task_id, "skip", emulated.step(task_id, "Stop observer process")["id"])
    emulated.pass_time(20)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"
    after = emulated.server(2)
    assert (after["status"], after["startTime"]) == ("RUNNING", before["startTime"])
    assert emulated.restarts() == {}


def test_server_is_shown_as_stopped_when_its_start_was_skipped(emulated):
    task_id = emulated.failed_restart(START)
    emulated.steer(task_id, "skip", emulated.step(task_id, START)["id"])
    emulated.pass_time(20)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"
    server = emulated.server(2)
    assert (server["status"], server["innerStatus"]) == ("STOPPED", "INACTIVE")
    assert emulated.cluster(1)["status"] == "RUNNING"


def test_rolled_back_cluster_is_running_again(emulated):
    emulated.plan("fail", START)
    task_id = emulated.restart_cluster(1)["id"]
    emulated.pass_time(19)
    emulated.steer(task_id, "rollback")
    emulated.pass_time(19)
    cluster = emulated.cluster(1)
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
    assert {each["status"] for agent in agents for each in agent["processes"][:-1]} == {"STARTED"}
    assert emulated.restarts() == {("HOST", 2): 1}


def test_first_step_of_a_cluster_restart_can_fail(emulated):
    emulated.plan("fail", "Prepare restart cluster")
    task_id = emulated.restart_cluster(2)["id"]
    emulated.pass_time(1)
    assert emulated.task(task_id)["status"] == "FAILED"
