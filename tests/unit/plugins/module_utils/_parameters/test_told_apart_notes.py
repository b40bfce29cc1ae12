# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is remembered of a service that tells the old value of a parameter from the new one."""

from __future__ import annotations

import json
import os

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.effect import Effect
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.told_apart_notes import ToldApartNotes

URL = "http://ocp.test:8080"
WANTED = {"stack_size": "5M", "x": "1"}


def effect(*stack_sizes):
    servers = [f"10.0.0.{number}:2882" for number, _value in enumerate(stack_sizes)]
    current: dict[str, list[str]] = {}
    for server, value in zip(servers, stack_sizes, strict=True):
        current.setdefault(value, []).append(server)
    return Effect.of(WANTED, [{"name": "stack_size", "currentValue": {"valueToServers": current}}], servers)


ALIKE, APART = effect("5M", "5M"), effect("5M", "4M")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def known(found, url=URL, cluster_id=31, warnings=None):
    return ToldApartNotes(url, cluster_id, [] if warnings is None else warnings).known(found)


def note_of(home):
    [file] = (home / "oceanbase.ocp").iterdir()
    return file


def test_two_values_are_remembered():
    assert known(ALIKE) == set()
    assert known(APART) == {"stack_size"}
    assert known(ALIKE) == {"stack_size"}


def test_it_is_of_one_service_and_cluster():
    known(APART)
    assert known(ALIKE, url="http://other.test") == set()
    assert known(ALIKE, cluster_id=32) == set()


def test_it_is_forgotten_on_request():
    known(APART)
    notes = ToldApartNotes(URL, 31, [])
    notes.forget(["x", "stack_size"])
    assert known(ALIKE) == set()


def test_file_is_of_this_user_alone(home):
    known(APART)
    assert note_of(home).stat().st_mode & 0o777 == 0o600
    assert note_of(home).parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b"true", b"[" * 100_000, b"[[], true]", b" " * 10**6])
def test_other_content_is_no_knowledge(home, content):
    known(APART)
    note_of(home).write_bytes(content)
    assert known(ALIKE) == set()


def test_note_of_another_cluster_in_its_place_is_no_knowledge(home):
    known(APART)
    path = note_of(home)
    path.write_text(json.dumps([[URL, 32, "stack_size"], True]))
    assert known(ALIKE) == set()


def test_link_and_pipe_in_its_place_are_not_followed(home, tmp_path):
    known(APART)
    path = note_of(home)
    path.rename(tmp_path / "real")
    path.symlink_to(tmp_path / "real")
    assert known(ALIKE) == set()
    path.unlink()
    os.mkfifo(path)
    assert known(ALIKE) == set()


def test_folder_of_others_is_not_used(home):
    known(APART)
    note_of(home).parent.chmod(0o777)
    warnings: list[str] = []
    assert known(ALIKE, warnings=warnings) == set()
    assert warnings == []
    assert known(APART, warnings=warnings) == {"stack_size"}
    [warning] = warnings
    assert "started_before" in warning
    assert "is not a folder of this user alone" in warning


def test_home_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "file" / "home"))
    warnings: list[str] = []
    assert known(APART, warnings=warnings) == {"stack_size"}
    assert len(warnings) == 1
    assert known(ALIKE) == set()


def test_nothing_is_left_of_a_note_that_could_not_be_written(home, monkeypatch):
    def fails(*_arguments, **_more):
        raise OSError("no space left")

    monkeypatch.setattr(json, "dump", fails)
    assert known(APART, warnings=[]) == {"stack_size"}
    assert list((home / "oceanbase.ocp").iterdir()) == []
