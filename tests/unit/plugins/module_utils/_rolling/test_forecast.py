# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The forecast of a plan, against runs in virtual time whose restarts take a random time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.windows import parse_windows
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.forecast import Past, Stage, forecast

BEGINNING = datetime(2026, 11, 30, 12, tzinfo=UTC)
NIGHTS = {"time_zone": "Europe/Berlin", "weekly": [{"start": "01:00", "end": "04:10"}], "blackouts": ["2026-12-02"]}


def past_tasks(random, count, base=90.0, jitter=0.2, pause=12.0):
    """Restarts of a run of some time ago, newest first, each of ``base`` seconds more or less."""
    tasks, at = [], BEGINNING - timedelta(days=30)
    for number in range(count):
        took = base * random.uniform(1 - jitter, 1 + jitter)
        ended = at + timedelta(seconds=took)
        tasks.append(
            {
                "id": number,
                "name": "Restart OB server",
                "status": "SUCCESSFUL",
                "operation": "EXECUTE",
                "startTime": at.isoformat(),
                "finishTime": ended.isoformat(),
            }
        )
        at = ended + timedelta(seconds=pause)
    return tasks[::-1]


def carried_out(random, batches, longest, windows, base=90.0, jitter=0.2, pause=12.0):
    """The seconds at work and the end of a run that the gate of time holds to its windows; each batch is a size."""
    at, worked, nights = BEGINNING, 0.0, set()
    for size in batches:
        # The same command is run again when a window opens.
        while windows.outside_words(at, longest):
            at = next(span.opens for span in windows.spans(at, 4) if span.opens > at)
        nights.add(at.date())
        took = max(base * random.uniform(1 - jitter, 1 + jitter) for _server in range(size)) + pause
        at += timedelta(seconds=took)
        worked += took
    # Nothing is waited for after the last one.
    return worked - pause, at, len(nights)


@pytest.mark.parametrize("size", [1, 4], ids=["one-by-one", "batches-of-4"])
@pytest.mark.parametrize("servers", [10, 100, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_within_10_percent(servers, size, seed):
    random = Random(f"{servers}/{size}/{seed}")
    windows = parse_windows("windows", NIGHTS)
    past = Past.of(past_tasks(random, 40), "Restart OB server")
    batches = [min(size, servers - place) for place in range(0, servers, size)]
    told = forecast([Stage([(past, count)]) for count in batches], [past], BEGINNING, windows)
    worked, end, nights = carried_out(random, batches, past.longest, windows)
    assert told["seconds"] == pytest.approx(worked, rel=0.1)
    assert abs(told["windows"] - nights) <= max(1, 0.1 * nights)
    expected = (end - BEGINNING).total_seconds()
    assert (datetime.fromisoformat(told["ends"]) - BEGINNING).total_seconds() == pytest.approx(expected, rel=0.1)


def test_words():
    past = Past((3600.0,), 3600.0)
    windows = parse_windows("windows", NIGHTS)
    told = forecast([Stage([(past, 1)])] * 4, [past], BEGINNING, windows)
    assert told == {
        "seconds": 14430.0,
        "windows": 2,
        # Not on 2 December.
        "ends": "2026-12-03T01:00:00+00:00",
        "message": "About 4 h 0 min, in 2 windows, until Thursday 2026-12-03 02:00 (Europe/Berlin).",
    }
    assert forecast([Stage([(past, 1)])] * 4, [past], BEGINNING, None)["message"] == "About 4 h 0 min."
    assert forecast([], [], BEGINNING, windows)["message"] == "About 0 s."


def test_what_fits_in_no_window_is_told():
    past = Past((20000.0,), 20000.0)
    told = forecast([Stage([(past, 1)])], [past], BEGINNING, parse_windows("windows", NIGHTS))
    assert (told["windows"], told["ends"]) == (None, None)
    assert told["message"] == "About 5 h 33 min, but no window of the next 400 days has 5 h 33 min left for it."


def test_without_a_past_nothing_is_guessed():
    told = forecast([Stage([(Past(), 1)])], [Past()], BEGINNING, None)
    assert (told["seconds"], told["ends"]) == (None, None)
    assert told["message"] == "It is not known how long it takes: OCP shows no past restart of this kind."


def test_soak_and_the_slowest_of_many_count():
    past = Past((10.0, 20.0), 20.0)
    alone = forecast([Stage([(past, 1)], soak=600.0)], [past], BEGINNING, None)
    assert alone["seconds"] == 615.0
    assert forecast([Stage([(past, 2)])], [past], BEGINNING, None)["seconds"] == 17.5
    assert forecast([Stage([(past, 1)] * 9)], [past], BEGINNING, None)["seconds"] == pytest.approx(20, abs=0.1)
