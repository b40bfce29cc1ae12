# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""From a look to what is known: members, tasks, values, and which tasks have to be read whole first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import HOST_UNCERTAINTY
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task as TaskRecord
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.effect import Effect
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.parameter import Parameter
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.change import Begin, Sight, Span
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.know import (
    Ended,
    Memory,
    explains,
    know,
    late_tasks,
    undecided,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import Relative, Request, Values, Work
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.look import Look
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.values_seen import ValuesSeen
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation, TaskOnTarget
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, chain, raw_task, step

ZERO = BEGINNING.timestamp()
BEGIN = Begin(Span(ZERO, ZERO), wall=ZERO)
UNDATED = Begin()
ALL, NOBODY = None, frozenset[str]()
A, AB = frozenset("a"), frozenset("ab")
NOW = 200.0
UNTOLD = "重启 OBServer"


def entry(number=90, status="SUCCESSFUL", restarts=ALL, *, began=10.0, ended=20.0, starts=(), **fields):
    """Build a task from ``began`` to ``ended``, whose second step ``starts`` something from then to then."""
    times = {"startTime": began, "finishTime": ended}
    shown = {name: None if seconds is None else at(seconds).isoformat() for name, seconds in times.items()}
    steps = chain(step(1, "Stop it", "SUCCESSFUL"), step(2, "Start it", status))
    if starts:
        steps[1]["startTime"], steps[1]["finishTime"] = (at(seconds).isoformat() for seconds in starts)
    return TaskOnTarget(raw_task(number, status, **{"subtasks": steps, **shown, **fields}), restarts)


def look(*tasks, a=-900.0, b=-900.0, now=NOW, status="RUNNING", **more):
    """Build a look at the members a and b, which started at so many seconds."""
    members = [
        Member(name, status, started=None if started is None else at(started), serves=True)
        for name, started in {"a": a, "b": b}.items()
    ]
    return Look(Observation(status, tuple(members)), at(now), tasks, **more)


def is_restart(task):
    """Whether a task may be a restart whose target is not shown."""
    return task["name"] == UNTOLD


def known(seen, begin=BEGIN, values=None, *, may_be_kind=False, **memory):
    return know(lambda _task: may_be_kind, seen, begin, values, Memory(**memory))


def only_task(seen, begin=BEGIN, **more):
    [task] = known(seen, begin, **more).tasks
    return task


# Members


@pytest.mark.parametrize(
    ("started", "start"),
    [(90, Relative.SINCE), (-90, Relative.BEFORE), (0, Relative.UNCLEAR), (None, Relative.HIDDEN)],
)
def test_start_becomes_relative_to_the_change(started, start):
    assert [member.start for member in known(look(a=started)).members] == [start, Relative.BEFORE]


def first(**more):
    """A name that was first used for a and b."""
    return Begin(sights={name: Sight(Member(name, None, started=at(-900)), frozenset(), **more) for name in AB})


@pytest.mark.parametrize(
    ("begin", "seen", "is_late"),
    [
        (Begin(sights={}), look(), True),
        (first(late=True), look(), True),
        (first(), look(), False),
        (Begin(sights={}), look(a=None), False),
        (BEGIN, look(), False),
    ],
    ids=["the name is new", "its first start was late", "its first start is known", "no start shows", "without a name"],
)
def test_start_of_an_earlier_restart_may_show_where_the_name_has_no_first_start(begin, seen, is_late):
    assert [member.is_late for member in known(seen, begin, late=A).members] == [is_late, False]


@pytest.mark.parametrize(("requested", "start"), [({}, Relative.UNCLEAR), ({90: {"a": ZERO}}, Relative.SINCE)])
def test_start_that_a_task_of_before_may_have_made_is_unclear(requested, start):
    """The first look came from a replica that lags; the task restarts a alone."""
    seen, begin = look(entry(restarts=A, began=-18, ended=-2), a=-7, b=-7), first(at=Span(ZERO, ZERO + 1))
    assert [member.start for member in known(seen, begin, requested=requested).members] == [start, Relative.SINCE]


def test_without_a_change_no_start_counts():
    assert {member.start for member in known(look(a=90), UNDATED).members} == {Relative.HIDDEN}


def test_what_a_look_shows_of_the_whole_is_known():
    shown = look(status="RESTARTING", reads_tasks=False)
    found = known(shown, own=frozenset([7]), requests=(Request(A, is_searched=False),))
    assert (found.serves, found.is_moving, found.reads_tasks, found.holder) == (True, True, False, None)
    assert (found.own, found.requests) == ({7}, (Request(A, is_searched=False),))


def test_holder_is_known_by_its_id():
    failed = TaskRecord.from_api(raw_task(70, "FAILED"))
    assert known(look(named_failed=[failed])).holder == 70


def test_knowledge_of_the_same_look_is_the_same_hashable_value():
    seen = look(entry(), a=None)
    assert len({known(seen), known(replace(seen))}) == 1


# Tasks


@pytest.mark.parametrize(
    ("seen", "restarts", "since", "unclear"),
    [
        (look(entry()), "ab", "ab", ""),
        (look(entry(restarts=A)), "a", "a", ""),
        (look(entry(restarts=frozenset("ac"))), "a", "a", ""),
        (look(entry(began=-100, ended=-60)), "ab", "", ""),
        (look(entry(began=-10)), "ab", "", "ab"),
        (look(entry(began=-10, starts=(5, 15))), "ab", "ab", ""),
        (look(entry(began=-10, starts=(-8, -4))), "ab", "", ""),
        (look(entry(began=-10, starts=(-8, 4))), "ab", "", "ab"),
        (look(entry(began=None)), "ab", "", "ab"),
        (look(entry(restarts=NOBODY)), "", "", ""),
        (look(entry(restarts=NOBODY, began=None)), "", "", ""),
        (look(entry(status="RUNNING", operation="ROLLBACK")), "", "", ""),
        (look(entry(status="RUNNING")), "ab", "ab", ""),
        (look(entry(operation="ROLLBACK")), "ab", "ab", ""),
    ],
    ids=[
        "all",
        "a part",
        "a part, and others",
        "ended before",
        "begun before, ended since",
        "begun before, its step that starts begun since",
        "begun before, its step that starts ended before",
        "begun before, its step that starts since, or before",
        "no begin",
        "other work",
        "other work, no begin",
        "undoes its work",
        "runs",
        "has undone its work",
    ],
)
def test_task_is_known_by_the_members_that_it_restarts_since(seen, restarts, since, unclear):
    task = only_task(seen)
    assert (task.restarts, task.since, task.unclear) == (set(restarts), set(since), set(unclear))


def test_without_a_change_each_task_counts():
    assert only_task(look(entry(began=-900)), UNDATED).since == AB


def test_with_a_name_a_task_counts_for_the_members_that_did_not_have_it():
    shown = Member("a", "RUNNING")
    begin = Begin(sights={"a": Sight(shown, frozenset()), "b": Sight(shown, frozenset([90]))})
    assert only_task(look(entry(began=-900)), begin).since == A


@pytest.mark.parametrize(
    ("requested", "since"),
    [
        ({90: {"a": ZERO, "b": ZERO}}, AB),
        ({90: {"a": ZERO, "b": ZERO - 1}}, A),
        ({90: {"a": ZERO}}, A),
        ({91: {"a": ZERO, "b": ZERO}}, NOBODY),
    ],
    ids=["both", "one of them", "the other joined later", "another task"],
)
def test_task_that_this_machine_requested_since_needs_no_clock(requested, since):
    assert only_task(look(entry(began=None)), requested=requested).since == since


def test_tasks_stay_newest_first_with_their_work():
    found = known(look(entry(92, "RUNNING"), entry(91), entry(90, "FAILED"))).tasks
    assert [(task.id, task.work) for task in found] == [(92, Work.RUNNING), (91, Work.RESTARTED), (90, Work.RAN)]


@pytest.mark.parametrize(
    ("fields", "now", "is_due"),
    [
        ({}, 199.9, True),
        ({}, 200, False),
        ({"ended": None}, 189.9, True),
        ({"ended": None}, 190, False),
        ({"ended": None, "began": None}, 20, True),
        ({"status": "FAILED"}, 30, True),
        ({"status": "FAILED"}, 200, False),
        ({"status": "RUNNING"}, 30, False),
    ],
    ids=["within", "over", "by its begin", "by its begin, over", "no times", "FAILED", "FAILED long ago", "RUNNING"],
)
def test_start_need_not_show_for_three_minutes_after_the_end(fields, now, is_due):
    assert only_task(look(entry(**fields), now=now)).is_due is is_due


@pytest.mark.parametrize(("ended_for", "is_due"), [(0.0, True), (179.9, True), (180.0, False)])
def test_where_clocks_differ_it_is_due_as_long_as_this_run_knows_its_end(ended_for, is_due):
    """The server that wrote its end may be 100 seconds ahead of the one that says what time it is."""
    ended = Ended({90: ended_for}, uncertain=100.0)
    assert only_task(look(entry(), now=299), ended=ended).is_due is is_due
    assert not only_task(look(entry(), now=300), ended=ended).is_due


@pytest.mark.parametrize(
    ("task", "may_be_kind", "is_told"),
    [
        (entry(restarts=NOBODY), True, False),
        (entry(restarts=NOBODY, began=None), True, False),
        (entry(restarts=NOBODY, began=-100, ended=-60), True, True),
        (entry(restarts=NOBODY, began=-10), True, False),
        (entry(restarts=NOBODY), False, True),
        (entry(), True, True),
    ],
    ids=["may be of it", "begin not shown", "ended before", "begun before, ended since", "other work", "of it"],
)
def test_restart_without_a_target_since_the_change_is_not_told(task, may_be_kind, is_told):
    assert only_task(look(task), may_be_kind=may_be_kind).is_told is is_told


@pytest.mark.parametrize(
    ("steps", "work"), [({"subtasks": []}, Work.SKIPPED), ({}, Work.RESTARTED)], ids=["not shown", "shown"]
)
def test_where_steps_are_not_shown_the_journal_tells_that_one_was_skipped(steps, work):
    assert only_task(look(entry(**steps)), skipped=frozenset([90])).work is work


# Values


def values_of(*, tried=NOBODY, told_apart=("stack_size",), **shown):
    """Build what the members show of the wanted stack_size=5M."""
    parameter = Parameter("stack_size", {name: value for name, value in shown.items() if value is not None})
    effect = Effect({"stack_size": "5M"}, {"stack_size": parameter}, tuple(shown))
    return ValuesSeen(effect, frozenset(told_apart), frozenset(tried))


def test_values_of_each_member_are_known():
    found = known(look(), UNDATED, values_of(a="5M", b="4M", tried={"b"}))
    assert [(member.values, member.was_tried) for member in found.members] == [
        (Values.IN_EFFECT, False),
        (Values.OTHERS, True),
    ]
    assert not found.values_doubted


@pytest.mark.parametrize(
    ("values", "shown"),
    [(values_of(a="5M", b=None), Values.HIDDEN), (values_of(a="5M", b="5M", told_apart=()), Values.IN_EFFECT)],
    ids=["one is not shown", "the service may show new values before a restart"],
)
def test_values_that_prove_nothing_are_doubted(values, shown):
    found = known(look(), UNDATED, values)
    assert found.members[1].values is shown
    assert found.values_doubted


def test_without_wanted_values_none_is_known():
    found = known(look(a=NOW))
    assert [member.values for member in found.members] == [Values.NOT_WANTED] * 2
    assert not any(member.is_new or member.was_tried for member in found.members)
    assert not found.values_doubted


@pytest.mark.parametrize(
    ("seen", "is_new"),
    [
        (look(a=NOW - 180 - HOST_UNCERTAINTY), True),
        (look(a=NOW - 181 - HOST_UNCERTAINTY), False),
        (look(entry(ended=NOW - 1), a=None), True),
        (look(entry(ended=NOW - 180), a=None), False),
        (look(entry(ended=NOW - 1, restarts=frozenset("b")), a=None), False),
        (look(entry(ended=NOW - 1, status="FAILED"), a=None), False),
        (look(a=None), False),
    ],
    ids=["started", "long ago", "restarted", "restarted long ago", "of another", "FAILED", "nothing shows"],
)
def test_values_may_follow_for_three_minutes_after_a_start(seen, is_new):
    assert known(seen, values=values_of(a="4M", b="4M")).members[0].is_new is is_new


def test_values_may_follow_for_longer_if_the_clocks_of_the_service_are_apart():
    seen = look(a=NOW - 200 - HOST_UNCERTAINTY)
    found = [known(seen, values=values_of(a="4M", b="4M"), ended=Ended(uncertain=apart)) for apart in (0.0, 30.0)]
    assert [each.members[0].is_new for each in found] == [False, True]


# What has to be read whole


BARE = {"subtasks": []}


@pytest.mark.parametrize(
    ("seen", "begin", "is_read"),
    [
        pytest.param(look(entry(**BARE)), BEGIN, True, id="no steps"),
        pytest.param(look(entry(ended=None)), BEGIN, True, id="no end"),
        pytest.param(look(entry()), BEGIN, False, id="whole already"),
        pytest.param(look(entry(began=None, **BARE)), BEGIN, True, id="no begin"),
        pytest.param(look(entry(began=-100, ended=-60, **BARE)), BEGIN, False, id="ended before"),
        pytest.param(look(entry(began=-10, **BARE)), BEGIN, True, id="begun before, ended since"),
        pytest.param(look(entry(began=-10)), BEGIN, True, id="begun before, and not shown when its steps ran"),
        pytest.param(look(entry(began=-10, starts=(5, 15))), BEGIN, False, id="begun before, and its steps are whole"),
        pytest.param(look(entry(status="FAILED", **BARE), a=None), BEGIN, True, id="FAILED, and no start shows"),
        pytest.param(look(entry(**BARE), a=90, b=90), BEGIN, False, id="all have started since"),
        pytest.param(
            look(entry(restarts=A, **BARE), a=90), BEGIN, False, id="those that it restarts have started since"
        ),
        pytest.param(look(entry(restarts=NOBODY, **BARE)), BEGIN, True, id="what it restarts is not shown"),
        pytest.param(
            look(entry(restarts=NOBODY, began=-100, ended=-60, **BARE)), BEGIN, False, id="not shown, and ended before"
        ),
        pytest.param(look(entry(restarts=frozenset("c"), **BARE)), BEGIN, False, id="of another member"),
        pytest.param(look(entry(status="RUNNING", **BARE)), BEGIN, False, id="it runs"),
        pytest.param(look(entry(status="FAILED", **BARE)), BEGIN, True, id="FAILED, and it holds nothing"),
        pytest.param(look(entry(status="FAILED")), BEGIN, True, id="FAILED, and it holds nothing, with its steps"),
        pytest.param(
            replace(look(entry(status="FAILED", **BARE)), named_failed=(entry(status="FAILED").task,)),
            BEGIN,
            False,
            id="FAILED, and it holds it",
        ),
        pytest.param(look(entry(status="FAILED", **BARE), a=0), BEGIN, True, id="FAILED, and clocks do not tell"),
        pytest.param(
            look(entry(status="FAILED", began=0.0, **BARE), a=0),
            Begin(Span(ZERO - 3, ZERO + 3)),
            True,
            id="FAILED, and clocks do not tell of its begin",
        ),
        pytest.param(look(entry(**BARE)), UNDATED, False, id="without a change"),
    ],
)
def test_task_is_read_whole_if_that_may_decide(seen, begin, is_read):
    found = undecided(lambda _task: True, seen, begin)
    assert [each.record["id"] for each in found] == [90] * is_read


@pytest.mark.parametrize(
    ("task", "is_read"),
    [
        (entry(status="SUCCESSFUL", began=-60, **BARE), True),
        (entry(status="FAILED", began=-60, **BARE), True),
        (entry(status="FAILED", began=-60), False),
        (entry(status="RUNNING", began=-60, **BARE), False),
        (entry(80, began=-60, **BARE), False),
        (entry(restarts=frozenset("b"), began=-60, **BARE), False),
    ],
    ids=["it has ended", "it has FAILED", "its steps are known", "it still runs", "it had ended", "of another"],
)
def test_task_that_ran_at_the_first_use_is_read_whole_as_it_may_be_rolled_back(task, is_read):
    ran = Sight(Member("a", None, started=at(-900)), frozenset([80, 90]), running=frozenset([90]))
    found = undecided(lambda _task: True, look(task), Begin(sights={"a": ran}))
    assert [each.record["id"] for each in found] == [90] * is_read


def test_each_task_that_ran_at_the_first_use_is_read_whole():
    ran = Sight(Member("a", None, started=at(-900)), frozenset([80, 90]), running=frozenset([80, 90]))
    tasks = [entry(number, began=-60, **BARE) for number in (90, 80)]
    assert undecided(lambda _task: True, look(*tasks), Begin(sights={"a": ran})) == tasks


@pytest.mark.parametrize("begin", [BEGIN, UNDATED], ids=["with a change", "alone"])
def test_for_values_each_task_may_decide(begin):
    seen = look(entry(**BARE), a=90, b=90)
    assert undecided(lambda _task: True, seen, begin, values_of(a="4M", b="4M")) == list(seen.tasks)


def test_other_work_is_not_read():
    assert undecided(lambda _task: False, look(entry(restarts=NOBODY, **BARE)), BEGIN) == []


# Starts that may show late


def running(status, **more):
    """Build a task that runs; ``status`` is that of the step that starts the target."""
    steps = chain(step(1, "Stop it", "SUCCESSFUL"), step(2, "Start it", status))
    return entry(status="RUNNING", subtasks=steps, ended=None, **more)


@pytest.mark.parametrize(
    ("tasks", "started", "late"),
    [
        pytest.param([entry()], -900, {90}, id="it shows an older start"),
        pytest.param([entry()], None, {90}, id="it shows no start"),
        pytest.param([entry(ended=15.0)], -900, {90}, id="it ended within three minutes"),
        pytest.param([entry(began=1.0, ended=10.0)], -900, set(), id="it ended three minutes ago"),
        pytest.param([entry()], 15, set(), id="nothing else explains the start"),
        pytest.param([entry()], 80, set(), id="the start is later than its begin for sure"),
        pytest.param([entry()], -50, set(), id="clocks do not tell, and nothing else explains the start"),
        pytest.param([entry()], -51, {90}, id="the start is earlier than its begin for sure"),
        pytest.param([entry(91), entry(began=-5.0, ended=30.0)], 15, {90, 91}, id="either may have made it"),
        pytest.param([entry(91), entry(began=-500.0, ended=-400.0)], 15, set(), id="an older one cannot have made it"),
        pytest.param(
            [entry(91), entry(began=-500.0, ended=None)], 15, {91}, id="an older one whose end is not shown can"
        ),
        pytest.param(
            [entry(91), entry(90, began=None, ended=None)], 15, {90, 91}, id="one whose times are not shown can"
        ),
        pytest.param([entry(began=None)], 15, {90}, id="its begin is not shown"),
        pytest.param([running("PENDING")], -900, set(), id="it runs, and has not started it"),
        pytest.param([running("RUNNING")], -900, {90}, id="it runs, and may have started it"),
        pytest.param([running("RUNNING")], 15, set(), id="it runs, and its start shows"),
        pytest.param([running("RUNNING", began=-500.0)], -900, {90}, id="it runs for long"),
        pytest.param([entry(restarts=A)], -900, {90}, id="of this member"),
        pytest.param([entry(restarts=frozenset("b"))], -900, set(), id="of another member"),
        pytest.param([entry(restarts=NOBODY)], -900, set(), id="other work"),
        pytest.param([entry(restarts=NOBODY, name=UNTOLD)], -900, {90}, id="perhaps a restart of it"),
        pytest.param([entry(began=None, ended=None)], -900, {90}, id="none of its times is shown"),
        pytest.param([entry(80)], -900, set(), id="its start is known to have shown"),
    ],
)
def test_tasks_whose_start_may_still_replace_the_one_that_shows_are_late(tasks, started, late):
    seen = look(*tasks, a=started, now=190.0)
    assert late_tasks(is_restart, seen, seen.observed.members[0], Ended(), {80}) == late


@pytest.mark.parametrize(("ended_for", "late"), [(179.0, {90}), (180.0, set())])
def test_start_is_late_as_long_as_this_run_knows_its_end(ended_for, late):
    seen = look(entry(), now=150.0)
    assert late_tasks(is_restart, seen, seen.observed.members[0], Ended({90: ended_for}, uncertain=100.0)) == late


@pytest.mark.parametrize(("apart", "late"), [(0.0, set()), (600.0, {90})])
def test_start_long_before_a_task_does_not_answer_it_where_the_clock_of_the_task_may_be_behind(apart, late):
    """The start is that of another restart; the one of the task shows later."""
    seen = look(entry(began=-590, ended=-580), a=-300.0, now=-500.0)
    assert late_tasks(is_restart, seen, seen.observed.members[0], Ended(uncertain=apart)) == late


@pytest.mark.parametrize(("apart", "is_explained"), [(0.0, False), (600.0, True)])
def test_a_start_is_explained_by_a_task_of_a_clock_that_may_be_off(apart, is_explained):
    member = look(a=500.0).observed.members[0]
    task = TaskRecord.from_api(entry(began=100.0, ended=200.0).record)
    assert explains(task, member, apart) is is_explained


@pytest.mark.parametrize(
    ("task", "started", "is_explained"),
    [
        (entry(began=100.0, ended=200.0), 150, True),
        (entry(began=100.0, ended=200.0), 41, True),
        (entry(began=100.0, ended=200.0), 38, False),
        (entry(began=100.0, ended=200.0), 259, True),
        (entry(began=100.0, ended=200.0), 262, False),
        (entry(began=100.0, ended=None), 5000, True),
        (entry(began=None, ended=200.0), -5000, True),
        (entry(began=100.0, ended=200.0), None, False),
    ],
    ids=["within", "a minute before", "earlier", "a minute after", "later", "no end", "no begin", "no start"],
)
def test_a_start_is_explained_by_a_task_to_the_minute(task, started, is_explained):
    member = look(a=started).observed.members[0]
    assert explains(TaskRecord.from_api(task.record), member) is is_explained
