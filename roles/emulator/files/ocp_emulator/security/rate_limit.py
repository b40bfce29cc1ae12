# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How many requests a user may send in a window, and the headers that say so (docs/dev/contract.md, "Rate limit").

A window begins with the first request after the last window ended. The counts are in memory: a restart of the process
resets them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ocp_emulator.base.clock import SECOND


@dataclass(frozen=True)
class Rate:
    """`calls` requests in `seconds` seconds."""

    calls: int
    seconds: int


@dataclass(frozen=True)
class RateLimitStatus:
    """What a user has left in the tightest window: requests, and seconds until it ends."""

    limit: int
    remaining: int
    reset: int
    exceeded: bool = False

    def headers(self) -> list[tuple[bytes, bytes]]:
        """The documented headers; Retry-After is not one of them."""
        values = {"limit": self.limit, "remaining": self.remaining, "reset": self.reset}
        return [(f"ratelimit-{name}".encode(), str(value).encode()) for name, value in values.items()]


@dataclass
class _Window:
    rate: Rate
    ends: int = 0
    used: int = 0

    def left(self) -> int:
        return self.rate.calls - self.used


class RateLimiter:
    """Counts the requests of each user."""

    def __init__(self, rates: Sequence[Rate]) -> None:
        """All of these rates apply at once; an empty list is no limit."""
        self._rates = rates
        self._windows: dict[str, list[_Window]] = {}

    def forget(self) -> None:
        """Begin new windows."""
        self._windows.clear()

    def acquire(self, user: str, now: int) -> RateLimitStatus | None:
        """Count a request, unless the user has none left; None when there is no limit."""
        if not self._rates:
            return None
        windows = self._windows.setdefault(user, [_Window(rate) for rate in self._rates])
        for window in windows:
            if window.ends <= now:
                window.ends, window.used = now + window.rate.seconds * SECOND, 0
        exceeded = any(not window.left() for window in windows)
        if not exceeded:
            for window in windows:
                window.used += 1
        least = min(windows, key=lambda window: (window.left(), -window.ends))
        seconds = -((now - least.ends) // SECOND)
        return RateLimitStatus(least.rate.calls, least.left(), seconds, exceeded)
