# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Modules that restart describe their options in groups, the required ones first: ansible-doc sorts them by name."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

PLUGINS = "ansible_collections.oceanbase.ocp.plugins"
RESTARTS = sorted(path.stem for path in (Path(__file__).parents[2] / "plugins/modules").glob("*_restart.py"))
NAMED = re.compile(r"O\((\w+)\)")


def documentation(module: str) -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load(importlib.import_module(f"{PLUGINS}.modules.{module}").DOCUMENTATION)
    for fragment in told["extends_documentation_fragment"]:
        shared = importlib.import_module(f"{PLUGINS}.doc_fragments.{fragment.rpartition('.')[2]}").ModuleDocFragment
        told["options"] = {**yaml.safe_load(shared.DOCUMENTATION).get("options", {}), **told["options"]}
    return told


def groups(told: dict[str, Any]) -> dict[str, list[str]]:
    """The options of each group by its name."""
    rows = [
        text.partition(" - ") for text in told["description"] if re.fullmatch(r"[A-Z][\w, ]+ - (O\(\w+\)[,.] ?)+", text)
    ]
    return {name.partition(",")[0]: NAMED.findall(options) for name, _dash, options in rows}


def required(module: str, told: dict[str, Any]) -> set[str]:
    """The options that are required, and those of which one is."""
    definition = importlib.import_module(f"{PLUGINS}.modules.{module}").DEFINITION
    alternatives = {name for names in definition.rules.get("required_one_of", ()) for name in names}
    return {name for name, facts in told["options"].items() if facts.get("required")} or alternatives


@pytest.mark.parametrize("module", RESTARTS)
def test_each_option_is_in_one_group_and_the_required_come_first(module):
    told = documentation(module)
    found = groups(told)
    assert next(iter(found)) == "Required"
    assert set(found["Required"]) == required(module, told)
    assert sorted(name for names in found.values() for name in names) == sorted(told["options"])


def test_groups_have_the_same_names_in_the_same_order():
    order = [*groups(documentation("server_restart"))]
    assert len(order) > 5
    for module in RESTARTS:
        named = [*groups(documentation(module))]
        assert named == [name for name in order if name in named]
