# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How many values, and how deep, the JSON of a response may be."""

from __future__ import annotations

import json
import re

MOST_VALUES = 750_000
MOST_CONTAINERS = 250_000
# Below the envelope.
DEEPEST = 100

_STRING_OR_VALUE = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{,]', re.DOTALL)


class JsonTooLarge(ValueError):
    """The text completes the sentence "The answer …"."""


def parse_json(content: bytes | bytearray) -> object:
    """The value of a JSON text; raises JsonTooLarge, and ValueError for anything else."""
    _check_number(content)
    try:
        value = json.loads(content)
    except RecursionError:
        raise _too_deep() from None
    _check_depth(value)
    return value


def value_count(content: bytes | bytearray) -> int:
    """At most this many values are in a JSON text; those of a log are counted too, which is cheap."""
    return sum(map(content.count, (b",", b"{", b"[")))


def _check_number(content: bytes | bytearray) -> None:
    containers = content.count(b"{") + content.count(b"[")
    if containers <= MOST_CONTAINERS and value_count(content) <= MOST_VALUES:
        return
    # Commas and brackets inside of strings do not count.
    values = containers = 0
    for match in _STRING_OR_VALUE.finditer(content):
        first = content[match.start()]
        values += first != ord('"')
        containers += first in b"[{"
        if values > MOST_VALUES:
            raise JsonTooLarge(f"has more than {MOST_VALUES:,} values, so it was ignored")
        if containers > MOST_CONTAINERS:
            raise JsonTooLarge(f"has more than {MOST_CONTAINERS:,} lists and objects, so it was ignored")


def _check_depth(value: object) -> None:
    level = [value] if isinstance(value, (dict, list)) else []
    for _depth in range(DEEPEST + 1):
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, (dict, list))
        ]
    if level:
        raise _too_deep()


def _too_deep() -> JsonTooLarge:
    return JsonTooLarge(f"is nested deeper than {DEEPEST} levels, so it was ignored")
