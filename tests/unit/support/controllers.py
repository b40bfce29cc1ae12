# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The controller of a unit test: its journal in memory, and what its processes remember."""

from __future__ import annotations

from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import forget_process

_JOURNALS = [MemoryJournal()]


def journal_here(**_options: Any) -> MemoryJournal:
    """The journal of this controller, in place of ``usable_journal``."""
    return _JOURNALS[-1]


def another_process() -> None:
    """From here on as another process of the same controller."""
    forget_process()


def another_controller() -> None:
    """From here on as another controller, which knows of nothing that the others did."""
    forget_process()
    _JOURNALS[:] = [MemoryJournal()]
