# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the record of a task proves: the work it did, and until when its start may show late."""

from __future__ import annotations

from datetime import datetime

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.evidence import (
    PROOF_TIMEOUT,
    may_have_started,
    may_start_yet,
    needs_detail,
    shows_until,
    started_within,
    work_of,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import Work
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import chain, raw_task, step

ENDED = {"startTime": at(10).isoformat(), "finishTime": at(20).isoformat()}


def task(status="SUCCESSFUL", *, stop=None, start=None, **fields):
    """Build a task of two steps; ``stop`` and ``start`` change these."""
    steps = chain(
        step(1, "Stop observer", **{"status": "SUCCESSFUL", **(stop or {})}),
        step(2, "Start observer", **{"status": status, **(start or {})}),
    )
    return Task.from_api(raw_task(90, status, **{"subtasks": steps, **ENDED, **fields}))


def skipping(name, description=None, operation="SKIP"):
    """Build a task that skipped a step of this name."""
    skipped = {**step(2, description or name, "SUCCESSFUL", operation=operation), "name": name}
    return task(
        subtasks=chain(step(1, "Stop observer", "SUCCESSFUL"), skipped, step(3, "Start observer", "SUCCESSFUL"))
    )


WORK = [
    pytest.param(task(), Work.RESTARTED, id="SUCCESSFUL"),
    pytest.param(task(operation="RETRY"), Work.RESTARTED, id="after a retry"),
    pytest.param(task(subtasks=[]), Work.RESTARTED, id="without steps"),
    pytest.param(task(finishTime=None), Work.RESTARTED, id="without a finish time"),
    pytest.param(task("RUNNING"), Work.RUNNING, id="RUNNING, with the finish time of the attempt before"),
    pytest.param(task("PAUSED", finishTime=None), Work.RUNNING, id="any other word is unfinished"),
    pytest.param(task("ABORTED"), Work.RAN, id="any other word with a finish time has run"),
    pytest.param(task("FAILED"), Work.RAN, id="FAILED after its first step"),
    pytest.param(task("FAILED", subtasks=[]), Work.RAN, id="FAILED, without steps"),
    pytest.param(
        task("FAILED", stop={"status": "FAILED"}, start={"status": "PENDING"}),
        Work.NOTHING,
        id="FAILED in its first step",
    ),
    pytest.param(
        task("FAILED", start={"status": "PENDING"}), Work.NOTHING, id="FAILED before it began what starts something"
    ),
    pytest.param(task("FAILED", stop={"status": "FAILED"}), Work.RAN, id="FAILED in its first step, and after it"),
    pytest.param(task(operation="ROLLBACK"), Work.UNDONE, id="rolled back"),
    pytest.param(task(operation="rollback"), Work.UNDONE, id="rolled back, in lower case"),
    pytest.param(task(start={"status": "PENDING"}), Work.UNDONE, id="rolled back, as a step that never ran shows"),
    pytest.param(
        task(start={"operation": "ROLLBACK"}), Work.UNDONE, id="rolled back, as the operation of a step shows"
    ),
    pytest.param(task("RUNNING", operation="ROLLBACK"), Work.RUNNING, id="being rolled back"),
    pytest.param(task("GONE"), Work.GONE, id="an own task that is gone"),
]


@pytest.mark.parametrize(("record", "work"), WORK)
def test_work_is_told_by_the_end_and_the_steps(record, work):
    assert work_of(record) is work


@pytest.mark.parametrize(
    ("record", "work"),
    [
        (skipping("Stop observer"), Work.SKIPPED),
        (skipping("Start observer", operation="skip"), Work.SKIPPED),
        (skipping("Restart agent", operation="ROLLBACK_SKIP"), Work.SKIPPED),
        (skipping("StartObserver", "Check that it is up"), Work.SKIPPED),
        (skipping("CheckObserver", "Stop what is left"), Work.SKIPPED),
        (skipping("停止 OBServer"), Work.SKIPPED),
        (skipping("检查磁盘"), Work.SKIPPED),
        (skipping("Kill observer"), Work.SKIPPED),
        (skipping("Check the disk"), Work.RESTARTED),
        (skipping("Prepare restart observer"), Work.RESTARTED),
        (skipping("wait_observer", "等待 OBServer"), Work.RESTARTED),
        (skipping("检查磁盘", "Check the disk"), Work.RESTARTED),
    ],
    ids=lambda value: (
        None if isinstance(value, Work) else value.subtasks[1].name + " / " + value.subtasks[1].description
    ),
)
def test_a_skipped_step_proves_nothing_unless_its_name_is_known_to_be_harmless(record, work):
    assert work_of(record) is work


def test_a_skipped_step_without_a_name_proves_nothing():
    bare = {**step(1, "", "SUCCESSFUL", operation="SKIP"), "name": None, "description": None}
    assert work_of(task(subtasks=[bare])) is Work.SKIPPED


@pytest.mark.parametrize(
    ("record", "is_needed"),
    [
        (task(), False),
        (task(subtasks=[]), True),
        (task(finishTime=None), True),
        (task(finishTime="soon"), True),
        (task("FAILED", subtasks=[]), True),
        (task("FAILED", finishTime=None), False),
        (task("RUNNING", subtasks=[], finishTime=None), False),
        (task("RUNNING", startTime=None), True),
    ],
    ids=[
        "whole",
        "no steps",
        "no end",
        "an end that is no time",
        "FAILED, no steps",
        "FAILED, no end",
        "RUNNING",
        "no begin",
    ],
)
def test_a_task_is_read_whole_for_its_steps_its_begin_and_its_end(record, is_needed):
    assert needs_detail(record) is is_needed


@pytest.mark.parametrize(
    ("fields", "ends"),
    [({}, 20), ({"finishTime": None}, 10), ({"finishTime": None, "startTime": None}, None)],
    ids=["after its end", "after its begin, where no end shows", "neither shows"],
)
def test_a_start_may_show_for_three_minutes(fields, ends):
    assert PROOF_TIMEOUT == 180
    assert shows_until(task(**fields)) == (None if ends is None else at(ends + 180))


def steps(*statuses, names=("Stop observer", "Start observer", "Check observer"), **fields):
    """Build a task that runs, with steps of these statuses."""
    found = [step(number, name, status) for number, (name, status) in enumerate(zip(names, statuses, strict=False), 1)]
    return task("RUNNING", subtasks=chain(*found), finishTime=None, **fields)


SILENT = ("First", "Second", "Third")


@pytest.mark.parametrize(
    ("record", "has_started", "starts_yet"),
    [
        pytest.param(
            steps("RUNNING", "PENDING", "PENDING"), False, True, id="the step that starts it is still to come"
        ),
        pytest.param(steps("SUCCESSFUL", "READY", "PENDING"), False, True, id="it waits for a worker"),
        pytest.param(steps("SUCCESSFUL", "RUNNING", "PENDING"), True, True, id="it runs"),
        pytest.param(steps("SUCCESSFUL", "SUCCESSFUL", "RUNNING"), True, False, id="it has ended"),
        pytest.param(steps("SUCCESSFUL", "FAILED", "PENDING"), True, False, id="it has FAILED"),
        pytest.param(
            steps("SUCCESSFUL", "SUCCESSFUL", "RUNNING", operation="ROLLBACK"), True, True, id="it is rolled back"
        ),
        pytest.param(
            steps("SUCCESSFUL", "RUNNING", names=("Stop it", "Restart agent")), True, True, id="a step that restarts it"
        ),
        pytest.param(
            steps("RUNNING", "PENDING", "PENDING", names=SILENT), False, True, id="no name tells, the first runs"
        ),
        pytest.param(
            steps("SUCCESSFUL", "RUNNING", "PENDING", names=SILENT), True, True, id="no name tells, the second"
        ),
        pytest.param(
            steps("SUCCESSFUL", "PENDING", "RUNNING", names=SILENT), True, True, id="no name tells, the third"
        ),
        pytest.param(
            steps("RUNNING", "SUCCESSFUL", "SUCCESSFUL", names=SILENT), True, False, id="all but the first ended"
        ),
        pytest.param(steps(), True, True, id="no steps show"),
        pytest.param(task(), True, False, id="SUCCESSFUL"),
        pytest.param(task("FAILED"), True, False, id="FAILED after its first step"),
        pytest.param(
            task("FAILED", stop={"status": "FAILED"}, start={"status": "PENDING"}), False, False, id="in its first step"
        ),
        pytest.param(task(operation="ROLLBACK"), True, False, id="rolled back"),
    ],
)
def test_a_restart_may_start_something_while_a_step_runs_that_does(record, has_started, starts_yet):
    assert (may_have_started(record), may_start_yet(record)) == (has_started, starts_yet)


def test_process_is_what_a_restart_starts_not_the_statement_after_it():
    times = {"process": (10, 20), "service": (40, 50)}
    steps = [step(1, "Stop observer process", "SUCCESSFUL", startTime=at(0).isoformat(), finishTime=at(5).isoformat())]
    for number, (word, (begin, end)) in enumerate(times.items(), 2):
        shown = {"startTime": at(begin).isoformat(), "finishTime": at(end).isoformat()}
        steps.append(step(number, f"Start observer {word}", "SUCCESSFUL", **shown))
    whole = task(subtasks=chain(*steps))
    assert [datetime.fromisoformat(time) for time in started_within(whole)] == [at(10), at(20)]
    only = task(subtasks=chain(steps[0], steps[2]))
    assert [datetime.fromisoformat(time) for time in started_within(only)] == [at(40), at(50)]


def timed(*spans, names=("Stop observer", "Start observer", "Start agent")):
    """Build a SUCCESSFUL task whose steps began and ended at these seconds; None where that is not shown."""

    def text(seconds):
        return None if seconds is None else at(seconds).isoformat()

    found = [
        step(number, name, "SUCCESSFUL", startTime=text(begin), finishTime=text(end))
        for number, (name, (begin, end)) in enumerate(zip(names, spans, strict=False), 1)
    ]
    return task(subtasks=chain(*found))


@pytest.mark.parametrize(
    ("record", "begin", "end"),
    [
        pytest.param(timed((11, 12), (13, 14)), 13, 14, id="the step that starts it"),
        pytest.param(timed((11, 12), (13, 16), (14, 15)), 13, 16, id="from the first of them to the last that ends"),
        pytest.param(timed((11, 12), (13, 14), names=SILENT), 13, 14, id="no name tells: all but the first"),
        pytest.param(timed((None, None), (13, 14)), 13, 14, id="times of other steps are not needed"),
        pytest.param(timed((11, 12), (13, None)), 10, 20, id="an end is not shown"),
        pytest.param(timed((11, 12), (None, 14)), 10, 20, id="a begin is not shown"),
        pytest.param(timed((11, 12), (13, 14), (None, None)), 10, 20, id="those of one are not shown"),
        pytest.param(timed(), 10, 20, id="no steps show"),
    ],
)
def test_a_task_may_have_started_something_within_the_steps_that_do(record, begin, end):
    assert started_within(record) == (at(begin).isoformat(), at(end).isoformat())
