# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which failed requests are repeated, how often, and after which pause: 429, 502, 503, 504, lost connections."""

from __future__ import annotations

import time
from collections.abc import Mapping
from math import inf
from typing import Any

from .._base.parsing import http_date
from .deadline import Deadline

try:
    from urllib3.exceptions import MaxRetryError
    from urllib3.util import Retry
except ImportError:  # reported by bridge, with the name of the library
    Retry = object  # type: ignore[misc, assignment]

CONNECT_RETRIES = 1
READ_RETRIES = 2
TOO_MANY_REQUESTS = 429
TRANSIENT_STATUSES = (TOO_MANY_REQUESTS, 502, 503, 504)
# Bytes that are discarded to keep a connection open.
LARGEST_DRAIN = 64 * 1024
# The windows of request limits are documented: 10 seconds to a day.
LONGEST_WINDOW = 24 * 3600.0
LONGEST_PAUSE = 3600.0


class RateLimitRetry(Retry):
    """Retries like urllib3, and after a 429 once the time that it names has passed.

    ``budget`` is the total of such waits in seconds. A 429 that asks for more is returned. All other pauses end before
    ``deadline``.
    """

    def __init__(self, *args: Any, budget: float, deadline: Deadline, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.budget = budget
        self.deadline = deadline

    def new(self, **changes: Any) -> Any:
        """A copy with ``changes``."""
        return super().new(**{"budget": self.budget, "deadline": self.deadline, **changes})

    def sleep(self, response: Any = None) -> None:
        """Pause before the next attempt; a pause after a 429 moves the deadline.

        A pause that the service did not ask for is less than a second, so no longer than an answer may take.
        """
        began = time.monotonic()
        super().sleep(response)
        if response is None:
            return
        is_limited = response.status == TOO_MANY_REQUESTS
        if is_limited:
            self.deadline.extend(time.monotonic() - began)
        self.deadline.has_paused = self.deadline.has_paused or is_limited or self.get_retry_after(response) is not None

    def increment(self, method: Any = None, url: Any = None, response: Any = None, *rest: Any, **more: Any) -> Any:
        """Count one more failure; raises MaxRetryError when the request is not to be repeated."""
        counted = self._count_failure(method, url, response, *rest, **more)
        left = None if response is None else response.length_remaining
        if response is not None and (left is None or left > LARGEST_DRAIN):
            # Before a retry, urllib3 reads the rest of the response, whatever its size.
            response.close()
        return counted

    def _count_failure(self, method: Any, url: Any, response: Any, *rest: Any, **more: Any) -> Any:
        pause = None if response is None else self.get_retry_after(response)
        limited = response is not None and response.status == TOO_MANY_REQUESTS
        if (pause or 0) > (self.budget if limited else min(self.budget, self.deadline.left)):
            raise MaxRetryError(more.get("_pool"), url, more.get("error"))  # type: ignore[arg-type]
        if pause is None or not limited:
            return super().increment(method, url, response, *rest, **more)
        # A wait that the service asks for is not a failure: only the budget limits it.
        waited = self.new(total=None, budget=self.budget - pause)
        return super(RateLimitRetry, waited).increment(method, url, response, *rest, **more).new(total=self.total)

    def get_retry_after(self, response: Any) -> float | None:
        """Seconds that the service asks to wait, at least 1; None if it names none."""
        # With limits on, every response has RateLimit-Reset; it counts only on a 429.
        return (seconds_to_wait if response.status == TOO_MANY_REQUESTS else _retry_after)(response.headers)


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that a 429 asks to wait, 1 to LONGEST_PAUSE; None without a usable header."""
    pause = seconds_to_reset(headers)
    return _retry_after(headers) if pause is None else max(1.0, pause)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of the header ``Retry-After``, 1 to LONGEST_PAUSE; None without a usable header."""
    text = headers.get("Retry-After", "")
    date = http_date(text)
    seconds = float(text) if text.isdecimal() else date.timestamp() - time.time() if date else inf
    return min(max(1.0, seconds), LONGEST_PAUSE) if seconds <= LONGEST_WINDOW else None


def seconds_to_reset(headers: Mapping[str, str]) -> float | None:
    """Seconds until the request limit of this user resets, at most LONGEST_PAUSE; None without a usable header.

    Some gateways send the time of the reset instead, in seconds since 1970.
    """
    text = headers.get("RateLimit-Reset", "")
    if not text.isdecimal():
        return None
    seconds = float(text)
    if seconds > LONGEST_WINDOW:
        seconds = max(0.0, seconds - time.time())
    return min(seconds, LONGEST_PAUSE) if seconds <= LONGEST_WINDOW else None
