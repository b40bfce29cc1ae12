# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A task action without a response: the task shows it, or the outcome is unknown."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OutcomeUnknown
from ansible_collections.oceanbase.ocp.plugins.module_utils._task_actions.allowed_actions import DesiredState, State
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import lost, refused, unreadable
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_task import SECOND, TASK_ID, THIRD
from ansible_collections.oceanbase.ocp.tests.unit.support.task_action_cases import (
    CALLS,
    acted_on,
    every_call,
    failed,
    hanging,
    ready_for,
    task_action_error,
)

UNCLEAR = {
    "answer lost": lost,
    "answer unreadable": unreadable,
    **{str(status): lambda status=status: refused(status) for status in (500, 502, 503, 504)},
}
every_way = pytest.mark.parametrize("make_error", UNCLEAR.values(), ids=UNCLEAR)
SHOWN = "; the answer was lost, and the task shows that it was done"
LOOK = "  ansible localhost -m oceanbase.ocp.task_info -a 'task_id=1001 detail=summary'"


def at_post(service, *events):
    """Let this happen during the request."""
    service.before_post = lambda: [event() for event in events]


@every_call
@every_way
def test_task_action_with_a_lost_response_is_recognized(make_error, call, time_passes):
    service = ready_for(call, time_passes)
    service.lose_after = [make_error()]
    lines = []
    result = acted_on(service, call.wish, announce=lambda line, _bad: lines.append(line))
    assert (result["changed"], result["action"]) == (True, call.wish.state.value)
    assert result["subtask_ids"] == call.subtask_ids
    assert lines == [f"  {call.what}: {call.begun}"]
    assert result["reason"].endswith(SHOWN)
    assert (service.posts, time_passes.pauses) == ([call.post], [])


@every_call
@every_way
def test_lost_request_has_an_unknown_outcome(make_error, call, time_passes):
    service = ready_for(call, time_passes)
    lost_error = make_error()
    service.lose_before = [lost_error]
    error = task_action_error(service, call.wish, wait=True)
    assert error.__class__ is OutcomeUnknown
    assert str(error).splitlines() == [
        f"It is not known whether {call.what} was {call.done}. {lost_error} For 20 seconds it did not show that. "
        "The request is not sent again; look at the task, then run this again. "
        "With OCP_URL and the credentials in the environment:",
        LOOK,
    ]
    assert (error.facts["changed"], error.facts["action"]) == (True, call.wish.state.value)
    assert error.facts["subtask_ids"] == call.subtask_ids
    assert (service.posts, error.facts["elapsed"], set(time_passes.pauses)) == ([call.post], 20.0, {0.5})


@every_call
def test_next_run_performs_a_lost_task_action(call, time_passes):
    service = ready_for(call, time_passes)
    service.lose_before = [lost()]
    task_action_error(service, call.wish)
    assert acted_on(service, call.wish)["changed"] is True
    assert service.posts == [call.post] * 2


@every_call
def test_late_effect_of_a_lost_response_is_recognized(call, time_passes):
    """The service may still work on the request when the connection breaks."""
    service = ready_for(call, time_passes)
    carry_out = {
        "retry of the task": service.model.retry,
        "rollback": service.model.roll_back,
        "retry of a subtask": lambda: service.model.retry_step(SECOND),
        "skip": lambda: service.model.skip_step(SECOND),
        "cancel": lambda: service.model.cancel_step(SECOND),
    }[next(name for name, other in CALLS.items() if other is call)]
    service.lose_before = [lost()]
    begun = time_passes.time

    def appear():
        if time_passes.time == begun + 19:
            carry_out()

    time_passes.after_sleep = appear
    result = acted_on(service, call.wish)
    assert (result["changed"], result["elapsed"], service.posts) == (True, 19.0, [call.post])
    assert result["reason"].endswith(SHOWN)


def test_task_is_polled_for_as_long_as_the_request_timeout(time_passes):
    service = failed(time_passes)
    service.lose_before, service.timeout = [lost()], 7
    assert "For 7 seconds it did not show that." in str(task_action_error(service, DesiredState(State.RETRIED)))
    assert sum(time_passes.pauses) == 7


def test_task_action_with_a_lost_response_is_waited_for(time_passes):
    service = failed(time_passes)
    service.lose_after = [lost()]
    result = acted_on(service, DesiredState(State.RETRIED), wait=True)
    assert (result["changed"], result["task"]["succeeded"], len(service.posts)) == (True, True, 1)


def test_retry_that_fails_before_the_first_poll_is_recognized(time_passes):
    service = failed(time_passes, times=2)
    service.lose_after = [lost()]
    at_post(service, lambda: service.unreadable.extend([refused(503)] * 8))
    result = acted_on(service, DesiredState(State.RETRIED, SECOND))
    [second] = [step for step in result["task"]["subtasks"] if step["id"] == SECOND]
    assert (second["status"], result["elapsed"]) == ("FAILED", 4.0)
    assert result["reason"].endswith(SHOWN)


# Actions of others are not mistaken for it


@pytest.mark.parametrize(
    ("wish", "other"),
    [
        (DesiredState(State.RETRIED), "roll_back"),
        (DesiredState(State.RETRIED), "skip_step"),
        (DesiredState(State.ROLLED_BACK), "retry"),
        (DesiredState(State.ROLLED_BACK), "retry_step"),
        (DesiredState(State.RETRIED, SECOND), "roll_back"),
        (DesiredState(State.RETRIED, SECOND), "skip_step"),
        (DesiredState(State.SKIPPED, SECOND), "retry"),
        (DesiredState(State.SKIPPED, SECOND), "retry_step"),
        (DesiredState(State.SKIPPED, SECOND), "roll_back"),
    ],
    ids=str,
)
def test_different_action_of_someone_else_is_not_mistaken_for_ours(wish, other, time_passes):
    service = failed(time_passes, times=99)
    service.hangs = {SECOND}
    service.lose_before = [lost()]
    steps = [SECOND] if other.endswith("_step") else []
    at_post(service, lambda: getattr(service.model, other)(*steps))
    assert task_action_error(service, wish).__class__ is OutcomeUnknown
    assert len(service.posts) == 1


def test_retry_of_one_subtask_is_not_mistaken_for_a_task_retry(time_passes):
    service = failed(time_passes, also={THIRD: 1})
    service.lose_before = [lost()]
    at_post(service, lambda: service.model.retry_step(SECOND))
    assert task_action_error(service, DesiredState(State.RETRIED)).__class__ is OutcomeUnknown


@pytest.mark.parametrize("well", [True, False])
def test_subtask_that_ends_by_itself_is_not_mistaken_for_canceled(well, time_passes):
    service = hanging(time_passes)
    service.lose_before = [lost()]
    at_post(service, lambda: service.model.go_on(SECOND, well))
    assert task_action_error(service, DesiredState(State.CANCELED, SECOND)).__class__ is OutcomeUnknown


# Failed polls


@pytest.mark.parametrize("failures", [1, 5, 39])
def test_temporary_read_errors_are_tolerated(failures, time_passes):
    service = failed(time_passes)
    service.lose_after = [lost()]
    at_post(service, lambda: service.unreadable.extend([refused(503)] * failures))
    result = acted_on(service, DesiredState(State.SKIPPED, SECOND))
    assert (result["changed"], result["elapsed"], len(service.posts)) == (True, failures / 2, 1)


def test_outcome_is_unknown_when_reads_keep_failing(time_passes):
    service = failed(time_passes)
    service.lose_after = [lost()]
    at_post(service, lambda: service.unreadable.extend([refused(503)] * 999))
    error = task_action_error(service, DesiredState(State.RETRIED))
    assert error.__class__ is OutcomeUnknown
    assert "it did not show that (the last poll failed: Refused with 503)." in str(error)
    assert error.facts["elapsed"] == 20.0


@every_call
@pytest.mark.parametrize(
    ("status", "told"),
    [(401, "Refused with 401"), (403, "Refused with 403"), (404, "task_id: task 1001 does not exist. See")],
)
def test_refused_poll_is_not_repeated(status, told, call, time_passes):
    """Repeating rejected credentials locks the account."""
    service = ready_for(call, time_passes)
    service.lose_after = [lost()]
    at_post(service, lambda: service.unreadable.extend([refused(status)] * 999))
    error = task_action_error(service, call.wish)
    assert error.__class__ is OutcomeUnknown
    assert f"Lost. It cannot be read (the last poll failed: {told}" in str(error)
    assert (len(service.unreadable), time_passes.pauses, error.facts["changed"]) == (998, [], True)


# Several subtasks


def test_second_action_follows_a_recognized_first_one(time_passes):
    service = failed(time_passes, also={THIRD: 1})
    service.lose_after = [lost()]
    result = acted_on(service, DesiredState(State.SKIPPED, status="FAILED"))
    assert service.posts == [("skip", TASK_ID, SECOND), ("skip", TASK_ID, THIRD)]
    assert result["subtask_ids"] == [SECOND, THIRD]


def test_no_action_follows_an_unknown_outcome(time_passes):
    service = failed(time_passes, also={THIRD: 1})
    service.lose_before = [lost()]
    error = task_action_error(service, DesiredState(State.SKIPPED, status="FAILED"))
    assert service.posts == [("skip", TASK_ID, SECOND)]
    assert error.facts["subtask_ids"] == [SECOND]
