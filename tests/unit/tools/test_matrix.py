# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What `make matrix` installs, and that the pages and files beside it say the same."""

from __future__ import annotations

import re
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def matrix():
    """The command, which has no suffix, as a module."""
    # dataclasses look their module up.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        loader = SourceFileLoader("ocp_matrix", str(REPOSITORY / "tools/matrix"))
        module = module_from_spec(spec_from_loader(loader.name, loader))
        patch.setitem(sys.modules, loader.name, module)
        loader.exec_module(module)
        yield module


@pytest.fixture
def table(matrix, monkeypatch, capsys, tmp_path):
    """Run the command with nothing installed and nothing run but for what is given; returns its end and its table.

    What is below the table is a row too.
    """

    def run(*, pythons=("3.11", "3.12", "3.13"), failing=None, core=None):
        def outcome(environment, _arguments=None):
            return "FAILED" if environment.core == failing else "well"

        monkeypatch.setattr(matrix, "BUILD", tmp_path)
        monkeypatch.setattr(matrix, "find_python", lambda version: f"/{version}" if version in pythons else None)
        monkeypatch.setattr(matrix.Environment, "make", lambda _self: None)
        monkeypatch.setattr(matrix.Environment, "test", outcome)
        monkeypatch.setattr(matrix.Environment, "sanity", outcome)
        monkeypatch.setattr(matrix.Environment, "installed", lambda _self, package: f"<{package}>")
        failed = matrix.main(core)
        lines = [re.split(r" {2,}", line) for line in capsys.readouterr().out.splitlines()]
        return failed, [line for line in lines if len(line) > 1 or line[0].startswith("NOT RUN")]

    return run


def test_only_the_first_environment_has_the_oldest_libraries(matrix):
    first, *others = (
        matrix.Environment(core, python)
        for core, pythons in {**matrix.SUPPORTED, **matrix.TO_COME}.items()
        for python in pythons
    )
    assert first.versions() == ["ansible-core==2.18.*", *matrix.OLDEST_LIBRARIES]
    assert [other for other in others if len(other.versions()) != 1] == []


def test_upcoming_version_may_be_a_prerelease(matrix):
    [(core, [python, *_others])] = matrix.TO_COME.items()
    assert matrix.Environment(core, python).versions() == [f"ansible-core=={core}.*,>={core}.0b1"]


def test_oldest_libraries_match_requirements_and_readme(matrix):
    requests, urllib3 = (Requirement(each) for each in matrix.OLDEST_LIBRARIES)
    [floor] = [line for line in (REPOSITORY / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    assert str(requests.specifier) == str(Requirement(floor).specifier).replace(">=", "==") + ".0"
    named = "requests {} with urllib3 {}".format(*(str(each.specifier)[2:] for each in (requests, urllib3)))
    assert named in (REPOSITORY / "README.md").read_text().replace("\n", " ")


def test_oldest_ansible_core_matches_the_requirement(matrix):
    required = yaml.safe_load((REPOSITORY / "meta/runtime.yml").read_text())["requires_ansible"]
    assert required == f">={matrix.OLDEST[0]}.0"


def test_packages_that_are_tested_once_for_each_python_import_nothing_of_ansible(matrix):
    sources = [
        path.read_text()
        for name in matrix.WITHOUT_CORE
        for path in (REPOSITORY / "plugins/module_utils" / name).rglob("*.py")
    ]
    assert len(sources) > 40
    assert [text for text in sources if re.search(r"^\s*(from|import) ansible\b", text, re.MULTILINE)] == []


def test_unit_tests_of_these_are_left_out_where_the_python_had_them(matrix):
    (first, *smoke), (later, *smoke_later) = matrix.tests(is_first=True), matrix.tests(is_first=False)
    assert (first[0], smoke) == (later[0], smoke_later)
    assert [word for word in later if word not in first] == [
        f"--ignore=tests/unit/plugins/module_utils/{name}" for name in matrix.WITHOUT_CORE
    ]
    assert all((REPOSITORY / word.partition("=")[2]).is_dir() for word in later if word.startswith("--ignore"))


def test_row_shows_the_libraries_used(table):
    failed, [titles, first, *rows] = table()
    assert not failed
    assert titles == ["ansible-core", "Python", "requests", "unit", "integration", "sanity"]
    assert first == ["<ansible-core>", "3.11", "<requests> (urllib3 <urllib3>)", "well", "well", "on the newest"]
    assert {len(row) for row in rows} == {len(titles)}


def test_an_ansible_core_without_a_python_has_a_row(table):
    failed, [*_others, last] = table(pythons=["3.11", "3.12"])
    assert not failed
    assert last == ["2.22", "no 3.13 or 3.14 or 3.15", "none", "not run", "not run", "not run"]


@pytest.mark.parametrize("core", [None, "2.20"])
def test_a_supported_ansible_core_without_a_python_is_not_run(core, table):
    failed, [*rows, last] = table(pythons=["3.11"], core=core)
    assert failed
    assert ["2.20", "no 3.12 or 3.13 or 3.14", "none", "not run", "not run", "not run"] in rows
    assert last == [f"NOT RUN: ansible-core {core or '2.20, 2.21'} has no Python here."]


def test_one_ansible_core_runs_alone(table):
    failed, [_titles, *rows] = table(core="2.19")
    assert not failed
    assert [row[1] for row in rows] == ["3.11", "3.13"]


def test_an_unknown_ansible_core_is_refused(matrix):
    with pytest.raises(SystemExit, match=r"^matrix: 2\.17 is not a version of ansible-core; give one of 2\.18, "):
        matrix.main("2.17")


@pytest.mark.parametrize(("core", "fatal"), [("2.18", True), ("2.21", True), ("2.22", False)])
def test_failure_on_the_upcoming_version_is_not_fatal(core, fatal, table):
    failed, rows = table(failing=core)
    assert failed is fatal
    assert any("FAILED" in row for row in rows)
