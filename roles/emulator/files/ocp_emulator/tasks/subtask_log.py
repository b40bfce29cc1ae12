# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The log of a subtask, written as it goes: one headed attempt after the other (ocp-api.md, section 3)."""

import sqlite3
from collections.abc import Iterable

from ocp_emulator.base.clock import iso


def begin_attempt(db: sqlite3.Connection, subtask_id: int, operation: str, at: int) -> None:
    """An attempt begins; all that is told from here on belongs to it."""
    _write(db, subtask_id, [f"############{{{operation}}}{{{iso(at)}}}############"])


def tell(db: sqlite3.Connection, subtask_id: int, at: int, sentences: Iterable[str], level: str = "INFO") -> None:
    """Something happened to the subtask or through it."""
    _write(db, subtask_id, (f"{iso(at)} {level} subtask {subtask_id}: {sentence}" for sentence in sentences))


def read(db: sqlite3.Connection, subtask_id: int) -> str:
    """All of it, each line ended by a line feed; empty as long as the subtask has not run."""
    rows = db.execute("SELECT line FROM log_lines WHERE subtask_id = ? ORDER BY rowid", (subtask_id,))
    return "".join(f"{row['line']}\n" for row in rows)


def _write(db: sqlite3.Connection, subtask_id: int, lines: Iterable[str]) -> None:
    db.executemany("INSERT INTO log_lines VALUES (?, ?)", ((subtask_id, line) for line in lines))
