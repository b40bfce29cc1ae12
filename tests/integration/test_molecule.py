# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Molecule: the scenarios of the collection, and the one that users are given to copy, each on its own emulator."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
from free_ports import kept_port
from repository import REPOSITORY

SCENARIOS = REPOSITORY / "extensions/molecule"
# All of them take minutes; `make molecule` runs them.
QUICK = ["server_restart", "task"]


@pytest.fixture
def molecule(ansible, executables):
    """Run molecule in a folder, with free ports for its emulators; returns what it printed."""

    def run(folder, *arguments):
        environment = {
            **os.environ,
            **ansible.variables(),
            "PATH": f"{executables}:{os.environ['PATH']}",
            "OCP_PORT": str(kept_port()),
            "OCP_OTHER_PORT": str(kept_port()),
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


@pytest.mark.nightly
def test_scenarios_converge_and_are_idempotent(molecule):
    printed = molecule(REPOSITORY, *(word for name in QUICK for word in ("--scenario-name", name)))
    for name in QUICK:
        for step in ("converge", "idempotence", "verify"):
            assert f"{name} > {step}: Executed: Successful" in printed, printed


def test_each_role_and_changing_module_has_a_scenario():
    modules = [path.stem for path in (REPOSITORY / "plugins/modules").glob("*.py")]
    # What only displays changes nothing.
    verbs = {name for name in modules if not name.endswith(("_info", "_wait", "_display"))}
    roles = {path.name for path in (REPOSITORY / "roles").iterdir()}
    assert {path.parent.name for path in SCENARIOS.glob("*/molecule.yml")} == verbs | roles | {"default"}


@pytest.mark.nightly
def test_example_scenario_runs(molecule, tmp_path, executables):
    shutil.copytree(REPOSITORY / "examples/molecule", tmp_path / "project")
    create = tmp_path / "project/molecule/default/create.yml"
    # What the emulator needs is installed here already.
    given = f"emulator_virtualenv: {executables.parent}\n      emulator_step_seconds"
    create.write_text(create.read_text().replace("emulator_step_seconds", given))
    printed = molecule(tmp_path / "project")
    for step in ("idempotence", "verify", "side_effect", "destroy"):
        assert f"default > {step}: Executed: Successful" in printed, printed


def test_molecule_page_names_each_file_of_the_example():
    named = set(re.findall(r"^\| `(\w+\.yml)`", (REPOSITORY / "docs/molecule.md").read_text(), re.MULTILINE))
    files = {path.name for path in (REPOSITORY / "examples/molecule/molecule/default").iterdir()}
    assert named == files - {"restart.yml"}
