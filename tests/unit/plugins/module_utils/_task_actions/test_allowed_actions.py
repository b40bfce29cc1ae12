# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which desired state leads to which action: the whole table, checked against a model of the service."""

from __future__ import annotations

import copy
import itertools

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError, StateError
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._task_actions.allowed_actions import (
    DesiredState,
    State,
    check_desired_state,
    decide_action,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_task import Refused, TaskModel
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import chain, raw_task, step
from hypothesis import given
from hypothesis import strategies as st

ACTS, NOTHING, REFUSED = "acts", "nothing", "refused"
RETRIED, ROLLED_BACK, SKIPPED, CANCELED = State
TASK_STATES = ("RUNNING", "FAILED", "SUCCESSFUL", "SUSPENDED")
STEP_STATES = ("PENDING", "READY", "RUNNING", "CANCELING", "FAILED", "SUCCESSFUL")
TASK_OPERATIONS = ("EXECUTE", "RETRY", "ROLLBACK", "execute", "rollback", None)
OPERATIONS = (*TASK_OPERATIONS, "SKIP", "skip", "CANCEL", "cancel", "ROLLBACK_SKIP")


def task_with(status, operation, second, **more):
    """A task whose second subtask has these fields; missing ones become None."""
    steps = chain(step(51, "Stop it", "SUCCESSFUL"), step(52, "Start it", **second))
    return Task.from_api({**raw_task(7, status, subtasks=steps), "operation": operation, **more})


def outcome(task, wish):
    """The outcome of the decision, with checks of every decision."""
    try:
        decision = decide_action(task, check_desired_state(wish))
    except StateError as error:
        assert str(error).endswith(".")
        assert "ask 7 (Restart 7)" in str(error)
        assert error.facts["task_id"] == 7
        return REFUSED
    assert decision.reason
    assert decision.is_needed == (decision.whole or decision.subtasks != ())
    assert not (decision.whole and decision.subtasks)
    return ACTS if decision.is_needed else NOTHING


def backwards(operation):
    return str(operation).upper() == "ROLLBACK"


# The task as a whole


def retry_of(status, operation, step_status):
    # A SUCCESSFUL task with an unsuccessful subtask was rolled back, whatever its operation.
    rolled_back = status == "SUCCESSFUL" and step_status == "PENDING"
    if backwards(operation) or rolled_back:
        return REFUSED
    return ACTS if status == "FAILED" else NOTHING


ENDED = {"finishTime": "2026-05-04T03:05:00+08:00"}


@pytest.mark.parametrize(("status", "more"), [("ABORTED", ENDED), (None, {})])
def test_task_that_ended_otherwise_or_shows_no_status_is_not_taken_as_retried(status, more):
    task = task_with(status, "EXECUTE", {"status": "PENDING"}, **more)
    assert outcome(task, DesiredState(RETRIED)) == REFUSED


@pytest.mark.parametrize("operation", TASK_OPERATIONS, ids=str)
@pytest.mark.parametrize("status", TASK_STATES)
def test_task_retry_follows_the_state_table(status, operation):
    for step_status in STEP_STATES:
        task = task_with(status, operation, {"status": step_status})
        assert outcome(task, DesiredState(RETRIED)) == retry_of(status, operation, step_status), step_status


def rollback_of(status, operation, step_status, prohibited):
    if status == "SUCCESSFUL" and (backwards(operation) or step_status == "PENDING"):
        return NOTHING
    if status == "RUNNING" and backwards(operation):
        return NOTHING
    return ACTS if status == "FAILED" and not prohibited else REFUSED


@pytest.mark.parametrize("prohibited", [None, False, True])
@pytest.mark.parametrize("operation", TASK_OPERATIONS, ids=str)
@pytest.mark.parametrize("status", TASK_STATES)
def test_rollback_follows_the_state_table(status, operation, prohibited):
    for step_status in STEP_STATES:
        task = task_with(status, operation, {"status": step_status}, prohibitRollback=prohibited)
        wanted = rollback_of(status, operation, step_status, prohibited)
        assert outcome(task, DesiredState(ROLLED_BACK)) == wanted, step_status


# A subtask


def step_retry_of(operation, step_status, step_operation):
    if backwards(operation) or backwards(step_operation):
        return REFUSED
    return {"FAILED": ACTS, "PENDING": REFUSED, "CANCELING": REFUSED}.get(step_status, NOTHING)


def skip_of(step_status, step_operation, prohibited):
    if step_status == "FAILED":
        return REFUSED if prohibited else ACTS
    return NOTHING if str(step_operation).upper() in ("SKIP", "ROLLBACK_SKIP") else REFUSED


def cancel_of(step_status, step_operation):
    if step_status == "FAILED" and str(step_operation).upper() == "CANCEL":
        return NOTHING
    return {"RUNNING": ACTS, "CANCELING": NOTHING}.get(step_status, REFUSED)


@pytest.mark.parametrize("step_operation", OPERATIONS, ids=str)
@pytest.mark.parametrize("step_status", STEP_STATES)
def test_subtask_actions_follow_the_state_table(step_status, step_operation):
    tasks = [("RUNNING", "EXECUTE"), ("RUNNING", None), ("FAILED", "RETRY"), ("FAILED", "ROLLBACK")]
    for (status, operation), prohibited in itertools.product(tasks, [None, False, True]):
        fields = {"status": step_status, "operation": step_operation, "prohibitSkip": prohibited}
        task = task_with(status, operation, fields)
        wanted = {
            RETRIED: step_retry_of(operation, step_status, step_operation),
            SKIPPED: skip_of(step_status, step_operation, prohibited),
            CANCELED: cancel_of(step_status, step_operation),
        }
        assert {state: outcome(task, DesiredState(state, 52)) for state in wanted} == wanted


# Several subtasks


@pytest.mark.parametrize(
    ("state", "status"), [(RETRIED, "FAILED"), (SKIPPED, "FAILED"), (CANCELED, "RUNNING")], ids=str
)
def test_all_subtasks_in_the_given_state_are_chosen(state, status):
    steps = [step(number, "Wait", status) for number in (51, 52)] + [step(53, "Wait", "SUCCESSFUL")]
    task = Task.from_api(raw_task(7, "RUNNING" if status == "RUNNING" else "FAILED", subtasks=steps))
    decision = decide_action(task, check_desired_state(DesiredState(state, status=status)))
    assert [each.id for each in decision.subtasks] == [51, 52]
    assert decision.reason == f"subtask 1 of 3, Wait (id 51), is {status}; subtask 2 of 3, Wait (id 52), is {status}"


def test_task_without_a_subtask_in_the_given_state_is_unchanged():
    decision = decide_action(
        task_with("RUNNING", "EXECUTE", {"status": "READY"}), DesiredState(SKIPPED, status="FAILED")
    )
    assert (decision.is_needed, decision.reason) == (False, "no subtask of it is FAILED")


@pytest.mark.parametrize(
    ("wish", "status", "step_status", "expected"),
    [
        (SKIPPED, "FAILED", None, REFUSED),
        (SKIPPED, "RUNNING", None, REFUSED),
        (SKIPPED, "SUCCESSFUL", None, NOTHING),
        (SKIPPED, "RUNNING", "UNHEARD_OF", NOTHING),
        (RETRIED, "FAILED", None, REFUSED),
        (CANCELED, "RUNNING", None, REFUSED),
        (CANCELED, "FAILED", None, NOTHING),
        (CANCELED, "RUNNING", "UNHEARD_OF", NOTHING),
    ],
)
def test_subtasks_that_are_not_shown_are_not_taken_for_done(wish, status, step_status, expected):
    of = DesiredState(wish, status="RUNNING" if wish is CANCELED else "FAILED")
    assert outcome(task_with(status, "EXECUTE", {"status": step_status}), of) == expected
    if step_status is None:
        assert outcome(Task.from_api({**raw_task(7, status), "operation": "EXECUTE", "subtasks": None}), of) == expected


def test_subtask_without_an_id_is_not_asked_for():
    steps = [{**step(51, "Stop it", "FAILED"), "id": None}]
    with pytest.raises(StateError, match="has a subtask that is FAILED and whose id is not shown"):
        decide_action(Task.from_api(raw_task(7, "FAILED", subtasks=steps)), DesiredState(SKIPPED, status="FAILED"))


def test_one_prohibited_skip_refuses_all():
    steps = [step(51, "Stop", "FAILED"), step(52, "Start", "FAILED", prohibitSkip=True)]
    with pytest.raises(
        StateError, match=r"^Subtask 2 of 2, Start \(id 52\), of task 7 \(Restart 7\) is FAILED; it must not be skipped"
    ):
        decide_action(Task.from_api(raw_task(7, "FAILED", subtasks=steps)), DesiredState(SKIPPED, status="FAILED"))


def test_reason_explains_an_unchanged_subtask():
    task = task_with("RUNNING", "EXECUTE", {"status": "SUCCESSFUL", "operation": "SKIP"})
    reason = "subtask 2 of 2, Start it (id 52), is SUCCESSFUL by being skipped"
    assert decide_action(task, DesiredState(SKIPPED, 52)).reason == reason


# Refusals name the next step


@pytest.mark.parametrize(
    ("task", "wish", "words"),
    [
        (("SUCCESSFUL", "ROLLBACK", {}), DesiredState(RETRIED), "was rolled back, so .* Run the restart again"),
        (
            ("FAILED", "ROLLBACK", {}),
            DesiredState(RETRIED),
            "is FAILED in its rollback .* give state=rolled_back to go on with that",
        ),
        (
            ("SUCCESSFUL", "EXECUTE", {"status": "SUCCESSFUL"}),
            DesiredState(ROLLED_BACK),
            "ended SUCCESSFUL.* Leave it as it is",
        ),
        (("RUNNING", "EXECUTE", {}), DesiredState(ROLLED_BACK), "is RUNNING; .* with state=canceled subtask=running"),
        (
            ("FAILED", "ROLLBACK", {"status": "FAILED"}),
            DesiredState(RETRIED, 52),
            "what is or was rolled back is not retried",
        ),
        (("FAILED", "EXECUTE", {"status": "PENDING"}), DesiredState(RETRIED, 52), "Begin with what FAILED before it"),
        (("RUNNING", "EXECUTE", {"status": "CANCELING"}), DesiredState(RETRIED, 52), "Wait until it has ended"),
        (("RUNNING", "EXECUTE", {"status": "SUCCESSFUL"}), DesiredState(SKIPPED, 52), "Leave it as it is"),
        (("RUNNING", "EXECUTE", {"status": "RUNNING"}), DesiredState(SKIPPED, 52), "Wait until it has ended"),
        (
            ("RUNNING", "EXECUTE", {"status": "READY"}),
            DesiredState(CANCELED, 52),
            "only a RUNNING subtask can be canceled",
        ),
    ],
)
def test_refusal_explains_what_to_do_next(task, wish, words):
    with pytest.raises(StateError, match=f"{words}.*\\.$"):
        decide_action(task_with(*task), wish)


def test_prohibited_rollback_is_refused():
    task = task_with("FAILED", "EXECUTE", {"status": "FAILED"}, prohibitRollback=True)
    with pytest.raises(
        StateError, match=r"^Task 7 \(Restart 7\) must not be rolled back \(prohibitRollback\); retry it"
    ):
        decide_action(task, DesiredState(ROLLED_BACK))


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([], "the service shows no ids, so look at it in OCP"),
        ([step(51, "Stop"), step(52, "Start")], "give one of 51, 52"),
    ],
    ids=["none", "two"],
)
def test_subtask_of_another_task_is_refused(steps, told):
    message = rf"^subtask_id: 99 is not a subtask of task 7 \(Restart 7\); {told}\.$"
    with pytest.raises(OptionError, match=message):
        decide_action(Task.from_api(raw_task(7, subtasks=steps)), DesiredState(RETRIED, 99))


# Options that contradict each other

FITS = {
    RETRIED: (DesiredState(RETRIED), DesiredState(RETRIED, 52), DesiredState(RETRIED, status="FAILED")),
    ROLLED_BACK: (DesiredState(ROLLED_BACK),),
    SKIPPED: (DesiredState(SKIPPED, 52), DesiredState(SKIPPED, status="FAILED")),
    CANCELED: (DesiredState(CANCELED, 52), DesiredState(CANCELED, status="RUNNING")),
}


@pytest.mark.parametrize("state", State)
def test_each_state_accepts_only_its_own_options(state):
    every = [
        DesiredState(state),
        DesiredState(state, 52),
        DesiredState(state, status="FAILED"),
        DesiredState(state, status="RUNNING"),
    ]
    fitting = []
    for wish in every:
        try:
            fitting.append(check_desired_state(wish))
        except OptionError as error:
            assert str(error).startswith(("state: ", "subtask: "))
    assert tuple(fitting) == FITS[state]


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (DesiredState(SKIPPED), "state: skipped is for subtasks; give subtask=failed or a subtask_id too."),
        (
            DesiredState(ROLLED_BACK, 52),
            "state: rolled_back is for a task as a whole; leave out subtask_id and subtask.",
        ),
        (
            DesiredState(RETRIED, status="RUNNING"),
            "subtask: running cannot be retried; give subtask=failed or a subtask_id.",
        ),
        (
            DesiredState(CANCELED, status="FAILED"),
            "subtask: failed cannot be canceled; give subtask=running or a subtask_id.",
        ),
    ],
    ids=str,
)
def test_conflicting_options_are_refused(wish, message):
    with pytest.raises(OptionError) as raised:
        check_desired_state(wish)
    assert str(raised.value) == message


# A model of the service

EVENTS = st.one_of(
    st.tuples(st.just("go_on"), st.sampled_from([51, 52, 53]), st.booleans()),
    st.tuples(st.sampled_from(["retry", "roll_back"])),
    st.tuples(st.sampled_from(["retry_step", "skip_step", "cancel_step"]), st.sampled_from([51, 52, 53])),
    st.tuples(st.just("prohibit"), st.sampled_from([51, 52, 53]), st.booleans()),
)
WISHES = [wish for wishes in FITS.values() for wish in wishes]


def carried_out(model, decision, wish):
    if decision.whole:
        {RETRIED: model.retry, ROLLED_BACK: model.roll_back}[wish.state]()
    calls = {RETRIED: model.retry_step, SKIPPED: model.skip_step, CANCELED: model.cancel_step}
    for each in decision.subtasks:
        calls[wish.state](each.id)


def would_accept(model, wish):
    model = copy.deepcopy(model)
    whole = {RETRIED: model.retry, ROLLED_BACK: model.roll_back}
    steps = {RETRIED: model.retry_step, SKIPPED: model.skip_step, CANCELED: model.cancel_step}
    try:
        whole[wish.state]() if wish.subtask_id is None else steps[wish.state](wish.subtask_id)
    except Refused:
        return False
    return True


def wandered(events):
    """A model after all of these events that were possible."""
    model = TaskModel()
    for name, *arguments in events:
        if name == "prohibit":
            number, whole = arguments
            (model.task if whole else model.steps[number])["prohibitRollback" if whole else "prohibitSkip"] = True
            continue
        try:
            getattr(model, name)(*arguments)
        except Refused:
            continue
    return model


def acts(model, wish):
    try:
        return decide_action(seen(model), wish).is_needed
    except StateError:
        return False


def seen(model):
    return Task.from_api(copy.deepcopy(model.task))


@given(st.lists(EVENTS, max_size=25))
def test_decision_matches_what_the_service_accepts(events):
    model = wandered(events)
    for wish in WISHES:
        if wish.status is None:
            assert acts(model, wish) == would_accept(model, wish), (wish, model.task)


@given(st.lists(EVENTS, max_size=25), st.sampled_from(WISHES))
def test_second_decision_never_acts_again(events, wish):
    model = wandered(events)
    if not acts(model, wish):
        return
    # A later failure is a new one.
    fails_yet = any(each["status"] == "CANCELING" for each in model.steps.values())
    carried_out(model, decide_action(seen(model), wish), wish)
    assert not decide_action(seen(model), wish).is_needed
    for number in [*model.steps] * 12:
        model.go_on(number)
    assert model.task["status"] != "RUNNING"
    assert fails_yet or not acts(model, wish)


@pytest.mark.parametrize("wish", WISHES, ids=str)
def test_each_desired_state_acts_in_some_model(wish):
    """Otherwise the tests of the model would prove nothing."""
    begun = [("go_on", 51, True), ("go_on", 51, True), ("go_on", 52, True)]
    model = wandered([*begun, *([] if wish.state is CANCELED else [("go_on", 52, False), ("go_on", 53, True)] * 2)])
    assert acts(model, wish)
