# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Held: a FAILED task has a target, and only a person can clear that."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.held import holder_of, newest_failure
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.look import Look
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation, TaskOnTarget
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import chain, raw_task, step

ALL, NOTHING = None, frozenset[str]()
AT_WORK, RUNNING = Observation("RESTARTING", ()), Observation("RUNNING", ())
FIRST = {"first": "FAILED"}


def task(number, status="FAILED", *, first=None, **fields):
    """Build a task that ended with this status at its second step; ``first`` is the status of its first one."""
    steps = chain(step(1, "Stop it", first or "SUCCESSFUL"), step(2, "Start it", "PENDING" if first else status))
    return raw_task(number, status, **{"subtasks": steps, **fields})


def listed(number, status="FAILED", restarts=ALL, **fields):
    return TaskOnTarget(task(number, status, **fields), restarts)


def look(*tasks, of=AT_WORK, more=(), **facts):
    """Build a look at these tasks; ``more`` are ids of other tasks on the list."""
    every = [raw_task(number) for number in more] + [entry.record for entry in tasks]
    return Look(of, at(0), tasks, every, **facts)


def troubled(*names):
    return Observation("RUNNING", tuple(Member(name, "UNAVAILABLE", serves=False) for name in names))


def read(entry):
    return Task.from_api(entry.record)


def failure_of(*tasks, **facts):
    found = newest_failure(look(*tasks, **facts), read)
    return found and found.id


@pytest.mark.parametrize(
    ("of", "named", "failure", "unfinished", "held_by"),
    [
        pytest.param(RUNNING, [90], None, [], 90, id="the target names a FAILED task"),
        pytest.param(AT_WORK, [90], None, [], 90, id="the target names a FAILED task, and is at work"),
        pytest.param(AT_WORK, [], 90, [], 90, id="at work, and its newest restart task is FAILED"),
        pytest.param(RUNNING, [], 90, [], None, id="not at work, and its newest restart is FAILED"),
        pytest.param(AT_WORK, [], None, [], None, id="at work, and no task is FAILED"),
        pytest.param(AT_WORK, [92, 90], None, [], 92, id="the newest that it names"),
        pytest.param(AT_WORK, [90], None, [listed(89, "RUNNING")], 90, id="held wins over in flight"),
        pytest.param(
            AT_WORK,
            [90],
            None,
            [listed(91, "RUNNING", NOTHING)],
            90,
            id="other work on it does not clear what holds it",
        ),
        pytest.param(
            AT_WORK,
            [90],
            None,
            [listed(91, "RUNNING", operation="ROLLBACK")],
            90,
            id="nor does one that is rolled back",
        ),
        pytest.param(
            AT_WORK, [90], None, [listed(91, "RUNNING")], None, id="a restart that began since shows a stale name"
        ),
    ],
)
def test_target_is_held_by_the_table(of, named, failure, unfinished, held_by):
    failed = [Task.from_api(task(number)) for number in named]
    seen = look(*unfinished, of=of, named_failed=failed, failure=failure and Task.from_api(task(failure)))
    holder = holder_of(seen)
    assert (holder and holder.id) == held_by


@pytest.mark.parametrize(
    ("tasks", "found"),
    [
        pytest.param([listed(90)], 90, id="FAILED"),
        pytest.param([listed(91), listed(90)], 91, id="the newest one"),
        pytest.param([listed(91, "SUCCESSFUL"), listed(90)], None, id="one since did its work"),
        pytest.param([listed(91, "SUCCESSFUL", operation="ROLLBACK"), listed(90)], None, id="one was rolled back"),
        pytest.param([listed(91, "ABORTED", finishTime=at(0).isoformat())], None, id="ended with another word"),
        pytest.param([listed(91, "RUNNING"), listed(90)], None, id="a newer one runs"),
        pytest.param([listed(91), listed(90, "RUNNING")], 91, id="an older one runs"),
        pytest.param([listed(91, restarts=NOTHING), listed(90)], 90, id="other work on it FAILED since"),
        pytest.param([listed(91, "RUNNING", NOTHING), listed(90)], 90, id="other work runs"),
        pytest.param([listed(91, **FIRST), listed(90)], 91, id="FAILED before it changed anything, and explains it"),
        pytest.param([listed(90, restarts=frozenset("a"))], 90, id="FAILED, of a part"),
        pytest.param([], None, id="none"),
    ],
)
def test_newest_restart_that_failed_is_found(tasks, found):
    assert failure_of(*tasks) == found


@pytest.mark.parametrize(
    ("tasks", "more", "found"),
    [
        ([], [], 91),
        ([], [80], 91),
        ([], [92], None),
        ([listed(90, "RUNNING")], [], None),
        ([listed(90, "RUNNING", NOTHING)], [], None),
        ([listed(90)], [92], 90),
    ],
    ids=["alone", "the newest", "not the newest", "a restart runs", "other work runs", "an older one explains it"],
)
def test_failure_before_it_changed_anything_counts_where_no_other_task_explains_what_is_shown(tasks, more, found):
    assert failure_of(listed(91, **FIRST), *tasks, more=more) == found


def test_restart_of_something_else_explains_nothing():
    """The list shows a later restart of agents, which works on no server."""
    failed = listed(91, **FIRST)
    seen = look(failed)
    others = [raw_task(92, name="Batch restart OCP agent"), failed.record]
    assert newest_failure(Look(seen.observed, seen.now, seen.tasks, others), read).id == 91


@pytest.mark.parametrize(
    ("restarts", "ended", "found"),
    [(ALL, 60, None), (ALL, 50, None), (ALL, 49, 91), (NOTHING, 60, 91)],
    ids=["ended since", "ended as it began", "ended before it", "other work"],
)
def test_failure_that_changed_nothing_holds_unless_another_restart_has_ended_since(restarts, ended, found):
    times = {"finishTime": at(ended).isoformat(), "startTime": at(1).isoformat()}
    other = listed(90, "SUCCESSFUL", restarts, **times)
    failed = listed(91, **FIRST, startTime=at(50).isoformat(), finishTime=at(51).isoformat())
    assert failure_of(failed, other) == found


def test_subtasks_of_the_failure_are_read():
    """A list may lack them. Where nothing shows them, it may have changed something."""
    bare = TaskOnTarget(raw_task(90, "FAILED"), ALL)
    seen = look(bare, more=[95])
    assert newest_failure(seen, read).id == 90
    assert newest_failure(seen, lambda _entry: Task.from_api(task(90))).failed_subtasks[0].label == "Start it"


def test_failure_that_is_gone_is_passed_over():
    gone = {91: None, 90: Task.from_api(task(90))}
    assert newest_failure(look(listed(91), listed(90)), lambda entry: gone[entry.record["id"]]).id == 90


@pytest.mark.parametrize("now", ["RUNNING", "SUCCESSFUL"])
def test_failure_of_the_list_that_has_been_retried_since_is_none(now):
    """Nor does an older one hold what it restarts."""
    by_itself = {91: Task.from_api(task(91, now)), 90: Task.from_api(task(90))}
    assert newest_failure(look(listed(91), listed(90)), lambda entry: by_itself[entry.record["id"]]) is None


@pytest.mark.parametrize(
    ("tasks", "found"),
    [
        ([listed(91, "SUCCESSFUL", frozenset("b")), listed(90, restarts=frozenset("a"))], 90),
        ([listed(91, "SUCCESSFUL", frozenset("ab")), listed(90, restarts=frozenset("a"))], None),
        ([listed(91, "SUCCESSFUL"), listed(90, restarts=frozenset("a"))], None),
        ([listed(91, restarts=frozenset("b")), listed(90, "SUCCESSFUL", frozenset("a"))], None),
        ([listed(91, "SUCCESSFUL", frozenset("a")), listed(90, restarts=frozenset("ac"))], 90),
    ],
    ids=["of another member", "of this one too", "of all", "of another alone", "of the other troubled one"],
)
def test_newest_restart_of_each_troubled_member_counts(tasks, found):
    assert failure_of(*tasks, of=troubled("a", "c")) == found


def test_only_failed_restarts_are_read():
    def unexpected(entry):
        raise AssertionError(entry)

    assert newest_failure(look(listed(91, "SUCCESSFUL"), listed(90)), unexpected) is None


# By age, not by id


def test_running_restart_with_a_higher_id_that_began_before_the_failure_says_nothing():
    assert failure_of(begun(90, -10), begun(95, -100, "RUNNING")) == 90
    assert failure_of(begun(95, -10, "RUNNING"), begun(90, -100)) is None
    assert failure_of(begun(80, -10, "RUNNING"), begun(90, -100)) is None


def test_failed_task_with_a_lower_id_that_began_later_holds():
    named = [Task.from_api(begun(90, -10).record)]
    older, newer = begun(95, -100, "RUNNING"), begun(80, 0, "RUNNING")
    assert holder_of(look(older, of=RUNNING, named_failed=named)) == named[0]
    assert holder_of(look(newer, of=RUNNING, named_failed=named)) is None


def test_first_step_that_failed_explains_by_the_age_of_tasks():
    failed, older = begun(90, -10, first="FAILED"), raw_task(95, "SUCCESSFUL", name="Other work", startTime=text(-100))
    found = Look(AT_WORK, at(0), [failed], [older, failed.record])
    assert newest_failure(found, read).id == 90
    newer = {**older, "id": 80, "startTime": text(0)}
    assert newest_failure(Look(AT_WORK, at(0), [failed], [newer, failed.record]), read) is None


@pytest.mark.parametrize(
    ("status", "ended", "found"),
    [("SUCCESSFUL", -3, 90), ("SUCCESSFUL", -1, None), ("SUCCESSFUL", None, None), ("FAILED", -3, None)],
    ids=["SUCCEEDED before the failure", "after it", "no end shows", "FAILED before it"],
)
def test_other_work_explains_what_is_shown_unless_it_succeeded_before_the_failure(status, ended, found):
    """Its end has set the status of the target again, before the failed restart left its own."""
    failed = begun(90, -10, first="FAILED", finishTime=text(-2))
    end = {} if ended is None else {"finishTime": text(ended)}
    other = {**raw_task(95, status, name="Other work", startTime=text(-5)), **end}
    seen = newest_failure(Look(AT_WORK, at(0), [failed], [other, failed.record]), read)
    assert (seen and seen.id) == found


def begun(number, seconds, status="FAILED", **fields):
    return listed(number, status, startTime=text(seconds), **fields)


def text(seconds):
    return at(seconds).isoformat()
