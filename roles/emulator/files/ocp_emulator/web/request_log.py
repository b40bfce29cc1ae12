# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which requests the log keeps, how many, how they are filtered, and which values it masks.

The newest 10,000 are in memory: a restart of the process empties the list.
"""

import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import count
from typing import Any
from urllib.parse import unquote_plus

MAX_RECORDS = 10_000
# Of one record, in bytes.
LARGEST_BODY = 16_384

_SECRET = re.compile("pass|pwd|secret|token|sign|credential|auth|key", re.IGNORECASE)


@dataclass(slots=True)
class RequestRecord:
    """A request; `path` is decoded, `query` is not.

    `user` is None without a login, `status` when no response was sent, `milliseconds` while it is in progress. `fault`
    is the id and the action of the fault that hit it, `task_id` the task that it started. `body` has no secrets: JSON,
    or for another one its length as a text; None when there is none.
    """

    time: int
    method: str
    path: str
    query: str
    trace_id: str
    id: int = 0
    user: str | None = None
    status: int | None = None
    milliseconds: float | None = None
    fault: tuple[int, str] | None = None
    task_id: int | None = None
    body: Any = None


@dataclass(frozen=True)
class RequestFilter:
    """Which requests; None matches any. `path` is a shell pattern; requests have a larger id than `since`."""

    method: str | None = None
    path: str | None = None
    user: str | None = None
    since: int | None = None
    status: int | None = None

    def matches(self, record: RequestRecord) -> bool:
        """Whether this request matches."""
        return (
            (self.since is None or record.id > self.since)
            and (self.method is None or record.method == self.method.upper())
            and (self.user is None or record.user == self.user)
            and (self.status is None or record.status == self.status)
            and (self.path is None or fnmatchcase(record.path, self.path))
        )


class RequestLog:
    """Keeps requests, oldest first."""

    def __init__(self) -> None:
        """Empty."""
        self._requests: deque[RequestRecord] = deque(maxlen=MAX_RECORDS)
        self._ids = count(1)

    def add(self, record: RequestRecord) -> None:
        """Keep a request and give it an id; its outcome may be set later."""
        record.id = next(self._ids)
        self._requests.append(record)

    def find(self, request_filter: RequestFilter) -> Iterator[RequestRecord]:
        """The requests that match, newest last."""
        return filter(request_filter.matches, self._requests)

    def clear(self) -> None:
        """Remove all; ids are not reused."""
        self._requests.clear()


def masked(query: str) -> str:
    """A query, still encoded, without the values of parameters whose names look like secrets."""
    return "&".join(map(_masked, query.split("&"))) if _SECRET.search(unquote_plus(query)) else query


def masked_body(body: bytes) -> Any:
    """The body of a request for a record of it: JSON without secrets, the length of what is not JSON or too long."""
    if not body:
        return None
    try:
        value = json.loads(body) if len(body) <= LARGEST_BODY else None
    except (ValueError, RecursionError):
        value = None
    return f"{len(body)} bytes" if value is None else _masked_value(value)


def _masked_value(value: Any) -> Any:
    if isinstance(value, dict):
        # A setting has the name of a secret as a value.
        is_secret = isinstance(value.get("name"), str) and _SECRET.search(value["name"])
        return {
            name: "***" if _SECRET.search(name) or (is_secret and name == "value") else _masked_value(inner)
            for name, inner in value.items()
        }
    return [_masked_value(inner) for inner in value] if isinstance(value, list) else value


def _masked(parameter: str) -> str:
    name, equals, _value = parameter.partition("=")
    return f"{name}=***" if equals and _SECRET.search(unquote_plus(name)) else parameter
