# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the evidence keeps of each module's result: the outcome of each target, its starts, its task, the plan."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._evidence.restart_entries import (
    failure_entry,
    plan_entry,
    restart_entries,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.evidence_runs import restarted


@pytest.mark.parametrize(
    ("values", "check_mode", "outcome"),
    [
        ({}, False, "proven"),
        ({"verified": None}, False, "unproven"),
        ({"verified": False}, False, "failed"),
        ({"msg": "Task 1001 FAILED"}, False, "failed"),
        ({"msg": "Task 1001 FAILED", "verified": True}, False, "failed"),
        ({"action": "skipped", "changed": False}, False, "skipped"),
        ({"action": "skipped", "changed": False, "verified": None}, True, "skipped"),
        ({"action": "postponed", "changed": False, "verified": None}, False, "postponed"),
        ({"verified": None}, True, "planned"),
    ],
)
def test_outcome_of_a_restart(values, check_mode, outcome):
    [entry] = restart_entries("server_restart", restarted(**values), check_mode)
    assert entry["outcome"] == outcome


def test_restart_shows_its_starts_and_its_task():
    [entry] = restart_entries("server_restart", restarted(), False)
    assert (entry["kind"], entry["name"], entry["cluster"]) == ("server", "10.0.0.1:2882", "orders")
    [member] = entry["members"]
    assert (member["start_before"], member["start_after"]) == ("2026-05-01T00:00:00+08:00", "2026-05-04T03:00:05+08:00")
    assert (entry["task"]["id"], entry["task"]["duration"], entry["task"]["creator"]) == (1001, 9.0, "admin")


def test_agents_show_their_pids():
    def seen(pid):
        return {"members": [{"name": "10.0.0.1", "start_time": None, "pids": {"ocp_agentd": pid}}]}

    target = {"kind": "agents", "hosts": [{"id": 1, "name": "10.0.0.1"}, {"id": 2, "name": "10.0.0.2"}]}
    result = restarted(target=target, before=seen(1), after=seen(2))
    [entry] = restart_entries("agent_restart", result, False)
    assert (entry["name"], entry["cluster"]) == ("10.0.0.1, 10.0.0.2", None)
    assert [(one["pids_before"], one["pids_after"]) for one in entry["members"]] == [
        ({"ocp_agentd": 1}, {"ocp_agentd": 2})
    ]


def test_failure_before_the_target_was_found_names_none():
    assert restart_entries("server_restart", {"msg": "cluster: there is no cluster ordres"}, False) == []


def test_fleet_has_an_entry_for_each_server():
    shared = {"cluster": "orders", "changed": True, "action": "submitted", "reason": None, "trace_id": None}
    starts = {"start_before": "2026-05-01T00:00:00Z", "start_after": "2026-05-04T00:00:00Z", "duration": 7.0}
    one = {"server": "1", "name": "10.0.0.1:2882", "failed": False, "task_id": 5, "verified": True, **shared, **starts}
    two = {**one, "server": "2", "name": None, "failed": True, "msg": "was not restarted.", "verified": None}
    left = {**two, "server": "3", "refused": True, "changed": False, "action": None, "task_id": None}
    entries = restart_entries("fleet_restart", {"servers": [one, two, left], "msg": "1 of 3"}, False)
    outcomes = [(entry["name"], entry["outcome"]) for entry in entries]
    assert outcomes == [("10.0.0.1:2882", "proven"), ("2", "failed"), ("3", "not_begun")]
    [foretold] = restart_entries("fleet_restart", {"servers": [left], "msg": "1 of 1"}, True)
    assert foretold["outcome"] == "not_begun"
    assert entries[0]["members"][0]["start_before"] == "2026-05-01T00:00:00Z"
    assert (entries[0]["task"]["id"], entries[0]["task"]["duration"]) == (5, 7.0)


def test_rolling_restart_of_a_cluster_has_those_that_were_not_begun():
    done = {
        "id": 1,
        "name": "a:1",
        "zone": "z",
        "task_id": 5,
        "elapsed": 3.0,
        "start_before": None,
        "start_after": None,
    }
    results = [{**done, "outcome": "submitted", "verified": True}, {**done, "name": "b:1", "outcome": "failed"}]
    result = {"cluster": {"id": 1, "name": "orders"}, "results": results, "untouched": ["c:1"], "msg": "Task 5 FAILED"}
    entries = restart_entries("cluster_rolling_restart", result, False)
    assert [(entry["name"], entry["outcome"], entry["changed"]) for entry in entries] == [
        ("a:1", "proven", True),
        ("b:1", "failed", True),
        ("c:1", "not_begun", False),
    ]
    planned = restart_entries("cluster_rolling_restart", {**result, "results": []}, True)
    assert [entry["outcome"] for entry in planned] == ["planned"]


def test_plan_has_the_servers_of_each_step():
    server = {"id": 1, "name": "a:1", "reason": "it is old", "needed": True}
    batch = {"number": 1, "cluster": "orders", "zone": "z1", "servers": [server, {**server, "needed": False}]}
    plan = plan_entry("cluster_rolling_restart_info", {"batches": [batch], "left_alone": [], "clusters": []})
    assert plan["steps"] == [[{"cluster": "orders", "zone": "z1", "name": "a:1", "reason": "it is old"}]]
    wave = {"number": 1, "servers": [{"cluster": "orders", "zone": "z1", "server": "a:1", "reason": "x"}]}
    plan = {"waves": [wave], "left_alone": [], "refused": [wave["servers"][0]]}
    waves = plan_entry("fleet_restart_info", plan)
    assert plan_entry("fleet_restart", {"plan": plan, "servers": []}) == waves
    assert waves["steps"][0][0]["name"] == "a:1"
    assert waves["refused"] == [{"cluster": "orders", "reason": "no wave can take a:1"}]
    assert plan_entry("server_info", {}) is None


def test_failure_has_its_tasks_and_the_ends_of_their_logs():
    step = {"task_id": 5, "id": 50, "description": "Start", "log_tail": "one\ntwo \x1b[31m"}
    entry = failure_entry(
        {"msg": "no\x1b", "failed_task_ids": [5], "unfinished_task_ids": [6], "failed_subtasks": [step]}
    )
    assert (entry["message"], entry["task_ids"]) == ("no\\x1b", [5, 6])
    assert entry["failed_subtasks"][0]["log_tail"] == ["one", "two \\x1b[31m"]
    assert failure_entry({"msg": "x", "task_id": 7})["task_ids"] == [7]
