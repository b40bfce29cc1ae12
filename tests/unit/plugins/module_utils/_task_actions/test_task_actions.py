# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Task actions: what is sent and how often, the result, and refusals."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.cli_hints import tasks_command
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    NotFound,
    OptionError,
    PermissionDenied,
    RateLimited,
    RequestRefused,
    StateError,
    TargetError,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._task_actions.allowed_actions import DesiredState, State
from ansible_collections.oceanbase.ocp.plugins.module_utils._task_actions.task_actions import act_on_task
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_task import FIRST, SECOND, TASK_ID, THIRD
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL
from ansible_collections.oceanbase.ocp.tests.unit.support.task_action_cases import (
    acted_on,
    every_call,
    failed,
    hanging,
    interrupted_action,
    ready_for,
    task_action_error,
)

RETRIED, ROLLED_BACK, SKIPPED, CANCELED = State


# Sent


@every_call
def test_task_action_is_sent_once(call, time_passes):
    service = ready_for(call, time_passes)
    result = acted_on(service, call.wish)
    assert service.posts == [call.post]
    assert (result["changed"], result["action"], result["trace_id"]) == (True, call.wish.state.value, "trace-post")
    assert result["subtask_ids"] == call.subtask_ids
    was = "RUNNING" if call.wish.state is CANCELED else "FAILED"
    assert result["before"] == {"status": was, "operation": "EXECUTE"}
    assert result["reason"].endswith(f"is {was}")
    assert result["task"]["status"] == "RUNNING"
    assert (result["warnings"], result["elapsed"], time_passes.pauses) == ([], 0, [])


@every_call
def test_second_run_changes_nothing(call, time_passes):
    service = ready_for(call, time_passes)
    acted_on(service, call.wish)
    for _run in range(2):
        result = acted_on(service, call.wish)
        assert (result["changed"], result["action"], result["subtask_ids"]) == (False, None, [])
        assert (result["trace_id"], result["diff"]) == (None, {})
        time_passes.time += 60
    assert service.posts == [call.post]


@every_call
def test_check_mode_predicts_the_task_action_and_sends_nothing(call, time_passes):
    service = ready_for(call, time_passes)
    for wait in (False, True):
        foretold = acted_on(service, call.wish, check_mode=True, wait=wait)
        assert (service.posts, time_passes.pauses) == ([], [])
    done = acted_on(service, call.wish)
    would = {RETRIED: "retry it", ROLLED_BACK: "roll it back", SKIPPED: "skip it", CANCELED: "cancel it"}
    assert foretold["reason"] == f"would {would[call.wish.state]}: {done['reason']}"
    same = ("changed", "action", "subtask_ids", "before", "diff")
    assert {key: foretold[key] for key in same} == {key: done[key] for key in same}
    assert foretold["trace_id"] is None
    again = acted_on(service, call.wish, check_mode=True)
    assert (again["changed"], again["action"], again["subtask_ids"]) == (False, None, [])


def test_all_failed_subtasks_are_retried(time_passes):
    service = failed(time_passes, also={THIRD: 1})
    result = acted_on(service, DesiredState(RETRIED, status="FAILED"))
    assert service.posts == [("retry", TASK_ID, SECOND), ("retry", TASK_ID, THIRD)]
    assert result["subtask_ids"] == [SECOND, THIRD]
    assert [step["status"] for step in result["task"]["subtasks"]] == ["SUCCESSFUL", "READY", "READY"]


def test_all_running_subtasks_are_canceled(time_passes):
    service = hanging(time_passes, SECOND, THIRD)
    result = acted_on(service, DesiredState(CANCELED, status="RUNNING"))
    assert service.posts == [("cancel", TASK_ID, SECOND), ("cancel", TASK_ID, THIRD)]
    assert result["subtask_ids"] == [SECOND, THIRD]


def test_skipped_subtask_keeps_its_skip_operation(time_passes):
    service = failed(time_passes)
    result = acted_on(service, DesiredState(SKIPPED, SECOND), wait=True)
    [second] = [step for step in result["task"]["subtasks"] if step["id"] == SECOND]
    assert (second["status"], second["operation"]) == ("SUCCESSFUL", "SKIP")


@pytest.mark.parametrize(
    ("status", "inner", "state"),
    [("STOPPED", "INACTIVE", "is STOPPED and INACTIVE"), ("RUNNING", "ACTIVE", ""), ("RESTARTING", "INACTIVE", "")],
)
def test_skip_that_leaves_a_server_down_tells_what_starts_it(time_passes, status, inner, state):
    service = failed(time_passes)
    service.model.task |= {"clusterId": 31, "tags": [{"svrIp": "10.1.0.1"}]}
    there = [("10.1.0.1", status, inner), ("10.1.0.2", "STOPPED", "INACTIVE")]
    service.servers = lambda number: [
        {"id": number, "ip": ip, "port": 2882, "status": shown, "innerStatus": more} for ip, shown, more in there
    ]
    result = acted_on(service, DesiredState(SKIPPED, SECOND), wait=True)
    command = (
        "ansible localhost -m oceanbase.ocp.server_restart -a "
        "'cluster=31 server=10.1.0.1:2882 freeze_server=false wait=true detail=compact'"
    )
    undone = "Task 1001 (Restart OB cluster 10.1.0.1) is SUCCESSFUL without Start it: what it restarts may run on "
    [warning] = result["warnings"]
    assert warning.startswith(f"10.1.0.1:2882 {state}: start it by {command}" if state else undone)


def test_retry_of_a_task_that_has_left_a_server_down_tells_what_starts_it(time_passes):
    """Somebody has skipped its steps before, so there is nothing to retry."""
    service = failed(time_passes)
    service.model.task |= {"clusterId": 31, "tags": [{"svrIp": "10.1.0.1"}]}
    shown = {"id": 41, "ip": "10.1.0.1", "port": 2882, "status": "STOPPED", "innerStatus": "INACTIVE"}
    service.servers = lambda _cluster: [shown]
    acted_on(service, DesiredState(SKIPPED, SECOND), wait=True)
    result = acted_on(service, DesiredState(RETRIED), wait=True)
    [warning] = result["warnings"]
    assert (result["changed"], warning.partition(":2882 ")[2].partition(": ")[0]) == (False, "is STOPPED and INACTIVE")


@pytest.mark.parametrize(
    ("inner", "serves"), [("ACTIVE", "its target serves now; "), ("INACTIVE", "")], ids=["serves", "does not serve"]
)
def test_rollback_says_whether_its_server_serves_now(time_passes, inner, serves):
    service = failed(time_passes)
    service.model.task |= {"clusterId": 31, "tags": [{"svrIp": "10.1.0.1"}]}
    shown = {"id": 41, "ip": "10.1.0.1", "port": 2882, "status": "RUNNING", "innerStatus": inner}
    service.servers = lambda _cluster: [shown]
    result = acted_on(service, DesiredState(ROLLED_BACK), wait=True)
    assert result["reason"] == f"it is FAILED; {serves}what it was for can be asked for again"


def test_each_subtask_action_has_a_progress_line(time_passes):
    lines = []
    service = failed(time_passes, also={THIRD: 1})
    acted_on(service, DesiredState(SKIPPED, status="FAILED"), announce=lambda text, bad: lines.append((text, bad)))
    task = f"task {TASK_ID} (Restart OB cluster): it is skipped, and the task goes on"
    assert lines == [(f"  subtask {number} of {task}", False) for number in (SECOND, THIRD)]


WAIT = f"ansible localhost -m oceanbase.ocp.task_wait -a 'task_ids={TASK_ID} detail=compact'"
WAIT_FOR_ROLLBACK = (
    f"ansible localhost -m oceanbase.ocp.task -a 'task_id={TASK_ID} state=rolled_back wait=true detail=compact'"
)


@every_call
def test_action_that_is_not_waited_for_says_that_it_has_begun_and_how_to_wait(call, time_passes):
    lines = []
    result = acted_on(ready_for(call, time_passes), call.wish, announce=lambda text, _bad: lines.append(text))
    assert lines == [f"  {call.what}: {call.begun}"]
    assert result["wait_command"] == (WAIT_FOR_ROLLBACK if call.wish.state is ROLLED_BACK else WAIT)


def test_rollback_that_runs_already_can_be_waited_for(time_passes):
    service = failed(time_passes)
    acted_on(service, DesiredState(ROLLED_BACK))
    again = acted_on(service, DesiredState(ROLLED_BACK))
    assert (again["changed"], again["wait_command"]) == (False, WAIT_FOR_ROLLBACK)


# Interrupted


@every_call
def test_interrupted_request_may_have_run(call, time_passes):
    service = ready_for(call, time_passes)
    service.lose_before = [KeyboardInterrupt()]
    facts = interrupted_action(service, call.wish)
    assert (facts["changed"], facts["action"]) == (True, call.wish.state.value)
    assert (facts["task_id"], facts["subtask_ids"]) == (TASK_ID, call.subtask_ids)


def test_interruption_before_the_request_did_nothing(time_passes):
    service = failed(time_passes)
    service.unreadable = [KeyboardInterrupt()]
    facts = interrupted_action(service, DesiredState(RETRIED))
    assert (facts["changed"], facts["action"], facts["task_id"]) == (False, None, TASK_ID)
    assert service.posts == []


def test_interrupted_wait_keeps_what_was_done(time_passes):
    service = failed(time_passes, times=2)
    service.before_post = lambda: service.unreadable.append(KeyboardInterrupt())
    facts = interrupted_action(service, DesiredState(RETRIED), wait=True)
    assert (facts["changed"], facts["action"], facts["trace_id"]) == (True, "retried", "trace-post")


# Diff


def test_diff_shows_the_task_before_and_after(time_passes):
    diff = acted_on(failed(time_passes), DesiredState(ROLLED_BACK))["diff"]
    assert diff == {"before": "task 1001: FAILED\n", "after": "task 1001: rolled back\n"}


def test_diff_shows_the_subtasks_before_and_after(time_passes):
    diff = acted_on(hanging(time_passes, SECOND, THIRD), DesiredState(CANCELED, status="RUNNING"))["diff"]
    assert diff["before"] == "subtask 52: RUNNING\nsubtask 53: RUNNING\n"
    assert diff["after"] == "subtask 52: canceled\nsubtask 53: canceled\n"


# Not sent


@pytest.mark.parametrize(
    "wish", [DesiredState(SKIPPED), DesiredState(ROLLED_BACK, SECOND), DesiredState(RETRIED, status="RUNNING")], ids=str
)
def test_conflicting_options_are_refused_before_any_read(wish, time_passes):
    service = failed(time_passes)
    looks = service.looks
    with pytest.raises(OptionError):
        act_on_task(service, TASK_ID, wish, PollPolicy(60, 10), wait=False, check_mode=False, clock=time_passes.clock)
    assert (service.posts, service.looks) == ([], looks)


@pytest.mark.parametrize(
    "wish",
    [
        DesiredState(ROLLED_BACK),
        DesiredState(SKIPPED, FIRST),
        DesiredState(CANCELED, FIRST),
        DesiredState(RETRIED, THIRD),
    ],
    ids=str,
)
def test_impossible_task_action_is_refused_before_the_post(wish, time_passes):
    service = hanging(time_passes)
    service.model.steps[THIRD]["status"] = "PENDING"
    error = task_action_error(service, wish)
    assert error.__class__ is StateError
    assert (error.facts["changed"], error.facts["task_id"], service.posts) == (False, TASK_ID, [])
    assert error.facts["task"]["status"] == "RUNNING"


def test_subtask_of_another_task_is_refused(time_passes):
    service = failed(time_passes)
    error = task_action_error(service, DesiredState(RETRIED, 99))
    assert str(error).startswith(
        "subtask_id: 99 is not a subtask of task 1001 (Restart OB cluster); give one of 51, 52, 53."
    )
    assert service.posts == []


def test_unknown_task_error_names_the_option(time_passes):
    service = failed(time_passes)
    error = task_action_error(service, DesiredState(RETRIED), task_id=77)
    assert error.__class__ is TargetError
    assert str(error) == f"task_id: task 77 does not exist. See the newest tasks: {tasks_command()}"
    assert (error.facts["task"], error.facts["trace_id"], error.facts["changed"]) == (None, "trace-no", False)


@every_call
@pytest.mark.parametrize("status", [401, 403, 429, 503])
def test_unreadable_task_is_unchanged(status, call, time_passes):
    service = ready_for(call, time_passes)
    service.unreadable = [refused(status)] * 9
    error = task_action_error(service, call.wish)
    assert str(error) == f"Task 1001 was not {call.done}, since it cannot be read. Refused with {status}."
    assert (len(service.unreadable), service.posts, error.facts["changed"]) == (8, [], False)
    assert error.facts["trace_id"] == "trace-no"


# Refused


def faster(service, call):
    """Let someone else do the same during the request."""
    posted = {"retry": service.model.retry, "rollback": service.model.roll_back}
    of_step = {
        "retry": service.model.retry_step,
        "skip": service.model.skip_step,
        "cancel": service.model.cancel_step,
    }
    name, _task_id, *steps = call.post
    service.before_post = lambda: of_step[name](*steps) if steps else posted[name]()


@every_call
def test_task_action_that_is_refused_since_it_is_done_may_be_our_own(call, time_passes):
    """A proxy that sends it twice passes on the answer to the second."""
    service = ready_for(call, time_passes)
    faster(service, call)
    result = acted_on(service, call.wish)
    assert (result["changed"], result["action"]) == (True, call.wish.state.value)
    assert result["subtask_ids"] == call.subtask_ids
    assert "; by now " in result["reason"]
    assert result["reason"].endswith(", by this request or somebody else's")
    assert (service.posts, result["trace_id"]) == ([call.post], "trace-no")


def test_subtask_that_is_skipped_already_is_reported_with_the_others(time_passes):
    service = failed(time_passes, also={THIRD: 1})
    service.before_post = lambda: service.posts == [("skip", TASK_ID, SECOND)] and service.model.skip_step(SECOND)
    result = acted_on(service, DesiredState(SKIPPED, status="FAILED"))
    assert service.posts == [("skip", TASK_ID, SECOND), ("skip", TASK_ID, THIRD)]
    assert (result["changed"], result["subtask_ids"]) == (True, [SECOND, THIRD])
    assert result["diff"]["after"] == "subtask 52: skipped\nsubtask 53: skipped\n"


@every_call
@pytest.mark.parametrize("status", [400, 409])
def test_refused_task_action_fails_unchanged(status, call, time_passes):
    service = ready_for(call, time_passes)
    service.refusals = [refused(status)]
    error = task_action_error(service, call.wish)
    assert error.__class__ is RequestRefused
    what = f"{call.what[0].upper()}{call.what[1:]}"
    assert str(error) == f"{what} was not {call.done}. Refused with {status}."
    assert (service.posts, error.facts["changed"], error.facts["subtask_ids"]) == ([call.post], False, [])
    assert error.facts["trace_id"] == "trace-no"


@every_call
@pytest.mark.parametrize(
    ("status", "kind", "more"),
    [
        (401, AuthenticationFailed, ""),
        (403, PermissionDenied, " The permission is TASK_MANAGER."),
        (404, NotFound, ""),
        (429, RateLimited, ""),
    ],
)
def test_task_is_not_read_again_after_a_permanent_refusal(status, kind, more, call, time_passes):
    """Reading the task again would show nothing new."""
    service = ready_for(call, time_passes)
    looks = service.looks
    service.refusals = [refused(status)]
    error = task_action_error(service, call.wish)
    assert error.__class__ is kind
    assert str(error).endswith(f" was not {call.done}. Refused with {status}.{more}")
    assert (service.posts, service.looks, error.facts["changed"]) == ([call.post], looks + 1, False)


@every_call
def test_failed_connection_leaves_the_task_unchanged(call, time_passes):
    service = ready_for(call, time_passes)
    service.lose_before = [ConnectionFailed("Not reached.", url=URL)]
    error = task_action_error(service, call.wish)
    assert str(error).endswith(f" was not {call.done}. Not reached.")
    assert (service.posts, error.facts["changed"]) == ([call.post], False)


def test_refusal_is_raised_when_the_task_becomes_unreadable(time_passes):
    service = failed(time_passes)
    service.refusals = [refused(400)]
    service.before_post = lambda: service.unreadable.append(refused(503))
    assert str(task_action_error(service, DesiredState(RETRIED))).endswith("was not retried. Refused with 400.")


def test_refused_second_action_reports_the_first(time_passes):
    """The result includes the action on the first subtask."""
    service = failed(time_passes, also={THIRD: 1})
    service.before_post = lambda: service.refusals.extend([refused(409)] * (len(service.posts) - 1))
    error = task_action_error(service, DesiredState(RETRIED, status="FAILED"))
    assert str(error).startswith("Subtask 53 of task 1001 (Restart OB cluster) was not retried. ")
    assert (error.facts["changed"], error.facts["action"], error.facts["subtask_ids"]) == (True, "retried", [SECOND])
    assert error.facts["diff"]["after"] == "subtask 52: retried\n"


# Too many requests


def limited(seconds):
    refusal = refused(429)
    refusal.retry_after = seconds
    return refusal


@every_call
def test_task_action_is_sent_again_after_a_pause_and_a_new_look(call, time_passes):
    service = ready_for(call, time_passes)
    service.refusals, looks = [limited(4.0)], service.looks
    result = acted_on(service, call.wish)
    assert (service.posts, time_passes.pauses) == ([call.post] * 2, [4.0])
    assert (result["changed"], result["subtask_ids"], result["trace_id"]) == (True, call.subtask_ids, "trace-post")
    assert service.looks == looks + 3


@every_call
def test_task_action_done_by_someone_else_in_the_pause_is_not_sent_again(call, time_passes):
    service = ready_for(call, time_passes)
    service.refusals = [limited(4.0)]
    faster(service, call)
    carry_out, service.before_post = service.before_post, lambda: None
    time_passes.after_sleep = carry_out
    result = acted_on(service, call.wish)
    assert (service.posts, result["changed"], result["action"]) == ([call.post], False, None)
    assert result["reason"].endswith("since someone else was faster")


@pytest.mark.parametrize("wish", [DesiredState(RETRIED), DesiredState(RETRIED, SECOND)])
def test_retry_that_has_failed_again_in_the_pause_is_not_sent_again(wish, time_passes):
    """A proxy sent it twice, and the 429 is the answer to the second: that is seed 14951385 of the simulation."""
    service = failed(time_passes, times=2)
    service.refusals = [limited(4.0)]

    def fail_again():
        service.model.retry()
        service.run()

    time_passes.after_sleep = fail_again
    result = acted_on(service, wish)
    assert (len(service.posts), result["changed"], result["action"]) == (1, True, "retried")
    assert result["reason"].endswith("the task shows that it was done since, by this request or somebody else's")


def test_task_in_another_state_after_the_pause_is_left_alone(time_passes):
    service = failed(time_passes)
    service.refusals = [limited(4.0)]
    time_passes.after_sleep = service.model.roll_back
    error = task_action_error(service, DesiredState(RETRIED))
    assert (error.__class__, len(service.posts), error.facts["changed"]) == (StateError, 1, False)


def test_task_that_cannot_be_read_after_the_pause_is_left_alone(time_passes):
    service = failed(time_passes)
    service.refusals = [limited(4.0)]
    time_passes.after_sleep = lambda: service.unreadable.append(refused(503))
    error = task_action_error(service, DesiredState(RETRIED))
    assert str(error) == "Task 1001 was not retried, since it cannot be read. Refused with 503."
    assert (len(service.posts), error.facts["changed"]) == (1, False)


def test_pauses_together_are_at_most_the_timeout(time_passes):
    service = failed(time_passes)
    service.refusals, service.timeout = [limited(8.0) for _try in range(9)], 20
    error = task_action_error(service, DesiredState(RETRIED))
    assert (error.__class__, len(service.posts), time_passes.pauses) == (RateLimited, 3, [8.0, 8.0])
    assert str(error) == "Task 1001 (Restart OB cluster) was not retried. Refused with 429."
    assert error.facts["changed"] is False


def test_pause_between_two_subtasks_keeps_the_first(time_passes):
    service = failed(time_passes, also={THIRD: 1})
    service.before_post = lambda: len(service.posts) == 2 and service.refusals.append(limited(0.5))
    result = acted_on(service, DesiredState(SKIPPED, status="FAILED"))
    assert service.posts == [("skip", TASK_ID, SECOND), ("skip", TASK_ID, THIRD), ("skip", TASK_ID, THIRD)]
    assert result["subtask_ids"] == [SECOND, THIRD]


# The read afterwards


@every_call
@pytest.mark.parametrize("status", [401, 403, 404, 503])
def test_failed_read_after_the_task_action_only_warns(status, call, time_passes):
    service = ready_for(call, time_passes)
    service.before_post = lambda: service.unreadable.extend([refused(status)] * 9)
    result = acted_on(service, call.wish)
    assert result["changed"] is True
    [warning] = result["warnings"]
    assert warning.startswith("Task 1001 cannot be read any more: ")
    assert len(service.unreadable) == 8
