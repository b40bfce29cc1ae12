# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A target takes one operation at a time; a second one is refused with 409 that names the first."""

import itertools

import pytest

SERVER_1 = ("restart_server", 1)
SERVER_2 = ("restart_server", 2)
CLUSTER_1 = ("restart_cluster", 1)
CLUSTER_2 = ("restart_cluster", 2)
AGENT_1 = ("restart_agents", 1)
AGENTS_1_2 = ("restart_agents", 1, 2)
AGENT_2 = ("restart_agents", 2)
ARBITRATION = ("restart_arbitration", 1)
OBPROXY_1, OBPROXY_2, OBPROXIES = (("restart_obproxies", *ids) for ids in ((1,), (2,), (1, 2)))
ZONE_1 = ("restart_zone", 1)
ZONE_2 = ("stop_zone", 2)
PARTS = [SERVER_1, SERVER_2, CLUSTER_1, CLUSTER_2, AGENT_1, AGENTS_1_2, AGENT_2, ARBITRATION, ZONE_1, ZONE_2]
EVERYTHING = [*PARTS, OBPROXY_1, OBPROXY_2, OBPROXIES]

# Pairs that exclude each other, in either order; all others may run together.
EXCLUSIVE = {
    frozenset(pair)
    for pair in [
        *((each,) for each in EVERYTHING),
        (SERVER_1, CLUSTER_1),
        (SERVER_2, CLUSTER_1),
        # The servers 1 and 2 are in zone 1.
        (SERVER_1, ZONE_1),
        (SERVER_2, ZONE_1),
        (ZONE_1, CLUSTER_1),
        (ZONE_2, CLUSTER_1),
        (AGENT_1, AGENTS_1_2),
        (AGENT_2, AGENTS_1_2),
        (OBPROXY_1, OBPROXIES),
        (OBPROXY_2, OBPROXIES),
    ]
}
PATHS = {
    "restart_server": "/api/v2/ob/clusters/1/servers/{}/restart",
    "restart_cluster": "/api/v2/ob/clusters/{}/restart",
    "restart_zone": "/api/v2/ob/clusters/1/zones/zone{}/restart",
    "stop_zone": "/api/v2/ob/clusters/1/zones/zone{}/stop",
    "restart_agents": "/compute/hosts/batchRestartAgents",
    "restart_arbitration": "/api/v2/arbitration/services/{}/restart",
    "restart_obproxies": "/api/v2/obproxy/clusters/1/obproxies/{}/restart",
}


def attempt(emulated, operation):
    name, *targets = operation
    options = {
        "restart_server": {"params": {"freezeServer": "true"}},
        "restart_agents": {"json": {"hostIds": targets}},
    }.get(name, {})
    given = ",".join(map(str, targets)) if name == "restart_obproxies" else targets[0]
    return emulated.request("POST", PATHS[name].format(given), **options)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(EVERYTHING, repeat=2)))
def test_operations_on_overlapping_targets_exclude_each_other(emulated, first, second):
    task_id = attempt(emulated, first).json()["data"]["id"]
    emulated.pass_time(1)
    answer = attempt(emulated, second)
    if {first, second} in EXCLUSIVE:
        assert answer.status_code == 409
        error = answer.json()["error"]
        assert f"task {task_id} " in error["message"]
        assert "data" not in answer.json()
        assert emulated.get("/api/v2/tasks/instances")["page"]["totalElements"] == 1
    else:
        assert answer.status_code == 200
        assert emulated.get("/api/v2/tasks/instances")["page"]["totalElements"] == 2


@pytest.mark.parametrize("operation", EVERYTHING)
def test_target_is_released_when_its_task_ends(emulated, operation):
    attempt(emulated, operation)
    emulated.pass_time(20)
    # A stopped zone cannot be stopped again.
    assert attempt(emulated, operation).status_code == (400 if operation[0] == "stop_zone" else 200)


def test_refused_batch_changes_no_agent(emulated):
    emulated.restart_agents(2)
    assert attempt(emulated, ("restart_agents", 1, 2, 3)).status_code == 409
    states = [host["hostAgentStatus"] for host in emulated.get("/api/v2/compute/hosts")["contents"]]
    assert states == ["AVAILABLE", "RESTARTING"] + ["AVAILABLE"] * 8


# --- With busy=fail ------------------------------------------------------------------------------------------------


@pytest.fixture
def failing(start):
    return start(busy="fail")


@pytest.mark.parametrize(("first", "second"), list(itertools.product(EVERYTHING, repeat=2)))
def test_second_task_on_a_busy_target_fails_in_its_first_subtask(failing, first, second):
    one = attempt(failing, first).json()["data"]["id"]
    failing.pass_time(1)
    answer = attempt(failing, second)
    assert answer.status_code == 200
    other = answer.json()["data"]["id"]
    failing.pass_time(1)
    task = failing.task(other)
    if {first, second} not in EXCLUSIVE:
        assert task["status"] == "RUNNING"
    else:
        assert task["status"] == "FAILED"
        failed = [step for step in failing.steps(other) if step["status"] != "PENDING"]
        assert {(step["status"], len(step["upstreams"])) for step in failed} == {("FAILED", 0)}
        assert f"the target is occupied by task {one} " in failing.log(other, failed[0]["id"])[-2]
    failing.pass_time(20)
    assert failing.task(one)["status"] == "SUCCESSFUL"


def test_task_that_failed_on_a_busy_target_changes_nothing(failing):
    one = failing.restart_agents(1)["id"]
    failing.pass_time(4)
    other = failing.restart_agents(1)["id"]
    failing.pass_time(1)
    # The processes are stopped by the first task; neither skip nor rollback lets the second one start them.
    agent = failing.get("/compute/hosts/1/agent")
    assert agent["processes"][0]["status"] == "STOPPED"
    for verb, subtask in (("skip", failing.steps(other)[0]["id"]), ("rollback", None)):
        assert failing.steer(other, verb, subtask).status_code == 200
        failing.pass_time(0.5)
        if verb == "skip":
            # The step after the one that is skipped finds the target busy as well.
            failing.pass_time(0.6)
            assert failing.task(other)["status"] == "FAILED"
    assert failing.get("/compute/hosts/1/agent")["processes"][0]["status"] == "STOPPED"
    failing.pass_time(20)
    assert [failing.task(number)["operation"] for number in (one, other)] == ["EXECUTE", "ROLLBACK"]
    assert [failing.task(number)["status"] for number in (one, other)] == ["SUCCESSFUL", "SUCCESSFUL"]
    assert failing.restarts() == {("HOST", 1): 1}


def test_retry_succeeds_once_the_target_is_released(failing):
    failing.restart_server(1)
    other = failing.restart_cluster(1)["id"]
    failing.pass_time(5)
    assert failing.task(other)["status"] == "FAILED"
    assert failing.server(2)["status"] == "RUNNING"
    failing.steer(other, "retry")
    failing.pass_time(1)
    assert failing.task(other)["status"] == "FAILED"
    failing.pass_time(10)
    failing.steer(other, "retry")
    failing.pass_time(0.5)
    assert failing.server(2)["operatingTaskInstanceId"] == other
    failing.pass_time(20)
    assert failing.task(other)["status"] == "SUCCESSFUL"
    assert failing.restarts()["OB_SERVER", 1] == 2


def test_one_of_many_simultaneous_tasks_gets_the_target(failing):
    ids = [failing.restart_server(2)["id"] for _call in range(10)]
    failing.pass_time(13)
    assert [failing.task(number)["status"] for number in ids] == ["SUCCESSFUL"] + ["FAILED"] * 9
    assert failing.restarts() == {("OB_SERVER", 2): 1}
