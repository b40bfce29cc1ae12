# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The lines of a subtask's log, and the header of each attempt."""

import sqlite3
from collections.abc import Iterable

from ocp_emulator.base.time_format import iso


def begin_attempt(db: sqlite3.Connection, subtask_id: int, operation: str, at: int) -> None:
    """Write the header of an attempt; later lines belong to it."""
    _write(db, subtask_id, [f"############{{{operation}}}{{{iso(at)}}}############"])


def append(db: sqlite3.Connection, subtask_id: int, at: int, messages: Iterable[str], level: str = "INFO") -> None:
    """Write what happened to the subtask or through it."""
    _write(db, subtask_id, (f"{iso(at)} {level} subtask {subtask_id}: {message}" for message in messages))


def read(db: sqlite3.Connection, subtask_id: int) -> str:
    """The whole log, each line ended by a line feed; empty until the subtask runs."""
    rows = db.execute("SELECT line FROM log_lines WHERE subtask_id = ? ORDER BY rowid", (subtask_id,))
    return "".join(f"{row['line']}\n" for row in rows)


def _write(db: sqlite3.Connection, subtask_id: int, lines: Iterable[str]) -> None:
    db.executemany("INSERT INTO log_lines VALUES (?, ?)", ((subtask_id, line) for line in lines))
