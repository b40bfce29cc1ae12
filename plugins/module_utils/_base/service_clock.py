# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How far the service's clock is off, which answers show it, and when ``started_before`` is refused because of it.

Each answer bounds the offset of the clock. As in NTP (Marzullo's algorithm), the offset is the one that most answers
agree on, so a stale answer does not move it. A service may have several application servers, each with a clock of its
own; an envelope names the one that has answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from .clock import HUNDREDTH, SECOND, Clock
from .errors import OptionError

# Only the last answers count, because clocks drift.
MOST_ANSWERS = 31
# A larger offset between the clocks is reported. Answers that differ by less agree.
LARGEST_SILENT_OFFSET = 5
# A larger one is refused where a clock decides.
LARGEST_CORRECTION = 300
# This many answers show where the clock was at the beginning, even if some of them are stale.
FIRST_ANSWERS = 5
# An instant noted on another machine may be this far ahead.
LARGEST_LEAD = 60
# Seconds that the clock of a database host may be ahead of those of the service, or behind, if nothing is known of it.
HOST_UNCERTAINTY = 60.0
# Further ones count as one, for a service that names another server in each answer.
MOST_SERVERS = 16

Answers: TypeAlias = "deque[tuple[float, float]]"
# What one answer shows: see the parameters of ``ServiceClock.shown``.
Sample: TypeAlias = "tuple[datetime, float, float, str | None]"


class ServiceClock:
    """How many seconds the service is ahead of this machine, from its last answers. ``newest`` is the last of them."""

    newest: Sample | None = None
    # Known until the next answer: a decision asks for them once for each request of the journal.
    _bounds_shown: tuple[float, float] | None = None

    def __init__(self) -> None:
        self._answers: Answers = deque(maxlen=MOST_ANSWERS)
        self._by_server: dict[str | None, Answers] = {}
        self._first_by_server: dict[str | None, list[tuple[float, float]]] = {}

    def shown(self, completed: datetime, sent: float, received: float, server: str | None = None) -> None:
        """Record a response ``completed`` by the service's clock, between two epoch seconds of this machine's.

        ``server`` is the application server that has answered, where the response names it.
        """
        self.newest = completed, sent, received, server
        self._bounds_shown = None
        precision = HUNDREDTH if completed.microsecond else SECOND
        answer = (completed.timestamp() - received, completed.timestamp() + precision - sent)
        self._answers.append(answer)
        is_told_apart = server in self._by_server or len(self._by_server) < MOST_SERVERS
        name = server if is_told_apart else None
        self._by_server.setdefault(name, deque(maxlen=MOST_ANSWERS)).append(answer)
        first = self._first_by_server.setdefault(name, [])
        if len(first) < FIRST_ANSWERS:
            first.append(answer)

    @property
    def bounds(self) -> tuple[float, float]:
        """Seconds by which the clocks of all application servers are ahead, at least and at most; 0 without answers.

        Which of them has written a time is not known.
        """
        found = self._bounds_shown
        if found is None:
            each = [_bounds(answers) for answers in self._by_server.values()]
            least = min((least for least, _most in each), default=0.0)
            found = self._bounds_shown = least, max((most for _least, most in each), default=0.0)
        return found

    @property
    def offset(self) -> float:
        """Seconds by which the service is ahead; negative if it is behind, 0 while the clocks may agree."""
        least, most = _agreed_bounds(self._answers)
        return 0.0 if least <= 0 <= most else (least + most) / 2

    @property
    def agreed(self) -> bool:
        """Whether more than half of the answers agree with ``offset``; true without any."""
        return not self._answers or 2 * len(self._agreeing()) > len(self._answers)

    @property
    def uncertainty(self) -> float:
        """Seconds by which ``offset`` may be wrong, by the answers that agree or, if too few do, by all.

        0 without any answer.
        """
        if not self._answers:
            return 0.0
        offset = self.offset
        least, most = _agreed_bounds(self._answers)
        believed = self._agreeing() if self.agreed else [_distance(answer, offset) for answer in self._answers]
        return max(offset - least, most - offset, *believed)

    @property
    def answers(self) -> int:
        """How many answers the offset is based on."""
        return len(self._answers)

    @property
    def disagrees(self) -> bool:
        """Whether the answers disagree by more than is corrected."""
        first, last = self.extremes if self._answers else (0.0, 0.0)
        return not self.agreed and last - first > LARGEST_CORRECTION

    @property
    def is_doubtful(self) -> bool:
        """Whether a few answers disagree, so that more answers have to show which one is wrong."""
        if not 1 < len(self._answers) < FIRST_ANSWERS:
            return False
        first, last = self.extremes
        return last - first > LARGEST_SILENT_OFFSET

    @property
    def was_set(self) -> bool:
        """Whether somebody set a clock after its first answers, so that times before and after cannot be compared."""
        return any(_was_set(first, self._by_server[server]) for server, first in self._first_by_server.items())

    @property
    def is_off(self) -> bool:
        """Whether it is further from this machine's than is corrected."""
        return abs(self.offset) > LARGEST_CORRECTION

    @property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest offset that the answers show; the first is larger where all agree."""
        return min(most for _least, most in self._answers), max(least for least, _most in self._answers)

    def _agreeing(self) -> list[float]:
        """How far the answers that agree are from ``offset``."""
        offset = self.offset
        distances = (_distance(answer, offset) for answer in self._answers)
        return [distance for distance in distances if distance <= LARGEST_SILENT_OFFSET]


def _was_set(first: Sequence[tuple[float, float]], last: Answers) -> bool:
    """Whether more than half of the last answers of one clock agree, and its first ones show another time."""
    offset = sum(_agreed_bounds(last)) / 2
    elsewhere = sum(_distance(answer, offset) > LARGEST_SILENT_OFFSET for answer in first)
    agreeing = sum(_distance(answer, offset) <= LARGEST_SILENT_OFFSET for answer in last)
    return 2 * agreeing > len(last) and 2 * elsewhere > FIRST_ANSWERS


def _agreed_bounds(answers: Answers) -> tuple[float, float]:
    """The bounds of the offset on which most answers agree; of several, the narrowest."""
    candidates = []
    for start, _most in answers:
        ends = [most for least, most in answers if least <= start <= most]
        candidates.append((len(ends), start - min(ends), start, min(ends)))
    *_rank, least, most = max(candidates, default=(0.0, 0.0))
    return least, most


def _bounds(answers: Answers) -> tuple[float, float]:
    """Those on which more than half of the answers of one clock agree; if too few do, those of all."""
    least, most = _agreed_bounds(answers)
    agreeing = sum(first <= most and last >= least for first, last in answers)
    if 2 * agreeing > len(answers):
        return least, most
    return min(first for first, _last in answers), max(last for _first, last in answers)


def service_time(service_clock: ServiceClock, clock: Clock) -> datetime:
    """What the clock of the service shows now."""
    return datetime.fromtimestamp(clock.wall() + service_clock.offset, UTC)


def time_in(seconds: float, service_clock: ServiceClock, clock: Clock, shown: Iterable[datetime | None]) -> str:
    """The time of the service in so many seconds, as in ``00:23:21+08:00``: in the zone of what it has ``shown``."""
    zone = next((time.tzinfo for time in shown if time is not None), UTC)
    end = service_time(service_clock, clock) + timedelta(seconds=seconds)
    return end.astimezone(zone).timetz().isoformat("seconds")


def earliest_service_time(service_clock: ServiceClock, clock: Clock) -> datetime:
    """The time that the slowest clock of the service shows now. Every other one shows that time or a later one."""
    return datetime.fromtimestamp(clock.wall() + service_clock.bounds[0], UTC)


def to_service_clock(local: datetime, service_clock: ServiceClock, wall: float) -> tuple[datetime, list[str]]:
    """``local`` by the clock of the service; and warnings.

    ``wall`` is the time of this machine in seconds since 1970. Raises OptionError for a clock that cannot be trusted,
    and for an instant in the future: every run until then would restart again.
    """
    _check_clock(local, service_clock, wall)
    offset = service_clock.offset
    warnings = []
    if abs(offset) > LARGEST_SILENT_OFFSET:
        warnings.append(
            f"The clock of the service is {abs(offset):.0f} seconds {'ahead of' if offset > 0 else 'behind'} the clock "
            "of this machine; started_before was read by this machine's clock and corrected by the difference."
        )
    if local.timestamp() > wall + LARGEST_LEAD:
        raise OptionError(
            f"started_before: {local.isoformat()} is in the future: by the clock of the service it is "
            f"{_time_text(wall + offset, local)}. "
            "Every run until then would restart again; give the instant of the change, which is in the past."
        )
    if local.timestamp() > wall + LARGEST_SILENT_OFFSET:
        warnings.append(
            f"started_before: {local.isoformat()} is in the future; until then nothing can have started since."
        )
    return local + timedelta(seconds=offset), warnings


def _check_clock(local: datetime, service_clock: ServiceClock, wall: float) -> None:
    """Raise OptionError if the service's clock is off by too much, or is not known."""
    here = f"by the clock of this machine it is {_time_text(wall, local)}"
    way_out = (
        f"A difference of more than {LARGEST_CORRECTION} seconds is not corrected, since the clock decides what is "
        "restarted. Set the clocks right (NTP), then run this again."
    )
    if service_clock.disagrees:
        first, last = service_clock.extremes
        raise OptionError(
            f"started_before: the answers of the service disagree about the time: they show "
            f"{_time_text(wall + first, local)} and {_time_text(wall + last, local)}; {here}. {way_out}"
        )
    there = _time_text(wall + service_clock.offset, local)
    if service_clock.was_set:
        raise OptionError(
            f"started_before: the clock of the service was changed during this run and now shows {there}; {here}. "
            "Times from before and after cannot be compared. Check the start times in OCP, then run this again with an "
            "instant by the new clock."
        )
    if service_clock.is_off:
        raise OptionError(f"started_before: by the clock of the service it is {there}; {here}. {way_out}")


def _distance(answer: tuple[float, float], offset: float) -> float:
    """Seconds from ``offset`` to what an answer allows."""
    least, most = answer
    return max(0.0, least - offset, offset - most)


def _time_text(seconds: float, like: datetime) -> str:
    """Epoch seconds as ISO 8601, in the zone of ``like``."""
    return datetime.fromtimestamp(round(seconds), like.tzinfo).isoformat(timespec="seconds")
