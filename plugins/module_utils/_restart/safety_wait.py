# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How long to wait until the next look before a request: for safety, for health, and after a failed look."""

from __future__ import annotations

from collections.abc import Iterable

from .._base.clock import Clock
from .._base.errors import CredentialsRefused, NotFound, ServiceError
from .._ocp.endpoints import OcpApi
from .._targets.target import Selector, Target
from .._waiting.poll_pauses import SHORTEST_PAUSE, PollPolicy
from .._waiting.progress import progress_line
from .cluster_lock import ClusterLock
from .restart_request import RestartRequest


class SafetyWait:
    """The wait of one restart until nothing prevents it. ``waited`` are the seconds so far."""

    def __init__(self, api: OcpApi, target: Target, request: RestartRequest, lock: ClusterLock, clock: Clock) -> None:
        self._api = api
        self._target = target
        self._request = request
        self._lock = lock
        self._clock = clock
        self._shown: list[str] = []
        self.waited = 0.0

    def puts_off(self, why: Iterable[str], *, passes: bool) -> bool:
        """Whether it has waited a while, if that may help and there is time; a line is shown for each reason."""
        pause = _pause_until_next_look(self._api, self._request, self.waited, self._clock) if passes else 0.0
        if not pause:
            return False
        self._lock.release()
        lines = list(dict.fromkeys(why))
        if lines != self._shown:
            self._shown = lines
            for line in (f"{self._target.label}: not safe yet", *lines):
                self._request.policy.show(progress_line(line), False)
        began = self._clock.now()
        self._clock.sleep(pause)
        self.waited += self._clock.now() - began
        return True

    def outlasts(self, error: ServiceError) -> bool:
        """The same after a look that failed."""
        return self.puts_off([_unread_words(error)], passes=_may_pass(self._request, error))


def _pause_until_next_look(api: OcpApi, request: RestartRequest, waited: float, clock: Clock) -> float:
    """Seconds, after ``waited`` of them; 0 if there is no time left. Check mode does not wait."""
    timeout = request.safety_timeout
    if request.check_mode or waited > timeout - SHORTEST_PAUSE:
        return 0.0
    return PollPolicy(timeout, request.policy.interval).pause(waited, clock.jitter(), api.retry_after)


def _may_pass(request: RestartRequest, error: ServiceError) -> bool:
    """Whether a failed look may be repeated: a restart that waits for a healthy cluster also waits for the service."""
    is_waiting = request.safety is not None and request.safety.healthy
    return is_waiting and not isinstance(error, (CredentialsRefused, NotFound))


def found_target(api: OcpApi, selector: Selector, request: RestartRequest, clock: Clock) -> Target:
    """The target of ``selector``, looked for as long as failed reads may pass. Raises TargetError and ServiceError."""
    began = clock.now()
    while True:
        try:
            return selector.find(api)
        except ServiceError as error:
            pause = _pause_until_next_look(api, request, clock.now() - began, clock)
            if not pause or not _may_pass(request, error):
                raise
            request.policy.show(progress_line(_unread_words(error)), True)
            clock.sleep(pause)


def _unread_words(error: ServiceError) -> str:
    """What is shown while it is waited for."""
    return f"the service cannot be read: {error.what.rstrip('.')}"
