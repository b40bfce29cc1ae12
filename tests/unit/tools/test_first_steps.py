# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""`make first-steps`: what counts as a proof, when it is too slow, and whose environment it has."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

REPOSITORY = Path(__file__).parents[3]
STEPS = SimpleNamespace(**runpy.run_path(str(REPOSITORY / "tools/first-steps")))


@pytest.mark.parametrize(("seconds", "factor", "verdict"), [(60, 1, "ok"), (60.1, 1, "TOO SLOW"), (100, 2, "ok")])
def test_limit_decides(seconds, factor, verdict):
    assert STEPS.PROVEN.line(seconds, factor).startswith(verdict)


@pytest.mark.parametrize(
    ("line", "is_proof"),
    [
        ("10.0.0.1:2882  task 1001 SUCCESSFUL in 2.6 s; started 03:00:01, before 02:00:00", True),
        ("  10.0.0.1:2882 RUNNING, started 2026-10-24T16:37:19+08:00 -> 2026-11-23T16:37:25+08:00", True),
        ("10.0.0.1:2882  task 1001 SUCCESSFUL in 2.6 s; not verified", False),
        ("    msg: 'skipped: 10.0.0.1:2882 started at 03:00:01, not before 02:00:00'", False),
    ],
)
def test_only_a_new_start_is_a_proof(line, is_proof):
    assert bool(STEPS.PROOF.search(f"before\n{line}\nafter")) is is_proof


def test_new_user_has_no_caches_and_no_settings(monkeypatch, tmp_path):
    for name in ("OCP_URL", "ANSIBLE_CONFIG", "MAKEFLAGS", "VIRTUAL_ENV", "PYTHONPATH", "UV_CACHE_DIR"):
        monkeypatch.setenv(name, "x")
    found = STEPS.environment(tmp_path)
    assert {"OCP_URL", "ANSIBLE_CONFIG", "MAKEFLAGS", "VIRTUAL_ENV", "PYTHONPATH", "UV_CACHE_DIR"}.isdisjoint(found)
    assert found["XDG_CACHE_HOME"].startswith(str(tmp_path))


def test_command_that_fails_is_shown_with_its_output(tmp_path):
    with pytest.raises(STEPS.Unmet, match="ended with 3:\nno restart"):
        STEPS.run([sys.executable, "-c", "print('no restart'); exit(3)"], tmp_path, {})


def test_page_has_a_test_of_at_most_ten_lines_and_its_playbook():
    page = (REPOSITORY / STEPS.PAGE).read_text()
    assert len([line for line in STEPS.blocks(page, "python")[0].splitlines() if line]) <= STEPS.MOST_LINES
    assert "restart.yml" in STEPS.blocks(page, "python")[0]
    assert "oceanbase.ocp." in STEPS.blocks(page, "yaml")[0]
