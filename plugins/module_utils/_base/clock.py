# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Time: this machine's clock, and instants given as options."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from math import nan

from .errors import OptionError
from .parsing import instant

# The service truncates its times: often to the second, at best to hundredths.
SECOND, HUNDREDTH = 1.0, 0.01
# From 1973 on, so that 20260504 is not read as a second of 1970, and well before dates end.
EARLIEST, LATEST = 100_000_000, 100_000_000_000


@dataclass(frozen=True)
class Clock:
    """The time of this machine: ``now`` in monotonic seconds, ``sleep``, and ``wall`` in seconds since 1970.

    ``jitter`` is a random number from 0 to 1.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    wall: Callable[[], float] = time.time
    jitter: Callable[[], float] = random.random


SYSTEM_CLOCK = Clock()


def parse_instant_option(option: str, value: str) -> datetime:
    """Parse ISO 8601 with an offset, or epoch seconds; raises OptionError."""
    found = instant(value)
    seconds = found.timestamp() if found else _number(value)
    if not EARLIEST <= seconds <= LATEST:
        raise OptionError(
            f"{option}: {value or 'an empty text'} is no instant; give ISO 8601 with an offset, as in "
            "2026-05-04T03:02:01+08:00 or 2026-05-03T19:02:01Z, or seconds since 1970. A local time without an "
            "offset could mean any of many."
        )
    return found or datetime.fromtimestamp(seconds, UTC)


def _number(text: str) -> float:
    return float(text) if text.replace(".", "", 1).isdecimal() else nan
