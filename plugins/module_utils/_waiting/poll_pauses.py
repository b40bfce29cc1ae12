# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The pauses of a wait: how long, how they grow, by how much they vary; when the wait ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from .._base.clock import Clock
from .._base.errors import CredentialsRefused, NotFound, PageNotFound, ServiceError
from .._ocp.endpoints import OcpApi
from .progress_lines import Show, show_nothing

Result = dict[str, Any]

# Pauses are random between these bounds, so that clients that started together do not poll at the same time.
SHORTEST_PAUSE, SHORTEST_PAUSE_WITH_JITTER = 0.5, 0.6
SHARE_OF_WAITED, SHARE_OF_WAITED_WITH_JITTER = 0.05, 0.04
DEFAULT_LOG_LINES = 20
# Failures that end a wait, since no other read mends them.
LASTING = (CredentialsRefused, NotFound)
# The same for a first read, which may be of a wrong address.
LASTING_AT_FIRST = (*LASTING, PageNotFound)
# Seconds within which a lagging replica of the service shows a task that is known to exist.
UNSEEN_FOR = 60.0

Note = Callable[[Result], None]


def note_nothing(_facts: Result) -> None:
    """Notes nothing."""


@dataclass(frozen=True)
class PollPolicy:
    """The limit of a wait and of a pause between two polls, in seconds; ``show`` gets the progress lines.

    ``log_lines`` is the number of lines shown from the log of a failed subtask. ``announce`` gets the one line that is
    shown even without progress: which task was started. ``offline_time`` is how many seconds a restarted server may be
    offline; the lines show how much of it is left. Without ``steps`` there is no line for each subtask. ``note`` gets
    what is to be known even if the process is killed: a ``plan``, what is ``asked``, ``refused``, ``began``, ``ended``,
    ``inspected``.
    """

    timeout: float
    interval: float
    show: Show = show_nothing
    log_lines: int = DEFAULT_LOG_LINES
    announce: Show = show_nothing
    offline_time: float | None = None
    steps: bool = True
    note: Note = note_nothing

    def pause(self, waited: float, jitter: float, retry_after: float = 0.0) -> float:
        """Seconds until the next poll: 5 % of the time waited, at least the shortest pause, at most ``interval``.

        ``jitter`` (0 to 1) shortens that share, and lengthens the shortest pause, by up to a fifth. The pause is at
        least ``retry_after``, and never longer than the time left.
        """
        shortest = SHORTEST_PAUSE + jitter * (SHORTEST_PAUSE_WITH_JITTER - SHORTEST_PAUSE)
        share = SHARE_OF_WAITED - jitter * (SHARE_OF_WAITED - SHARE_OF_WAITED_WITH_JITTER)
        pause = max(min(max(shortest, share * waited), self.interval), retry_after)
        return max(0.0, min(pause, self.timeout - waited))

    def left(self, waited: float) -> PollPolicy:
        """The policy for the time left after ``waited`` seconds."""
        return replace(self, timeout=max(0.0, self.timeout - waited))


class Poller(Protocol):
    """The state that is polled until it is ``done``, and its progress lines."""

    @property
    def done(self) -> bool:
        """Whether polling can end."""

    @property
    def heartbeat_due(self) -> float:
        """Seconds into the wait at which ``heartbeat`` is due."""

    def poll(self) -> None:
        """Poll once. Any error ends the wait."""

    def report(self, waited: float) -> None:
        """Show the result of the poll, ``waited`` seconds into the wait."""

    def heartbeat(self, waited: float) -> None:
        """Show that the wait continues."""


def poll_until_done(poller: Poller, api: OcpApi, policy: PollPolicy, clock: Clock) -> float:
    """Poll until ``poller`` is done or, after one last poll, the timeout is over; returns the seconds taken."""
    started = clock.now()
    while True:
        poller.poll()
        waited = clock.now() - started
        poller.report(waited)
        if poller.done or waited >= policy.timeout:
            return waited
        _sleep_with_heartbeats(policy.pause(waited, clock.jitter(), api.retry_after), waited, poller, clock)


def transient_error_warnings(what: str, problems: Sequence[ServiceError]) -> list[str]:
    """A sentence about the failed polls of ``what``, if any."""
    if not problems:
        return []
    polls = "1 poll" if len(problems) == 1 else f"{len(problems)} polls"
    return [f"{polls} of {what} failed; the wait went on. The last error: {problems[-1].what}"]


def _sleep_with_heartbeats(pause: float, waited: float, poller: Poller, clock: Clock) -> None:
    """Sleep ``pause`` seconds, with a heartbeat whenever one is due."""
    until = waited + pause
    while poller.heartbeat_due < until:
        due = poller.heartbeat_due
        clock.sleep(max(0.0, due - waited))
        waited = max(waited, due)
        poller.heartbeat(waited)
    clock.sleep(until - waited)
