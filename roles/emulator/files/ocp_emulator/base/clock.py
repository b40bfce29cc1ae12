# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The only place that reads the time of the machine, in milliseconds; everything else gets it as an argument.

An instant is an `int`: whole milliseconds since 1970-01-01T00:00:00Z. It is wall-clock time on purpose: when the
emulator is restarted, a running task has moved on by the time that passed.
"""

import time
from typing import Protocol

SECOND = 1_000
DAY = 86_400 * SECOND


class Clock(Protocol):
    """A source of the current instant."""

    def now(self) -> int:
        """Milliseconds since the epoch."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000
