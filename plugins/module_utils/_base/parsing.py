# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Typed reads of values that may have any type; a value of another type counts as absent."""

from __future__ import annotations

from datetime import datetime
from typing import Any

Record = dict[str, Any]


def record(value: object) -> Record:
    """``value`` if it is a JSON object, else an empty dict."""
    return value if isinstance(value, dict) else {}


def records(value: object) -> list[Record]:
    """The JSON objects in ``value`` if it is a list, else an empty list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def integer(value: object) -> int | None:
    """``value`` if it is an int and not a bool, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def integers(value: object) -> list[int]:
    """The integers in ``value`` if it is a list, else an empty list."""
    return [item for item in value if integer(item) is not None] if isinstance(value, list) else []


def instant(value: object) -> datetime | None:
    """``value`` as a datetime if it is ISO 8601 with an offset, else None."""
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return time if time.tzinfo is not None else None
