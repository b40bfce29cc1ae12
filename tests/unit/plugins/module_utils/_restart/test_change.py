# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Before or since a change: intervals of three kinds of clock, names with what was first seen, and starts that move."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import Shown
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.change import (
    HOST_UNCERTAINTY,
    Begin,
    Sight,
    Span,
    begun_by,
    begun_span,
    has_moved,
    newest_time,
    noted_member,
    started_span,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import Relative
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, raw_task
from hypothesis import given
from hypothesis import strategies as st

BEFORE, SINCE, UNCLEAR, HIDDEN = Relative.BEFORE, Relative.SINCE, Relative.UNCLEAR, Relative.HIDDEN
MOVED = Relative.MOVED
ZERO = BEGINNING.timestamp()
# The clocks of the service are those of this machine, to the second.
EXACT = Begin(Span(ZERO, ZERO), wall=ZERO)


def task(number, began, **more):
    return Task.from_api(raw_task(number, startTime=began, **more))


def member(started=None, *, pids=None, computed=False, ahead=None):
    """Build the member a that started at so many seconds; ``computed`` from its uptime, ``ahead`` if still to come."""
    begin = None if started is None else at(started)
    text = None if begin is None or computed else begin.isoformat()
    return Member("a", "RUNNING", start_time=text, pids=pids, started=begin, is_ahead=ahead)


# Times as intervals


@pytest.mark.parametrize(
    ("seconds", "last"), [(5.0, 6.0), (5.25, 5.26)], ids=["shown in seconds", "shown in milliseconds"]
)
def test_a_time_is_an_interval_as_long_as_what_is_cut_off(seconds, last):
    span = Span.of(at(seconds))
    assert (span.first - ZERO, span.last - ZERO) == (pytest.approx(seconds), pytest.approx(last))


@pytest.mark.parametrize(
    ("first", "last", "relative"),
    [(20, 21, SINCE), (10, 20, UNCLEAR), (5, 12, UNCLEAR), (19.9, 25, UNCLEAR), (5, 10, BEFORE), (1, 2, BEFORE)],
    ids=["since", "within", "overlaps the begin", "overlaps the end", "ends as it begins", "before"],
)
def test_overlapping_intervals_decide_nothing(first, last, relative):
    assert Span(first, last).relative_to(Span(10, 20)) is relative


@given(*[st.floats(-1e6, 1e6)] * 2, st.floats(0, 1e3), st.floats(0, 1e3), st.floats(0, 1), st.floats(0, 1))
def test_no_interval_says_other_than_the_instants_in_it(first, other, length, other_length, share, other_share):
    one, two = Span(first, first + length), Span(other, other + other_length)
    happened, changed = first + length * share, other + other_length * other_share
    found = one.relative_to(two)
    if found is SINCE:
        assert happened >= changed or happened == pytest.approx(changed)
    if found is BEFORE:
        assert happened <= changed or happened == pytest.approx(changed)


def test_instant_has_the_bounds_of_all_application_servers():
    clock = ServiceClock()
    for offset, server in ((2.25, "one"), (-3.25, "two")):
        clock.shown(at(offset), ZERO, ZERO, server)
    span = begun_by(BEGINNING, clock)
    assert (span.first - ZERO, span.last - ZERO) == (pytest.approx(-3.25), pytest.approx(2.26))


@pytest.mark.parametrize(("time", "is_known"), [(at(5).isoformat(), True), (None, False), ("soon", False)])
def test_a_task_without_a_begin_has_no_interval(time, is_known):
    assert (begun_span(time) is not None) is is_known


def test_a_member_without_a_start_has_no_interval():
    assert started_span(member()) is None


# By an instant


@pytest.mark.parametrize(
    ("started", "relative"),
    [(60, SINCE), (59.9, UNCLEAR), (0, UNCLEAR), (-60, UNCLEAR), (-60.5, BEFORE), (-61, BEFORE), (None, HIDDEN)],
)
def test_a_start_is_told_by_the_clock_of_its_host_to_the_minute(started, relative):
    assert HOST_UNCERTAINTY == 60
    assert EXACT.of_start(member(started)) is relative


@pytest.mark.parametrize(
    ("began", "relative"),
    [(0, SINCE), (0.01, SINCE), (-1, BEFORE), (-0.5, BEFORE), (None, UNCLEAR)],
    ids=["at the change", "since", "in the second before", "by milliseconds", "not shown"],
)
def test_a_task_is_told_by_the_clock_of_the_service(began, relative):
    text = None if began is None else at(began).isoformat()
    assert EXACT.of_task(task(90, text), None, member()) is relative


@pytest.mark.parametrize(("began", "relative"), [(3, SINCE), (2, UNCLEAR), (-4, BEFORE), (-3, UNCLEAR)])
def test_a_task_within_the_bounds_of_the_clocks_is_unclear(began, relative):
    begin = Begin(Span(ZERO - 3, ZERO + 3), wall=ZERO)
    assert begin.of_task(task(90, at(began).isoformat()), None, member()) is relative


@pytest.mark.parametrize(("requested", "relative"), [(0, SINCE), (30, SINCE), (-1, UNCLEAR), (None, UNCLEAR)])
@pytest.mark.parametrize("began", [None, at(-2).isoformat()], ids=["no begin", "within the bounds"])
def test_a_task_that_this_machine_requested_since_is_told_by_its_own_clock(requested, began, relative):
    begin = Begin(Span(ZERO - 3, ZERO + 3), wall=ZERO)
    sent = None if requested is None else ZERO + requested
    assert begin.of_task(task(90, began), sent, member()) is relative


@pytest.mark.parametrize(
    ("before", "started", "relative"),
    [
        pytest.param([-90], 5, SINCE, id="moved"),
        pytest.param([5], 5, UNCLEAR, id="has not moved"),
        pytest.param([-90], -90, BEFORE, id="old, and has not moved"),
        pytest.param([5, -90], 5, SINCE, id="moved since one of two"),
        pytest.param([-900], -90, MOVED, id="moved, by a clock that is off"),
        pytest.param([-900], -898, BEFORE, id="varies"),
        pytest.param([-900, -905], -898, MOVED, id="varies, but not from the other"),
        pytest.param([-900], -897, MOVED, id="moved by little"),
    ],
)
def test_a_start_that_has_moved_since_this_machine_requested_it_is_since(before, started, relative):
    begin = replace(EXACT, requested={"a": [member(each) for each in before], "b": [member(-900)]})
    assert begin.of_start(member(started)) is relative


@pytest.mark.parametrize(
    ("seen", "started", "relative"),
    [(-50, 5, SINCE), (5, 5, UNCLEAR), (-900, -90, BEFORE), (None, 5, UNCLEAR)],
    ids=["moved", "has not moved", "moved, but long before", "nothing was seen"],
)
def test_a_start_that_has_moved_in_this_run_is_since_where_clocks_do_not_tell(seen, started, relative):
    assert replace(EXACT, seen={"a": member(seen)}).of_start(member(started)) is relative


def test_a_start_that_is_still_to_come_tells_nothing_by_clocks():
    assert EXACT.of_start(member(7200, ahead=True)) is HIDDEN


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ((5, False), (90, False), True),
        ((5, False), (90, True), True),
        ((5, True), (90, True), True),
        ((5, True), (5, False), False),
        ((5, True), (4, False), False),
        ((90, True), (5, True), None),
        ((90, True), (5, False), None),
        ((90, False), (5, False), False),
    ],
)
def test_a_start_that_is_earlier_than_one_still_to_come_tells_that_a_clock_was_set(before, after, moved):
    assert has_moved(member(before[0], ahead=before[1]), member(after[0], ahead=after[1])) is moved


@pytest.mark.parametrize(
    ("seconds", "pids", "moved"),
    [(1, 7, False), (30, 7, None), (60, 7, None), (61, 7, True), (30, 8, True), (1, 8, False)],
    ids=["the same", "drifts", "drifts by a minute", "has restarted", "other process", "other process, and no time"],
)
def test_a_start_that_moves_while_its_process_keeps_its_number_may_drift(seconds, pids, moved):
    before = member(-900, pids={"ocp_agentd": 7}, computed=True)
    assert has_moved(before, member(seconds - 900, pids={"ocp_agentd": pids}, computed=True)) is moved


# By a name


def sights(started=None, *tasks, starting=(), running=(), late=False, filled=False, **more):
    some = {"starting": frozenset(starting), "running": frozenset(running)}
    return {"a": Sight(member(started, **more), frozenset(tasks), late=late, filled=filled, **some)}


# The first look was answered by a replica that lags: it showed an old start, and no task.
LAGGED = Begin(sights={"a": Sight(member(-900), frozenset(), at=Span(ZERO, ZERO + 1))})


@pytest.mark.parametrize(("began", "relative"), [(-18, UNCLEAR), (0, SINCE), (5, SINCE)])
def test_task_that_was_not_listed_and_began_before_by_the_clocks_is_unclear(began, relative):
    there = task(90, at(began).isoformat(), status="RUNNING", finishTime=None)
    assert LAGGED.of_task(there, None, member(-900)) is relative
    assert LAGGED.of_task(there, ZERO, member(-900)) is SINCE


# What tasks showed at the first use, of which one application server is ten minutes ahead: its clock decides nothing.
AHEAD = 600
THERE = Sight(member(-900), frozenset([90]), newest=ZERO + AHEAD - 60, at=Span(ZERO, ZERO + 1))


@pytest.mark.parametrize(
    ("began", "ended", "relative"),
    [
        (AHEAD - 90, AHEAD - 61, BEFORE),
        (AHEAD - 50, AHEAD - 20, SINCE),
        (AHEAD - 90, AHEAD - 20, UNCLEAR),
    ],
    ids=["that task", "another one has its id", "it was retried"],
)
def test_task_that_was_there_is_since_or_unclear_if_it_shows_times_later_than_all_that_showed_then(
    began, ended, relative
):
    there = task(90, at(began).isoformat(), status="SUCCESSFUL", finishTime=at(ended).isoformat())
    assert THERE.of_task(there, member(-900)) is relative
    assert replace(THERE, newest=None).of_task(there, member(-900)) is BEFORE
    # It ran then, so it ends later anyhow.
    assert replace(THERE, running=frozenset([90])).of_task(there, member(-900)) is not UNCLEAR


@pytest.mark.parametrize(
    ("times", "newest"),
    [([(-90, -60), (-40, None)], -39), ([(-90, -60)], -59), ([], None), ([(-90, -60), (None, None)], None)],
    ids=["a begin", "an end", "no task", "one hides it"],
)
def test_newest_time_of_tasks(times, newest):
    def shown(seconds):
        return None if seconds is None else at(seconds).replace(microsecond=0).isoformat()

    tasks = [
        task(number, shown(began), status="SUCCESSFUL" if ended else "RUNNING", finishTime=shown(ended))
        for number, (began, ended) in enumerate(times)
    ]
    found = newest_time(tasks)
    assert found is None if newest is None else found == pytest.approx(at(newest).timestamp(), abs=1)


def test_start_that_was_not_shown_then_and_is_since_by_the_clocks_is_another_one():
    seen = Sight(member(70), frozenset(), filled=True, at=Span(ZERO, ZERO + 1))
    assert seen.of_start(member(70)) is MOVED
    assert replace(seen, shown=member(30)).of_start(member(30)) is UNCLEAR


@pytest.mark.parametrize(
    ("started", "tasks", "relative"),
    [
        (-7, [(90, -18)], UNCLEAR),
        (-7, [], SINCE),
        (-7, [(90, -18), (91, 3)], SINCE),
        (-300, [(90, -18)], MOVED),
        (70, [(90, -18)], SINCE),
        (-900, [(90, -18)], BEFORE),
    ],
    ids=["by one of before", "by none", "by another since", "long before", "surely since", "not moved"],
)
def test_start_that_has_moved_by_a_task_of_before_is_unclear(started, tasks, relative):
    made = [(task(number, at(began).isoformat(), status="SUCCESSFUL"), None) for number, began in tasks]
    assert LAGGED.of_start_by(member(started), made) is relative
    assert Begin(Span(ZERO, ZERO)).of_start_by(member(started), made) is Begin(Span(ZERO, ZERO)).of_start(
        member(started)
    )


@pytest.mark.parametrize(
    ("began", "ended", "apart", "relative"),
    [
        (200, 210, 1, SINCE),
        (30, 40, 1, UNCLEAR),
        (30, None, 1, UNCLEAR),
        (200, 210, 600, UNCLEAR),
    ],
    ids=["after the start that was shown", "about that time", "the same, and it runs", "application servers apart"],
)
def test_task_that_was_not_listed_is_since_unless_it_may_have_made_the_start_that_was_shown(
    began, ended, apart, relative
):
    seen = Sight(member(0), frozenset(), at=Span(ZERO + 5, ZERO + 5 + apart))
    status, finish = ("RUNNING", None) if ended is None else ("SUCCESSFUL", at(ended).isoformat())
    there = task(90, at(began).isoformat(), status=status, finishTime=finish)
    assert seen.of_task(there, member(0)) is relative


def filled(*given, **more):
    """A first sight that showed nothing, with what was shown first."""
    return sights(*given, filled=True, **more)


@pytest.mark.parametrize(
    ("seen", "now", "relative"),
    [
        pytest.param(sights(-90), member(5), SINCE, id="its start has moved"),
        pytest.param(sights(-90), member(-90), BEFORE, id="it has not"),
        pytest.param(sights(-90), member(-900), UNCLEAR, id="it moved back: the clock of its host was set"),
        pytest.param(sights(-90), member(-92), BEFORE, id="it moved back as computed starts vary"),
        pytest.param(sights(3600, ahead=True), member(5), UNCLEAR, id="it was still to come, and is earlier"),
        pytest.param(sights(ahead=True), member(5), UNCLEAR, id="it was too far ahead to be shown"),
        pytest.param(
            sights(ahead=True), member(7200, ahead=True), HIDDEN, id="it was too far ahead, and is still ahead"
        ),
        pytest.param(sights(3600), member(7200, ahead=True), SINCE, id="it has moved, by a clock that is far off"),
        pytest.param(sights(3600), member(3600, ahead=True), BEFORE, id="it has not, by a clock that is far off"),
        pytest.param(sights(-90), member(), HIDDEN, id="it shows no more"),
        pytest.param(filled(-90), member(-90), UNCLEAR, id="it has not since it was shown first"),
        pytest.param(filled(-90), member(5), SINCE, id="it has moved since it was shown first"),
        pytest.param(filled(-90, late=True), member(5), UNCLEAR, id="it has moved, perhaps by a restart before"),
        pytest.param(sights(), member(5), HIDDEN, id="nothing was shown at first"),
        pytest.param(sights(), member(), HIDDEN, id="nothing was ever shown"),
        pytest.param(sights(pids={"observer": 1}), member(pids={"observer": 2}), SINCE, id="its process is another"),
        pytest.param(sights(pids={"observer": 1}), member(pids={"observer": 1}), BEFORE, id="its process is the same"),
        pytest.param({}, member(5), BEFORE, id="the name is new for it"),
        pytest.param({}, member(pids={"observer": 1}), BEFORE, id="the name is new, and its process shows"),
        pytest.param({}, member(), HIDDEN, id="the name is new, and nothing shows"),
    ],
)
def test_a_start_is_since_the_first_use_of_a_name_if_it_has_moved(seen, now, relative):
    assert Begin(sights=seen).of_start(now) is relative


@pytest.mark.parametrize(
    ("pid", "uptime", "age", "relative"),
    [
        (7, 3600, 44.0, UNCLEAR),
        (7, 43, 44.0, UNCLEAR),
        (7, 43, 104.0, SINCE),
        (8, 3600, 44.0, SINCE),
        (7, None, 44.0, SINCE),
        (7, 3600, None, SINCE),
    ],
    ids=[
        "it runs on",
        "its uptime may be a minute old",
        "it is new, in a container",
        "it is another",
        "no uptime is shown",
        "it is not known since when",
    ],
)
def test_process_that_runs_for_longer_than_the_name_is_used_has_not_restarted(pid, uptime, age, relative):
    """The clock of its host was set forward: that is seed 14953499 of the simulation."""
    seen = Sight(member(-90, pids={"ocp_agentd": 7}, computed=True), frozenset(), age=age)
    now = replace(member(90_000, pids={"ocp_agentd": pid}, computed=True), uptime=uptime)
    assert Begin(sights={"a": seen}).of_start(now) is relative


@pytest.mark.parametrize(
    ("pids", "started", "relative"),
    [
        ({"ocp_agentd": 7, "pos_proxy": 8}, -900, BEFORE),
        ({"ocp_agentd": 7, "pos_proxy": 8}, -896, BEFORE),
        ({"ocp_agentd": 7, "pos_proxy": 8}, -800, BEFORE),
        ({"ocp_agentd": 7, "pos_proxy": 8}, -1000, BEFORE),
        # Not before by all clocks, one that is another, and one that is missing.
        ({"ocp_agentd": 7, "pos_proxy": 8}, -30, SINCE),
        ({"ocp_agentd": 7, "pos_proxy": 9}, -800, MOVED),
        ({"ocp_agentd": 7}, -800, MOVED),
    ],
)
def test_same_processes_that_started_before_by_all_clocks_run_on_however_their_start_has_moved(pids, started, relative):
    """It is computed from an uptime: another application server answers, or a clock was set."""
    seen = Sight(member(-900, pids={"ocp_agentd": 7, "pos_proxy": 8}, computed=True), frozenset(), at=Span.of(at(0)))
    assert Begin(sights={"a": seen}).of_start(member(started, pids=pids, computed=True)) is relative


@pytest.mark.parametrize(
    ("shown", "now", "relative"),
    [
        (member(-900), member(-90), MOVED),
        (member(-900), member(-60), SINCE),
        (member(-900), member(-900), BEFORE),
        (member(-900), member(-898), BEFORE),
        (member(-900), member(-897), MOVED),
        (member(-900, pids={"ocp_agentd": 7}), member(-90, pids={"ocp_agentd": 8}), SINCE),
        (member(pids={"ocp_agentd": 7}), member(-90, pids={"ocp_agentd": 8}), SINCE),
    ],
    ids=[
        "to before the first use",
        "within the minute",
        "not at all",
        "varies",
        "by little",
        "with its process",
        "its process is another",
    ],
)
def test_a_start_that_has_moved_to_before_the_first_use_of_a_name_is_not_since(shown, now, relative):
    seen = Sight(shown, frozenset(), at=Span(ZERO, ZERO + 1))
    assert Begin(sights={"a": seen}).of_start(now) is relative


@pytest.mark.parametrize(
    ("shown", "now", "at_first", "relative"),
    [
        (member(), 30, Span(ZERO, ZERO + 1), UNCLEAR),
        (member(), -30, Span(ZERO, ZERO + 1), UNCLEAR),
        (member(), 3600, Span(ZERO, ZERO + 1), UNCLEAR),
        (member(), -3600, Span(ZERO, ZERO + 1), HIDDEN),
        (member(), None, Span(ZERO, ZERO + 1), HIDDEN),
        (member(), 30, None, HIDDEN),
        (member(pids={"agent": 7}), 30, Span(ZERO, ZERO + 1), UNCLEAR),
        (member(ahead=True), 30, Span(ZERO, ZERO + 1), UNCLEAR),
    ],
    ids=["after", "about then", "long after", "long before", "not shown", "at no known time", "pids", "set back"],
)
def test_a_start_that_shows_where_none_did_may_be_new(shown, now, at_first, relative):
    assert Begin(sights={"a": Sight(shown, frozenset(), at=at_first)}).of_start(member(now)) is relative


@pytest.mark.parametrize("instant", [ZERO, ZERO - 90], ids=["which is later", "which clocks do not tell apart"])
def test_an_instant_does_not_make_a_start_sure_that_is_doubtful_for_the_name(instant):
    seen = {"a": Sight(member(-900), frozenset(), at=Span(ZERO, ZERO + 1))}
    assert Begin(Span(instant, instant), sights=seen).of_start(member(-90)) is MOVED


def test_one_request_since_which_its_processes_are_others_is_enough():
    pids = [{"ocp_agentd": number} for number in (7, 8)]
    requested = {"a": [member(-900, pids=pids[1]), member(-900, pids=pids[0])]}
    assert replace(EXACT, requested=requested).of_start(member(-90, pids=pids[1])) is SINCE
    assert replace(EXACT, requested={"a": requested["a"][:1]}).of_start(member(-90, pids=pids[1])) is MOVED


@pytest.mark.parametrize(("started", "relative"), [(61, SINCE), (60, UNCLEAR), (-900, BEFORE), (None, HIDDEN)])
def test_a_member_that_has_joined_has_started_since_if_that_was_after_it_joined(started, relative):
    seen = Sight(member(-900), frozenset(), joined=Span(ZERO, ZERO + 1))
    assert Begin(sights={"a": seen}).of_start(member(started)) is relative


@pytest.mark.parametrize(("started", "relative"), [(61, SINCE), (60, UNCLEAR), (-900, UNCLEAR), (None, UNCLEAR)])
def test_a_task_since_the_name_proves_nothing_of_a_member_that_joined_at_an_unknown_time(started, relative):
    """It may have run before that. Only a start since shows that it restarted the member: host clocks may be off."""
    seen = Sight(member(-900), frozenset([80]), joined=Span(ZERO, ZERO + 1))
    assert seen.of_task(task(90, at(5).isoformat()), member(started)) is relative
    assert seen.of_task(task(90, at(5).isoformat()), member(started), is_own=True) is SINCE
    assert seen.of_task(task(80, at(-5).isoformat()), member(started)) is BEFORE


def test_a_first_sight_is_neither_late_nor_filled_unless_that_is_said():
    seen = Sight(member(-90), frozenset())
    assert (seen.of_start(member(-90)), seen.of_start(member(5))) == (BEFORE, SINCE)


@pytest.mark.parametrize(
    ("seen", "relative"),
    [(sights(-90), SINCE), (sights(-90, 80), SINCE), (sights(-90, 90), BEFORE), ({}, BEFORE)],
    ids=["none was there", "another one was there", "it was there", "the name is new"],
)
@pytest.mark.parametrize("began", [None, at(-900).isoformat()], ids=["no begin", "by a clock that is off"])
def test_a_task_is_since_the_first_use_of_a_name_if_it_was_not_there(seen, began, relative):
    assert Begin(sights=seen).of_task(task(90, began), None, member()) is relative


@pytest.mark.parametrize(
    ("seen", "now", "relative"),
    [
        pytest.param(filled(5, 90, starting=[90]), 5, UNCLEAR, id="no start was shown at first"),
        pytest.param(filled(5, 90, starting=[90]), 900, BEFORE, id="it has moved since it was shown"),
        pytest.param(sights(-900, 90, starting=[90], late=True), 5, UNCLEAR, id="it might have been late"),
        pytest.param(sights(-900, 90, starting=[90]), 5, BEFORE, id="it has moved"),
        pytest.param(sights(3600, 90, starting=[90], ahead=True), 5, UNCLEAR, id="it was still to come"),
        pytest.param(sights(-900, 90, starting=[90]), -900, UNCLEAR, id="it has not moved, and may yet"),
        pytest.param(sights(-900, 90), -900, BEFORE, id="it has not moved, and will not"),
        pytest.param(sights(None, 90, starting=[90]), None, UNCLEAR, id="none was ever shown"),
        pytest.param(sights(None, 90), None, BEFORE, id="none was ever shown, and it had ended"),
        pytest.param(filled(5, 90, starting=[80]), 5, BEFORE, id="another one might start it"),
        pytest.param(filled(5, 80, starting=[80]), 5, SINCE, id="the task was not there"),
    ],
)
def test_a_task_that_was_there_may_have_started_it_since_if_the_start_does_not_tell(seen, now, relative):
    assert Begin(sights=seen).of_task(task(90, at(-5).isoformat()), None, member(now)) is relative


@pytest.mark.parametrize(
    ("seen", "relative"),
    [
        (sights(-900, 90, running=[90]), UNCLEAR),
        (sights(-900, 90, running=[80]), BEFORE),
        (sights(-1000, 90, running=[90]), BEFORE),
    ],
    ids=["it ran", "it had ended", "the start has moved"],
)
@pytest.mark.parametrize("status", ["RUNNING", "SUCCESSFUL", "FAILED"])
def test_a_task_that_ran_may_have_started_it_since_if_it_is_rolled_back(status, seen, relative):
    begin = Begin(sights=seen)
    undone = task(90, at(-5).isoformat(), status=status, operation="ROLLBACK")
    assert begin.of_task(undone, None, member(-900)) is relative
    assert begin.of_task(task(90, at(-5).isoformat(), status=status), None, member(-900)) is BEFORE


@pytest.mark.parametrize(
    ("seen", "started", "relative"),
    [
        (sights(-900), -900, BEFORE),
        (sights(-900), 90, SINCE),
        (sights(90), 90, SINCE),
        (sights(-900), -90, SINCE),
        (sights(-900), 5, SINCE),
        (sights(5), 5, UNCLEAR),
        (sights(), -90, HIDDEN),
    ],
    ids=[
        "before both",
        "since both",
        "since the instant",
        "since the name",
        "since the name, unclear by the clock",
        "unclear by the clock",
        "hidden",
    ],
)
def test_with_a_name_and_an_instant_either_is_enough(seen, started, relative):
    assert replace(EXACT, sights=seen).of_start(member(started)) is relative


def test_with_a_name_and_an_instant_either_is_enough_for_a_task():
    both = replace(EXACT, sights=sights(-90, 90))
    assert both.of_task(task(90, at(-5).isoformat()), None, member()) is BEFORE
    assert both.of_task(task(90, at(5).isoformat()), None, member()) is SINCE
    assert both.of_task(task(91, at(-5).isoformat()), None, member()) is SINCE


@pytest.mark.parametrize(
    ("begin", "now", "lacks"),
    [
        (Begin(sights={}), member(5), True),
        (Begin(sights={}), member(pids={"observer": 1}), True),
        (Begin(sights={}), member(ahead=True), True),
        (Begin(sights={}), member(), False),
        (Begin(sights=sights(5, late=True)), member(5), True),
        (Begin(sights=sights(5)), member(5), False),
        (EXACT, member(5), False),
    ],
    ids=["new", "its process shows", "too far ahead to be shown", "nothing shows", "late", "known", "without a name"],
)
def test_what_shows_may_not_yet_be_the_start_at_the_first_use_of_a_name(begin, now, lacks):
    assert begin.lacks_first_start(now) is lacks


def test_a_task_ran_at_the_first_use_of_a_name_for_a_member():
    begin = Begin(sights=sights(5, 80, 90, running=[90]))
    assert begin.ran_at_first(90, "a")
    assert not any([begin.ran_at_first(80, "a"), begin.ran_at_first(90, "b"), EXACT.ran_at_first(90, "a")])


def test_a_change_is_dated_by_an_instant_or_a_name():
    assert (Begin().is_dated, EXACT.is_dated, Begin(sights={}).is_dated) == (False, True, True)


# A start that has moved


@pytest.mark.parametrize(
    ("shown", "noted"),
    [
        (Shown(at(5).isoformat(), (("observer", 1),)), member(5, pids={"observer": 1})),
        (Shown(ahead=True), member(ahead=True)),
    ],
)
def test_what_the_journal_has_noted_is_compared_as_a_member(shown, noted):
    found = noted_member("a", shown)
    assert (found.started, found.start_time, found.pids) == (noted.started, noted.start_time, noted.pids)
    assert bool(found.is_ahead) is bool(noted.is_ahead)


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        pytest.param(member(0), member(2), True, id="later by two seconds"),
        pytest.param(member(0), member(1), False, id="by a second, as any step makes it that is cut off"),
        pytest.param(member(0.1), member(0.7), True, id="by parts of a second that are shown"),
        pytest.param(member(0.1), member(0.5), False, id="by parts that are shown, less than any restart takes"),
        pytest.param(member(0), member(0), False, id="the same"),
        pytest.param(member(0), member(0.4), False, id="by less than any restart takes"),
        pytest.param(member(0), member(-9), False, id="earlier"),
        pytest.param(member(0, computed=True), member(1.9, computed=True), False, id="computed, within its tolerance"),
        pytest.param(member(0, computed=True), member(2.1, computed=True), True, id="computed, beyond it"),
        pytest.param(member(), member(5), None, id="none was shown"),
        pytest.param(member(5), member(), None, id="none is shown"),
        pytest.param(member(pids={"x": 1}), member(pids={"x": 2}), True, id="another process"),
        pytest.param(member(pids={"x": 1}), member(pids={"x": 1}), False, id="the same process"),
        pytest.param(member(pids={"x": 1, "y": 1}), member(pids={"x": 2, "y": 1}), False, id="one of two"),
        pytest.param(member(pids={"x": 1, "y": 1}), member(pids={"x": 2}), True, id="the one that still runs"),
        pytest.param(member(pids={"x": 1}), member(pids={"y": 2}), None, id="none is the same"),
        pytest.param(member(0, pids={"x": 1}), member(0, pids={"x": 2}), False, id="the start decides if it is shown"),
        pytest.param(member(0, pids={"x": 1}), member(pids={"x": 2}), True, id="else the processes"),
    ],
)
def test_has_moved(before, after, moved):
    assert has_moved(before, after) is moved


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.booleans())
def test_a_start_never_moves_both_ways(one, other, computed):
    first, second = member(one, computed=computed), member(other, computed=computed)
    assert not (has_moved(first, second) and has_moved(second, first))
    shifted = [replace(each, started=each.started + timedelta(days=9)) for each in (first, second)]
    assert has_moved(*shifted) is has_moved(first, second)


# Clocks of application servers that have not answered


@pytest.mark.parametrize(("latest", "relative"), [(60, SINCE), (59, UNCLEAR)])
def test_task_that_begins_later_than_any_known_clock_shows_is_of_another_clock(latest, relative):
    begin = Begin(Span(ZERO, ZERO), wall=ZERO, latest=ZERO + latest)
    there = task(90, at(60).isoformat(), status="SUCCESSFUL", finishTime=at(61).isoformat())
    assert begin.of_task(there, None, member(-90)) is relative
    assert begin.of_task(there, ZERO + 1, member(-90)) is SINCE
