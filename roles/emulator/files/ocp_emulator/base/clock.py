# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The one place that reads the time (controllable_clock.py moves it); everything else gets the instant as an argument.

An instant is an `int`: whole milliseconds since 1970-01-01T00:00:00Z. It is wall-clock time on purpose: when
the emulator is started again, a task that was running has moved on by the time that passed.
"""

import time
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Protocol

SECOND = 1_000
DAY = 86_400 * SECOND

# The documented responses carry +08:00, and their "never", 1970-01-01T08:00:00+08:00, is the epoch in that zone.
_ZONE = timezone(timedelta(hours=8))


class Clock(Protocol):
    """A source of the current instant."""

    def now(self) -> int:
        """Milliseconds since the epoch."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000


# One response shows the same few instants many times.
@lru_cache(maxsize=4_096)
def iso(instant: int) -> str:
    """ISO 8601 with offset, and a fraction of one to three digits unless it is zero (docs/contract.md, "Times")."""
    seconds, milliseconds = divmod(instant, SECOND)
    fraction = f".{milliseconds:03d}".rstrip("0") if milliseconds else ""
    return f"{datetime.fromtimestamp(seconds, _ZONE):%Y-%m-%dT%H:%M:%S}{fraction}+08:00"
