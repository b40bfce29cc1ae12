# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The one place where time is read (steered_clock.py moves it); all else is given the instant as an argument.

An instant is an `int`: whole milliseconds since 1970-01-01T00:00:00Z. It is wall-clock time on purpose: a task that was
running when the emulator stopped has moved on by the time that passed when it is started again.
"""

import time
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Protocol

SECOND = 1_000
DAY = 86_400 * SECOND

# The documented answers carry +08:00, and their "never", 1970-01-01T08:00:00+08:00, is the epoch in that zone.
_ZONE = timezone(timedelta(hours=8))


class Clock(Protocol):
    """Tells the present instant."""

    def now(self) -> int:
        """Milliseconds since the epoch."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000


# One answer tells the same few instants many times over.
@lru_cache(maxsize=4_096)
def iso(instant: int) -> str:
    """ISO 8601 with offset; the fraction has one to three digits and is left out when zero (ocp-api.md, section 7)."""
    seconds, milliseconds = divmod(instant, SECOND)
    fraction = f".{milliseconds:03d}".rstrip("0") if milliseconds else ""
    return f"{datetime.fromtimestamp(seconds, _ZONE):%Y-%m-%dT%H:%M:%S}{fraction}+08:00"
