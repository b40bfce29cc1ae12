# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a page of a list holds, and how much is read over all pages: pages, entries, bytes and seconds at most."""

from __future__ import annotations

import time

from .._base.errors import ResponseUnreadable
from .._base.parsing import Record, integer, record, records
from .._base.text import in_seconds
from .envelope import ApiResponse
from .json_limits import MOST_VALUES

PAGE_SIZE = 2000  # the largest the service documents
MOST_PAGES = 1000
# Of a list, of the subtasks of a task, and of a result: Ansible needs several kilobytes for each.
MOST_ITEMS = 50_000
LARGEST_LIST = 256 * 1024 * 1024
# Application servers that announce different numbers would never end.
MOST_TIMES_BACK = 5
# All pages together may take this many times as long as a request.
LONGEST_LIST = 3


def entries_of(data: object) -> list[Record] | None:
    """The entries of a page; None if it has no list of objects. A service may leave out a list that is empty."""
    page = record(data)
    contents = page.get("contents")
    if contents is None and integer(record(page.get("page")).get("totalElements")) == 0:
        return []
    return contents if isinstance(contents, list) and records(contents) == contents else None


class PagedRead:
    """The sums over the pages of one list. ``timeout`` is that of a request.

    ``keeps_all``: who reads it keeps all values of a page while the next ones are read.
    """

    _is_growing = False

    def __init__(self, timeout: float, *, keeps_all: bool = True) -> None:
        self._keeps_all = keeps_all
        self._timeout = LONGEST_LIST * timeout
        self._end = time.monotonic() + self._timeout
        self._pages = self._items = self._bytes = self._values = 0
        self._ids: set[object] = set()
        self._announced: int | None = None
        # Of the page before.
        self._last: int | None = None
        self._size = self._went_back = 0

    def count(self, page: ApiResponse, items: int) -> None:
        """Count one page with this many entries; raises ResponseUnreadable above a limit."""
        self._pages += 1
        self._items += items
        self._bytes += page.size
        self._values = page.values + (self._values if self._keeps_all else 0)
        limits = (
            (self._items > MOST_ITEMS, f"has more than {MOST_ITEMS:,} entries"),
            (self._bytes > LARGEST_LIST, f"has more than {LARGEST_LIST // 1024**2} MiB"),
            (self._values > MOST_VALUES, f"has more than {MOST_VALUES:,} values"),
        )
        self._refuse(page, limits)

    def compare(self, page: ApiResponse, contents: list[Record]) -> int:
        """Note the ids, and how many entries the service announces: the least, as they may become fewer meanwhile.

        An entry whose id is missing or no number is taken as different from all others. Returns over how many pages
        entries may have moved forward since the page before, because others were removed.
        """
        known = len(self._ids)
        for place, entry in enumerate(contents):
            number = integer(entry.get("id"))
            self._ids.add((self._pages, place) if number is None else number)
        self._is_growing = len(self._ids) > known
        announced = integer(record(record(page.data).get("page")).get("totalElements"))
        before, self._last = self._last, announced
        size, self._size = self._size, len(contents)
        if announced is not None:
            self._announced = announced if self._announced is None else min(self._announced, announced)
        removed = 0 if announced is None or before is None else before - announced
        if removed <= 0 or not size or self._went_back >= MOST_TIMES_BACK:
            return 0
        self._went_back += 1
        return -(-removed // size)

    def may_have_more(self, page: ApiResponse, number: int, size: int, *, of_tasks: bool) -> bool:
        """Whether there may be a page after the one with this ``number``, of which ``size`` entries were asked for.

        A page that is full, by the size that it names itself too, is the last one only if the next has nothing new,
        whatever the totals say. So is each page of tasks without totals. The server list of a cluster has none, and is
        whole.
        """
        said = record(record(page.data).get("page"))
        total = integer(said.get("totalPages"))
        if total is not None and number < total:
            return True
        is_full = self._size >= min(size, integer(said.get("size")) or size)
        return self._is_growing and (is_full or (of_tasks and total is None))

    def complete(self, page: ApiResponse) -> None:
        """Check that the pages had all that was announced; raises ResponseUnreadable."""
        if self._announced is not None and len(self._ids) < self._announced:
            raise ResponseUnreadable(
                f"The list at {page.url} has {len(self._ids):,} different entries on its pages, and says that there "
                f"are {self._announced:,}, so it is not complete. Run this again; if it stays so, check that url is "
                "the address of an OCP.",
                url=page.url,
                trace_id=page.trace_id,
            )

    @property
    def is_empty(self) -> bool:
        """Whether no page had an entry."""
        return not self._ids

    def go_on(self, page: ApiResponse) -> None:
        """Check that one more page may be read after ``page``; raises ResponseUnreadable."""
        limits = (
            (self._pages >= MOST_PAGES, f"has more than {MOST_PAGES:,} pages"),
            (
                time.monotonic() > self._end,
                f"did not arrive within {in_seconds(self._timeout)} ({LONGEST_LIST} x timeout)",
            ),
        )
        self._refuse(page, limits)

    def _refuse(self, page: ApiResponse, limits: tuple[tuple[bool, str], ...]) -> None:
        passed = next((words for is_passed, words in limits if is_passed), None)
        if passed is not None:
            raise ResponseUnreadable(
                f"The list at {page.url} {passed}, so reading stopped. Ask for less with the options of the "
                "module, and check that url is the address of an OCP.",
                url=page.url,
                trace_id=page.trace_id,
            )
