# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Maintenance windows: which instants are open, against a walk through every minute, and what an option may say."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import cache
from random import Random
from zoneinfo import ZoneInfo

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.windows import (
    DAYS,
    Span,
    next_span,
    open_span,
    parse_windows,
)

NIGHTS = {"time_zone": "Europe/Berlin", "weekly": [{"days": ["mon", "tue"], "start": "01:00", "end": "04:10"}]}


def at(text):
    return datetime.fromisoformat(text).astimezone(UTC)


def spans(begin, days=8, **changed):
    return parse_windows("windows", {**NIGHTS, **changed}).spans(at(begin), days)


def daily(start, end, zone="Europe/Berlin"):
    return {"weekly": [{"start": start, "end": end}], "time_zone": zone}


def test_nights_of_a_week():
    assert spans("2026-11-30T02:00:00+01:00", 5) == [
        Span(at("2026-11-30T01:00:00+01:00"), at("2026-11-30T04:10:00+01:00")),
        Span(at("2026-12-01T01:00:00+01:00"), at("2026-12-01T04:10:00+01:00")),
    ]


def test_window_that_passes_midnight_belongs_to_the_day_on_which_it_opens():
    weekly = [{"days": ["fri"], "start": "22:00", "end": "02:00"}]
    assert spans("2026-12-02T00:00:00+01:00", 5, weekly=weekly) == [
        Span(at("2026-12-04T22:00:00+01:00"), at("2026-12-05T02:00:00+01:00"))
    ]


def test_windows_that_touch_are_one():
    weekly = [{"days": ["fri"], "start": "22:00", "end": "24:00"}, {"days": ["sat"], "start": "00:00", "end": "02:00"}]
    assert len(spans("2026-12-02T00:00:00+01:00", 5, weekly=weekly)) == 1


@pytest.mark.parametrize(
    ("blackout", "left"),
    [
        ("2026-12-01", ["2026-11-30T01:00:00+01:00"]),
        (date(2026, 12, 1), ["2026-11-30T01:00:00+01:00"]),
        ({"from": "2026-11-30", "to": "2026-12-01"}, []),
        (
            {"from": "2026-11-30 02:00", "to": "2026-11-30 03:00"},
            ["2026-11-30T01:00:00+01:00", "2026-11-30T03:00:00+01:00", "2026-12-01T01:00:00+01:00"],
        ),
    ],
)
def test_blackouts_are_taken_out(blackout, left):
    found = spans("2026-11-29T00:00:00+01:00", 5, blackouts=[blackout])
    assert [span.opens for span in found] == list(map(at, left))


@pytest.mark.parametrize(
    ("start", "end", "opens", "closes"),
    [
        ("01:00", "04:00", "2026-03-29T01:00:00+01:00", "2026-03-29T04:00:00+02:00"),
        ("02:30", "04:00", "2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00"),
        ("01:00", "02:30", "2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00"),
        ("01:00", "04:00", "2026-10-25T01:00:00+02:00", "2026-10-25T04:00:00+01:00"),
        ("02:30", "04:00", "2026-10-25T02:30:00+01:00", "2026-10-25T04:00:00+01:00"),
        ("01:00", "02:30", "2026-10-25T01:00:00+02:00", "2026-10-25T02:30:00+02:00"),
    ],
)
def test_clock_that_changes(start, end, opens, closes):
    first = spans(opens, 1, **daily(start, end))[0]
    assert (first.opens, first.closes) == (at(opens), at(closes))


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_window_within_the_hour_that_is_skipped_or_comes_twice_does_not_open(day):
    found = spans(f"{day}T00:00:00+01:00", 3, **daily("02:10", "02:50"))
    assert found[0].opens.date() == date.fromisoformat(day) + timedelta(days=1)


def test_words():
    windows = parse_windows("windows", NIGHTS)
    assert windows.outside_words(at("2026-11-30T02:00:00+01:00"), 7800) == ""
    assert windows.outside_words(at("2026-11-30T02:00:01+01:00"), 7800, ", since task 7 took 2 h") == (
        "it would not be done before the window closes on Monday 2026-11-30 04:10 (Europe/Berlin), since task 7 took "
        "2 h; the next window opens on Tuesday 2026-12-01 01:00 (Europe/Berlin), run the same command again then"
    )
    assert windows.outside_words(at("2026-11-30T04:10:00+01:00"), 0).startswith("no window is open; the next window")
    assert windows.outside_words(at("2026-11-30T12:00:00+01:00"), 20000, ", since task 7 took 6 h") == (
        "no window is open; no window of the next 400 days is long enough for it, since task 7 took 6 h, so give other "
        "windows"
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"zone": "UTC"}, "windows: zone is not known; give time_zone, weekly, blackouts."),
        ({"time_zone": None}, "windows.time_zone: is not given; give an IANA name, as in Europe/Berlin."),
        ({"time_zone": "Berlin"}, "windows.time_zone: is 'Berlin', which is not known here; give an IANA name"),
        ({"time_zone": "/etc/passwd"}, "windows.time_zone: is '/etc/passwd', which is not known here"),
        ({"time_zone": 7}, "windows.time_zone: is 7, which is not known here"),
        ({"weekly": []}, "windows.weekly: has no window; give at least one, with start and end."),
        ({"weekly": "mon"}, "windows.weekly: 'mon' is not a list; give a list."),
        ({"weekly": ["mon"]}, "windows.weekly[0]: 'mon' is not a dictionary; give one with the keys days, start, end"),
        ({"weekly": [{"start": 1320, "end": "23:00"}]}, "windows.weekly[0].start: 1320 is not a time of day; give"),
        ({"weekly": [{"start": "25:00", "end": "23:00"}]}, "windows.weekly[0].start: '25:00' is not a time of day"),
        ({"weekly": [{"start": "1:7", "end": "23:00"}]}, "windows.weekly[0].start: '1:7' is not a time of day"),
        ({"weekly": [{"start": "01:00"}]}, "windows.weekly[0].end: is not given; give hours and minutes in quotes"),
        (
            {"weekly": [{"start": "01:00", "end": "01:00"}]},
            "windows.weekly[0]: start 01:00 and end 01:00 leave nothing",
        ),
        ({"weekly": [{"days": ["Mo"], "start": "1:00", "end": "2:00"}]}, "windows.weekly[0].days: 'Mo' is not a day;"),
        ({"weekly": [{"days": [], "start": "1:00", "end": "2:00"}]}, "windows.weekly[0].days: is empty or has an"),
        ({"blackouts": "2026-12-24"}, "windows.blackouts: '2026-12-24' is not a list; give a list."),
        ({"blackouts": ["24.12.2026"]}, "windows.blackouts[0]: 24.12.2026 is not a local day; give one as in"),
        ({"blackouts": ["2026-12-24 18:00"]}, "windows.blackouts[0]: 2026-12-24 18:00 is a time and no day; give"),
        ({"blackouts": [{"from": "2026-12-24"}]}, "windows.blackouts[0].to: is not given; give one as in"),
        ({"blackouts": [{"from": "2026-12-24", "to": "2026-12-23"}]}, "windows.blackouts[0]: to 2026-12-23 is not"),
        ({"blackouts": ["2026-12-24T00:00:00+01:00"]}, "windows.blackouts[0]: 2026-12-24T00:00:00+01:00 is not a"),
    ],
)
def test_wrong_options(changed, message):
    with pytest.raises(OptionError) as error:
        parse_windows("windows", {**NIGHTS, **changed})
    assert str(error.value).startswith(message)


# The oracle: what the clock on the wall shows in each minute, looked up and not computed.

ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Shanghai",
    "Africa/Casablanca",
    "America/Havana",
)
# The first days of walks; in most of them some clock changes.
BEGINS = ("2026-03-04", "2026-03-24", "2026-04-01", "2026-09-30", "2026-10-21", "2026-10-28", "2026-12-22")
WALK = 10
MINUTE = timedelta(minutes=1)


@cache
def wall(zone, begin):
    """Each minute of a walk, and three days before and after it, as the clock shows it; and the minutes of each."""
    first = datetime.fromisoformat(begin).replace(tzinfo=UTC) - timedelta(days=3)
    shown = [
        (first + number * MINUTE).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        for number in range((WALK + 6) * 24 * 60)
    ]
    places = {}
    for number, text in enumerate(shown):
        places.setdefault(text, []).append(number)
    return shown, places


def minute_of(local, zone, begin, which):
    """The first or last minute at which the clock shows it; without one, that at which it has skipped it."""
    shown, places = wall(zone, begin)
    if local in places:
        return places[local][which]
    if local < shown[0]:
        return 0
    return next((number for number, there in enumerate(shown) if there > local), len(shown))


def walked(option, begin):
    """One byte for each minute: 1 if it is open."""
    first = datetime.fromisoformat(begin) - timedelta(days=2)
    shown = wall(option["time_zone"], begin)[0]
    is_open = bytearray(len(shown))
    for window in option["weekly"]:
        zone = window.get("time_zone", option["time_zone"])
        for day in (first + timedelta(days=number) for number in range(WALK + 4)):
            if DAYS[day.weekday()] in window["days"]:
                start, end = (clock_time(day, window[key]) for key in ("start", "end"))
                end += timedelta(days=1) if end < start else timedelta()
                for minute in range(minute_of(start, zone, begin, -1), minute_of(end, zone, begin, 0)):
                    is_open[minute] = 1
    for blackout in option["blackouts"]:
        begins, ends = (datetime.fromisoformat(blackout[key]) for key in ("from", "to"))
        ends += timedelta(days=1) if len(blackout["to"]) == 10 else timedelta()
        zone = option["time_zone"]
        for minute in range(minute_of(begins, zone, begin, 0), minute_of(ends, zone, begin, -1)):
            is_open[minute] = 0
    return is_open[3 * 24 * 60 : (3 + WALK) * 24 * 60]


def clock_time(day, text):
    hours, minutes = map(int, text.split(":"))
    return day + timedelta(hours=hours, minutes=minutes)


def random_time(random):
    hours = random.choice([0, 1, 1, 2, 2, 2, 3, 23, random.randrange(24)])
    return f"{hours:02}:{random.choice([0, 30, random.randrange(60)]):02}"


def random_calendar(random, begin):
    weekly = []
    for _number in range(random.randint(1, 3)):
        window = {"days": random.sample(DAYS, random.randint(1, 7)), "start": random_time(random), "end": "24:00"}
        window["end"] = random.choice([random_time(random), random_time(random), "24:00"])
        if window["start"] == window["end"]:
            window["end"] = "24:00"
        if random.random() < 0.2:
            window["time_zone"] = random.choice(ZONES)
        weekly.append(window)
    blackouts = []
    for _number in range(random.randint(0, 3)):
        day = date.fromisoformat(begin) + timedelta(days=random.randrange(WALK))
        last = day + timedelta(days=random.randrange(3))
        times = random.random() < 0.5
        blackouts.append(
            {"from": f"{day} {random_time(random)}", "to": f"{last + timedelta(days=1)} {random_time(random)}"}
            if times
            else {"from": str(day), "to": str(last)}
        )
    return {"time_zone": random.choice(ZONES), "weekly": weekly, "blackouts": blackouts}


def check_calendar(seed):
    random = Random(seed)
    begin = random.choice(BEGINS)
    option = random_calendar(random, begin)
    windows = parse_windows("windows", option)
    first = datetime.fromisoformat(begin).replace(tzinfo=UTC)
    found = windows.spans(first, WALK)
    seen = bytearray(WALK * 24 * 60)
    for span in found:
        opens, closes = ((edge - first) // MINUTE for edge in (span.opens, span.closes))
        for minute in range(max(0, opens), min(closes, len(seen))):
            seen[minute] = 1
    asked = walked(option, begin)
    assert seen == asked, (seed, option, begin)
    check_begins(random, windows, first, asked, (seed, option, begin))


def check_begins(random, windows, first, is_open, context):
    """What is allowed to begin is in an open minute, and ends in one that follows it without a gap."""
    for _number in range(3):
        minute, taken = random.randrange(len(is_open) - 24 * 60), random.randrange(0, 300)
        allowed = not windows.outside_words(first + minute * MINUTE, taken * 60)
        asked = bool(is_open[minute]) and all(is_open[minute : minute + taken])
        assert allowed == asked, (minute, taken, context)


def test_calendars_are_open_when_the_wall_clock_says_so():
    for seed in range(150):
        check_calendar(seed)


@pytest.mark.nightly
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("part", range(10))
def test_10_000_calendars_are_open_when_the_wall_clock_says_so(part):
    for seed in range(1000 * part, 1000 * (part + 1)):
        check_calendar(seed)


def test_next_span_is_long_enough():
    found = [Span(at(f"2026-12-0{day}T00:00:00Z"), at(f"2026-12-0{day}T0{day}:00:00Z")) for day in (1, 2, 3)]
    assert next_span(found, at("2026-11-30T00:00:00Z"), 7200) == found[1]
    assert next_span(found, at("2026-12-03T00:00:00Z")) is None
    assert open_span(found, found[0].opens) == found[0]
    assert open_span(found, found[0].closes) is None
