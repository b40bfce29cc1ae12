# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""tools/make-venv: an environment that something may run from is not made again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[3] / "tools" / "make-venv"
VERSION = "{}.{}".format(*sys.version_info)


@pytest.fixture
def python(tmp_path):
    """A python that only notes its arguments."""
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\necho "$*" >>"{tmp_path}/called"\n')
    program.chmod(0o755)
    return program


@pytest.fixture
def make(tmp_path, python):
    """Run the tool; returns its exit code, its output and the arguments of python."""

    def run(version=VERSION):
        done = subprocess.run(
            [TOOL, python, version, ".venv"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        called = tmp_path / "called"
        return done.returncode, done.stdout + done.stderr, called.read_text().strip() if called.exists() else None

    return run


@pytest.fixture
def environment(tmp_path):
    folder = tmp_path / ".venv" / "bin"
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(sys.executable)
    return folder


def test_environment_is_made(make):
    assert make() == (0, f"Making .venv with Python {VERSION}\n", "-m venv --clear .venv")


@pytest.mark.usefixtures("environment")
def test_environment_of_the_same_version_keeps_what_is_in_it(make):
    assert make() == (0, f"Completing .venv with Python {VERSION}\n", "-m venv .venv")


@pytest.mark.usefixtures("environment")
def test_environment_of_another_version_is_made_again(make):
    assert make("3.99") == (0, "Making .venv with Python 3.99\n", "-m venv --clear .venv")


def test_environment_that_is_in_use_is_not_made_again(make, environment):
    with subprocess.Popen([environment / "python", "-c", "input()"], stdin=subprocess.PIPE) as running:
        code, output, called = make("3.99")
        assert running.stdin is not None
        running.stdin.close()
    assert (code, called) == (1, None)
    assert ".venv is in use, so it is not made again with Python 3.99. End these first:" in output
    assert f"{running.pid} {environment}/python -c input()" in output


def test_broken_environment_is_made_again(make, environment):
    (environment / "python").unlink()
    (environment / "python").symlink_to("/nowhere/python")
    assert make()[2] == "-m venv --clear .venv"


def test_environment_that_is_gone_is_made_though_something_runs_from_it(make, environment):
    with subprocess.Popen([environment / "python", "-c", "input()"], stdin=subprocess.PIPE) as running:
        shutil.rmtree(environment.parent)
        made = make()
        assert running.stdin is not None
        running.stdin.close()
    assert made == (0, f"Making .venv with Python {VERSION}\n", "-m venv --clear .venv")
