# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which requests are sent again, how often, and after which pause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

try:
    from urllib3.exceptions import InvalidHeader, MaxRetryError
    from urllib3.util import Retry
except ImportError:  # reported by bridge, with the name of the library
    Retry = object  # type: ignore[misc, assignment]

CONNECT_RETRIES = 1
READ_RETRIES = 2
TOO_MANY_REQUESTS = 429
TRANSIENT_STATUSES = (TOO_MANY_REQUESTS, 502, 503, 504)
# What is passed over for the sake of keeping a connection.
LARGEST_DRAIN = 64 * 1024


class RateLimitRetry(Retry):
    """Repeats as urllib3 does, and after a 429 any method, once the time is over that ``RateLimit-Reset`` names.

    ``budget`` is for how many seconds in all it may wait so; where that is not enough, the 429 is the answer.
    """

    def __init__(self, *args: Any, budget: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.budget = budget

    def new(self, **changes: Any) -> Any:
        """A copy with ``changes``."""
        return super().new(**{"budget": self.budget, **changes})

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """Whether what was answered with this status may be sent again."""
        return status_code == TOO_MANY_REQUESTS or super().is_retry(method, status_code, has_retry_after)

    def increment(self, method: Any = None, url: Any = None, response: Any = None, *rest: Any, **more: Any) -> Any:
        """Count one more failure; raises MaxRetryError when there is to be no repetition."""
        counted = self._count_failure(method, url, response, *rest, **more)
        left = None if response is None else response.length_remaining
        if response is not None and (left is None or left > LARGEST_DRAIN):
            # Before it repeats, urllib3 reads what is left of an answer, however much that is.
            response.close()
        return counted

    def _count_failure(self, method: Any, url: Any, response: Any, *rest: Any, **more: Any) -> Any:
        pause = None if response is None else self.get_retry_after(response)
        limited = response is not None and response.status == TOO_MANY_REQUESTS
        blind = limited and pause is None and not self._is_method_retryable(method)
        if blind or (pause or 0) > self.budget:
            raise MaxRetryError(more.get("_pool"), url, None)  # type: ignore[arg-type]
        if pause is None or not limited:
            return super().increment(method, url, response, *rest, **more)
        # A wait that was asked for is no failure, so only the budget bounds it.
        waited = self.new(total=None, budget=self.budget - pause)
        return super(RateLimitRetry, waited).increment(method, url, response, *rest, **more).new(total=self.total)

    def get_retry_after(self, response: Any) -> float | None:
        """Seconds that the service asks to wait, at least 1; None when it names no time."""
        # The header comes with every answer when limits are on; it counts when the limit is reached.
        pause = seconds_to_reset(response.headers) if response.status == TOO_MANY_REQUESTS else None
        try:
            pause = super().get_retry_after(response) if pause is None else pause
        except InvalidHeader:
            return None
        return None if pause is None else max(1.0, pause)


def seconds_to_reset(headers: Mapping[str, str]) -> float | None:
    """In how many seconds the request limit of this user begins anew; None where no header tells."""
    seconds = headers.get("RateLimit-Reset", "")
    return float(seconds) if seconds.isdecimal() else None
