# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is remembered of a service that tells the old value of a parameter from the new one."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import JournalError
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.open_journal import open_journal
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters import told_apart_notes
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.effect import Effect
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.told_apart_notes import LOST, ToldApartNotes
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_controller, journal_here

URL = "http://ocp.test:8080"
WANTED = {"stack_size": "5M", "x": "1"}


def effect(*stack_sizes):
    servers = [f"10.0.0.{number}:2882" for number, _value in enumerate(stack_sizes)]
    current: dict[str, list[str]] = {}
    for server, value in zip(servers, stack_sizes, strict=True):
        current.setdefault(value, []).append(server)
    return Effect.of(WANTED, [{"name": "stack_size", "currentValue": {"valueToServers": current}}], servers)


ALIKE, APART = effect("5M", "5M"), effect("5M", "4M")


def known(found, url=URL, cluster_id=31, warnings=None):
    return ToldApartNotes(url, cluster_id, [] if warnings is None else warnings).known(found)


def test_two_values_are_remembered():
    assert known(ALIKE) == set()
    assert known(APART) == {"stack_size"}
    assert known(ALIKE) == {"stack_size"}


def test_they_are_remembered_by_this_controller_alone():
    known(APART)
    another_controller()
    assert known(ALIKE) == set()


def test_it_is_of_one_service_and_cluster():
    known(APART)
    assert known(ALIKE, url="http://other.test") == set()
    assert known(ALIKE, cluster_id=32) == set()


def test_it_is_forgotten_on_request():
    known(APART)
    notes = ToldApartNotes(URL, 31, [])
    notes.forget(["x", "stack_size"])
    assert known(ALIKE) == set()


def test_given_journal_is_used_alone():
    given = MemoryJournal()
    assert ToldApartNotes(URL, 31, [], given).known(APART) == {"stack_size"}
    assert known(ALIKE) == set()
    assert ToldApartNotes(URL, 31, [], given).noted(WANTED) == {"stack_size"}


def test_other_content_is_no_knowledge():
    journal_here().remember("told apart", (URL, 31, "stack_size"), "no")
    assert known(ALIKE) == set()


@pytest.fixture
def disk(tmp_path, monkeypatch):
    """The journal is a file in this folder."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(told_apart_notes, "open_journal", open_journal)
    return tmp_path / "home/oceanbase.ocp"


def test_it_is_read_again_from_the_disk_and_not_written_where_nothing_may_be(disk):
    assert ToldApartNotes(URL, 31, [], read_only=True).known(APART) == {"stack_size"}
    assert not disk.exists()
    known(APART)
    assert ToldApartNotes(URL, 31, [], read_only=True).noted(WANTED) == {"stack_size"}


def test_journal_that_cannot_be_used_is_told_when_something_is_to_be_noted(disk):
    known(APART)
    disk.chmod(0o777)
    warnings: list[str] = []
    assert known(ALIKE, warnings=warnings) == set()
    ToldApartNotes(URL, 31, warnings).forget(WANTED)
    assert warnings == []
    assert known(APART, warnings=warnings) == {"stack_size"}
    [warning] = warnings
    assert warning.startswith(f"{LOST}: The journal {disk / 'journal.sqlite'} cannot be used")
    assert "is not a folder of this user alone" in warning


def test_note_that_cannot_be_written_is_told(monkeypatch):
    full = MemoryJournal()
    monkeypatch.setattr(full, "remember", Mock(side_effect=JournalError("The disk is full.")))
    warnings: list[str] = []
    assert ToldApartNotes(URL, 31, warnings, full).known(APART) == {"stack_size"}
    assert warnings == [f"{LOST}: The disk is full."]
