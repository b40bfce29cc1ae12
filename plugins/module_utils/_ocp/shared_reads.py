# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Reads that the restarts of a fleet share: when each was begun, and which of them may serve another restart.

A restart uses what another one has read only if that was begun after the lock of its cluster was taken and after the
last pause, after the answers to all that the restart has read so far, and is at most MOST_AGE old. Otherwise it reads
anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from math import inf
from threading import Lock
from typing import Any, Protocol, TypeVar

from .._base.clock import Clock
from .._base.service_clock import Sample, ServiceClock

Found = TypeVar("Found")

# Seconds from the begin of a read to the request that it decides about.
MOST_AGE = 10.0
# A list of all clusters replaces the read of each if so many clusters are looked at side by side, and the service has
# at most so many for each of these: the longer a list, the more it costs.
FEWEST_SIDE_BY_SIDE, LISTED_FOR_EACH = 3, 16
# Seconds that a read by many waits until more of them need it.
GATHERING = 0.1


@dataclass(frozen=True)
class _Read:
    """What was ``found``; ``number`` is its place among the begins of all reads, ``began`` the time of that.

    ``last`` is the number of the last read that was begun before its answer was there. ``sample`` is what that has
    shown of the clock of the service, if it was noted in ``service_clock``.
    """

    found: Any
    number: int
    last: int
    began: float
    service_clock: ServiceClock
    sample: Sample | None


class SharedReads:
    """The newest read of each kind, by all threads.

    ``side_by_side`` says how many clusters are looked at at once; one thread at a time holds the ``turn``.
    """

    def __init__(self, side_by_side: int, turn: AbstractContextManager[object], clock: Clock) -> None:
        self.lists_clusters = side_by_side >= FEWEST_SIDE_BY_SIDE
        self.begun = 0
        self._most_listed = side_by_side * LISTED_FOR_EACH
        self._clock = clock
        self._reads: dict[Hashable, _Read] = {}
        self._guard = Lock()
        self._turn = turn
        # Whether the list shows all that the record of one cluster shows; None if they were not compared yet.
        self._list_is_whole: bool | None = None

    def newest(self, key: Hashable, after: int) -> _Read | None:
        """The newest read of this kind, if it was begun after that with the number ``after`` and is not too old."""
        found = self._reads.get(key)
        return found if found is not None and found.number > after and not self.is_old(found.began) else None

    def is_old(self, began: float) -> bool:
        """Whether a read that was begun then decides about no request any more."""
        return self._clock.now() - began > MOST_AGE

    def read(self, key: Hashable, service_clock: ServiceClock, read: Callable[[], Any]) -> _Read:
        """Read it, and keep it for others."""
        with self._guard:
            self.begun += 1
            number = self.begun
        began = self._clock.now()
        found = read()
        with self._guard:
            new = _Read(found, number, self.begun, began, service_clock, service_clock.newest)
            known = self._reads.get(key)
            if known is None or known.number < number:
                self._reads[key] = new
        return new

    def read_together(self, key: Hashable, service_clock: ServiceClock, read: Callable[[], Any], after: int) -> _Read:
        """The same by one thread at a time; those that come meanwhile take what it reads."""
        with self._turn:
            known = self.newest(key, after)
            if known is None:
                self._clock.sleep(GATHERING)
                known = self.read(key, service_clock, read)
            return known

    def trusts_list(self, compare: Callable[[], bool]) -> bool:
        """Whether the list shows all that the record of one cluster shows, by the first comparison that succeeds."""
        with self._turn:
            if self._list_is_whole is None:
                self._list_is_whole = compare()
            return self._list_is_whole

    def count_clusters(self, number: int) -> None:
        """Learn how many clusters a list has. A long one is not read again."""
        self.lists_clusters = self.lists_clusters and number <= self._most_listed


class Pausing(Protocol):
    """What sends the requests of a connection, and calls this after each pause that the service has asked for."""

    paused: Callable[[], None] | None


class Sharer(Protocol):
    """A connection whose reads may be shared."""

    sharing: ReadsInOrder | None

    @property
    def client(self) -> Pausing:
        """What sends its requests."""


@contextmanager
def sharing_reads(api: Sharer, reads: ReadsInOrder) -> Iterator[None]:
    """Share the reads of a connection meanwhile."""
    api.sharing = reads
    try:
        with hearing_pauses(api.client, reads):
            yield
    finally:
        api.sharing = None


@contextmanager
def hearing_pauses(client: Pausing, reads: ReadsInOrder) -> Iterator[None]:
    """Note the pauses of a connection meanwhile."""
    before, client.paused = client.paused, reads.note_pause
    try:
        yield
    finally:
        client.paused = before


class ReadsInOrder:
    """The reads of restarts that are looked at one after another by one thread, by the rule of this file.

    Since each read of a restart is begun after the answer to the one before it, what is asked for again is read from
    the service.
    """

    def __init__(self, shared: SharedReads) -> None:
        self.shared = shared
        # How many pauses there were, whatever they were for.
        self.pauses = 0
        self._since = self._last = 0
        # When the first of the reads that count was begun, and the oldest that this restart has from others; long ago
        # if there was a pause since.
        self._first: float | None = None
        self._oldest: float | None = None
        # The numbers of reads by others whose time of the service this thread's clock has learned.
        self._learned: set[int] = set()

    def begin(self) -> None:
        """Another restart begins, or has found its target and begins to look."""
        self._last, self._oldest = self._since, None

    def decide_anew(self) -> None:
        """Nothing that was read so far decides about this restart: all of it is read now."""
        self._oldest = None

    def note_pause(self) -> None:
        """A pause was made: what was read before does not count."""
        self.pauses += 1
        self.forget()

    def forget(self) -> None:
        """A lock was taken: what was read before does not count."""
        self._since = self._last = self.shared.begun
        self._first = None
        if self._oldest is not None:
            self._oldest = -inf

    @property
    def are_there(self) -> bool:
        """Whether there are reads that the next restart may use."""
        return self._first is not None and not self.shared.is_old(self._first)

    @property
    def are_fresh(self) -> bool:
        """Whether those are not too old for a request that is sent now, and from after the last pause."""
        return self._oldest is None or not self.shared.is_old(self._oldest)

    def read(
        self, key: Hashable, service_clock: ServiceClock, read: Callable[[], Found], *, together: bool = False
    ) -> Found:
        """What another restart has read, if that counts, else what ``read`` reads. Raises the ServiceError of that.

        ``together``: other threads are likely to need it at the same moment. ``service_clock`` is that of this thread,
        which learns what the answer has shown to another one.
        """
        known, shared = self.shared.newest(key, self._last), self.shared
        begun = shared.begun
        if known is None and together:
            known = shared.read_together(key, service_clock, read, self._last)
        elif known is None:
            known = shared.read(key, service_clock, read)
        if known.number > self._since:
            self._first = known.began if self._first is None else min(self._first, known.began)
        self._last = max(self._last, known.last)
        is_own = known.service_clock is service_clock
        if not is_own or known.number <= begun:
            self._oldest = known.began if self._oldest is None else min(self._oldest, known.began)
        if not is_own and known.sample is not None and known.number not in self._learned:
            self._learned.add(known.number)
            service_clock.shown(*known.sample)
        found: Found = known.found
        return found
