# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which texts an option such as ``started_before`` takes as an instant: ISO 8601 with an offset, or epoch seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from math import nan

from .errors import OptionError
from .parsing import instant

# From 1973 on, so that 20260504 is not read as a second of 1970, and well before dates end.
EARLIEST, LATEST = 100_000_000, 100_000_000_000


def parse_instant_option(option: str, value: str) -> datetime:
    """Parse ISO 8601 with an offset, or epoch seconds; raises OptionError."""
    found = instant(value)
    seconds = found.timestamp() if found else _number(value)
    if not EARLIEST <= seconds <= LATEST:
        raise OptionError(
            f"{option}: {value or 'an empty text'} is not an instant; give ISO 8601 with an offset, as in "
            "2026-05-04T03:02:01+08:00 or 2026-05-03T19:02:01Z, or seconds since 1970. A local time without an offset "
            "is ambiguous."
        )
    return found or datetime.fromtimestamp(seconds, UTC)


def _number(text: str) -> float:
    return float(text) if text.replace(".", "", 1).isdecimal() else nan
