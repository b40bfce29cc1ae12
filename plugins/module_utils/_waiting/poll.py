# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Polling: how often, how long, and what ends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from .._base.clock import Clock
from .._base.errors import ServiceError
from .._ocp.endpoints import OcpApi
from .failure_report import DEFAULT_LOG_LINES
from .progress import Show, show_nothing

Result = dict[str, Any]

# Each is drawn anew between its bounds, so that those who began together do not go on asking together.
SHORTEST_PAUSE, SHORTEST_PAUSE_WITH_JITTER = 0.5, 0.6
SHARE_OF_WAITED, SHARE_OF_WAITED_WITH_JITTER = 0.05, 0.04


@dataclass(frozen=True)
class PollPolicy:
    """How long to wait in all, and the longest pause between two looks, in seconds; ``show`` gets lines of progress.

    ``log_lines`` is how much of the log of a failed subtask is told.
    """

    timeout: float
    interval: float
    show: Show = show_nothing
    log_lines: int = DEFAULT_LOG_LINES

    def pause(self, waited: float, jitter: float, retry_after: float = 0.0) -> float:
        """Seconds until the next poll: 5 % of the time waited so far, within bounds and the time that is left.

        ``jitter`` from 0 to 1 takes up to a fifth of it away; the service asks for no request for ``retry_after``.
        """
        shortest = SHORTEST_PAUSE + jitter * (SHORTEST_PAUSE_WITH_JITTER - SHORTEST_PAUSE)
        share = SHARE_OF_WAITED - jitter * (SHARE_OF_WAITED - SHARE_OF_WAITED_WITH_JITTER)
        pause = max(min(max(shortest, share * waited), self.interval), retry_after)
        return max(0.0, min(pause, self.timeout - waited))

    def left(self, waited: float) -> PollPolicy:
        """What remains after ``waited`` seconds."""
        return replace(self, timeout=max(0.0, self.timeout - waited))


class Poller(Protocol):
    """What is looked at again and again until it is ``done``, and how it shows that."""

    @property
    def done(self) -> bool:
        """Whether no other look is needed."""

    @property
    def heartbeat_due(self) -> float:
        """How many seconds into the wait ``heartbeat`` is due."""

    def poll(self) -> None:
        """Look once. What it raises ends the wait."""

    def report(self, waited: float) -> None:
        """Show what the look brought, ``waited`` seconds into the wait."""

    def heartbeat(self, waited: float) -> None:
        """Show that the wait goes on."""


def poll_until_done(poller: Poller, api: OcpApi, policy: PollPolicy, clock: Clock) -> float:
    """Look until ``poller`` is done or, after one last look, ``policy`` is used up; the seconds that it took."""
    started = clock.now()
    while True:
        poller.poll()
        waited = clock.now() - started
        poller.report(waited)
        if poller.done or waited >= policy.timeout:
            return waited
        _sleep_with_heartbeats(policy.pause(waited, clock.jitter(), api.retry_after), waited, poller, clock)


def transient_error_warnings(what: str, problems: Sequence[ServiceError]) -> list[str]:
    """A sentence about the looks at ``what`` that failed, if there were any."""
    if not problems:
        return []
    polls = "1 look" if len(problems) == 1 else f"{len(problems)} looks"
    return [f"{polls} at {what} failed and did not end the wait. The last: {problems[-1]}"]


def _sleep_with_heartbeats(pause: float, waited: float, poller: Poller, clock: Clock) -> None:
    """Sleep ``pause`` seconds, with a word where it would be quiet for too long."""
    until = waited + pause
    while poller.heartbeat_due < until:
        due = poller.heartbeat_due
        clock.sleep(max(0.0, due - waited))
        waited = max(waited, due)
        poller.heartbeat(waited)
    clock.sleep(until - waited)
