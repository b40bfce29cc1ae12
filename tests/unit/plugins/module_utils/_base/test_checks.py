# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Checks of option values beyond their type."""

from __future__ import annotations

import math

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.checks import (
    check_nonempty,
    check_range,
    check_tenants,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError


@pytest.mark.parametrize("value", [1, 1.5, 604_800])
def test_number_within_bounds_is_accepted(value):
    check_range("wait_timeout", value, 1, 604_800)


@pytest.mark.parametrize(
    ("value", "told"), [(0, "0"), (604_801, "604801"), (-0.5, "-0.5"), (math.nan, "nan"), (math.inf, "inf")]
)
def test_number_out_of_bounds_is_refused(value, told):
    with pytest.raises(OptionError) as raised:
        check_range("wait_timeout", value, 1, 604_800, " seconds")
    assert str(raised.value) == f"wait_timeout: {told} is out of range; give 1 to 604800 seconds."


def test_lower_bound_applies_without_an_upper_bound():
    check_range("batch", 10**9, 1)
    with pytest.raises(OptionError) as raised:
        check_range("batch", 0, 1)
    assert str(raised.value) == "batch: 0 is out of range; give 1 or more."


@pytest.mark.parametrize("given", [None, ["zone1"], ["zone1", "zone2"]])
def test_nonempty_or_omitted_list_is_accepted(given):
    check_nonempty("zones", given, "leave it out to have all")


@pytest.mark.parametrize("given", [[], [""], ["zone1", ""]])
def test_empty_list_or_entry_is_refused(given):
    with pytest.raises(OptionError) as raised:
        check_nonempty("zones", given, "leave it out to have all")
    assert str(raised.value) == "zones: is empty or has an empty entry; leave it out to have all."


@pytest.mark.parametrize(
    "given", [["[sys", "app]"], ["['sys'", " 'app']"], ['{"sys"', '"app"}']], ids=["brackets", "quotes", "braces"]
)
def test_list_in_brackets_is_refused_with_what_to_give(given):
    with pytest.raises(OptionError) as raised:
        check_tenants("tolerate_outage_of", given)
    assert str(raised.value) == (
        f"tolerate_outage_of: {','.join(given)} has brackets or quotes; give tolerate_outage_of=sys,app."
    )


@pytest.mark.parametrize("given", [None, ["sys", "app_1"]])
def test_names_of_tenants_are_accepted(given):
    check_tenants("tolerate_outage_of", given)
