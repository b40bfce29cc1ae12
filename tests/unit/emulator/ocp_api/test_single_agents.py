# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The restart and the stop of the agent of one host, and the audit events of operations."""

import json

import pytest
from ocp_emulator.base.compatibility import PROFILES

AGENT = "/api/v2/compute/hosts/3/agent"
EVENTS = "/api/v2/audit/events"
RESTART = [
    ("Prepare restart OCP agent", 60),
    ("Restart pos proxy", 60),
    ("Stop all OCP agent processes", 600),
    ("Start all OCP agent processes", 600),
    ("Finish OCP agent operation", 60),
]


def pids(emulated, host=3):
    processes = emulated.get(f"/api/v2/compute/hosts/{host}/agent")["processes"]
    return {process["alias"]: process["pid"] for process in processes}


def test_one_agent_restarts_with_all_its_processes_and_no_other(emulated, ordered):
    before, elsewhere = pids(emulated), pids(emulated, 4)
    task = emulated.data("POST", f"{AGENT}/restart")
    assert (task["name"], task["hostId"], task["creator"]) == ("Restart OCP agent", 3, "admin")
    assert [(step["description"], step["timeout"]) for step in ordered(task["subtasks"])] == RESTART
    assert {step["parallelIdx"] for step in task["subtasks"]} == {-1}
    assert emulated.get(AGENT)["status"] == "RESTARTING"
    emulated.pass_time(5)
    assert (emulated.task(task["id"])["status"], emulated.get(AGENT)["status"]) == ("SUCCESSFUL", "AVAILABLE")
    after = pids(emulated)
    assert [alias for alias in before if before[alias] == after[alias]] == ["ob_cleaner"]
    assert (pids(emulated, 4), emulated.restarts()) == (elsewhere, {("HOST", 3): 1})


def test_stopped_agent_stays_down_until_a_restart(emulated):
    task = emulated.data("POST", f"{AGENT}/stop")
    assert (task["name"], len(task["subtasks"]), emulated.get(AGENT)["status"]) == ("Stop OCP agent", 3, "STOPPING")
    emulated.error(409, "POST", f"{AGENT}/restart")
    emulated.pass_time(3)
    agent = emulated.get(AGENT)
    running = [process["alias"] for process in agent["processes"] if process["pid"]]
    assert (agent["status"], running) == ("OFFLINE", ["pos_proxy"])
    emulated.restart_agents(3)
    emulated.pass_time(9)
    assert emulated.get(AGENT)["status"] == "AVAILABLE"


def test_failed_restart_of_one_agent_is_rolled_back(emulated):
    emulated.plan("fail", "Start all OCP agent processes")
    task_id = emulated.data("POST", f"{AGENT}/restart")["id"]
    emulated.pass_time(5)
    assert emulated.task(task_id)["status"] == "FAILED"
    emulated.steer(task_id, "rollback")
    emulated.pass_time(5)
    assert (emulated.get(AGENT)["status"], emulated.restarts()) == ("AVAILABLE", {})


def test_processes_of_an_agent_are_listed_in_pages(emulated):
    processes = emulated.get(AGENT)["processes"]
    page = emulated.get(f"{AGENT}/processes", params={"size": 2, "page": 2})
    assert page["contents"] == processes[2:4]
    assert page["page"] == {"number": 2, "size": 2, "totalElements": 5, "totalPages": 3}


@pytest.mark.parametrize(("path", "code"), [("hosts/99/agent/restart", 7013), ("hosts/99/agent/stop", 7013)])
def test_unknown_host_has_the_digits_of_its_documented_code(emulated, path, code):
    assert emulated.error(404, "POST", f"/api/v2/compute/{path}")["code"] == code


def test_an_accepted_operation_is_an_audit_event_for_each_target(emulated):
    emulated.restart_agents(1, 2)
    task_id = emulated.restart_server(3)["id"]
    emulated.error(409, "POST", "/api/v2/ob/clusters/1/servers/3/restart", params={"freezeServer": True})
    *agents, server = emulated.get(EVENTS)["contents"]
    assert [(event["operationEvent"], event["resourceId"], event["eventInfo"]) for event in agents] == [
        ("RESTART_OCP_AGENT", host, json.dumps({"hostId": host}, separators=(",", ":"))) for host in (1, 2)
    ]
    assert (server["operationEvent"], server["resourceType"]) == ("RESTART_OB_SERVER", "OB_SERVER")
    assert (server["resourceId"], server["resourceName"], server["taskId"]) == (3, "10.0.0.3", task_id)
    assert (server["operatorName"], server["clientIp"], server["status"]) == ("admin", "127.0.0.1", "SUCCESSFUL")
    assert json.loads(server["eventInfo"]) == {"clusterId": 1, "zoneName": "zone2", "serverId": 3, "hostId": 3}


def test_every_operation_of_the_older_profile_is_an_event_without_a_task(start):
    old = start(switches=PROFILES["4.2"])
    for path in ("servers/1/restart", "zones/zone2/stop", "servers/5/start"):
        old.data("POST", f"/api/v2/ob/clusters/1/{path}")
    old.data("POST", "/api/v2/ob/clusters/2/restart")
    old.data("POST", f"{AGENT}/stop")
    events = old.get(EVENTS, params={"sort": "id,desc"})["contents"]
    assert [event["operationEvent"] for event in events] == [
        "STOP_OCP_AGENT",
        "RESTART_OB_CLUSTER",
        "START_OB_SERVER",
        "STOP_OB_ZONE",
        "RESTART_OB_SERVER",
    ]
    assert not any("taskId" in event for event in events)
