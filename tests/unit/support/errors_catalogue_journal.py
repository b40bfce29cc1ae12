# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The catalogue of the journal: names that are taken, and places that cannot be used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.local_journal import usable_journal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.shared_journal import shared_journal
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue import OPTIONS, TASKS, Entry
from ansible_collections.oceanbase.ocp.tests.unit.support.journal_cases import CHANGE, OTHER_WISH, WISH, sight

NO_FOLDER = "/dev/null"
UNUSABLE = {
    "no form of a URL": "db.example.com",
    "another kind of database": "oracle://ops@db.example.com/ocp",
    "no database": "postgresql://ops@db.example.com",
    "a password that is not encoded": "mysql://ops:p@ss@db.example.com/ocp",
}


def journal_entries() -> Iterator[Entry]:
    """The messages of the journal itself."""
    journal = MemoryJournal()
    journal.register(CHANGE, WISH, [sight()])
    yield _entry(
        (OPTIONS, "change", "stands for another wish"),
        (CHANGE, WISH.words, OTHER_WISH.words),
        lambda: journal.register(CHANGE, OTHER_WISH, [sight()]),
    )
    with mock.patch.dict(os.environ, ANSIBLE_HOME=NO_FOLDER):
        yield _entry(
            (TASKS, "The journal cannot be used", "its folder cannot be made"),
            (f"{NO_FOLDER}/oceanbase.ocp/journal.sqlite", "ANSIBLE_HOME"),
            lambda: usable_journal(read_only=False, is_required=True, warnings=[]),
        )
    for name, url in UNUSABLE.items():
        yield _entry((OPTIONS, "journal_url", f"has {name}"), (), lambda url=url: shared_journal(url, read_only=False))
    yield _entry(
        (TASKS, "The journal cannot be used", "its database does not answer"),
        (f"{NO_FOLDER}/journal.db",),
        lambda: shared_journal(f"sqlite:///{NO_FOLDER}/journal.db", read_only=False),
    )


def _entry(place: tuple[str, str, str], names: tuple[str, ...], action: Callable[[], Any]) -> Entry:
    try:
        action()
    except OcpError as error:
        return Entry(*place, str(error), names, type(error))
    raise AssertionError(f"Nothing is raised where the {place[1]} {place[2]}.")
