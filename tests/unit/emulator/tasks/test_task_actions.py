# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Every row of docs/dev/contract.md, "Task actions", and every refusal, on five steps in a chain."""

from datetime import datetime, timedelta

import pytest

STOP, START = "Stop arbitration service", "Start arbitration service"
FIRST, LAST = "Prepare restart arbitration service", "Update arbitration service status"
TASKS = "/api/v2/tasks/instances"

CALLS = [("task", "retry"), ("task", "rollback"), ("subtask", "retry"), ("subtask", "skip"), ("subtask", "cancel")]

# What has gone wrong, how many seconds ago, and what was done then; the subtask to look at, its state and the task's.
SITUATIONS = {
    "ready": ([], [0], FIRST, ("READY", "EXECUTE"), ("RUNNING", "EXECUTE")),
    "running": ([], [0.5], FIRST, ("RUNNING", "EXECUTE"), ("RUNNING", "EXECUTE")),
    "pending": ([], [0.5], LAST, ("PENDING", "EXECUTE"), ("RUNNING", "EXECUTE")),
    "canceling": ([], [0.5, "cancel"], FIRST, ("CANCELING", "CANCEL"), ("RUNNING", "EXECUTE")),
    "canceled": ([], [0.5, "cancel", 0.1], FIRST, ("FAILED", "CANCEL"), ("FAILED", "EXECUTE")),
    "failed": (["fail"], [9], START, ("FAILED", "EXECUTE"), ("FAILED", "EXECUTE")),
    "failed again": (["fail", "fail"], [9, "retry task", 9], START, ("FAILED", "RETRY"), ("FAILED", "RETRY")),
    "timed out": (["stall"], [1803], START, ("FAILED", "CANCEL"), ("FAILED", "EXECUTE")),
    "beyond return": (["fail!"], [9], START, ("FAILED", "EXECUTE"), ("FAILED", "EXECUTE")),
    "skipped": (["fail"], [9, "skip", 0.1], START, ("SUCCESSFUL", "SKIP"), ("RUNNING", "EXECUTE")),
    "rolling back": (["fail"], [9, "rollback task", 0.5], START, ("RUNNING", "ROLLBACK"), ("RUNNING", "ROLLBACK")),
    "back failed": (["fail", "back"], [9, "rollback task", 9], STOP, ("FAILED", "ROLLBACK"), ("FAILED", "ROLLBACK")),
    "back canceled": (
        ["fail"],
        [9, "rollback task", 0.5, "cancel", 0.1],
        START,
        ("FAILED", "CANCEL"),
        ("FAILED", "ROLLBACK"),
    ),
    "back skipped": (
        ["fail", "back"],
        [9, "rollback task", 9, "skip", 0.1],
        STOP,
        ("PENDING", "ROLLBACK_SKIP"),
        ("RUNNING", "ROLLBACK"),
    ),
    "rolled back": (["fail"], [9, "rollback task", 9], START, ("PENDING", "ROLLBACK"), ("SUCCESSFUL", "ROLLBACK")),
    "successful": ([], [5], LAST, ("SUCCESSFUL", "EXECUTE"), ("SUCCESSFUL", "EXECUTE")),
    "successful after a retry": (
        ["fail"],
        [9, "retry task", 9],
        START,
        ("SUCCESSFUL", "RETRY"),
        ("SUCCESSFUL", "RETRY"),
    ),
}
FAULTS = {
    "fail": {"action": "fail", "subtask": START},
    "fail!": {"action": "fail", "subtask": START, "prohibitRollback": True},
    "stall": {"action": "stall", "subtask": START},
    "back": {"action": "fail", "match": {"subtask": STOP, "operation": "ROLLBACK"}},
}

FORWARD_READY = {("task", "retry"): ("RETRY", "RETRY"), ("subtask", "retry"): (None, "RETRY")}
FAILED = {**FORWARD_READY, ("subtask", "skip"): (None, "SKIP"), ("task", "rollback"): ("ROLLBACK", "ROLLBACK")}
BACK_FAILED = {("task", "rollback"): ("ROLLBACK", "ROLLBACK"), ("subtask", "skip"): (None, "ROLLBACK_SKIP")}
CANCELABLE = {("subtask", "cancel"): (None, "CANCEL")}

# In which situation which call is allowed, and the operations that task (None: as it was) and subtask have then.
ALLOWED = {
    "running": CANCELABLE,
    "canceled": FAILED,
    "failed": FAILED,
    "failed again": FAILED,
    "timed out": FAILED,
    "beyond return": {call: then for call, then in FAILED.items() if call != ("task", "rollback")},
    "rolling back": CANCELABLE,
    "back failed": BACK_FAILED,
    "back canceled": BACK_FAILED,
}


@pytest.fixture
def brought_to(emulated):
    """Bring a task into a situation; its id and that of the subtask to look at."""

    def bring(situation):
        faults, course, description, subtask_state, task_state = SITUATIONS[situation]
        for fault in faults:
            emulated.plan(**FAULTS[fault])
        task_id = emulated.restart_arbitration()["id"]
        subtask_id = emulated.step(task_id, description)["id"]
        for event in course:
            if isinstance(event, str):
                verb, _blank, whole = event.partition(" ")
                assert emulated.steer(task_id, verb, None if whole else subtask_id).status_code == 200
            else:
                emulated.pass_time(event)
        task, subtask = emulated.task(task_id), emulated.step(task_id, description)
        assert (subtask["status"], subtask["operation"]) == subtask_state
        assert (task["status"], task["operation"]) == task_state
        assert ("finishTime" in task) == (task["status"] != "RUNNING")
        return task_id, subtask_id

    return bring


@pytest.mark.parametrize(("on", "verb"), CALLS)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_task_action_is_allowed_only_in_documented_states(emulated, brought_to, situation, on, verb):
    task_id, subtask_id = brought_to(situation)
    before = emulated.task(task_id)
    answer = emulated.steer(task_id, verb, subtask_id if on == "subtask" else None)
    after = emulated.task(task_id)
    then = ALLOWED.get(situation, {}).get((on, verb))
    if then is None:
        code = 10009 if (situation, verb) == ("beyond return", "rollback") else 10007
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
        assert after == before
        return
    assert answer.status_code == 200
    subtask = next(each for each in after["subtasks"] if each["id"] == subtask_id)
    task_operation, subtask_operation = then
    assert (after["status"], after["operation"]) == ("RUNNING", task_operation or before["operation"])
    assert (subtask["status"], subtask["operation"]) == (
        "CANCELING" if verb == "cancel" else "READY",
        subtask_operation,
    )
    assert "finishTime" not in after
    assert after["startTime"] == before["startTime"]
    # What is answered: the task, the subtask, or nothing.
    data = answer.json().get("data")
    if verb == "retry":
        assert data == (after if on == "task" else subtask)
    else:
        assert set(answer.json()) == {"duration", "server", "status", "successful", "timestamp", "traceId"}
    emulated.pass_time(20_000)
    end = emulated.task(task_id)
    assert end["status"] == ("FAILED" if verb == "cancel" else "SUCCESSFUL")
    done = "PENDING" if end["operation"] == "ROLLBACK" else "SUCCESSFUL"
    if verb != "cancel":
        assert {each["status"] for each in end["subtasks"]} == {done}
        assert "operatingTaskInstanceId" not in emulated.get("/api/v2/arbitration/services/1")


@pytest.mark.parametrize("verb", ["retry", "rollback"])
def test_action_on_an_unknown_task_is_404(emulated, verb):
    answer = emulated.steer(98765, verb)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, 10001)


@pytest.mark.parametrize("verb", ["retry", "skip", "cancel"])
def test_action_on_an_unknown_subtask_is_404(emulated, verb):
    one, other = emulated.restart_server(1), emulated.restart_arbitration()
    for task_id, subtask_id in ((98765, 1), (one["id"], 98765), (one["id"], other["subtasks"][0]["id"])):
        answer = emulated.steer(task_id, verb, subtask_id)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, 10001)


def test_task_fails_with_its_subtask_and_later_subtasks_stay_pending(emulated, brought_to):
    task_id, _subtask_id = brought_to("failed")
    task = emulated.task(task_id)
    end = datetime.fromisoformat(task["startTime"]) + timedelta(seconds=3)
    assert datetime.fromisoformat(task["finishTime"]) == end
    assert [step["status"] for step in emulated.steps(task_id)] == ["SUCCESSFUL"] * 2 + ["FAILED"] + ["PENDING"] * 2
    assert "startTime" not in emulated.steps(task_id)[3]


def test_subtask_times_out_only_after_its_timeout(emulated):
    emulated.plan("slow", START, seconds=1800 - 0.9)
    emulated.plan("slow", LAST, seconds=60 - 0.899)
    task_id = emulated.restart_arbitration()["id"]
    emulated.pass_time(1802.1)
    # Exactly as long as it may.
    assert emulated.step(task_id, START)["status"] == "SUCCESSFUL"
    emulated.pass_time(61.099)
    assert emulated.step(task_id, LAST)["status"] == "RUNNING"
    emulated.pass_time(0.001)
    step = emulated.step(task_id, LAST)
    assert (step["status"], step["operation"]) == ("FAILED", "CANCEL")
    ran = datetime.fromisoformat(step["finishTime"]) - datetime.fromisoformat(step["startTime"])
    assert ran == timedelta(seconds=60)
    assert "time-out of 60 s" in emulated.log(task_id, step["id"])[-2]


def test_task_waits_for_parallel_subtasks_before_it_fails(emulated):
    first = "Prepare restart OCP agent"
    emulated.plan("fail", match={"subtask": first, "element": 1})
    emulated.plan("slow", match={"subtask": first, "element": "2"}, seconds=10)
    task_id = emulated.restart_agents(1, 2, 3)["id"]
    emulated.pass_time(1)
    assert [step["status"] for step in emulated.steps(task_id)][:4] == ["FAILED", "RUNNING", "SUCCESSFUL", "PENDING"]
    assert emulated.task(task_id)["status"] == "RUNNING"
    emulated.pass_time(10)
    assert [step["status"] for step in emulated.steps(task_id)][:4] == ["FAILED"] + ["SUCCESSFUL"] * 2 + ["PENDING"]
    assert emulated.task(task_id)["status"] == "FAILED"


def test_task_keeps_running_while_one_of_two_failed_subtasks_is_retried(emulated):
    emulated.plan("fail", "Restart pos proxy", times=2)
    task_id = emulated.restart_agents(1, 2)["id"]
    emulated.pass_time(9)
    one, other = (step for step in emulated.steps(task_id) if step["status"] == "FAILED")
    assert emulated.steer(task_id, "retry", one["id"]).status_code == 200
    emulated.pass_time(0)
    assert emulated.task(task_id)["status"] == "RUNNING"
    emulated.pass_time(9)
    assert emulated.task(task_id)["status"] == "FAILED"
    states = {step["id"]: (step["status"], step["runTime"]) for step in emulated.steps(task_id)}
    assert states[one["id"]] == ("SUCCESSFUL", 1)
    emulated.steer(task_id, "retry")
    emulated.pass_time(20)
    end = {step["id"]: step["runTime"] for step in emulated.steps(task_id)}
    # The retry of the task counts, that of one subtask does not.
    assert (end[one["id"]], end[other["id"]]) == (1, 2)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"


def test_rollback_undoes_executed_subtasks_in_reverse_order(emulated):
    emulated.plan("fail", "Start all OCP agent processes")
    task_id = emulated.restart_agents(1, 2)["id"]
    emulated.pass_time(20)
    assert emulated.task(task_id)["status"] == "FAILED"
    emulated.steer(task_id, "rollback")
    levels = []
    for _second in range(8):
        emulated.pass_time(0.5)
        levels.append({step["description"] for step in emulated.steps(task_id) if step["status"] == "RUNNING"})
        emulated.pass_time(0.5)
    assert levels == [
        {"Start all OCP agent processes"},
        {"Wait node"},
        {"Stop all OCP agent processes"},
        {"Wait node"},
        {"Restart pos proxy"},
        {"Wait node"},
        {"Prepare restart OCP agent"},
        set(),
    ]
    task = emulated.task(task_id)
    assert (task["status"], task["operation"]) == ("SUCCESSFUL", "ROLLBACK")
    assert {step["status"] for step in task["subtasks"]} == {"PENDING"}
    never_run = {step["description"] for step in task["subtasks"] if step["operation"] == "EXECUTE"}
    assert never_run == {"Wait node", "Finish OCP agent operation"}
    (listed,) = emulated.get(TASKS)["contents"]
    assert listed["operation"] == "rollback"


def test_each_attempt_has_its_own_header_in_the_log(emulated):
    emulated.plan("fail", START, message="the disk is full")
    task_id = emulated.restart_arbitration()["id"]
    step = emulated.step(task_id, START)["id"]
    emulated.pass_time(3)
    emulated.steer(task_id, "retry")
    emulated.pass_time(0.5)
    emulated.steer(task_id, "cancel", step)
    emulated.pass_time(1)
    emulated.steer(task_id, "skip", step)
    emulated.pass_time(1)

    def told(second, level, sentence):
        return f"2026-11-21T12:00:{second}+08:00 {level} subtask {step}: {sentence}"

    assert emulated.log(task_id, step) == [
        "############{EXECUTE}{2026-11-21T12:00:02.1+08:00}############",
        told("02.1", "INFO", "status READY -> RUNNING"),
        told("03", "ERROR", "failed: the disk is full"),
        told("03", "INFO", "status RUNNING -> FAILED"),
        "############{RETRY}{2026-11-21T12:00:03.1+08:00}############",
        told("03.1", "INFO", "status READY -> RUNNING"),
        told("03.5", "INFO", "status RUNNING -> CANCELING"),
        told("03.6", "ERROR", "failed: it was canceled"),
        told("03.6", "INFO", "status CANCELING -> FAILED"),
        "############{SKIP}{2026-11-21T12:00:04.6+08:00}############",
        told("04.6", "INFO", "skipped, nothing done"),
        told("04.6", "INFO", "status READY -> SUCCESSFUL"),
    ]


def test_rollback_is_prohibited_only_by_subtasks_that_have_run(emulated):
    emulated.plan("slow", START, factor=1, prohibitRollback=True)
    task_id = emulated.restart_arbitration()["id"]
    assert emulated.task(task_id)["prohibitRollback"] is False
    emulated.pass_time(2.5)
    assert emulated.task(task_id)["prohibitRollback"] is True
    prohibits = {step["description"]: step["prohibitRollback"] for step in emulated.steps(task_id)}
    assert [description for description, value in prohibits.items() if value] == [START]
