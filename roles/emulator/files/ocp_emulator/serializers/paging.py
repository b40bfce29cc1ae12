# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How a list is cut into pages, and its order (docs/dev/contract.md, "Paging")."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from ocp_emulator.base import errors
from ocp_emulator.schemas.envelope import Page, Paged
from ocp_emulator.schemas.schema import Schema

Element = TypeVar("Element")
SchemaT = TypeVar("SchemaT", bound=Schema)
Ordering = TypeVar("Ordering")

_BY_ID: Mapping[str, str] = MappingProxyType({"id": "t.id"})


@dataclass(frozen=True)
class PageRequest:
    """A requested page: `number` from 1, `size` from 1, ordered by the field `key` and by id."""

    number: int
    size: int
    descending: bool
    key: str = "id"

    def chosen(self, sortable: Mapping[str, Ordering]) -> Ordering:
        """What `sortable` has for the key. ApiError 400 when this list cannot be sorted by it."""
        if self.key not in sortable:
            raise errors.bad_request(
                f"The parameter 'sort' has the key '{self.key}'; this list is sorted by {', '.join(sortable)}."
            )
        return sortable[self.key]


def query_page(
    db: sqlite3.Connection,
    page_request: PageRequest,
    selection: str,
    values: Mapping[str, object],
    serialize: Callable[[list[sqlite3.Row]], list[SchemaT]],
    schema: type[Paged[SchemaT]],
    sortable: Mapping[str, str] = _BY_ID,
) -> Paged[SchemaT]:
    """The page of a selection.

    `selection` is the SQL between `SELECT t.*` and the order, and calls the listed table `t`. `serialize` gets the rows
    of the page, in their order. `sortable` has the SQL of each field that the list is sorted by.
    """
    order = page_request.chosen(sortable)
    (total,) = db.execute(f"SELECT count(*) {selection}", values).fetchone()
    direction = "DESC" if page_request.descending else "ASC"
    rows = db.execute(
        f"SELECT t.* {selection} ORDER BY {order} {direction}, t.id {direction} LIMIT :page_size OFFSET :page_offset",
        {**values, "page_size": page_request.size, "page_offset": (page_request.number - 1) * page_request.size},
    ).fetchall()
    return schema(contents=serialize(rows), page=_page(page_request, total))


def list_page(
    page_request: PageRequest,
    elements: Sequence[Element],
    serialize: Callable[[Element], SchemaT],
    schema: type[Paged[SchemaT]],
) -> Paged[SchemaT]:
    """The page of a list in memory, which is in the order of ids and not sorted by anything else."""
    page_request.chosen(_BY_ID)
    ordered = elements[::-1] if page_request.descending else elements
    first = (page_request.number - 1) * page_request.size
    contents = [serialize(element) for element in ordered[first : first + page_request.size]]
    return schema(contents=contents, page=_page(page_request, len(elements)))


def _page(page_request: PageRequest, total: int) -> Page:
    return Page(
        number=page_request.number,
        size=page_request.size,
        total_elements=total,
        total_pages=-(-total // page_request.size),
    )
