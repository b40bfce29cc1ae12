# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which values of the service are read as a number, text, instant or list; all others count as absent."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from .text import truncate

Record = dict[str, Any]
Shape = Mapping[str, Callable[[Any], Any]]

LONGEST_TEXT = 10_000
# The digits of 64 bits.
NUMBER = re.compile(r"-?\d{1,19}")
# Arithmetic with times nearer to the ends of the calendar overflows.
FIRST_YEAR, LAST_YEAR = 1900, 9000


def record(value: object) -> Record:
    """``value`` if it is a JSON object, else an empty dict."""
    return value if isinstance(value, dict) else {}


def records(value: object) -> list[Record]:
    """The JSON objects in ``value`` if it is a list, else an empty list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def integer(value: object) -> int | None:
    """An int of 64 bits, as ids are, also one written as text; else None."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    if isinstance(value, str) and not NUMBER.fullmatch(value):
        return None
    number = int(value)
    return number if -(2**63) <= number < 2**63 else None


def number(value: object) -> float | None:
    """A finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def integers(value: object) -> list[int]:
    """The integers in ``value`` if it is a list, else an empty list."""
    return [number for item in value if (number := integer(item)) is not None] if isinstance(value, list) else []


def boolean(value: object) -> bool | None:
    """True or false, also written as text; else None."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None


def text(value: object) -> str | None:
    """A printable text of LONGEST_TEXT characters at most, also a number as text; else None.

    It may become the label of a task or a part of its name, which Ansible prints as they are.
    """
    if isinstance(value, str):
        return truncate(value, LONGEST_TEXT)
    number = integer(value)
    return None if number is None else str(number)


def instant(value: object) -> datetime | None:
    """A datetime if ``value`` is ISO 8601 with an offset, else None."""
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo and FIRST_YEAR <= time.year <= LAST_YEAR else None


def http_date(value: object) -> datetime | None:
    """A datetime if ``value`` is a time of an HTTP header, else None."""
    try:
        time = parsedate_to_datetime(value) if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None
    return None if time is None else instant(time.isoformat())


def time_text(value: object) -> str | None:
    """``value`` as it is written if it is an ``instant``; None for never, which is written as the start of 1970."""
    time = instant(value)
    return str(value) if time is not None and time.timestamp() > 0 else None


def shaped(raw: Record, shape: Shape) -> Record:
    """The keys of ``raw`` that ``shape`` names, each as its parser reads it. Absent keys stay absent."""
    return {key: parse(raw[key]) for key, parse in shape.items() if key in raw}


def list_of(parse: Callable[[Record], Record]) -> Callable[[Any], list[Record]]:
    """A parser of lists: each JSON object in it as ``parse`` reads it."""
    return lambda value: [parse(item) for item in records(value)]
