# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Restarts that fail, at each of their subtasks: what is told, and what the role task_wait does about it."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from support import BASIC, RESTARTS

TARGETS = 19
STEPS = {verb: steps for verb, (_options, steps, _verified) in RESTARTS.items()}
ASK = "ansible localhost -m oceanbase.ocp.task -a"


def options_of(verb: str, number: int) -> dict[str, object]:
    """A target of its own for each case, since a failed task goes on holding its target."""
    return {
        "server_restart": {"cluster": f"c{number}", "server": f"10.2.0.{number}:2882", "freeze_server": False},
        "cluster_restart": {"cluster": f"c{number}"},
        "zone_restart": {"cluster": f"c{number}", "zone": "zone1"},
        "agent_restart": {"hosts": [f"10.2.0.{number}"]},
        "arbitration_service_restart": {"arbitration_service": f"10.2.1.{number}:2888"},
    }[verb]


@pytest.fixture
def fleet(start_emulator, tmp_path):
    clusters = [
        {"name": f"c{number}", "zones": [{"name": "zone1", "servers": [{"ip": f"10.2.0.{number}"}]}]}
        for number in range(1, TARGETS + 1)
    ]
    services = [{"ip": f"10.2.1.{number}"} for number in range(1, TARGETS + 1)]
    file = tmp_path / "fleet.yml"
    file.write_text(yaml.safe_dump({"clusters": clusters, "arbitration_services": services}))
    return start_emulator("--fleet", str(file))


@pytest.fixture
def graph(fleet, ansible):
    """The subtasks of each operation in execution order, as a restart without a fault has them."""

    def descriptions(verb: str) -> list[str]:
        result = ansible.module(verb, url=fleet.url, **BASIC, wait=True, **options_of(verb, TARGETS))
        return [step["description"] for step in result["task"]["subtasks"]]

    return descriptions


def faults(descriptions: list[str], position: int) -> list[dict[str, object]]:
    """Let the subtask at this position fail; those before it that have the same description go on."""
    description = descriptions[position - 1]
    match = {"subtask": description}
    before = descriptions[: position - 1].count(description)
    passing = [{"kind": "subtask", "match": match, "action": "slow", "factor": 1, "times": before}] if before else []
    return [*passing, {"kind": "subtask", "match": match, "action": "fail"}]


@pytest.mark.parametrize(
    "verb", [pytest.param(verb, marks=[pytest.mark.nightly] * (verb == "zone_restart")) for verb in STEPS]
)
def test_failure_of_each_subtask_is_reported(verb, graph, fleet, ansible):
    descriptions = graph(verb)
    assert len(descriptions) == STEPS[verb]
    tasks = []
    # The last target is taken by the restart above; it is free again.
    for position in range(1, len(descriptions) + 1):
        tasks += [
            {
                "name": f"plan {position}.{number}",
                "ansible.builtin.uri": {
                    "url": f"{fleet.url}/emulator/faults",
                    "method": "POST",
                    "body": fault,
                    "body_format": "json",
                    "url_username": BASIC["username"],
                    "url_password": BASIC["password"],
                    "force_basic_auth": True,
                },
            }
            for number, fault in enumerate(faults(descriptions, position))
        ]
        options = {**options_of(verb, position), "wait": True, "show_progress": False}
        tasks.append({"name": f"case {position}", f"oceanbase.ocp.{verb}": options, "ignore_errors": True})
    defaults = {"group/oceanbase.ocp.ocp": {"url": fleet.url, **BASIC}}
    outcome = ansible.tasks(*tasks, module_defaults=defaults)
    assert outcome.rc == 0, outcome.output
    for position, description in enumerate(descriptions, 1):
        assert_told(outcome.results[f"case {position}"], position, description, len(descriptions))


def assert_told(result, position, description, total):
    task = result["task"]
    step = task["subtasks"][position - 1]
    assert (result["changed"], task["status"], step["status"]) == (True, "FAILED", "FAILED")
    [failed] = result["failed_subtasks"]
    assert failed == {
        "task_id": result["task_id"],
        "position": position,
        "attempt": 1,
        "log_tail": failed["log_tail"],
        **{key: step[key] for key in failed.keys() & step.keys()},
    }
    assert failed["description"] == description
    assert "made it fail" in failed["log_tail"]
    what, where, *lines = result["msg"].split("\n")
    assert re.fullmatch(r"The restart of .+ did not succeed\.", what)
    number = f"{result['task_id']} ({task['name']})"
    place = f"subtask {position} of {total}, {description} (id {step['id']}), attempt 1"
    assert where == f"Task {number} FAILED at {place}. The end of its log:"
    log = failed["log_tail"].split("\n")
    assert lines[: len(log)] == [f"  {line}" for line in log]
    seconds, trace, advice, *commands = lines[len(log) :]
    assert seconds == f"The task took {task['duration']:g} seconds, the subtask {step['duration']:g}."
    assert trace == f"Trace id {result['trace_id']}."
    assert advice.startswith("A new restart would begin from the start.")
    states = [re.search(r"state=(\w+)", command)[1] for command in commands if "state=" in command]
    skip, back = not step["prohibit_skip"], not task["prohibit_rollback"]
    assert states[:3] == ["retried", *["skipped"] * skip, *["rolled_back"] * back]
    assert f"{ASK} 'task_id={result['task_id']} state=retried'" in commands[0]


# What the role does about it

START = {"name": "start", "oceanbase.ocp.cluster_restart": {"cluster": "payments"}, "register": "restart"}


def wait(**variables):
    return {
        "name": "wait",
        "ansible.builtin.include_role": {"name": "oceanbase.ocp.task_wait"},
        "vars": {"task_wait_tasks": "{{ restart }}", **{f"task_wait_{key}": value for key, value in variables.items()}},
    }


def run(ansible, emulator, *tasks):
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    outcome = ansible.tasks(*tasks, module_defaults=defaults)
    [task] = outcome.results["Keep the tasks"]["ansible_facts"]["task_wait_results"]
    return outcome, task


def posts(emulator) -> list[str]:
    return [re.search(r"POST \S+/(\w+)", line)[1] for line in emulator.requests("POST")]


def test_role_retries_a_subtask_that_fails_twice(ansible, emulator):
    emulator.fail_subtask("Stop observer process", times=2)
    outcome, task = run(ansible, emulator, START, wait(on_failure="retry", retries=2))
    assert outcome.rc == 0, outcome.output
    assert (task["status"], task["succeeded"]) == ("SUCCESSFUL", True)
    assert posts(emulator) == ["restart", "retry", "retry"]
    assert outcome.output.count("Have what failed retried") == 3  # the last one has nothing to do
    assert "attempt 1. The end of its log" in outcome.output
    assert "attempt 2. The end of its log" in outcome.output


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_role_gives_up_after_its_retries(retries, ansible, emulator):
    emulator.fail_subtask("Stop observer process", times=9)
    outcome, task = run(ansible, emulator, START, wait(on_failure="retry", retries=retries))
    assert outcome.rc == 2
    message = outcome.results["Wait until all tasks have ended"]["msg"]
    assert f"FAILED at subtask 6 of 19, Stop observer process (id {task['subtasks'][5]['id']})" in message
    assert f", attempt {retries + 1}." in message
    assert posts(emulator) == ["restart", *["retry"] * retries]


def test_role_rolls_back_and_still_fails(ansible, emulator):
    emulator.fail_subtask("Stop observer process")
    outcome, task = run(ansible, emulator, START, wait(on_failure="rollback"))
    assert outcome.rc == 2
    assert "FAILED and was rolled back" in outcome.results["Wait until all tasks have ended"]["msg"]
    assert (task["status"], task["operation"], task["rolled_back"]) == ("SUCCESSFUL", "ROLLBACK", True)
    assert posts(emulator) == ["restart", "rollback"]


def test_role_sends_no_task_action_by_default(ansible, emulator):
    emulator.fail_subtask("Stop observer process")
    outcome, task = run(ansible, emulator, START, wait())
    assert (outcome.rc, task["status"]) == (2, "FAILED")
    assert posts(emulator) == ["restart"]


def test_role_retries_only_the_failed_task(ansible, emulator):
    servers = {
        "name": "start",
        "oceanbase.ocp.server_restart": {
            "cluster": "orders",
            "server": "{{ item }}",
            "freeze_server": False,
        },
        "loop": ["10.0.0.1:2882", "10.0.0.4:2882"],
        "register": "restart",
    }
    emulator.fail_subtask("Stop observer process")
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    outcome = ansible.tasks(servers, wait(on_failure="retry"), module_defaults=defaults)
    assert outcome.rc == 0, outcome.output
    assert sorted(posts(emulator)) == ["restart", "restart", "retry"]


@pytest.mark.parametrize("fails", [True, False])
def test_role_writes_a_report_page(fails, ansible, emulator, tmp_path):
    if fails:
        emulator.fail_subtask("Stop observer process")
    page = tmp_path / "page.html"
    outcome, task = run(ansible, emulator, START, wait(report=str(page)))
    assert outcome.rc == (2 if fails else 0)
    document = page.read_text()
    assert document.startswith("<!doctype html>")
    assert f"{task['id']}" in document
    assert ("made it fail" in document) is fails


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"on_failure": "reboot"}, "task_wait_on_failure"),
        ({"retries": -1}, "task_wait_retries: -1 is out of range; give 0 or more."),
        ({"retries": "many"}, "task_wait_retries"),
        ({"log_lines": 201}, "log_lines: 201 is out of range; give 0 to 200 lines."),
    ],
    ids=lambda value: json.dumps(value)[:30],
)
def test_role_refuses_bad_input(variables, message, ansible, emulator):
    outcome = ansible.tasks(
        {"name": "set", "ansible.builtin.set_fact": {"restart": 1001}},
        wait(**variables),
        module_defaults={"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}},
    )
    assert outcome.rc == 2
    assert message in outcome.output
    assert emulator.requests("GET") == []
