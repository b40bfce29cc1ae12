# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The restart decision: a table with its reasons, and its invariants."""

from __future__ import annotations

import copy
from datetime import UTC, timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.decision import (
    Action,
    Condition,
    Decision,
    InFlight,
    Look,
    Operation,
    decide_restart,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.task_evidence import PROOF_TIMEOUT, FinishedRestart
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, raw_task
from hypothesis import given, settings
from hypothesis import strategies as st

SINCE = BEGINNING
BEFORE, AFTER = SINCE - timedelta(minutes=1), SINCE + timedelta(minutes=1)
ATTACH, FAIL, QUEUE = InFlight.ATTACH, InFlight.FAIL, InFlight.QUEUE
ALL, NOTHING = None, frozenset[str]()


def observed(**started):
    members = (Member(name, "RUNNING", started=when, serves=True) for name, when in started.items())
    return Observation("RUNNING", tuple(members))


def decide(observation, operations, condition, **more):
    return decide_restart(Look(observation, operations, AFTER, **more), condition)


def running(task_id=90, started_at=AFTER, restarts=ALL):
    return Operation(task_id, "Restart it", started_at, restarts)


OLD, NEW, UNKNOWN = observed(a=BEFORE, b=BEFORE), observed(a=SINCE, b=AFTER), observed(a=None, b=AFTER)

TABLE = [
    # Nothing is running
    ("always", OLD, [], (None, ATTACH), Action.SUBMIT, {"a", "b"}, "started_before is not set, so this always"),
    ("always, though new", NEW, [], (None, FAIL), Action.SUBMIT, {"a", "b"}, "started_before is not set"),
    ("old", OLD, [], (SINCE, ATTACH), Action.SUBMIT, {"a", "b"}, "a started at 2026-05-04T02:59:00+08:00, b started"),
    ("one old", observed(a=BEFORE, b=AFTER), [], (SINCE, QUEUE), Action.SUBMIT, {"a"}, "(1 of 2)"),
    ("new", NEW, [], (SINCE, ATTACH), Action.SKIP, set(), "b started at 2026-05-04T03:01:00+08:00, not before"),
    (
        "new, at that instant",
        observed(a=SINCE),
        [],
        (SINCE, FAIL),
        Action.SKIP,
        set(),
        "not before 2026-05-04T03:00:00+08:00",
    ),
    ("one unknown", UNKNOWN, [], (SINCE, ATTACH), Action.SUBMIT, {"a"}, "it is not proven that a started since"),
    ("nobody", observed(), [], (SINCE, ATTACH), Action.ILL, set(), "shows nothing of it, so it is not known whether"),
    ("nobody, always", observed(), [], (None, ATTACH), Action.SUBMIT, set(), "started_before is not set"),
    # A running task satisfies
    (
        "attach",
        OLD,
        [running()],
        (SINCE, ATTACH),
        Action.ATTACH,
        {"a", "b"},
        "task 90 (Restart it) is restarting it since 2026",
    ),
    (
        "attach, begun then",
        OLD,
        [running(started_at=SINCE)],
        (SINCE, ATTACH),
        Action.ATTACH,
        {"a", "b"},
        "is restarting it since",
    ),
    (
        "attach to any",
        OLD,
        [running(started_at=BEFORE)],
        (None, ATTACH),
        Action.ATTACH,
        {"a", "b"},
        "is restarting it since",
    ),
    (
        "attach, begun unknown",
        OLD,
        [running(started_at=None)],
        (None, ATTACH),
        Action.ATTACH,
        {"a", "b"},
        "is restarting it",
    ),
    ("attach though new", NEW, [running()], (SINCE, ATTACH), Action.ATTACH, {"a", "b"}, "is restarting it"),
    (
        "attach for those in need",
        observed(a=BEFORE, b=AFTER),
        [running(restarts=frozenset("a"))],
        (SINCE, ATTACH),
        Action.ATTACH,
        {"a"},
        "is restarting it",
    ),
    (
        "the second satisfies",
        OLD,
        [running(91, BEFORE), running(90)],
        (SINCE, ATTACH),
        Action.ATTACH,
        {"a", "b"},
        "task 90 ",
    ),
    ("queue attaches too", OLD, [running()], (SINCE, QUEUE), Action.ATTACH, {"a", "b"}, "is restarting it"),
    ("always, after what runs", OLD, [running()], (None, QUEUE), Action.QUEUE, {"a", "b"}, "has to end first"),
    (
        "not allowed",
        OLD,
        [running()],
        (SINCE, FAIL),
        Action.REFUSE,
        {"a", "b"},
        "task 90 (Restart it) is running, and in_flight=fail",
    ),
    ("not allowed, but no need", NEW, [running()], (SINCE, FAIL), Action.SKIP, set(), "not before"),
    # A running task does not satisfy
    (
        "begun before",
        OLD,
        [running(started_at=BEFORE)],
        (SINCE, ATTACH),
        Action.REFUSE,
        {"a", "b"},
        "02:59:00+08:00, before started_before; run this again when it has ended, or wait for it with in_flight=queue",
    ),
    (
        "begun unknown",
        OLD,
        [running(started_at=None)],
        (SINCE, ATTACH),
        Action.REFUSE,
        {"a", "b"},
        "when it began is not known",
    ),
    (
        "other work",
        OLD,
        [running(restarts=NOTHING)],
        (None, ATTACH),
        Action.REFUSE,
        {"a", "b"},
        "it may not restart this target",
    ),
    (
        "a part",
        OLD,
        [running(restarts=frozenset("a"))],
        (None, ATTACH),
        Action.REFUSE,
        {"a", "b"},
        "it does not restart everything that is asked for",
    ),
    ("begun before, but no need", NEW, [running(started_at=BEFORE)], (SINCE, ATTACH), Action.SKIP, set(), "not before"),
    (
        "queue",
        OLD,
        [running(started_at=BEFORE)],
        (SINCE, QUEUE),
        Action.QUEUE,
        {"a", "b"},
        "task 90 (Restart it) is running and has to end first",
    ),
    (
        "queue for other work",
        OLD,
        [running(restarts=NOTHING)],
        (None, QUEUE),
        Action.QUEUE,
        {"a", "b"},
        "has to end first",
    ),
    (
        "nobody, and other work",
        observed(),
        [running(restarts=NOTHING)],
        (SINCE, ATTACH),
        Action.REFUSE,
        set(),
        "is running, but",
    ),
]


@pytest.mark.parametrize(
    ("observation", "operations", "asked", "action", "members", "words"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_decision_follows_the_table(observation, operations, asked, action, members, words):
    decision = decide(observation, operations, Condition(*asked))
    assert (decision.action, decision.members) == (action, members)
    assert words in decision.reason
    wanted = {Action.ATTACH: 1, Action.QUEUE: len(operations)}.get(action, 0)
    assert len(decision.task_ids) == wanted


def test_times_compare_across_offsets_and_show_the_service_offset():
    decision = decide(observed(a=SINCE), [], Condition(SINCE.astimezone(UTC), ATTACH))
    assert decision.action is Action.SKIP
    assert decision.reason == "a started at 2026-05-04T03:00:00+08:00, not before 2026-05-04T03:00:00+08:00"


def test_nonzero_milliseconds_are_shown():
    decision = decide(observed(a=SINCE), [], Condition(SINCE + timedelta(milliseconds=40), ATTACH))
    assert decision.reason.endswith("before 2026-05-04T03:00:00.040+08:00")


def test_reason_names_only_the_first_members():
    many = observed(**{f"m{number}": BEFORE for number in range(30)})
    reason = decide(many, [], Condition(SINCE, ATTACH)).reason
    assert "and 20 more" in reason
    assert "m11 " not in reason


def test_queue_waits_for_every_running_task():
    several = [running(92, BEFORE), running(91, None), running(90, BEFORE, NOTHING)]
    assert decide(OLD, several, Condition(SINCE, QUEUE)).task_ids == (92, 91, 90)


# What does not serve, what is held, and starts that are due


def finished(task_id=80, restarts=ALL, ended=AFTER):
    return FinishedRestart(task_id, "Restart it", SINCE, ended, restarts)


def of_status(status="RUNNING", serves=True, started=AFTER):
    return Observation(status, (Member("a", status, started=started, serves=serves),))


HOLDER = Task.from_api(raw_task(70, "FAILED", name="Restart it"))
NOT_SHOWN = "has restarted it, and the service does not show the start yet"
TRUTH = [
    pytest.param(of_status(), {}, Action.SKIP, "not before", id="it started since, and serves"),
    pytest.param(
        of_status(serves=None),
        {},
        Action.SKIP,
        "does not show whether it serves",
        id="it is not shown whether it serves",
    ),
    pytest.param(
        of_status("UNAVAILABLE", False),
        {},
        Action.ILL,
        "but a is UNAVAILABLE",
        id="it started since, but does not serve",
    ),
    pytest.param(
        of_status("UNAVAILABLE", False, BEFORE),
        {},
        Action.SUBMIT,
        "before",
        id="it does not serve, and is old: the remedy",
    ),
    pytest.param(
        of_status("RESTARTING", False),
        {},
        Action.REFUSE,
        "a is RESTARTING, but no task of it is visible",
        id="it started since, and its status is in flight",
    ),
    pytest.param(
        of_status("RESTARTING", False, BEFORE),
        {},
        Action.REFUSE,
        "a is RESTARTING, but no task of it is visible",
        id="it is old, and its status is in flight",
    ),
    pytest.param(
        of_status("RESTARTING", False, BEFORE),
        {"operations": [running()]},
        Action.ATTACH,
        "is restarting it",
        id="its status is in flight, and the task is seen",
    ),
    pytest.param(
        of_status("RESTARTING", False, BEFORE),
        {"holder": HOLDER, "operations": [running()]},
        Action.HELD,
        "task 70 (Restart it) FAILED and holds it",
        id="held wins over in flight",
    ),
    pytest.param(
        of_status(), {"holder": HOLDER}, Action.HELD, "holds it", id="held, though it started since and serves"
    ),
    pytest.param(
        of_status(started=BEFORE), {"finished": [finished()]}, Action.EXPECT, NOT_SHOWN, id="a start that is due"
    ),
    pytest.param(
        of_status(started=BEFORE),
        {"finished": [finished()], "operations": [running(restarts=NOTHING)]},
        Action.EXPECT,
        NOT_SHOWN,
        id="a start that is due, while other work runs",
    ),
    pytest.param(
        of_status(started=BEFORE),
        {"finished": [finished(ended=AFTER - timedelta(seconds=PROOF_TIMEOUT))]},
        Action.SUBMIT,
        "started at",
        id="a start that should have shown: from then on the start decides",
    ),
    pytest.param(
        of_status(started=None),
        {"finished": [finished(ended=AFTER - timedelta(days=9))]},
        Action.SKIP,
        "a was restarted by task 80 (Restart it), begun at 2026-05-04T03:00:00+08:00",
        id="no start is ever shown: the task stays the evidence",
    ),
    pytest.param(
        of_status("STOPPED", False, None),
        {"finished": [finished(ended=AFTER - timedelta(days=9))]},
        Action.ILL,
        "but a is STOPPED",
        id="no start is ever shown, and it does not serve",
    ),
]


@pytest.mark.parametrize(("observation", "seen", "action", "words"), TRUTH)
def test_green_is_what_started_since_and_serves(observation, seen, action, words):
    more = {"operations": [], **seen}
    decision = decide(observation, condition=Condition(SINCE, ATTACH), **more)
    assert decision.action is action
    assert words in decision.reason
    assert decision.serves is (observation.serves if action is Action.SKIP else None)


@pytest.mark.parametrize("asked", [ATTACH, FAIL, QUEUE])
def test_nothing_is_sent_while_only_the_status_is_in_flight(asked):
    at_work = of_status("STOPPING", False, BEFORE)
    for since in (SINCE, None):
        decision = decide(at_work, [], Condition(since, asked))
        assert decision.action is (Action.QUEUE if asked is QUEUE else Action.REFUSE)
        assert decision.task_ids == ()


def test_due_start_does_not_count_where_every_call_restarts():
    assert decide(OLD, [], Condition(None, ATTACH), finished=[finished()]).action is Action.SUBMIT


def test_only_those_are_restarted_whose_start_is_not_due():
    """The agents of one host have just been restarted, those of another are old."""
    decision = decide(OLD, [], Condition(SINCE, ATTACH), finished=[finished(restarts=frozenset("a"))])
    assert (decision.action, decision.members, decision.task_ids) == (Action.EXPECT, {"b"}, (80,))
    assert decision.reason.startswith("task 80 (Restart it) has restarted a, and the service does not show the start")


def test_what_runs_has_to_end_before_those_are_restarted_whose_start_is_not_due():
    partly = [finished(restarts=frozenset("a"))]
    other = [running(started_at=BEFORE)]
    assert decide(OLD, other, Condition(SINCE, ATTACH), finished=partly).action is Action.REFUSE
    assert decide(OLD, other, Condition(SINCE, QUEUE), finished=partly).action is Action.QUEUE


# All combinations

NAMES = ("a", "b", "c")
instants = st.sampled_from([None, BEFORE, SINCE, AFTER])
observations = st.dictionaries(st.sampled_from(NAMES), instants, max_size=3).map(lambda drawn: observed(**drawn))
operation_lists = st.lists(
    st.builds(
        Operation,
        st.integers(1, 99),
        st.sampled_from([None, "Restart it"]),
        instants,
        st.none() | st.frozensets(st.sampled_from(NAMES)),
    ),
    max_size=3,
    unique_by=lambda operation: operation.task_id,
)
conditions = st.builds(Condition, st.sampled_from([None, SINCE]), st.sampled_from(InFlight))


def unproven_of(observation: Observation, since) -> set[str]:
    return {
        member.name
        for member in observation.members
        if since is None or member.started is None or member.started < since
    }


def satisfying_ids(observation: Observation, operations: list[Operation], since) -> set[int]:
    """List the tasks that began late enough and restart all that needs it; independent of the code."""
    everyone = {member.name for member in observation.members}
    needed = unproven_of(observation, since) or everyone
    return {
        operation.task_id
        for operation in operations
        if (operation.restarts is None or (needed and needed.issubset(operation.restarts)))
        and (since is None or operation.started_at in (SINCE, AFTER))
    }


@settings(max_examples=250)
@given(observations, operation_lists, conditions)
def test_decision_keeps_its_invariants(observation, operations, asked):
    decision = decide(observation, operations, asked)
    unproven = unproven_of(observation, asked.started_before)
    satisfying = satisfying_ids(observation, operations, asked.started_before)
    everyone = {member.name for member in observation.members}

    if satisfying:
        assert decision.action is not Action.SUBMIT
    if operations:
        assert decision.action is not Action.SUBMIT, "it would meet what is running"
    if decision.action is Action.SKIP:
        assert everyone
        assert asked.started_before is not None
        assert not unproven
        assert all(member.started >= asked.started_before for member in observation.members)
    if decision.action is Action.ATTACH:
        assert asked.in_flight is not FAIL
        assert len(decision.task_ids) == 1
        assert set(decision.task_ids) <= satisfying
    if decision.action is Action.QUEUE:
        assert asked.in_flight is QUEUE
        assert set(decision.task_ids) == {operation.task_id for operation in operations}
    else:
        assert len(decision.task_ids) == (decision.action is Action.ATTACH)
    if decision.action is Action.REFUSE:
        assert asked.in_flight is not QUEUE
        assert unproven or not everyone
    if not operations:
        assert decision.action in (
            (Action.SKIP, Action.SUBMIT) if observation.members or asked.started_before is None else (Action.ILL,)
        )
    if satisfying and asked.in_flight is ATTACH:
        assert decision.action is Action.ATTACH
    expected = everyone if decision.action is Action.ATTACH and not unproven else unproven
    assert decision.members == expected
    assert decision.reason


@given(observations, operation_lists, conditions)
def test_decision_is_deterministic_and_changes_no_input(observation, operations, asked):
    given_before = copy.deepcopy((observation, operations, asked))
    first = decide(observation, operations, asked)
    assert isinstance(first, Decision)
    assert decide(observation, operations, asked) == first
    assert (observation, operations, asked) == given_before


@given(observations, operation_lists, conditions)
def test_reason_names_its_task(observation, operations, asked):
    decision = decide(observation, operations, asked)
    if decision.action in (Action.ATTACH, Action.QUEUE, Action.REFUSE):
        assert any(operation.label in decision.reason for operation in operations)
    for number in decision.task_ids if decision.action is Action.ATTACH else ():
        assert f"task {number}" in decision.reason


looks = st.builds(
    Look,
    st.builds(
        Observation,
        st.sampled_from([None, "RUNNING", "RESTARTING", "STOPPED"]),
        st.lists(
            st.builds(
                Member,
                st.sampled_from(NAMES),
                st.sampled_from([None, "RUNNING", "RESTARTING", "STOPPED"]),
                started=instants,
                serves=st.sampled_from([None, True, False]),
            ),
            max_size=3,
            unique_by=lambda member: member.name,
        ).map(tuple),
        whole_serves=st.sampled_from([None, True, False]),
    ),
    operation_lists,
    st.just(AFTER),
    st.sampled_from([None, HOLDER]),
    st.lists(
        st.builds(
            finished,
            st.integers(1, 99),
            st.none() | st.frozensets(st.sampled_from(NAMES)),
            st.sampled_from([SINCE, AFTER, AFTER - timedelta(days=1)]),
        ),
        max_size=2,
    ),
)


@settings(max_examples=400)
@given(looks, conditions)
def test_decision_never_breaks_a_promise(look, asked):
    decision = decide_restart(look, asked)
    observed, since = look.observed, asked.started_before
    due = [task for task in look.finished if task.ended_at + timedelta(seconds=180) > AFTER] if since else []
    shown_since = {
        member.name
        for member in observed.members
        if since is not None
        and (
            any(task.restarts is None or member.name in task.restarts for task in look.finished)
            if member.started is None
            else member.started >= since
        )
    }
    if look.holder is not None:
        assert decision.action is Action.HELD
    if decision.action is Action.SKIP:
        assert shown_since == {member.name for member in observed.members} != set()
        assert observed.serves is not False
        assert decision.serves is observed.serves
    if decision.action is Action.SUBMIT:
        assert not look.operations
        assert not observed.is_in_flight
    if decision.action in (Action.SUBMIT, Action.EXPECT):
        assert not decision.members & shown_since
        assert not any(task.restarts is None or decision.members & task.restarts for task in due if decision.members)
    if decision.action is Action.ILL:
        assert observed.serves is False or not observed.members
