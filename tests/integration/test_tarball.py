# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The collection as users get it: built, installed from its tarball, and used."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from credentials import BASIC
from expected_restarts import RESTARTS, assert_restarted
from repository import REPOSITORY


@pytest.fixture(scope="module")
def tarball(executables, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([REPOSITORY / "tools" / "copy-collection", folder], cwd=REPOSITORY, check=True)
    subprocess.run(
        [executables / "ansible-galaxy", "collection", "build", "--output-path", folder],
        cwd=folder / "ansible_collections" / "oceanbase" / "ocp",
        check=True,
        capture_output=True,
    )
    [built] = folder.glob("oceanbase-ocp-*.tar.gz")
    return built


@pytest.fixture
def installed(ansible, executables, tarball, tmp_path):
    subprocess.run(
        [executables / "ansible-galaxy", "collection", "install", "--force", tarball, "-p", tmp_path / "collections"],
        env={"PATH": str(executables), "HOME": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    # A collection has to work without anything else.
    for path in (tmp_path / "collections/ansible_collections/oceanbase/ocp").iterdir():
        if path.is_dir() and path.name not in {"meta", "playbooks", "plugins", "roles"}:
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()
    ansible.environment = {"ANSIBLE_COLLECTIONS_PATH": str(tmp_path / "collections")}
    return ansible


@pytest.mark.nightly
def test_installed_collection_restarts_each_target(installed, emulator):
    tasks = {verb: {f"oceanbase.ocp.{verb}": {**options, "wait": True}} for verb, (options, *_rest) in RESTARTS.items()}
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    outcome = installed.each(tasks, arguments="-vvv", module_defaults=defaults)
    for verb in RESTARTS:
        assert_restarted(verb, outcome.results[verb])
        assert f"Running oceanbase.ocp.{verb} in" in outcome.output


@pytest.mark.nightly
def test_installed_playbook_of_the_readme_runs(installed, emulator):
    [name] = re.findall(r"`ansible-playbook (oceanbase\.ocp\.\w+)`", (REPOSITORY / "README.md").read_text())
    connection = {"OCP_URL": emulator.url, "OCP_USERNAME": BASIC["username"], "OCP_PASSWORD": BASIC["password"]}
    installed.environment |= connection
    outcome = installed.playbook(name)
    assert outcome.rc == 0, outcome.output
    assert emulator.requests("GET")
