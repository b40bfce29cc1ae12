# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which version may follow which, which sections it may have, and what the changelog has to call new."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

TOOLS = Path(__file__).parents[3] / "tools/release"
RULES = SimpleNamespace(**runpy.run_path(str(TOOLS / "release_rules.py")))
OBJECTS = SimpleNamespace(**runpy.run_path(str(TOOLS / "new_objects.py")))
MAJOR, MINOR, PATCH = "2.0.0", "1.1.0", "1.0.1"


@pytest.mark.parametrize(
    ("version", "kind"),
    [("1.0.0", "major"), ("2.0.0-rc.1", "major"), ("1.1.0", "minor"), ("1.1.0-rc.1", "minor"), ("0.0.1", "patch")],
)
def test_kind_of_a_version(version, kind):
    assert RULES.kind(version) == kind


@pytest.mark.parametrize(
    ("section", "refused"),
    [
        ("breaking_changes", [MINOR, PATCH]),
        ("removed_features", [MINOR, PATCH]),
        ("major_changes", [PATCH]),
        ("minor_changes", [PATCH]),
        ("deprecated_features", [PATCH]),
        ("security_fixes", []),
        ("bugfixes", []),
        ("known_issues", []),
        ("release_summary", []),
    ],
)
def test_section_decides_which_versions_are_refused(section, refused):
    fragments = {"other.yml": {"trivial": ["x"]}, "quorum.yml": {"bugfixes": ["x"], section: ["x"]}}
    said = {version: RULES.wrong_section(version, fragments, ["1.0.0"]) for version in (MAJOR, MINOR, PATCH)}
    assert [version for version, reason in said.items() if reason] == refused
    assert all(f"quorum.yml has {section}, which needs a" in reason for reason in said.values() if reason)


@pytest.mark.parametrize(
    ("section", "refused"),
    [
        ("breaking_changes", True),
        ("deprecated_features", True),
        ("removed_features", True),
        ("security_fixes", True),
        ("bugfixes", True),
        ("major_changes", False),
        ("minor_changes", False),
        ("known_issues", False),
    ],
)
def test_first_release_changes_nothing_that_was_released(section, refused):
    assert bool(RULES.wrong_section("1.0.0", {"quorum.yml": {section: ["x"]}}, [])) is refused


@pytest.mark.parametrize(
    ("version", "released", "refused"),
    [
        ("1.0.0", [], False),
        ("1.10.0", ["1.9.0", "1.2.0"], False),
        ("1.9.1", ["1.10.0", "1.9.0"], True),
        ("1.1.0", ["1.1.0-rc.1"], False),
        ("1.1.0-rc.1", ["1.1.0"], True),
    ],
)
def test_version_has_to_be_newer_than_all_released(version, released, refused):
    assert bool(RULES.wrong_version(version, released)) is refused


@pytest.mark.parametrize(("version", "refused"), [(MAJOR, False), (MINOR, False), (PATCH, True)])
def test_patch_version_has_nothing_new(version, refused):
    assert bool(RULES.wrong_novelty(version, ["fleet_restart"])) is refused
    assert RULES.wrong_novelty(version, []) is None


@pytest.fixture
def collection(tmp_path):
    for name in ("modules/task.py", "modules/__init__.py", "action/task.py", "filter/table.py", "plugin_utils/_x.py"):
        path = tmp_path / "plugins" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "roles/wait").mkdir(parents=True)
    (tmp_path / "playbooks/vars").mkdir(parents=True)
    (tmp_path / "playbooks/report.yml").write_text(
        "---\n# Report a task, e.g. its\n# log. For more, see it.\n- name: x\n"
    )
    return tmp_path


def test_modules_plugins_roles_and_playbooks_have_to_be_called_new(collection):
    everything = ["filter table", "module task", "playbook report", "role wait"]
    assert OBJECTS.without_release(collection, {}) == everything
    first = {"modules": [{"name": "task"}], "plugins": {"filter": [{"name": "table"}]}}
    second = {"objects": {"role": [{"name": "wait"}], "playbook": [{"name": "report"}]}}
    assert OBJECTS.without_release(collection, {"1.0.0": first}) == ["playbook report", "role wait"]
    assert OBJECTS.without_release(collection, {"1.0.0": first, "1.1.0": second}) == []
    # A module is not new because a filter of its name was.
    swapped = {"modules": [{"name": "table"}], "plugins": {"filter": [{"name": "task"}]}}
    assert OBJECTS.without_release(collection, {"1.0.0": swapped}) == everything


def test_playbooks_of_no_release_are_called_new_by_their_first_sentence(collection):
    assert OBJECTS.playbook_fragment(collection, {}) == (
        "add object.playbook:\n- description: Report a task, e.g. its log\n  name: report\n"
    )
    assert OBJECTS.playbook_fragment(collection, {"1.0.0": {"objects": {"playbook": [{"name": "report"}]}}}) == ""
