# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The role wait_for_restart: which tasks it waits for, and what it sets."""

from __future__ import annotations

from itertools import chain

import pytest
from credentials import BASIC


def wait_for(what, **variables):
    return {
        "name": "wait",
        "ansible.builtin.include_role": {"name": "oceanbase.ocp.wait_for_restart"},
        "vars": {"wait_for_restart_tasks": what, **variables},
    }


def defaults(emulator, **credentials):
    return {"module_defaults": {"group/oceanbase.ocp.ocp": {"url": emulator.url, **(credentials or BASIC)}}}


RESTART = {"name": "restart", "oceanbase.ocp.cluster_restart": {"cluster": "payments"}, "register": "restart"}
LOOP = {
    "name": "loop",
    "oceanbase.ocp.server_restart": {
        "cluster": "{{ item }}",
        "server": "{{ servers[item] }}",
        "freeze_server": False,
        "in_flight": "fail",
    },
    "vars": {"servers": {"orders": "10.0.0.1:2882", "payments": "10.0.0.7:2882"}},
    "loop": ["orders", "payments"],
    "register": "loop",
}
AGENTS = {"name": "agents", "oceanbase.ocp.agent_restart": {"hosts": ["10.0.0.1"]}, "register": "agents"}
FLEET = {
    "name": "fleet",
    "oceanbase.ocp.fleet_restart": {
        "servers": [
            {"cluster": "orders", "server": "10.0.0.1:2882"},
            {"cluster": "payments", "server": "10.0.0.7:2882"},
        ],
        "freeze_server": False,
    },
    "register": "fleet",
}
SHOW = {
    "name": "show",
    "ansible.builtin.debug": {"msg": "{{ wait_for_restart_results | map(attribute='status') | list }}"},
}


@pytest.mark.smoke
def test_wait_for_restart_accepts_ids_and_results(ansible, emulator):
    cases = {
        "result": ([RESTART], "{{ restart }}", 1),
        "loop": ([LOOP], "{{ loop }}", 2),
        "fleet": ([FLEET], "{{ fleet }}", 2),
        "id": ([RESTART], "{{ restart.task_id }}", 1),
        "mixed": ([LOOP, AGENTS], ["{{ loop }}", "{{ agents }}", "{{ agents.task_id }}"], 3),
    }
    tasks = [
        [*before, wait_for(what), {**SHOW, "name": f"show {name}"}] for name, (before, what, _number) in cases.items()
    ]
    outcome = ansible.tasks(*chain.from_iterable(tasks), **defaults(emulator))
    assert outcome.rc == 0, outcome.output
    for name, (_before, _what, number) in cases.items():
        assert outcome.results[f"show {name}"]["msg"] == ["SUCCESSFUL"] * number


def test_wait_for_restart_skips_results_without_a_task(ansible, emulator):
    skipped, checked = {**RESTART, "when": False}, {**LOOP, "check_mode": True}
    tasks = (skipped, wait_for("{{ restart }}"), SHOW, checked, wait_for("{{ loop }}"), {**SHOW, "name": "checked"})
    outcome = ansible.tasks(*tasks, **defaults(emulator))
    assert outcome.rc == 0, outcome.output
    assert outcome.results["show"]["msg"] == outcome.results["checked"]["msg"] == []
    assert emulator.requests("POST") == []


def test_wait_for_restart_refuses_what_is_no_restart(ansible, emulator):
    found = {"name": "found", "oceanbase.ocp.cluster_info": {}, "register": "found"}
    outcome = ansible.tasks(RESTART, found, wait_for(["{{ restart }}", "{{ found }}"]), **defaults(emulator))
    assert outcome.rc == 2
    said = outcome.results["Check the variables"]["msg"]
    assert said.startswith("wait_for_restart_tasks: 1 of its entries names no task; give ids of tasks")


def test_each_use_of_wait_for_restart_replaces_the_results(ansible, emulator):
    refused = {
        "block": [wait_for("{{ restart }}", wait_for_restart_retries=-1)],
        "rescue": [{"ansible.builtin.debug": {}}],
    }
    uses = {
        "first": (wait_for("{{ restart }}"), 1),
        "the same": (wait_for("{{ wait_for_restart_results | map(attribute='id') }}"), 1),
        "nothing": (wait_for([]), 0),
        "again": (wait_for("{{ restart }}"), 1),
        "refused": (refused, 0),
    }
    tasks = [[use, {**SHOW, "name": name}] for name, (use, _number) in uses.items()]
    outcome = ansible.tasks(RESTART, *chain.from_iterable(tasks), **defaults(emulator))
    assert outcome.rc == 0, outcome.output
    for name, (_use, number) in uses.items():
        assert outcome.results[name]["msg"] == ["SUCCESSFUL"] * number, name


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("clusters", "servers", "reason"),
    [
        (["orders", "payments"], {"orders": "10.0.0.1:2882", "payments": "10.9.9.9:1"}, "10.9.9.9:1 matches nothing"),
        (["orders", "orders"], {"orders": "10.0.0.1:2882"}, "in_flight=fail is set"),
    ],
    ids=["unknown", "busy"],
)
def test_wait_for_restart_awaits_the_others_then_fails_for_unstarted_restarts(
    ansible, start_emulator, clusters, servers, reason
):
    emulator = start_emulator("--step-seconds", "0.4")
    half = {**LOOP, "loop": clusters, "vars": {"servers": servers}, "ignore_errors": True}
    outcome = ansible.tasks(half, wait_for("{{ loop }}"), **defaults(emulator))
    assert outcome.rc == 2
    assert reason in outcome.result["msg"]
    kept = outcome.results["Keep the tasks"]["ansible_facts"]["wait_for_restart_results"]
    assert [task["status"] for task in kept] == ["SUCCESSFUL"]


def test_wait_for_restart_keeps_the_tasks_after_a_timeout(ansible, start_emulator):
    emulator = start_emulator("--step-seconds", "60")
    outcome = ansible.tasks(RESTART, wait_for("{{ restart }}", wait_for_restart_timeout=1), **defaults(emulator))
    assert outcome.rc == 2
    assert "is not finished after 1 second" in outcome.results["Wait until all tasks have ended"]["msg"]
    assert "is not finished after 1 second" in outcome.result["msg"]
    [kept] = outcome.results["Keep the tasks"]["ansible_facts"]["wait_for_restart_results"]
    assert kept["status"] == "RUNNING"


@pytest.mark.parametrize(
    ("detail", "subtasks", "shown"),
    [
        ("summary", 0, True),
        pytest.param("full", 19, False, marks=pytest.mark.nightly),
        pytest.param("summary", 0, False, marks=pytest.mark.nightly),
        pytest.param("full", 19, True, marks=pytest.mark.nightly),
    ],
)
def test_wait_for_restart_applies_detail_and_progress_options(ansible, emulator, detail, subtasks, shown):
    variables = {"wait_for_restart_detail": detail, "wait_for_restart_show_progress": shown}
    outcome = ansible.tasks(RESTART, wait_for("{{ restart }}", **variables), **defaults(emulator))
    assert outcome.rc == 0, outcome.output
    [task] = outcome.results["Keep the tasks"]["ansible_facts"]["wait_for_restart_results"]
    assert len(task["subtasks"]) == subtasks
    assert (f"{task['id']} (Restart OB cluster payments)" in outcome.output) is shown


def test_wait_for_restart_requires_its_tasks(ansible, emulator):
    outcome = ansible.tasks(
        {"ansible.builtin.include_role": {"name": "oceanbase.ocp.wait_for_restart"}}, **defaults(emulator)
    )
    assert outcome.rc == 2
    assert "wait_for_restart_tasks" in outcome.output


def test_wait_for_restart_fails_for_a_restart_that_is_disproved(ansible, emulator):
    """Its task ended SUCCESSFUL, so waiting for that says nothing more."""
    failed = {"failed": True, "msg": "ended SUCCESSFUL, but it is UNAVAILABLE.", "task_id": 1001, "verified": False}
    outcome = ansible.tasks(RESTART, wait_for([{**failed, "changed": True}]), **defaults(emulator))
    assert outcome.rc == 2
    assert outcome.result["msg"] == failed["msg"]
