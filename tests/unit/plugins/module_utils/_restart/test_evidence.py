# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the record of a task proves: the work it did, and until when its start may show late."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.evidence import (
    PROOF_TIMEOUT,
    needs_detail,
    shows_until,
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
