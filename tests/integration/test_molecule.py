# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Molecule: the scenarios of the collection, and the one that users are given to copy, each on its own emulator."""

from __future__ import annotations

import os
import re
import socket
import subprocess

import pytest
from support import REPOSITORY


@pytest.fixture
def molecule(ansible, executables):
    """Run molecule in a folder, with a free port for its emulator; returns what it printed."""

    def run(folder, *arguments):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        environment = {
            **os.environ,
            **ansible.variables(),
            "PATH": f"{executables}:{os.environ['PATH']}",
            "OCP_PORT": port,
            "NO_COLOR": "1",
        }
        done = subprocess.run(
            [executables / "molecule", "test", *arguments],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=280,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    return run


def test_every_scenario_converges_and_is_idempotent(molecule):
    assert "server_restart > idempotence: Executed: Successful" in molecule(REPOSITORY, "--all")


def test_the_scenario_of_the_page_on_molecule_runs(molecule, tmp_path, executables):
    page = (REPOSITORY / "docs/molecule.md").read_text()
    files = re.findall(r"^`(molecule/default/\w+\.yml)`.*?^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(files) == page.count("```yaml\n") == 7
    for name, text in files:
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # What the emulator needs is installed here already.
        path.write_text(
            text.replace(
                "emulator_step_seconds", f"emulator_virtualenv: {executables.parent}\n      emulator_step_seconds"
            )
        )
    printed = molecule(tmp_path / "project")
    for step in ("idempotence", "verify", "side_effect", "destroy"):
        assert f"default > {step}: Executed: Successful" in printed, printed
