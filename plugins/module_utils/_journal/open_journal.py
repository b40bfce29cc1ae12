# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which journal is used: the database of ``journal_url``, or without one the file of this controller."""

from __future__ import annotations

from .._base.clock import SYSTEM_CLOCK, Clock
from .journal import Journal
from .local_journal import usable_journal


def open_journal(
    url: str | None, *, read_only: bool, is_required: bool, warnings: list[str], clock: Clock = SYSTEM_CLOCK
) -> Journal:
    """The journal with this URL, or that of this controller; with ``read_only`` a copy, and nothing is written.

    One that is shared is always required. Raises OptionError if the URL cannot be used, and JournalError if the journal
    cannot. If that of this controller is not required, ``warnings`` gets a sentence instead.
    """
    if url:
        from .shared_journal import shared_journal

        return shared_journal(url, read_only=read_only)
    return usable_journal(read_only=read_only, is_required=is_required, warnings=warnings, clock=clock)


def check_journal_url(url: str | None) -> None:
    """Raise OptionError if there is a URL that cannot be used, or a library is missing. Nothing is connected."""
    if url:
        from .journal_url import NamedDatabase

        NamedDatabase(url)
