# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The SQLite database: when it is created or refused, and its transactions.

One process owns a database at a time. A transaction that has ended survives the end of the process (WAL; `synchronous`
NORMAL gives up only what a crash of the whole machine may take). The tables are in schema.sql. Queries are in the files
that need them.
"""

import copy
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ocp_emulator.base.permissions import Permission
from ocp_emulator.fleet.entities import AccessKey, Fleet, User
from ocp_emulator.fleet.generate_fleet import default_fleet
from ocp_emulator.store.seed import seed

SCHEMA_VERSION = "11"
_SCHEMA = Path(__file__).with_name("schema.sql")


class StoreError(ValueError):
    """A database that cannot be used; the message is one sentence that says why."""


def is_full(error: sqlite3.Error) -> bool:
    """Whether a write failed because the disk is full."""
    return error.sqlite_errorcode == sqlite3.SQLITE_FULL


class Store:
    """An open database. `db` reads at any time and writes inside `transaction()`."""

    def __init__(
        self,
        database: Path | None,
        fleet: Fleet | None,
        now: int,
        prepare: Callable[[sqlite3.Connection], None] = lambda _db: None,
    ) -> None:
        """Open `database`, or one in memory; fill a new one with `fleet`, or the default fleet, and `prepare` it.

        An existing database keeps its own fleet: StoreError when `fleet` is another one, when the file is not a
        database of this emulator, or when another process has it open.
        """
        try:
            if database is not None:
                # It contains passwords and secrets.
                database.touch(mode=0o600)
            self.db = sqlite3.connect(database or ":memory:", isolation_level=None, timeout=0, check_same_thread=False)
            self.db.row_factory = sqlite3.Row
            # The instant of the current change: the engine also makes changes that were due earlier.
            self.instant = now
            # Locked from the first access on: a second emulator on the same file would run the same tasks.
            self.db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self.db.execute("PRAGMA journal_mode = WAL")
            self.db.execute("PRAGMA synchronous = NORMAL")
            with self.transaction():
                self._create_or_check(fleet, now, prepare)
        except OSError as error:
            raise StoreError(f"the file cannot be written: {error.strerror or error}") from error
        except sqlite3.Error as error:
            self.close()
            if "locked" in str(error):
                raise StoreError("another process has it open") from error
            raise StoreError(f"it cannot be used: {error}") from error
        except StoreError:
            self.close()
            raise

    def close(self) -> None:
        """Close the database."""
        if hasattr(self, "db"):
            self.db.close()

    def reading(self, db: sqlite3.Connection) -> "Store":
        """A store that reads another database with the same tables."""
        store = copy.copy(self)
        store.db = db
        return store

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing of the block; when it has ended, its writes are durable."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield self.db
        except BaseException:
            # A full disk may have ended it already.
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def users(self) -> list[User]:
        """All users."""
        return [
            User(row["id"], row["name"], row["password"], tuple(map(Permission, json.loads(row["permissions"]))))
            for row in self.db.execute("SELECT * FROM users")
        ]

    def access_keys(self) -> list[AccessKey]:
        """All access keys."""
        return [
            AccessKey(row["id"], row["secret"], row["user_id"]) for row in self.db.execute("SELECT * FROM access_keys")
        ]

    def _create_or_check(self, fleet: Fleet | None, now: int, prepare: Callable[[sqlite3.Connection], None]) -> None:
        tables = {row["name"] for row in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            self._create(fleet or default_fleet(), now)
            prepare(self.db)
            return
        meta = dict(map(tuple, self.db.execute("SELECT key, value FROM meta"))) if "meta" in tables else {}
        if meta.get("schema") != SCHEMA_VERSION:
            raise StoreError("it was not made by this version of the emulator")
        if fleet is not None and fleet.fingerprint() != meta["fleet"]:
            raise StoreError("it was made with another fleet; give it the same one, or none, or take a new database")

    def _create(self, fleet: Fleet, now: int) -> None:
        for statement in _statements(_SCHEMA.read_text(encoding="utf-8")):
            self.db.execute(statement)
        meta = [("schema", SCHEMA_VERSION), ("fleet", fleet.fingerprint())]
        self.db.executemany("INSERT INTO meta VALUES (?, ?)", meta)
        seed(self.db, fleet, now)


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one: `executescript` would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
