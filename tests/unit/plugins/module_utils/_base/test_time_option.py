# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Instants given as options."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.time_option import parse_instant_option
from hypothesis import given
from hypothesis import strategies as st

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
    shown = value or "an empty text"
    assert message.startswith(f"started_before: {shown} is not an instant; give ISO 8601 with an offset")
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
