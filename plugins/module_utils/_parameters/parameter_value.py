# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which texts of a parameter are the same value: capacities, times, numbers, booleans, choices.

The rules are those of the database; see docs/dev/contract.md, "Values of parameters". A text that they do not cover is
compared as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from decimal import Decimal
from enum import Enum

# How long a server may be offline before the cluster gives up its replicas.
OFFLINE_TIME = "server_permanent_offline_time"

# Without leading zeros, which the database reads as octal.
_MEASURE = re.compile(r"(0|[1-9][0-9]{0,17})([a-z]*)", re.IGNORECASE)
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?")

_UNITS_OF_CAPACITY = (("b", "byte"), ("k", "kb"), ("m", "mb"), ("g", "gb"), ("t", "tb"), ("p", "pb"))
BYTES = {unit: 1024**power for power, units in enumerate(_UNITS_OF_CAPACITY) for unit in units}
MICROSECONDS = {
    "us": 1,
    "ms": 1000,
    "s": 1_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
_TRUTH = {
    **dict.fromkeys(("true", "t", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "off", "0"), False),
}


class Kind(Enum):
    """How the values of a parameter are read."""

    CAPACITY = "a capacity, as in 512K or 5M"
    TIME = "a time, as in 30s or 1h"
    INTEGER = "a whole number"
    NUMBER = "a number"
    BOOLEAN = "true or false"
    CHOICE = "one of the values that are allowed"
    TEXT = "a text"


_KINDS = {
    "CAPACITY": Kind.CAPACITY,
    "TIME": Kind.TIME,
    "INT": Kind.INTEGER,
    "DOUBLE": Kind.NUMBER,
    "NUMBER": Kind.NUMBER,
    "BOOL": Kind.BOOLEAN,
    "ENUM": Kind.CHOICE,
    "STRING": Kind.TEXT,
}


def kind_of_type(word: str | None) -> Kind | None:
    """The kind for the ``type`` that the service shows; None for a word that no document has."""
    return _KINDS.get((word or "").upper())


def bytes_of(value: str) -> int | None:
    """A capacity in bytes; without a unit it is in megabytes. None for anything else."""
    return _measure(value, BYTES, "m")


def microseconds_of(value: str) -> int | None:
    """A time in microseconds; without a unit it is in seconds. None for anything else."""
    return _measure(value, MICROSECONDS, "s")


def _measure(value: str, units: dict[str, int], default: str) -> int | None:
    found = _MEASURE.fullmatch(value)
    size = units.get(found[2].lower() or default) if found else None
    return None if found is None or size is None else int(found[1]) * size


def has_unit(value: str) -> bool:
    """Whether a number with a unit is written there."""
    found = _MEASURE.fullmatch(value)
    return bool(found and found[2])


def number_of(value: str) -> Decimal | None:
    """A decimal number; None for anything else."""
    return Decimal(value) if _NUMBER.fullmatch(value) else None


def integer_of(value: str) -> Decimal | None:
    """A whole number; None for anything else."""
    return number_of(value) if "." not in value else None


def truth_of(value: str) -> bool | None:
    """A boolean, in each way the database takes one; None for anything else."""
    return _TRUTH.get(value.lower())


def _text_of(value: str) -> Hashable:
    # As YAML, Jinja and the documents write a boolean.
    return value.lower() if value.lower() in ("true", "false") else value


_READERS: dict[Kind, Callable[[str], Hashable]] = {
    Kind.CAPACITY: bytes_of,
    Kind.TIME: microseconds_of,
    Kind.INTEGER: integer_of,
    Kind.NUMBER: number_of,
    Kind.BOOLEAN: truth_of,
    Kind.CHOICE: str.casefold,
    Kind.TEXT: _text_of,
}


def read_value(value: str, kind: Kind) -> Hashable:
    """What can be compared, by size too for capacities, times and numbers; None if it is not of this kind."""
    return _READERS[kind](value)


def same_value(one: str, other: str, kind: Kind | None = None) -> bool:
    """Whether both texts are the same value of a parameter of this kind; of an unknown kind if it is None.

    With an unknown kind they are the same capacity and the same time, as far as both can be one or the other.
    """
    if one == other:
        return True
    if kind is not None:
        return _same_as(one, other, kind) is True
    read = [_same_as(one, other, possible) for possible in (Kind.CAPACITY, Kind.TIME, Kind.TEXT)]
    measures = [same for same in read[:2] if same is not None]
    return all(measures) if measures else read[2] is True


def _same_as(one: str, other: str, kind: Kind) -> bool | None:
    """Whether both are the same value of this kind; None if one of them is none."""
    read = [read_value(value, kind) for value in (one, other)]
    return None if None in read else read[0] == read[1]
