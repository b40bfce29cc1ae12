# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Where the folder of the journal may go away with a container, and how to say that it stays."""

from __future__ import annotations

import os
from contextlib import nullcontext

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal import folder_lifetime, journal_folder
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.folder_lifetime import check_folder_lasts

JOBS = [{name: "1"} for name in folder_lifetime.OF_JOBS]


@pytest.fixture
def set_to(monkeypatch):
    """Set variables; no folder is named unless they do."""
    monkeypatch.delenv("ANSIBLE_HOME", raising=False)

    def apply(variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return apply


@pytest.fixture
def mark(tmp_path, monkeypatch):
    file = tmp_path / ".containerenv"
    monkeypatch.setattr(folder_lifetime, "MARKS", (file,))
    return file


@pytest.fixture
def mounted(tmp_path, monkeypatch):
    """The home of the user is on a file system of this kind."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    device = home.stat().st_dev

    def apply(kind):
        file = tmp_path / "mountinfo"
        file.write_text(f"36 35 {os.major(device)}:{os.minor(device)} / / rw shared:1 - {kind} /dev/x rw\n")
        monkeypatch.setattr(journal_folder, "MOUNTS", file)

    return apply


@pytest.mark.usefixtures("mark")
def test_machine_that_is_no_container_keeps_its_folder(set_to):
    set_to({"container": "lxc"})
    check_folder_lasts()


@pytest.mark.parametrize("variables", [{"container": "podman"}, {"container": "oci"}, *JOBS])
def test_container_is_refused_in_one_sentence(variables, set_to, mounted):
    set_to(variables)
    mounted("overlay")
    with pytest.raises(OptionError, match=r"^change: alone it rests on the journal, .* is set\)\. Give journal_url "):
        check_folder_lasts()


@pytest.mark.parametrize(("kind", "lasts"), [("overlay", False), ("tmpfs", False), ("ext4", True), ("xfs", True)])
def test_folder_on_a_volume_lasts(kind, lasts, set_to, mark, mounted):
    set_to({})
    mark.touch()
    mounted(kind)
    with nullcontext() if lasts else pytest.raises(OptionError):
        check_folder_lasts()


def test_file_of_the_runtime_marks_a_container(set_to, mark, mounted):
    set_to({})
    mounted("overlay")
    mark.touch()
    with pytest.raises(OptionError, match=r"there is .*/\.containerenv\)\. .* Nothing was sent\.$"):
        check_folder_lasts()


def test_folder_that_somebody_names_in_a_container_of_his_own_lasts(set_to, mark, tmp_path):
    mark.touch()
    set_to({"ANSIBLE_HOME": str(tmp_path)})
    check_folder_lasts()


@pytest.mark.parametrize("variables", JOBS)
def test_folder_that_an_image_names_does_not(variables, set_to, tmp_path):
    set_to({**variables, "ANSIBLE_HOME": str(tmp_path)})
    with pytest.raises(OptionError, match="set OCP_JOURNAL_PERSISTS=yes"):
        check_folder_lasts()


@pytest.mark.parametrize("word", ["yes", "True", "1"])
@pytest.mark.parametrize("variables", [{"container": "podman"}, *JOBS])
def test_user_says_that_the_folder_stays(variables, word, set_to):
    set_to({**variables, "OCP_JOURNAL_PERSISTS": word})
    check_folder_lasts()


def test_user_says_that_it_does_not(set_to, mounted):
    mounted("overlay")
    set_to({"OCP_JOURNAL_PERSISTS": "no", "container": "docker"})
    with pytest.raises(OptionError):
        check_folder_lasts()


def test_another_word_is_refused(set_to):
    set_to({"OCP_JOURNAL_PERSISTS": "maybe"})
    with pytest.raises(OptionError, match=r"^OCP_JOURNAL_PERSISTS: 'maybe' in the environment is neither yes nor no; "):
        check_folder_lasts()
