# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Copies of the database in memory: that of the start, and named ones; the database can be set back to each."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from ocp_emulator.base import errors

MOST = 50


@dataclass(frozen=True)
class Snapshot:
    """A copy, and the time that it shows."""

    db: sqlite3.Connection
    at: int


class Snapshots:
    """The snapshots of one database. A restart of the process loses them."""

    def __init__(self, db: sqlite3.Connection, now: int) -> None:
        """Copies the start."""
        self._db = db
        self._start = _copy(db, now)
        self._named: dict[str, Snapshot] = {}

    def all(self) -> Mapping[str, Snapshot]:
        """The named ones, oldest first."""
        return self._named

    def take(self, name: str, now: int) -> None:
        """Copy the database under a name, which may have been used before. ApiError 400 when there are too many."""
        if name in self._named:
            self.remove(name)
        if len(self._named) >= MOST:
            raise errors.illegal_argument(f"There are {MOST} snapshots already: delete one.")
        self._named[name] = _copy(self._db, now)

    def remove(self, name: str) -> None:
        """Forget a snapshot. ApiError 404."""
        self.find(name).db.close()
        del self._named[name]

    def find(self, name: str) -> Snapshot:
        """A named one. ApiError 404."""
        if name not in self._named:
            raise errors.not_found(f"Snapshot {name}")
        return self._named[name]

    def restore(self, snapshot: Snapshot | None) -> None:
        """Set the database back to a snapshot, or to the start; not inside of a transaction."""
        (snapshot or self._start).db.backup(self._db)

    def close(self) -> None:
        """Close them all."""
        for snapshot in (self._start, *self._named.values()):
            snapshot.db.close()


def _copy(db: sqlite3.Connection, now: int) -> Snapshot:
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    db.backup(copy)
    return Snapshot(copy, now)
