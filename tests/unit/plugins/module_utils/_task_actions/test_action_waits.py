# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Task actions with a wait for the desired end."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    NotRolledBack,
    PermissionDenied,
    TaskFailed,
    WaitTimeout,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._task_actions.allowed_actions import DesiredState, State
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_task import SECOND, THIRD
from ansible_collections.oceanbase.ocp.tests.unit.support.task_action_cases import (
    acted_on,
    failed,
    hanging,
    retried_meanwhile,
    task_action_error,
)

RETRY = [DesiredState(State.RETRIED), DesiredState(State.RETRIED, SECOND), DesiredState(State.RETRIED, status="FAILED")]
SKIP = [DesiredState(State.SKIPPED, SECOND), DesiredState(State.SKIPPED, status="FAILED")]
CANCEL = [DesiredState(State.CANCELED, SECOND), DesiredState(State.CANCELED, status="RUNNING")]
forwards = pytest.mark.parametrize("wish", [*RETRY, *SKIP], ids=str)
retries = pytest.mark.parametrize("wish", RETRY, ids=str)
cancels = pytest.mark.parametrize("wish", CANCEL, ids=str)


def rollback_failed(time):
    """A service whose task FAILED, and whose rollback FAILED too."""
    service = failed(time, times=2)
    assert isinstance(task_action_error(service, DesiredState(State.ROLLED_BACK), wait=True), TaskFailed)
    service.posts.clear()
    return service


@forwards
def test_wait_ends_with_a_successful_task(wish, time_passes):
    service = failed(time_passes)
    result = acted_on(service, wish, wait=True)
    assert (result["changed"], result["task"]["succeeded"], len(service.posts)) == (True, True, 1)
    assert result["elapsed"] > 0


@retries
def test_retry_that_fails_again_is_a_failure(wish, time_passes):
    service = failed(time_passes, times=2)
    error = task_action_error(service, wish, wait=True)
    assert error.__class__ is TaskFailed
    lines = str(error).splitlines()
    assert lines[0] == "The retry of task 1001 did not succeed."
    assert lines[1].startswith("Task 1001 (Restart OB cluster) FAILED at subtask 2 of 3, Start it (id 52)")
    assert "Trace id trace-post." in lines
    assert (error.facts["changed"], error.facts["action"], len(service.posts)) == (True, "retried", 1)
    assert error.facts["task"]["status"] == "FAILED"
    assert [step["log_tail"] for step in error.facts["failed_subtasks"]] == ["log of 52 of 1001"]
    assert "tasks" not in error.facts
    assert acted_on(service, wish, wait=True)["task"]["succeeded"] is True


def test_skip_followed_by_another_failure_is_a_failure(time_passes):
    service = failed(time_passes, also={THIRD: 1})
    error = task_action_error(service, DesiredState(State.SKIPPED, SECOND), wait=True)
    assert str(error).startswith("The skipping of task 1001 did not succeed.")
    assert [step["id"] for step in error.facts["failed_subtasks"]] == [THIRD]


def test_rollback_overtaken_by_a_retry_is_a_failure(time_passes):
    service = retried_meanwhile(time_passes)
    error = task_action_error(service, DesiredState(State.ROLLED_BACK), wait=True)
    assert error.__class__ is NotRolledBack
    assert str(error).startswith("Task 1001 (Restart OB cluster) ended SUCCESSFUL, but it was not rolled back")
    assert "-m oceanbase.ocp.task_info" in str(error)
    assert (error.facts["changed"], error.facts["task"]["succeeded"]) == (True, True)


def test_finished_rollback_is_a_success(time_passes):
    service = failed(time_passes)
    result = acted_on(service, DesiredState(State.ROLLED_BACK), wait=True)
    task = result["task"]
    assert (task["status"], task["rolled_back"], task["succeeded"]) == ("SUCCESSFUL", True, False)
    again = acted_on(service, DesiredState(State.ROLLED_BACK), wait=True)
    assert (again["changed"], again["reason"], again["task"]["rolled_back"]) == (False, "it was rolled back", True)
    assert len(service.posts) == 1


def test_failed_rollback_is_a_failure(time_passes):
    service = failed(time_passes, times=2)
    error = task_action_error(service, DesiredState(State.ROLLED_BACK), wait=True)
    assert error.__class__ is TaskFailed
    lines = str(error).splitlines()
    assert lines[0] == "The rollback of task 1001 did not succeed."
    assert lines[1].startswith("Task 1001 (Restart OB cluster) FAILED while it was rolled back at subtask 2 of 3")
    assert error.facts["changed"] is True
    assert error.facts["task"]["status"] == "FAILED"
    assert [step["id"] for step in error.facts["failed_subtasks"]] == [SECOND]


def test_failed_rollback_is_rolled_back_again(time_passes):
    service = rollback_failed(time_passes)
    assert acted_on(service, DesiredState(State.ROLLED_BACK), wait=True)["task"]["rolled_back"] is True


def test_skip_in_a_rollback_ends_rolled_back(time_passes):
    """The task was being rolled back already."""
    service = rollback_failed(time_passes)
    result = acted_on(service, DesiredState(State.SKIPPED, SECOND), wait=True)
    assert (result["changed"], result["task"]["rolled_back"]) == (True, True)


@cancels
def test_canceled_task_ends_failed(wish, time_passes):
    service = hanging(time_passes)
    result = acted_on(service, wish, wait=True)
    assert (result["changed"], result["task"]["status"], result["task"]["finished"]) == (True, "FAILED", True)
    [second] = [step for step in result["task"]["subtasks"] if step["id"] == SECOND]
    assert (second["status"], second["operation"]) == ("FAILED", "CANCEL")
    assert "is FAILED, and nothing restarts its target until that is cleared." in result["warnings"][0]
    again = acted_on(service, wish, wait=True)
    assert (again["changed"], again["task"]["status"]) == (False, "FAILED")


def test_cancel_after_a_retry_waits_for_success(time_passes):
    """Someone else has retried the task by then."""
    service = hanging(time_passes)
    acted_on(service, DesiredState(State.CANCELED, SECOND))
    service.run()
    service.hangs.clear()
    service.model.retry()
    assert acted_on(service, DesiredState(State.CANCELED, status="RUNNING"), wait=True)["task"]["succeeded"] is True


# Wait without an action


def test_running_task_is_waited_for(time_passes):
    service = failed(time_passes)
    acted_on(service, DesiredState(State.RETRIED))
    result = acted_on(service, DesiredState(State.RETRIED), wait=True)
    assert (result["changed"], result["task"]["succeeded"], len(service.posts)) == (False, True, 1)


def test_404_of_a_replica_does_not_end_the_wait(time_passes):
    service = failed(time_passes)
    acted_on(service, DesiredState(State.RETRIED))
    read, missing = service.task, [refused(404)]

    def task(number):
        if len(time_passes.pauses) and missing:
            raise missing.pop()
        return read(number)

    service.task = task
    service.hangs = {SECOND}
    time_passes.after_sleep = lambda: len(time_passes.pauses) > 3 and service.hangs.clear()
    result = acted_on(service, DesiredState(State.RETRIED), wait=True)
    assert (result["task"]["succeeded"], missing) == (True, [])


def test_failure_of_an_earlier_retry_is_not_reported_as_ours(time_passes):
    service = failed(time_passes, times=2)
    acted_on(service, DesiredState(State.RETRIED))
    error = task_action_error(service, DesiredState(State.RETRIED), wait=True)
    assert str(error).startswith("Task 1001 (Restart OB cluster) FAILED at subtask 2 of 3, Start it (id 52)")
    assert error.facts["changed"] is False


# Time and errors


@pytest.mark.parametrize(
    "wish", [DesiredState(State.RETRIED), DesiredState(State.ROLLED_BACK), DesiredState(State.SKIPPED, THIRD)], ids=str
)
def test_wait_timeout_reports_the_running_task(wish, time_passes):
    service = failed(time_passes, also={THIRD: 1})
    service.hangs = {SECOND}
    if wish.subtask_id is not None:
        service.model.retry_step(SECOND)
        service.run()
    error = task_action_error(service, wish, wait=True, seconds=5)
    assert error.__class__ is WaitTimeout
    noun = {"retried": "retry", "rolled_back": "rollback", "skipped": "skipping"}[wish.state.value]
    assert str(error).startswith(f"The {noun} of task 1001 goes on.\nTask 1001 (Restart OB cluster) is not finished")
    assert (error.facts["changed"], error.facts["task"]["status"]) == (True, "RUNNING")
    assert error.facts["elapsed"] == 5
    assert len(service.posts) == 1


def test_task_action_time_counts_toward_wait_timeout(time_passes):
    service = failed(time_passes)
    service.hangs = {SECOND}
    service.before_post = lambda: setattr(time_passes, "time", time_passes.time + 4)
    assert task_action_error(service, DesiredState(State.RETRIED), wait=True, seconds=5).facts["elapsed"] == 5


@pytest.mark.parametrize(("status", "kind"), [(401, AuthenticationFailed), (403, PermissionDenied)])
def test_refused_poll_reports_the_running_task(status, kind, time_passes):
    service = failed(time_passes)
    service.before_post = lambda: service.unreadable.extend([refused(status)] * 9)
    error = task_action_error(service, DesiredState(State.RETRIED), wait=True)
    assert error.__class__ is kind
    assert str(error) == (
        f"The retry of task 1001 goes on, but waiting for it failed. Refused with {status}. Then wait for it: "
        "ansible localhost -m oceanbase.ocp.task_wait -a 'task_ids=1001 detail=compact'"
    )
    assert (error.facts["changed"], len(service.unreadable)) == (True, 8)


def test_failed_poll_is_tolerated_with_a_warning(time_passes):
    service = failed(time_passes)
    service.before_post = lambda: service.unreadable.append(refused(503))
    result = acted_on(service, DesiredState(State.RETRIED), wait=True)
    assert result["task"]["succeeded"] is True
    assert result["warnings"] == ["1 poll of the tasks failed; the wait went on. The last error: Refused with 503."]


@retries
def test_answer_of_a_replica_from_before_the_retry_is_not_its_end(wish, time_passes):
    service = failed(time_passes)
    before, shown, began = service.task(1001), service.task, time_passes.time
    service.task = lambda number: before if service.posts and time_passes.time < began + 5 else shown(number)
    result = acted_on(service, wish, wait=True)
    assert (result["task"]["succeeded"], len(service.posts)) == (True, 1)
    assert result["elapsed"] >= 5


def test_action_without_a_wait_ends_when_it_shows(time_passes):
    """A wait for the task that follows would take the record of before for its end."""
    service = failed(time_passes)
    read, stale = service.task, service.task(1001)
    service.task = lambda number: stale if time_passes.time < began + 20 else read(number)
    began = time_passes.time
    result = acted_on(service, DesiredState(State.RETRIED), wait=False)
    assert (result["changed"], result["task"]["status"] != "FAILED") == (True, True)
    assert 20 <= time_passes.time - began < 40


def test_action_that_does_not_show_is_not_awaited_for_ever(time_passes):
    service = failed(time_passes)
    stale, began = service.task(1001), time_passes.time
    service.task = lambda _number: stale
    assert acted_on(service, DesiredState(State.RETRIED), wait=False)["changed"] is True
    assert time_passes.time - began < 100
