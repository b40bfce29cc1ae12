# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Variables of roles and playbooks: what is documented is known, all else with the prefix is named with the nearest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from ansible_collections.oceanbase.ocp.plugins.lookup.unknown_variables import (
    LOOP_VARIABLES,
    differing,
    ignored,
    unknown_variables,
)

ROOT = Path(__file__).parents[4]
IN_ONE_TASK = "rolling_restart__in_one_task"
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir())
# demo.yml takes no variables; rolling_restart.yml is the role alone.
PLAYBOOKS = sorted({path.stem for path in (ROOT / "playbooks").glob("*.yml")} - {"demo", "rolling_restart"})


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "fleet_restart",
            ["cluster: is ignored by oceanbase.ocp.fleet_restart, and does not limit what it restarts."],
        ),
        ("wait_for_restart", []),
        ("task_report", []),
    ],
)
def test_word_for_a_target_that_limits_nothing_is_told_where_something_is_restarted(name, told):
    assert ignored([name], ["cluster", "ticket"], {}) == told


@pytest.mark.parametrize(
    ("name", "variable", "near"),
    [
        ("rolling_restart", "rolling_restart_server", "rolling_restart_servers"),
        ("rolling_restart", "rolling_restart_min_zone", "rolling_restart_min_zones"),
        # As the modules call it.
        ("rolling_restart", "rolling_restart_safety_timeout", "rolling_restart_gate_timeout"),
        ("rolling_restart", "rolling_restart_starts_before", "rolling_restart_started_before"),
        ("wait_for_restart", "wait_for_restart_retry", "wait_for_restart_retries"),
        ("emulator", "emulator_prot", "emulator_port"),
        ("fleet_restart", "fleet_restart_server", "fleet_restart_servers"),
        ("agent_rolling_restart", "agent_rolling_restart_host", "agent_rolling_restart_hosts"),
        (
            "arbitration_service_rolling_restart",
            "arbitration_service_rolling_restart_service",
            "arbitration_service_rolling_restart_services",
        ),
        ("task_report", "task_report_folders", "task_report_folder"),
        ("parameter_rollout", "parameter_rollout_value", "parameter_rollout_values"),
    ],
)
def test_misspelt_variable_is_named_with_the_nearest(name, variable, near):
    refusal, there = unknown_variables(name, [variable, near, "other", f"other_{variable}"])
    assert refusal == f"{variable}: is not a variable of oceanbase.ocp.{name}; did you mean {near}?"
    assert near.removeprefix(f"{name}_") in re.findall(r"\w+", there)


@pytest.mark.parametrize("name", ["node", "batch_now"])
def test_variable_of_a_loop_is_nobodys_to_give(name):
    """The whole cluster was restarted instead."""
    [refusal, _there] = unknown_variables("rolling_restart", [f"rolling_restart_{name}"])
    assert refusal.startswith(f"rolling_restart_{name}: is not a variable of oceanbase.ocp.rolling_restart")


def test_variable_that_a_host_has_and_the_run_has_not_is_named():
    own = {"rolling_restart_zones": [], "rolling_restart_gate": "/gate.yml"}
    theirs = {"one": {"rolling_restart_gate": "/gate.yml"}, "two": {"rolling_restart_zones": ["zone1"], "other": 1}}
    assert differing(["rolling_restart_zones", "rolling_restart_gate", "rolling_restart_servers"], own, theirs) == [
        "rolling_restart_zones: has a value for two that it does not have for the whole run; give it for all, with -e "
        "or in group_vars/all."
    ]


def test_name_like_no_other_is_told_how_to_be_free():
    assert unknown_variables("wait_for_restart", ["wait_for_restart_qqq"])[0] == (
        "wait_for_restart_qqq: is not a variable of oceanbase.ocp.wait_for_restart; "
        "a variable of your own begins with wait_for_restart_user_, so rename it."
    )


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("task_report", "id or folder"),
        ("agent_rolling_restart", "hosts, change, started_before, batch, windows or wait_timeout"),
    ],
)
def test_variables_that_there_are_come_once_and_last(name, there):
    wrong = [f"{name}_qqq", f"{name}_xxx"]
    sentences = unknown_variables(name, wrong)
    assert [sentence.partition(":")[0] for sentence in sentences[:-1]] == wrong
    assert sentences[-1] == f"The variables are {name}_ followed by {there}."


@pytest.mark.parametrize("role", ROLES)
def test_variables_of_a_role_are_its_options(role):
    spec = yaml.safe_load((ROOT / "roles" / role / "meta/argument_specs.yml").read_text())["argument_specs"]["main"]
    named = re.findall(r"\w+", unknown_variables(role, [f"{role}_qqq"])[-1].partition("followed by")[2])
    assert [f"{role}_{name}" for name in named if name != "or"] == [*spec["options"]]


@pytest.mark.parametrize(
    "variable",
    ["rolling_restart_user_x", "rolling_restart__in_one_task", "rolling_restart", "rolling", "rollingservers"],
)
def test_own_variables_are_free(variable):
    assert unknown_variables("rolling_restart", [variable]) == []


@pytest.mark.parametrize("role", ROLES)
def test_every_option_and_every_variable_that_a_role_sets_is_known(role):
    spec = yaml.safe_load((ROOT / "roles" / role / "meta/argument_specs.yml").read_text())["argument_specs"]["main"]
    code = "\n".join(path.read_text() for path in (ROOT / "roles" / role).rglob("*.yml") if path.parent.name != "meta")
    used = set(re.findall(rf"(?<![\w.]){role}_\w+", code)) - {f"{role}_{name}" for name in LOOP_VARIABLES}
    assert unknown_variables(role, used | spec["options"].keys()) == []


@pytest.mark.parametrize("playbook", PLAYBOOKS)
def test_every_variable_that_a_playbook_uses_is_known(playbook):
    prefix = f"{playbook}_"
    code = (ROOT / f"playbooks/{playbook}.yml").read_text()
    used = set(re.findall(rf"(?<![\w.#-]){prefix}\w+", re.sub(r"^#.*", "", code, flags=re.MULTILINE)))
    assert len(used) > 2
    assert unknown_variables(playbook, used) == []


@pytest.mark.parametrize("name", [*ROLES, *PLAYBOOKS])
def test_each_role_and_playbook_refuses_first_of_all(name):
    file = ROOT / (f"roles/{name}/tasks/main.yml" if name in ROLES else f"playbooks/{name}.yml")
    asks = f"'oceanbase.ocp.unknown_variables', '{name}'"
    tasks = re.split(r"^ *- name: ", file.read_text(), flags=re.MULTILINE)
    first = next(number for number, task in enumerate(tasks) if asks in task)
    # What comes before it is done only if nothing is refused.
    condition = IN_ONE_TASK if name == "rolling_restart" else None
    for task in tasks[:first]:
        sends = re.search(r"^ *oceanbase\.ocp\.\w+:|include_tasks:", task, re.MULTILINE)
        assert not sends or (condition and f"when: {condition}" in task) or "_run is not skipped" in task
    if condition:
        decided = yaml.safe_load((ROOT / f"roles/{name}/vars/main.yml").read_text())[condition]
        assert f"and query({asks}) | length == 0" in decided


def test_what_a_role_sets_for_itself_is_not_given_on_the_command_line():
    [refusal, _all] = unknown_variables("rolling_restart", ["rolling_restart__batch"], ["rolling_restart__batch"])
    assert refusal.endswith("did you mean rolling_restart_batch?")


def test_unknown_role_is_an_error():
    with pytest.raises(ValueError, match="has no role or playbook nothing"):
        unknown_variables("nothing", [])


CLUSTERS, FLEET_SERVERS = "rolling_restart_clusters", {"servers": "fleet_restart_servers"}


@pytest.mark.parametrize(
    ("names", "given", "variables", "told"),
    [
        (
            ["rolling_restart"],
            ["safety", "ticket"],
            {"safety": "none", "rolling_restart_safety": "majority"},
            {"safety": "rolling_restart_safety"},
        ),
        (["fleet_restart"], ["tolerate_outage_of"], {}, {"tolerate_outage_of": "fleet_restart_tolerate_outage_of"}),
        # A playbook takes one from the other.
        (["rolling_restart"], ["clusters"], {"clusters": "a", "rolling_restart_clusters": "{{ clusters }}"}, {}),
        (["rolling_restart"], ["rolling_restart_safety"], {"rolling_restart_safety": "none"}, {}),
        # Once, and by the playbook that is run.
        (["parameter_rollout", "rolling_restart"], ["safety"], {}, {"safety": "rolling_restart_safety"}),
        (["parameter_rollout", "rolling_restart"], ["clusters"], {}, {"clusters": "parameter_rollout_clusters"}),
        (["agent_rolling_restart"], ["batch"], {}, {"batch": "agent_rolling_restart_batch"}),
        # The name of an option, and the word for one target.
        (["rolling_restart"], ["finish_before"], {}, {"finish_before": "rolling_restart_stop_after"}),
        (["rolling_restart"], ["server", "cluster"], {}, {"cluster": CLUSTERS, "server": "rolling_restart_servers"}),
        (["rolling_restart"], ["cluster"], {"cluster": "a", CLUSTERS: ["{{ cluster }}"]}, {}),
        # Both are on the command line.
        (["fleet_restart"], ["servers", "fleet_restart_servers"], {"fleet_restart_servers": [1]}, FLEET_SERVERS),
    ],
)
def test_variable_without_the_prefix_gets_one_sentence(names, given, variables, told):
    assert ignored(names, given, variables) == [
        f"{each}: is ignored by oceanbase.ocp.{names[0]}; its variable is {full}." for each, full in told.items()
    ]


@pytest.mark.parametrize(
    ("name", "variable", "near"),
    [
        ("rolling_restart", "rolling_restrat_clusters", "rolling_restart_clusters"),
        ("rolling_restart", "rolling_restart__servers", "rolling_restart_servers"),
        ("fleet_restart", "fleet_restart__most_down", "fleet_restart_most_down"),
        ("rolling_restart", "rolling_restartservers", "rolling_restart_servers"),
        ("rolling_restart", "rolling_restart-servers", "rolling_restart_servers"),
        ("rolling_restart", "ROLLING_RESTART_SERVERS", "rolling_restart_servers"),
        ("rolling_restart", "rolling_resart_batch", "rolling_restart_batch"),
        ("rolling_restart", "rollingrestart_servers", "rolling_restart_servers"),
        ("rolling_restart", "rolling_restarts_server", "rolling_restart_servers"),
        ("fleet_restart", "feet_restart_servers", "fleet_restart_servers"),
        ("parameter_rollout", "paramter_rollout_clusters", "parameter_rollout_clusters"),
        ("agent_rolling_restart", "agents_rolling_restart_batch", "agent_rolling_restart_batch"),
    ],
)
def test_slip_in_the_prefix_is_named(name, variable, near):
    refusal, _there = unknown_variables(name, [variable, near])
    assert refusal == f"{variable}: is not a variable of oceanbase.ocp.{name}; did you mean {near}?"


@pytest.mark.parametrize(
    "variable",
    [
        "my_rolling_restart_clusters",
        "agent_rolling_restart_batch",
        "rolling_restart_user_batch",
        "rolling_reboot_batch",
        "rolling_update_batch",
        "rolling_restarts_ticket",
        "rolling_restrat",
        "clusters",
    ],
)
def test_variable_of_others_is_not_taken_for_a_slip(variable):
    assert unknown_variables("rolling_restart", [variable]) == []


@pytest.mark.parametrize("variable", ["emulator2_port", "emulators_port"])
def test_name_of_one_word_is_too_near_to_those_of_others(variable):
    assert unknown_variables("emulator", [variable]) == []
