# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The restart decision: a table with its reasons, and its invariants."""

from __future__ import annotations

import copy
from datetime import UTC, timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.decision import (
    Action,
    Condition,
    Decision,
    InFlight,
    Look,
    Operation,
    decide_restart,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING
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
    ("always", OLD, [], (None, ATTACH), Action.SUBMIT, {"a", "b"}, "no condition was given, so the verb always"),
    ("always, though new", NEW, [], (None, FAIL), Action.SUBMIT, {"a", "b"}, "no condition was given"),
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
    ("nobody", observed(), [], (SINCE, ATTACH), Action.SUBMIT, set(), "shows nothing of it, so it is not proven"),
    ("nobody, always", observed(), [], (None, ATTACH), Action.SUBMIT, set(), "no condition was given"),
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
        "it is not known to be its restart",
    ),
    (
        "a part",
        OLD,
        [running(restarts=frozenset("a"))],
        (None, ATTACH),
        Action.REFUSE,
        {"a", "b"},
        "it does not restart all that is asked for",
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


@settings(max_examples=500)
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
        assert decision.action in (Action.SKIP, Action.SUBMIT)
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
