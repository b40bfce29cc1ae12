# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A journal that ends with its object: for simulations, and where nothing can or may be written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import RLock

from .._base.clock import SYSTEM_CLOCK, Clock
from .journal import acquire
from .sqlite_run import sqlite_has_tables, sqlite_transaction
from .store import Run, SqlJournal


class MemoryJournal(SqlJournal):
    """See ``Journal``. It goes by the wall time of ``clock``.

    ``place`` and ``is_shared`` are those of the journal it is a copy of.
    """

    def __init__(self, clock: Clock = SYSTEM_CLOCK, place: str = "in memory", *, is_shared: bool = False) -> None:
        super().__init__()
        self.is_shared = is_shared
        self._place = place
        self._clock = clock
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._one_thread = RLock()
        self._locked: set[str] = set()

    @property
    def place(self) -> str:
        return self._place

    @contextmanager
    def lock(self, names: Sequence[str], clock: Clock, timeout: float) -> Iterator[None]:
        wanted = set(names)

        def attempt() -> bool:
            with self._one_thread:
                if is_free := self._locked.isdisjoint(wanted):
                    self._locked |= wanted
                return is_free

        acquire(attempt, clock, timeout, holders="other restarts of this controller")
        try:
            yield
        finally:
            with self._one_thread:
                self._locked -= wanted

    def renew(self) -> None:
        """Nothing: a lock ends with who holds it."""

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Run]:
        with self._one_thread, sqlite_transaction(self._connection, writes=writes) as run:
            yield run

    def _has_tables(self, run: Run) -> bool:
        return sqlite_has_tables(run)

    def _now(self, _run: Run) -> float:
        return self._clock.wall()
