# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Held: a FAILED task has a target, and only a person can clear that."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.decision import Operation
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.held import holder_of, newest_failure
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.in_flight import NamedTasks
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Observation, TaskOnTarget
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import chain, raw_task, step

ALL, NOTHING = None, frozenset[str]()
AT_WORK, RUNNING = Observation("RESTARTING", ()), Observation("RUNNING", ())


def task(number, status="FAILED", *, first=None, **fields):
    """Build a task that ended with this status at its second step; ``first`` is the status of its first one."""
    steps = chain(step(1, "Stop it", first or "SUCCESSFUL"), step(2, "Start it", "PENDING" if first else status))
    return raw_task(number, status, **{"subtasks": steps, **fields})


def listed(number, status="FAILED", restarts=ALL, **fields):
    return TaskOnTarget(task(number, status, **fields), restarts)


def unfinished(number, restarts=ALL):
    return Operation(number, "Restart it", None, restarts)


def read(entry):
    return Task.from_api(entry.record)


def holder(observed, named=(), operations=(), failure=None):
    found = holder_of(
        observed,
        NamedTasks(failed=[Task.from_api(task(number)) for number in named]),
        operations,
        failure and Task.from_api(task(failure)),
    )
    return found and found.id


@pytest.mark.parametrize(
    ("seen", "held_by"),
    [
        pytest.param({"observed": RUNNING, "named": [90]}, 90, id="the target names a FAILED task"),
        pytest.param({"observed": AT_WORK, "named": [90]}, 90, id="the target names a FAILED task, and is at work"),
        pytest.param({"observed": AT_WORK, "failure": 90}, 90, id="at work, and its newest restart task is FAILED"),
        pytest.param({"observed": RUNNING, "failure": 90}, None, id="not at work, and its newest restart is FAILED"),
        pytest.param({"observed": AT_WORK}, None, id="at work, and no task is FAILED"),
        pytest.param(
            {"observed": AT_WORK, "named": [90], "operations": [unfinished(89)]}, 90, id="held wins over in flight"
        ),
        pytest.param(
            {"observed": AT_WORK, "named": [90], "operations": [unfinished(91, NOTHING)]},
            90,
            id="other work on it does not clear what holds it",
        ),
        pytest.param(
            {"observed": AT_WORK, "named": [90], "operations": [unfinished(91)]},
            None,
            id="a restart that began since shows that the name is stale",
        ),
    ],
)
def test_target_is_held_by_the_table(seen, held_by):
    assert holder(**seen) == held_by


@pytest.mark.parametrize(
    ("tasks", "operations", "found"),
    [
        pytest.param([listed(90)], [], 90, id="FAILED"),
        pytest.param([listed(91), listed(90)], [], 91, id="the newest one"),
        pytest.param([listed(91, "SUCCESSFUL"), listed(90)], [], None, id="one since did its work"),
        pytest.param([listed(91, "SUCCESSFUL", operation="ROLLBACK"), listed(90)], [], None, id="one was rolled back"),
        pytest.param(
            [listed(91, "ABORTED", finishTime="2026-05-04T03:00:00Z")], [], None, id="ended with another word"
        ),
        pytest.param([listed(91, "RUNNING"), listed(90)], [unfinished(91)], None, id="a newer one runs"),
        pytest.param([listed(90)], [unfinished(91)], None, id="a newer one runs, which the list lacks"),
        pytest.param([listed(91, restarts=NOTHING), listed(90)], [], 90, id="other work on it FAILED since"),
        pytest.param([listed(91, "RUNNING", NOTHING), listed(90)], [unfinished(91, NOTHING)], 90, id="other work runs"),
        pytest.param(
            [listed(91, first="FAILED"), listed(90)], [], 90, id="one since FAILED before it changed anything"
        ),
        pytest.param([listed(91, first="FAILED")], [], None, id="FAILED before it changed anything"),
        pytest.param([listed(90, restarts=frozenset("a"))], [], 90, id="FAILED, of a part"),
        pytest.param([], [], None, id="none"),
    ],
)
def test_newest_restart_that_failed_is_found(tasks, operations, found):
    failure = newest_failure(tasks, operations, 99, read)
    assert (failure and failure.id) == found


@pytest.mark.parametrize(
    ("newest", "operations", "found"),
    [
        (91, [], 91),
        (92, [], None),
        (None, [], None),
        (91, [unfinished(90)], None),
        (91, [unfinished(90, NOTHING)], None),
    ],
)
def test_failure_before_it_changed_anything_counts_where_no_other_task_explains_what_is_shown(
    newest, operations, found
):
    failure = newest_failure([listed(91, first="FAILED")], operations, newest, read)
    assert (failure and failure.id) == found


@pytest.mark.parametrize(
    ("restarts", "ended", "found"),
    [(ALL, 60, None), (ALL, 49, 91), (NOTHING, 60, 91), (ALL, None, 91)],
    ids=["ended since", "ended before it", "other work", "has no end"],
)
def test_failure_that_changed_nothing_holds_unless_another_restart_has_ended_since(restarts, ended, found):
    times = {"finishTime": ended and at(ended).isoformat(), "startTime": at(1).isoformat()}
    other = listed(90, "FAILED" if ended is None else "SUCCESSFUL", restarts, first="FAILED", **times)
    failed = listed(91, first="FAILED", startTime=at(50).isoformat(), finishTime=at(51).isoformat())
    failure = newest_failure([failed, other], [], 91, read)
    assert (failure and failure.id) == found


def test_subtasks_of_the_failure_are_read():
    """A list may lack them, so that it would seem to have changed nothing."""
    bare = TaskOnTarget(raw_task(90, "FAILED"), ALL)
    assert newest_failure([bare], [], 99, read) is None
    assert newest_failure([bare], [], 99, lambda _entry: Task.from_api(task(90))).failed_subtasks[0].label == "Start it"


def test_failure_that_is_gone_is_passed_over():
    gone = {91: None, 90: Task.from_api(task(90))}
    assert newest_failure([listed(91), listed(90)], [], 91, lambda entry: gone[entry.record["id"]]).id == 90


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
    failure = newest_failure(tasks, [], 99, read, frozenset("ac"))
    assert (failure and failure.id) == found


def test_only_failed_restarts_are_read():
    def unexpected(entry):
        raise AssertionError(entry)

    assert newest_failure([listed(91, "SUCCESSFUL"), listed(90)], [], 91, unexpected) is None
