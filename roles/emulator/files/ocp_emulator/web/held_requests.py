# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Requests that a proxy holds back, and when they are delivered."""

import heapq
from collections.abc import Awaitable, Callable
from itertools import count

# Delivers a request to the service, which handles it at this instant.
Delivery = Callable[[int], Awaitable[None]]


class HeldRequests:
    """They are in memory: a restart of the process loses them."""

    def __init__(self) -> None:
        """None is held."""
        self._held: list[tuple[int, int, Delivery]] = []
        self._numbers = count()

    def hold(self, due: int, delivery: Delivery) -> None:
        """Hold a request back until then."""
        heapq.heappush(self._held, (due, next(self._numbers), delivery))

    def until(self, now: int) -> int:
        """`now`, or when the first request is due if that is earlier."""
        return min(now, self._held[0][0]) if self._held else now

    def forget(self) -> None:
        """Deliver none of them."""
        self._held.clear()

    async def deliver(self, now: int) -> None:
        """Deliver what is due, each request at its own instant."""
        while self._held and self._held[0][0] <= now:
            due, _number, delivery = heapq.heappop(self._held)
            await delivery(due)
