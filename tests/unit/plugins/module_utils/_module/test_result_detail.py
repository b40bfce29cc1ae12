# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What each detail leaves out of a result, and when a result has the command that waits."""

from __future__ import annotations

import copy
import json

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.result_detail import in_detail, with_wait_command
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import raw_task, step

STEPS = [step(1, "Stop it", "SUCCESSFUL"), step(2, "Start it", "FAILED"), step(3, "Check it")]
TASK = Task.from_api(raw_task(5, "FAILED", subtasks=STEPS, tags=[{"svrIp": "10.0.0.1"}])).result()
SERVER = {"kind": "server", "id": 1, "name": "10.0.0.1:2882", "cluster_id": 1, "cluster_name": "orders"}
RESULT = {
    "changed": True,
    "action": "submitted",
    "reason": "it is wanted",
    "task_id": 5,
    "task": TASK,
    "target": SERVER,
    "before": {"status": "RUNNING", "members": [{"name": "10.0.0.1:2882"}]},
    "after": None,
    "safety": {"allowed": True},
    "verified": True,
    "elapsed": 1.5,
    "trace_id": "abc",
}
FAILURE = {**RESULT, "msg": "Task 5 FAILED", "failed_subtasks": [{"id": 2}], "failed_task_ids": [5], "verified": None}


def test_full_result_is_as_it_was():
    assert in_detail(RESULT, "full") is RESULT


def test_summary_has_the_failed_subtasks_only():
    shown = in_detail(RESULT, "summary")
    assert [each["id"] for each in shown["task"].pop("subtasks")] == [2]
    task = {key: value for key, value in TASK.items() if key != "subtasks"}
    assert shown == {**RESULT, "task": task}


def test_compact_result_fits_a_terminal():
    shown = in_detail(RESULT, "compact")
    assert shown == {
        "changed": True,
        "action": "submitted",
        "reason": "it is wanted",
        "task_id": 5,
        "task": {"id": 5, "name": "Restart 5", "status": "FAILED", "succeeded": False, "targets": ["10.0.0.1"]},
        "target": {"kind": "server", "name": "10.0.0.1:2882", "cluster_name": "orders"},
        "verified": True,
        "elapsed": 1.5,
    }
    assert len(json.dumps(shown, indent=4).splitlines()) <= 25


def test_compact_task_tells_that_it_was_rolled_back():
    undone = {**TASK, "status": "SUCCESSFUL", "rolled_back": True}
    assert in_detail({"task": undone}, "compact")["task"]["rolled_back"] is True
    assert "rolled_back" not in in_detail({"task": TASK}, "compact")["task"]


def test_compact_failure_keeps_its_message_ids_and_trace_id():
    shown = in_detail(FAILURE, "compact")
    kept = {"msg": "Task 5 FAILED", "failed_task_ids": [5], "trace_id": "abc", "changed": True}
    assert kept.items() <= shown.items()
    assert not shown.keys() & {"failed_subtasks", "verified", "before"}


@pytest.mark.parametrize("parts", ["hosts", "obproxies"])
def test_compact_target_of_several_parts_has_their_names(parts):
    target = {"kind": "agents", parts: [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}
    assert in_detail({"target": target}, "compact") == {"target": {"kind": "agents", "name": "a, b"}}


def test_compact_keeps_zero_and_false():
    entries = {"servers": [{"count": 0, "alive": False, "note": "", "zone": None, "tags": [], "more": {"x": None}}]}
    assert in_detail(entries, "compact") == {"servers": [{"count": 0, "alive": False}]}


def test_compact_object_of_a_module_that_lists_is_a_line():
    lines = {"servers": lambda server: f"server {server['id']}", "clock": lambda clock: clock["state"]}
    found = {"servers": [{"id": 1}, {"id": 2}], "clock": {"state": "agrees"}, "count": 2}
    shown = {"servers": ["server 1", "server 2"], "clock": "agrees", "count": 2}
    assert in_detail(found, "compact", lines) == shown
    assert in_detail({"servers": [], "warnings": []}, "compact", lines) == {"servers": []}
    assert in_detail({**found, "clock": None}, "compact", lines) == {"servers": shown["servers"], "count": 2}
    assert in_detail(found, "full", lines) is found
    assert in_detail(found, "summary", lines) == found


@pytest.mark.parametrize("detail", ["summary", "compact"])
@pytest.mark.parametrize("strange", [None, 5, "x", [1, None], {"subtasks": 7}])
def test_any_value_is_taken(detail, strange):
    given = {"task": strange, "tasks": strange, "target": strange, "changed": False}
    before = copy.deepcopy(given)
    assert in_detail(given, detail)["changed"] is False
    assert given == before


@pytest.mark.parametrize(
    ("result", "ids"),
    [
        ({"action": "submitted", "task_id": 5}, "5"),
        ({"action": "attached", "task_id": 5}, "5"),
        ({"task_ids": [5, 6]}, "5,6"),
    ],
)
def test_restart_that_was_not_waited_for_ends_with_the_command_that_waits(result, ids):
    shown = with_wait_command(result, {"wait": False})
    assert shown["wait_command"] == f"ansible localhost -m oceanbase.ocp.task_wait -a 'task_ids={ids} detail=compact'"
    # The last key of a sorted result.
    assert max({**RESULT, **shown}) == "wait_command"


@pytest.mark.parametrize(
    ("result", "params"),
    [
        ({"action": "submitted", "task_id": 5}, {"wait": True}),
        ({"action": "submitted", "task_id": 5}, {}),
        ({"action": "submitted", "task_id": None}, {"wait": False}),
        ({"action": "skipped", "task_id": 5}, {"wait": False}),
        ({"task_ids": []}, {"wait": False}),
        ({"task_ids": list(range(1, 22))}, {"wait": False}),
        ({}, {"wait": False}),
    ],
    ids=["waited", "no wait", "check mode", "skipped", "no task", "many tasks", "no ids"],
)
def test_other_results_have_no_command_that_waits(result, params):
    assert with_wait_command(result, params) == result


# The facts of a failure whose detail nobody asked for.


def test_failure_without_detail_has_what_a_playbook_branches_on():
    members = [{"name": "10.0.0.1:2882", "start_time": "03:00", "status": "RUNNING", "pids": None}]
    steps = [{"task_id": 5, "id": 2, "position": 2, "name": "Start it", "attempt": 1, "log_tail": "x" * 5000}]
    facts = {**FAILURE, "before": {"status": "RUNNING", "members": members}, "failed_subtasks": steps}
    assert in_detail(facts, None, failed=True) == {
        "msg": "Task 5 FAILED",
        "changed": True,
        "action": "submitted",
        "reason": "it is wanted",
        "task_id": 5,
        "task": {"id": 5, "name": "Restart 5", "status": "FAILED", "succeeded": False, "rolled_back": False},
        "target": {"kind": "server", "name": "10.0.0.1:2882", "cluster_name": "orders"},
        "before": {"members": [{"name": "10.0.0.1:2882", "start_time": "03:00"}]},
        "after": None,
        "safety": {"allowed": True},
        "verified": None,
        "elapsed": 1.5,
        "trace_id": "abc",
        "failed_task_ids": [5],
        "failed_subtasks": [{"task_id": 5, "id": 2, "position": 2, "name": "Start it", "attempt": 1}],
    }


def test_failure_without_detail_says_why_it_was_not_safe():
    safety = {"allowed": False, "evidence": "units", "tenants": ["sys"], "problems": ["it is locked"]}
    safety["outages"] = [{"tenant": "sys", "voters": 3, "needed": 2, "remaining_zones": ["zone1"]}]
    shown = in_detail({"msg": "no", "safety": safety, "action": None}, None, failed=True)
    assert shown["safety"] == {"allowed": False, "outages": [{"tenant": "sys"}], "problems": ["it is locked"]}
    assert shown["action"] is None


def test_failure_without_detail_leaves_out_what_is_one_of_many():
    facts = {"msg": "no", "servers": [{"name": "a"}], "results": [{"name": "a"}], "untouched": ["b"], "tasks": [TASK]}
    shown = in_detail(facts, None, failed=True)
    assert shown.keys() == {"msg", "untouched", "tasks"}
    assert shown["tasks"] == [
        {"id": 5, "name": "Restart 5", "status": "FAILED", "succeeded": False, "rolled_back": False}
    ]


def test_detail_that_is_asked_for_is_given_after_a_failure_too():
    assert in_detail(FAILURE, "full", failed=True) is FAILURE


def test_compact_failure_has_its_message_and_what_is_no_part_of_it():
    """In a terminal, the commands in the message are on the same screen as the end of the result."""
    assert in_detail(FAILURE, "compact", failed=True) == {
        "action": "submitted",
        "changed": True,
        "failed_task_ids": [5],
        "msg": "Task 5 FAILED",
        "task_id": 5,
        "trace_id": "abc",
    }


def test_success_without_detail_is_whole():
    assert in_detail(RESULT, None) is RESULT
