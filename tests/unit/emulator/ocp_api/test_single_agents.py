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
    assert (server["operationEvent"], server["resourceType"]) == ("RESTART_OB_SERVER", "OB_CLUSTER")
    assert (server["resourceId"], server["resourceName"], server["taskId"]) == (1, "orders", task_id)
    assert (server["operatorName"], server["clientIp"], server["status"]) == ("admin", "127.0.0.1", "SUCCESS")
    assert json.loads(server["eventInfo"]) == {"clusterId": 1, "zoneName": "zone2", "serverId": 3, "hostId": 3}


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"eventType": "COMPUTE_HOST_MANAGEMENT"}, [1, 2]),
        ({"eventType": "OB_PROXY_CLUSTER_MANAGEMENT, OB_CLUSTER_MANAGEMENT"}, [3, 4, 5]),
        ({"eventType": "OCP_USER_MANAGEMENT"}, []),
        ({"operationEvent": "RESTART_OB_SERVER"}, [3]),
        ({"operationEvent": "RESTART_OB_CLUSTER,RESTART_OCP_AGENT"}, [1, 2, 5]),
        ({"operationEvent": "ADD_OB_ZONES, DELETE_OB_ZONES"}, []),
        ({"resourceName": "orders"}, [3]),
        ({"resourceName": "10.0.0.2"}, [2]),
        ({"resourceName": "entry"}, [4]),
        ({"resourceName": "order"}, []),
        ({"operatorId": "100"}, [1, 2, 3, 4, 5]),
        ({"operatorId": "7,8"}, []),
        ({"status": "SUCCESS"}, [1, 2, 3, 4, 5]),
        ({"status": "FAILED"}, []),
        ({"startTime": "2026-11-21T04:00:10Z"}, [3, 4, 5]),
        ({"endTime": "2026-11-21T04:00:09Z"}, [1, 2]),
        ({"order": "startTime,desc"}, [5, 4, 3, 2, 1]),
        ({"sort": "endTime", "size": 2}, [1, 2]),
    ],
)
def test_events_can_be_filtered_and_sorted(emulated, filters, found):
    emulated.restart_agents(1, 2)
    emulated.pass_time(10)
    emulated.restart_server(3)
    emulated.restart_obproxies(1)
    emulated.restart_cluster(2)
    assert [event["id"] for event in emulated.get(EVENTS, params=filters)["contents"]] == found


def test_invalid_filter_of_events_is_refused(emulated):
    for query in ("status=SUCCESSFUL", "operatorId=admin", "startTime=today", "eventType=a"):
        assert f"'{query.split('=', maxsplit=1)[0]}'" in emulated.error(400, "GET", f"{EVENTS}?{query}")["message"]


def test_every_operation_of_the_older_profile_is_an_event_without_a_task(start):
    old = start(switches=PROFILES["4.2"])
    old.request("PUT", "/emulator/servers/5/process", json={"running": False}).raise_for_status()
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


@pytest.mark.parametrize("prefix", ["", "/api/v2"])
def test_older_profile_has_the_agents_below_both_paths(start, prefix):
    old = start(switches=PROFILES["4.2"])
    agent = f"{prefix}/compute/hosts/1/agent"
    worker = old.get(f"{agent}/processes")["contents"][-1]["id"]
    assert old.get(agent)["managerPort"] == "62888"
    for path, body in (
        (f"{agent}/processes/{worker}/restart", None),
        (f"{agent}/processes/{worker}/stop", None),
        (f"{agent}/restart", None),
        (f"{agent}/stop", None),
        (f"{prefix}/compute/hosts/batchRestartAgents", {"hostIds": [1]}),
        (f"{prefix}/compute/hosts/batchStopAgents", {"hostIds": [1]}),
    ):
        old.data("POST", path, json=body)
        old.pass_time(60)


def test_agents_are_stopped_together(emulated):
    task = emulated.data("POST", "/compute/hosts/batchStopAgents", json={"hostIds": [1, 2]})
    assert (task["name"], len(task["subtasks"])) == ("Batch stop OCP agent", 8)
    emulated.pass_time(5)
    hosts = emulated.get("/api/v2/compute/hosts")["contents"]
    assert [host["hostAgentStatus"] for host in hosts[:3]] == ["OFFLINE", "OFFLINE", "AVAILABLE"]
    emulated.restart_agents(1, 2)
    emulated.pass_time(9)
    assert emulated.get(AGENT)["status"] == "AVAILABLE"


def test_worker_process_is_restarted_and_stopped_at_once(emulated):
    *others, before = emulated.get(AGENT)["processes"]
    assert (before["alias"], before["status"], before["operable"]) == ("ob_cleaner", "STOPPED", True)
    process = f"{AGENT}/processes/{before['id']}"
    pids = set()
    for _twice in range(2):
        started = emulated.data("POST", f"{process}/restart")
        assert (started["id"], started["status"], started["operable"]) == (before["id"], "STARTED", True)
        pids.add(started["pid"])
    assert len(pids) == 2
    assert emulated.get(AGENT)["processes"] == [*others, started]
    assert emulated.data("POST", f"{process}/stop") == before
    assert emulated.get(AGENT)["status"] == "AVAILABLE"
    assert emulated.get("/api/v2/tasks/instances")["contents"] == []


def test_other_processes_are_not_operable(emulated):
    process = emulated.get(AGENT)["processes"][0]["id"]
    assert "not operable" in emulated.error(400, "POST", f"{AGENT}/processes/{process}/restart")["message"]
    emulated.error(404, "POST", f"{AGENT}/processes/99999/restart")
    emulated.error(404, "POST", "/api/v2/compute/hosts/99/agent/processes/1/restart")
    worker = emulated.get(AGENT)["processes"][-1]["id"]
    emulated.restart_agents(3)
    emulated.error(409, "POST", f"{AGENT}/processes/{worker}/restart")
