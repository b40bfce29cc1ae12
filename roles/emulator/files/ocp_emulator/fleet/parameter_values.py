# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which values a parameter takes, with their units, as the database reads them."""

import re
from collections.abc import Mapping

from ocp_emulator.fleet.ob_parameters import Metadata

_NUMBER = re.compile(r"([0-9]{1,18})([a-z]*)")
_SECOND = 1_000_000
_TIMES = {
    "us": 1,
    "ms": 1_000,
    "": _SECOND,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3_600 * _SECOND,
    "d": 86_400 * _SECOND,
}
_SIZES = {"b": 1, **{f"{letter}{end}": 1 << 10 * power for power, letter in enumerate("kmgtp", 1) for end in ("", "b")}}
# A time without a unit is in seconds. A capacity needs one.
_UNITS: Mapping[str, Mapping[str, int]] = {"INT": {"": 1}, "TIME": _TIMES, "CAPACITY": _SIZES}


class UnitMissing(ValueError):
    """A capacity without a unit."""


def check_value(metadata: Metadata, value: str) -> None:
    """Raise ValueError with the reason, which ends a sentence, when a parameter does not take this value."""
    words = metadata.allowed or metadata.words
    if words is not None and value.lower() not in words.lower().split(","):
        raise ValueError(f"it is none of {words.replace(',', ', ')}")
    if metadata.type not in _UNITS:
        return
    number = _number(metadata.type, value)
    if metadata.least is not None and number < _number(metadata.type, metadata.least):
        raise ValueError(f"it is less than {metadata.least}")
    if metadata.most is not None and number > _number(metadata.type, metadata.most):
        raise ValueError(f"it is more than {metadata.most}")


def _number(kind: str, value: str) -> int:
    """A value in the smallest unit of its type."""
    found = _NUMBER.fullmatch(value.lower())
    units = _UNITS[kind]
    if found is not None and kind == "CAPACITY" and not found[2]:
        raise UnitMissing("it has no unit, such as M or G")
    if found is None or found[2] not in units:
        wanted = f"a whole number with one of the units {', '.join(filter(None, units))}"
        raise ValueError(f"it is not {wanted if len(units) > 1 else 'a whole number'}")
    return int(found[1]) * units[found[2]]
