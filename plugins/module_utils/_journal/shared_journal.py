# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The journal of several controllers: a database with leases as locks, and what is noted while it cannot be reached."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import get_ident
from typing import TYPE_CHECKING, Any

from .._base.clock import Clock
from .._base.errors import JournalError
from .._base.parsing import Record
from .journal import Journal, acquire
from .journal_url import NamedDatabase
from .local_journal import usable_journal
from .memory_journal import MemoryJournal
from .rows import RUNNING, UNKNOWN, RequestRow
from .store import KEY, LONG, TABLES, TAKE_TURN, Run, SqlJournal, among, digest

if TYPE_CHECKING:
    from sqlalchemy import Connection

# Seconds.
LEASE = 30.0
SHORTEST_PAUSE = 0.2
WITH_LEASES = {
    "ocp_journal_leases": {
        "name_key": f"{KEY} PRIMARY KEY",
        "held_until": "DOUBLE PRECISION NOT NULL",
        "fence": "BIGINT NOT NULL",
        "content": LONG,
    },
    **TABLES,
}
OUTBOX = "outbox"
# Outcomes that are not final, the one that tells least first.
PROVISIONAL = (None, UNKNOWN, RUNNING)


class SharedJournal(SqlJournal):
    """The journal in the database with this URL. See ``Journal``.

    A lock is a lease of ``lease`` seconds by the clock of the database; ``begin`` needs one, and renews it. Raises
    OptionError if the URL cannot be used.
    """

    tables = WITH_LEASES
    is_shared = True

    def __init__(self, url: str, *, lease: float = LEASE) -> None:
        super().__init__()
        self._database = NamedDatabase(url)
        self.long_text = self._database.kind.long_text
        self._lease = lease
        # The fence of each lease, by thread and key.
        self._held: dict[int, dict[str, int]] = {}
        self._id = ""
        self._has_mail = True

    @property
    def place(self) -> str:
        return self._database.place

    def prepare(self) -> None:
        if not self._is_ready:
            self._make_tables()
            with self._transaction(writes=False) as run:
                self._id = str(run("SELECT journal_id FROM ocp_journal")[0][0])
        if self._has_mail:
            self._deliver()

    @contextmanager
    def lock(self, names: Sequence[str], clock: Clock, timeout: float) -> Iterator[None]:
        wanted = {digest(name): name for name in names}
        held = self._held.setdefault(get_ident(), {})

        def attempt() -> bool:
            taken = self._taken(wanted)
            held.update(taken)
            return len(taken) == len(wanted)

        acquire(attempt, clock, timeout, holders="other restarts", pause=SHORTEST_PAUSE)
        try:
            yield
        finally:
            self._release({key: held.pop(key) for key in wanted})

    def renew(self) -> None:
        with self._session(writes=True) as run:
            self._extend(run)

    def _check_lock(self, run: Run) -> None:
        if not self._extend(run):
            raise JournalError("A request is noted without a lock; this is a bug. Report it.")

    def note(
        self,
        number: int,
        *,
        task_id: int | None = None,
        began: str | None = None,
        outcome: str | None = None,
        back: bool | None = None,
        looked_at: float | None = None,
    ) -> None:
        """See ``Journal``. While the database cannot be reached, this controller keeps the note."""
        try:
            super().note(number, task_id=task_id, began=began, outcome=outcome, back=back, looked_at=looked_at)
        except JournalError:
            if not self._is_ready:
                raise
            # Who looks at it meanwhile matters to nobody later.
            self._keep(number, {"task_id": task_id, "began": began, "outcome": outcome, "back": back})

    def copy(self) -> MemoryJournal:
        """A copy of it in memory."""
        copy = MemoryJournal(place=self.place, is_shared=True)
        if self._database.exists:
            self.copy_to(copy)
        return copy

    def _make_tables(self) -> None:
        from sqlalchemy.exc import DBAPIError, OperationalError

        try:
            super().prepare()
        except JournalError as error:
            if isinstance(error.__cause__, OperationalError) or not isinstance(error.__cause__, DBAPIError):
                raise
            # Another controller has made them at the same moment.
            super().prepare()

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Run]:
        from sqlalchemy import text
        from sqlalchemy.exc import SQLAlchemyError

        connection = self._connection()

        def run(sql: str, values: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (), /) -> list[tuple[Any, ...]]:
            result = connection.execute(text(sql), values or None)
            return [tuple(row) for row in result] if result.returns_rows else []

        try:
            with connection, connection.begin():
                for statement in self._database.kind.begin if writes else ():
                    run(statement)
                yield run
        except (SQLAlchemyError, OSError) as error:
            raise self._database.error(error) from error

    def _connection(self) -> Connection:
        try:
            return self._database.engine.connect()
        except Exception as error:  # drivers raise errors of any kind here
            raise self._database.error(error) from error

    def _has_tables(self, _run: Run) -> bool:
        from sqlalchemy import inspect

        return inspect(self._database.engine).has_table("ocp_journal")

    def _now(self, run: Run) -> float:
        return float(run(self._database.kind.clock)[0][0])

    # Leases

    def _taken(self, wanted: Mapping[str, str]) -> dict[str, int]:
        """The fences of the leases, by key; none if somebody else has one of them."""
        with self._session() as run:
            if not self._are_free(run, wanted):
                return {}
        with self._session(writes=True) as run:
            if not self._are_free(run, wanted):
                return {}
            last = {key: fence for key, _until, fence, _content in self._leases(run, wanted)}
            until, owner = self._now(run) + self._lease, f"{socket.gethostname()} (process {os.getpid()})"
            for key, name in wanted.items():
                run("DELETE FROM ocp_journal_leases WHERE name_key = :key", {"key": key})
                content = json.dumps({"name": name, "owner": owner})
                values = {"key": key, "until": until, "fence": last.get(key, 0) + 1, "content": content}
                run("INSERT INTO ocp_journal_leases VALUES (:key, :until, :fence, :content)", values)
            return {key: last.get(key, 0) + 1 for key in wanted}

    def _are_free(self, run: Run, wanted: Iterable[str]) -> bool:
        now = self._now(run)
        return all(until <= now for _key, until, _fence, _content in self._leases(run, wanted))

    def _extend(self, run: Run) -> dict[str, int]:
        """The fences of the leases of this thread, or of all if it has none, by key, renewed."""
        of_all = {key: fence for leases in list(self._held.values()) for key, fence in leases.items()}
        mine = self._held.get(get_ident()) or of_all
        now = self._now(run)
        found = {key: (until, fence, content) for key, until, fence, content in self._leases(run, mine)}
        for key, fence in mine.items():
            until, current, content = found.get(key, (0, 0, "{}"))
            if current != fence or until <= now:
                raise self._lost(json.loads(content))
        for key in mine:
            values = {"key": key, "until": now + self._lease}
            run("UPDATE ocp_journal_leases SET held_until = :until WHERE name_key = :key", values)
        return mine

    def _lost(self, lease: Record) -> JournalError:
        name, owner = lease.get("name", "a cluster"), lease.get("owner", "Nobody")
        return JournalError(
            f"The lock of {name} in the journal {self.place} was lost, as it was not renewed for {self._lease:g} "
            f"seconds. {owner} had it last. No request is sent without it. Run this again."
        )

    def _release(self, fences: Mapping[str, int]) -> None:
        # Otherwise it ends by itself.
        with suppress(JournalError), self._session(writes=True) as run:
            for key, fence in fences.items():
                values = {"key": key, "fence": fence}
                run("UPDATE ocp_journal_leases SET held_until = 0 WHERE name_key = :key AND fence = :fence", values)

    def _leases(self, run: Run, keys: Iterable[str]) -> list[tuple[Any, ...]]:
        sql = "SELECT name_key, held_until, fence, content FROM ocp_journal_leases WHERE name_key"
        return among(run, sql, list(keys))

    # The outbox

    def _keep(self, number: int, known: Record) -> None:
        """Keep a note on this controller until the next use. Raises JournalError if it cannot."""
        key: Sequence[str | int] = [self._id, number]
        outbox = usable_journal(read_only=False, is_required=True, warnings=[])
        earlier = json.loads(outbox.recall(OUTBOX, key) or "{}")
        told = {name: value for name, value in known.items() if value is not None}
        outbox.remember(OUTBOX, key, json.dumps({**earlier, **told}))
        self._has_mail = True

    def _deliver(self) -> None:
        """Bring in what was kept on this controller."""
        waiting = self._waiting()
        if waiting:
            with self._transaction(writes=True) as run:
                run(TAKE_TURN)
                for (_id, number), value in waiting:
                    for row, _expires_at in self._requests(run, [number]):
                        self._update(run, _advanced(row, **json.loads(value)))
            with suppress(JournalError):
                outbox = usable_journal(read_only=False, is_required=True, warnings=[])
                for key, _value in waiting:
                    outbox.forget(OUTBOX, key)
        self._has_mail = False

    def _waiting(self) -> list[tuple[list[Any], str]]:
        # If it cannot be read, the request stays without an outcome, which is on the safe side.
        with suppress(JournalError):
            facts = usable_journal(read_only=True, is_required=False, warnings=[]).entries()["facts"]
            return [
                (each["key"], each["value"]) for each in facts if (each["kind"], each["key"][0]) == (OUTBOX, self._id)
            ]
        return []


def shared_journal(url: str, *, read_only: bool, lease: float = LEASE) -> Journal:
    """The journal with this URL, which can be used; with ``read_only`` a copy of it in memory, and nothing is written.

    Raises OptionError if the URL cannot be used, and JournalError if the database cannot.
    """
    journal = SharedJournal(url, lease=lease)
    if read_only:
        return journal.copy()
    journal.prepare()
    return journal


def _advanced(
    row: RequestRow,
    task_id: int | None = None,
    began: str | None = None,
    outcome: str | None = None,
    back: bool = False,
) -> RequestRow:
    """The row with what was known at the end of its request, where nobody has noted more since."""
    known = replace(row, task_id=row.task_id or task_id, began=row.began or began, back=row.back or back)
    return known if _rank(outcome) <= _rank(row.outcome) else replace(known, outcome=outcome)


def _rank(outcome: str | None) -> int:
    return PROVISIONAL.index(outcome) if outcome in PROVISIONAL else len(PROVISIONAL)
