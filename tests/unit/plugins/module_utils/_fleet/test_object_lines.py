# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The line of each object of an info module in ``detail: compact``."""

from __future__ import annotations

import importlib

import pytest
import yaml
from ansible_collections.oceanbase.ocp.plugins.module_utils._fleet.object_lines import (
    line_of,
    parameter_line,
    task_line,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import raw_task, step
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import COLLECTION, MODULES, definition_of

INFO_MODULES = [name for name in MODULES if name.endswith("_info")]


def documented_objects(module: str) -> set[str]:
    """The keys of its result whose values are objects."""
    told = yaml.safe_load(importlib.import_module(f"{COLLECTION}.plugins.modules.{module}").RETURN)
    return {key for key, facts in told.items() if "dict" in (facts["type"], facts.get("elements"))}


def test_line_has_what_has_a_value():
    facts = {"name": "a", "id": 1, "zone": None, "idc": "", "count": 0, "root": True, "late": False, "tags": []}
    assert line_of("name", *(key for key in facts if key != "name"))(facts) == "a id=1 count=0 root=true"


def test_line_of_an_object_without_its_name():
    assert line_of("name", "status")({"name": None, "status": "RUNNING"}) == "? status=RUNNING"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ([{"name": "zone1", "status": "RUNNING", "servers": 2}, {"name": "zone2"}], "[zone1 RUNNING, zone2]"),
        ([{"kind": "server", "address": "10.0.0.1:2882"}], "[10.0.0.1:2882]"),
        (["a", None, "b"], "[a, b]"),
        ({"stack_size": "5M"}, "stack_size 5M"),
    ],
)
def test_objects_inside_an_object_are_named(value, shown):
    assert line_of("name", "more")({"name": "a", "more": value}) == f"a more={shown}"


def test_task_line_says_where_it_failed():
    steps = [step(1, "Stop it", "SUCCESSFUL"), step(2, "Start it", "FAILED"), step(3, "Check it")]
    task = Task.from_api(raw_task(5, "FAILED", subtasks=steps)).result()
    assert task_line(task) == "5 name=Restart 5 status=FAILED done=1/3 failed_at=[Start it]"


def test_task_line_says_what_it_does():
    steps = [step(1, "Stop it", "SUCCESSFUL"), step(2, "Start it", "RUNNING")]
    task = Task.from_api(raw_task(5, "RUNNING", subtasks=steps)).result()
    assert task_line(task) == "5 name=Restart 5 status=RUNNING done=1/2 now=[Start it]"


def test_parameter_line_counts_the_servers_of_each_value():
    facts = {"name": "stack_size", "server_values": {"a": "5M", "b": "5M", "c": "512K"}, "needs_restart": True}
    assert parameter_line(facts) == "stack_size value=[5M on 2, 512K on 1] needs_restart=true"
    assert parameter_line({**facts, "server_values": {"a": "5M"}}) == "stack_size value=5M needs_restart=true"
    gone = {"a": "5M", "b": None}
    assert parameter_line({"name": "stack_size", "server_values": gone}) == "stack_size value=[5M on 1, unknown on 1]"
    assert parameter_line({"name": "stack_size", "server_values": None}) == "stack_size"


@pytest.mark.parametrize("name", INFO_MODULES)
def test_each_info_module_has_lines_for_what_it_documents(name):
    lines = definition_of(name).lines
    assert lines.keys() == documented_objects(name)
    assert {line({}) for line in lines.values()} == {"?"}
