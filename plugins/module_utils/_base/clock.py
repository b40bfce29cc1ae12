# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Time: this machine's clock, the service's clock, and instants given as options."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import nan

from .errors import OptionError
from .parsing import instant

# The service truncates its times: often to the second, at best to hundredths.
SECOND, HUNDREDTH = 1.0, 0.01
# A larger offset between the clocks is reported.
LARGEST_SILENT_OFFSET = 5
# An instant noted on another machine may be as far ahead.
LARGEST_LEAD = 60
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


class ServiceClock:
    """The clock offset of the service, from the response that bounds it best."""

    def __init__(self) -> None:
        self._least, self._most = float("-inf"), float("inf")

    def shown(self, completed: datetime, sent: float, received: float) -> None:
        """Record a response ``completed`` by the service's clock, between two epoch seconds of this machine's."""
        precision = HUNDREDTH if completed.microsecond else SECOND
        least, most = completed.timestamp() - received, completed.timestamp() + precision - sent
        if most - least < self._most - self._least:
            self._least, self._most = least, most

    @property
    def uncertainty(self) -> float:
        return 1.0

    @property
    def offset(self) -> float:
        """Seconds by which the service is ahead; negative if it is behind, 0 while the clocks may agree."""
        return 0.0 if self._least <= 0 <= self._most else (self._least + self._most) / 2


def to_service_clock(local: datetime, clock: ServiceClock, wall: float) -> tuple[datetime, list[str]]:
    """``local`` by the clock of the service, which is ``offset`` seconds ahead of this machine; and warnings.

    ``wall`` is the time of this machine in seconds since 1970. Raises OptionError for an instant in the future: until
    it comes, every run would restart again.
    """
    warnings = []
    offset = clock.offset
    if abs(offset) > LARGEST_SILENT_OFFSET:
        warnings.append(
            f"The clock of the service is {abs(offset):.0f} seconds {'ahead of' if offset > 0 else 'behind'} that of "
            "this machine; started_before was taken as this machine's and moved by as much."
        )
    if local.timestamp() > wall + LARGEST_LEAD:
        now = datetime.fromtimestamp(wall + offset, local.tzinfo).isoformat(timespec="seconds")
        raise OptionError(
            f"started_before: {local.isoformat()} has not come yet: by the clock of the service it is {now}. "
            "Until then every run would restart again; give the instant of the change, which is in the past."
        )
    if local.timestamp() > wall + LARGEST_SILENT_OFFSET:
        warnings.append(
            f"started_before: {local.isoformat()} has not come yet; until then nothing can have started since."
        )
    return local + timedelta(seconds=offset), warnings


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
