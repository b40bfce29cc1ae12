# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Machines on which controllers run: each has a clock and a journal, which outlives its processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import own_notes, run

from .scheduler import Actor


class Machine:
    """One machine. Its clock is ``ahead`` of the true time by so many seconds."""

    def __init__(self, name: str, ahead: float) -> None:
        self.name = name
        self.ahead = ahead
        self.journal = MemoryJournal()

    @property
    def url(self) -> str:
        """By which it knows the service: no other machine shares what is kept for this URL."""
        return f"http://{self.name}.ocp.test:8080"


class _SentHere:
    """What each process remembers of its requests, in place of what the one real process does."""

    def __init__(self, actor: Callable[[], Actor | None]) -> None:
        self._actor = actor

    @property
    def _tokens(self) -> set[str]:
        actor = self._actor()
        assert actor is not None
        tokens: set[str] = actor.data.sent_here
        return tokens

    def add(self, token: str) -> None:
        """The current process is about to send a request."""
        self._tokens.add(token)

    def discard(self, token: str) -> None:
        """What came of it is known."""
        self._tokens.discard(token)

    def __contains__(self, token: str) -> bool:
        return token in self._tokens


@contextmanager
def machines(actor: Callable[[], Actor | None]) -> Iterator[None]:
    """Give the code under test the journal of the machine, and the memory of the process, of the current actor."""

    def journal(**_options: Any) -> MemoryJournal:
        current = actor()
        assert current is not None
        found: MemoryJournal = current.data.machine.journal
        return found

    with (
        mock.patch.object(run, "usable_journal", journal),
        mock.patch.object(own_notes, "_SENT_HERE", _SentHere(actor)),
    ):
        yield
