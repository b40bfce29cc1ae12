# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of kind busy, and a service that accepts operations on busy targets."""

import pytest

FAULTS = "/emulator/faults"
RESTART = "/api/v2/ob/clusters/1/servers/1/restart?freezeServer=true"


def plan(emulated, action, **fault):
    return emulated.data("POST", FAULTS, json={"kind": "busy", "action": action, **fault})


@pytest.fixture
def accepting(start):
    return start(busy="accept")


def test_second_restart_is_accepted_and_restarts_again_after_the_first(accepting):
    first, second = accepting.restart_server()["id"], accepting.restart_server()["id"]
    assert accepting.server(1)["operatingTaskInstanceId"] == first
    accepting.pass_time(5)
    assert [step["status"] for step in accepting.steps(second)][:2] == ["READY", "PENDING"]
    assert accepting.task(second)["status"] == "RUNNING"
    accepting.pass_time(60)
    one, two = accepting.task(first), accepting.task(second)
    assert (one["status"], two["status"]) == ("SUCCESSFUL", "SUCCESSFUL")
    assert one["finishTime"] < two["finishTime"]
    assert accepting.restarts() == {("OB_SERVER", 1): 2}
    server = accepting.server(1)
    assert ("operatingTaskInstanceId" in server, server["status"]) == (False, "RUNNING")


@pytest.mark.parametrize(
    ("operations", "restarts"),
    [
        ([("restart_cluster", 2), ("restart_server", 7)], {("OB_SERVER", 7): 2}),
        ([("restart_server", 7), ("restart_cluster", 2)], {("OB_SERVER", 7): 2, ("OB_CLUSTER", 2): 1}),
        ([("restart_agents", 1), ("restart_agents", 1, 2), ("restart_agents", 2)], {("HOST", 1): 2, ("HOST", 2): 2}),
        ([("restart_arbitration", 1)] * 5, {("ARBITRATION_SERVICE", 1): 5}),
    ],
)
@pytest.mark.parametrize("step_ms", [0, 1_000])
def test_every_accepted_operation_is_carried_out(start, operations, restarts, step_ms):
    emulated = start(busy="accept", step_ms=step_ms)
    for name, *targets in operations:
        getattr(emulated, name)(*targets)
    emulated.pass_time(600)
    tasks = emulated.get("/api/v2/tasks/instances")["contents"]
    assert [task["status"] for task in tasks] == ["SUCCESSFUL"] * len(operations)
    assert restarts.items() <= emulated.restarts().items()


def test_accepted_restart_takes_over_what_a_failed_task_holds(accepting):
    accepting.plan("fail", "Wait observer active")
    failed = accepting.restart_server()["id"]
    second = accepting.restart_server()["id"]
    accepting.pass_time(60)
    assert [accepting.task(number)["status"] for number in (failed, second)] == ["FAILED", "SUCCESSFUL"]
    assert accepting.restarts() == {("OB_SERVER", 1): 2}
    assert accepting.server(1)["status"] == "RUNNING"


def test_failed_task_goes_on_holding_what_was_not_taken_over(accepting):
    accepting.plan("fail", "Start server")
    failed = accepting.restart_cluster(2)["id"]
    accepting.pass_time(60)
    accepting.restart_server(7)
    accepting.pass_time(60)
    shown = [accepting.server(number) for number in (7, 8, 9)]
    assert [server.get("operatingTaskInstanceId") for server in shown] == [None, failed, failed]
    assert [server["status"] for server in shown] == ["RUNNING", "RESTARTING", "RESTARTING"]


def test_waiting_restart_survives_a_restart_of_the_process(start, tmp_path):
    first = start(busy="accept", database=tmp_path / "state.db")
    first.restart_server()
    first.restart_server()
    first.app.state.service.close()
    second = start(database=tmp_path / "state.db")
    second.pass_time(60)
    assert second.restarts() == {("OB_SERVER", 1): 2}


def test_restart_that_waits_for_a_stalled_one_goes_on_after_its_time_out(accepting):
    accepting.plan("stall", "Stop observer process")
    stalled, second = accepting.restart_server()["id"], accepting.restart_server()["id"]
    accepting.pass_time(100_000)
    assert [accepting.task(number)["status"] for number in (stalled, second)] == ["FAILED", "SUCCESSFUL"]
    assert accepting.restarts() == {("OB_SERVER", 1): 1}


@pytest.mark.parametrize(
    ("action", "setting", "statuses", "restarts"),
    [("accept", "refuse", [200, 409], 2), ("refuse", "accept", [409, 200], 2), ("fail", "refuse", [200, 409], 1)],
)
def test_fault_decides_in_place_of_the_setting(start, action, setting, statuses, restarts):
    emulated = start(busy=setting)
    plan(emulated, action)
    emulated.restart_server()
    assert emulated.get(FAULTS)["contents"][0]["hits"] == 0
    assert [emulated.request("POST", RESTART).status_code for _call in range(2)] == statuses
    emulated.pass_time(60)
    assert emulated.restarts() == {("OB_SERVER", 1): restarts}
    assert emulated.get(FAULTS)["contents"][0]["hits"] == 1


@pytest.mark.parametrize(
    ("match", "hit"),
    [
        ({"task": "restart ob server"}, True),
        ({"task": "Restart OB cluster"}, False),
        ({"user": "admin"}, True),
        ({"user": "viewer"}, False),
    ],
)
def test_fault_hits_only_matching_operations(emulated, match, hit):
    plan(emulated, "accept", match=match)
    emulated.restart_server()
    assert (emulated.request("POST", RESTART).status_code == 200) is hit


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ({"action": "queue"}, ["'action'"]),
        ({"action": "accept", "match": {"path": "*"}}, ["'match.path'"]),
        ({"action": "accept", "times": 0}, ["'times'"]),
        ({"action": "accept", "call": 2}, ["'call'"]),
    ],
)
def test_invalid_fault_is_400_and_named(emulated, fault, named):
    message = emulated.error(400, "POST", FAULTS, json={"kind": "busy", **fault})["message"]
    assert all(part in message for part in named), message
