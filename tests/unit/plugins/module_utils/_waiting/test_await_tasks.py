# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A wait for tasks: its polls, its end, and its errors."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    NotFound,
    OptionError,
    PageNotFound,
    PermissionDenied,
    RequestRefused,
    ResponseLost,
    ResponseUnreadable,
    ServiceError,
    TargetError,
    WaitTimeout,
    WrongRecord,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.await_tasks import (
    await_tasks,
    wait_for_success,
    wait_for_tasks,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.failure_report import Purpose
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, chain, raw_task, step

PATIENT = PollPolicy(timeout=7200, interval=10)
DONE = [step(1, "Only step", "SUCCESSFUL")]


def running(number: int, **fields):
    return raw_task(number, **fields)


def successful(number: int):
    return raw_task(number, "SUCCESSFUL", subtasks=DONE)


def refused(status: int):
    kind = {401: AuthenticationFailed, 403: PermissionDenied, 404: NotFound}.get(status, RequestRefused)
    return kind(f"Refused with {status}.", status=status, reason="", url=URL, trace_id=f"trace-{status}")


def test_finished_task_takes_one_poll_and_no_pause(api, time_passes):
    api.expect("task", 7, gives=successful(7))
    waited = wait_for_tasks(api.double, [7], PATIENT, clock=time_passes.clock)
    assert [task["succeeded"] for task in waited.results] == [True]
    assert waited.warnings == []
    assert time_passes.pauses == []


# Several tasks


def test_results_keep_the_requested_order_without_duplicates(api, time_passes):
    for number in (9, 4, 6):
        api.expect("task", number, gives=successful(number))
    waited = wait_for_tasks(api.double, [9, 4, 9, 6, 4], PATIENT, clock=time_passes.clock)
    assert [task["id"] for task in waited.results] == [9, 4, 6]


def test_finished_tasks_are_not_polled_again(api, time_passes):
    api.expect("task", 1, gives=running(1)).expect("task", 2, gives=raw_task(2, "FAILED"))
    api.expect("task", 3, gives=running(3))
    api.expect("task", 1, gives=running(1)).expect("task", 3, gives=successful(3))
    api.expect("task", 1, gives=successful(1))
    waited = wait_for_tasks(api.double, [1, 2, 3], PATIENT, clock=time_passes.clock)
    assert [task["status"] for task in waited.results] == ["SUCCESSFUL", "FAILED", "SUCCESSFUL"]
    assert time_passes.pauses == [0.5, 0.5]


def test_unknown_status_does_not_end_the_wait(api, time_passes):
    api.expect("task", 1, gives=raw_task(1, "SUSPENDED")).expect("task", 1, gives=successful(1))
    assert wait_for_tasks(api.double, [1], PATIENT, clock=time_passes.clock).results[0]["succeeded"]


def test_result_has_tasks_and_elapsed_time(api, time_passes):
    api.expect("task", 1, gives=running(1)).expect("task", 1, gives=successful(1))
    result = await_tasks(api.double, [1], PATIENT, clock=time_passes.clock)
    assert result.keys() == {"changed", "tasks", "elapsed", "warnings"}
    assert (result["changed"], result["elapsed"], result["warnings"]) == (False, 0.5, [])
    assert [(task["id"], task["succeeded"]) for task in result["tasks"]] == [(1, True)]


def test_empty_list_is_refused(api, time_passes):
    with pytest.raises(OptionError, match=r"^task_ids: the list is empty"):
        await_tasks(api.double, [], PATIENT, clock=time_passes.clock)


# Failed polls


def poll_warnings(polls: str, last: ServiceError) -> str:
    return f"{polls} of the tasks failed; the wait went on. The last error: {last.what}"


PASSING = [
    *map(refused, (429, 500, 503, 400)),
    ResponseLost("The answer was lost.", url=URL),
    WrongRecord("The answer names task 7.", url=URL),
]


@pytest.mark.parametrize("error", PASSING, ids=str)
def test_failed_poll_does_not_end_the_wait(error, api, time_passes):
    api.expect("task", 1, gives=error).expect("task", 2, gives=running(2))
    api.expect("task", 1, gives=running(1)).expect("task", 2, gives=error)
    api.expect("task", 1, gives=successful(1)).expect("task", 2, gives=successful(2))
    waited = wait_for_tasks(api.double, [1, 2], PATIENT, clock=time_passes.clock)
    assert [task["succeeded"] for task in waited.results] == [True, True]
    assert waited.warnings == [poll_warnings("2 polls", error)]


def test_warning_after_a_success_advises_nothing(api, time_passes):
    advice = "The request limit of this user is used up; run this again later."
    error = RequestRefused("Refused. Trace id 7.", status=503, reason="", url=URL, advice=advice)
    assert str(error) == f"Refused. Trace id 7. {advice}"
    api.expect("task", 1, gives=error).expect("task", 1, gives=successful(1))
    [warning] = await_tasks(api.double, [1], PATIENT, clock=time_passes.clock)["warnings"]
    assert warning == "1 poll of the tasks failed; the wait went on. The last error: Refused. Trace id 7."


def test_result_warns_of_the_last_failed_poll(api, time_passes):
    api.expect("task", 1, gives=refused(429)).expect("task", 1, gives=refused(503))
    api.expect("task", 1, gives=successful(1))
    result = await_tasks(api.double, [1], PATIENT, clock=time_passes.clock)
    assert result["warnings"] == [poll_warnings("2 polls", refused(503))]


def test_result_warns_of_a_single_failed_poll(api, time_passes):
    api.expect("task", 1, gives=refused(503)).expect("task", 1, gives=successful(1))
    assert await_tasks(api.double, [1], PATIENT, clock=time_passes.clock)["warnings"] == [
        poll_warnings("1 poll", refused(503))
    ]


@pytest.mark.parametrize("error", PASSING, ids=str)
def test_timeout_reports_failed_polls(error, api, time_passes):
    for _look in range(3):
        api.expect("task", 1, gives=error)
    with pytest.raises(WaitTimeout) as raised:
        wait_for_tasks(api.double, [1], PollPolicy(1, 10), clock=time_passes.clock)
    start = f"Task 1 was not seen in 1 second.\n{poll_warnings('3 polls', error)}\n"
    assert str(raised.value).startswith(start)
    assert raised.value.facts == {"task_id": 1, "trace_id": "trace-last", "tasks": [], "unfinished_task_ids": [1]}


@pytest.mark.parametrize("status", [401, 403, 404])
@pytest.mark.parametrize("before", [0, 2], ids=["at once", "later"])
def test_permanent_refusal_ends_the_wait(status, before, api, time_passes):
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


# A replica that lags


@pytest.fixture
def lagging(api, time_passes):
    """Serve task 8, which a replica shows so many seconds from now on, beside task 7."""

    def serve(seconds, reason=""):
        shown_from = time_passes.time + seconds
        kind, trace_id = (NotFound, "trace-404") if reason else (PageNotFound, None)

        def task(number):
            if number == 8 and time_passes.time < shown_from:
                raise kind("Refused with 404.", status=404, reason=reason, url=URL, trace_id=trace_id)
            return successful(number)

        api.double.task.side_effect = task
        return api.double

    return serve


def test_new_task_may_be_missing_for_a_while(lagging, time_passes):
    waited = wait_for_success(lagging(3), [7, 8], PATIENT, unseen_for=60, clock=time_passes.clock)
    assert [task["id"] for task in waited.results] == [7, 8]
    assert waited.warnings == [poll_warnings("6 polls", refused(404))]
    assert sum(time_passes.pauses) == 3


@pytest.mark.parametrize(("timeout", "ends"), [(7200, 60), (30, 30)], ids=["unseen_for", "timeout"])
def test_task_that_stays_missing_ends_the_wait(lagging, time_passes, timeout, ends):
    began = time_passes.time
    with pytest.raises(NotFound) as raised:
        wait_for_tasks(
            lagging(9000, "No such task"), [7, 8], PollPolicy(timeout, 10), unseen_for=60, clock=time_passes.clock
        )
    assert ends <= time_passes.time - began <= ends * 1.05
    assert raised.value.facts["task_id"] == 8
    assert [task["id"] for task in raised.value.facts["tasks"]] == [7]


def test_404_long_after_the_task_was_seen_is_that_of_a_replica_too(api, time_passes):
    """Or the page of a proxy."""
    answers = [running(7)] * 100 + [refused(404)] * 3 + [successful(7)]
    api.double.task.side_effect = answers
    waited = wait_for_tasks(api.double, [7], PATIENT, unseen_for=60, clock=time_passes.clock)
    assert (waited.results[0]["succeeded"], len(waited.warnings)) == (True, 1)
    assert sum(time_passes.pauses) > 60


def test_task_of_a_given_id_may_be_missing_for_15_seconds(lagging, time_passes):
    result = await_tasks(lagging(14), [7, 8], PATIENT, clock=time_passes.clock)
    assert [task["id"] for task in result["tasks"]] == [7, 8]


def test_task_that_does_not_exist_is_named_with_what_to_do(lagging, time_passes):
    began, lines = time_passes.time, []
    policy = replace(PATIENT, show=lambda text, _failed: lines.append(text.strip()))
    with pytest.raises(TargetError) as raised:
        await_tasks(lagging(9000, "No such task"), [7, 8], policy, clock=time_passes.clock)
    assert str(raised.value) == (
        "task_ids: task 8 does not exist. See the newest tasks: "
        "ansible localhost -m oceanbase.ocp.task_info -a 'limit=5 detail=compact'"
    )
    assert lines[0] == "OCP does not show task 8; it may come late, and is looked for until 0:15"
    assert not [line for line in lines if "goes on" in line]
    assert raised.value.facts["task_id"] == 8
    assert raised.value.facts["trace_id"] == "trace-404"
    assert [task["id"] for task in raised.value.facts["tasks"]] == [7]
    assert 15 <= time_passes.time - began < 16


def test_404_that_is_no_answer_of_the_service_stays_as_it_is(lagging, time_passes):
    with pytest.raises(PageNotFound, match=r"^Refused with 404"):
        await_tasks(lagging(9000), [8], PATIENT, clock=time_passes.clock)


# The deadline


def test_timeout_names_the_running_subtask(api, time_passes):
    steps = chain(step(1, "First", "SUCCESSFUL"), step(2, "Second", "RUNNING"), step(3, "Third"))
    for _look in range(3):
        api.expect("task", 5, gives=running(5, subtasks=steps))
    with pytest.raises(WaitTimeout) as raised:
        wait_for_success(api.double, [5], PollPolicy(1, 10), clock=time_passes.clock)
    message = str(raised.value)
    assert message.split("\n") == [
        "Task 5 (Restart 5) is not finished after 1 second (status RUNNING).",
        "It is at subtask 2 of 3, Second (id 2).",
        "Trace id trace-last.",
        "It keeps running in OCP. With OCP_URL and the credentials in the environment:",
        "  Wait again: ansible localhost -m oceanbase.ocp.task_wait -a 'task_ids=5 detail=compact'",
        "  End the subtask, if it hangs: "
        "ansible localhost -m oceanbase.ocp.task -a 'task_id=5 subtask_id=2 state=canceled wait=true detail=compact'",
    ]
    assert "the wait went on" not in message
    [task] = raised.value.facts["tasks"]
    assert (task["id"], task["progress"]) == (5, {"done": 1, "total": 3, "running": ["Second"]})
    assert raised.value.facts["task_id"] == 5
    assert raised.value.facts["unfinished_task_ids"] == [5]


def test_timeout_does_not_take_what_was_read_before_a_service_was_lost_for_what_is(api, time_passes):
    steps = chain(step(1, "First", "SUCCESSFUL"), step(2, "Second", "RUNNING"))
    api.expect("task", 5, gives=running(5, subtasks=steps))
    for _look in range(2):
        api.expect("task", 5, gives=refused(503))
    with pytest.raises(WaitTimeout) as raised:
        wait_for_success(api.double, [5], PollPolicy(1, 10), purpose=Purpose("The work", None), clock=time_passes.clock)
    assert str(raised.value).split("\n") == [
        "The work may go on.",
        "Task 5 (Restart 5) is not finished as last read (status RUNNING); after 1 second the last poll failed.",
        poll_warnings("2 polls", refused(503)),
        "Trace id trace-last.",
        "It may keep running in OCP. With OCP_URL and the credentials in the environment:",
        "  Wait again: ansible localhost -m oceanbase.ocp.task_wait -a 'task_ids=5 detail=compact'",
    ]


def test_timeout_of_several_tasks_names_the_unfinished_ones(api, time_passes):
    api.expect("task", 1, gives=successful(1))
    for number in (2, 3, 2, 3):
        api.expect("task", number, gives=running(number))
    with pytest.raises(WaitTimeout) as raised:
        wait_for_success(api.double, [1, 2, 3], PollPolicy(0.5, 10), clock=time_passes.clock)
    assert str(raised.value).startswith("Task 2 (Restart 2) and 1 more are not finished")
    assert "task_ids=2,3 detail=compact'" in str(raised.value)
    assert raised.value.facts["task_id"] == 2
    assert raised.value.facts["unfinished_task_ids"] == [2, 3]
    assert [task["id"] for task in raised.value.facts["tasks"]] == [1, 2, 3]


def test_task_that_ends_at_the_deadline_is_not_a_timeout(api, time_passes):
    api.expect("task", 1, gives=running(1)).expect("task", 1, gives=successful(1))
    assert wait_for_success(api.double, [1], PollPolicy(0.5, 10), clock=time_passes.clock).results[0]["succeeded"]
    assert time_passes.pauses == [0.5]


def test_slow_polls_do_not_extend_the_wait(api, time_passes):
    """Each poll takes 4 s; the time left counts from its end, not from its begin."""

    def task(number):
        time_passes.time += 4
        return running(number)

    api.double.task.side_effect = task
    started = time_passes.time
    with pytest.raises(WaitTimeout, match=r"not finished after 1[0-4] seconds"):
        wait_for_tasks(api.double, [1], PollPolicy(10, 10), clock=time_passes.clock)
    assert 10 <= time_passes.time - started <= 14


# Many


def many(api, at_end, listed, detail=successful):
    """Five tasks until ``at_end``; ``listed`` is what the list of the running ones shows."""
    numbers = range(1, 6)
    api.double.task.side_effect = lambda number: detail(number) if api.time.time >= at_end else running(number)
    api.double.tasks.side_effect = lambda **_filters: listed(numbers)
    return numbers


@pytest.fixture
def later(api, time_passes):
    api.time = time_passes
    return time_passes.time + 60


def test_list_that_ignores_the_filter_hides_no_end(api, later, time_passes):
    """It shows tasks that have ended, too: such a wait lasted until its timeout."""

    def listed(numbers):
        return [(successful if time_passes.time >= later else running)(number) for number in numbers]

    waited = wait_for_tasks(api.double, many(api, later, listed), PATIENT, clock=time_passes.clock)
    assert [task["succeeded"] for task in waited.results] == [True] * 5
    assert time_passes.time < later + 20


def test_list_that_is_never_complete_hides_no_end(api, later, time_passes):
    """A service that counts all tasks, whatever the filter."""

    def listed(_numbers):
        raise ResponseUnreadable("It is not complete.", url=URL)

    waited = wait_for_tasks(api.double, many(api, later, listed), PATIENT, clock=time_passes.clock)
    assert len(waited.results) == 5
    assert "polls of the tasks failed" in waited.warnings[0]


def test_task_that_the_list_has_just_shown_is_not_gone(api, later, time_passes):
    missing = [3]

    def detail(number):
        if number in missing:
            missing.remove(number)
            raise refused(404)
        return successful(number)

    def listed(numbers):
        return [running(number) for number in numbers if time_passes.time < later]

    numbers = many(api, later, listed, detail)
    waited = wait_for_tasks(api.double, numbers, PATIENT, unseen_for=15, clock=time_passes.clock)
    assert (len(waited.results), missing) == (5, [])
