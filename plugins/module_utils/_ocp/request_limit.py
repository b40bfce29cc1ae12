# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The rate limit as the last response shows it: requests left in the window, and the pause until more are allowed.

See docs/dev/contract.md, "Rate limit".
"""

from __future__ import annotations

from collections.abc import Mapping

from .._base.parsing import integer
from .retries import seconds_to_reset


class RequestLimit:
    """The requests left in the current window. Times are monotonic seconds."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget the window: it is over, and nothing is known about the next one."""
        self._room: int | None = None
        self._ends_at = 0.0

    def shown(self, headers: Mapping[str, str], now: float) -> None:
        """Record the headers of a response."""
        self.forget()
        room, seconds = integer(headers.get("RateLimit-Remaining")), seconds_to_reset(headers)
        if room is not None and room >= 0 and seconds is not None:
            self._room, self._ends_at = room, now + seconds

    def room(self, now: float) -> int | None:
        """How many requests are left in this window; None if that is not known."""
        return self._room if now < self._ends_at else None

    def pause(self, requests: int, now: float) -> float:
        """Seconds until this many requests are allowed; 0 if they are allowed now, or if that is not known."""
        room = self.room(now)
        return 0.0 if room is None or room >= requests else self._ends_at - now
