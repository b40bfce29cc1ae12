# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The list of tasks, newest first: its filters, and what is read where a service ignores the order."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Protocol

from .._base.parsing import Record
from .paging import PAGE_SIZE
from .records import task_record

NEWEST_FIRST = "id,desc"
MOST_DISCARDED = 100  # a page of tasks whose names are compared here
RECENT_TASKS = 100
STEPS = ("subtasks", "tasks")
# RFC 3986 and Java's URLEncoder encode these differently, so a signature over them may be refused.
ENCODED_DIFFERENTLY = r"[\s~*]+"


class TaskList(Protocol):
    """Reads of one service. Every method raises ServiceError."""

    def _pages(self, path: str, params: Record, size: int, *, of_tasks: bool = False) -> Iterator[list[Record]]:
        """The elements of a list, page by page."""

    def _shared(self, key: Hashable, read: Callable[[], list[Record]]) -> list[Record]:
        """What ``read`` reads, or what somebody else has read of this kind."""

    def tasks(self, limit: int | None = None, above: int = 0, **filters: Any) -> list[Record]:
        """The newest ``limit`` tasks with an id ``above`` this that pass the filters, newest first.

        The filters are the service's: clusterId, hostId, status and name. A name that services encode in different
        ways is compared here.
        """
        key = ("tasks", limit, above, *sorted(filters.items()))
        return self._shared(key, lambda: self._tasks(limit, above, filters))

    def page_of_tasks(self, size: int, **filters: Any) -> list[Record]:
        """One page of the tasks that pass the service's filters: the newest, unless it ignores the order."""
        pages = self._pages("/api/v2/tasks/instances", {**filters, "sort": NEWEST_FIRST}, size, of_tasks=True)
        return [task_record(entry) for entry in next(pages, [])]

    def _tasks(self, limit: int | None, above: int, filters: Record) -> list[Record]:
        text = filters.get("name") or ""
        word = max(re.split(ENCODED_DIFFERENTLY, text), key=len)
        query = {name: value for name, value in {**filters, "name": word or None}.items() if value is not None}
        # One task has no order.
        wanted = limit and max(limit, 2 if word == text else MOST_DISCARDED)
        size = min(wanted or PAGE_SIZE, RECENT_TASKS if above else PAGE_SIZE)
        found: dict[int, Record] = {}
        for page in self._pages("/api/v2/tasks/instances", {**query, "sort": NEWEST_FIRST}, size, of_tasks=True):
            tasks = list(map(task_record, page))
            if found:
                # Thousands of old tasks with all their steps would fill the memory. What decides is read by its id.
                tasks = [{name: value for name, value in task.items() if name not in STEPS} for task in tasks]
            if (limit or above) and not is_newest_first(tasks):
                # The service ignores the order: the newest may be on any page.
                return [task for task in self.tasks(**filters) if task["id"] > above][:limit]
            newer = [task for task in tasks if task["id"] > above]
            # A task that starts between two pages moves the last entry of a page to the next page.
            found.update((task["id"], task) for task in newer if word == text or _holds(task.get("name"), text))
            if (above and len(newer) < len(tasks)) or (limit and len(found) >= limit):
                break
        return [found[number] for number in sorted(found, reverse=True)][:limit]


def is_newest_first(tasks: Iterable[Record]) -> bool:
    """Whether the tasks are in the order that was asked for."""
    numbers = [number for task in tasks if (number := task.get("id"))]
    return numbers == sorted(numbers, reverse=True)


def _holds(name: object, text: str) -> bool:
    """Whether ``name`` contains ``text``, without regard to case."""
    return text.casefold() in str(name).casefold()
