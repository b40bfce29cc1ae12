# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The clock of the service as seen in its responses, and instants given as options."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import ServiceClock, parse_instant_option
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from hypothesis import given
from hypothesis import strategies as st

BASE = 1_777_834_800.0


def clock_of(*answers: tuple[float, float, float]) -> ServiceClock:
    """Show responses as (completed by the service's clock, sent, received)."""
    clock = ServiceClock()
    for completed, sent, received in answers:
        clock.shown(datetime.fromtimestamp(BASE + completed, UTC), BASE + sent, BASE + received)
    return clock


@pytest.mark.parametrize(
    ("answers", "offset"),
    [
        pytest.param([], 0, id="nothing is known"),
        pytest.param([(5, 5.0, 5.2)], 0, id="within the answer"),
        pytest.param([(5, 5.9, 6.0)], 0, id="cut off to the second"),
        pytest.param([(5, 5.1, 6.5)], 0, id="the answer took long"),
        pytest.param([(1205, 5, 5.5)], 1200.25, id="ahead, by seconds"),
        pytest.param([(5, 1205, 1205.5)], -1199.75, id="behind, by seconds"),
        pytest.param([(1205.25, 5, 5.5)], 1200.005, id="ahead, by milliseconds"),
        pytest.param([(5.25, 5.5, 5.51)], -0.25, id="a little behind, by milliseconds"),
        pytest.param([(5.25, 5.2, 5.3)], 0, id="the same, by milliseconds"),
        pytest.param([(65, 5, 5.2), (70.5, 10.0, 10.02)], 60.495, id="the narrowest counts, here the later"),
        pytest.param([(70.5, 10.0, 10.02), (65, 5, 5.2)], 60.495, id="the narrowest counts, here the earlier"),
        pytest.param([(70.5, 10.0, 10.02), (40, 5, 35)], 60.495, id="a slow answer does not"),
    ],
)
def test_clock_offset_comes_from_the_narrowest_response(answers, offset):
    assert clock_of(*answers).offset == pytest.approx(offset, abs=0.006)


@given(
    st.floats(-2000, 2000),
    st.lists(st.tuples(st.floats(0, 3), st.floats(0, 1), st.booleans()), min_size=1, max_size=6),
)
def test_clock_offset_error_is_bounded_by_the_best_response(offset, answers):
    clock, at, widest = ServiceClock(), BASE, []
    for took, share, whole_seconds in answers:
        completed = at + took * share + offset
        cut = int(completed) if whole_seconds else int(completed * 1000) / 1000
        shown = datetime.fromtimestamp(cut, UTC)
        clock.shown(shown, at, at + took)
        widest.append(took + (0.01 if shown.microsecond else 1.0))
        at += took + 10
    assert abs(clock.offset - offset) <= min(widest) + 1e-3


# Options

MAY = datetime(2026, 5, 4, 3, 2, 1, tzinfo=timezone(timedelta(hours=8)))


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        ("2026-05-04T03:02:01+08:00", MAY),
        ("2026-05-04 03:02:01+08:00", MAY),
        ("2026-05-04T03:02:01.000+08:00", MAY),
        ("2026-05-04T03:02:01.25+08:00", MAY + timedelta(milliseconds=250)),
        ("2026-05-03T19:02:01Z", MAY),
        ("2026-05-03T19:02:01+00:00", MAY),
        ("2026-05-03T19:02Z", MAY - timedelta(seconds=1)),
        ("20260503T190201Z", MAY),
        ("1777834921", MAY),
        ("1777834921.0", MAY),
        ("1777834921.5", MAY + timedelta(milliseconds=500)),
        ("946684800", datetime(2000, 1, 1, tzinfo=UTC)),
    ],
)
def test_valid_time_is_parsed(value, instant):
    found = parse_instant_option("started_before", value)
    assert found == instant
    assert found.tzinfo is not None


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        ".",
        "2026-05-04T03:02:01",
        "2026-05-04 03:02:01",
        "2026-05-04",
        "03:02:01",
        "03:02:01+08:00",
        "1777834921000",
        "1777834921.5.5",
        "-5",
        "-1777834921",
        "+5",
        "1e9",
        "1e400",
        "9" * 400,
        "nan",
        "inf",
        "Infinity",
        "0x10",
        "1_777_834_921",
        "now",
        "yesterday",
        "2026-13-04T03:02:01Z",
        "2026-05-04T25:02:01Z",
        "None",
        "True",
    ],
)
def test_invalid_time_is_refused(value):
    with pytest.raises(OptionError) as raised:
        parse_instant_option("started_before", value)
    message = str(raised.value)
    assert message.startswith(f"started_before: {value or 'an empty text'} is no instant; give ISO 8601 with an offset")
    assert message.endswith(".")
    assert raised.value.facts == {}


@given(st.text(max_size=30) | st.integers().map(str) | st.floats().map(str) | st.datetimes().map(str))
def test_any_value_is_a_time_or_an_option_error(value):
    try:
        found = parse_instant_option("started_before", value)
    except OptionError as error:
        assert str(error).startswith("started_before: ")
    else:
        assert found.tzinfo is not None


def test_date_without_dashes_is_refused():
    """It is refused as a date. As seconds since 1970 it would never cause a restart."""
    with pytest.raises(OptionError):
        parse_instant_option("started_before", "20260504")
