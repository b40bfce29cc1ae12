# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How long to wait until the next look before a request: for safety, for health, and after a look that failed."""

from __future__ import annotations

from .._base.clock import Clock
from .._base.errors import CredentialsRefused, NotFound, ServiceError
from .._ocp.endpoints import OcpApi
from .._targets.target import Selector, Target
from .._waiting.poll_pauses import SHORTEST_PAUSE, PollPolicy
from .._waiting.progress import progress_line
from .restart_request import RestartRequest


def pause_until_next_look(api: OcpApi, request: RestartRequest, waited: float, clock: Clock) -> float:
    """Seconds, after ``waited`` of them; 0 if there is no time left. Check mode does not wait."""
    timeout = 0.0 if request.safety is None else request.safety.timeout
    if request.check_mode or waited > timeout - SHORTEST_PAUSE:
        return 0.0
    return PollPolicy(timeout, request.policy.interval).pause(waited, clock.jitter(), api.retry_after)


def may_pass(request: RestartRequest, error: ServiceError) -> bool:
    """Whether a failed look is no end yet: what waits for a healthy cluster outlasts a service that is away."""
    is_waiting = request.safety is not None and request.safety.healthy
    return is_waiting and not isinstance(error, (CredentialsRefused, NotFound))


def found_target(api: OcpApi, selector: Selector, request: RestartRequest, clock: Clock) -> Target:
    """The target of ``selector``, looked for as long as failed reads may pass. Raises TargetError and ServiceError."""
    began = clock.now()
    while True:
        try:
            return selector.find(api)
        except ServiceError as error:
            pause = pause_until_next_look(api, request, clock.now() - began, clock)
            if not pause or not may_pass(request, error):
                raise
            request.policy.show(progress_line(unread_words(error)), True)
            clock.sleep(pause)


def unread_words(error: ServiceError) -> str:
    """What is shown while it is waited for."""
    return f"the service cannot be read: {error.what.rstrip('.')}"
