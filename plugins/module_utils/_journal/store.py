# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The tables of the journal, and the SQL of all that is done with them, the same for every database.

Keys are digests, and all else is JSON in ASCII: so neither collation nor character set of a database matters.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from .._base.cli_hints import clear_command
from .._base.clock import Clock
from .._base.errors import JournalError, NameTaken
from .._base.parsing import Record
from .encoded_rows import read_request, read_sight, request_json, request_record, sight_record
from .journal import KEPT_FOR, Allows
from .rows import RUNNING, FirstSight, MemberKey, RequestRow, Wish

VERSION = 2
KEY, LONG, TIME = "VARCHAR(64) NOT NULL", "{long_text} NOT NULL", "DOUBLE PRECISION"
# The table with the version is made last: a creation that was killed before is begun again.
TABLES = {
    "ocp_journal_changes": {"change_key": f"{KEY} PRIMARY KEY", "content": LONG},
    "ocp_journal_sights": {"sight_key": f"{KEY} PRIMARY KEY", "change_key": KEY, "content": LONG},
    "ocp_journal_requests": {
        "number": "BIGINT NOT NULL PRIMARY KEY",
        "expires_at": TIME,
        "takes_down": "INTEGER NOT NULL",
        "content": LONG,
    },
    "ocp_journal_members": {"member_key": KEY, "number": "BIGINT NOT NULL", "PRIMARY KEY": "(member_key, number)"},
    "ocp_journal_facts": {"fact_key": f"{KEY} PRIMARY KEY", "content": LONG},
    "ocp_journal": {
        "only_row": "INTEGER NOT NULL PRIMARY KEY",
        "version": "INTEGER NOT NULL",
        "journal_id": KEY,
        "last_number": "BIGINT NOT NULL",
        "turn": "BIGINT NOT NULL",
    },
}
# It locks the row, so transactions that write follow each other, in every database.
TAKE_TURN = "UPDATE ocp_journal SET turn = turn + 1"
START_ANEW = "Look at the restart tasks of OCP, since a new journal knows of none, and move this one away."
REQUESTS = "SELECT number, expires_at, content FROM ocp_journal_requests"
# Databases limit the number of parameters.
KEYS_AT_ONCE = 500

Made = TypeVar("Made")


class Run(Protocol):
    """Executes a statement in a transaction and returns its rows; with a list of parameters, once for each of them."""

    def __call__(
        self, sql: str, values: Mapping[str, Any] | Sequence[Mapping[str, Any]] = ..., /
    ) -> list[tuple[Any, ...]]:
        """The rows, each as a tuple; none for a statement that returns none."""


class SqlJournal(ABC):
    """A journal in a database. ``Journal`` says what its methods do."""

    # The type of long texts.
    long_text = "TEXT"
    tables = TABLES
    is_shared = False

    def __init__(self) -> None:
        self._is_ready = False

    @property
    @abstractmethod
    def place(self) -> str:
        """Where it is, for people: such as the path of its file."""

    def is_of_service(self, row: RequestRow, url: str) -> bool:
        return self.is_shared or row.url == url

    @abstractmethod
    def _transaction(self, *, writes: bool) -> AbstractContextManager[Run]:
        """A transaction; an exception rolls it back. Raises JournalError for an error of the database."""

    @abstractmethod
    def _has_tables(self, run: Run) -> bool:
        """Whether the database has the table with the version."""

    @abstractmethod
    def _now(self, run: Run) -> float:
        """Seconds since 1970 by the clock of the journal."""

    def prepare(self) -> None:
        """Make the tables if there are none.

        Raises JournalError if they are of another version, or if nothing can be written.
        """
        if self._is_ready:
            return
        with self._transaction(writes=True) as run:
            if not (self._has_tables(run) and self._has_version(run)):
                for table, columns in self.tables.items():
                    described = ", ".join(f"{name} {kind}" for name, kind in columns.items())
                    run(f"CREATE TABLE IF NOT EXISTS {table} ({described})".format(long_text=self.long_text))
                run("INSERT INTO ocp_journal VALUES (1, :version, :id, 0, 0)", {"version": VERSION, "id": uuid4().hex})
            run(TAKE_TURN)
        self._is_ready = True

    def copy_to(self, other: SqlJournal) -> None:
        """Copy all that is kept, if there is anything, into an empty journal."""
        with self._transaction(writes=False) as source, other._session(writes=True) as run:
            if not (self._has_tables(source) and self._has_version(source)):
                return
            for table in TABLES.keys() - {"ocp_journal"}:
                names = [name for name in TABLES[table] if name != "PRIMARY KEY"]
                rows = source(f"SELECT {', '.join(names)} FROM {table}")
                if rows:
                    values = [dict(zip(names, row, strict=True)) for row in rows]
                    run(f"INSERT INTO {table} VALUES (:{', :'.join(names)})", values)
            [[last]] = source("SELECT last_number FROM ocp_journal")
            run("UPDATE ocp_journal SET last_number = :last", {"last": last})

    @abstractmethod
    def lock(self, names: Sequence[str], clock: Clock, timeout: float) -> AbstractContextManager[None]:
        """See ``Journal.lock``."""

    @abstractmethod
    def renew(self) -> None:
        """See ``Journal.renew``."""

    def now(self) -> float:
        with self._session() as run:
            return self._now(run)

    def sights(self, change: str, members: Iterable[MemberKey]) -> dict[MemberKey, FirstSight]:
        every = list(members)
        with self._session() as run:
            found = self._sights(run, change, every)
            for old, new in _renamed(every, found).items():
                of_old = [member.in_cluster(old) for member in every if member.cluster == new]
                found |= {sight.member.in_cluster(new): sight for sight in self._sights(run, change, of_old).values()}
            return found

    def first_uses(self, change: str) -> list[FirstSight]:
        with self._session() as run:
            return self._first_uses(run, change, None)

    def register(self, change: str, wish: Wish, sights: Sequence[FirstSight]) -> None:
        with self._session(writes=True) as run:
            members = [sight.member for sight in sights]
            self._follow_names(run, change, members)
            for cluster in sorted({member.cluster for member in members}):
                self._bind(run, cluster, change, wish)
            kept = self._sights(run, change, members)
            for sight in sights:
                earlier = kept.get(sight.member)
                kept[sight.member] = sight if earlier is None else earlier.completed_by(sight)
                if kept[sight.member] != earlier:
                    self._note_sight(run, change, kept[sight.member])

    def check(self, change: str, wish: Wish, members: Iterable[MemberKey]) -> None:
        with self._session() as run:
            every = list(members)
            names = {member.cluster for member in every} | _renamed(every, self._sights(run, change, every)).keys()
            for cluster in sorted(names):
                self._is_bound(run, cluster, change, wish)

    def requests(self, members: Iterable[MemberKey]) -> list[RequestRow]:
        keys = [digest(*member.parts) for member in members]
        with self._session() as run:
            return self._requests_of(run, keys)

    def requests_of_task(self, task_id: int) -> list[RequestRow]:
        with self._session() as run:
            return [row for row in self._requests_of(run, [_task_key(task_id)]) if row.task_id == task_id]

    def down(self) -> list[RequestRow]:
        with self._session() as run:
            return self._down(run)

    def begin(self, row: RequestRow, allows: Allows | None = None) -> int | None:
        with self._session(writes=True) as run:
            self._check_lock(run)
            if allows is not None and not allows(self._down(run)):
                return None
            return self._insert(run, row)

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
        known = {"task_id": task_id, "began": began, "outcome": outcome, "back": back, "looked_at": looked_at}
        with self._session(writes=True) as run:
            for row, _expires_at in self._requests(run, [number]):
                facts = {name: value for name, value in known.items() if value is not None}
                noted = row.with_facts(**facts)
                self._update(run, noted)
                if noted.task_id is not None and noted.task_id != row.task_id:
                    self._index_task(run, noted)

    def claim(self, number: int, task_id: int, began: str | None) -> bool:
        with self._session(writes=True) as run:
            for mine, _expires_at in self._requests(run, [number]):
                claimed = replace(mine, task_id=task_id, began=began, outcome=RUNNING)
                rows = self._requests_of(run, [digest(*member.parts) for member, _shown in mine.members])
                others = [row for row in rows if row.number != number and self.is_of_service(row, mine.url)]
                others = [row for row in others if not row.witnessed]
                if mine.task_id is not None or any(map(claimed.has_same_task, others)):
                    return False
                self._update(run, claimed)
                self._index_task(run, claimed)
            return True

    def remember(self, kind: str, key: Sequence[str | int], value: str) -> None:
        fact = {"kind": kind, "key": list(key), "value": value}
        with self._session(writes=True) as run:
            run("DELETE FROM ocp_journal_facts WHERE fact_key = :key", {"key": digest(kind, *key)})
            values = {"key": digest(kind, *key), "content": json.dumps(fact)}
            run("INSERT INTO ocp_journal_facts VALUES (:key, :content)", values)

    def recall(self, kind: str, key: Sequence[str | int]) -> str | None:
        with self._session() as run:
            found = run("SELECT content FROM ocp_journal_facts WHERE fact_key = :key", {"key": digest(kind, *key)})
            return self._made(lambda fact: str(fact["value"]), found[0][0]) if found else None

    def forget(self, kind: str, key: Sequence[str | int]) -> None:
        with self._session(writes=True) as run:
            run("DELETE FROM ocp_journal_facts WHERE fact_key = :key", {"key": digest(kind, *key)})

    def entries(self) -> dict[str, list[Record]]:
        with self._session() as run:
            sights: dict[str, list[Record]] = {}
            for key, content in run("SELECT change_key, content FROM ocp_journal_sights ORDER BY sight_key"):
                sights.setdefault(key, []).append(self._made(dict, content))
            changes = run("SELECT change_key, content FROM ocp_journal_changes ORDER BY change_key")
            facts = run("SELECT content FROM ocp_journal_facts ORDER BY fact_key")
            return {
                "changes": [{**self._made(dict, content), "sights": sights.get(key, [])} for key, content in changes],
                "requests": [
                    {"number": row.number, "takes_down": row.takes_down, **request_record(row)}
                    for row, _expires_at in self._requests(run, None)
                ],
                "facts": [self._made(dict, content) for (content,) in facts],
            }

    def clear(
        self,
        *,
        change: str | None = None,
        cluster: str | None = None,
        number: int | None = None,
        everything: bool = False,
    ) -> int:
        with self._session(writes=True) as run:
            if everything:
                return self._empty(run)
            used = set() if change is None else {sight.member for sight in self._first_uses(run, change, cluster)}
            names = [] if change is None else self._forget_names(run, change, cluster)
            every = [row for row, _expires_at in self._requests(run, None) if not row.settled]
            settled = [row for row in every if row.number == number or _is_of(row, change, cluster, used)]
            end = self._now(run) + KEPT_FOR
            for row in settled:
                self._update(run, replace(row, settled=True))
                ends = {"number": row.number, "end": end}
                run("UPDATE ocp_journal_requests SET expires_at = :end WHERE number = :number", ends)
            return len(names) + len(settled)

    @contextmanager
    def _session(self, *, writes: bool = False) -> Iterator[Run]:
        self.prepare()
        with self._transaction(writes=writes) as run:
            if writes:
                run(TAKE_TURN)
            yield run

    def _check_lock(self, _run: Run) -> None:
        """Raise JournalError if a request must not be noted, since its lock is not held."""
        return

    def _has_version(self, run: Run) -> bool:
        """Whether the tables are complete. Raises JournalError for those of another version."""
        versions = [version for (version,) in run("SELECT version FROM ocp_journal")]
        if versions and versions != [VERSION]:
            raise JournalError(
                f"The journal {self.place} has version {versions[0]}, but this collection knows version {VERSION} "
                "alone. Use the version of the collection that wrote it, or a later one."
            )
        return bool(versions)

    def _bind(self, run: Run, cluster: str, change: str, wish: Wish) -> None:
        """Bind a name to its wish in a cluster. Raises NameTaken if another wish has it."""
        if not self._is_bound(run, cluster, change, wish):
            bound = {"change": change, "cluster": cluster, **asdict(wish), "at": self._now(run)}
            values = {"key": digest(cluster, change), "content": json.dumps(bound)}
            run("INSERT INTO ocp_journal_changes VALUES (:key, :content)", values)

    def _is_bound(self, run: Run, cluster: str, change: str, wish: Wish) -> bool:
        """Whether a name is bound to its wish in a cluster. Raises NameTaken if another wish has it."""
        key = digest(cluster, change)
        found = run("SELECT content FROM ocp_journal_changes WHERE change_key = :key", {"key": key})
        if not found:
            return False
        earlier = self._made(_wish, found[0][0])
        if earlier.digest != wish.digest:
            raise NameTaken(
                f"change: {change} asked for {earlier.words} when it was first used, and now asks for {wish.words}. "
                "Give a new change a new name, or clear this one, which lets all of it restart once more: "
                f"{clear_command(change)}"
            )
        return True

    def _follow_names(self, run: Run, change: str, members: Collection[MemberKey]) -> None:
        """Note what is kept of a name for clusters that were renamed since as that of their new names."""
        for old, new in _renamed(members, self._sights(run, change, members)).items():
            key = {"key": digest(old, change)}
            bound = run("SELECT content FROM ocp_journal_changes WHERE change_key = :key", key)
            sights = self._first_uses(run, change, old)
            self._forget_names(run, change, old)
            for (content,) in bound:
                self._bind(run, new, change, self._made(_wish, content))
            for sight in sights:
                self._note_sight(run, change, replace(sight, member=sight.member.in_cluster(new)))

    def _note_sight(self, run: Run, change: str, sight: FirstSight) -> None:
        values = {
            "key": _sight_key(change, sight.member),
            "change": digest(sight.member.cluster, change),
            "content": json.dumps(sight_record(sight)),
        }
        run("DELETE FROM ocp_journal_sights WHERE sight_key = :key", {"key": values["key"]})
        run("INSERT INTO ocp_journal_sights VALUES (:key, :change, :content)", values)

    def _empty(self, run: Run) -> int:
        counted = [run(f"SELECT COUNT(*) FROM ocp_journal_{table}") for table in ("changes", "requests")]
        for table in TABLES.keys() - {"ocp_journal"}:
            run(f"DELETE FROM {table}")
        return sum(int(rows[0][0]) for rows in counted)

    def _forget_names(self, run: Run, change: str, cluster: str | None) -> list[str]:
        """The keys of the names that were forgotten."""
        keys = self._keys_of(run, change, cluster)
        for key in keys:
            run("DELETE FROM ocp_journal_sights WHERE change_key = :key", {"key": key})
            run("DELETE FROM ocp_journal_changes WHERE change_key = :key", {"key": key})
        return keys

    def _keys_of(self, run: Run, change: str, cluster: str | None) -> list[str]:
        """The keys of a name, in one cluster or in all."""
        bound = run("SELECT change_key, content FROM ocp_journal_changes")
        names = [(key, self._made(dict, content)) for key, content in bound]
        return [key for key, each in names if each["change"] == change and cluster in (None, each["cluster"])]

    def _first_uses(self, run: Run, change: str, cluster: str | None) -> list[FirstSight]:
        """All first sights of a name, in one cluster or in all."""
        sql = "SELECT content FROM ocp_journal_sights WHERE change_key"
        found = among(run, sql, self._keys_of(run, change, cluster))
        return [self._made(read_sight, content) for (content,) in found]

    def _sights(self, run: Run, change: str, members: Iterable[MemberKey]) -> dict[MemberKey, FirstSight]:
        keys = [_sight_key(change, member) for member in members]
        found = among(run, "SELECT content FROM ocp_journal_sights WHERE sight_key", keys)
        sights = [self._made(read_sight, content) for (content,) in found]
        return {sight.member: sight for sight in sights}

    def _requests_of(self, run: Run, keys: Sequence[str]) -> list[RequestRow]:
        """The requests for members with one of these keys that have not expired."""
        numbers = among(run, "SELECT number FROM ocp_journal_members WHERE member_key", keys)
        return self._kept(run, self._requests(run, sorted({number for (number,) in numbers})))

    def _down(self, run: Run) -> list[RequestRow]:
        """See ``Journal.down``."""
        return self._kept(run, self._rows(run(f"{REQUESTS} WHERE takes_down = 1")))

    def _kept(self, run: Run, found: Iterable[tuple[RequestRow, float | None]]) -> list[RequestRow]:
        """Those that have not expired."""
        now = self._now(run)
        return [row for row, expires_at in found if expires_at is None or expires_at > now]

    def _requests(self, run: Run, numbers: Sequence[int] | None) -> list[tuple[RequestRow, float | None]]:
        """The requests with these numbers, or all, each with the time when it expires; the oldest first."""
        return self._rows(run(REQUESTS) if numbers is None else among(run, f"{REQUESTS} WHERE number", numbers))

    def _rows(self, found: Iterable[tuple[Any, ...]]) -> list[tuple[RequestRow, float | None]]:
        with self._undamaged():
            return [
                (read_request(content, int(number)), expires_at)
                for number, expires_at, content in sorted(found, key=lambda each: int(each[0]))
            ]

    def _insert(self, run: Run, row: RequestRow) -> int:
        now = self._now(run)
        expired = run("SELECT number FROM ocp_journal_requests WHERE expires_at <= :now", {"now": now})
        for table in ("ocp_journal_members", "ocp_journal_requests") if expired else ():
            run(f"DELETE FROM {table} WHERE number = :number", [{"number": number} for (number,) in expired])
        run("UPDATE ocp_journal SET last_number = last_number + 1")
        number = int(run("SELECT last_number FROM ocp_journal")[0][0])
        end = None if row.is_for_change else now + KEPT_FOR
        values = {"number": number, "end": end, "down": int(row.takes_down), "content": request_json(row)}
        run("INSERT INTO ocp_journal_requests VALUES (:number, :end, :down, :content)", values)
        keys = sorted({digest(*member.parts) for member, _shown in row.members})
        if keys:
            members = [{"key": key, "number": number} for key in keys]
            run("INSERT INTO ocp_journal_members VALUES (:key, :number)", members)
        return number

    def _index_task(self, run: Run, row: RequestRow) -> None:
        """Let a request be found by the id of its task."""
        values = {"key": _task_key(row.task_id), "number": row.number}
        run("DELETE FROM ocp_journal_members WHERE member_key = :key AND number = :number", values)
        run("INSERT INTO ocp_journal_members VALUES (:key, :number)", values)

    def _update(self, run: Run, row: RequestRow) -> None:
        changed = {"number": row.number, "down": int(row.takes_down), "content": request_json(row)}
        run("UPDATE ocp_journal_requests SET takes_down = :down, content = :content WHERE number = :number", changed)

    def _made(self, make: Callable[[Any], Made], content: str) -> Made:
        with self._undamaged():
            return make(json.loads(content))

    @contextmanager
    def _undamaged(self) -> Iterator[None]:
        """Raises JournalError for content that nobody has written."""
        try:
            yield
        except (ValueError, KeyError, TypeError) as error:
            raise JournalError(f"The journal {self.place} is damaged. {START_ANEW}") from error


def among(run: Run, sql: str, keys: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement that ends with a column, for those in which the column has one of the values."""
    found = []
    for start in range(0, len(keys), KEYS_AT_ONCE):
        values = {f"key{place}": key for place, key in enumerate(keys[start : start + KEYS_AT_ONCE])}
        found += run(f"{sql} IN (:{', :'.join(values)})", values)
    return found


def digest(*parts: str | int | None) -> str:
    """The key of what these parts name."""
    return sha256(json.dumps(parts).encode()).hexdigest()


def _task_key(task_id: int | None) -> str:
    return digest("task", task_id)


def _sight_key(change: str, member: MemberKey) -> str:
    return digest(change, *member.parts)


def _wish(bound: Record) -> Wish:
    return Wish(bound["digest"], bound["words"])


def _renamed(members: Iterable[MemberKey], noted: Iterable[MemberKey]) -> dict[str, str]:
    """The identities that clusters had when members of them were ``noted``, each with that of today."""
    today = {member: member.cluster for member in members}
    return {member.cluster: today[member] for member in noted if member.cluster != today[member]}


def _is_of(row: RequestRow, change: str | None, cluster: str | None, used: Collection[MemberKey]) -> bool:
    """Whether it is for this change in this cluster, or for one on which the name was ``used``; that may be renamed."""
    is_here = cluster is None or any(member.cluster == cluster or member in used for member, _shown in row.members)
    return change is not None and row.change == change and is_here
