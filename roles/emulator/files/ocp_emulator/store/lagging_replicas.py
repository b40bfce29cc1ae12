# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Replicas of the database that lag, for reads that show an older state.

While there is a replica, temporary triggers write each change of a row into a journal, with the instant of the change.
A replica is a copy in memory, to which the journal is applied up to the instant that it shows. So it shows nothing from
before it was made, and a new process has to make it again.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import takewhile

# The tables of the fleet and its tasks are all but these.
_OTHERS = frozenset({"meta", "users", "access_keys", "wrong_passwords", "lockouts", "faults"})


@dataclass(frozen=True)
class _Table:
    """A table: its key, its columns, and the SQL that changes a copy of it."""

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]

    def values(self, row: str, columns: Iterable[str]) -> str:
        """The columns of a row of a trigger, NEW or OLD, as JSON."""
        return f"json_array({', '.join(f'{row}.{column}' for column in columns)})"

    def write(self) -> str:
        """The SQL that writes a row."""
        marks = ", ".join("?" * len(self.columns))
        return f"INSERT OR REPLACE INTO {self.name} ({', '.join(self.columns)}) VALUES ({marks})"

    def delete(self) -> str:
        """The SQL that deletes the row of a key."""
        return f"DELETE FROM {self.name} WHERE {' AND '.join(f'{column} = ?' for column in self.key)}"


class _Replica:
    """A copy that shows the journal up to some position."""

    def __init__(self, primary: sqlite3.Connection, position: int) -> None:
        self.db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.db.row_factory = sqlite3.Row
        primary.backup(self.db)
        self.position = position


class Replicas:
    """The replicas of one database, by the milliseconds that they lag."""

    def __init__(self, db: sqlite3.Connection, instant: Callable[[], int]) -> None:
        """`instant` returns the instant of the current change."""
        self._db = db
        self._replicas: dict[int, _Replica] = {}
        self._retired: list[_Replica] = []
        self._tables: dict[str, _Table] = {}
        db.create_function("instant_of_change", 0, instant)

    def keep(self, lags: Iterable[int]) -> None:
        """Have replicas with exactly these lags; not inside of a transaction."""
        wanted = set(lags)
        if wanted == self._replicas.keys():
            return
        _close(self._retired)
        # Requests may still read from these.
        self._retired = [self._replicas.pop(lag) for lag in self._replicas.keys() - wanted]
        if not self._tables:
            self._begin_journal()
        for lag in wanted - self._replicas.keys():
            (position,) = self._db.execute("SELECT coalesce(max(id), 0) FROM journal").fetchone()
            self._replicas[lag] = _Replica(self._db, position)
        if not self._replicas:
            self._end_journal()

    def read(self, lag: int, now: int) -> sqlite3.Connection:
        """The database as it was `lag` milliseconds before `now`, but not before the replica was made."""
        replica = self._replicas[lag]
        rows = self._db.execute("SELECT * FROM journal WHERE id > ? ORDER BY id", (replica.position,))
        for change in takewhile(lambda row: row["at"] <= now - lag, rows):
            table = self._tables[change["name"]]
            statement = table.delete() if change["after"] is None else table.write()
            replica.db.execute(statement, json.loads(change["after"] or change["key"]))
            replica.position = change["id"]
        rows.close()
        oldest = min(each.position for each in self._replicas.values())
        # The newest entry stays, so that no number is used twice.
        self._db.execute("DELETE FROM journal WHERE id <= ? AND id < (SELECT max(id) FROM journal)", (oldest,))
        return replica.db

    def close(self) -> None:
        """Close them all."""
        _close([*self._retired, *self._replicas.values()])
        self._replicas.clear()

    def _begin_journal(self) -> None:
        self._db.execute(
            "CREATE TEMP TABLE journal"
            " (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, after TEXT)"
        )
        for table in _tables(self._db):
            self._tables[table.name] = table
            for event, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
                after = "NULL" if event == "DELETE" else table.values("NEW", table.columns)
                self._db.execute(
                    f"CREATE TEMP TRIGGER journal_{event}_{table.name} AFTER {event} ON main.{table.name} BEGIN"
                    " INSERT INTO journal (at, name, key, after)"
                    f" VALUES (instant_of_change(), '{table.name}', {table.values(row, table.key)}, {after}); END"
                )

    def _end_journal(self) -> None:
        for name in self._tables:
            for event in ("INSERT", "UPDATE", "DELETE"):
                self._db.execute(f"DROP TRIGGER temp.journal_{event}_{name}")
        self._db.execute("DROP TABLE temp.journal")
        self._tables.clear()


def _close(replicas: Iterable[_Replica]) -> None:
    for replica in replicas:
        replica.db.close()


def _tables(db: sqlite3.Connection) -> list[_Table]:
    rows = db.execute("SELECT name, sql FROM main.sqlite_master WHERE type = 'table'").fetchall()
    found = []
    for row in rows:
        if row["name"] in _OTHERS or row["name"].startswith("sqlite_"):
            continue
        columns = [(each["name"], each["pk"]) for each in db.execute(f"PRAGMA main.table_info({row['name']})")]
        names = tuple(name for name, _pk in columns)
        if row["sql"].endswith("WITHOUT ROWID"):
            found.append(_Table(row["name"], tuple(name for name, pk in columns if pk), names))
        else:
            found.append(_Table(row["name"], ("rowid",), ("rowid", *(name for name, pk in columns if not pk))))
    return found
