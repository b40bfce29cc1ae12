# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What `make files` writes: a line for each Python file, in its own words."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

REPOSITORY = Path(__file__).parents[3]
FILES = SimpleNamespace(**runpy.run_path(str(REPOSITORY / "tools/files")))


@pytest.fixture(scope="module")
def lines():
    """The line of each file, by its path."""
    return {path: FILES.line_of(path) for roots in FILES.SECTIONS.values() for path in FILES.listed(*roots)}


def test_files_page_matches_the_files():
    assert FILES.PAGE.read_text() == FILES.page(), "docs/dev/files.md is not what `make files` writes"


def test_every_kind_of_file_is_listed(lines):
    names = {str(path.relative_to(REPOSITORY)) for path in lines}
    assert names > {
        "plugins/module_utils/_waiting/poll_pauses.py",
        "plugins/modules/task.py",
        "roles/emulator/files/ocp_emulator/cli.py",
        "tests/integration/conftest.py",
        "tests/unit/support/fakes.py",
        "tests/unit/test_architecture.py",
        "tools/files",
        "tools/release/__main__.py",
    }


def test_a_line_names_what_no_other_file_does(lines):
    assert {line for line, count in Counter(lines.values()).items() if count > 1} == set()
    assert [path for path, line in lines.items() if len(line.split()) < 4] == []


@pytest.mark.parametrize(
    ("path", "left_out"),
    [
        ("plugins/action/task.py", True),
        ("tests/unit/emulator/tasks/test_engine.py", True),
        ("tests/unit/emulator/tasks/test_invariants.py", False),
        ("tests/unit/emulator/conftest.py", False),
        ("tests/unit/plugins/plugin_utils/test_in_process.py", True),
        ("tests/unit/mesh/test_history.py", True),
        ("tests/unit/tools/test_files.py", True),
        ("tests/unit/tools/test_returns.py", True),
        ("tests/unit/test_contract.py", False),
        ("tests/integration/test_inventory.py", False),
    ],
)
def test_only_what_mirrors_another_file_is_left_out(path, left_out):
    assert (REPOSITORY / path).is_file()
    assert FILES.is_left_out(REPOSITORY / path) == left_out


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ('"""The pauses of a wait.\n\nMore."""\n', "The pauses of a wait."),
        ('"""Which ``a|b`` is read (docs/dev/contract.md, "Times")."""\n', r"Which `a\|b` is read."),
        ('"""The filter."""\nDOCUMENTATION = "short_description: Show tasks"\n', "Show tasks."),
    ],
)
def test_line_is_the_first_of_the_docstring_or_the_short_description(code, line, tmp_path):
    file = tmp_path / "file.py"
    file.write_text(code)
    assert FILES.line_of(file) == line


@pytest.mark.parametrize("code", ["", "import os\n", '"""\n\n"""\n'])
def test_file_without_a_line_is_named(code, tmp_path):
    file = tmp_path / "file.py"
    file.write_text(code)
    with pytest.raises(SystemExit, match=r"file\.py has no docstring"):
        FILES.line_of(file)
