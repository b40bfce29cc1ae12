# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The turn of a restart at its cluster: how long it holds the lock, and which reads of others count for it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace

from .._base.clock import Clock
from .._journal.journal import Journal
from .._ocp.shared_reads import Pausing, ReadsInOrder, SharedReads, hearing_pauses
from .awaited_start import Awaited

# Of a restart that finds its look and the reads of its gates made: the request, and one read that others did not need.
REQUESTS_OF_FOLLOWER = 2


class Turn:
    """The turn of one restart, or of several ones in one cluster, one after another, that share their ``reads``.

    With ``keeps_lock`` the next of them finds the lock still held, so that what was read under it counts for that too.
    """

    # The last restart that was requested or joined, to prove it later.
    awaited: Awaited | None = None

    def __init__(self, reads: ReadsInOrder, *, keeps_lock: bool = False) -> None:
        self._reads = reads
        self._keeps_lock = keeps_lock
        self._held = ExitStack()
        self._names: tuple[str, ...] | None = None
        self._releases = 0

    @classmethod
    def alone(cls, clock: Clock) -> Turn:
        """The turn of a restart that shares nothing."""
        return cls(ReadsInOrder(SharedReads(1, nullcontext(), clock)))

    def begin(self) -> None:
        """Another restart begins, or has found its target and begins to look."""
        self.awaited = None
        self._reads.begin()

    def room(self, needed: int) -> int:
        """How many requests to have room for: as many as are ``needed``, or few if they are made already."""
        follows = self._reads.are_there and not self._takes_lock
        return min(needed, REQUESTS_OF_FOLLOWER) if follows else needed

    @property
    def _takes_lock(self) -> bool:
        """Whether the lock that makes reads count is still to be taken: what was read before does not count then."""
        return self._keeps_lock and self._names is None

    def take(self, journal: Journal, names: Sequence[str], clock: Clock, timeout: float) -> None:
        """Take the lock, unless it is held. Raises TargetBusy and JournalError."""
        if self._names == tuple(names):
            return
        self.let_go()
        self._held.enter_context(journal.lock(names, clock, timeout))
        self._names = tuple(names)
        if self._keeps_lock:
            self._reads.forget()

    def let_go(self) -> None:
        """Before a pause, or at the end of it all: release the lock."""
        self._releases += 1
        self._names = None
        self._held.close()
        if self._keeps_lock:
            self._reads.forget()

    def end(self, *, failed: bool) -> None:
        """The restart looks at nothing more and requests nothing more."""
        if failed or not self._keeps_lock:
            self.let_go()

    def decide_anew(self) -> None:
        """All that decides about the restart is read from now on."""
        self._reads.decide_anew()

    @property
    def is_fresh(self) -> bool:
        """Whether what others have read may decide about a request that is sent now."""
        return self._reads.are_fresh

    @property
    def interruptions(self) -> int:
        """How many pauses there were, and how often the lock was released: what was read before decides no more."""
        return self._reads.pauses + self._releases

    def hearing_pauses(self, client: Pausing) -> AbstractContextManager[None]:
        """Note the pauses that the service asks a connection for."""
        return hearing_pauses(client, self._reads)

    def clock(self, clock: Clock) -> Clock:
        """The same clock: with each pause, what was read before it does not count any more."""

        def sleep(seconds: float) -> None:
            clock.sleep(seconds)
            self._reads.note_pause()

        return replace(clock, sleep=sleep)
