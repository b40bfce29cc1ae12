# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""For which of the states that the service shows the database refuses STOP SERVER, and which of them a wait may end."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.database_rules import (
    lag_counts,
    obstacles,
    status_doubts,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.server_states import OwnRestart, server_states
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.serving import database_serves
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, PlacedServer

STARTED = datetime(2026, 5, 4, 3, tzinfo=UTC)
FULL3 = "FULL{1}@z1, FULL{1}@z2, FULL{1}@z3"
FULL5 = f"{FULL3}, FULL{{1}}@z4, FULL{{1}}@z5"


def server(number, status="RUNNING", inner=None, *, zone=None, zone_status="RUNNING", zone_inner=None, stopped=None):
    member = Member(
        f"s{number}",
        status,
        started=STARTED,
        serves=database_serves(status, inner),
        inner_status=inner,
    )
    place = zone or f"z{number}"
    return PlacedServer(
        number, 10 + number, place, zone_status, member, stopped_at=stopped, zone_inner_status=zone_inner
    )


def five(**changed):
    """Servers s1 to s5, each in a zone of its own; some are ``changed``."""
    return [changed.get(f"s{number}", server(number)) for number in range(1, 6)]


def found(placed, records=(), *, taken=("s1",), own=(), tasks=(), tolerated=(), lag=None):
    records = list(records) or [{"name": "sys", "locality": FULL5, "status": "NORMAL", "locked": False}]
    states = server_states(placed, tasks, own, taken)
    each = obstacles(placed, states, records, frozenset(tolerated), lag)
    return [(obstacle.text, obstacle.passes) for obstacle in each]


def tenant(**fields):
    return [{"name": "sys", "locality": FULL5}, {"name": "shop", "locality": FULL5, **fields}]


def test_nothing_is_found_where_all_serve_and_nothing_more_is_shown():
    assert found(five()) == []
    assert found(five(), tenant()) == []


@pytest.mark.parametrize("status", ["STOPPED", "stopped"])
def test_stopped_server_of_another_zone_may_be_started(status):
    assert found(five(s2=server(2, status, "INACTIVE"))) == [(f"s2 is {status} and INACTIVE in z2 (-4660)", True)]


@pytest.mark.parametrize("status", ["STOPPING", "RESTARTING", "STARTING"])
def test_server_of_another_zone_that_is_restarted_counts_as_stopped(status):
    assert found(five(s2=server(2, status))) == [(f"s2 is {status} in z2 (-4660)", True)]


def test_restart_of_this_controller_in_another_zone_counts_before_it_shows():
    own = [OwnRestart(1001, frozenset({"s2"}), frozenset())]
    assert found(five(), own=own) == [("s2 is RUNNING (task 1001 of this controller) in z2 (-4660)", True)]


def test_stop_that_is_later_than_the_start_counts_whatever_the_status():
    """The clocks of two hosts may differ by a minute: after each restart the stop would seem to be the later one."""
    later, earlier = STARTED + timedelta(seconds=61), STARTED - timedelta(seconds=1)
    [(text, passes)] = found(five(s2=server(2, stopped=later)))
    assert (text, passes) == ("s2 is RUNNING in z2 and was stopped at 2026-05-04 03:01:01+00:00 (-4660)", True)
    for stopped in (earlier, STARTED + timedelta(seconds=60)):
        assert found(five(s2=server(2, stopped=stopped))) == []


@pytest.mark.parametrize("status", ["STOPPED", "SERVICE_STOPPED", "STOPPING"])
def test_stopped_zone_counts(status):
    assert found(five(s2=server(2, zone_status=status))) == [(f"zone z2 is {status} (-4660)", True)]


def test_zone_that_is_inactive_in_the_database_counts():
    assert found(five(s2=server(2, zone_inner="INACTIVE"))) == [("zone z2 is RUNNING and INACTIVE (-4660)", True)]


@pytest.mark.parametrize("status", ["UNAVAILABLE", "DELETED", "SOMETHING_NEW", None])
def test_server_that_is_not_shown_as_stopped_is_none(status):
    assert found(five(s2=server(2, status))) == []


def test_own_zone_does_not_count():
    placed = [*five(), server(6, "STOPPED", zone="z1")]
    assert found(placed) == []


def test_zone_that_is_not_known_is_no_other_one():
    placed = five(s2=replace(server(2, "STOPPED"), zone=None))
    assert found(placed) == []
    assert found([replace(one, zone=None) for one in five(s2=server(2, "STOPPED"))]) == []


@pytest.mark.parametrize("status", ["STOPPED", "UNAVAILABLE", "DELETED"])
def test_server_that_is_down_is_restarted_all_the_same(status):
    """That is the remedy."""
    placed = five(s1=server(1, status), s2=server(2, "STOPPED"))
    assert found(placed, tenant(status="MODIFYING", locked=True)) == []


@pytest.mark.parametrize("status", ["CREATING", "MODIFYING", "DELETING", "modifying"])
def test_tenant_that_changes_is_waited_for(status):
    assert found(five(), tenant(status=status)) == [(f"tenant shop is {status} (-4179)", True)]


def test_locked_tenant_has_to_be_unlocked():
    assert found(five(), tenant(locked=True)) == [("tenant shop is locked", False)]
    assert found(five(), tenant(locked=None)) == found(five(), tenant(locked=False)) == []


def test_tolerated_tenant_does_not_count():
    assert found(five(), tenant(locked=True, status="MODIFYING"), tolerated=["shop"]) == []


def test_status_that_no_document_has_is_doubted_and_stops_nothing():
    records = tenant(status="RESTORING")
    assert found(five(), records) == []
    assert status_doubts(records, frozenset()) == [
        "Tenant shop has the status RESTORING, which is not known. If it is changed now, the database may refuse to "
        "stop a server."
    ]
    assert status_doubts(records, frozenset({"shop"})) == status_doubts(tenant(), frozenset()) == []


def test_tenant_without_a_majority_has_no_leader():
    placed = five(s2=server(2, "UNAVAILABLE"), s3=server(3, "UNAVAILABLE"), s4=server(4, "UNAVAILABLE"))
    [(text, passes)] = found(placed)
    assert (text, passes) == ("tenant sys has lost its majority and so its leader (-4179)", True)
    assert found(placed, tolerated=["sys"]) == []


def test_tenant_that_may_have_a_majority_may_have_a_leader():
    placed = five(s2=server(2, "UNAVAILABLE"), s3=server(3, "UNAVAILABLE"), s4=server(4, "UNAVAILABLE", "ACTIVE"))
    assert found(placed) == []


def test_tenant_whose_voters_are_not_known_says_nothing():
    placed = five(s2=server(2, "UNAVAILABLE"), s3=server(3, "UNAVAILABLE"), s4=server(4, "UNAVAILABLE"))
    assert found(placed, [{"name": "odd", "locality": "NEW{1}@z2"}]) == []
    assert found(placed, [{"name": "odd"}]) == []


@pytest.mark.parametrize(("lag", "words"), [(5.5, "5.5"), (3600.0, "3600")])
def test_replicas_that_lag_more_than_the_database_allows_may_catch_up(lag, words):
    assert found(five(), lag=lag) == [(f"replicas lag {words} seconds behind, more than 5 (-4179)", True)]
    assert found(five(), lag=lag, tolerated=["sys"]) != []


@pytest.mark.parametrize("lag", [None, 0.0, 5.0])
def test_replicas_that_lag_no_more_than_that_are_no_obstacle(lag):
    assert found(five(), lag=lag) == []


@pytest.mark.parametrize("status", ["STOPPED", "UNAVAILABLE", "DELETED"])
def test_lag_does_not_matter_where_there_is_nothing_to_stop(status):
    placed = five(s1=server(1, status))
    assert found(placed, lag=3600.0) == []
    assert lag_counts(placed, server_states(placed, (), (), ("s1",))) is False


def test_lag_does_not_matter_while_a_server_restarts():
    """By its status, by a task, or by a request of this controller that does not show yet."""
    own = [OwnRestart(1001, frozenset({"s6"}), frozenset())]
    beside = server(6, zone="z1")
    for placed, restarts in ((five(s2=server(2, "RESTARTING")), ()), ([*five(), beside], own)):
        assert lag_counts(placed, server_states(placed, (), restarts, ("s1",))) is False
    for placed in (five(), [*five(), beside], five(s2=server(2, "UNAVAILABLE"))):
        assert lag_counts(placed, server_states(placed, (), (), ("s1",))) is True
