# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of kind subtask: which attempts they hit, what they do to them, and which are refused."""

from datetime import datetime, timedelta

import pytest

START = "Start observer process"
FAULTS = "/emulator/faults"


def moment(text):
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("match", "hit"),
    [
        ({}, True),
        ({"task": "restart ob SERVER"}, True),
        ({"task": "Restart OB cluster"}, False),
        ({"taskId": 1001}, True),
        ({"taskId": 1002}, False),
        ({"subtask": "start observer process"}, True),
        ({"subtask": "observer"}, False),
        ({"element": 2}, True),
        ({"element": "3"}, False),
        ({"operation": "EXECUTE"}, True),
        ({"operation": "RETRY"}, False),
        ({"operation": "ROLLBACK"}, False),
        ({"task": "Restart OB server", "subtask": START, "element": "2", "operation": "EXECUTE"}, True),
        ({"task": "Restart OB server", "subtask": START, "element": "1"}, False),
    ],
)
def test_fault_hits_only_matching_subtasks(emulated, match, hit):
    emulated.plan("fail", match=match)
    task_id = emulated.restart_server(2)["id"]
    emulated.pass_time(13)
    assert emulated.task(task_id)["status"] == ("FAILED" if hit else "SUCCESSFUL")
    (fault,) = emulated.get(FAULTS)["contents"]
    assert fault["hits"] == hit


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        ({"action": "slow", "seconds": 5}, 18),
        ({"action": "slow", "factor": 2}, 13.9),
        ({"action": "slow", "factor": 2, "seconds": 1}, 14.9),
        ({"action": "slow", "factor": 0}, 12.1),
        ({"action": "slow", "factor": 2, "times": 3, "match": {}}, 15.7),
    ],
)
def test_slow_fault_extends_a_step_by_factor_and_seconds(emulated, fault, seconds):
    emulated.plan(**{"subtask": START, **fault})
    task = emulated.restart_server(2)
    emulated.pass_time(100)
    end = emulated.task(task["id"])
    assert moment(end["finishTime"]) - moment(end["startTime"]) == timedelta(seconds=seconds)


def test_faults_hit_in_order_and_as_often_as_planned(emulated):
    first = emulated.plan("fail", START, times=2, message="first")
    second = emulated.plan("fail", START, times=None, message="second")
    task_id = emulated.failed_restart(START)
    step = emulated.step(task_id, START)["id"]
    for _retry in range(4):
        emulated.steer(task_id, "retry")
        emulated.pass_time(1)
    reasons = [line.rpartition(" ")[2] for line in emulated.log(task_id, step) if "failed:" in line]
    assert reasons == ["first", "first", "second", "second", "second"]
    hits = {fault["id"]: fault["hits"] for fault in emulated.get(FAULTS)["contents"]}
    assert (hits[first["id"]], hits[second["id"]]) == (2, 3)
    assert emulated.request("DELETE", f"{FAULTS}/{second['id']}").status_code == 200
    assert second["id"] not in {fault["id"] for fault in emulated.get(FAULTS)["contents"]}
    emulated.request("DELETE", FAULTS)
    assert emulated.get(FAULTS) == {"contents": []}
    emulated.steer(task_id, "retry")
    emulated.pass_time(10)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "'kind'"),
        ({"kind": "network", "action": "fail"}, "'kind'"),
        ({"kind": "subtask"}, "'action'"),
        ({"kind": "subtask", "action": "explode"}, "'action'"),
        ({"kind": "subtask", "action": "fail", "times": 0}, "'times'"),
        ({"kind": "subtask", "action": "fail", "times": 1.5}, "'times'"),
        ({"kind": "subtask", "action": "fail", "factor": 2}, "slow"),
        ({"kind": "subtask", "action": "slow"}, "factor"),
        ({"kind": "subtask", "action": "slow", "factor": -1}, "'factor'"),
        ({"kind": "subtask", "action": "stall", "message": "x"}, "message"),
        ({"kind": "subtask", "action": "fail", "match": {"host": 1}}, "'match.host'"),
        ({"kind": "subtask", "action": "fail", "match": {"operation": "SKIP"}}, "'match.operation'"),
        ({"kind": "subtask", "action": "fail", "colour": "red"}, "'colour'"),
    ],
)
def test_invalid_fault_is_400_and_named(emulated, body, named):
    assert named in emulated.error(400, "POST", FAULTS, json=body)["message"]
    assert emulated.get(FAULTS) == {"contents": []}
