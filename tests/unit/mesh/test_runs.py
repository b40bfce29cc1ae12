# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from runs import Check

ROOT = Path(__file__).parents[3]
SOURCES = [ROOT / "extensions/mesh" / name for name in ("__main__.py", "runs.py")]


def said(path):
    """A pattern for each text of a source that is shown, with anything in the place of what is put in."""
    for node in ast.walk(ast.parse(path.read_text())):
        shown = []
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("say", "check", "_prepared"):
            shown = node.args
        elif isinstance(node, ast.FunctionDef) and node.name == "_ended":
            shown = [node.body[-1].value]
        for text in shown:
            parts = text.values if isinstance(text, ast.JoinedStr) else [text]
            if all(isinstance(part, ast.FormattedValue | ast.Constant) for part in parts):
                yield "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*" for part in parts)


def test_page_shows_what_the_runs_say():
    page = (ROOT / "docs/scale.md").read_text()
    [recorded] = [block for block in re.findall(r"^```text\n(.*?)^```", page, re.M | re.S) if "Receptor" in block]
    patterns = {pattern.strip(r"\ ") for path in SOURCES for pattern in said(path) if re.search("[a-z]", pattern)}
    # Without the table.
    lines = [
        line for line in (line.strip().removesuffix(": yes") for line in recorded.splitlines()) if "  " not in line
    ]
    assert [line for line in lines if not any(re.fullmatch(pattern, line) for pattern in patterns)] == []
    # And each promise is there.
    promises = {line.strip() for line in recorded.splitlines() if line.endswith(": yes")}
    assert len(promises) >= 12


@pytest.fixture
def lines():
    return []


@pytest.fixture
def check(lines):
    return Check(lines.append)


def test_promise_that_was_kept_is_shown(check, lines):
    check("slices disjoint", [])
    assert (lines, check.failed) == (["  slices disjoint: yes"], 0)


def test_promise_that_was_broken_is_shown_with_what_is_wrong_and_fails(check, lines):
    check("slices disjoint", [f"host{number} is in 2 slices" for number in range(12)])
    assert lines[:2] == ["  slices disjoint: NO", "    host0 is in 2 slices"]
    assert lines[-1] == "    and 2 more"
    assert len(lines) == 12
    assert check.failed == 1
