# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whatever passes ``started_before`` passes ``change`` too, and the first pages teach the name before the instant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.oceanbase.ocp.plugins.lookup.unknown_variables import unknown_variables
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import (
    MODULES,
    OF_THE_JOURNAL,
    definition_of,
)

ROOT = Path(__file__).parents[2]
# Those of the demo are its own.
FILES = [
    path
    for pattern in ("roles/*/tasks/**/*.yml", "playbooks/**/*.yml")
    for path in sorted(ROOT.glob(pattern))
    if 'started_before: "{{' in path.read_text() and path.stem != "demo"
]
PREFIXES = [
    "rolling_restart",
    "fleet_restart",
    "agent_rolling_restart",
    "arbitration_service_rolling_restart",
    "parameter_rollout",
]


def mappings(node: Any) -> Iterator[dict[str, Any]]:
    """Every mapping of a YAML document."""
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from mappings(inner)


@pytest.mark.parametrize("file", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_task_that_passes_the_instant_passes_the_name(file):
    passed = {
        name.removesuffix("started_before"): (given, each)
        for each in mappings(yaml.safe_load(file.read_text()))
        for name, given in each.items()
        if name.endswith("started_before")
    }
    assert passed
    for prefix, (instant, each) in passed.items():
        [variable] = re.findall(r"\w+_started_before", instant)
        assert each[f"{prefix}change"] == instant.replace(variable, variable.replace("started_before", "change"))


@pytest.mark.parametrize("prefix", PREFIXES)
def test_role_and_playbooks_know_the_name(prefix):
    assert unknown_variables(prefix, [f"{prefix}_change", f"{prefix}_started_before"]) == []


def test_every_module_that_has_the_instant_has_the_name():
    having = {name: definition_of(name).options for name in MODULES}
    dated = {name for name, options in having.items() if "started_before" in options}
    assert dated == {name for name, options in having.items() if "change" in options} - set(OF_THE_JOURNAL)
    assert dated == {name for name in MODULES if name.removesuffix("_info").endswith("_restart")}


@pytest.mark.parametrize("page", ["README.md", "docs/quick-start.md"])
def test_page_teaches_the_name_first_and_cautions(page):
    # What commands print teaches nobody.
    text = re.sub(r"<!-- recording.*?<!-- end -->", "", (ROOT / page).read_text(), flags=re.DOTALL)
    words = re.sub(r"\s+", " ", text).lower()
    assert 0 < text.index("memory-2026-11-20") < text.index("started_before")
    assert re.search(r"make the change before you first use its name[.;] a new change takes a new name\.", words)
