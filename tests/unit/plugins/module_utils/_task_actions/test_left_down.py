# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The servers of a task after its end: which are meant by the host that it names."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._task_actions.left_down import (
    left_down,
    left_held,
    left_undone,
    state_of_servers,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.cluster_payloads import raw_server
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import raw_task

DOWN = {"status": "STOPPED"}


def task_on(host):
    return Task.from_api(raw_task(7, "SUCCESSFUL", clusterId=31, tags=[{"serverId": 1, "svrIp": host}]))


@pytest.mark.parametrize("ip", ["10.1.0.1", "fd00::1"])
def test_server_that_is_down_is_named_by_its_host(ip, api):
    api.expect("servers", 31, gives=[raw_server(1, ip=ip, **DOWN), raw_server(2)])
    [words] = left_down(api.double, task_on(ip))
    assert "is STOPPED" in words
    assert ip in words


def test_of_two_servers_on_one_host_it_is_not_known_which_one_is_meant(api):
    """The command to restart the other one was printed."""
    both = [raw_server(1, ip="10.1.0.1", port=3882), raw_server(2, ip="10.1.0.1", **DOWN)]
    for _look in range(2):
        api.expect("servers", 31, gives=both)
    assert list(left_down(api.double, task_on("10.1.0.1"))) == []
    assert state_of_servers(api.double, task_on("10.1.0.1")) == ""


@pytest.mark.parametrize(("status", "words"), [("STOPPED", 1), ("RUNNING", 0), ("RESTARTING", 0)])
def test_arbitration_service_that_a_skipped_step_has_left_stopped_is_named(status, words, api):
    api.expect("arbitration_services", gives=[{"id": 61, "svrIp": "10.1.0.9", "svrPort": 2888, "status": status}])
    task = {**raw_task(7, "SUCCESSFUL", tags=[{"svrIp": "10.1.0.9"}]), "name": "Restart arbitration service"}
    found = list(left_down(api.double, Task.from_api(task)))
    command = "ansible localhost -m oceanbase.ocp.arbitration_service_restart -a 'arbitration_service=10.1.0.9:2888 "
    assert [line.startswith(f"10.1.0.9:2888 is STOPPED: start it by {command}") for line in found] == [True] * words


def test_agent_that_a_skipped_step_has_left_down_is_named(api):
    host = {"id": 51, "innerIpAddress": "10.1.0.1", "agentStatus": "OFFLINE"}
    gone = {"processes": [{"name": "pos_proxy", "status": "STARTED", "pid": 7}], "status": "OFFLINE"}
    for _look in range(2):
        api.expect("hosts", gives=[host])
    api.expect("host_agent", 51, gives=gone)
    task = {**raw_task(7, "SUCCESSFUL", tags=[{"svrIp": "10.1.0.1"}]), "name": "Batch restart OCP agent"}
    [words] = left_down(api.double, Task.from_api(task))
    assert words.startswith("The agent of 10.1.0.1 is OFFLINE")
    assert ": start it by ansible localhost -m oceanbase.ocp.agent_restart -a 'hosts=10.1.0.1 " in words


def test_canceled_subtask_leaves_its_task_failed_with_the_state_and_the_ways_on(api):
    api.expect("servers", 31, gives=[raw_server(1, ip="10.1.0.1", status="RESTARTING")])
    steps = [{"id": 51, "name": "Wait observer active", "status": "FAILED"}]
    tags = [{"serverId": 1, "svrIp": "10.1.0.1"}]
    state, *ways = left_held(api.double, Task.from_api(raw_task(7, "FAILED", clusterId=31, tags=tags, subtasks=steps)))
    assert "is FAILED, and nothing restarts its target until that is cleared. It does not serve now" in state
    assert [way.split(": ")[0] for way in ways] == [
        "Retry what failed",
        "Skip this subtask, leaving its work undone",
        "Roll the task back",
    ]


def test_canceled_subtask_of_a_task_that_goes_on_needs_no_way_on(api):
    assert list(left_held(api.double, task_on("10.1.0.1"))) == []


@pytest.mark.parametrize(
    ("status", "step", "operation", "words"),
    [
        ("SUCCESSFUL", "Stop all OCP agent processes", "SKIP", 1),
        ("SUCCESSFUL", "Stop all OCP agent processes", "EXECUTE", 0),
        ("SUCCESSFUL", "Check agent status", "SKIP", 0),
        ("FAILED", "Stop all OCP agent processes", "SKIP", 0),
    ],
    ids=["its work", "done", "a check", "it goes on to fail"],
)
def test_skipped_step_that_restarts_something_is_named(status, step, operation, words):
    """The process of before may serve, so nothing is down."""
    steps = [{"id": 51, "name": step, "status": "SUCCESSFUL", "operation": operation}]
    found = list(left_undone(Task.from_api(raw_task(7, status, subtasks=steps))))
    assert [f"is SUCCESSFUL without {step}: what it restarts may run on as before." in line for line in found] == [
        True
    ] * words
