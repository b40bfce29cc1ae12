# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is known of a change reaches the user however the attempt ends."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    ModuleCrashed,
    OcpError,
    RateLimited,
    TaskFailed,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.attempt import (
    ActionAttempt,
    Progressing,
    RestartAttempt,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import PASSED_ON, RESULT_KEYS

SENT = {"changed": True, "action": "submitted", "task_id": 1001, "trace_id": "trace-post"}


@pytest.fixture
def attempt(time_passes):
    found = Progressing(RestartAttempt(target={"kind": "server"}, unchanged={"skipped_hosts": []}), time_passes.clock)
    time_passes.time += 2.5
    return found


def test_result_has_every_key_from_the_first_moment(attempt):
    result = attempt.result()
    assert result.keys() == RESULT_KEYS | PASSED_ON | {"skipped_hosts"}
    assert (result["changed"], result["action"], result["task_id"], result["verified"]) == (False, None, None, None)
    assert (result["target"], result["elapsed"], result["warnings"], result["diff"]) == (
        {"kind": "server"},
        2.5,
        [],
        {},
    )


def test_action_has_the_subtasks_it_was_done_to(time_passes):
    attempt = Progressing(ActionAttempt(task_id=81), time_passes.clock)
    attempt.note(subtask_ids=(2, 3))
    assert attempt.result().keys() == RESULT_KEYS - {"target", "after", "verified", "safety"} | PASSED_ON | {
        "subtask_ids"
    }
    assert (attempt.result()["task_id"], attempt.result()["subtask_ids"]) == (81, [2, 3])


def test_noted_facts_are_in_the_result(attempt):
    attempt.note(**SENT)
    attempt.diff = {"before": "a\n", "after": "b\n"}
    attempt.warnings += ["One.", "Two.", "One."]
    result = attempt.result()
    assert {key: result[key] for key in SENT} == SENT
    assert (result["warnings"], result["diff"]) == (["One.", "Two."], {"before": "a\n", "after": "b\n"})


def test_earlier_state_can_stand_again(attempt):
    attempt.note(**SENT)
    earlier = attempt.so_far
    attempt.note(task_id=None, action=None)
    assert earlier.task_id == 1001
    attempt.so_far = earlier
    assert attempt.result()["task_id"] == 1001


@pytest.mark.parametrize(
    "error",
    [
        OcpError("No."),
        TaskFailed("No.", task_id=7, failed_task_ids=[7]),
        RuntimeError("A bug."),
        KeyError("id"),
        RecursionError(),
        TimeoutError(),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_task_id_reaches_the_user_whatever_is_raised(error, attempt):
    attempt.note(**SENT)
    attempt.warnings.append("One.")
    with pytest.raises(OcpError) as raised, attempt.kept():
        raise error
    facts = raised.value.facts
    assert {key: facts[key] for key in SENT} == SENT
    assert (facts["warnings"], facts.keys() >= attempt.result().keys()) == (["One."], True)
    assert isinstance(raised.value, ModuleCrashed) is not isinstance(error, OcpError)


def test_error_adds_its_own_facts(attempt):
    with pytest.raises(TaskFailed) as raised, attempt.kept():
        attempt.note(changed=True, task_id=1001)
        raise TaskFailed("No.", trace_id="trace-of-the-error", failed_task_ids=[1001], warnings=["Two."])
    facts = raised.value.facts
    assert (facts["trace_id"], facts["failed_task_ids"], facts["warnings"]) == ("trace-of-the-error", [1001], ["Two."])


def test_trace_id_of_the_request_stands(attempt):
    attempt.note(**SENT)
    with pytest.raises(OcpError) as raised, attempt.kept():
        raise OcpError("No.", trace_id="trace-of-the-error")
    assert raised.value.facts["trace_id"] == "trace-post"


# Pauses that the service asks for


def limited(seconds):
    refusal = refused(429)
    refusal.retry_after = seconds
    return refusal


def test_pauses_are_slept_up_to_their_limit_together(attempt, time_passes):
    attempt.pause_for(limited(8.0), 20.0)
    attempt.pause_for(limited(12.0), 20.0)
    with pytest.raises(RateLimited):
        attempt.pause_for(limited(0.5), 20.0)
    assert time_passes.pauses == [8.0, 12.0]


@pytest.mark.parametrize("seconds", [None, 20.5, 1e9])
def test_unknown_or_long_pause_is_the_end(seconds, attempt, time_passes):
    with pytest.raises(RateLimited):
        attempt.pause_for(limited(seconds), 20.0)
    assert time_passes.pauses == []
