# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One shape for every documented form of a task, its execution order and its outcome."""

from __future__ import annotations

import json
from dataclasses import fields
from itertools import pairwise
from typing import Any

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Subtask, Task, is_finished
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import chain, raw_task, step
from hypothesis import given
from hypothesis import strategies as st

# The documented forms of starts and reads, none of them in
# execution order. ``ORDERS`` has the ids in execution order.

_SERVER_STEP = {
    "nodeType": "JAVA_TASK",
    "parallelIdx": -1,
    "prohibitRollback": True,
    "prohibitSkip": False,
    "runTime": 1,
    "taskId": 700,
    "timeout": 1200,
}
SERVER = raw_task(
    700,
    creator="dba",
    executor="10.1.0.9",
    clusterId=31,
    hostId=32,
    prohibitRollback=False,
    taskDefinitionId=-1,
    type="MANUAL",
    startTime="2026-05-04T03:02:01.5+08:00",
    subtasks=[
        step(13, "Start observer process", seriesId=0, upstreams=[11], downstreams=[12], **_SERVER_STEP),
        step(14, "Prepare restart observer", "READY", seriesId=1, downstreams=[11], **_SERVER_STEP),
        step(12, "Update observer status", seriesId=2, upstreams=[13], **_SERVER_STEP),
        step(11, "Stop observer process", seriesId=3, upstreams=[14], downstreams=[13], **_SERVER_STEP),
    ],
)
CLUSTER = {
    "id": 701,
    "name": "Restart OB cluster",
    "status": "RUNNING",
    "startTime": "2026-05-04T03:02:01.026+08:00",
    "creator": {"id": 5, "name": "dba"},
    "cluster": {"id": 31, "name": "orders", "obClusterId": 77},
    "context": "Context(parallelIdx=-1, stringMap={cluster_name=orders}, listMap={zone_names=[zone1]})",
    "tasks": [
        step(22, "Start zone", upstreams=[23]),
        step(21, "Prepare restart cluster", "RUNNING", downstreams=[23]),
        step(23, "Set zone context", upstreams=[21], downstreams=[22]),
    ],
}
_AGENT_STEP = {
    "nodeType": "JAVA_TASK",
    "prohibitRollback": False,
    "runTime": 1,
    "timeout": 60,
    "className": "com.example.Step",
}
AGENTS = raw_task(
    702,
    creator="dba",
    executor="10.1.0.9",
    taskDefinitionId=-1,
    type="MANUAL",
    context={"listMap": {"host_ids": ["1", "2"]}, "parallel": True, "parallelIdx": -1, "stringMap": {}},
    subtasks=[
        step(35, "Wait node", parallelIdx=-1, upstreams=[34, 31], downstreams=[33, 36], **_AGENT_STEP),
        step(36, "Start", parallelIdx=0, upstreams=[35], **_AGENT_STEP),
        step(31, "Stop", "READY", parallelIdx=1, downstreams=[35], **_AGENT_STEP),
        step(33, "Start", parallelIdx=1, upstreams=[35], **_AGENT_STEP),
        step(34, "Stop", "READY", parallelIdx=0, downstreams=[35], **_AGENT_STEP),
    ],
)
ARBITRATION = raw_task(
    703,
    creator="dba",
    executor="10.1.0.9",
    prohibitRollback=True,
    taskDefinitionId=-1,
    type="MANUAL",
    subtasks=[
        step(42, "Start arbitration service", seriesId=0, upstreams=[41], **_SERVER_STEP),
        step(41, "Stop arbitration service", "READY", seriesId=1, downstreams=[42], **_SERVER_STEP),
    ],
)
DETAIL = raw_task(
    704,
    "SUCCESSFUL",
    creator={"id": 5, "name": "dba"},
    cluster={"id": 31, "name": "orders", "obClusterId": 77, "type": "PRIMARY"},
    tenant=None,
    tags=[],
    createTime="2026-05-04T03:02:00+08:00",
    startTime="2026-05-04T03:02:01.74+08:00",
    finishTime="2026-05-04T03:02:21+08:00",
    subtasks=[
        step(
            51,
            "Only step",
            "SUCCESSFUL",
            createTime="2026-05-04T03:02:00+08:00",
            startTime="2026-05-04T03:02:02+08:00",
            finishTime="2026-05-04T03:02:20.5+08:00",
            executor="10.1.0.9",
            runTime=2,
        )
    ],
)
LIST_ENTRY = {
    "id": 705,
    "name": "Prepare tenant",
    "status": "SUCCESSFUL",
    "operation": "execute",
    "creator": {"id": 200, "name": "system"},
    "cluster": {"id": 31, "name": "orders"},
    "tags": [{"objectType": "HOST"}],
    "subtasks": [
        {"id": 62, "name": "b", "description": "B", "status": "SUCCESSFUL", "operation": "execute"},
        {"id": 61, "name": "a", "description": "A", "status": "SUCCESSFUL", "operation": "execute"},
    ],
}
FORMS = {
    "server": SERVER,
    "cluster": CLUSTER,
    "agents": AGENTS,
    "arbitration": ARBITRATION,
    "detail": DETAIL,
    "list entry": LIST_ENTRY,
    "nothing but an id": {"id": 706},
    "all null": {"id": 707, **dict.fromkeys(("name", "status", "creator", "cluster", "subtasks", "tasks"))},
}
ORDERS = {
    "server": [14, 11, 13, 12],
    "cluster": [21, 23, 22],
    "agents": [34, 31, 35, 36, 33],
    "arbitration": [41, 42],
    "detail": [51],
    "list entry": [62, 61],
    "nothing but an id": [],
    "all null": [],
}
TASK_KEYS = {field.name for field in fields(Task)} | {"finished", "succeeded", "rolled_back", "progress"}


@pytest.mark.parametrize(("raw", "order"), [(FORMS[form], ORDERS[form]) for form in FORMS], ids=FORMS)
class TestForms:
    def test_result_always_has_the_same_keys(self, raw, order):
        result = Task.from_api(raw).result()
        assert result.keys() == TASK_KEYS
        assert all(step.keys() == {field.name for field in fields(Subtask)} for step in result["subtasks"])
        assert len(result["subtasks"]) == len(order)

    def test_subtasks_are_in_execution_order(self, raw, order):
        assert [step["id"] for step in Task.from_api(raw).result()["subtasks"]] == order

    def test_result_is_json(self, raw, order):
        result = Task.from_api(raw).result()
        assert json.loads(json.dumps(result)) == result
        assert result["progress"]["total"] == len(order)


def test_server_restart_task_is_normalized():
    result = Task.from_api(SERVER).result()
    steps = result.pop("subtasks")
    assert result == {
        "id": 700,
        "name": "Restart 700",
        "status": "RUNNING",
        "operation": "EXECUTE",
        "type": "MANUAL",
        "creator": "dba",
        "executor": "10.1.0.9",
        "create_time": None,
        "start_time": "2026-05-04T03:02:01.5+08:00",
        "finish_time": None,
        "duration": None,
        "cluster_id": 31,
        "cluster_name": None,
        "host_id": 32,
        "prohibit_rollback": False,
        "task_definition_id": -1,
        "targets": [],
        "finished": False,
        "succeeded": False,
        "rolled_back": False,
        "progress": {"done": 0, "total": 4, "running": []},
    }
    assert steps[1] == {
        "id": 11,
        "name": "Stop observer process",
        "description": "Stop observer process",
        "status": "PENDING",
        "operation": "EXECUTE",
        "upstreams": [14],
        "downstreams": [13],
        "timeout": 1200,
        "duration": None,
        "start_time": None,
        "finish_time": None,
        "executor": None,
        "run_time": 1,
        "parallel_idx": -1,
        "series_id": 3,
        "node_type": "JAVA_TASK",
        "class_name": None,
        "prohibit_rollback": True,
        "prohibit_skip": False,
    }


@pytest.mark.parametrize(
    ("form", "known"),
    [
        (
            "cluster",
            {"creator": "dba", "cluster_id": 31, "cluster_name": "orders", "executor": None, "operation": None},
        ),
        ("agents", {"creator": "dba", "cluster_id": None, "host_id": None, "prohibit_rollback": None}),
        ("arbitration", {"prohibit_rollback": True, "type": "MANUAL", "cluster_id": None}),
        ("detail", {"creator": "dba", "cluster_id": 31, "cluster_name": "orders", "duration": 19.26}),
        ("list entry", {"creator": "system", "operation": "execute", "succeeded": True, "rolled_back": False}),
        ("nothing but an id", {"id": 706, "status": None, "finished": False, "creator": None}),
    ],
)
def test_other_task_forms_are_normalized(form, known):
    result = Task.from_api(FORMS[form]).result()
    assert {name: result[name] for name in known} == known


def test_subtask_has_its_times_and_executor():
    [only] = Task.from_api(DETAIL).result()["subtasks"]
    assert (only["start_time"], only["finish_time"]) == ("2026-05-04T03:02:02+08:00", "2026-05-04T03:02:20.5+08:00")
    assert (only["duration"], only["run_time"], only["executor"]) == (18.5, 2, "10.1.0.9")


def test_agent_subtask_has_its_class_name():
    assert {step.class_name for step in Task.from_api(AGENTS).subtasks} == {"com.example.Step"}


# Execution order


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[int]]:
    """Draw levels of steps and their execution order; each step is linked to all of the next level.

    Ids and series have no meaning, and a link may be present at one end only.
    """
    widths = draw(st.lists(st.integers(1, 4), min_size=2, max_size=8))
    ids = draw(st.lists(st.integers(1, 10**9), min_size=sum(widths), max_size=sum(widths), unique=True))
    order = list(ids)
    levels = [[ids.pop(0) for _place in range(width)] for width in widths]
    steps = {
        number: step(number, "s", parallelIdx=index if len(level) > 1 else -1, seriesId=draw(st.integers(0, 99)))
        for level in levels
        for index, number in enumerate(level)
    }
    for earlier, later in pairwise(levels):
        told_by = draw(st.sampled_from(["both", "earlier", "later"]))
        for number in earlier if told_by != "later" else ():
            steps[number]["downstreams"] = later
        for number in later if told_by != "earlier" else ():
            steps[number]["upstreams"] = earlier
    return draw(st.permutations(list(steps.values()))), order


@given(graphs())
def test_any_array_order_gives_the_same_execution_order(drawn):
    shuffled, order = drawn
    assert [step.id for step in Task.from_api({"id": 1, "subtasks": shuffled}).subtasks] == order


@given(st.data())
def test_execution_order_respects_every_link(data):
    count = data.draw(st.integers(1, 12))
    pair = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda link: link[0] < link[1])
    links = data.draw(st.lists(pair, max_size=30, unique=True)) if count > 1 else []
    steps = [
        {
            "id": number,
            "upstreams": [earlier for earlier, later in links if later == number],
            "downstreams": [later for earlier, later in links if earlier == number],
        }
        for number in range(count)
    ]
    order = [step.id for step in Task.from_api({"id": 1, "subtasks": data.draw(st.permutations(steps))}).subtasks]
    assert sorted(order) == list(range(count))
    assert all(order.index(earlier) < order.index(later) for earlier, later in links)


@pytest.mark.parametrize(
    "links",
    [
        pytest.param({3: [1], 1: [2], 2: [3]}, id="all in a circle"),
        pytest.param({2: [1], 1: [2]}, id="two in a circle, one beside"),
        pytest.param({2: [2]}, id="linked with itself"),
    ],
)
def test_cycle_loses_no_subtask(links):
    steps = [step(number, f"step {number}", upstreams=links.get(number, [])) for number in (3, 1, 2)]
    task = Task.from_api(raw_task(1, subtasks=steps))
    assert sorted(step.id for step in task.subtasks) == [1, 2, 3]
    assert task.result()["progress"]["total"] == 3


def test_dangling_links_are_ignored():
    steps = [
        step(2, "b", upstreams=[1, 98], downstreams=[99]),
        step(1, "a", upstreams=[97], downstreams=[2, 96]),
    ]
    task = Task.from_api(raw_task(1, subtasks=steps))
    assert [step.id for step in task.subtasks] == [1, 2]
    assert task.subtasks[1].upstreams == [1, 98]  # as the service reports it


def test_subtasks_without_ids_are_all_shown():
    steps = [{"description": "a"}, {"description": "b"}]
    assert [step.description for step in Task.from_api(raw_task(1, subtasks=steps)).subtasks] == ["a", "b"]


def test_parallel_subtasks_without_an_index_ignore_the_array_order():
    steps = [step(1, "first", downstreams=[2, 3]), step(2, "b", upstreams=[1]), step(3, "c", upstreams=[1])]
    for array in (steps, steps[::-1]):
        assert [step.id for step in Task.from_api(raw_task(1, subtasks=array)).subtasks] == [1, 2, 3]


def test_long_chain_is_ordered():
    steps = chain(*(step(number, f"step {number}") for number in range(3000)))
    order = [step.id for step in Task.from_api(raw_task(1, subtasks=steps[::-1])).subtasks]
    assert order == list(range(3000))


def test_position_counts_subtasks_in_execution_order():
    task = Task.from_api(SERVER)
    assert [task.position(step) for step in task.subtasks] == ["1 of 4", "2 of 4", "3 of 4", "4 of 4"]


@pytest.mark.parametrize(
    ("names", "label"),
    [
        ({"name": "n", "description": "d"}, "d"),
        ({"name": "n", "description": ""}, "n"),
        ({"name": "n"}, "n"),
        ({"name": None, "description": None}, "subtask 7"),
    ],
    ids=repr,
)
def test_subtask_label_prefers_the_description(names, label):
    assert Task.from_api({"id": 1, "subtasks": [{"id": 7, **names}]}).subtasks[0].label == label


# Outcome


LATER = "2026-05-04T03:02:04.5+08:00"


@pytest.mark.parametrize(
    ("status", "finish_time", "finished", "succeeded"),
    [
        ("SUCCESSFUL", None, True, True),
        ("SUCCESSFUL", LATER, True, True),
        ("FAILED", None, True, False),
        ("FAILED", LATER, True, False),
        *((status, LATER, True, False) for status in ("CANCELED", "TERMINATED", "successful", "\x1b")),
        *((status, None, False, False) for status in ("CANCELED", "SUSPENDED", "successful", "", None)),
        *((status, "soon", False, False) for status in ("CANCELED", "SUSPENDED")),
        *(
            (status, time, False, False)
            for status in ("RUNNING", "READY", "PENDING", "CANCELING")
            for time in (None, LATER)
        ),
        ("", LATER, False, False),
        (None, LATER, False, False),
    ],
)
def test_status_and_finish_time_decide_finished_and_succeeded(status, finish_time, finished, succeeded):
    task = Task.from_api(raw_task(1, status, finishTime=finish_time, subtasks=[step(1, "a", "SUCCESSFUL")]))
    assert (task.finished, task.succeeded, task.rolled_back) == (finished, succeeded, False)
    assert is_finished({"id": 1, "status": status, "finishTime": finish_time}) is finished


@pytest.mark.parametrize(
    ("status", "operation", "steps", "rolled_back"),
    [
        pytest.param("SUCCESSFUL", "ROLLBACK", [], True, id="by its operation"),
        pytest.param("SUCCESSFUL", "rollback", [], True, id="by its operation in lower case"),
        pytest.param("SUCCESSFUL", "execute", [("PENDING", "EXECUTE")], True, id="by a step still pending"),
        pytest.param("SUCCESSFUL", None, [("SUCCESSFUL", "rollback")], True, id="by the operation of a step"),
        pytest.param("SUCCESSFUL", "RETRY", [("SUCCESSFUL", "RETRY")], False, id="retried"),
        pytest.param("SUCCESSFUL", "EXECUTE", [("SUCCESSFUL", "SKIP")], False, id="a step skipped"),
        pytest.param("RUNNING", "ROLLBACK", [("PENDING", "ROLLBACK")], False, id="rollback still running"),
        pytest.param("FAILED", "ROLLBACK", [("FAILED", "ROLLBACK")], False, id="rollback failed"),
        pytest.param("FAILED", "EXECUTE", [("FAILED", "EXECUTE"), ("PENDING", "EXECUTE")], False, id="failed"),
    ],
)
def test_rolled_back_task_is_recognized(status, operation, steps, rolled_back):
    subtasks = [step(number, "s", state, operation=done) for number, (state, done) in enumerate(steps)]
    result = Task.from_api(raw_task(1, status, operation=operation, subtasks=subtasks)).result()
    assert result["rolled_back"] is rolled_back
    assert result["succeeded"] is (status == "SUCCESSFUL" and not rolled_back)


def test_progress_counts_done_and_names_running_subtasks():
    states = ["SUCCESSFUL", "SUCCESSFUL", "RUNNING", "FAILED", "RUNNING", "READY", "PENDING", "CANCELING", "ABORTED"]
    steps = chain(*(step(number, f"s{number}", state) for number, state in enumerate(states)))
    task = Task.from_api(raw_task(1, subtasks=steps))
    assert task.result()["progress"] == {"done": 2, "total": 9, "running": ["s2", "s4"]}
    assert [step.label for step in task.failed_subtasks] == ["s3"]


@pytest.mark.parametrize(
    ("start", "finish", "seconds"),
    [
        ("2026-05-04T03:02:01+08:00", "2026-05-04T03:02:03+08:00", 2),
        ("2026-05-04T03:02:01.5+08:00", "2026-05-04T03:02:03+08:00", 1.5),
        ("2026-05-04T03:02:01.25+08:00", "2026-05-04T03:02:03.5+08:00", 2.25),
        ("2026-05-04T03:02:01.001+08:00", "2026-05-04T03:02:01.031+08:00", 0.03),
        ("2026-05-03T19:02:01Z", "2026-05-04T03:02:03+08:00", 2),
        ("2026-05-03T19:02:01.5Z", "2026-05-03T19:02:02Z", 0.5),
        ("2026-05-04T03:02:01+08:00", None, None),
        (None, "2026-05-04T03:02:01+08:00", None),
        ("", "", None),
        ("2026-05-04T03:02:01", "2026-05-04T03:02:03+08:00", None),
        ("yesterday", "2026-05-04T03:02:03+08:00", None),
        (1777863721, 1777863723, None),
    ],
)
def test_duration_is_the_time_from_start_to_finish(start, finish, seconds):
    times = {"startTime": start, "finishTime": finish}
    task = Task.from_api(raw_task(1, **times, subtasks=[step(1, "a", **times)]))
    assert task.duration == seconds
    assert task.subtasks[0].duration == seconds


def test_task_without_times_has_no_duration():
    assert Task.from_api(raw_task(1)).duration is None


@pytest.mark.parametrize(
    ("told", "host_id"),
    [
        ({"hostId": 9}, 9),
        ({"tags": [{"hostId": 9}]}, 9),
        ({"tags": [{"hostId": 9, "serverId": 1}, {"hostId": 9}]}, 9),
        ({"tags": [{"hostId": 9}, {"hostId": 8}]}, None),
        ({"hostId": 7, "tags": [{"hostId": 9}]}, 7),
        ({"tags": []}, None),
        ({"tags": None}, None),
        ({"tags": [{"clusterId": 9}]}, None),
        ({"hostId": None, "tags": [{"hostId": 9}]}, 9),
        ({"tags": ["x"]}, None),
    ],
    ids=repr,
)
def test_task_host_comes_from_its_field_or_tags(told, host_id):
    assert Task.from_api(raw_task(1, **told)).host_id == host_id


@pytest.mark.parametrize(
    ("told", "cluster"),
    [
        ({"clusterId": 9}, (9, None)),
        ({"clusterId": 9, "cluster": {"id": 31, "name": "orders"}}, (9, "orders")),
        ({"clusterId": None, "cluster": {"id": 31, "name": "orders"}}, (31, "orders")),
        ({"cluster": None}, (None, None)),
        ({"cluster": "orders"}, (None, None)),
    ],
    ids=repr,
)
def test_task_cluster_comes_from_its_field_or_record(told, cluster):
    task = Task.from_api(raw_task(1, **told))
    assert (task.cluster_id, task.cluster_name) == cluster


@pytest.mark.parametrize(
    ("tags", "targets", "title"),
    [
        (
            [{"clusterName": "orders", "zoneName": "zone1", "serverId": 1, "svrIp": "10.0.0.1"}],
            ["10.0.0.1"],
            " 10.0.0.1",
        ),
        ([{"clusterName": "orders", "zoneName": "zone1"}], ["orders zone1"], " orders zone1"),
        ([{"clusterName": "orders"}], ["orders"], " orders"),
        ([{"svrIp": "10.0.0.10", "arbitrationServiceSvrPort": 2888}], ["10.0.0.10:2888"], " 10.0.0.10:2888"),
        ([{"svrIp": "a"}, {"svrIp": "b"}, {"svrIp": "a"}], ["a", "b"], " a and 1 more"),
        ([{"svrIp": "a\nb"}], ["a\\nb"], " a\\nb"),
        ([{"serverId": 1}, "x", None], [], " in cluster payments"),
        (None, [], " in cluster payments"),
    ],
    ids=["server", "zone", "cluster", "arbitration service", "hosts", "line break", "no names", "no tags"],
)
def test_task_has_the_names_of_its_targets(tags, targets, title):
    task = Task.from_api({"id": 1, "name": "Restart", "tags": tags, "cluster": {"id": 2, "name": "payments"}})
    assert task.targets == task.result()["targets"] == targets
    assert task.label == f"1 (Restart{title})"


@pytest.mark.parametrize("raw", [SERVER, {}], ids=["full", "none"])
def test_task_is_read_from_its_result(raw):
    task = Task.from_api(raw)
    assert Task.from_result(task.result()).label == task.label
    assert [step.status for step in Task.from_result(task.result()).subtasks] == [step.status for step in task.subtasks]


@pytest.mark.parametrize(
    ("task", "label"),
    [({"id": 7, "name": "Restart"}, "7 (Restart)"), ({"id": 7, "name": ""}, "7"), ({"id": 7}, "7")],
    ids=repr,
)
def test_task_label_is_its_id_and_name(task, label):
    assert Task.from_api(task).label == label


@pytest.mark.parametrize(
    ("status", "steps", "at_first_step"),
    [
        pytest.param("FAILED", ["FAILED", "PENDING", "PENDING"], True, id="at the first step"),
        pytest.param("FAILED", ["FAILED"], True, id="at the only step"),
        pytest.param("FAILED", ["SUCCESSFUL", "FAILED", "PENDING"], False, id="at the second step"),
        pytest.param("FAILED", ["FAILED", "SUCCESSFUL", "PENDING"], False, id="a later one was carried out"),
        pytest.param("FAILED", ["FAILED", "FAILED", "PENDING"], False, id="at the first and the second step"),
        pytest.param("FAILED", ["PENDING", "PENDING"], True, id="before any step"),
        pytest.param("FAILED", [], False, id="no steps are shown"),
        pytest.param("RUNNING", ["FAILED", "PENDING"], False, id="not ended"),
        pytest.param("SUCCESSFUL", ["PENDING", "PENDING"], False, id="rolled back"),
        pytest.param("RUNNING", ["RUNNING", "PENDING"], False, id="running"),
    ],
)
def test_failure_at_the_first_subtask_is_recognized(status, steps, at_first_step):
    subtasks = chain(*(step(number, "s", state) for number, state in enumerate(steps, 1)))
    assert Task.from_api(raw_task(1, status, subtasks=subtasks)).failed_at_first_step is at_first_step


@pytest.mark.parametrize("shown_by", ["task", "steps"])
def test_rollback_that_failed_at_its_first_step_has_had_something_to_undo(shown_by):
    operation = {"operation": "ROLLBACK"}
    steps = chain(step(1, "s", "FAILED"), step(2, "s", "PENDING"))
    shown = [{**one, **operation} for one in steps] if shown_by == "steps" else steps
    more = operation if shown_by == "task" else {}
    assert not Task.from_api(raw_task(1, "FAILED", subtasks=shown, **more)).failed_at_first_step
