# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The collection as users get it: built, installed from its tarball, and used."""

from __future__ import annotations

import subprocess
import tarfile

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


def test_tarball_contains_only_files_for_users(tarball):
    with tarfile.open(tarball) as archive:
        names = {name.removeprefix("./") for name in archive.getnames()}
    assert names >= {
        "LICENSE",
        "README.md",
        "meta/runtime.yml",
        "plugins/modules/server_restart.py",
        "plugins/plugin_utils/_timeline/page.css",
        "plugins/plugin_utils/_timeline/page.html.j2",
        "roles/emulator/files/ocp_emulator/__main__.py",
        "roles/emulator/files/ocp_emulator/store/schema.sql",
        "roles/restart_wait/tasks/main.yml",
        "playbooks/demo.yml",
    }
    tops = {name.split("/")[0] for name in names}
    assert tops <= {
        "CHANGELOG.md",
        "CODE_OF_CONDUCT.md",
        "CONTRIBUTING.md",
        "FILES.json",
        "LICENSE",
        "LICENSES",
        "MANIFEST.json",
        "README.md",
        "SECURITY.md",
        "changelogs",
        "docs",
        "examples",
        "extensions",
        "meta",
        "playbooks",
        "plugins",
        "requirements.txt",
        "roles",
    }
    assert {name.split("/")[1] for name in names if name.startswith("extensions/")} == {"audit", "eda", "ee"}
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".db", ".egg-info"))]


@pytest.fixture
def installed(ansible, executables, tarball, tmp_path):
    subprocess.run(
        [executables / "ansible-galaxy", "collection", "install", "--force", tarball, "-p", tmp_path / "collections"],
        env={"PATH": str(executables), "HOME": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    ansible.environment = {"ANSIBLE_COLLECTIONS_PATH": str(tmp_path / "collections")}
    return ansible


def test_installed_collection_restarts_each_target(installed, emulator):
    tasks = {verb: {f"oceanbase.ocp.{verb}": {**options, "wait": True}} for verb, (options, *_rest) in RESTARTS.items()}
    defaults = {"group/oceanbase.ocp.ocp": {"url": emulator.url, **BASIC}}
    outcome = installed.each(tasks, arguments="-vvv", module_defaults=defaults)
    for verb in RESTARTS:
        assert_restarted(verb, outcome.results[verb])
        assert f"/collections/ansible_collections/oceanbase/ocp/plugins/modules/{verb}.py" in outcome.output
