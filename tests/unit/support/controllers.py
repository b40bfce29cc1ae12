# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The controller of a unit test: its journal in memory, and what its processes remember."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._journal import open_journal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters import offline_time, told_apart_notes
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import many_restarts, outlook, run, task_ends
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import forget_process

# All that open the journal of the controller.
USERS = (many_restarts, offline_time, open_journal, outlook, run, told_apart_notes)

_JOURNALS = [MemoryJournal()]


def journal_here(_url: str | None = None, **_options: Any) -> MemoryJournal:
    """The journal of this controller, in place of ``open_journal``."""
    return _JOURNALS[-1]


@contextmanager
def with_journal_here() -> Iterator[None]:
    """Give all code ``journal_here``."""
    with ExitStack() as stack:
        for user in USERS:
            stack.enter_context(mock.patch.object(user, "open_journal", journal_here))
        # Of a file that is there.
        stack.enter_context(mock.patch.object(task_ends, "journal_file", lambda: Path(__file__)))
        yield


def another_process() -> None:
    """From here on as another process of the same controller."""
    forget_process()


def another_controller() -> None:
    """From here on as another controller, which knows of nothing that the others did."""
    forget_process()
    _JOURNALS[:] = [MemoryJournal()]
