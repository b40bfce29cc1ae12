# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A misspelt variable of a role or playbook is refused with the nearest name, and nothing is sent."""

from __future__ import annotations

import json

import pytest
from credentials import BASIC
from documentation_blocks import blocks

CHANGE = "2026-05-04T03:00:00+08:00"
SERVERS = [{"cluster": "orders", "server": "10.0.0.1:2882"}]


def refusal(outcome):
    [task] = outcome.failed
    return outcome.results[task]["msg"]


@pytest.mark.smoke
@pytest.mark.parametrize("check", ["", pytest.param("--check ", marks=pytest.mark.nightly)], ids=["run", "check"])
@pytest.mark.parametrize(
    ("playbook", "given", "wrong", "near"),
    [
        pytest.param(
            "rolling_restart",
            {"rolling_restart_clusters": ["orders"]},
            "rolling_restart_server",
            "servers",
            # As on the page, below.
            marks=pytest.mark.nightly,
        ),
        ("rolling_restart", {"rolling_restart_clusters": ["orders"]}, "rolling_restart_min_zone", "min_zones"),
        ("fleet_restart", {"fleet_restart_servers": SERVERS}, "fleet_restart_freeze", "freeze_server"),
        pytest.param(
            "agent_rolling_restart",
            {"agent_rolling_restart_hosts": ["1"]},
            "agent_rolling_restart_batches",
            "batch",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "arbitration_service_rolling_restart",
            {"arbitration_service_rolling_restart_services": ["10.0.0.10:2888"]},
            "arbitration_service_rolling_restart_service",
            "services",
            marks=pytest.mark.nightly,
        ),
        ("task_report", {"task_report_id": 1001}, "task_report_folders", "folder"),
        ("parameter_rollout", {"parameter_rollout_clusters": ["orders"]}, "parameter_rollout_value", "values"),
        pytest.param("ocp_check", {}, "ocp_check_need", "needs", marks=pytest.mark.nightly),
        pytest.param("ocp_status", {}, "ocp_status_clusters", "cluster", marks=pytest.mark.nightly),
    ],
)
def test_playbook_refuses_a_misspelt_variable(ansible, connect, emulator, check, playbook, given, wrong, near):
    connect(emulator)
    prefix = f"{playbook}_"
    given = {
        **given,
        **({} if playbook in ("task_report", "ocp_check", "ocp_status") else {f"{prefix}started_before": CHANGE}),
        wrong: "x",
    }
    outcome = ansible.playbook(f"oceanbase.ocp.{playbook}", arguments=f"{check}-e '{json.dumps(given)}'")
    assert outcome.rc == 2, outcome.output
    sentence = (
        f"{wrong}: is not a variable of oceanbase.ocp.{playbook}; did you mean {prefix}{near}? The variables are "
    )
    said = refusal(outcome)
    assert said.startswith(sentence)
    assert near in said.removeprefix(sentence)
    assert said.endswith(". Nothing was sent.")
    assert "/api/" not in emulator.log


@pytest.mark.parametrize(
    ("playbook", "given", "near"),
    [
        ("rolling_restart", {"rolling_restrat_clusters": ["orders"]}, "rolling_restart_clusters"),
        (
            "parameter_rollout",
            {
                "parameter_rollout_clusters": ["orders"],
                "parameter_rollout_values": {"stack_size": "5M"},
                "rolling_resart_batch": 1,
            },
            "rolling_restart_batch",
        ),
    ],
    ids=["rolling_restart", "parameter_rollout"],
)
def test_playbook_refuses_a_slip_in_the_prefix(ansible, connect, emulator, playbook, given, near):
    connect(emulator)
    outcome = ansible.playbook(f"oceanbase.ocp.{playbook}", arguments=f"-e '{json.dumps(given)}'")
    assert outcome.rc == 2, outcome.output
    assert f"; did you mean {near}?" in refusal(outcome)
    assert "/api/" not in emulator.log


@pytest.mark.parametrize(
    ("playbook", "given", "ignored", "full"),
    [
        pytest.param(
            "parameter_rollout",
            {"parameter_rollout_clusters": ["orders"], "parameter_rollout_values": {"stack_size": "5M"}},
            {"safety": "none"},
            "rolling_restart_safety",
            marks=pytest.mark.nightly,
        ),
        (
            "agent_rolling_restart",
            {"agent_rolling_restart_hosts": ["1"], "agent_rolling_restart_change": "x"},
            {"batch": 1},
            "agent_rolling_restart_batch",
        ),
        pytest.param(
            "arbitration_service_rolling_restart",
            {
                "arbitration_service_rolling_restart_services": ["10.9.9.9:2888"],
                "arbitration_service_rolling_restart_change": "x",
            },
            {"wait_timeout": 5},
            "arbitration_service_rolling_restart_wait_timeout",
            marks=pytest.mark.nightly,
        ),
        # The run fails, and its failure is told by another task.
        (
            "fleet_restart",
            {"fleet_restart_servers": [{"cluster": "nowhere", "server": "10.0.0.1:2882"}], "fleet_restart_change": "x"},
            {"safety": "none"},
            "fleet_restart_safety",
        ),
    ],
)
def test_variable_without_its_prefix_is_told_once(ansible, connect, emulator, playbook, given, ignored, full):
    connect(emulator)
    arguments = f"--check -e '{json.dumps({**given, **ignored})}'"
    outcome = ansible.playbook(f"oceanbase.ocp.{playbook}", arguments=arguments)
    [name] = ignored
    told = f"[WARNING]: {name}: is ignored by oceanbase.ocp.{playbook}; its variable is {full}."
    assert outcome.output.count(": is ignored by ") == 1, outcome.output
    assert told in outcome.output


def test_page_shows_the_actual_message(ansible, connect, emulator):
    connect(emulator)
    given = {
        "rolling_restart_clusters": ["orders"],
        "rolling_restart_started_before": CHANGE,
        "rolling_restart_server": "1",
    }
    outcome = ansible.playbook("oceanbase.ocp.rolling_restart", arguments=f"-e '{json.dumps(given)}'")
    assert blocks("docs/contents.md", "text")[0].strip() == refusal(outcome)


@pytest.mark.parametrize(
    ("role", "given", "wrong"),
    [
        ("wait_for_restart", {"wait_for_restart_tasks": 1001}, "wait_for_restart_retry"),
        pytest.param("emulator", {}, "emulator_prot", marks=pytest.mark.nightly),
    ],
)
def test_role_refuses_a_misspelt_variable_wherever_it_is_set(ansible, emulator, role, given, wrong):
    role_task = {"ansible.builtin.include_role": {"name": f"oceanbase.ocp.{role}"}, "vars": given}
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    for task, keywords in (
        ({**role_task, "vars": {**given, wrong: 1}}, {}),
        (role_task, {"vars": {wrong: 1}}),
    ):
        outcome = ansible.tasks(task, module_defaults=defaults, **keywords)
        assert outcome.rc == 2, outcome.output
        assert f"{wrong}: is not a variable of oceanbase.ocp.{role}; did you mean " in outcome.output
    assert "/api/" not in emulator.log


def test_variables_of_the_caller_and_facts_of_an_earlier_use_are_allowed(ansible, emulator):
    task = {
        "ansible.builtin.include_role": {"name": "oceanbase.ocp.wait_for_restart"},
        "vars": {"wait_for_restart_tasks": [], "wait_for_restart_user_ticket": 7},
    }
    outcome = ansible.tasks(task, task, module_defaults={"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}})
    assert outcome.rc == 0, outcome.output


def test_lookup_names_a_role_that_does_not_exist(ansible):
    unknown = "{{ query('oceanbase.ocp.unknown_variables', 'rolling') }}"
    outcome = ansible.tasks({"ansible.builtin.debug": {"msg": unknown}})
    assert outcome.rc == 2
    assert "oceanbase.ocp has no role or playbook rolling" in outcome.output
