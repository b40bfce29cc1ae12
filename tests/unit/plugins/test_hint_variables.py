# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Each role and playbook gives its modules the variables that their messages name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2.nativetypes
import pytest
import yaml
from ansible_collections.oceanbase.ocp.plugins.lookup.unknown_variables import unknown_variables

ROOT = Path(__file__).parents[3]
MODULE = "oceanbase.ocp."
# Its text is that of the playbook.
TEXT = "oceanbase.ocp.text_display"
TEMPLATES = jinja2.nativetypes.NativeEnvironment()
TEMPLATES.filters["combine"] = lambda one, other: {**one, **other}


# Files of tasks that a playbook includes.
PARTS = {"arbitration_service": "arbitration_service_rolling_restart", "values_of_before": "parameter_rollout"}


def tasks_of(value: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Each task of a module of the collection: the module, its options, and what it loops over."""
    if isinstance(value, list):
        for each in value:
            yield from tasks_of(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key.startswith(MODULE) and key != TEXT:
                yield key.removeprefix(MODULE), each, str(value.get("loop", ""))
            else:
                yield from tasks_of(each)


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text()) if path.is_file() else {}


def pages() -> Iterator[Any]:
    """Each file with tasks, with the name of its role or playbook, the defaults of modules there, and the variables."""
    for path in sorted((ROOT / "roles").glob("*/tasks/**/*.yml")):
        name = path.relative_to(ROOT / "roles").parts[0]
        yield pytest.param(path, name, {}, read(ROOT / "roles" / name / "vars/main.yml"), id=name_of(path))
    for path in sorted((ROOT / "playbooks").glob("**/*.yml")):
        name = PARTS.get(path.stem, path.stem)
        play = read(ROOT / "playbooks" / f"{name}.yml")
        if name != "demo" and play:  # it has no variables
            defaults = play[0].get("module_defaults", {}).get("group/oceanbase.ocp.ocp", {})
            yield pytest.param(path, name, defaults, play[0].get("vars", {}), id=name_of(path))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def rendered(value: Any, variables: dict[str, Any]) -> dict[str, str]:
    """The dictionary that a template, possibly of templates, stands for; what is not set there is left out."""
    if isinstance(value, str):
        inner = {name: rendered(each, variables) for name, each in variables.items() if f"{name} " in value}
        return TEMPLATES.from_string(value).render(inner)
    return value or {}


def given_in(value: Any, loop: str, name: str) -> set[str]:
    """The variables of the user that can become the value of an option, not those of a condition or a batch's size."""
    text = f"{value} {loop if 'item' in str(value) else ''}"
    values = re.sub(r" if .*?(?= else |\s*\}\})|\| batch\(.*", "", text)
    return {found for found in re.findall(rf"\b{name}_[a-z]\w*", values) if not unknown_variables(name, [found])}


@pytest.mark.parametrize(("path", "name", "defaults", "variables"), [*pages()])
def test_each_option_that_a_user_gives_has_the_name_of_its_variable(path, name, defaults, variables):
    for module, own, loop in tasks_of(read(path)):
        options = {**defaults, **own}
        hints = rendered(options.pop("hint_variables", {}), variables)
        for option, value in options.items():
            given = given_in(value, loop, name)
            assert not given or hints.get(option) in given, (module, option, given)


def test_variables_of_a_user_are_found():
    """The test above would find nothing wrong if it found no variable."""
    found = {
        (module, option): given_in(value, loop, "parameter_rollout")
        for module, options, loop in tasks_of(read(ROOT / "playbooks/parameter_rollout.yml"))
        for option, value in options.items()
    }
    assert found["cluster_parameter", "parameters"] == {"parameter_rollout_values"}
    assert found["cluster_parameter", "cluster"] == {"parameter_rollout_clusters"}
