# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The rules of the decision: a table of cases, and what holds for everything that may be known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import (
    InFlight,
    Knowledge,
    Member,
    Relative,
    Request,
    Task,
    Values,
    Wish,
    Work,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.rules import RULES, Case, Rule, Step, decide
from ansible_collections.oceanbase.ocp.tests.unit.support.rule_cases import BEFORE, HIDDEN, RULE_CASES, SINCE, UNCLEAR
from hypothesis import given, settings
from hypothesis import strategies as st

WAYS_OUT = {
    Rule.OWN_TASK: {Step.ADOPT},
    Rule.RUNNING: {Step.JOIN},
    Rule.DONE: {Step.SKIP},
    Rule.BUSY: {Step.FAIL, Step.QUEUE},
    Rule.VALUES_LATE: {Step.WAIT},
    Rule.START_LATE: {Step.WAIT, Step.SKIP, Step.FAIL},
    Rule.REQUEST_OPEN: {Step.WAIT},
    Rule.START_OPEN: {Step.WAIT, Step.FAIL},
    Rule.TASK_UNTOLD: {Step.WAIT, Step.FAIL},
    Rule.EARLIER_START: {Step.WAIT},
    Rule.NEEDED: {Step.SEND},
}


@pytest.mark.parametrize("case", RULE_CASES, ids=lambda case: f"{case.decision.rule.name}: {case.words}")
def test_decision_follows_the_table(case):
    assert decide(case.known, case.wish) == case.decision


def test_table_has_each_way_out_of_each_rule():
    found = {(case.decision.rule, case.decision.step) for case in RULE_CASES}
    assert found == {(rule, step) for rule in Rule for step in WAYS_OUT.get(rule, {Step.FAIL})}


def test_each_rule_decides_a_case():
    decides = {next(rule for rule in RULES if rule(Case(case.known, case.wish))) for case in RULE_CASES}
    assert decides == set(RULES)


# Everything that may be known

NAMES = ("a", "b", "c")
some_names = st.frozensets(st.sampled_from(NAMES))
all_members = st.lists(
    st.builds(
        Member,
        st.sampled_from(NAMES),
        st.sampled_from(Relative),
        st.sampled_from([True, False, None]),
        st.booleans(),
        st.sampled_from(Values),
        st.booleans(),
        st.sampled_from([False, False, True]),
    ),
    max_size=3,
    unique_by=lambda member: member.name,
).map(tuple)


@st.composite
def all_tasks(draw):
    work, restarts = draw(st.sampled_from(Work)), draw(some_names)
    since = draw(some_names) & restarts
    unclear = (draw(some_names) & restarts) - since
    is_due = draw(st.booleans()) and work is Work.RESTARTED
    return Task(draw(st.integers(1, 99)), work, restarts, since, unclear, is_due, bool(restarts) or draw(st.booleans()))


seldom = st.sampled_from([False, False, False, True])


@st.composite
def all_knowledge(draw):
    """What ``know`` may find, so values that are not shown prove nothing. What prevents any request is seldom."""
    shown = draw(all_members)
    some_requests = st.builds(Request, some_names, st.booleans(), st.booleans())
    return Knowledge(
        shown,
        tuple(draw(st.lists(all_tasks(), max_size=3, unique_by=lambda task: task.id))),
        draw(st.sampled_from([True, False, None])),
        draw(seldom),
        70 if draw(seldom) else None,
        draw(st.frozensets(st.integers(1, 3), max_size=2)) if draw(seldom) else frozenset(),
        (draw(some_requests),) if draw(seldom) else (),
        not draw(seldom),
        draw(st.booleans()) or any(member.values is Values.HIDDEN for member in shown),
    )


all_wishes = st.builds(
    Wish, st.booleans(), st.sampled_from(InFlight), st.booleans(), st.booleans(), st.booleans(), settles=st.booleans()
)


def covering(known, *kinds):
    """The members that a task of these kinds has restarted since, or may have."""
    return frozenset[str]().union(*(task.since for task in known.tasks if task.work in kinds))


@settings(max_examples=300)
@given(all_knowledge(), all_wishes)
def test_nothing_is_sent_that_could_be_a_second_restart(known, wish):
    decision = decide(known, wish)
    if decision.step is not Step.SEND:
        return
    assert not any(task.work is Work.RUNNING for task in known.tasks)
    assert not known.is_moving
    assert known.holder is None
    assert all(request.is_searched and not request.is_here for request in known.requests)
    assert known.members or not wish.is_conditional
    assert not any(member.is_late for member in Case(known, wish).stale)
    if wish.is_dated:
        assert decision.members.isdisjoint(covering(known, Work.RESTARTED, Work.SKIPPED))


@settings(max_examples=300)
@given(all_knowledge(), all_wishes)
def test_nothing_is_sent_where_only_tasks_could_tell_and_they_do_not(known, wish):
    decision = decide(known, wish)
    if decision.step is not Step.SEND or not wish.is_dated:
        return
    untold = [
        member for member in known.members if member.name in decision.members and member.start in (HIDDEN, UNCLEAR)
    ]
    if untold:
        assert known.reads_tasks
        assert all(task.is_told for task in known.tasks if task.work is Work.RESTARTED)
    for task in known.tasks:
        if task.work in (Work.RESTARTED, Work.SKIPPED):
            assert decision.members.isdisjoint(task.unclear)
        if task.work is Work.RAN:
            unclear = {member.name for member in untold if member.start is UNCLEAR}
            assert unclear.isdisjoint(task.since | task.unclear)


@settings(max_examples=300)
@given(all_knowledge(), all_wishes)
def test_nothing_is_skipped_without_proof(known, wish):
    decision = decide(known, wish)
    if decision.step is not Step.SKIP:
        return
    assert known.members
    assert wish.is_conditional
    assert known.holder is None
    assert known.serves is not False
    restarted = covering(known, Work.RESTARTED)
    for member in known.members:
        is_late = decision.rule is Rule.START_LATE
        is_met = wish.has_values and member.values is Values.IN_EFFECT and not known.values_doubted
        if wish.is_dated and not is_met:
            assert member.start is SINCE or ((member.start is not BEFORE or is_late) and member.name in restarted)
        if wish.has_values:
            assert member.values is not Values.OTHERS
        if not wish.is_dated:
            assert member.values is not Values.HIDDEN


@settings(max_examples=300)
@given(all_knowledge(), all_wishes)
def test_a_task_is_joined_only_if_it_restarts_all_that_need_it_since_the_change(known, wish):
    decision = decide(known, wish)
    if decision.step is not Step.JOIN:
        return
    [joined] = [task for task in known.tasks if (task.id,) == decision.tasks]
    assert joined.work is Work.RUNNING
    assert decision.members <= joined.restarts
    assert wish.in_flight is not InFlight.FAIL
    if wish.is_dated:
        assert decision.members <= joined.since
    else:
        assert wish.in_flight is InFlight.ATTACH


@settings(max_examples=300)
@given(all_knowledge(), all_wishes)
def test_members_that_need_a_restart_are_sent_waited_for_or_refused(known, wish):
    """None of them is left out but those whose restart is due."""
    decision = decide(known, wish)
    names = Case(known, wish).names
    if decision.step is Step.SEND:
        assert decision.members == names - Case(known, wish).due.keys()
    if decision.step is Step.SKIP:
        assert names == frozenset(Case(known, wish).due)


@given(all_knowledge(), all_wishes)
def test_decision_is_one_pure_function_of_hashable_values(known, wish):
    first = decide(known, wish)
    assert decide(replace(known), replace(wish)) == first
    assert len({(known, wish, first), (replace(known), replace(wish), replace(first))}) == 1
    assert first.sends is (first.step is Step.SEND)


@given(all_knowledge(), all_wishes)
def test_no_rule_waits_for_what_never_shows(known, wish):
    """A wait has a task that was due, a request whose search is on, values that may settle, or an earlier start."""
    decision = decide(known, wish)
    if decision.step is Step.WAIT:
        is_searched = all(request.is_searched for request in known.requests)
        is_new = any(member.is_new for member in known.members) and wish.settles
        is_late = any(member.is_late for member in known.members)
        assert any(task.is_due for task in known.tasks) or not is_searched or is_new or is_late
    if decision.step is Step.QUEUE:
        assert wish.in_flight is InFlight.QUEUE
