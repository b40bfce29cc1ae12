# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Machines on which controllers run: each has a clock and a journal, which outlives its processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import JournalError
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal import shared_journal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.local_journal import LOST
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import outlook, own_notes, run

from .journals import Database, DatabaseJournal, Faults, FileJournal, Memory
from .scheduler import Actor, Scheduler


class Machine:
    """One machine. Its clock is ``ahead`` of the true time by so many seconds.

    Its processes share a ``database``, if that is given, or else a file as their journal. Other machines may use the
    same database.
    """

    def __init__(
        self, name: str, ahead: float, scheduler: Scheduler, faults: Faults | None = None,
        database: Database | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self.ahead = ahead
        self.database = database
        self.faults = faults
        # That of its journal: machines with one journal have one memory.
        self.memory = Memory() if database is None else database.memory
        self.journal = FileJournal(name, scheduler, self.memory, None if database else faults)
        self._scheduler = scheduler

    def open_journal(self, *, read_only: bool, is_required: bool, warnings: list[str]) -> FileJournal | DatabaseJournal:
        """As the real one of this name does it. A journal that only serves one run is forgotten with it."""
        if self.database is not None:
            journal = DatabaseJournal(self.name, self._scheduler, self.database, self.faults)
            journal.prepare()
            return journal
        try:
            self.journal.use(writes=not read_only)
        except JournalError as error:
            if is_required:
                raise
            warnings.append(f"{LOST}: {error}")
            copy = FileJournal(self.name, self._scheduler, self.memory)
            self.journal.copy_to(copy)
            return copy
        return self.journal

    def is_in_use(self, runs: Iterable[Any]) -> bool:
        """Whether a module runs that uses its journal."""
        return any(run.memory is self.memory and run.end == "running" for run in runs)

    def clear(self, change: str) -> None:
        """A person clears the name of a change."""
        journal = self.journal
        if self.database is not None:
            journal = DatabaseJournal(self.name, self._scheduler, self.database, None)
        faults, journal.faults = journal.faults, None
        journal.clear(change=change)
        journal.faults = faults
        self.memory.cleared.setdefault(change, []).append(self._scheduler.now)

    @property
    def url(self) -> str:
        """By which it knows the service: no other machine shares what is kept for this URL."""
        return f"http://{self.name}.ocp.test:8080"


class SentHere:
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

    def machine() -> Machine:
        current = actor()
        assert current is not None
        found: Machine = current.data.machine
        return found

    def journal(
        _url: str | None, *, read_only: bool, is_required: bool, warnings: list[str], **_options: Any
    ) -> FileJournal | DatabaseJournal:
        found = machine().open_journal(read_only=read_only, is_required=is_required, warnings=warnings)
        current = actor()
        if current is not None and isinstance(found, FileJournal) and found is not machine().journal:
            current.data.run.forgets = True
        return found

    with (
        mock.patch.object(outlook, "open_journal", journal),
        mock.patch.object(run, "open_journal", journal),
        mock.patch.object(shared_journal, "usable_journal", lambda **_options: machine().journal),
        mock.patch.object(shared_journal, "socket", SimpleNamespace(gethostname=lambda: machine().name)),
        mock.patch.object(shared_journal, "os", SimpleNamespace(getpid=lambda: 1)),
        mock.patch.object(own_notes, "_SENT_HERE", SentHere(actor)),
    ):
        yield
