# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The in-process route on and off: what a playbook can say of a task, with the same results; the switch itself."""

from __future__ import annotations

import pytest
from credentials import BASIC
from documentation_blocks import blocks
from execution_path import ran_as, sudo
from same_results import assert_the_same, comparable

HERE, THERE = {"in-process": 1}, {"ordinary": 1}
SERVERS = [{"cluster": "orders", "server": f"10.0.0.{number}:2882", "freeze_server": True} for number in (1, 2, 3)]
READ = {"oceanbase.ocp.task_info": {"limit": 1}}
UNANSWERED = 4711


def restart(number, **keywords):
    return {"oceanbase.ocp.server_restart": {**SERVERS[number], "wait": True}, **keywords}


# By case, a task and the route it takes if nothing turns that off.
CASES = {
    "plain": (restart(0), HERE),
    "loop": (
        {"oceanbase.ocp.task_info": {"limit": "{{ item }}"}, "loop": [1, 2]},
        {"in-process": 2},
    ),
    "async": (restart(1, **{"async": 60, "poll": 1}), THERE),
    "become": ({**READ, "become": True}, THERE),
    "environment": ({**READ, "environment": {"X": "y"}}, THERE),
    "no_log": (restart(2, no_log=True, register="hidden"), HERE),
    "timeout": ({"oceanbase.ocp.task_info": {"task_id": UNANSWERED}, "timeout": 2}, HERE),
    "check": (restart(0, check_mode=True), HERE),
    "diff": (restart(0, diff=True), HERE),
}
REGISTERED = {"name": "registered", "ansible.builtin.debug": {"var": "hidden"}}
DELEGATED = {"name": "delegate_to", **READ, "delegate_to": "localhost"}


@pytest.fixture
def results(ansible, start_emulator, tmp_path):
    """Run all cases on a fresh emulator, with these variables; gives the output of each task and its result."""
    ansible.environment = {
        "ANSIBLE_ASYNC_DIR": str(tmp_path / "async"),
        # ansible-core 2.21 shows the arguments only when asked to.
        "ANSIBLE_INJECT_INVOCATION": "true",
    }

    def run(**variables):
        emulator = start_emulator()
        no_answer = {"method": "GET", "path": f"*/tasks/instances/{UNANSWERED}"}
        emulator.post("/emulator/faults", {"kind": "http", "action": "drop", "match": no_answer})
        defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
        tasks = [{"name": name, "ignore_errors": True, **task} for name, (task, _route) in CASES.items()]
        common = {"gather_facts": False, "module_defaults": defaults}
        variables["ansible_become_exe"] = sudo(tmp_path)
        plays = [
            {"hosts": "localhost", **common, "vars": variables, "tasks": [*tasks, REGISTERED]},
            {"hosts": "far", **common, "vars": variables, "tasks": [DELEGATED]},
        ]
        outcome = ansible.playbook(plays, arguments="-vvv --inventory far,")
        assert outcome.rc == 0, outcome.output
        routes = dict(zip([*CASES, "registered", "delegate_to"], map(ran_as, outcome.of_each_task()), strict=True))
        return routes, {name: comparable(result, emulator.url) for name, result in outcome.results.items()}

    return run


@pytest.mark.smoke
@pytest.mark.nightly
def test_route_on_and_off_gives_the_same_results(results):
    on, here = results()
    off, there = results(ocp_in_process=False)
    routes = {name: route for name, (_task, route) in CASES.items()} | {"registered": {}, "delegate_to": HERE}
    assert on == routes
    assert off == {name: {"ordinary": sum(route.values())} if route else {} for name, route in routes.items()}
    assert_the_same(here, there)
    assert [here[name]["changed"] for name in ("plain", "async", "check", "diff")] == [True] * 4
    assert here["registered"]["hidden"]["action"] == "submitted"
    assert here["no_log"].keys() >= {"censored"}
    assert here["timeout"]["timedout"]["period"] == 2
    assert here["diff"]["diff"].keys() >= {"before", "after"}


@pytest.mark.smoke
def test_time_out_of_an_ordinary_module_has_less_of_the_same(ansible, start_emulator):
    def run(**variables):
        emulator = start_emulator("--step-seconds", "60")
        defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
        task = restart(0, timeout=5)
        # Ansible leaves a module in another process running.
        task["oceanbase.ocp.server_restart"]["wait_timeout"] = 15
        outcome = ansible.each({"restart": task}, module_defaults=defaults, vars=variables)
        return outcome.result

    here, there = run(), run(ocp_in_process=False)
    assert here["msg"].startswith(there["msg"].removeprefix("Task failed: ").rstrip("."))
    assert here["timedout"]["period"] == there["timedout"]["period"]
    assert (here["task_id"], there.get("task_id")) == (1001, None)


@pytest.fixture
def play(ansible, emulator):
    def run(task, **keywords):
        defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
        return ansible.tasks({"name": "read", **task}, arguments="-vvv", module_defaults=defaults, **keywords)

    return run


def test_switch_of_the_environment_holds_until_a_variable_says_otherwise(ansible, play):
    ansible.environment = {"OCP_IN_PROCESS": "false"}
    off, on = play(READ), play({**READ, "vars": {"ocp_in_process": "{{ 1 == 1 }}"}})
    assert (ran_as(off.output), ran_as(on.output)) == (THERE, HERE)
    assert "as an ordinary module, since OCP_IN_PROCESS is false" in off.output


def test_unknown_value_of_the_switch_is_refused_before_anything_is_sent(play, emulator):
    outcome = play(READ, vars={"ocp_in_process": "perhaps"})
    assert outcome.rc == 2
    message, _of_a_database_server = blocks("docs/where-modules-run.md", "text")
    assert outcome.result["msg"] == message.strip()
    assert "/api/" not in emulator.log
