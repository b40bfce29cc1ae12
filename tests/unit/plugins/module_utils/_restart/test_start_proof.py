# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Proof of a restart, from observations before and after and the begin of its task."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ServiceError
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.awaited_start import RestartTask
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.change import Begin, Sight, Span
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.start_proof import Proof, prove_restarts
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING

SECOND = timedelta(seconds=1)
BEGUN = BEGINNING + timedelta(milliseconds=700)
LONG_BEFORE, TOO_EARLY, SAME_SECOND, LATER = (BEGINNING + timedelta(seconds=n) for n in (-3600, -62, 0, 5))


def server(started):
    return Member("a", "RUNNING", start_time=started and started.isoformat(), started=started)


def agent(started=None, **pids):
    return Member("a", "AVAILABLE", pids=pids or None, started=started)


def proof(before, after, started_at=BEGUN, *, attached=False):
    found = prove_restarts([before], [after] if after else [], RestartTask(1000, started_at, attached))
    assert found.keys() == {"a"}
    return found["a"]


@pytest.mark.parametrize(
    ("before", "after", "own", "attached"),
    [
        pytest.param(server(LONG_BEFORE), server(LATER), True, True, id="moved"),
        pytest.param(server(LONG_BEFORE), server(LONG_BEFORE), False, False, id="not moved"),
        pytest.param(server(LONG_BEFORE), server(TOO_EARLY), None, None, id="moved, but before the task"),
        pytest.param(server(LATER), server(LONG_BEFORE), False, False, id="moved backward"),
        pytest.param(server(LATER), server(LATER - 4 * SECOND), False, True, id="backward, but since the task began"),
        pytest.param(server(LATER), server(LATER + SECOND / 100), False, True, id="moved by milliseconds"),
        pytest.param(server(LATER), server(LATER + SECOND * 0.8), False, True, id="one of the two without a fraction"),
        pytest.param(
            server(LATER + SECOND * 0.1), server(LATER + SECOND * 0.9), True, True, id="moved by less than a second"
        ),
        pytest.param(server(LATER), server(LATER), False, True, id="not moved, though started since the task began"),
        pytest.param(server(None), server(LATER), True, True, id="shown at last, since the task began"),
        pytest.param(server(None), server(SAME_SECOND), True, True, id="shown at last, cut off to the second"),
        pytest.param(server(None), server(TOO_EARLY), False, False, id="shown at last, and too early"),
        pytest.param(server(LONG_BEFORE), server(None), None, None, id="not shown any more"),
        pytest.param(server(None), server(None), None, None, id="never shown"),
        pytest.param(server(LONG_BEFORE), None, None, None, id="gone"),
        pytest.param(agent(x=1, y=2), agent(x=3, y=4), True, True, id="all pids new"),
        pytest.param(agent(x=1, y=2), agent(x=3, y=4, z=5), True, True, id="all pids new and one more"),
        pytest.param(agent(x=1, y=2), agent(x=3, y=2), False, None, id="one pid kept"),
        pytest.param(agent(x=1), agent(x=1), False, None, id="pid kept"),
        pytest.param(agent(LONG_BEFORE, x=1), agent(LONG_BEFORE, x=1), False, False, id="pid kept, and old"),
        pytest.param(agent(LONG_BEFORE, x=1), agent(LATER, x=1), True, True, id="pid used again, started since"),
        pytest.param(agent(LATER, x=1), agent(LATER, x=1), False, True, id="pid kept since the task began"),
        pytest.param(agent(LATER, x=1), agent(LATER + 2 * SECOND, x=1), False, True, id="pid kept, start by uptime"),
        pytest.param(agent(LATER, x=1), agent(LATER + 3 * SECOND, x=1), True, True, id="pid used again, soon"),
        pytest.param(agent(LONG_BEFORE, x=1, y=2), agent(LATER, x=3), False, False, id="one is gone, started since"),
        pytest.param(agent(LATER), agent(LATER, x=1), False, True, id="start kept, no pids before"),
        pytest.param(agent(), agent(x=1), None, None, id="no pids before"),
        pytest.param(agent(x=1), agent(), False, False, id="no pids after"),
        pytest.param(agent(x=1), agent(y=2), False, False, id="other processes"),
        pytest.param(agent(x=1, y=2), agent(y=3, z=1), False, False, id="one is gone"),
    ],
)
def test_restart_is_proven_by_start_time_and_pids(before, after, own, attached):
    assert (proof(before, after), proof(before, after, attached=True)) == (own, attached)


@pytest.mark.parametrize(
    ("before", "after", "own"),
    [
        (server(LONG_BEFORE), server(LATER), True),
        (server(LONG_BEFORE), server(LONG_BEFORE), False),
        (server(None), server(LATER), None),
    ],
)
def test_task_without_a_start_time_is_proven_by_change_only(before, after, own):
    assert proof(before, after, None) is own
    assert proof(before, after, None, attached=True) is (own or None)


@pytest.mark.parametrize(
    ("before", "after", "proven"),
    [
        (server(LONG_BEFORE), server(BEGINNING - 30 * SECOND), True),
        (server(LONG_BEFORE), server(BEGINNING - 170 * SECOND), None),
        (server(BEGINNING), server(BEGINNING + SECOND / 100), False),
        (server(None), server(BEGINNING - 120 * SECOND), False),
    ],
    ids=["started since", "started before", "moved by milliseconds", "not shown before"],
)
def test_start_since_the_change_is_enough_though_it_was_before_the_task(before, after, proven):
    """The request was held back on its way, and somebody else's restart came first."""
    change = (BEGINNING - 100 * SECOND).timestamp()
    task = RestartTask(1000, BEGUN + 70 * SECOND, change=Begin(Span(change, change)))
    assert prove_restarts([before], [after], task) == {"a": proven}


def test_attached_restart_that_shows_a_start_since_the_change_is_proven():
    """It has not moved, as the first look showed it already."""
    task = RestartTask(1000, BEGUN - 60 * SECOND, attached=True, change=Begin(Span.of(BEGINNING - 400 * SECOND)))
    assert prove_restarts([server(LATER)], [server(LATER)], task) == {"a": True}


@pytest.mark.parametrize(
    ("before", "after", "began", "attached", "together", "apart"),
    [
        pytest.param(LATER, LATER, -600, True, True, None, id="attached, its clock may be behind"),
        pytest.param(LONG_BEFORE, LATER, -600, True, True, True, id="attached, and it has moved"),
        pytest.param(LONG_BEFORE, LATER, 600, False, None, True, id="its clock may be ahead, and it has moved"),
        pytest.param(LATER, LATER, 600, True, False, None, id="attached, its clock may be ahead"),
        pytest.param(None, LATER, 600, False, False, None, id="its clock may be ahead, and no start was shown"),
        pytest.param(LATER, LATER, 600, False, False, False, id="it has not moved"),
    ],
)
def test_clock_of_a_task_proves_nothing_where_those_of_the_service_are_apart(
    before, after, began, attached, together, apart
):
    for uncertain, proven in ((0.0, together), (700.0, apart)):
        task = RestartTask(1000, BEGUN + began * SECOND, attached, apart=uncertain)
        assert prove_restarts([server(before)], [server(after)], task) == {"a": proven}


def test_start_before_the_task_is_that_of_an_earlier_restart_where_one_may_show_late():
    task = RestartTask(1000, BEGUN, late=frozenset({"a"}))
    assert prove_restarts([server(LONG_BEFORE)], [server(TOO_EARLY)], task) == {"a": False}


def test_start_that_no_clock_compares_is_not_called_missing():
    seen = Observation("RUNNING", (server(TOO_EARLY),))
    assert "lies before the task" in Proof(seen, {"a": None}).gap
    assert "no start time" in Proof(Observation("RUNNING", (server(None),)), {"a": None}).gap


def test_same_start_time_in_another_offset_is_unchanged():
    before, after = (
        server(datetime.fromisoformat(text)) for text in ("2026-05-04T03:02:01+08:00", "2026-05-03T19:02:01.000Z")
    )
    assert proof(before, after) is False


def test_members_are_compared_by_name():
    first, second = (Member(name, None, started=BEGINNING + n * SECOND) for n, name in enumerate("ab"))
    assert prove_restarts([first, second], [second, first], RestartTask(1000, None)) == {"a": False, "b": False}


def test_no_members_give_no_proofs():
    assert prove_restarts([], [server(LATER)], RestartTask(1000, BEGUN)) == {}


def test_task_with_a_skipped_step_proves_only_what_the_start_shows():
    task = RestartTask(1000, BEGUN, attached=True, skipped=True)
    assert prove_restarts([server(LATER)], [server(LATER)], task) == {"a": False}
    assert prove_restarts([server(LONG_BEFORE)], [server(LATER)], task) == {"a": True}
    since = replace(task, change=Begin(Span.of(LONG_BEFORE)))
    assert prove_restarts([server(LATER + 300 * SECOND)], [server(LATER + 300 * SECOND)], since) == {"a": True}


SEEN = Observation("RUNNING", (Member("a", "RUNNING", serves=True),))
DOWN = Observation("UNAVAILABLE", (Member("a", "UNAVAILABLE", serves=False),))
HIDDEN = Observation("RUNNING", (Member("a", "RUNNING", serves=None),))
GONE = replace(SEEN, is_there=False)


@pytest.mark.parametrize(
    ("found", "is_complete", "awaited"),
    [
        pytest.param(Proof(SEEN, {"a": True}), True, "new start", id="all have restarted, and it serves"),
        pytest.param(Proof(SEEN, {"a": True, "b": None}), False, "new start", id="one is not known"),
        pytest.param(Proof(SEEN, {"a": True, "b": False}), False, "new start", id="one has not"),
        pytest.param(Proof(SEEN), False, "new start", id="it has no members"),
        pytest.param(Proof(None, {"a": True}), False, "new start", id="nothing is shown"),
        pytest.param(Proof(HIDDEN, {"a": True}), False, "new start", id="whether it serves is not shown"),
        pytest.param(Proof(DOWN, {"a": True}), False, "to serve", id="it does not serve"),
        pytest.param(Proof(GONE, {"a": True}), False, "to serve", id="a part of it is not shown"),
        pytest.param(Proof(DOWN, {"a": False}), False, "new start", id="it has not restarted, and does not serve"),
        pytest.param(
            Proof(DOWN, {"a": True}, ServiceError("gone", url="u")), False, "OCP to answer", id="OCP does not answer"
        ),
    ],
)
def test_proof_is_complete_if_each_member_has_restarted_and_all_serve(found, is_complete, awaited):
    assert found.complete is is_complete
    assert awaited in found.awaited


@pytest.mark.parametrize(
    ("found", "disproved"),
    [
        (Proof(SEEN, {"a": True}), False),
        (Proof(SEEN, {"a": None}), False),
        (Proof(HIDDEN, {"a": True}), False),
        (Proof(None, {"a": True}), False),
        (Proof(SEEN, {"a": False}), True),
        (Proof(None, {"a": False}), True),
        (Proof(GONE, {"a": True}), True),
        (Proof(DOWN, {"a": True}), True),
        (Proof(DOWN, {"a": None}), True),
    ],
)
def test_proof_is_contradicted_by_an_old_start_or_by_what_does_not_serve(found, disproved):
    assert (found.contradiction is not None) is disproved


def test_contradiction_says_both_what_has_not_restarted_and_what_does_not_serve():
    assert Proof(SEEN, {"a": False, "b": False}).contradiction == "OCP shows no new start of a, b"
    assert Proof(DOWN, {"a": False}).contradiction == f"OCP shows no new start of a, and {DOWN.trouble}"
    assert Proof(DOWN, {"a": True}).contradiction == DOWN.trouble


def test_processes_that_ran_before_and_do_not_now_are_told():
    lost = Proof(Observation("RUNNING", (agent(x=3),)), {"a": True}).lost_processes([agent(x=1, y=2)])
    assert lost == ["y ran on a before the restart and does not run now."]
    assert Proof(Observation("RUNNING", (agent(x=3),))).lost_processes([agent(x=1)]) == []
    assert len(Proof(None).lost_processes([agent(x=1), agent()])) == 1


@pytest.mark.parametrize(
    ("task", "before", "after", "proven"),
    [
        pytest.param(RestartTask(1000, BEGUN, True, late=frozenset("a")), LONG_BEFORE, TOO_EARLY, False, id="attached"),
        pytest.param(RestartTask(1000, BEGUN, late=frozenset("b")), LONG_BEFORE, TOO_EARLY, None, id="late is another"),
        pytest.param(
            RestartTask(1000, BEGUN, skipped=True), None, LATER, None, id="skipped, and none was shown before"
        ),
        pytest.param(RestartTask(1000, BEGUN, skipped=True), LATER, LATER, False, id="skipped, and not moved"),
        pytest.param(RestartTask(1000, BEGUN, skipped=True), LONG_BEFORE, SAME_SECOND, True, id="skipped, and moved"),
        pytest.param(
            RestartTask(1000, BEGUN, skipped=True, late=frozenset("a")),
            LONG_BEFORE,
            SAME_SECOND,
            None,
            id="skipped, and moved, perhaps by an earlier restart",
        ),
        pytest.param(
            RestartTask(1000, BEGUN, change=Begin(sights={})),
            LONG_BEFORE,
            TOO_EARLY,
            True,
            id="by name, no clock counts",
        ),
        pytest.param(
            RestartTask(1000, BEGUN, change=Begin(sights={})), LATER, LATER, False, id="by name, and not moved"
        ),
        pytest.param(
            RestartTask(1000, BEGUN, True, change=Begin(sights={"a": Sight(server(LATER), frozenset())})),
            LATER,
            LATER,
            False,
            id="by name, attached, not moved since its first use",
        ),
        pytest.param(
            RestartTask(1000, BEGUN, True, change=Begin(sights={"a": Sight(server(LATER), frozenset(), filled=True)})),
            LATER,
            LATER,
            None,
            id="by name, attached, and what is known is later than the first use",
        ),
    ],
)
def test_what_proves_a_restart_depends_on_its_task(task, before, after, proven):
    assert prove_restarts([server(before)], [server(after)], task) == {"a": proven}
