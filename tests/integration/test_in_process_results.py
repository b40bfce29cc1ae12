# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Every module by both paths, in the controller's process and as an ordinary module: the results are the same."""

from __future__ import annotations

import pytest
from credentials import ACCESS_KEY, BASIC
from execution_path import ORDINARY, ran_as
from expected_restarts import RESTARTS
from same_results import assert_the_same, comparable

# Options of each module, for a call that succeeds on the default fleet, and one value that cannot be used.
READS = {"task_info": {"limit": 5}, "task_wait": {"task_ids": "{{ first.task_id }}"}}
GOOD = {**{verb: {**options, "wait": True} for verb, (options, *_rest) in RESTARTS.items()}, **READS}
UNKNOWN_TARGET = {
    "server_restart": {"server": "10.9.9.9:2882"},
    "cluster_restart": {"cluster": "nothing"},
    "zone_restart": {"zone": "nowhere"},
    "agent_restart": {"hosts": ["10.0.0.1", "10.9.9.9"]},
    "arbitration_service_restart": {"arbitration_service": 77},
    "obproxy_restart": {"obproxies": [77]},
    "task_info": {"cluster": "nothing"},
    "task_wait": {"task_ids": [77], "wait_timeout": 1},
}
BAD_VALUE = {
    **{verb: {"wait": "perhaps"} for verb in RESTARTS},
    "task_info": {"task_id": 1, "name": "both of them"},
    "task_wait": {"task_ids": "first"},
}


def cases(module):
    """Options by what becomes of them: refused before anything is sent, refused by the service, carried out."""
    good = GOOD[module]
    _left_out, *others = good.items()
    yield "option left out", dict(others)
    yield "option that is none", {**good, "colour": "blue"}
    yield "value that is none", {**good, **BAD_VALUE[module]}
    yield "both kinds of credentials", {**good, **ACCESS_KEY}
    yield "half of the credentials", {**good, "password": ""}
    yield "timeout out of range", {**good, "timeout": 0}
    yield "unknown target", {**good, **UNKNOWN_TARGET[module]}
    yield "wrong password", {**good, "password": "wrong"}
    yield "missing permission", {**good, "username": "viewer"}
    # A wait survives it until its time is up.
    if module != "task_wait":
        yield "nothing listens", {**good, "url": "http://127.0.0.1:1"}
    yield "right", good


# What succeeds, beside the last.
HARMLESS = {"task_info": {"option left out", "missing permission"}, "task_wait": {"missing permission"}}
TASK_KEYWORDS = {
    "check mode": {"check_mode": True},
    "diff mode": {"diff": True},
    "hidden": {"no_log": True},
    "in a loop": {"loop": [1, 2]},
    "until": {"until": False, "retries": 1, "delay": 0},
}
# A task to read.
FIRST = {
    "name": "first",
    "oceanbase.ocp.cluster_restart": {"cluster": "payments", "wait": True},
    "register": "first",
}


@pytest.fixture
def run(ansible, start_emulator):
    """Run the same tasks by one path against a fresh emulator; returns output and comparable results."""

    def both(tasks, prepare=None, **keywords):
        emulator = start_emulator()
        if prepare:
            prepare(emulator)
        # ansible-core 2.21 shows the arguments only when asked to, and prints a set in its messages.
        ansible.environment = {"ANSIBLE_INJECT_INVOCATION": "true", "PYTHONHASHSEED": "0"}
        outcome = ansible.tasks(
            *tasks,
            arguments="-vvv",
            module_defaults={"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}},
            **keywords,
        )
        return outcome, {name: comparable(result, emulator.url) for name, result in outcome.results.items()}

    return both


def task(name, module, options, **keywords):
    return {"name": name, f"oceanbase.ocp.{module}": options, "ignore_errors": True, **keywords}


SMOKE = ("server_restart",)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "module", [pytest.param(module, marks=[pytest.mark.smoke] * (module in SMOKE)) for module in GOOD]
)
def test_both_paths_give_the_same_results_for_good_and_bad_input(run, module):
    tasks = [FIRST, *(task(name, module, options) for name, options in cases(module))]
    here, results = run(tasks)
    there, ordinary_results = run(tasks, **ORDINARY)
    assert (ran_as(here.output), ran_as(there.output)) == ({"in-process": len(tasks)}, {"ordinary": len(tasks)})
    assert_the_same(results, ordinary_results)
    failed = {name for name, result in results.items() if "msg" in result}
    assert failed == {name for name, _options in cases(module)} - HARMLESS.get(module, set()) - {"right"}


@pytest.mark.nightly
@pytest.mark.parametrize("module", ["cluster_restart", "task_info"])
def test_both_paths_handle_task_keywords_alike(run, module):
    tasks = [FIRST, *(task(name, module, GOOD[module], **keywords) for name, keywords in TASK_KEYWORDS.items())]
    _outcome, here = run(tasks)
    _outcome, there = run(tasks, **ORDINARY)
    assert_the_same(here, there)
    assert here["hidden"].keys() >= {"censored"}
    assert here["check mode"].get("task_id") is None
    assert len(here["in a loop"]["results"]) == 2


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("verb", "step"),
    [
        ("server_restart", "Start observer process"),
        ("arbitration_service_restart", "Start arbitration service"),
    ],
)
def test_both_paths_report_failed_task_and_busy_target_alike(run, verb, step):
    tasks = [
        {"name": name, f"oceanbase.ocp.{verb}": GOOD[verb], "ignore_errors": True}
        for name in ("failing task", "busy target")
    ]
    _outcome, here = run(tasks, lambda emulator: emulator.fail_subtask(step))
    _outcome, there = run(tasks, lambda emulator: emulator.fail_subtask(step), **ORDINARY)
    assert_the_same(here, there)
    assert here["failing task"]["task"]["status"] == "FAILED"
    assert here["busy target"]["task"] is None
