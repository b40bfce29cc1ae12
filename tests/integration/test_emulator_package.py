# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The tests on docs/pytest.md: with the fixture from the sources, and with the wheel in an empty environment."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from documentation_blocks import blocks
from ocp_emulator.testing.emulated_ocp import EmulatedOcp
from repository import REPOSITORY

PAGE = "docs/pytest.md"
TESTS = blocks(PAGE, "python")


def write_page(folder: Path) -> None:
    """Put the files of the page into the folder."""
    [playbook] = blocks(PAGE, "yaml")
    (folder / "restart.yml").write_text(playbook)
    for number, test in enumerate(TESTS):
        (folder / f"test_{number}.py").write_text(test)


def run_pytest(python: Path, folder: Path, environment: dict[str, str], *arguments: str) -> str:
    """Run the tests of the page, which all have to pass; returns what pytest printed."""
    run = subprocess.run(
        [python, "-m", "pytest", *arguments],
        cwd=folder,
        env={**os.environ, **environment, "PATH": f"{python.parent}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert f" {len(TESTS)} passed" in run.stdout.splitlines()[-1]
    return run.stdout


def test_page_shows_a_test_of_at_most_ten_lines():
    lines = [line for line in TESTS[0].splitlines() if line]
    assert len(lines) == 5
    assert "ansible-playbook" in TESTS[0]


@pytest.mark.nightly
def test_page_tests_pass(ansible, tmp_path):
    write_page(tmp_path)
    arguments = [
        "-p",
        "ocp_emulator.testing.pytest_plugin",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:schemathesis",
        "-W",
        "error",
    ]
    run_pytest(Path(sys.executable), tmp_path, ansible.variables(), *arguments)


def test_page_shows_the_actual_message():
    [shown] = blocks(PAGE, "text")
    with EmulatedOcp(step_seconds=1) as ocp:
        ocp.faults.plan("subtask", "fail", {"subtask": "Stop server"})
        ocp.clock.stop()
        ocp.control("POST", "/api/v2/ob/clusters/1/servers/1/restart?freezeServer=true")
        ocp.clock.advance(2)
        assert ocp.faults.unused() == shown.rstrip()


@pytest.mark.nightly
def test_wheel_in_an_empty_environment_runs_the_page(ansible, tmp_path):
    uv = [sys.executable, "-m", "uv"]
    [install] = [line for line in "".join(blocks(PAGE, "console")).splitlines() if "pip install" in line]
    folder, copy = tmp_path / "own", tmp_path / "copy"
    folder.mkdir()
    subprocess.run([REPOSITORY / "tools/copy-collection", copy], cwd=REPOSITORY, check=True)
    build = [sys.executable, REPOSITORY / "tools/release/emulator_wheel.py", copy / "ansible_collections/oceanbase/ocp"]
    subprocess.run([*build, folder], check=True)
    subprocess.run([*uv, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    needed = [*shlex.split(install.removeprefix("$ pip install ")), "ansible-core", "requests"]
    subprocess.run([*uv, "pip", "install", "--quiet", "--python", python, *needed], cwd=folder, check=True)
    write_page(folder)
    printed = run_pytest(python, folder, {**ansible.variables(), "ANSIBLE_COLLECTIONS_PATH": str(copy)}, "-W", "error")
    assert re.search(r"^plugins: .*\bocp-emulator-", printed, re.MULTILINE), printed
    command = [python.with_name("ocp-emulator"), "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as served:
        assert served.stdout.readline().startswith("OCP emulator listens on http://127.0.0.1:")
        served.terminate()
    assert served.returncode == 0
