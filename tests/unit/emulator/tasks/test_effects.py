# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a restart does to the fleet, step by step, as the reads show it."""

from datetime import datetime, timedelta

import pytest

NEVER = "1970-01-01T08:00:00+08:00"


def moment(text):
    return datetime.fromisoformat(text)


def cluster_states(emulated, cluster):
    """The status of a cluster, and of its zones."""
    found = emulated.cluster(cluster)
    return found["status"], [zone["status"] for zone in found["zones"]]


def test_a_server_goes_down_and_comes_back_step_by_step(emulated):
    before = emulated.server(2)
    assert (before["status"], before["innerStatus"], before["stopTime"]) == ("RUNNING", "ACTIVE", NEVER)
    assert "operatingTaskInstanceId" not in before
    task = emulated.restart_server(2)
    begin = moment(task["startTime"])

    def after(steps):
        emulated.clock.instant = int((begin + timedelta(seconds=steps)).timestamp() * 1000)
        return emulated.server(2)

    at_once = after(0)
    assert (at_once["status"], at_once["innerStatus"]) == ("RESTARTING", "ACTIVE")
    assert at_once["operatingTaskInstanceId"] == task["id"]
    assert after(3.9)["stopTime"] == NEVER
    stopped = after(4)
    assert (stopped["status"], stopped["innerStatus"]) == ("RESTARTING", "INACTIVE")
    assert moment(stopped["stopTime"]) == begin + timedelta(seconds=4)
    assert stopped["startTime"] == before["startTime"]
    assert after(4.9)["startTime"] == before["startTime"]
    started = after(5)
    assert moment(started["startTime"]) == begin + timedelta(seconds=5)
    assert started["innerStatus"] == "INACTIVE"
    assert after(6)["innerStatus"] == "ACTIVE"
    assert after(7.9)["stopTime"] != NEVER
    assert after(8)["stopTime"] == NEVER
    assert after(9.9)["status"] == "RESTARTING"
    assert after(10)["status"] == "RUNNING"
    assert after(12.9)["operatingTaskInstanceId"] == task["id"]
    end = after(13)
    assert "operatingTaskInstanceId" not in end
    assert (end["status"], end["innerStatus"], end["stopTime"]) == ("RUNNING", "ACTIVE", NEVER)
    assert moment(end["startTime"]) == begin + timedelta(seconds=5)
    assert moment(end["updateTime"]) == begin + timedelta(seconds=10)


def test_zone_and_cluster_are_operating_during_a_server_restart(emulated):
    emulated.restart_server(2)
    assert cluster_states(emulated, 1) == ("OPERATING", ["OPERATING", "RUNNING", "RUNNING"])
    assert cluster_states(emulated, 2) == ("RUNNING", ["RUNNING"] * 3)
    emulated.pass_time(11)
    assert cluster_states(emulated, 1) == ("OPERATING", ["RUNNING"] * 3)
    emulated.pass_time(2)
    assert cluster_states(emulated, 1) == ("RUNNING", ["RUNNING"] * 3)


def test_zone_and_cluster_stay_operating_until_the_last_restart_ends(emulated):
    emulated.restart_server(1)
    emulated.pass_time(4)
    emulated.restart_server(2)
    emulated.pass_time(9)
    assert cluster_states(emulated, 1) == ("OPERATING", ["OPERATING", "RUNNING", "RUNNING"])
    emulated.pass_time(4)
    assert cluster_states(emulated, 1) == ("RUNNING", ["RUNNING"] * 3)


def test_server_restart_leaves_other_servers_unchanged(emulated):
    before = {number: emulated.server(number) for number in (1, 3, 7)}
    task = emulated.restart_server(2)
    emulated.pass_time(8)
    assert {number: emulated.server(number) for number in before} == before
    cluster = emulated.cluster(1)
    assert "operatingTaskInstanceId" not in cluster
    assert all("operatingTaskInstanceId" not in zone for zone in cluster["zones"])
    assert cluster["zones"][0]["servers"][1]["operatingTaskInstanceId"] == task["id"]


def test_cluster_restart_restarts_all_its_servers(emulated):
    before = emulated.cluster(1)
    task = emulated.restart_cluster(1)
    at_once = emulated.cluster(1)
    parts = [at_once, *at_once["zones"], *(server for zone in at_once["zones"] for server in zone["servers"])]
    assert len(parts) == 1 + 3 + 6
    assert {part["status"] for part in parts} == {"RESTARTING"}
    assert {part["operatingTaskInstanceId"] for part in parts} == {task["id"]}
    assert at_once["obStartTime"] == before["obStartTime"]

    emulated.pass_time(6)
    stopped = emulated.cluster(1)
    assert {zone["innerStatus"] for zone in stopped["zones"]} == {"INACTIVE"}
    assert {server["innerStatus"] for zone in stopped["zones"] for server in zone["servers"]} == {"INACTIVE"}

    emulated.pass_time(13)
    end = emulated.cluster(1)
    parts = [end, *end["zones"], *(server for zone in end["zones"] for server in zone["servers"])]
    assert {part["status"] for part in parts} == {"RUNNING"}
    assert not any("operatingTaskInstanceId" in part for part in parts)
    assert {part["innerStatus"] for part in parts[1:]} == {"ACTIVE"}
    started = moment(task["startTime"]) + timedelta(seconds=8)
    assert {moment(server["startTime"]) for server in parts[4:]} == {started}
    assert moment(end["obStartTime"]) == started


def test_server_restart_keeps_the_cluster_start_time(emulated):
    before = emulated.cluster(1)["obStartTime"]
    emulated.restart_server(1)
    emulated.pass_time(13)
    assert emulated.cluster(1)["obStartTime"] == before


def pids(agent):
    return {process["alias"]: process["pid"] for process in agent["processes"] if process["operable"] is False}


def test_an_agent_restart_changes_its_processes_step_by_step(emulated):
    agent = "/api/v2/compute/hosts/4/agent"
    host = "/api/v2/compute/hosts/4"
    before = emulated.get(agent)
    assert set(pids(before)) == {"ocp_mgragent", "ocp_monagent", "ocp_agentd", "pos_proxy"}
    assert (before["status"], emulated.get(host)["hostAgentStatus"]) == ("AVAILABLE", "AVAILABLE")
    emulated.restart_agents(4)
    assert (emulated.get(agent)["status"], emulated.get(host)["hostAgentStatus"]) == ("RESTARTING", "RESTARTING")
    assert pids(emulated.get(agent)) == pids(before)

    emulated.pass_time(3)
    proxied = pids(emulated.get(agent))
    assert [alias for alias, pid in proxied.items() if pid != pids(before)[alias]] == ["pos_proxy"]

    emulated.pass_time(2)
    stopped = {process["alias"]: process for process in emulated.get(agent)["processes"]}
    assert stopped["pos_proxy"]["status"] == "STARTED"
    for alias in ("ocp_mgragent", "ocp_monagent", "ocp_agentd"):
        assert (stopped[alias]["status"], stopped[alias]["pid"]) == ("STOPPED", 0)

    emulated.pass_time(2)
    started = emulated.get(agent)
    assert [process["status"] for process in started["processes"]] == ["STARTED"] * 4 + ["STOPPED"]
    assert not set(pids(started).values()) & set(pids(before).values())
    assert started["status"] == "RESTARTING"

    emulated.pass_time(2)
    end = emulated.get(agent)
    assert (end["status"], emulated.get(host)["hostAgentStatus"]) == ("AVAILABLE", "AVAILABLE")
    elapsed = {process["alias"]: process["elapsedTime"] for process in end["processes"]}
    assert elapsed == {"ocp_mgragent": 2, "ocp_monagent": 2, "ocp_agentd": 2, "pos_proxy": 6, "ob_cleaner": 0}


def test_batch_restarts_only_its_agents(emulated):
    before = {host: pids(emulated.get(f"/compute/hosts/{host}/agent")) for host in (1, 2, 3)}
    emulated.restart_agents(1, 3)
    emulated.pass_time(9)
    after = {host: pids(emulated.get(f"/compute/hosts/{host}/agent")) for host in (1, 2, 3)}
    assert [host for host in before if before[host] != after[host]] == [1, 3]


def test_last_available_time_is_frozen_while_an_agent_restarts(emulated):
    agent = "/api/v2/compute/hosts/4/agent"
    begin = emulated.restart_agents(4)["startTime"]
    emulated.pass_time(3)
    assert emulated.get(agent)["lastAvailableTime"] == begin
    emulated.pass_time(60)
    assert moment(emulated.get(agent)["lastAvailableTime"]) == moment(begin) + timedelta(seconds=63)


def test_an_arbitration_service_is_restarting_until_its_last_step(emulated):
    path = "/api/v2/arbitration/services/1"
    before = emulated.get(path)
    task = emulated.restart_arbitration(1)
    at_once = emulated.get(path)
    assert (at_once["status"], at_once["operatingTaskInstanceId"]) == ("RESTARTING", task["id"])
    emulated.pass_time(4.9)
    assert emulated.get(path)["status"] == "RESTARTING"
    emulated.pass_time(0.1)
    end = emulated.get(path)
    assert end["status"] == "RUNNING"
    assert "operatingTaskInstanceId" not in end
    assert moment(end["updateTime"]) == moment(task["startTime"]) + timedelta(seconds=5)
    assert {**end, "updateTime": before["updateTime"]} == before


@pytest.mark.parametrize(("freeze", "told"), [("true", "minor compaction finished"), ("false", "left out")])
def test_log_shows_whether_the_server_was_frozen(emulated, freeze, told):
    task_id = emulated.restart_server(1, params={"freezeServer": freeze})["id"]
    emulated.pass_time(2)
    step = emulated.steps(task_id)[1]
    log = emulated.get(f"/api/v2/tasks/instances/{task_id}/subtasks/{step['id']}/log")["log"]
    assert told in log
