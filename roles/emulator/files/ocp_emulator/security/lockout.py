# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How many wrong passwords lock a user or a client, counted for how long, and how long a lock lasts.

An access key with a wrong signature does not lock the user, and the key of a locked user still works:
docs/dev/contract.md, "Lock-out", is about passwords only. The control API checks only credentials, so that it can
always unlock a user.

Our choices where it is silent: a lock lasts as long as the time span in which passwords are counted, by the clock of
the emulator; attempts during a lock are neither checked nor counted; the right password resets the count of the user,
but not that of the client; if the number for a user is given, a client may send twice as many.
"""

import sqlite3
from dataclasses import dataclass
from typing import Literal

from ocp_emulator.base import errors
from ocp_emulator.base.clock import SECOND
from ocp_emulator.base.compatibility import LockoutAttempts
from ocp_emulator.base.time_format import iso
from ocp_emulator.security.authentication import Authenticator, Caller, WrongPassword
from ocp_emulator.security.signing import SignedRequest
from ocp_emulator.store.database import Store

LockoutKind = Literal["user", "client"]

_MINUTE = 60 * SECOND
_OF_CLIENT = 10


@dataclass(frozen=True)
class _Rule:
    kind: LockoutKind
    attempts: int
    span: int


class LoginGuard:
    """Admits callers; counts wrong passwords of users and client addresses. Counts and locks are in the database."""

    def __init__(
        self, store: Store, authenticator: Authenticator, max_attempts: int | None, default: LockoutAttempts
    ) -> None:
        """`max_attempts` wrong passwords lock a user, `default` if it is None; 0 never locks."""
        attempts = int(default) if max_attempts is None else max_attempts
        self._store = store
        self._authenticator = authenticator
        self._enabled = attempts > 0
        self._user = _Rule("user", attempts, 30 * _MINUTE)
        self._client = _Rule("client", _OF_CLIENT if max_attempts is None else 2 * attempts, 10 * _MINUTE)

    def log_in(self, request: SignedRequest, machine_now: int, client: str, now: int) -> Caller:
        """The caller. ApiError 401 for missing or wrong credentials, 401/30007 for a locked user or client."""
        try:
            caller = self._authenticator.authenticate(request, machine_now)
        except WrongPassword as error:
            if self._enabled:
                self._check(error.name, client, now)
                self._record_failure(error.name if error.exists else None, client, now)
            raise
        if caller.by_password and self._enabled:
            self._check(caller.user.name, client, now)
            self._record_success(caller.user.name)
        return caller

    def _check(self, user: str, client: str, now: int) -> None:
        """ApiError 401/30007 when one of them is locked."""
        row = self._store.db.execute(
            "SELECT * FROM lockouts WHERE until > ? AND (kind, name) IN (('user', ?), ('client', ?)) LIMIT 1",
            (now, user, client),
        ).fetchone()
        if row is not None:
            raise errors.locked_out(row["kind"], row["name"], iso(row["until"]))

    def _record_failure(self, user: str | None, client: str, now: int) -> None:
        """Count a wrong password; `user` is None when the user does not exist."""
        with self._store.transaction() as db:
            if user is not None:
                _count(db, self._user, user, now)
            _count(db, self._client, client, now)

    def _record_success(self, user: str) -> None:
        """Forget the wrong passwords of a user."""
        counted = ("SELECT 1 FROM wrong_passwords WHERE kind = 'user' AND name = ?", (user,))
        if self._store.db.execute(*counted).fetchone():
            with self._store.transaction() as db:
                db.execute("DELETE FROM wrong_passwords WHERE kind = 'user' AND name = ?", (user,))


def active_lockouts(db: sqlite3.Connection, now: int) -> list[sqlite3.Row]:
    """Users and clients that are locked now: kind, name, since, until."""
    return db.execute("SELECT * FROM lockouts WHERE until > ? ORDER BY since, kind, name", (now,)).fetchall()


def unlock(db: sqlite3.Connection, now: int, name: str | None) -> None:
    """Unlock a user or a client, or all for None, and reset its count. ApiError 404 when it is not locked."""
    removed = db.execute(
        "DELETE FROM lockouts WHERE :name IS NULL OR (name = :name AND until > :now)", {"name": name, "now": now}
    ).rowcount
    if name is not None and not removed:
        raise errors.not_found(f"A lock of '{name}'")
    db.execute("DELETE FROM wrong_passwords WHERE :name IS NULL OR name = :name", {"name": name})


def _count(db: sqlite3.Connection, rule: _Rule, name: str, now: int) -> None:
    key = (rule.kind, name)
    db.execute("DELETE FROM wrong_passwords WHERE kind = ? AND at <= ?", (rule.kind, now - rule.span))
    db.execute("INSERT INTO wrong_passwords VALUES (?, ?, ?)", (*key, now))
    (counted,) = db.execute("SELECT count(*) FROM wrong_passwords WHERE kind = ? AND name = ?", key).fetchone()
    if counted >= rule.attempts:
        db.execute("DELETE FROM wrong_passwords WHERE kind = ? AND name = ?", key)
        db.execute("INSERT OR REPLACE INTO lockouts VALUES (?, ?, ?, ?)", (*key, now, now + rule.span))
