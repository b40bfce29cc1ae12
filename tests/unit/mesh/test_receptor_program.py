# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors

from __future__ import annotations

import os
import platform
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
import receptor_program
from receptor_program import NotToBeHad, fetch_package

ROOT = Path(__file__).parents[3]
MIRROR = "http://127.0.0.1:1/debian"
CONTENT = b"a package"
SAID = "make mesh needs Receptor 1.5.5-1+b2 of Debian trixie, and cannot get it: "


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Only the programs that are put here are found; each is a shell script. The machine is one that has a package."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")

    def put(name, script=""):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    put("dpkg-deb")
    return put


@pytest.fixture
def expected(monkeypatch):
    """The hash is that of CONTENT."""
    monkeypatch.setitem(receptor_program.HASHES, "x86_64", ("amd64", sha256(CONTENT).hexdigest()))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "mesh"


def fetching(content):
    return f'case "$*" in *" download "*) printf "%s" "{content}" >receptor_1.5.5-1+b2_amd64.deb;; esac'


@pytest.mark.usefixtures("expected")
def test_package_is_fetched_once_and_nothing_else_stays(programs, folder):
    programs("apt-get", fetching("a package"))
    package = fetch_package(folder, MIRROR)
    assert package.read_bytes() == CONTENT
    assert list(folder.iterdir()) == [package]
    programs("apt-get", "exit 1")
    assert fetch_package(folder, MIRROR) == package


def refusal(folder, mirror=MIRROR):
    with pytest.raises(NotToBeHad) as raised:
        fetch_package(folder, mirror)
    words = str(raised.value)
    assert words.startswith(SAID)
    assert words.endswith("; nothing was started.")
    assert "\n" not in words
    return words.removeprefix(SAID).removesuffix("; nothing was started.")


@pytest.mark.usefixtures("programs")
def test_without_apt_get_one_sentence_says_so(folder):
    assert refusal(folder) == "there is no apt-get here"


def test_without_a_network_one_sentence_says_so(programs, folder):
    words = "W: Failed to fetch x  Could not connect.\nE: Some index files failed."
    programs("apt-get", f"echo '{words}' >&2; exit 100")
    assert refusal(folder) == f"{MIRROR} cannot be read (Failed to fetch x  Could not connect)"
    assert list(folder.iterdir()) == []


def test_password_of_a_mirror_is_not_shown(programs, folder):
    mirror = "https://user:a-secret@mirror.example.com/debian"
    programs("apt-get", f"echo 'E: Failed to fetch {mirror}/x' >&2; exit 100")
    shown = "https://mirror.example.com/debian"
    assert refusal(folder, mirror) == f"{shown} cannot be read (Failed to fetch {shown}/x)"


def test_version_that_the_mirror_no_longer_has_is_said(programs, folder):
    words = "E: Version '1.5.5-1+b2' for 'receptor' was not found"
    programs("apt-get", f'case "$*" in *" download "*) echo "{words}" >&2; exit 100;; esac')
    assert refusal(folder) == f"{MIRROR} does not offer it (Version '1.5.5-1+b2' for 'receptor' was not found)"


@pytest.mark.usefixtures("expected")
def test_another_hash_is_refused_and_not_kept(programs, folder):
    programs("apt-get", fetching("another package"))
    assert refusal(folder).startswith(f"receptor_1.5.5-1+b2_amd64.deb from {MIRROR} has the SHA-256 ")
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("expected")
def test_package_that_was_changed_later_is_fetched_anew(programs, folder):
    programs("apt-get", fetching("a package"))
    fetch_package(folder, MIRROR).write_bytes(b"changed")
    assert fetch_package(folder, MIRROR).read_bytes() == CONTENT


@pytest.mark.usefixtures("programs")
def test_machine_without_a_package_is_said(folder, monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "s390x")
    assert refusal(folder) == "there is none for Linux on s390x"


def test_command_says_it_in_one_line_and_fails_and_leaves_nothing(tmp_path):
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "PATH": str(tmp_path), "TMPDIR": str(tmp_path / "tmp")}
    done = subprocess.run(
        [sys.executable, ROOT / "extensions/mesh", MIRROR],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.startswith(SAID)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    assert list((tmp_path / "tmp").iterdir()) == []
