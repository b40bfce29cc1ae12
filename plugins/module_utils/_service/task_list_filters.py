# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether a service applies the filters of its task list: if nothing can match, the answer has to be empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.parsing import Record
from .._ocp.task_list import is_newest_first
from .._ocp.task_model import RUNNING, SUCCESSFUL
from .findings import Filter, Heed
from .interview import Interview

# Ids begin at 1.
NO_ID = 0
NOTHING: dict[str, dict[str, Any]] = {
    "name": {"name": "NoTaskHasThisName"},
    "clusterId": {"clusterId": NO_ID},
    "hostId": {"hostId": NO_ID},
}
REFUSES_ID = (400, 404)
FEW = 5
NO_TASK = "no task is listed that could show it"


def check_filters(interview: Interview, listed: list[Record] | None) -> list[Filter]:
    """The parameters of the task list; ``listed`` are its first tasks as they came, None if it cannot be read."""
    if not listed:
        why = NO_TASK if listed is not None else "the task list cannot be read"
        return [Filter(name, Heed.UNKNOWN, why) for name in ("sort", "status", *NOTHING)]
    return [_order(listed), _status(interview, listed), *(_finds_nothing(interview, name) for name in NOTHING)]


def _order(listed: list[Record]) -> Filter:
    if len(listed) < 2:
        return Filter("sort", Heed.UNKNOWN, "there is one task only")
    if is_newest_first(listed):
        return Filter("sort", Heed.WORKS, "the newest tasks come first")
    return Filter("sort", Heed.IGNORED, "the newest tasks do not come first")


def _status(interview: Interview, listed: list[Record]) -> Filter:
    others = any(task.get("status") != RUNNING for task in listed)
    wanted = RUNNING if others else SUCCESSFUL

    def matches(found: list[Record]) -> bool:
        return all(task.get("status") == wanted for task in found)

    return _asked(interview, "status", {"status": wanted}, matches)


def _finds_nothing(interview: Interview, name: str) -> Filter:
    return _asked(interview, name, NOTHING[name], lambda found: not found)


def _asked(interview: Interview, name: str, query: dict[str, Any], matches: Callable[[list[Record]], bool]) -> Filter:
    """Ask with this query, and compare what comes."""
    found, read = interview.ask_aside(lambda: interview.reads.first_tasks(FEW, **query))
    if found is None:
        if query.get(name) == NO_ID and read.status in REFUSES_ID:
            return Filter(name, Heed.WORKS, f"an id that cannot be is refused ({read.status})")
        return Filter(name, Heed.UNKNOWN, str(read.why))
    if matches(found):
        return Filter(name, Heed.WORKS, "tasks that do not match are left out")
    return Filter(name, Heed.IGNORED, "tasks that do not match are listed too")
