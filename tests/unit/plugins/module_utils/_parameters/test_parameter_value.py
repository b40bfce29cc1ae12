# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which texts are the same value of a parameter, by its kind and by the units that are written."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.parameter_value import (
    Kind,
    kind_of_type,
    same_value,
)
from hypothesis import given
from hypothesis import strategies as st

SAME = [
    (Kind.CAPACITY, "5M", "5120K"),
    (Kind.CAPACITY, "5M", "5242880B"),
    (Kind.CAPACITY, "5M", "5mb"),
    (Kind.CAPACITY, "5", "5M"),
    (Kind.CAPACITY, "1P", "1024T"),
    (Kind.CAPACITY, "0M", "0"),
    (Kind.TIME, "10s", "10000ms"),
    (Kind.TIME, "10", "10S"),
    (Kind.TIME, "1d", "24h"),
    (Kind.TIME, "60m", "1h"),
    (Kind.TIME, "1ms", "1000us"),
    (Kind.INTEGER, "-0", "0"),
    (Kind.NUMBER, "1", "1.0"),
    (Kind.BOOLEAN, "True", "on"),
    (Kind.BOOLEAN, "yes", "1"),
    (Kind.BOOLEAN, "F", "Off"),
    (Kind.CHOICE, "ORACLE", "oracle"),
    (Kind.TEXT, "True", "true"),
    (None, "5M", "5m"),
    (None, "5M", "5120K"),
    (None, "3600s", "1h"),
    (None, "3600", "1h"),
    (None, "TRUE", "True"),
]
DIFFERENT = [
    (Kind.CAPACITY, "5M", "5242880"),
    (Kind.CAPACITY, "5M", "5G"),
    (Kind.CAPACITY, "5M", "5 M"),
    (Kind.CAPACITY, "5M", "05M"),
    (Kind.CAPACITY, "-5M", "5M"),
    (Kind.TIME, "5m", "5"),
    (Kind.TIME, "10s", "10"[:1]),
    (Kind.TIME, "1M", "1ms"),
    # The database may read the first one as octal.
    (Kind.INTEGER, "010", "10"),
    (Kind.INTEGER, "010", "8"),
    (Kind.INTEGER, "80", "80%"),
    (Kind.INTEGER, "1.0", "1"),
    (Kind.BOOLEAN, "true", "false"),
    (Kind.BOOLEAN, "true", "2"),
    (Kind.CHOICE, "1", "true"),
    (Kind.TEXT, "a", "A"),
    (Kind.TEXT, "5M", "5120K"),
    (Kind.TEXT, "", "0"),
    # Five minutes, or five megabytes.
    (None, "5", "5M"),
    (None, "60", "1M"),
    (None, "1.0", "1"),
    (None, "1", "true"),
    (None, "on", "true"),
    (None, "no", "off"),
    (None, "1h", "1g"),
    (None, "", "false"),
]


@pytest.mark.parametrize(("kind", "one", "other"), SAME)
def test_same_value_in_other_words(kind, one, other):
    assert same_value(one, other, kind)
    assert same_value(*reversed((one, other)), kind)


@pytest.mark.parametrize(("kind", "one", "other"), DIFFERENT)
def test_different_values(kind, one, other):
    assert not same_value(one, other, kind)
    assert not same_value(*reversed((one, other)), kind)


@pytest.mark.parametrize(
    ("word", "kind"), [("INT", Kind.INTEGER), ("enum", Kind.CHOICE), ("MOMENT", None), (None, None)]
)
def test_kind_of_the_type_that_is_shown(word, kind):
    assert kind_of_type(word) is kind


VALUES = st.text("0123456789kmgsdhuMKB.- tre", max_size=6) | st.text(max_size=4)


@given(VALUES, VALUES, st.sampled_from([None, *Kind]))
def test_comparison_never_fails_and_has_no_direction(one, other, kind):
    assert same_value(one, one, kind)
    assert same_value(one, other, kind) is same_value(*reversed((one, other)), kind)
