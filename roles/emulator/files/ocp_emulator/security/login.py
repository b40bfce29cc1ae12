# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The checks at login: credentials, lock-out and rate limit, in this order.

The control API checks only credentials, so that it can always unlock a user. An access key with a wrong signature locks
nobody, and the key of a locked user still works: the section is about passwords only.
"""

from ocp_emulator.security.authentication import Authenticator, Caller, WrongPassword
from ocp_emulator.security.lockout import Lockouts
from ocp_emulator.security.rate_limit import RateLimiter, RateLimitStatus
from ocp_emulator.security.signing import SignedRequest


class LoginGuard:
    """Lets callers in, and counts wrong passwords and requests."""

    def __init__(self, authenticator: Authenticator, lockouts: Lockouts, rate_limiter: RateLimiter) -> None:
        """All checks are made by these."""
        self._authenticator = authenticator
        self._lockouts = lockouts
        self._rate_limiter = rate_limiter

    def log_in(self, request: SignedRequest, machine_now: int, client: str, now: int) -> Caller:
        """The caller. ApiError 401 for missing or wrong credentials, and for a locked user or client."""
        try:
            caller = self._authenticator.authenticate(request, machine_now)
        except WrongPassword as error:
            self._lockouts.check(error.name, client, now)
            self._lockouts.record_failure(error.name if error.exists else None, client, now)
            raise
        if caller.by_password:
            self._lockouts.check(caller.user.name, client, now)
            self._lockouts.record_success(caller.user.name)
        return caller

    def count_request(self, caller: Caller, now: int) -> RateLimitStatus | None:
        """Count a request of the caller; None when there is no limit."""
        return self._rate_limiter.acquire(caller.user.name, now)
