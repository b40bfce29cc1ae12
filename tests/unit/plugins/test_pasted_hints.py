# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Every option that a message can propose, pasted as it is printed: into an ad-hoc command, and after a playbook."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.parsing.splitter import parse_kv
from ansible.utils.vars import load_extra_vars
from ansible_collections.oceanbase.ocp.plugins.lookup.unknown_variables import unknown_variables
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.cli_hints import (
    BY_OPTIONS,
    Hints,
    adhoc_command,
    start_command,
    waiting,
    ways_on,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import MODULES, definition_of

ROOT = Path(__file__).parents[3]
HINT = re.compile(r"""\bhints\.(?:given|named)\(["'](\w+)["']""")
# A value of each kind that the code proposes.
VALUES = {
    "safety": "none",
    "tolerate_outage_of": "sys,cart",
    "safety_timeout": "600",
    "in_flight": "queue",
    "max_failures": "2",
    "max_servers": "400",
    "judged_tasks": "1001,1002",
    "most_down": "idc=1",
    "stop_on": "alarms,backup",
    "waves": "true",
    "strategy": "server",
    "approved_plan": "/ops/plan.json",
    "offline_budget": "warn",
    "min_zones": "2",
}
LISTS = {"tolerate_outage_of": ["sys", "cart"], "judged_tasks": [1001, 1002], "stop_on": ["alarms", "backup"]}
PAGES = {
    "rolling_restart": "roles/rolling_restart/vars/main.yml",
    "parameter_rollout": "playbooks/parameter_rollout.yml",
    "fleet_restart": "playbooks/fleet_restart.yml",
    "arbitration_service_rolling_restart": "playbooks/arbitration_service_rolling_restart.yml",
    "agent_rolling_restart": "playbooks/agent_rolling_restart.yml",
    "ocp_check": "playbooks/ocp_check.yml",
    "ocp_status": "playbooks/ocp_status.yml",
    "task_report": "playbooks/task_report.yml",
    "wait_for_restart": "roles/wait_for_restart/vars/main.yml",
}


def variables_of(name):
    """The variables by which the users of this role or playbook give options."""
    return next(_named(yaml.safe_load((ROOT / PAGES[name]).read_text())))


def _named(value):
    if isinstance(value, list):
        for each in value:
            yield from _named(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if str(key).endswith("hint_variables") and isinstance(each, dict):
                yield each
            else:
                yield from _named(each)


def proposed():
    texts = [path.read_text() for path in (ROOT / "plugins").rglob("*.py")]
    return {option for text in texts for option in HINT.findall(text)}


def test_every_option_that_is_proposed_has_a_value_here():
    assert proposed() == VALUES.keys()


@pytest.mark.parametrize("option", VALUES)
def test_option_is_taken_by_an_ad_hoc_command_as_it_is_printed(option):
    modules = [name for name in MODULES if option in definition_of(name).argument_spec]
    assert modules
    pasted = parse_kv(BY_OPTIONS.given(option, VALUES[option]))
    for name in modules:
        spec = {option: definition_of(name).argument_spec[option]}
        found = ArgumentSpecValidator(spec).validate(pasted)
        assert not found.error_messages, (name, found.error_messages)
        if option in LISTS:
            assert found.validated_parameters[option] == LISTS[option]


@pytest.mark.parametrize("name", PAGES)
def test_variables_of_a_role_or_playbook_are_taken_as_they_are_printed(name, monkeypatch):
    hints = Hints(variables_of(name))
    proposable = {option: variable for option, variable in hints.variables.items() if option in VALUES}
    words = [hints.given(option, VALUES[option]) for option in proposable]
    flags = shlex.split(" ".join(words))
    assert flags[::2] == ["-e"] * len(words)
    monkeypatch.setattr("ansible.context.CLIARGS", {"extra_vars": tuple(flags[1::2])})
    monkeypatch.setattr(load_extra_vars, "extra_vars", None, raising=False)
    given = load_extra_vars(None)
    assert given == {variable: VALUES[option] for option, variable in proposable.items()}
    roles = {name, "rolling_restart"} if name == "parameter_rollout" else {name}
    every = dict.fromkeys(hints.variables.values(), "")
    assert [sentence for role in roles for sentence in unknown_variables(role, every)] == []
    specs = yaml.safe_load((ROOT / "roles/rolling_restart/meta/argument_specs.yml").read_text())
    options = specs["argument_specs"]["main"]["options"]
    own = {variable: options[variable] for variable in given if variable in options}
    spec = {variable: {key: each[key] for key in ("type", "elements") if key in each} for variable, each in own.items()}
    assert not ArgumentSpecValidator(spec).validate({variable: given[variable] for variable in own}).error_messages


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("clusters: b matches nothing.", "rolling_restart_clusters: b matches nothing."),
        ("clusters, zones: both: no.", "rolling_restart_clusters, zones: both: no."),
        ("Did not restart clusters: no.", "Did not restart clusters: no."),
        ("No colon.", "No colon."),
    ],
)
def test_refusal_of_an_option_names_its_variable(message, told):
    assert Hints({"clusters": "rolling_restart_clusters"}).by_caller(message) == told
    assert BY_OPTIONS.by_caller(message) == message


def test_option_without_a_variable_is_not_proposed():
    hints = Hints({"change": "rolling_restart_change"})
    assert hints.given("safety", "none") == ""
    assert waiting("that has ended", hints, 0.0) == "wait until that has ended"
    assert ways_on("", "") == ""
    assert ways_on("", f"ask for {BY_OPTIONS.given('safety', 'none')}") == "To go on, ask for safety=none this time."


def test_wait_that_is_proposed_is_longer_than_the_one_before():
    assert waiting("it is", BY_OPTIONS, 10.0) == "wait until it is with safety_timeout=600"
    assert waiting("it is", BY_OPTIONS, 900.5) == "wait until it is with safety_timeout=1801"
    role = Hints({"safety_timeout": "rolling_restart_gate_timeout"})
    assert waiting("it is", role, 10.0) == "wait until it is with -e rolling_restart_gate_timeout=600"


@pytest.mark.parametrize("change", ["memory-2", "memory of May", "a=b", "#7"])
def test_name_of_a_change_is_pasted_as_it_is(change):
    arguments = shlex.split(start_command(1, "10.0.0.1:2882", change))[-1]
    assert parse_kv(arguments)["change"] == change


@pytest.mark.parametrize("change", [None, "it's", 'the "new" one', "a\\b", "{{ x }}"])
def test_name_that_cannot_be_pasted_is_left_out(change):
    assert "change" not in start_command(1, "10.0.0.1:2882", change)


# Values of the options in the commands that a failure prints, where the code computes them.
COMPUTED = {
    "task_id": 1001,
    "task_ids": "1001,1002",
    "subtask_id": 50006,
    "cluster": 1,
    "server": "10.0.0.1:2882",
    "change": "memory-2",
    "hosts": "10.0.0.1",
    "arbitration_service": "10.0.0.8:2888",
    "obproxy_cluster": 1,
    "obproxies": "10.0.0.1:2883",
}


def printed_commands():
    """Each call of ``adhoc_command`` in the code: the module, and the options as far as they are written there."""
    for path in sorted((ROOT / "plugins").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "adhoc_command":
                [module] = [argument.value for argument in node.args]
                given = {
                    each.arg: each.value.value if isinstance(each.value, ast.Constant) else COMPUTED[each.arg]
                    for each in node.keywords
                }
                yield pytest.param(module, given, id=f"{path.stem} {module} {given.get('state', '')}")


@pytest.mark.parametrize(("module", "given"), list(printed_commands()))
def test_command_that_a_failure_prints_is_taken_by_its_module(module, given):
    program, host, flag, name, option, arguments = shlex.split(adhoc_command(module, **given))
    assert (program, host, flag, name, option) == ("ansible", "localhost", "-m", f"oceanbase.ocp.{module}", "-a")
    definition = definition_of(module)
    found = ArgumentSpecValidator(definition.argument_spec, **definition.rules).validate(parse_kv(arguments))
    assert not found.error_messages
    assert found.validated_parameters["detail"] in ("compact", "summary")


def texts_of_playbooks():
    """What templates, tasks and variables of roles and playbooks say, without comments."""
    for folder in ("roles", "playbooks"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".j2", ".yml") and "files" not in path.parts:
                lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
                yield pytest.param("\n".join(lines), id=str(path.relative_to(ROOT)))


@pytest.mark.parametrize("text", list(texts_of_playbooks()))
def test_variable_with_a_value_is_printed_as_it_is_given(text):
    names = "|".join(PAGES)
    # "and rolling_restart_max_failures=0" tells what is given.
    wrong = re.findall(rf"(?<!-e )(?<!and )\b(?:{names})_[a-z_]+=[^=]", text)
    assert wrong == []


def test_vague_hints_are_not_printed():
    """Names of tenants are known where they are to be tolerated."""
    for text in texts_of_playbooks():
        assert "name the tenants in" not in text.values[0]
