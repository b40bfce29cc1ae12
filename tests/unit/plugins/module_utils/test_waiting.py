# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is looked at, what ends the wait, and what the end says."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._errors import (
    AnswerLost,
    AuthenticationFailed,
    NotFound,
    OptionError,
    PermissionDenied,
    RequestRefused,
    TaskFailed,
    WaitTimeout,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting import (
    Patience,
    await_tasks,
    wait_for_success,
    wait_for_tasks,
)
from ansible_collections.oceanbase.ocp.tests.unit.plugins.module_utils._doubles import (
    URL,
    chain,
    raw_task,
    step,
)

PATIENT = Patience(timeout=7200, interval=10)
DONE = [step(1, "Only step", "SUCCESSFUL")]


def running(number: int, **fields):
    return raw_task(number, **fields)


def successful(number: int):
    return raw_task(number, "SUCCESSFUL", subtasks=DONE)


def refused(status: int):
    kind = {401: AuthenticationFailed, 403: PermissionDenied, 404: NotFound}.get(status, RequestRefused)
    return kind(f"Refused with {status}.", status=status, reason="", url=URL, trace_id=f"trace-{status}")


def test_finished_task_costs_one_look_and_no_pause(api, time_passes):
    api.expect("task", 7, gives=successful(7))
    waited = wait_for_tasks(api.double, [7], PATIENT, clock=time_passes.clock)
    assert [task["succeeded"] for task in waited.results] == [True]
    assert waited.warnings == []
    assert time_passes.pauses == []


# Several tasks


def test_order_asked_for_and_duplicates_once(api, time_passes):
    for number in (9, 4, 6):
        api.expect("task", number, gives=successful(number))
    waited = wait_for_tasks(api.double, [9, 4, 9, 6, 4], PATIENT, clock=time_passes.clock)
    assert [task["id"] for task in waited.results] == [9, 4, 6]


def test_finished_ones_are_not_looked_at_again(api, time_passes):
    api.expect("task", 1, gives=running(1)).expect("task", 2, gives=raw_task(2, "FAILED"))
    api.expect("task", 3, gives=running(3))
    api.expect("task", 1, gives=running(1)).expect("task", 3, gives=successful(3))
    api.expect("task", 1, gives=successful(1))
    waited = wait_for_tasks(api.double, [1, 2, 3], PATIENT, clock=time_passes.clock)
    assert [task["status"] for task in waited.results] == ["SUCCESSFUL", "FAILED", "SUCCESSFUL"]
    assert time_passes.pauses == [0.5, 0.5]


def test_unknown_status_is_waited_out(api, time_passes):
    api.expect("task", 1, gives=raw_task(1, "SUSPENDED")).expect("task", 1, gives=successful(1))
    assert wait_for_tasks(api.double, [1], PATIENT, clock=time_passes.clock).results[0]["succeeded"]


def test_result(api, time_passes):
    api.expect("task", 1, gives=running(1)).expect("task", 1, gives=successful(1))
    result = await_tasks(api.double, [1], PATIENT, clock=time_passes.clock)
    assert result.keys() == {"changed", "tasks", "elapsed", "warnings"}
    assert (result["changed"], result["elapsed"], result["warnings"]) == (False, 0.5, [])
    assert [(task["id"], task["succeeded"]) for task in result["tasks"]] == [(1, True)]


def test_empty_list_is_refused(api, time_passes):
    with pytest.raises(OptionError, match=r"^task_ids: the list is empty"):
        await_tasks(api.double, [], PATIENT, clock=time_passes.clock)


# Looks that fail


def survived(looks: str, last: Exception) -> str:
    return f"{looks} at the tasks failed and did not end the wait. The last: {last}"


PASSING = [refused(429), refused(500), refused(503), refused(400), AnswerLost("The answer was lost.", url=URL)]


@pytest.mark.parametrize("error", PASSING, ids=str)
def test_failed_look_is_survived(error, api, time_passes):
    api.expect("task", 1, gives=error).expect("task", 2, gives=running(2))
    api.expect("task", 1, gives=running(1)).expect("task", 2, gives=error)
    api.expect("task", 1, gives=successful(1)).expect("task", 2, gives=successful(2))
    waited = wait_for_tasks(api.double, [1, 2], PATIENT, clock=time_passes.clock)
    assert [task["succeeded"] for task in waited.results] == [True, True]
    assert waited.warnings == [survived("2 looks", error)]


def test_result_warns_of_the_last_look_that_failed(api, time_passes):
    api.expect("task", 1, gives=refused(429)).expect("task", 1, gives=refused(503))
    api.expect("task", 1, gives=successful(1))
    result = await_tasks(api.double, [1], PATIENT, clock=time_passes.clock)
    assert result["warnings"] == [survived("2 looks", refused(503))]


def test_result_warns_of_one_look_that_failed(api, time_passes):
    api.expect("task", 1, gives=refused(503)).expect("task", 1, gives=successful(1))
    assert await_tasks(api.double, [1], PATIENT, clock=time_passes.clock)["warnings"] == [
        survived("1 look", refused(503))
    ]


@pytest.mark.parametrize("error", PASSING, ids=str)
def test_failed_looks_until_the_deadline_are_reported(error, api, time_passes):
    for _look in range(3):
        api.expect("task", 1, gives=error)
    with pytest.raises(WaitTimeout) as raised:
        wait_for_tasks(api.double, [1], Patience(1, 10), clock=time_passes.clock)
    start = f"Task 1 is not finished after 1 seconds. {survived('3 looks', error)} It runs on in OCP;"
    assert str(raised.value).startswith(start)
    assert raised.value.facts == {"task_id": 1, "tasks": [], "unfinished_task_ids": [1]}


@pytest.mark.parametrize("status", [401, 403, 404])
@pytest.mark.parametrize("before", [0, 2], ids=["at once", "later"])
def test_refusal_that_lasts_ends_the_wait(status, before, api, time_passes):
    api.expect("task", 7, gives=successful(7))
    for _look in range(before):
        api.expect("task", 8, gives=running(8))
    error = refused(status)
    api.expect("task", 8, gives=error)
    with pytest.raises(type(error)) as raised:
        wait_for_tasks(api.double, [7, 8, 9][: 2 + (before == 0)], PATIENT, clock=time_passes.clock)
    assert raised.value is error
    assert raised.value.facts["task_id"] == 8
    assert raised.value.facts["trace_id"] == f"trace-{status}"
    assert [task["id"] for task in raised.value.facts["tasks"]] == [7, 8][: 1 + (before > 0)]
    assert len(time_passes.pauses) == before


# The deadline


def test_time_out_tells_what_runs(api, time_passes):
    steps = chain(step(1, "First", "SUCCESSFUL"), step(2, "Second", "RUNNING"), step(3, "Third"))
    for _look in range(3):
        api.expect("task", 5, gives=running(5, subtasks=steps))
    with pytest.raises(WaitTimeout) as raised:
        wait_for_success(api.double, [5], Patience(1, 10), clock=time_passes.clock)
    message = str(raised.value)
    assert message.startswith("Task 5 is not finished after 1 seconds (status RUNNING).")
    assert "Subtask 2 of 3 is running: Second." in message
    assert "oceanbase.ocp.task_wait task_ids=5 " in message
    assert "did not end the wait" not in message
    [task] = raised.value.facts["tasks"]
    assert (task["id"], task["progress"]) == (5, {"done": 1, "total": 3, "running": ["Second"]})
    assert raised.value.facts["task_id"] == 5
    assert raised.value.facts["unfinished_task_ids"] == [5]


def test_time_out_of_several_tasks(api, time_passes):
    api.expect("task", 1, gives=successful(1))
    for number in (2, 3, 2, 3):
        api.expect("task", number, gives=running(number))
    with pytest.raises(WaitTimeout) as raised:
        wait_for_success(api.double, [1, 2, 3], Patience(0.5, 10), clock=time_passes.clock)
    assert str(raised.value).startswith("Task 2 and 1 more are not finished")
    assert "task_ids=2,3 " in str(raised.value)
    assert raised.value.facts["task_id"] == 2
    assert raised.value.facts["unfinished_task_ids"] == [2, 3]
    assert [task["id"] for task in raised.value.facts["tasks"]] == [1, 2, 3]


def test_end_at_the_deadline_is_no_time_out(api, time_passes):
    api.expect("task", 1, gives=running(1)).expect("task", 1, gives=successful(1))
    assert wait_for_success(api.double, [1], Patience(0.5, 10), clock=time_passes.clock).results[0]["succeeded"]
    assert time_passes.pauses == [0.5]


def test_slow_looks_do_not_stretch_the_wait(api, time_passes):
    """Each look takes 4 s: what is left of the budget counts from the end of a look, not from its beginning."""

    def task(number):
        time_passes.time += 4
        return running(number)

    api.double.task.side_effect = task
    started = time_passes.time
    with pytest.raises(WaitTimeout, match=r"not finished after 1[0-4] seconds"):
        wait_for_tasks(api.double, [1], Patience(10, 10), clock=time_passes.clock)
    assert 10 <= time_passes.time - started <= 14


# Tasks that do not succeed

HEADING = "############{EXECUTE}{2026-05-04T03:02:01.5+08:00}############\n"


def failed(number: int = 5, **fields):
    steps = chain(
        step(71, "Prepare", "SUCCESSFUL"),
        step(72, "Stop it", "FAILED", startTime="2026-05-04T03:02:01+08:00", finishTime="2026-05-04T03:02:04.5+08:00"),
        step(73, "Start it"),
    )
    return raw_task(number, "FAILED", subtasks=steps[::-1], **fields)


def failure_of(api, time_passes, *numbers: int) -> TaskFailed:
    with pytest.raises(TaskFailed) as raised:
        wait_for_success(api.double, numbers, PATIENT, clock=time_passes.clock)
    return raised.value


def test_failure_names_the_step_and_ends_with_what_to_do(api, time_passes):
    api.expect("task", 5, gives=failed()).expect("subtask_log", 5, 72, gives=HEADING + "cannot stop\n")
    error = failure_of(api, time_passes, 5)
    first, *rest = str(error).split("\n")
    assert first == (
        "Task 5 (Restart 5) FAILED at subtask 2 of 3, Stop it (id 72), after 3.5 seconds. The end of its log:"
    )
    assert "  cannot stop" in rest
    assert rest[-1].startswith("Retry it or roll it back in OCP, and then wait for it with oceanbase.ocp.task_wait")
    assert "task_ids=5;" in rest[-1]
    assert error.facts["task_id"] == 5
    assert error.facts["failed_task_ids"] == [5]
    [task] = error.facts["tasks"]
    assert (task["id"], task["succeeded"], task["status"]) == (5, False, "FAILED")


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        pytest.param(HEADING + "one\ntwo\n", ["one", "two"], id="short"),
        pytest.param(
            HEADING + "".join(f"line {n}\n" for n in range(1, 31)), [f"line {n}" for n in range(11, 31)], id="long"
        ),
        pytest.param(HEADING + "first attempt\n" + HEADING + "second attempt\n", ["second attempt"], id="attempts"),
        pytest.param("no heading\nat all", ["no heading", "at all"], id="no heading"),
        pytest.param(HEADING + "\n\n  indented\n   \nend\n\n", ["indented", "end"], id="blank lines"),
        pytest.param(HEADING + "größer\r\n", ["größer"], id="CR LF"),
    ],
)
def test_end_of_the_last_attempts_log(log, shown, api, time_passes):
    api.expect("task", 5, gives=failed()).expect("subtask_log", 5, 72, gives=log)
    lines = str(failure_of(api, time_passes, 5)).split("\n")[1:-1]
    told = [line.strip() for line in lines if "####" not in line]
    assert told == shown
    assert len(lines) <= 20
    assert sum("####" in line for line in lines) <= 1


@pytest.mark.parametrize(
    "log", ["", "\n \n", refused(403), refused(500), refused(404), AnswerLost("lost", url=URL)], ids=repr
)
def test_failure_is_told_without_a_log(log, api, time_passes):
    api.expect("task", 5, gives=failed()).expect("subtask_log", 5, 72, gives=log)
    message = str(failure_of(api, time_passes, 5))
    assert message.startswith("Task 5 (Restart 5) FAILED at subtask 2 of 3, Stop it (id 72), after 3.5 seconds. Retry")
    assert "log" not in message


def test_failure_without_a_failed_step_asks_for_no_log(api, time_passes):
    api.expect("task", 5, gives=raw_task(5, "FAILED"))
    assert str(failure_of(api, time_passes, 5)).startswith("Task 5 (Restart 5) FAILED. Retry")


@pytest.mark.parametrize("name", [None, ""], ids=repr)
def test_failed_task_without_a_name(name, api, time_passes):
    api.expect("task", 5, gives=raw_task(5, "FAILED", name=name))
    assert str(failure_of(api, time_passes, 5)).startswith("Task 5 FAILED. Retry")


def test_only_the_first_failure_is_explained(api, time_passes):
    api.expect("task", 1, gives=successful(1)).expect("task", 5, gives=failed(5)).expect("task", 6, gives=failed(6))
    api.expect("subtask_log", 5, 72, gives="")
    error = failure_of(api, time_passes, 1, 5, 6)
    assert str(error).endswith("\nNot successful either: 6; 2 of 3 tasks in all.")
    assert error.facts["failed_task_ids"] == [5, 6]
    assert [task["id"] for task in error.facts["tasks"]] == [1, 5, 6]


def test_failure_is_told_after_all_others_have_ended(api, time_passes):
    api.expect("task", 5, gives=raw_task(5, "FAILED")).expect("task", 6, gives=running(6))
    api.expect("task", 6, gives=successful(6))
    assert failure_of(api, time_passes, 5, 6).facts["failed_task_ids"] == [5]


@pytest.mark.parametrize(
    "raw",
    [
        raw_task(5, "SUCCESSFUL", operation="ROLLBACK"),
        raw_task(5, "SUCCESSFUL", operation="execute", subtasks=[step(1, "Stop it", "PENDING")]),
    ],
    ids=["operation", "pending step"],
)
def test_rolled_back_is_a_failure(raw, api, time_passes):
    api.expect("task", 5, gives=raw)
    error = failure_of(api, time_passes, 5)
    assert str(error).startswith("Task 5 (Restart 5) was rolled back")
    assert error.facts["tasks"][0]["rolled_back"] is True
