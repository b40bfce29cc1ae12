# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Machines on which controllers run: each has a clock and a journal, which outlives its processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import (
    FirstSight,
    MemberKey,
    RequestRow,
    Wish,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import outlook, own_notes, run

from .fleet import Key
from .scheduler import Actor, Scheduler

KINDS = {"agent": "host", "arbitration_service": "arbitration"}


@dataclass(frozen=True)
class Noted:
    """When the journal got something about these things: a name, or a request if that is None."""

    time: float
    name: str | None
    things: frozenset[Key]
    process: str = ""


class _Journal(MemoryJournal):
    """A journal that tells when something was noted."""

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__()
        self._scheduler = scheduler
        self.noted: list[Noted] = []

    def register(self, change: str, wish: Wish, sights: Sequence[FirstSight]) -> None:
        super().register(change, wish, sights)
        self._note(change, (sight.member for sight in sights))

    def begin(self, row: RequestRow) -> int:
        self._note(None, (member for member, _shown in row.members))
        return super().begin(row)

    def _note(self, name: str | None, members: Iterable[MemberKey]) -> None:
        things = frozenset((KINDS.get(each.kind, each.kind), each.id or 0) for each in members)
        actor = self._scheduler.current
        process = "" if actor is None or actor.data is None else actor.data.run.process
        self.noted.append(Noted(self._scheduler.now, name, things, process))


class Machine:
    """One machine. Its clock is ``ahead`` of the true time by so many seconds."""

    def __init__(self, name: str, ahead: float, scheduler: Scheduler) -> None:
        self.name = name
        self.ahead = ahead
        self.journal = _Journal(scheduler)
        self.cleared: dict[str, list[float]] = {}
        self._scheduler = scheduler

    def is_busy(self, runs: Iterable[Any]) -> bool:
        """Whether a module runs on it."""
        return any(run.machine is self and run.end == "running" for run in runs)

    def clear(self, change: str) -> None:
        """A person clears the name of a change."""
        self.journal.clear(change=change)
        self.cleared.setdefault(change, []).append(self._scheduler.now)

    def cleared_at(self, change: str | None, until: float) -> float:
        """When a name was cleared last, until a time; long ago if it was not."""
        return max((when for when in self.cleared.get(change or "", ()) if when <= until), default=-1e12)

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

    def journal(_url: str | None, **_options: Any) -> MemoryJournal:
        current = actor()
        assert current is not None
        found: MemoryJournal = current.data.machine.journal
        return found

    with (
        mock.patch.object(outlook, "open_journal", journal),
        mock.patch.object(run, "open_journal", journal),
        mock.patch.object(own_notes, "_SENT_HERE", SentHere(actor)),
    ):
        yield
