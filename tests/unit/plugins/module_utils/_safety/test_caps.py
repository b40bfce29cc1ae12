# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which caps a restart passes, how servers are split by them, and which texts of the option are refused."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import Place
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.caps import Caps, parse_caps, portions
from hypothesis import given
from hypothesis import strategies as st

A, B, C = Place("10.0.0.1:2882", "x", "r"), Place("10.0.0.1:3882", "x", "r"), Place("10.0.0.2:2882", "y", "r")
HIDDEN = Place("10.0.0.3:2882")
PLACES = st.builds(
    Place,
    st.builds("10.0.0.{}:{}".format, st.integers(1, 6), st.integers(2881, 2884)),
    st.sampled_from(["x", "y", None]),
    st.sampled_from(["r", "s", None]),
)
FLEETS = st.lists(PLACES, max_size=12, unique_by=lambda place: place.address)
CAPS = st.dictionaries(
    st.sampled_from(["host", "idc", "region", "servers", "percent"]), st.integers(1, 4), min_size=1
).map(Caps)


def words(most, down, more, total=4):
    return [crossing.words for crossing in Caps(most).crossings(total, down, more)]


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        ({"host": 1}, ["1 of 1 server of host 10.0.0.1 is down (10.0.0.1:2882)"]),
        ({"idc": 1}, ["1 of 1 server of IDC x is down (10.0.0.1:2882)"]),
        ({"region": 2}, ["2 of 2 servers of region r are down (10.0.0.1:2882, 10.0.0.2:2882)"]),
        ({"servers": 2}, ["2 of 2 servers are down (10.0.0.1:2882, 10.0.0.2:2882)"]),
        ({"percent": 50}, ["2 of 2 servers (50 % of 4) are down (10.0.0.1:2882, 10.0.0.2:2882)"]),
        ({"host": 2, "idc": 2, "region": 3, "servers": 3, "percent": 75}, []),
    ],
)
def test_each_cap_counts_in_its_own_place(most, expected):
    assert words(most, [A, C], [B]) == expected


def test_share_is_rounded_down_but_never_none():
    assert words({"percent": 1}, [], [A], total=3) == []
    assert words({"percent": 66}, [A], [C], total=3) == ["1 of 1 server (66 % of 3) is down (10.0.0.1:2882)"]
    assert words({"percent": 67}, [A], [C], total=3) == []


def test_what_is_down_already_may_be_restarted():
    assert words({"servers": 1}, [A, C], [A]) == []
    assert words({"servers": 1}, [A, C], [A, B]) == ["2 of 1 server are down (10.0.0.1:2882, 10.0.0.2:2882)"]


@pytest.mark.parametrize(("down", "more"), [(A, HIDDEN), (HIDDEN, A), (HIDDEN, C)])
def test_place_that_is_not_shown_may_be_any(down, more):
    assert len(words({"idc": 1}, [down], [more])) == 1
    assert words({"idc": 2}, [down], [more]) == []


def test_what_never_fits_is_told_from_what_fits_later():
    [never] = Caps({"idc": 1}).crossings(9, [C], [A, B])
    [later] = Caps({"idc": 1}).crossings(9, [B], [A])
    assert (never.fits_never, later.fits_never) == (True, False)
    assert never.words == "it takes down 2 servers of IDC x at once, more than the 1 that may be down"


def most_at_once(caps, total, part):
    """The largest count of each cap, by a count of its own."""
    counts = {
        "host": Counter(place.address.split(":")[0] for place in part),
        "idc": Counter(place.idc for place in part),
        "region": Counter(place.region for place in part),
        "servers": Counter("all" for _place in part),
        "percent": Counter("all" for _place in part),
    }
    limits = {key: max(1, total * most // 100) if key == "percent" else most for key, most in caps.most.items()}
    for key, limit in limits.items():
        hidden = counts[key].pop(None, 0)
        assert max(counts[key].values(), default=0) + hidden <= limit


@given(CAPS, FLEETS, st.integers(0, 400))
def test_no_portion_passes_a_cap_and_each_server_is_in_one(caps, servers, total):
    found = portions(caps, total, servers)
    assert Counter(server for part in found for server in part) == Counter(servers)
    for part in found:
        most_at_once(caps, total, part)
        assert part


@given(CAPS, FLEETS, FLEETS, st.integers(0, 400))
def test_what_is_allowed_passes_no_cap_that_was_not_passed_before(caps, down, more, total):
    there = {place.address: place for place in down}
    more = [place for place in more if place.address not in there]
    if (
        more
        and not caps.crossings(total, down, more)
        and not any(caps.crossings(total, down[:place], [each]) for place, each in enumerate(down))
    ):
        most_at_once(caps, total, [*down, *more])


@given(CAPS, FLEETS, FLEETS, st.integers(1, 400))
def test_what_is_proposed_is_passed_no_more(caps, down, more, total):
    """As text, as a message proposes it; a percentage cannot count more servers than there are."""
    found = caps.crossings(total, down, more)
    proposed = parse_caps("most_down", dict(part.split("=") for part in caps.allowing(found).split(",")))
    assert {crossing.key for crossing in proposed.crossings(total, down, more)} <= {"percent"}
    assert proposed.crossings(total, down, more) == [] or len({*down, *more}) > total
    assert all(proposed.most[key] >= most for key, most in caps.most.items())


@pytest.mark.parametrize("given_caps", [{"idc": 1}, {"idc": "1", "percent": "100"}, {"host": 2, "servers": 500}])
def test_numbers_may_be_texts(given_caps):
    assert parse_caps("most_down", given_caps) == Caps({key: int(value) for key, value in given_caps.items()})


def test_without_the_option_there_are_no_caps():
    assert parse_caps("most_down", None) is None


@pytest.mark.parametrize(
    ("given_caps", "message"),
    [
        (
            {},
            "most_down: is empty; give one of host, idc, region, servers, percent, each with a number, or leave it "
            "out.",
        ),
        ({"idc": 0}, "most_down.idc: 0 is no such number; give a whole one, 1 or more."),
        ({"idc": -1}, "most_down.idc: -1 is no such number; give a whole one, 1 or more."),
        ({"idc": True}, "most_down.idc: True is no such number; give a whole one, 1 or more."),
        ({"idc": 1.5}, "most_down.idc: 1.5 is no such number; give a whole one, 1 or more."),
        ({"idc": None}, "most_down.idc: None is no such number; give a whole one, 1 or more."),
        ({"host": "one"}, "most_down.host: 'one' is no such number; give a whole one, 1 or more."),
        ({"host": "²"}, "most_down.host: '²' is no such number; give a whole one, 1 or more."),
        ({"percent": 101}, "most_down.percent: 101 is no such number; give a whole one, 1 to 100."),
        (
            {"regoin": 1},
            "most_down: regoin is not known; did you mean region? Give one of host, idc, region, servers, percent.",
        ),
        ({"rack": 1}, "most_down: rack is not known; give one of host, idc, region, servers, percent."),
        ({7: 1}, "most_down: 7 is not known; give one of host, idc, region, servers, percent."),
    ],
)
def test_each_bad_text_is_named(given_caps, message):
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        parse_caps("most_down", given_caps)
