# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The modules accept and return what they document."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any

import pytest
import yaml
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import RESULT_KEYS
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import (
    COLLECTION,
    MODULES,
    OWN,
    RESTARTS,
    ROOT,
    every_module,
)


@cache
def documentation_of(name: str) -> dict[str, Any]:
    module = importlib.import_module(f"{COLLECTION}.plugins.modules.{name}")
    own = yaml.safe_load(module.DOCUMENTATION)
    options: dict[str, Any] = {}
    for fragment in own["extends_documentation_fragment"]:
        shared = importlib.import_module(f"{COLLECTION}.plugins.doc_fragments.{fragment.rpartition('.')[2]}")
        options |= yaml.safe_load(shared.ModuleDocFragment.DOCUMENTATION).get("options", {})
    return {**own, "options": {**options, **own["options"]}}


def specification_of(name: str) -> dict[str, Any]:
    module = importlib.import_module(f"{COLLECTION}.plugins.modules.{name}")
    return module.DEFINITION.argument_spec


def test_all_modules_are_tested():
    assert sorted(OWN) == MODULES


@every_module
def test_documented_options_match_the_argument_spec(name):
    keys = {"type": "str", "elements": None, "required": False, "default": None, "choices": None}
    documented, specified = (
        {option: {key: spec.get(key, usual) for key, usual in keys.items()} for option, spec in options.items()}
        for options in (documentation_of(name)["options"], specification_of(name))
    )
    assert documented == specified


@every_module
def test_environment_variables_are_documented(name):
    for option, spec in documentation_of(name)["options"].items():
        described = re.findall(r"E\((\w+)\)", " ".join(spec["description"]))
        fallback = specification_of(name)[option].get("fallback")
        assert described == (fallback[1] if fallback else [])


@every_module
def test_only_secrets_are_no_log(name):
    secret = {option for option, spec in specification_of(name).items() if spec.get("no_log")}
    assert secret - {"notify_url"} == {"password", "access_key_secret", "journal_url"}


@every_module
def test_documented_name_matches_the_module(name):
    assert documentation_of(name)["module"] == name


@pytest.mark.parametrize("name", RESTARTS)
def test_documented_results_match_the_returned_keys(name):
    module = importlib.import_module(f"{COLLECTION}.plugins.modules.{name}")
    of_their_own = {
        "agent_restart": {"skipped_hosts"},
        "obproxy_restart": {"skipped_obproxies"},
        "server_restart": {"signs", "effective"},
        "zone_restart": {"signs", "effective"},
    }
    own = of_their_own.get(name, set())
    # test_errors_catalogue.py compares the other keys of failures.
    sometimes = {"wait_command", "url", "failed_task_ids", "failed_subtasks", "unfinished_task_ids", "tasks"}
    assert yaml.safe_load(module.RETURN).keys() == RESULT_KEYS | own | sometimes


@pytest.mark.parametrize(
    ("name", "value"), [("task", "task"), ("task_info", "tasks"), ("task_wait", "tasks"), ("server_restart", "task")]
)
def test_task_keys_are_documented(name, value):
    task = Task.from_api({"id": 81, "subtasks": [{"id": 1}]}).result()
    documented = yaml.safe_load(importlib.import_module(f"{COLLECTION}.plugins.modules.{name}").RETURN)[value]
    assert documented["contains"].keys() == task.keys()
    assert documented["contains"]["subtasks"]["contains"].keys() == task["subtasks"][0].keys()


def test_action_group_has_every_module():
    runtime = yaml.safe_load((ROOT / "meta/runtime.yml").read_text())
    assert sorted(runtime["action_groups"]["ocp"]) == MODULES
