# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which servers go in which wave."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.waves import waves_of
from hypothesis import given
from hypothesis import strategies as st

ZONES = [["a1", "a2"], ["b1"], ["c1", "c2"]]


def zones_of(names):
    return {name[0] for name in names}


@pytest.mark.parametrize(
    ("may_go", "expected"),
    [
        (lambda names, _number: len(zones_of(names)) == 1, (("a1", "a2"), ("b1",), ("c1", "c2"))),
        (lambda names, _number: len(zones_of(names)) <= 2, (("a1", "a2", "b1"), ("c1", "c2"))),
        (lambda _names, _number: True, (("a1", "a2", "b1", "c1", "c2"),)),
        (lambda names, _number: len(names) == 1, (("a1",), ("a2",), ("b1",), ("c1",), ("c2",))),
    ],
    ids=["a zone", "two zones", "all", "one"],
)
def test_wave_takes_whole_zones_where_it_may(may_go, expected):
    found = waves_of(ZONES, [], may_go)
    assert (found.waves, found.refused) == (expected, ())


def test_server_that_no_wave_can_take_is_refused_and_its_zone_goes_without_it():
    found = waves_of(ZONES, [], lambda names, _number: "a2" not in names and len(zones_of(names)) == 1)
    assert found.waves == (("a1",), ("b1",), ("c1", "c2"))
    assert found.refused == ("a2",)


def test_troubled_servers_are_in_the_first_wave_and_later_ones_are_asked_for_without_them():
    asked = []

    def may_go(names, number):
        asked.append((tuple(names), number))
        return number > 1

    found = waves_of([["a1"]], ["b1"], may_go)
    assert found.waves == (("b1",), ("a1",))
    assert asked == [(("a1",), 1), (("a1",), 1), (("a1",), 2)]


def test_troubled_servers_alone_are_a_wave():
    assert waves_of([], ["b1"], lambda _names, _number: True).waves == (("b1",),)
    assert waves_of([], [], lambda _names, _number: True).waves == ()


@given(st.sets(st.sampled_from("abcdefgh")), st.sets(st.frozensets(st.sampled_from("abcdefgh"), min_size=1)))
def test_every_server_is_in_one_wave_or_refused_and_each_wave_may_go(names, forbidden):
    def may_go(chosen, _number):
        return not any(group <= set(chosen) for group in forbidden)

    found = waves_of([sorted(names)], [], may_go)
    assert sorted([*(name for wave in found.waves for name in wave), *found.refused]) == sorted(names)
    assert all(may_go(wave, 1) for wave in found.waves)
    assert not any(may_go([name], 1) for name in found.refused)
