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
ZONE_1 = ("restart_zone", 1)
ZONE_2 = ("stop_zone", 2)
EVERYTHING = [SERVER_1, SERVER_2, CLUSTER_1, CLUSTER_2, AGENT_1, AGENTS_1_2, AGENT_2, ARBITRATION, ZONE_1, ZONE_2]

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
    ]
}
PATHS = {
    "restart_server": "/api/v2/ob/clusters/1/servers/{}/restart",
    "restart_cluster": "/api/v2/ob/clusters/{}/restart",
    "restart_zone": "/api/v2/ob/clusters/1/zones/zone{}/restart",
    "stop_zone": "/api/v2/ob/clusters/1/zones/zone{}/stop",
    "restart_agents": "/compute/hosts/batchRestartAgents",
    "restart_arbitration": "/api/v2/arbitration/services/{}/restart",
}


def attempt(emulated, operation):
    name, *targets = operation
    options = {
        "restart_server": {"params": {"freezeServer": "true"}},
        "restart_agents": {"json": {"hostIds": targets}},
    }.get(name, {})
    return emulated.request("POST", PATHS[name].format(targets[0]), **options)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(EVERYTHING, repeat=2)))
def test_which_operations_exclude_each_other(emulated, first, second):
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
def test_a_target_is_free_again_when_its_task_has_ended(emulated, operation):
    attempt(emulated, operation)
    emulated.pass_time(20)
    assert attempt(emulated, operation).status_code == 200


def test_a_batch_that_is_refused_touches_no_agent(emulated):
    emulated.restart_agents(2)
    assert attempt(emulated, ("restart_agents", 1, 2, 3)).status_code == 409
    states = [host["hostAgentStatus"] for host in emulated.get("/api/v2/compute/hosts")["contents"]]
    assert states == ["AVAILABLE", "RESTARTING"] + ["AVAILABLE"] * 8
