# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The lines of docs/dev/conventions.md that no other tool checks."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "plugins/modules").glob("*.py"))
OTHERS = [
    path
    for kind in ("callback", "filter", "inventory", "lookup")
    for path in sorted((ROOT / "plugins" / kind).glob("*.py"))
]
ROLES = sorted(path for path in (ROOT / "roles").iterdir() if path.is_dir())
NAMED = {"ids": lambda path: path.stem}
# What partner certification does not let a collection skip.
ENFORCED = {
    *("risky-shell-pipe", "command-instead-of-shell", "meta-no-info", "package-latest", "no-handler"),
    *("no-log-password", "meta-runtime[unsupported-version]", "no-changed-when", "risky-file-permissions"),
    *("command-instead-of-module", "unnamed-task"),
}


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text())


@cache
def documentation(path: Path) -> dict[str, Any]:
    plugin = importlib.import_module(f"ansible_collections.oceanbase.ocp.plugins.{path.parent.name}.{path.stem}")
    return yaml.safe_load(getattr(plugin, "ModuleDocFragment", plugin).DOCUMENTATION)


def attributes(told: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a module and of its fragments, as ansible-doc puts them together."""
    names = [fragment.rpartition(".")[2] for fragment in told["extends_documentation_fragment"]]
    fragments = [documentation(ROOT / f"plugins/doc_fragments/{name}.py").get("attributes", {}) for name in names]
    merged: dict[str, Any] = {}
    for each in [*fragments, told.get("attributes", {})]:
        for name, facts in each.items():
            merged[name] = {**merged.get(name, {}), **facts}
    return merged


@pytest.mark.parametrize("path", MODULES, **NAMED)
def test_module_documents_version_attributes_and_seealso(path):
    told = documentation(path)
    assert re.fullmatch(r"\d+\.\d+\.\d+", told["version_added"])
    found = attributes(told)
    assert all(found[name]["support"] for name in ("check_mode", "diff_mode", "idempotent", "action_group"))
    assert found["check_mode"]["support"] == "full"
    assert told["seealso"]
    assert "oceanbase.ocp.connection" in told["extends_documentation_fragment"]


@pytest.mark.parametrize("path", OTHERS, **NAMED)
def test_other_plugin_documents_its_version(path):
    assert documentation(path)["version_added"]


@pytest.mark.parametrize("path", ROLES, **NAMED)
def test_a_role_tells_its_version(path):
    specs = yaml.safe_load((path / "meta/argument_specs.yml").read_text())["argument_specs"]
    assert all(spec["version_added"] for spec in specs.values())


def test_only_known_folders_are_below_plugins():
    folders = {path.name for path in (ROOT / "plugins").iterdir()} - {"__pycache__"}
    recognised = {
        "action",
        "callback",
        "doc_fragments",
        "filter",
        "inventory",
        "lookup",
        "modules",
        "module_utils",
        "plugin_utils",
    }
    assert folders <= recognised


def test_requirements_have_no_upper_bounds():
    bounds = SpecifierSet(read("meta/runtime.yml")["requires_ansible"])
    lines = [Requirement(line) for line in (ROOT / "requirements.txt").read_text().splitlines() if line[:1] not in "#"]
    assert lines
    assert {bound.operator for bound in [*bounds, *(each for line in lines for each in line.specifier)]} == {">="}
    assert {line.name for line in lines}.isdisjoint({"ansible", "ansible-core"})


def test_ansible_lint_skips_no_enforced_rule():
    settings = read(".ansible-lint")
    assert settings["profile"] == "production"
    assert ENFORCED.isdisjoint([*settings.get("skip_list", []), *settings.get("warn_list", [])])
    excluded = {path.split("/")[0] for path in settings["exclude_paths"]}
    assert excluded.isdisjoint({"plugins", "roles", "playbooks", "meta", "extensions"})


def test_each_module_and_playbook_is_in_the_table_of_what_it_was_tried_with():
    table = (ROOT / "docs/dev/conventions.md").read_text().partition("## Tried with\n")[2]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row[0])]
    assert len(named) == len(set(named))
    playbooks = {path.stem for path in (ROOT / "playbooks").glob("*.yml")} - {"demo"}
    assert {path.stem for path in MODULES} | playbooks <= set(named)
    tests = {name for row in rows for name in re.findall(r"`(test_\w+\.py|tests/\w+)`", " ".join(row[1:]))}
    assert tests >= {"test_documented_service.py", "test_omissions.py", "tests/fuzz"}
    assert [name for name in tests if not any(ROOT.glob(f"tests/**/{name}")) and not (ROOT / name).exists()] == []


def test_there_is_no_ignore_file_of_sanity_tests():
    assert [*(ROOT / "tests").glob("sanity/ignore*")] == []


def test_the_readme_says_where_to_ask_and_how_versions_are_numbered():
    readme = (ROOT / "README.md").read_text()
    [section] = re.findall(r"^## Communication\n(.*?)^## ", readme, re.MULTILINE | re.DOTALL)
    assert "(https://forum.ansible.com/c/help/6)" in section
    assert re.search(r"with the tag `\w+`", section)
    assert "welcome" in section
    assert "[semantic versioning](https://semver.org)" in readme
    assert "Automation Hub" in readme.partition("## Installation\n")[2].partition("\n## ")[0]


def test_readme_does_not_install_ansible():
    assert not re.search(r"pip install ansible(-core)?\b", (ROOT / "README.md").read_text())


@pytest.mark.parametrize(
    "section", ["Requirements", "Installation", "Communication", "Changelog and support", "Licence"]
)
def test_the_readme_has_the_sections_that_red_hat_requires(section):
    assert f"\n## {section}\n" in (ROOT / "README.md").read_text()


# ansible-test asks plugins for the account of a person, or for this mark.
AUTHORS = "contributors of oceanbase.ocp"


@pytest.mark.parametrize("path", [*MODULES, *OTHERS], **NAMED)
def test_authors_of_plugins_are_the_contributors(path):
    assert documentation(path)["author"] == [f"{AUTHORS} (!UNKNOWN)"]


@pytest.mark.parametrize("path", ROLES, **NAMED)
def test_authors_of_roles_are_the_contributors(path):
    role = path.relative_to(ROOT)
    assert read(f"{role}/meta/argument_specs.yml")["argument_specs"]["main"]["author"] == [AUTHORS]
    assert read(f"{role}/meta/main.yml")["galaxy_info"]["author"] == AUTHORS


def test_authors_of_the_collection_are_the_contributors():
    assert read("galaxy.yml")["authors"] == [AUTHORS]


def test_the_readme_begins_with_what_is_official():
    first = " ".join((ROOT / "README.md").read_text().split("\n\n")[1].split())
    assert first.startswith(
        "**This is a community project.** OceanBase and Red Hat do not make, certify or support it."
    )
    assert "it has not been tried on a real OCP" in first


def test_modules_end_with_what_they_do():
    last = {path.stem: path.stem.rpartition("_")[2] for path in MODULES}
    states = {name for name, word in last.items() if word not in ("restart", "info", "wait")}
    # These set the state of the object that they are named after; one clears what is there, and one only displays.
    assert states == {"task", "cluster_parameter", "cluster_offline_time", "restart_journal_clear", "text_display"}


def test_kinds_share_only_the_names_of_the_same_work():
    modules, roles = ({path.stem for path in paths} for paths in (MODULES, ROLES))
    playbooks = {path.stem for path in (ROOT / "playbooks").glob("*.yml")}
    assert (modules & roles, modules & playbooks, roles & playbooks) == (set(), {"fleet_restart"}, {"rolling_restart"})
