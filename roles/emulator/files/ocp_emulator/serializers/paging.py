# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Pages of a list (ocp-api.md, section 7)."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ocp_emulator.schemas.envelope import Page, Paged
from ocp_emulator.schemas.schema import Form

E = TypeVar("E")
F = TypeVar("F", bound=Form)


@dataclass(frozen=True)
class Window:
    """What part of a list is asked for: `number` from 1, `size` from 1, by id."""

    number: int
    size: int
    descending: bool


def page_of(
    db: sqlite3.Connection,
    window: Window,
    selection: str,
    values: Mapping[str, object],
    make: Callable[[list[sqlite3.Row]], list[F]],
    form: type[Paged[F]],
) -> Paged[F]:
    """The page of a selection.

    `selection` is what stands between `SELECT t.*` and the order, with the table to be listed called `t`; `make` turns
    the rows of the page into forms, in their order.
    """
    (total,) = db.execute(f"SELECT count(*) {selection}", values).fetchone()
    direction = "DESC" if window.descending else "ASC"
    rows = db.execute(
        f"SELECT t.* {selection} ORDER BY t.id {direction} LIMIT :page_size OFFSET :page_offset",
        {**values, "page_size": window.size, "page_offset": (window.number - 1) * window.size},
    ).fetchall()
    return form(contents=make(rows), page=_page(window, total))


def list_page(window: Window, elements: Sequence[E], make: Callable[[E], F], form: type[Paged[F]]) -> Paged[F]:
    """The page of a list that is in memory, in the order of ids."""
    ordered = elements[::-1] if window.descending else elements
    first = (window.number - 1) * window.size
    contents = [make(element) for element in ordered[first : first + window.size]]
    return form(contents=contents, page=_page(window, len(elements)))


def _page(window: Window, total: int) -> Page:
    return Page(number=window.number, size=window.size, total_elements=total, total_pages=-(-total // window.size))
