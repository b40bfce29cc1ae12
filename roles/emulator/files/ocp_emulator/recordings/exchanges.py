# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which recorded answer a request gets: the next one to this request, and when there are no more, the last one.

A request is the same if its method, path, query and body are. If it was never sent with these values, one with the same
names in its query is taken, such as one that asks for another time.
"""

import json
from collections.abc import Hashable, Sequence
from typing import Any
from urllib.parse import parse_qsl

from ocp_emulator.recordings.exchange_file import Exchange


class Exchanges:
    """The exchanges of a file, and which of them were given as an answer."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        """From the first one on."""
        self._exchanges = exchanges
        self._places: dict[Hashable, list[int]] = {}
        self._given: set[int] = set()
        for place, each in enumerate(exchanges):
            for key in _keys(each.method, each.path, each.query, each.body):
                self._places.setdefault(key, []).append(place)

    def rewind(self) -> None:
        """Begin with the first one again."""
        self._given.clear()

    def answer(self, method: str, path: str, query: str, body: bytes) -> Exchange | None:
        """The answer to a request with this query, still encoded; None for one that was not recorded."""
        keys = _keys(method, path, parse_qsl(query, keep_blank_values=True), _json(body))
        places = next((self._places[key] for key in keys if key in self._places), None)
        if places is None:
            return None
        place = next((each for each in places if each not in self._given), places[-1])
        self._given.add(place)
        return self._exchanges[place]


def _keys(method: str, path: str, query: Sequence[tuple[str, str]], body: Any) -> tuple[Hashable, ...]:
    """The whole request, and without its values."""
    names = tuple(sorted({name for name, _value in query}))
    return (
        (method, path, tuple(sorted(query)), json.dumps(body, sort_keys=True)),
        (method, path, names),
    )


def _json(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):
        return None
