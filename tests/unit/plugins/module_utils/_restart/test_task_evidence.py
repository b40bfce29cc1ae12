# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Evidence that a restart has happened: which tasks are, for whom, and until when."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.task_evidence import (
    PROOF_TIMEOUT,
    due_starts,
    finished_restart,
    proven_by_task,
    untold_restart,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import TaskOnTarget
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import chain, raw_task, step
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import SERVER

ALL, NOTHING = None, frozenset[str]()


def time_text(seconds):
    return None if seconds is None else at(seconds).isoformat()


def restart_task(number=90, *, began=10.0, ended=20.0, stop=None, start=None, **fields):
    """Build a task that restarted something between these seconds; ``stop`` and ``start`` change its subtasks."""
    steps = chain(
        step(1, "Stop observer", **{"status": "SUCCESSFUL", **(stop or {})}),
        step(2, "Start observer", **{"status": "SUCCESSFUL", **(start or {})}),
    )
    times = {"startTime": time_text(began), "finishTime": time_text(ended)}
    return raw_task(number, **{"status": "SUCCESSFUL", **times, "subtasks": steps, **fields})


def evidence(restarts=ALL, **fields):
    record = restart_task(**fields)
    return finished_restart(TaskOnTarget(record, restarts), Task.from_api(record), at(0))


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="a restart task of the target that began since the change and ended SUCCESSFUL"),
        pytest.param({"began": 0.0}, id="begun at the change"),
        pytest.param({"restarts": frozenset("a")}, id="of a part of the target"),
        pytest.param({"operation": "RETRY"}, id="after a retry"),
        pytest.param({"ended": None}, id="without a finish time"),
        pytest.param({"subtasks": []}, id="without subtasks"),
        pytest.param(
            {"subtasks": [step(1, "Check the disk", "SUCCESSFUL", operation="SKIP"), step(2, "Start", "SUCCESSFUL")]},
            id="a skipped subtask that neither stops nor starts",
        ),
        pytest.param(
            {"subtasks": [step(1, "Prepare restart observer", "SUCCESSFUL", operation="SKIP")]},
            id="a skipped preparation of a restart",
        ),
    ],
)
def test_restart_task_that_did_its_work_is_evidence(fields):
    assert evidence(**fields) is not None


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"began": -1.0}, id="begun before the change, though it ended after it"),
        pytest.param({"began": None}, id="without a start time"),
        pytest.param({"restarts": NOTHING}, id="not known to be of this target"),
        pytest.param({"status": "FAILED"}, id="FAILED"),
        pytest.param({"status": "RUNNING"}, id="unfinished"),
        pytest.param({"status": "ABORTED"}, id="ended with another word"),
        pytest.param({"operation": "ROLLBACK"}, id="rolled back"),
        pytest.param({"operation": "rollback"}, id="rolled back, in lower case"),
        pytest.param({"start": {"status": "PENDING"}}, id="rolled back, as a subtask shows"),
        pytest.param({"start": {"operation": "ROLLBACK"}}, id="rolled back, as the operation of a subtask shows"),
        pytest.param({"stop": {"operation": "SKIP"}}, id="a skipped subtask that stops"),
        pytest.param({"start": {"operation": "skip"}}, id="a skipped subtask that starts"),
        pytest.param({"start": {"operation": "ROLLBACK_SKIP"}}, id="a subtask that was skipped in a rollback"),
        pytest.param(
            {"subtasks": [{**step(1, "Neustart", "SUCCESSFUL", operation="SKIP"), "name": "RestartObserver"}]},
            id="a skipped subtask that starts, by its name",
        ),
        pytest.param(
            {"subtasks": [{**step(1, "Stop observer", "SUCCESSFUL", operation="SKIP"), "name": "ShutDown"}]},
            id="a skipped subtask that stops, by its description",
        ),
    ],
)
def test_other_tasks_are_no_evidence(fields):
    assert evidence(**fields) is None


@pytest.mark.parametrize(
    ("fields", "is_untold"),
    [
        pytest.param({}, True, id="a restart that did its work"),
        pytest.param({"name": "Stop OB server"}, False, id="other work"),
        pytest.param({"began": -1.0}, False, id="begun before the change"),
        pytest.param({"status": "FAILED"}, False, id="FAILED"),
        pytest.param({"restarts": ALL}, False, id="known to be of this target"),
        pytest.param({"restarts": frozenset("a")}, False, id="known to be of a part of it"),
    ],
)
def test_restart_that_may_be_of_the_target_is_untold(fields, is_untold):
    told = {"restarts": NOTHING, "name": "Restart OB server", **fields}
    entry = TaskOnTarget(restart_task(**{name: told[name] for name in told.keys() - {"restarts"}}), told["restarts"])
    found = untold_restart(SERVER.target, [entry], at(0))
    assert (found is not None and found.task_id == 90) is is_untold


@pytest.mark.parametrize(("restarts", "members"), [(ALL, "ab"), (frozenset("a"), "a"), (frozenset("ab"), "ab")])
def test_task_is_evidence_for_those_that_it_restarts(restarts, members):
    found = evidence(restarts=restarts)
    assert [member for member in "ab" if proven_by_task([found], member)] == list(members)


def test_evidence_has_the_times_of_its_task():
    found = evidence(name="Restart OB server")
    assert (found.started_at, found.ended_at, found.label) == (at(10), at(20), "90 (Restart OB server)")
    assert evidence(ended=None).ended_at == at(10)


# A start that is not visible yet


@pytest.mark.parametrize(
    ("after", "due"), [(0, True), (1, True), (179.9, True), (180, False), (181, False), (1e6, False)], ids=repr
)
def test_start_may_show_until_180_seconds_after_the_end(after, due):
    assert PROOF_TIMEOUT == 180
    found = evidence()
    assert (due_starts([found], ["a"], at(20 + after)) == {"a": found}) is due


def test_each_member_is_due_by_its_last_restart():
    first, second = evidence(restarts=frozenset("ab")), evidence(restarts=frozenset("b"), number=91, ended=40.0)
    for tasks in ([first, second], [second, first]):
        assert due_starts(tasks, "abc", at(60)) == {"a": first, "b": second}
        assert due_starts(tasks, "abc", at(201)) == {"b": second}
