# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Transactions of SQLite, as the journal needs them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .store import Run


@contextmanager
def sqlite_transaction(connection: sqlite3.Connection, *, writes: bool) -> Iterator[Run]:
    """A transaction on a connection without transactions of its own; an exception rolls it back."""

    def run(sql: str, values: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (), /) -> list[tuple[Any, ...]]:
        if isinstance(values, list):
            return connection.executemany(sql, values).fetchall()
        return connection.execute(sql, values).fetchall()

    connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
    try:
        yield run
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def sqlite_has_tables(run: Run) -> bool:
    """Whether there is a journal."""
    return bool(run("SELECT name FROM sqlite_master WHERE name = 'ocp_journal'"))
