# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What docs/conventions.md says is met and no other tool looks at."""

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
OTHERS = [path for kind in ("filter", "inventory", "lookup") for path in sorted((ROOT / "plugins" / kind).glob("*.py"))]
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
    recognised = {"action", "doc_fragments", "filter", "inventory", "lookup", "modules", "module_utils", "plugin_utils"}
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


def test_readme_does_not_install_ansible():
    assert not re.search(r"pip install ansible(-core)?\b", (ROOT / "README.md").read_text())


@pytest.mark.parametrize("section", ["Requirements", "Changelog and support"])
def test_the_readme_has_the_sections_that_red_hat_requires(section):
    assert f"\n## {section}\n" in (ROOT / "README.md").read_text()


PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "roles").glob("*/README.md")])


@cache
def anchors(page: Path) -> set[str]:
    """What a link into the page can name: its headings, as GitHub and the site write them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_pages_resolve(page):
    astray = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        path, _hash, anchor = link.partition("#")
        target = page.parent / path if path else page
        if "://" not in link and not (target.exists() and (not anchor or anchor in anchors(target))):
            astray.append(link)
    assert astray == []


def names(folder: str, ending: str) -> list[str]:
    return sorted(path.stem for path in (ROOT / folder).glob(f"*{ending}") if path.stem != "__init__")


@pytest.mark.parametrize(
    ("table", "there"),
    [
        ("module", names("plugins/modules", ".py")),
        ("playbook", names("playbooks", ".yml")),
        ("role", sorted(path.name for path in ROLES)),
        ("inventory", names("plugins/inventory", ".py")),
        ("filter", names("plugins/filter", ".py")),
        ("lookup", names("plugins/lookup", ".py")),
        (
            "for `ansible-rulebook`",
            names("extensions/eda/plugins/event_source", ".py") + names("extensions/eda/rulebooks", ".yml"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_contents_page_lists_every_plugin_playbook_and_role(table, there):
    page = (ROOT / "docs/contents.md").read_text()
    rows = re.search(rf"^\| {re.escape(table)} \|.*\n\|-.*\n((?:\|.*\n)+)", page, re.MULTILINE)[1].splitlines()
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])) == sorted(there)


def test_make_targets_on_pages_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        (page.name, target)
        for page in PAGES
        for words in re.findall(r"(?:^\$ |`)make ((?:[a-z-]+ ?)+)", page.read_text(), re.MULTILINE)
        for target in words.split()
    }
    assert {(page, target) for page, target in named if target not in targets} == set()
    assert len(named) > 20


def test_tests_named_on_pages_exist():
    named = {
        (page.name, test) for page in PAGES for test in re.findall(r"`(?:[\w/]+/)?(test_[\w*]+\.py)`", page.read_text())
    }
    assert [(page, test) for page, test in sorted(named) if not [*(ROOT / "tests").rglob(test)]] == []
    assert len(named) > 10


CODE = [
    path
    for folder in ("extensions", "playbooks", "plugins", "roles", "tests", "tools")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.is_file() and path.suffix in ("", ".py", ".yml", ".j2", ".sql")
]


def citations(text: str) -> list[str]:
    """Names of pages, and numbers of sections, which no page of the project has."""
    return re.findall(r"[\w-]+\.md\b|\b[Ss]ections? \d[\d.]*", text)


def test_code_cites_only_pages_of_the_project():
    there = {page.name for page in PAGES}
    files = [path for path in CODE if path != Path(__file__)]
    cited = {(str(path.relative_to(ROOT)), name) for path in files for name in citations(path.read_text())}
    assert {(path, name) for path, name in cited if name not in there} == set()
    assert len(cited) > 20


def test_a_citation_of_another_page_is_found():
    assert citations("As in other.md, section 4.2, and docs/contract.md.") == ["other.md", "section 4.2", "contract.md"]
