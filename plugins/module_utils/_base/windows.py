# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Weekly maintenance windows in a time zone, without blackouts: which spans of time are open. Times are arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from .checks import check_nonempty
from .errors import OptionError
from .text import join_names

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ONE_DAY, ONE_SECOND = timedelta(days=1), timedelta(seconds=1)
# How far windows are looked for: a little more than a year, so that a yearly freeze is behind.
HORIZON = 400
KEYS = ("time_zone", "weekly", "blackouts")
WEEKLY_KEYS = ("days", "start", "end", "time_zone")
BLACKOUT_KEYS = ("from", "to")


@dataclass(frozen=True)
class Span:
    """Open time, in UTC: from ``opens`` on, before ``closes``."""

    opens: datetime
    closes: datetime


@dataclass(frozen=True)
class Weekly:
    """A window on ``days`` (0 is Monday), from ``start`` to ``end`` after midnight of its day by the wall clock."""

    days: frozenset[int]
    start: timedelta
    end: timedelta
    zone: ZoneInfo


@dataclass(frozen=True)
class Calendar:
    """Windows, and ``blackouts`` as local times in ``zone``: from the first on, before the second.

    Clocks change: a window opens at the second of two equal local times, and closes at the first of them. A time that
    the clock skips is the instant at which it does. A blackout begins at the first and ends at the second. So a window
    is short rather than long, and one of which nothing is left does not open on that day.
    """

    zone: ZoneInfo
    weekly: Sequence[Weekly]
    blackouts: Sequence[tuple[datetime, datetime]] = ()

    def spans(self, after: datetime, days: int = HORIZON) -> list[Span]:
        """The open spans that close later than ``after``, in order, of so many days. What touches is one span."""
        first = after.astimezone(UTC).date() - 2 * ONE_DAY
        found = _merged(span for day in range(days + 3) for span in self._of_day(first + day * ONE_DAY))
        closed = _merged(
            Span(_instant(begin, self.zone, latest=False), _instant(end, self.zone, latest=True))
            for begin, end in self.blackouts
        )
        return [span for span in _without(found, closed) if span.closes > after]

    def local(self, at: datetime) -> str:
        """An instant as people say it, as in ``Thursday 2026-12-03 04:10 (Europe/Berlin)``."""
        there = at.astimezone(self.zone)
        return f"{DAY_NAMES[there.weekday()]} {there:%Y-%m-%d %H:%M} ({self.zone.key})"

    def outside_words(self, now: datetime, taken: float, past: str = "") -> str:
        """Why a restart of ``taken`` seconds must not begin ``now``, and when it may; empty if it ends in its window.

        ``past`` is how that duration is known.
        """
        # A year is read only where the next window is asked for.
        current = open_span(self.spans(now, 3 + int(taken // 86400)), now)
        if current is not None and now + timedelta(seconds=taken) <= current.closes:
            return ""
        coming = next_span(self.spans(now), now, taken)
        why = (
            f"it would not be done before the window closes on {self.local(current.closes)}{past}"
            if current is not None
            else "no window is open"
        )
        if coming is not None:
            return f"{why}; the next window opens on {self.local(coming.opens)}, run the same command again then"
        long_enough = f" is long enough for it{'' if current is not None else past}" if taken else " opens"
        return f"{why}; no window of the next {HORIZON} days{long_enough}, so give other windows"

    def _of_day(self, day: date) -> Iterator[Span]:
        midnight = datetime(day.year, day.month, day.day)
        for window in self.weekly:
            if day.weekday() in window.days:
                opens = _instant(midnight + window.start, window.zone, latest=True)
                closes = _instant(midnight + window.end, window.zone, latest=False)
                if opens < closes:
                    yield Span(opens, closes)


def open_span(spans: Iterable[Span], at: datetime) -> Span | None:
    """The span that is open at an instant, if any."""
    return next((span for span in spans if span.opens <= at < span.closes), None)


def next_span(spans: Iterable[Span], at: datetime, seconds: float = 0.0) -> Span | None:
    """The first span that opens later than an instant and is so many seconds long, if any."""
    needed = timedelta(seconds=seconds)
    return next((span for span in spans if span.opens > at and span.closes - span.opens >= needed), None)


def _instant(local: datetime, zone: ZoneInfo, *, latest: bool) -> datetime:
    """The instant of a local time; where the clock skips it, the one at which it does."""
    first = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    second = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    if first <= second:
        return second if latest else first
    # The offset changes between them, once.
    before, after = second, first
    offset = after.astimezone(zone).utcoffset()
    while after - before > ONE_SECOND:
        middle = before + timedelta(seconds=(after - before) // ONE_SECOND // 2)
        if middle.astimezone(zone).utcoffset() == offset:
            after = middle
        else:
            before = middle
    return after


def _merged(spans: Iterable[Span]) -> list[Span]:
    found: list[Span] = []
    for span in sorted(spans, key=lambda one: one.opens):
        if found and span.opens <= found[-1].closes:
            found[-1] = Span(found[-1].opens, max(found[-1].closes, span.closes))
        else:
            found.append(span)
    return found


def _without(spans: Iterable[Span], closed: Sequence[Span]) -> Iterator[Span]:
    for span in spans:
        opens = span.opens
        for dark in closed:
            if dark.closes <= opens or dark.opens >= span.closes:
                continue
            if opens < dark.opens:
                yield Span(opens, dark.opens)
            opens = dark.closes
        if opens < span.closes:
            yield Span(opens, span.closes)


def parse_windows(option: str, given: Mapping[str, Any] | None) -> Calendar | None:
    """The calendar of the option, None where it is not given. Raises OptionError."""
    if given is None:
        return None
    _check_keys(option, given, KEYS)
    zone = _zone(f"{option}.time_zone", given.get("time_zone"))
    weekly = _listed(f"{option}.weekly", given.get("weekly"))
    if not weekly:
        raise OptionError(f"{option}.weekly: has no window; give at least one, with start and end.")
    blackouts = _listed(f"{option}.blackouts", given.get("blackouts"))
    return Calendar(
        zone,
        tuple(_weekly(f"{option}.weekly[{place}]", one, zone) for place, one in enumerate(weekly)),
        tuple(_blackout(f"{option}.blackouts[{place}]", one) for place, one in enumerate(blackouts)),
    )


def _listed(option: str, given: Any) -> list[Any]:
    if given is not None and not isinstance(given, list | tuple):
        raise OptionError(f"{option}: {given!r} is not a list; give a list.")
    return list(given or ())


def _check_keys(option: str, given: Any, known: Sequence[str]) -> None:
    if not isinstance(given, Mapping):
        raise OptionError(f"{option}: {given!r} is not a dictionary; give one with the keys {join_names(known)}.")
    for key in given:
        if key not in known:
            raise OptionError(f"{option}: {key} is not known; give {join_names(known)}.")


def _zone(option: str, given: Any) -> ZoneInfo:
    try:
        return ZoneInfo(given if isinstance(given, str) else "")
    except (KeyError, ValueError, OSError):
        what = "not given" if given is None else f"{given!r}, which is not known here"
        raise OptionError(
            f"{option}: is {what}; give an IANA name, as in Europe/Berlin. Zones are read from the system, or from the "
            "Python package tzdata: if each of them is unknown, install that."
        ) from None


def _weekly(option: str, given: Any, zone: ZoneInfo) -> Weekly:
    _check_keys(option, given, WEEKLY_KEYS)
    names = given.get("days")
    check_nonempty(f"{option}.days", names, "leave it out to have each day")
    named = list(DAYS) if names is None else _listed(f"{option}.days", names)
    unknown = [name for name in named if name not in DAYS]
    if unknown:
        raise OptionError(f"{option}.days: {unknown[0]!r} is not a day; give some of {join_names(DAYS)}.")
    start, end = (_time(f"{option}.{key}", given.get(key)) for key in ("start", "end"))
    if start in (end, ONE_DAY):
        raise OptionError(
            f"{option}: start {given['start']} and end {given['end']} leave nothing open; for a whole day give "
            "start '00:00' and end '24:00'."
        )
    own = _zone(f"{option}.time_zone", given["time_zone"]) if given.get("time_zone") is not None else zone
    return Weekly(frozenset(map(DAYS.index, named)), start, end + ONE_DAY if end < start else end, own)


def _time(option: str, given: Any) -> timedelta:
    """A time of day after midnight. YAML reads 22:00 without quotes as the number 1320."""
    match = re.fullmatch(r"([0-9]{1,2}):([0-5][0-9])", given if isinstance(given, str) else "")
    found = timedelta(hours=int(match[1]), minutes=int(match[2])) if match else 2 * ONE_DAY
    if found > ONE_DAY:
        what = "is not given" if given is None else f"{given!r} is not a time of day"
        raise OptionError(f"{option}: {what}; give hours and minutes in quotes, as in '01:00'.")
    return found


def _blackout(option: str, given: Any) -> tuple[datetime, datetime]:
    if not isinstance(given, Mapping):
        begin = _local(option, given)
        if not _is_date(given):
            raise OptionError(f"{option}: {given} is a time and no day; give from and to, or a day as in 2026-12-24.")
        return begin, begin + ONE_DAY
    _check_keys(option, given, BLACKOUT_KEYS)
    begin, end = (_local(f"{option}.{key}", given.get(key)) for key in BLACKOUT_KEYS)
    end += ONE_DAY if _is_date(given["to"]) else timedelta()
    if end <= begin:
        raise OptionError(f"{option}: to {given['to']} is not after from {given['from']}; give a later one.")
    return begin, end


def _is_date(given: Any) -> bool:
    return len(str(given)) == len("2026-12-24")


def _local(option: str, given: Any) -> datetime:
    """A day, or a day and a time, without an offset. YAML reads a day without quotes as a date."""
    try:
        found = datetime.fromisoformat(str(given))
    except ValueError:
        found = None
    if found is None or found.tzinfo is not None or str(given)[4:5] != "-" or not 1973 <= found.year <= 9000:
        what = "is not given" if given is None else f"{given} is not a local day"
        raise OptionError(f"{option}: {what}; give one as in 2026-12-24, or a time of it as in '2026-12-24 18:00'.")
    return found
