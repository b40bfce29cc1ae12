# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The clock of the service: which answers are believed, and ``started_before`` by that clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from math import floor

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import (
    LARGEST_CORRECTION,
    MOST_ANSWERS,
    MOST_SERVERS,
    ServiceClock,
    to_service_clock,
)
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


RIGHT = (5.25, 5.2, 5.3)
AHEAD = (65.25, 5.2, 5.3)
IN_1970 = (-BASE, 5.2, 5.3)
TWO_DAYS_BEHIND = (5.25 - 172_800, 5.2, 5.3)


@pytest.mark.parametrize(
    ("answers", "offset", "agreed"),
    [
        pytest.param([IN_1970, RIGHT, RIGHT], 0, True, id="the first is of 1970"),
        pytest.param([RIGHT, RIGHT, IN_1970], 0, True, id="the last is of 1970"),
        pytest.param([RIGHT, TWO_DAYS_BEHIND, RIGHT, IN_1970, RIGHT], 0, True, id="two stale ones that differ"),
        pytest.param([AHEAD, TWO_DAYS_BEHIND, AHEAD], 60, True, id="a minute ahead, and a stale one"),
        pytest.param([AHEAD, (5.2505, 5.2499, 5.25), AHEAD], 60, True, id="the stale one is the most exact"),
        pytest.param([RIGHT, (8.0, 5.2, 5.3), (3.0, 5.2, 5.3)], 0, True, id="replicas a few seconds apart"),
        pytest.param([RIGHT, TWO_DAYS_BEHIND], 0, False, id="one against one"),
        pytest.param([RIGHT, RIGHT, IN_1970, IN_1970], 0, False, id="two against two"),
        pytest.param([RIGHT, AHEAD, IN_1970], 0, False, id="nothing agrees"),
        pytest.param([], 0, True, id="no answer"),
        pytest.param([AHEAD], 60, True, id="one answer"),
    ],
)
def test_offset_is_what_most_answers_agree_on(answers, offset, agreed):
    clock = clock_of(*answers)
    assert clock.agreed is agreed
    if agreed:
        assert clock.offset == pytest.approx(offset, abs=0.06)


def test_answers_narrow_each_other():
    """Of whole seconds, one ends half a second after the other begins."""
    clock = clock_of((65, 5.0, 5.2), (66, 5.5, 5.6))
    assert clock.offset == pytest.approx(60.7, abs=0.2)
    assert clock.uncertainty == pytest.approx(0.3, abs=0.2)


@pytest.mark.parametrize(
    ("answers", "uncertainty"),
    [
        pytest.param([], 0, id="no answer"),
        pytest.param([(1205, 5, 5.5)], 0.75, id="half of a second and of the time it took"),
        pytest.param([(1205.25, 5, 5.5)], 0.255, id="half of a hundredth and of the time it took"),
        pytest.param([(5, 5.9, 6.0)], 1, id="clocks that may agree may differ as well"),
        pytest.param([(1205.25, 5, 5.5), (1208.25, 5, 5.5), (1205.25, 5, 5.5)], 2.75, id="a replica 3 seconds ahead"),
        pytest.param([(1205.25, 5, 5.5), IN_1970, (1205.25, 5, 5.5)], 0.255, id="not a stale one"),
        pytest.param([(1205.25, 5, 5.5), TWO_DAYS_BEHIND], 174_000, id="all where nothing agrees"),
    ],
)
def test_uncertainty_covers_the_answers_that_are_believed(answers, uncertainty):
    assert clock_of(*answers).uncertainty == pytest.approx(uncertainty, rel=0.001, abs=0.006)


@given(
    st.floats(-200, 200),
    st.lists(st.tuples(st.floats(0, 3), st.floats(0, 1), st.booleans()), min_size=2, max_size=9),
    st.lists(st.floats(-1e9, 1e9), max_size=3),
)
def test_minority_of_wrong_answers_does_not_move_the_clock(offset, right, wrong):
    answers = []
    for number, (took, share, whole_seconds) in enumerate(right):
        completed = 10 * number + took * share + offset
        cut = floor(completed) if whole_seconds else floor(completed * 1000) / 1000
        answers.append((cut, 10 * number, 10 * number + took))
    # What is wrong by no more than the resolution agrees with the right ones.
    wrong = [away for away in wrong if abs(away - offset) > 10][: (len(right) - 1) // 2]
    clock = clock_of(*((away, 0, 0.1) for away in wrong), *answers)
    assert clock.agreed
    assert abs(clock.offset - offset) <= clock.uncertainty + 1e-3
    assert clock.uncertainty <= 4 + 5


def test_bounds_are_those_after_the_last_answer():
    clock = clock_of((5, 5.0, 5.2))
    assert clock.bounds[1] < 2
    clock.shown(datetime.fromtimestamp(BASE + 605, UTC), BASE + 5.0, BASE + 5.2, "another")
    assert clock.bounds[0] < 0 < 600 < clock.bounds[1]


def test_last_answers_count():
    clock = clock_of(*[IN_1970] * 40, *[AHEAD] * MOST_ANSWERS)
    assert (clock.agreed, round(clock.offset)) == (True, 60)


# started_before

ZONE = timezone(timedelta(hours=8))
CHANGE = datetime.fromtimestamp(BASE - 600, ZONE)


def ahead(*offsets: float) -> ServiceClock:
    return clock_of(*((offset + 0.25, 0.25, 0.26) for offset in offsets))


@pytest.mark.parametrize("offset", [0, 5, -5, 40, -40, 299, -299])
def test_started_before_is_moved_by_the_offset(offset):
    moved, warnings = to_service_clock(CHANGE, ahead(offset), BASE)
    assert moved.timestamp() == pytest.approx(CHANGE.timestamp() + offset, abs=0.02)
    assert [f"{abs(offset)} seconds" in warning for warning in warnings] == [True] * (abs(offset) > 5.1)


@pytest.mark.parametrize("offset", [301, -301, 86_400, -172_800, -BASE, 2_000_000_000], ids=str)
def test_correction_of_more_than_five_minutes_is_refused(offset):
    with pytest.raises(OptionError) as raised:
        to_service_clock(CHANGE, ahead(offset, offset), BASE)
    there = datetime.fromtimestamp(BASE + offset, ZONE).isoformat(timespec="seconds")
    assert str(raised.value) == (
        f"started_before: by the clock of the service it is {there}; by the clock of this machine it is "
        "2026-05-04T03:00:00+08:00. A difference of more than 300 seconds is not corrected, since the clock decides "
        "what is restarted. Set the clocks right (NTP), then run this again."
    )


def test_single_answer_that_is_far_off_is_refused():
    with pytest.raises(OptionError, match="by the clock of the service it is 1970-01-01"):
        to_service_clock(CHANGE, clock_of(IN_1970), BASE)


@pytest.mark.parametrize("offsets", [(0, -172_800), (-172_800, 0), (0, 0, -400, -400), (0, -400, 400)], ids=str)
def test_answers_that_do_not_agree_are_refused(offsets):
    with pytest.raises(OptionError) as raised:
        to_service_clock(CHANGE, ahead(*offsets), BASE)
    first, last = (
        datetime.fromtimestamp(BASE + offset, ZONE).isoformat(timespec="seconds")
        for offset in (min(offsets), max(offsets))
    )
    assert str(raised.value).startswith(
        "started_before: the answers of the service disagree about the time: they show "
        f"{first} and {last}; by the clock of this machine it is 2026-05-04T03:00:00+08:00. "
    )


@pytest.mark.parametrize("offsets", [(0, 0, -172_800), (-BASE, 0, 0), (0, 200), (-100, 0, 100)], ids=str)
def test_stale_answer_or_small_disagreement_is_not_refused(offsets):
    moved, _warnings = to_service_clock(CHANGE, ahead(*offsets), BASE)
    assert abs((moved - CHANGE).total_seconds()) <= LARGEST_CORRECTION


@pytest.mark.parametrize("offset", [50, -50, 250])
def test_clock_that_was_set_meanwhile_is_refused(offset):
    """A start before that would be taken for one before the change, or the reverse."""
    with pytest.raises(OptionError, match="of the service was changed during this run and now shows 2026-05-04T0"):
        to_service_clock(CHANGE, ahead(*[0] * 5, *[offset] * MOST_ANSWERS), BASE)


@pytest.mark.parametrize("first", [[-172_800, 0, 0, 0, 0], [50, 0, 50, 0, 0], [4] * 5], ids=str)
def test_stale_first_answers_and_a_drift_do_not_mean_that_it_was_set(first):
    moved, _warnings = to_service_clock(CHANGE, ahead(*first, *[0] * MOST_ANSWERS), BASE)
    assert moved == CHANGE


@pytest.mark.parametrize(
    ("offsets", "doubtful"),
    [
        ((), False),
        ((250,), False),
        ((0, 250), True),
        ((250, 250, 0), True),
        ((0, 4), False),
        ((250, 250, 0, 0, 0), False),
    ],
    ids=str,
)
def test_few_answers_that_disagree_need_more(offsets, doubtful):
    assert ahead(*offsets).is_doubtful is doubtful


# Several application servers


def clock_by_server(*answers: tuple[str | None, float]) -> ServiceClock:
    """Show answers of application servers that are ahead by so many seconds, to the hundredth."""
    clock = ServiceClock()
    for server, offset in answers:
        completed = datetime.fromtimestamp(BASE + 0.25 + offset, UTC)
        clock.shown(completed, BASE + 0.25, BASE + 0.25, server)
    return clock


@pytest.mark.parametrize(
    ("answers", "least", "most"),
    [
        pytest.param([], 0, 0, id="nothing is known"),
        pytest.param([("one", 5)], 5, 5.01, id="one server"),
        pytest.param([(None, 5)], 5, 5.01, id="no server is named"),
        pytest.param([("one", -3), ("two", 5)], -3, 5.01, id="two that differ"),
        pytest.param([("one", -3), (None, 5)], -3, 5.01, id="one of them is not named"),
        pytest.param([("one", 5)] * 2 + [("one", -900)], 5, 5.01, id="a stale answer of one server"),
        pytest.param([("one", 5)] * 40 + [("two", 0)], 0, 5.01, id="one that has answered once"),
        pytest.param([("one", 5), ("one", -3)], -3, 5.01, id="one that contradicts itself"),
        pytest.param([("one", -9)] * MOST_ANSWERS + [("one", 5)] * MOST_ANSWERS, 5, 5.01, id="the last answers count"),
    ],
)
def test_bounds_cover_the_clocks_of_all_application_servers(answers, least, most):
    assert clock_by_server(*answers).bounds == (pytest.approx(least, abs=1e-3), pytest.approx(most, abs=1e-3))


def test_bounds_are_no_narrower_than_what_is_cut_off():
    """An answer in seconds that took 0.2 s tells the clock to 1.2 s."""
    clock = clock_of((5, 5.0, 5.2))
    assert clock.bounds == (pytest.approx(-0.2), pytest.approx(1))


def test_answers_of_one_server_narrow_each_other_and_not_those_of_another():
    same, apart = ServiceClock(), ServiceClock()
    for clock, names in ((same, ("one", "one")), (apart, ("one", "two"))):
        for completed, sent, name in zip((5, 15), (5.9, 15.1), names, strict=True):
            clock.shown(datetime.fromtimestamp(BASE + completed, UTC), BASE + sent, BASE + sent, name)
    assert same.bounds == (pytest.approx(-0.1), pytest.approx(0.1))
    assert apart.bounds == (pytest.approx(-0.9), pytest.approx(0.9))


def test_servers_beyond_the_most_that_are_told_apart_are_covered_too():
    many = [(f"server {number}", 0) for number in range(MOST_SERVERS)]
    clock = clock_by_server(*many, ("one more", 30), ("another", 30), ("server 3", 0))
    assert clock.bounds == (pytest.approx(0), pytest.approx(30.01))
    assert len(clock._by_server) == MOST_SERVERS + 1


@pytest.mark.parametrize(
    "turns", [["one"] * 5 + ["two"] * MOST_ANSWERS, ["one", "one", "two"] * 20], ids=["late", "mixed"]
)
def test_another_server_that_answers_later_is_not_a_clock_that_was_set(turns):
    clock = clock_by_server(*((name, {"one": 0, "two": 40}[name]) for name in turns))
    assert not clock.was_set
    for _answer in range(MOST_ANSWERS):
        clock.shown(datetime.fromtimestamp(BASE + 50, UTC), BASE, BASE, "one")
    assert clock.was_set


@given(st.lists(st.tuples(st.sampled_from(["one", "two", None]), st.floats(0, 3), st.floats(0, 1)), max_size=9))
def test_bounds_hold_the_offset_of_each_server(answers):
    offsets = {"one": 2.0, "two": -40.0, None: 7.5}
    clock, at = ServiceClock(), BASE
    for server, took, share in answers:
        completed = int(at + took * share + offsets[server])
        clock.shown(datetime.fromtimestamp(completed, UTC), at, at + took, server)
        at += took + 10
    least, most = clock.bounds
    for server, _took, _share in answers:
        assert least - 1e-3 <= offsets[server] <= most + 1e-3
