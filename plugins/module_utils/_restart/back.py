# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether the servers that a request took down serve again, and for how long answers may not show what it did."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from .._base.clock import Clock
from .._base.parsing import instant
from .._base.service_clock import LARGEST_CORRECTION, LARGEST_SILENT_OFFSET, ServiceClock
from .._journal.rows import Place, RequestRow
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._targets.target import Member
from .._waiting.poll_pauses import UNSEEN_FOR
from .change import Span, has_moved, noted_member
from .evidence import PROOF_TIMEOUT, work_of
from .knowledge import Work


class Ages:
    """How long ago requests were sent, as one run knows it."""

    def __init__(self, api: OcpApi, clock: Clock) -> None:
        self._api = api
        self._clock = clock
        # When this run has seen requests first, by their numbers.
        self._known_since: dict[int | None, float] = {}

    def is_surely(self, row: RequestRow, seconds: float) -> bool:
        """Whether a request was sent so many seconds ago.

        The wall clock may have been set since, or be that of another machine, so it decides only with a margin. Without
        that, this run has to have known the request for so long.
        """
        age = self._clock.wall() - self._latest(row)
        return self._known_for(row) >= seconds or age >= seconds + LARGEST_CORRECTION

    def may_be(self, row: RequestRow, seconds: float) -> bool:
        """Whether a request may have been sent so many seconds ago."""
        age = self._clock.wall() - sent_at(row, self._api.service_clock)
        return self._known_for(row) >= seconds or age >= seconds

    def _known_for(self, row: RequestRow) -> float:
        now = self._clock.now()
        return now - self._known_since.setdefault(row.number, now)

    def is_searched(self, row: RequestRow) -> bool:
        """Whether the time is surely over in which the task of a request should have shown."""
        return self.is_surely(row, self._arrives_within(row) + UNSEEN_FOR)

    def is_shown(self, row: RequestRow) -> bool:
        """Whether the time is surely over in which the start should have shown that a task has made since."""
        return self.is_surely(row, self._arrives_within(row) + UNSEEN_FOR + PROOF_TIMEOUT)

    def may_be_unseen(self, row: RequestRow) -> bool:
        """Whether the service may not show its task yet. One whose answer is open may still be carried out."""
        arrival = self._arrives_within(row) if row.task_id is None else 0.0
        return self.may_be_within(row, arrival + UNSEEN_FOR)

    def unseen_for(self, row: RequestRow) -> float:
        """For how many seconds more the service may not show its task."""
        left = self._latest(row) + self._arrives_within(row) + UNSEEN_FOR - self._clock.wall()
        return max(0.0, left)

    def _arrives_within(self, row: RequestRow) -> float:
        return row.timeout or self._api.timeout

    def may_be_within(self, row: RequestRow, seconds: float) -> bool:
        """Whether a request may have been sent within so many seconds."""
        earliest, latest = sent_between(row, self._api.service_clock)
        return earliest - seconds < self._clock.wall() < latest + seconds

    def _latest(self, row: RequestRow) -> float:
        """When a request was sent at the latest; no earlier than it noted, in case few answers have shown a clock."""
        return max(row.at, sent_between(row, self._api.service_clock)[1])


def sent_between(row: RequestRow, clock: ServiceClock) -> tuple[float, float]:
    """When a request was sent, at the earliest and at the latest, by this machine's clock, in seconds since 1970.

    Another machine has sent it, or this clock has been set since, if none of the service's clocks can be as far ahead
    of it as then. What is known then is the time by the service's clock.
    """
    low, high = clock.bounds
    least, most = row.ahead or (low, high)
    is_by_this_clock = _is_by_this_clock((least, most), clock)
    return (row.at, row.at) if is_by_this_clock else (row.at + least - high, row.at + most - low)


def noted_span(at: float, ahead: tuple[float, float] | None, clock: ServiceClock) -> Span:
    """An instant that a controller has noted by its own clock, by the clocks of the service.

    ``ahead`` is by how many seconds they were ahead of that clock then, at least and at most. None if no answer had
    shown it: then it is what they are ahead of this controller's clock now.
    """
    low, high = clock.bounds
    least, most = ahead or (low, high)
    if _is_by_this_clock((least, most), clock):
        return Span(at + min(least, low), at + max(most, high))
    # The answers may have been those of one application server alone.
    return Span(at + min(least, most - (high - low)), at + max(most, least + (high - low)))


def _is_by_this_clock(ahead: tuple[float, float], clock: ServiceClock) -> bool:
    (least, most), (low, high) = ahead, clock.bounds
    return least <= high + LARGEST_SILENT_OFFSET and low <= most + LARGEST_SILENT_OFFSET


def is_by_this_clock(row: RequestRow, clock: ServiceClock) -> bool:
    """Whether a request was noted by the clock of this machine, and neither that nor the service's was set since."""
    return row.ahead is None or _is_by_this_clock(row.ahead, clock)


def sent_at(row: RequestRow, clock: ServiceClock) -> float:
    """When a request was sent at the earliest; see sent_between."""
    return sent_between(row, clock)[0]


def has_just_ended(task: Task, now: datetime) -> bool:
    """Whether a task has ended so recently that answers may still show its servers as before.

    ``now`` is the earliest time that a clock of the service may show.
    """
    end = instant(task.finish_time)
    return end is not None and now - end < timedelta(seconds=UNSEEN_FOR)


def leaves_undone(task: Task) -> bool:
    """Whether a task has ended, perhaps without all its work: it failed, was undone, or may have skipped a step."""
    return task.finished and (work_of(task) is not Work.RESTARTED or not task.subtasks)


def is_back(row: RequestRow, servers: Iterable[Member], *, has_ended: bool) -> bool:
    """Whether each server of the request serves, and shows a newer start than before, or else its task ``has_ended``.

    ``servers`` are all of its cluster. If the task has ended, a server that is missing there has left the cluster.
    """
    there = {member.name: member for member in servers}
    for place in row.places:
        member = there.get(place.address)
        if member is not None and member.serves is not True:
            return False
        if not (has_ended or (member is not None and _is_new(place, member))):
            return False
    return True


def _is_new(place: Place, member: Member) -> bool:
    return place.shown is not None and has_moved(noted_member(place.address, place.shown), member) is True
