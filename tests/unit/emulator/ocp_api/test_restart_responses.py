# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The documented fields in the answer to each restart, and the first states of its task."""

import re

import pytest

NUMBER, TEXT, FLAG, LIST, OBJECT = int, str, bool, list, dict

# The documented fields, by operation: each with its type; no other field may be there.
ALL_TASKS = {"id": NUMBER, "name": TEXT, "operation": TEXT, "status": TEXT, "startTime": TEXT}
MANUAL = {**ALL_TASKS, "creator": TEXT, "executor": TEXT, "taskDefinitionId": NUMBER, "type": TEXT, "subtasks": LIST}
TASK_FIELDS = {
    "server": {**MANUAL, "clusterId": NUMBER, "hostId": NUMBER, "prohibitRollback": FLAG},
    "cluster": {**ALL_TASKS, "creator": OBJECT, "tasks": LIST, "cluster": OBJECT, "context": TEXT},
    "agents": {**MANUAL, "context": OBJECT},
    "arbitration": {**MANUAL, "prohibitRollback": FLAG},
}
REDUCED = {
    "id": NUMBER,
    "name": TEXT,
    "description": TEXT,
    "status": TEXT,
    "operation": TEXT,
    "upstreams": LIST,
    "downstreams": LIST,
}
FULL = {
    **REDUCED,
    "nodeType": TEXT,
    "parallelIdx": NUMBER,
    "prohibitRollback": FLAG,
    "runTime": NUMBER,
    "seriesId": NUMBER,
    "timeout": NUMBER,
}
SUBTASK_FIELDS = {
    "server": {**FULL, "prohibitSkip": FLAG, "taskId": NUMBER},
    "cluster": REDUCED,
    "agents": {**FULL, "className": TEXT},
    "arbitration": {**FULL, "prohibitSkip": FLAG, "taskId": NUMBER},
}
LENGTH = {"server": 13, "cluster": 19, "agents": 9, "arbitration": 5}
FIRST = {
    "server": ("Prepare restart observer", "READY"),
    "cluster": ("Prepare restart cluster", "RUNNING"),
    "agents": ("Prepare restart OCP agent", "READY"),
    "arbitration": ("Prepare restart arbitration service", "READY"),
}
LAST = {
    "server": "Update OB cluster status",
    "cluster": "Update OB cluster status",
    "agents": "Finish OCP agent operation",
    "arbitration": "Update arbitration service status",
}
OPERATIONS = list(LENGTH)

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?\+08:00")


@pytest.fixture
def calls(emulated):
    return {
        "server": emulated.restart_server,
        "cluster": emulated.restart_cluster,
        "agents": emulated.restart_agents,
        "arbitration": emulated.restart_arbitration,
    }


def subtasks_of(task):
    return task["tasks"] if "tasks" in task else task["subtasks"]


def types_of(fields):
    return {name: type(value) for name, value in fields.items()}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_task_has_exactly_the_fields_of_its_operation(calls, operation):
    assert types_of(calls[operation]()) == TASK_FIELDS[operation]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_subtasks_have_exactly_the_fields_of_their_operation(calls, operation):
    subtasks = subtasks_of(calls[operation]())
    assert len(subtasks) == LENGTH[operation]
    for subtask in subtasks:
        assert types_of(subtask) == SUBTASK_FIELDS[operation]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_new_task_is_running_with_one_active_subtask(calls, ordered, operation):
    task = calls[operation]()
    assert (task["status"], task["operation"]) == ("RUNNING", "EXECUTE")
    first, *others = ordered(subtasks_of(task))
    assert (first["description"], first["status"]) == FIRST[operation]
    assert (first["upstreams"], others[-1]["downstreams"]) == ([], [])
    assert others[-1]["description"] == LAST[operation]
    assert {subtask["status"] for subtask in others} == {"PENDING"}
    assert {subtask["operation"] for subtask in [first, *others]} == {"EXECUTE"}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_link_has_its_counterpart(calls, operation):
    subtasks = {subtask["id"]: subtask for subtask in subtasks_of(calls[operation]())}
    for number, subtask in subtasks.items():
        assert all(number in subtasks[upstream]["downstreams"] for upstream in subtask["upstreams"])
        assert all(number in subtasks[downstream]["upstreams"] for downstream in subtask["downstreams"])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_array_ids_and_series_differ_from_the_execution_order(calls, ordered, operation):
    subtasks = subtasks_of(calls[operation]())
    by_links = [subtask["id"] for subtask in ordered(subtasks)]
    assert [subtask["id"] for subtask in subtasks] != by_links
    assert sorted(by_links) != by_links
    if operation != "cluster":
        by_series = [subtask["id"] for subtask in sorted(subtasks, key=lambda subtask: subtask["seriesId"])]
        assert by_series != by_links
        assert sorted(subtask["seriesId"] for subtask in subtasks) == list(range(len(subtasks)))


@pytest.mark.parametrize("operation", ["server", "agents", "arbitration"])
def test_constant_fields_have_their_documented_values(calls, operation):
    task = calls[operation]()
    assert (task["creator"], task["taskDefinitionId"], task["type"]) == ("admin", -1, "MANUAL")
    for subtask in task["subtasks"]:
        assert (subtask["nodeType"], subtask["runTime"], subtask["prohibitRollback"]) == ("JAVA_TASK", 1, False)
        assert subtask["name"] == subtask["description"]
        assert subtask.get("taskId", task["id"]) == task["id"]


def test_server_restart_shows_cluster_and_host(emulated):
    task = emulated.restart_server(8)
    assert (task["name"], task["clusterId"], task["hostId"]) == ("Restart OB server", 2, 8)
    assert {subtask["parallelIdx"] for subtask in task["subtasks"]} == {-1}


def test_cluster_restart_shows_the_cluster_and_a_text_context(emulated):
    task = emulated.restart_cluster(2)
    assert task["name"] == "Restart OB cluster"
    assert task["cluster"] == {"id": 2, "name": "payments", "obClusterId": 102}
    assert task["creator"] == {"id": 100, "name": "admin"}
    assert task["context"].startswith("Context(parallelIdx=-1, stringMap={")
    assert "cluster_name=payments" in task["context"]
    assert "zone_names=[zone1, zone2, zone3]" in task["context"]
    assert "2.zone2.server_ids=[8]" in task["context"]


def test_agent_restart_context_has_the_host_ids_as_strings(emulated):
    task = emulated.restart_agents(3, 9)
    assert task["name"] == "Batch restart OCP agent"
    assert task["context"] == {
        "listMap": {"host_ids": ["3", "9"]},
        "parallel": False,
        "parallelIdx": -1,
        "stringMap": {"prohibit_rollback": "false"},
    }
    assert len({subtask["className"] for subtask in task["subtasks"]}) == 6


def test_agent_restart_on_three_hosts_forks_and_joins(emulated, ordered):
    steps = ordered(emulated.restart_agents(1, 2, 3)["subtasks"])
    assert len(steps) == 5 * 3 + 4
    assert [step["parallelIdx"] for step in steps] == [0, 1, 2, -1] * 4 + [0, 1, 2]
    assert [step["status"] for step in steps] == ["READY"] * 3 + ["PENDING"] * 16
    for step in steps:
        if step["description"] == "Wait node":
            assert (len(step["upstreams"]), len(step["downstreams"])) == (3, 3)


@pytest.mark.parametrize("prefix", ["", "/api/v2"])
@pytest.mark.parametrize("key", ["hostIds", "hostids"])
def test_agent_restart_accepts_both_paths_and_spellings(emulated, prefix, key):
    task = emulated.data("POST", f"{prefix}/compute/hosts/batchRestartAgents", json={key: [4]})
    assert task["context"]["listMap"]["host_ids"] == ["4"]


def test_duplicate_host_is_restarted_once(emulated):
    assert emulated.restart_agents(5, 5)["context"]["listMap"]["host_ids"] == ["5"]


@pytest.mark.parametrize(
    "options",
    [
        {"params": {"freezeServer": "false"}},
        {"params": {"freezeServer": "True", "force": "true"}},
        {"json": {"freezeServer": False}},
        {"json": {"freezeServer": True, "force": None}},
        {"params": {"freezeServer": "true", "force": "false"}, "json": {"freezeServer": True, "force": False}},
        {"params": {"freezeServer": "true"}, "json": {}},
    ],
)
def test_server_restart_reads_flags_from_query_or_body(emulated, options):
    assert emulated.restart_server(1, **options)["status"] == "RUNNING"


def test_envelope_shows_server_time_and_trace_id(emulated):
    body = emulated.request("POST", "/api/v2/arbitration/services/1/restart").json()
    assert types_of(body) == {
        "data": OBJECT,
        "duration": NUMBER,
        "server": TEXT,
        "status": NUMBER,
        "successful": FLAG,
        "timestamp": TEXT,
        "traceId": TEXT,
    }
    assert (body["successful"], body["status"], body["server"]) == (True, 200, "127.0.0.1:8080")
    assert body["duration"] >= 0
    assert re.fullmatch(r"[0-9a-f]{16}", body["traceId"])
    assert MOMENT.fullmatch(body["timestamp"])
    assert MOMENT.fullmatch(body["data"]["startTime"])


def test_response_shows_a_running_task_even_when_steps_take_no_time(start, ordered):
    emulated = start(step_ms=0)
    task = emulated.restart_server(1)
    assert task["status"] == "RUNNING"
    assert [step["status"] for step in ordered(task["subtasks"])] == ["READY"] + ["PENDING"] * 12
    assert emulated.task(task["id"])["status"] == "SUCCESSFUL"


def test_task_and_subtask_ids_increase_and_are_unique(emulated):
    tasks = [emulated.restart_server(server) for server in (1, 2, 3)]
    ids = [task["id"] for task in tasks]
    assert ids == sorted(set(ids))
    subtask_ids = [{subtask["id"] for subtask in task["subtasks"]} for task in tasks]
    assert max(subtask_ids[0]) < min(subtask_ids[1])
    assert max(subtask_ids[1]) < min(subtask_ids[2])
