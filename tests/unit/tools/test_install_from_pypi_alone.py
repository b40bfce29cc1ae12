# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What `tools/ansible-test` does first, so that ansible-test installs from PyPI alone."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

REPOSITORY = Path(__file__).parents[3]
URL = "https://elsewhere.test/archive/23.zip"


@pytest.fixture(scope="module")
def tool():
    """The command, which has no suffix, as a module."""
    return SimpleNamespace(**runpy.run_path(str(REPOSITORY / "tools/install-from-pypi-alone")))


@pytest.mark.parametrize(
    ("line", "left"),
    [
        (f"dill @ {URL}#sha256=09", "dill"),
        (f"dill@{URL}", "dill"),
        (
            f"some.pack-age[extra,more] @ {URL} ; python_version > '3'",
            "some.pack-age[extra,more] ; python_version > '3'",
        ),
        (f"dill @ git+{URL}", "dill"),
        ("pylint==4.0.8", "pylint==4.0.8"),
        ("pylint==4.0.8 ; python_version > '3'  # me@there", "pylint==4.0.8 ; python_version > '3'  # me@there"),
        (f"# dill @ {URL}", f"# dill @ {URL}"),
    ],
)
def test_requirement_by_url_becomes_a_requirement_by_name(line, left, tool, tmp_path):
    file = tmp_path / "sanity.pylint.txt"
    file.write_text(f"# edit\nastroid==4.0.4\n{line}\nPyYAML==6.0.3\n")
    tool.require_by_name(tmp_path)
    assert file.read_text() == f"# edit\nastroid==4.0.4\n{left}\nPyYAML==6.0.3\n"
    assert list(tmp_path.iterdir()) == [file]


def test_shared_file_stays_unchanged(tool, tmp_path):
    shared, file = tmp_path / "cache", tmp_path / "requirements" / "sanity.pylint.txt"
    shared.write_text(f"dill @ {URL}\n")
    file.parent.mkdir()
    os.link(shared, file)
    tool.require_by_name(file.parent)
    assert (shared.read_text(), file.read_text()) == (f"dill @ {URL}\n", "dill\n")


def test_pip_is_downloaded_once_in_the_requested_version(tool, tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(subprocess, "run", lambda command, check: commands.append((command, check)))
    for _time in range(2):
        tool.bootstrap_pip(tmp_path / "cache", "25.2")
    [(command, checked)] = commands
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert command[-3:] == ["--dest", str(tmp_path / "cache"), "pip==25.2"]
    assert checked


def test_the_bootstrap_script_runs_the_wheel_beside_it(tool, tmp_path):
    (tmp_path / "pip-25.2-py3-none-any.whl").mkdir()
    (tmp_path / "pip-25.2-py3-none-any.whl" / "pip.py").write_text("import sys; print(*sys.argv[1:])")
    script = tmp_path / "get_pip.py"
    script.write_text(tool.STAND_IN.format(version="25.2"))
    command = [sys.executable, script, "--disable-pip-version-check", "--no-setuptools", "--no-wheel", "pip==25.2"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["install", "--disable-pip-version-check", "pip==25.2"]
