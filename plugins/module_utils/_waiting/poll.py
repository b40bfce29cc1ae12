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

    def pause(self, waited: float, chance: float, rest: float = 0.0) -> float:
        """Seconds until the next look: 5 % of the time waited so far, within bounds and the time that is left.

        ``chance`` from 0 to 1 takes up to a fifth of it away; ``rest`` is how long the service asks to be left alone.
        """
        shortest = SHORTEST_PAUSE + chance * (SHORTEST_PAUSE_WITH_JITTER - SHORTEST_PAUSE)
        share = SHARE_OF_WAITED - chance * (SHARE_OF_WAITED - SHARE_OF_WAITED_WITH_JITTER)
        pause = max(min(max(shortest, share * waited), self.interval), rest)
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
    def silent_until(self) -> float:
        """How many seconds into the wait ``remind`` is due."""

    def look(self) -> None:
        """Look once. What it raises ends the wait."""

    def tell(self, waited: float) -> None:
        """Show what the look brought, ``waited`` seconds into the wait."""

    def remind(self, waited: float) -> None:
        """Show that the wait goes on."""


def poll_until_done(watch: Poller, api: OcpApi, patience: PollPolicy, clock: Clock) -> float:
    """Look until ``watch`` is done or, after one last look, ``patience`` is used up; the seconds that it took."""
    started = clock.now()
    while True:
        watch.look()
        waited = clock.now() - started
        watch.tell(waited)
        if watch.done or waited >= patience.timeout:
            return waited
        _sleep_with_heartbeats(patience.pause(waited, clock.chance(), api.rest), waited, watch, clock)


def transient_error_warnings(what: str, problems: Sequence[ServiceError]) -> list[str]:
    """A sentence about the looks at ``what`` that failed, if there were any."""
    if not problems:
        return []
    looks = "1 look" if len(problems) == 1 else f"{len(problems)} looks"
    return [f"{looks} at {what} failed and did not end the wait. The last: {problems[-1]}"]


def _sleep_with_heartbeats(pause: float, waited: float, watch: Poller, clock: Clock) -> None:
    """Sleep ``pause`` seconds, with a word where it would be quiet for too long."""
    until = waited + pause
    while watch.silent_until < until:
        due = watch.silent_until
        clock.sleep(max(0.0, due - waited))
        waited = max(waited, due)
        watch.remind(waited)
    clock.sleep(until - waited)
