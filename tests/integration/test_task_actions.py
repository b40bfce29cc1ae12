# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The module `task` in a playbook: a failed task retried or rolled back, a subtask skipped or canceled."""

from __future__ import annotations

import ast

import pytest
import yaml
from credentials import BASIC
from documentation_blocks import EXAMPLE_URL, SECRETS
from execution_path import ORDINARY, ran_as
from in_process import outcome_of
from repository import REPOSITORY

SERVER = {"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True}
STEP = "Start observer process"
STALLED = {"kind": "subtask", "match": {"subtask": STEP}, "action": "stall"}
RESTART = {
    "name": "restart",
    "oceanbase.ocp.server_restart": {**SERVER, "wait": True},
    "register": "restart",
    "ignore_errors": True,
}
START = {**RESTART, "oceanbase.ocp.server_restart": SERVER}
FAILED = "{{ restart.failed_subtasks[0].id }}"
# The step with this description, known when the restart begins.
HANGING = "{{ (restart.task.subtasks | selectattr('description', 'eq', '" + STEP + "') | first).id }}"
# Options, how often the step fails before, and the last words of the path of the one POST.
WAYS = {
    "retried": ({"state": "retried"}, 1, "/retry"),
    "rolled back": ({"state": "rolled_back"}, 1, "/rollback"),
    "one retried": ({"state": "retried", "subtask_id": FAILED}, 1, "/retry"),
    "skipped": ({"state": "skipped", "subtask_id": FAILED}, 1, "/skip"),
    "canceled": ({"state": "canceled", "subtask_id": HANGING}, 0, "/cancel"),
}


def steer(name, *, task_id="{{ restart.task_id }}", register=None, more=None, **options):
    task = {"name": name, "oceanbase.ocp.task": {"task_id": task_id, **options}, "ignore_errors": True, **(more or {})}
    return {**task, **({"register": register} if register else {})}


def hangs(name="until it hangs"):
    """A task that waits until the stalled subtask runs."""
    read = {"task_id": "{{ restart.task_id }}"}
    step = "(seen.tasks[0].subtasks | selectattr('description', 'eq', '" + STEP + "') | first)"
    return {
        "name": name,
        "oceanbase.ocp.task_info": read,
        "register": "seen",
        "until": step + ".status == 'RUNNING'",
        "retries": 100,
        "delay": 0,
    }


def begun(way):
    """The tasks after which ``way`` can be gone."""
    return [START, hangs()] if way == "canceled" else [RESTART]


def on(emulator, name, *tasks):
    """These tasks against one of several emulators, in names of their own."""
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    return {"block": [{**task, "name": f"{name}: {task['name']}"} for task in tasks], "module_defaults": defaults}


def broken(emulator, way):
    """Plan what makes ``way`` necessary."""
    if way == "canceled":
        emulator.post("/emulator/faults", STALLED)
    else:
        emulator.fail_subtask(STEP, WAYS[way][1])


def step_of(task):
    return next(step for step in task["subtasks"] if step["description"] == STEP)


def steered_by(emulator):
    """The paths of the requests that steered."""
    words = [line.split(" POST ")[1].split()[0] for line in emulator.requests("POST")]
    return [path for path in words if "/tasks/instances/" in path]


@pytest.fixture
def play(ansible, emulator):
    """Run tasks against the emulator; returns the outcome."""

    def run(*tasks, arguments="", **keywords):
        defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
        return ansible.tasks(*tasks, arguments=arguments, module_defaults=defaults, **keywords)

    return run


# The end of it


@pytest.mark.smoke
def test_subtask_that_fails_twice_is_retried_until_it_succeeds(play, emulator):
    emulator.fail_subtask(STEP, 2)
    outcome = play(
        RESTART,
        steer("first retry", state="retried", subtask_id=FAILED, wait=True, detail="full"),
        steer("second retry", state="retried", subtask="failed", wait=True),
        steer("third retry", state="retried", subtask="failed", wait=True),
    )
    first, second, third = (outcome.results[f"{which} retry"] for which in ("first", "second", "third"))
    assert (first["changed"], first["task"]["status"]) == (True, "FAILED")
    assert first["msg"].startswith("The retry of task 1001 did not succeed.\n")
    assert "\nIt does not serve now: 10.0.0.1:2882 is RESTARTING and INACTIVE. The task took " in first["msg"]
    assert first["failed_subtasks"][0]["log_tail"]
    assert (second["changed"], second["task"]["succeeded"]) == (True, True)
    assert (third["changed"], third["task"]["succeeded"]) == (False, True)
    assert len(steered_by(emulator)) == 2
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 1}


def test_wait_for_a_task_that_failed_tells_whether_its_servers_serve(emulator):
    emulator.fail_subtask(STEP)
    service = {"url": emulator.url, **BASIC}
    started = outcome_of("server_restart", {**service, **SERVER, "wait": False})
    waited = outcome_of("task_wait", {**service, "task_ids": [started.result["task_id"]]})
    assert "\nIt does not serve now: 10.0.0.1:2882 is RESTARTING and INACTIVE. " in waited.result["msg"]


@pytest.mark.nightly
def test_skipped_subtask_keeps_its_operation_in_a_successful_task(play, emulator):
    emulator.fail_subtask(STEP)
    result = play(RESTART, steer("skip", state="skipped", subtask_id=FAILED, wait=True)).result
    assert (result["changed"], result["action"], result["task"]["status"]) == (True, "skipped", "SUCCESSFUL")
    step = step_of(result["task"])
    assert (step["status"], step["operation"]) == ("SUCCESSFUL", "SKIP")
    assert result["subtask_ids"] == [step["id"]]
    assert result["trace_id"]


def test_rolled_back_task_is_shown_as_rolled_back(play, emulator):
    emulator.fail_subtask(STEP)
    outcome = play(RESTART, steer("undo", state="rolled_back", wait=True))
    assert outcome.result["task"]["rolled_back"] is True
    assert outcome.result["task"]["succeeded"] is False
    assert {step["status"] for step in outcome.result["task"]["subtasks"]} == {"PENDING"}
    assert outcome.result["before"] == {"status": "FAILED", "operation": "EXECUTE"}
    assert " 1001 (Restart OB server 10.0.0.1) ROLLED BACK" in outcome.output


@pytest.mark.nightly
def test_failed_rollback_is_a_failure(play, emulator):
    emulator.fail_subtask(STEP)
    match = {"subtask": "Stop observer service", "operation": "ROLLBACK"}
    emulator.post("/emulator/faults", {"kind": "subtask", "match": match, "action": "fail"})
    outcome = play(
        RESTART,
        steer("undo", state="rolled_back", wait=True),
        steer("go on", state="skipped", subtask="failed", wait=True),
    )
    undo, go_on = outcome.results["undo"], outcome.results["go on"]
    assert undo["msg"].startswith(
        "The rollback of task 1001 did not succeed.\nTask 1001 (Restart OB server 10.0.0.1) FAILED while"
    )
    assert ("msg" in go_on, go_on["task"]["rolled_back"]) == (False, True)


def test_prohibited_rollback_is_refused_before_the_action_is_sent(play, emulator):
    fault = {"kind": "subtask", "match": {"subtask": STEP}, "action": "fail", "prohibitRollback": True}
    emulator.post("/emulator/faults", fault)
    result = play(RESTART, steer("undo", state="rolled_back")).result
    assert result["msg"] == (
        "Task 1001 (Restart OB server 10.0.0.1) must not be rolled back (prohibitRollback); "
        "retry it, or skip what failed."
    )
    assert steered_by(emulator) == []


def test_stalled_subtask_is_canceled_and_its_task_fails(play, emulator):
    emulator.post("/emulator/faults", STALLED)
    result = play(START, hangs(), steer("cancel", state="canceled", subtask="running", wait=True)).result
    assert (result["changed"], result["task"]["status"], "msg" in result) == (True, "FAILED", False)
    assert (step_of(result["task"])["status"], step_of(result["task"])["operation"]) == ("FAILED", "CANCEL")


# Once, and the same however it is run


def test_task_action_runs_once_and_check_mode_predicts_it(ansible, start_emulator):
    emulators, blocks = {way: start_emulator() for way in WAYS}, []
    for way, (options, _times, _path) in WAYS.items():
        broken(emulators[way], way)
        actions = (
            steer("foretold", **options, more={"check_mode": True, "diff": True}),
            steer("done", **options, more={"diff": True}),
            steer("again", **options),
            steer("waited", **options, wait=True),
            steer("foretold again", **options, more={"check_mode": True}),
        )
        blocks.append(on(emulators[way], way, *begun(way), *actions))
    results = ansible.tasks(*blocks).results
    for way, (options, _times, path) in WAYS.items():
        foretold, done = results[f"{way}: foretold"], results[f"{way}: done"]
        for key in ("changed", "action", "subtask_ids", "before", "diff"):
            assert foretold[key] == done[key], (way, key)
        assert foretold["reason"].startswith("would ")
        assert foretold["reason"].endswith(f": {done['reason']}")
        assert (done["changed"], done["action"]) == (True, options["state"])
        for result in (results[f"{way}: {name}"] for name in ("again", "waited", "foretold again")):
            assert (result["changed"], result["action"]) == (False, None), result
            assert "msg" not in result
        [only] = steered_by(emulators[way])
        assert only.endswith(path)
        assert foretold["trace_id"] is None


def comparable(value):
    volatile = ("elapsed", "duration", "trace_id", "start_time", "finish_time", "create_time", "invocation")
    if isinstance(value, dict):
        return {key: None if key in volatile else comparable(member) for key, member in value.items()}
    return [comparable(member) for member in value] if isinstance(value, list) else value


@pytest.mark.nightly
def test_both_paths_give_the_same_results(ansible, start_emulator):
    """In the controller's process, and as an ordinary module."""
    tasks = [
        RESTART,
        steer("options", state="skipped"),
        steer("both", state="skipped", subtask_id=1, subtask="failed"),
        steer("none", state="retried", task_id=77),
        steer("refused", state="canceled", subtask_id=FAILED),
        steer("foretold", state="rolled_back", more={"check_mode": True, "diff": True}),
        steer("retried", state="retried", subtask="failed", wait=True, more={"diff": True}),
    ]
    results = []
    for keywords, path in ({}, "in-process"), (ORDINARY, "ordinary"):
        emulator = start_emulator()
        emulator.fail_subtask(STEP)
        defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
        outcome = ansible.tasks(*tasks, arguments="-vvv", module_defaults=defaults, **keywords)
        assert ran_as(outcome.output) == {path: len(tasks)}
        results.append({name: comparable(result) for name, result in outcome.results.items() if name != "restart"})
    assert results[0] == results[1]
    failed = [name for name, result in results[0].items() if "msg" in result]
    assert failed == ["options", "both", "none", "refused"]
    assert results[0]["none"]["msg"].startswith("task_id: task 77 does not exist")


# Answers that are lost


def test_lost_response_is_resolved_or_reported_as_unknown(ansible, start_emulator):
    ways = {"retried": "before", "canceled": "before", "rolled back": "after", "skipped": "after"}
    emulators, blocks = {way: start_emulator() for way in ways}, []
    for way, when in ways.items():
        options, _times, path = WAYS[way]
        broken(emulators[way], way)
        match = {"method": "POST", "path": f"/api/v2/tasks/*{path}"}
        emulators[way].post("/emulator/faults", {"kind": "http", "action": "drop", "when": when, "match": match})
        # The answer to be lost is waited for as long as this, and then the task is looked at.
        actions = steer("lost", timeout=1, **options), steer("again", **options)
        blocks.append(on(emulators[way], way, *begun(way), *actions))
    results = ansible.tasks(*blocks).results
    for way, when in ways.items():
        lost, again = results[f"{way}: lost"], results[f"{way}: again"]
        assert (lost["changed"], lost["action"]) == (True, WAYS[way][0]["state"])
        if when == "after":
            assert lost["reason"].endswith("; the answer was lost, and the task shows that it was done")
            assert ("msg" in lost, again["changed"]) == (False, False)
        else:
            assert lost["msg"].startswith("It is not known whether ")
            assert lost["msg"].endswith("ansible localhost -m oceanbase.ocp.task_info -a 'task_id=1001 detail=summary'")
            assert again["changed"] is True
        assert len(steered_by(emulators[way])) == {"before": 2, "after": 1}[when]


# Rights


def test_error_names_the_missing_permission(play, emulator):
    emulator.fail_subtask(STEP)
    result = play(RESTART, steer("viewer", task_id=1001, state="retried", username="viewer")).result
    assert (result["changed"], result["task"]["status"]) == (False, "FAILED")
    assert result["msg"].startswith("Task 1001 (Restart OB server 10.0.0.1) was not retried. POST ")
    assert result["msg"].endswith(
        "Ask for the permission, or use credentials that have it. The permission is TASK_MANAGER."
    )
    assert len(steered_by(emulator)) == 1


# The documentation


def test_examples_perform_their_actions(ansible, emulator):
    """With restarts that fail, so that each of them has something to do."""
    tree = ast.parse((REPOSITORY / "plugins/modules/task.py").read_text())
    [examples] = [
        statement.value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and statement.targets[0].id == "EXAMPLES"
    ]
    for task in ("Restart OB server", "Batch restart OCP agent", "Restart OB cluster"):
        emulator.post("/emulator/faults", {"kind": "subtask", "match": {"task": task}, "action": "fail"})
    outcome = ansible.tasks(*yaml.safe_load(examples.replace(EXAMPLE_URL, emulator.url)), vars=SECRETS)
    assert outcome.rc == 0, outcome.output
    assert {name: result["action"] for name, result in outcome.results.items() if name != "Restart it"} == {
        "Retry what failed, and wait for the end": "retried",
        "Skip the subtask that failed, and wait for the end": "skipped",
        "Undo it, and wait for the end": "rolled_back",
        "Cancel all subtasks of a restart that run now, so that the one that hangs ends": None,
    }
