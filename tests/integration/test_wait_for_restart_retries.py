# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the role wait_for_restart does about tasks that fail: retries, rollback, a report."""

from __future__ import annotations

import re

import pytest
from credentials import BASIC
from refused_roles import refusals

# What the role does about it

START = {"name": "start", "oceanbase.ocp.cluster_restart": {"cluster": "payments"}, "register": "restart"}


def wait(**variables):
    return {
        "name": "wait",
        "ansible.builtin.include_role": {"name": "oceanbase.ocp.wait_for_restart"},
        "vars": {
            "wait_for_restart_tasks": "{{ restart }}",
            **{f"wait_for_restart_{key}": value for key, value in variables.items()},
        },
    }


def run(ansible, emulator, *tasks):
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    outcome = ansible.tasks(*tasks, module_defaults=defaults)
    [task] = outcome.results["Keep the tasks"]["ansible_facts"]["wait_for_restart_results"]
    return outcome, task


def posts(emulator) -> list[str]:
    return [re.search(r"POST \S+/(\w+)", line)[1] for line in emulator.requests("POST")]


def test_role_retries_a_subtask_that_fails_twice(ansible, emulator):
    emulator.fail_subtask("Stop observer process", times=2)
    outcome, task = run(ansible, emulator, START, wait(on_failure="retry", retries=2))
    assert outcome.rc == 0, outcome.output
    assert (task["status"], task["succeeded"]) == ("SUCCESSFUL", True)
    assert posts(emulator) == ["restart", "retry", "retry"]
    assert outcome.output.count("Have failed tasks retried") == 2
    assert "attempt 1. The end of its log" in outcome.output
    assert "attempt 2. The end of its log" in outcome.output


@pytest.mark.parametrize(
    "retries", [pytest.param(0, marks=pytest.mark.nightly), pytest.param(1, marks=pytest.mark.nightly), 2]
)
def test_role_gives_up_after_its_retries(retries, ansible, emulator):
    emulator.fail_subtask("Stop observer process", times=9)
    outcome, task = run(ansible, emulator, START, wait(on_failure="retry", retries=retries, detail="full"))
    assert outcome.rc == 2
    message = outcome.results["Wait until all tasks have ended"]["msg"]
    assert f"FAILED at subtask 6 of 19, Stop observer process (id {task['subtasks'][5]['id']})" in message
    assert f", attempt {retries + 1}." in message
    assert posts(emulator) == ["restart", *["retry"] * retries]


def test_role_rolls_back_and_still_fails(ansible, emulator):
    emulator.fail_subtask("Stop observer process")
    outcome, task = run(ansible, emulator, START, wait(on_failure="rollback", detail="full"))
    assert outcome.rc == 2
    assert "FAILED and was rolled back" in outcome.results["Wait until all tasks have ended"]["msg"]
    before, first, *between, last = outcome.results["Make sure that all tasks have succeeded"]["msg"].splitlines()
    assert before == "Before its rollback:"
    assert "FAILED at subtask 6 of 19, Stop observer process" in first
    assert "made it fail" in "".join(between) and "FAILED and was rolled back" in "".join(between)
    # The commands stand last.
    assert last == "Then run the same command again, if the restart is still wanted."
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
        "loop": ["10.0.0.1:2882", "10.0.0.2:2882"],
        "register": "restart",
    }
    emulator.fail_subtask("Stop observer process")
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    outcome = ansible.tasks(servers, wait(on_failure="retry"), module_defaults=defaults)
    assert outcome.rc == 0, outcome.output
    assert sorted(posts(emulator)) == ["restart", "restart", "retry"]


@pytest.mark.nightly
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


def test_role_refuses_bad_input(ansible, emulator):
    cases = {
        "wait_for_restart_on_failure": {"on_failure": "reboot"},
        "wait_for_restart_retries: -1 is out of range; give 0 or more.": {"retries": -1},
        "wait_for_restart_retries": {"retries": "many"},
        "log_lines: 201 is out of range; give 0 to 200 lines.": {"log_lines": 201},
    }
    given = {message: {"tasks": 1001, **variables} for message, variables in cases.items()}
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    for message, refused in refusals(ansible, "wait_for_restart", given, module_defaults=defaults).items():
        assert message in str(refused), refused
    assert emulator.requests("GET") == []
