# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The rule of the modules against the log streams of some thousand layouts; `make layouts` has 200,000."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety import layout, server_states, verdict, voters
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.serving import database_serves
from ansible_collections.oceanbase.ocp.tests.outages.layouts import FORMS, report, tally_of
from ansible_collections.oceanbase.ocp.tests.outages.log_streams import (
    Arbitration,
    LogStream,
    Server,
    Voter,
    is_stopped,
    works,
)

pytestmark = pytest.mark.slow


@pytest.mark.nightly
@pytest.mark.parametrize("first", [1, 1001, *(pytest.param(n, marks=pytest.mark.nightly) for n in (2001, 3001))])
def test_no_restart_is_allowed_that_stops_a_log_stream(first):
    tally = tally_of(range(first, first + 1000))
    assert (tally.unsafe, tally.unexplained) == ([], [])
    counts = tally.counts
    assert counts["refused, rightly"] > 500
    assert counts["refused though safe"] < 0.2 * counts.total()
    assert {form for form, kind in tally.forms if kind == "refused, rightly"} == set(FORMS)
    assert f"1000 layouts, {counts.total()} tenants in them" == next(report(tally))


def few_only(tenant, servers):
    """As before: arbitration services only where the voters alone would refuse."""
    return bool(voters.outages([tenant], servers))


def no_half(arbiter):
    return arbiter and replace(arbiter, degraded=False)


def without(name, change):
    """What is read of a tenant, changed."""
    read = getattr(layout, name)
    return mock.patch.object(layout, name, lambda *args: change(read(*args)))


DEFECTS = {
    "arbiters read only after a loss without them": mock.patch.object(verdict, "asks_for_arbiter", few_only),
    "what is unclear counts as dead": mock.patch.object(
        server_states, "database_may_serve", lambda *shown: database_serves(*shown) is not False
    ),
    "what is unclear counts as up": mock.patch.object(voters.ServerState, "is_up", property(lambda s: not s.dead)),
    "degraded log streams do not count": without("_arbiter_for", no_half),
    "a unit that moves is where it is shown": mock.patch.object(layout, "_is_placed", lambda _unit, _names: True),
    "log-only replicas can lead": mock.patch.object(layout, "leaders_of", layout.voters_of),
    "arbiters that cannot be read are none": mock.patch.object(layout, "UNKNOWN_ARBITER", None),
    "an arbiter is needed only by what stays": mock.patch.object(voters, "_may_tie", lambda _placed: False),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", DEFECTS)
def test_layouts_find_what_is_put_back(name):
    with DEFECTS[name]:
        assert tally_of(range(1, 1201)).unsafe


FULL = (Voter("a"), Voter("b"))
ARBITRATED = LogStream("shop", FULL, arbitration=Arbitration())


def test_log_stream_needs_its_members():
    three = LogStream("shop", (*FULL, Voter("c", full=False)))
    assert works(three, {"a", "c"}, arbitrated=False)
    assert not works(three, {"c"}, arbitrated=False)
    assert not works(
        LogStream("shop", (Voter("a"), *(Voter(name, full=False) for name in "bc"))), {"b", "c"}, arbitrated=False
    )
    assert works(ARBITRATED, {"a"}, arbitrated=True)
    assert not works(ARBITRATED, {"a"}, arbitrated=False)
    degraded = replace(ARBITRATED, degraded=frozenset({0}))
    assert works(degraded, {"b"}, arbitrated=True)
    assert not works(degraded, {"a"}, arbitrated=True)


def test_log_stream_is_stopped_by_what_it_needs():
    servers = {name: Server(name) for name in "ab"}
    assert not is_stopped(ARBITRATED, servers, {"a"})
    assert is_stopped(ARBITRATED, {**servers, "b": Server("b", up=False)}, {"a"})
    assert is_stopped(ARBITRATED, {**servers, "b": Server("b", moves=True)}, {"a"})
    assert not is_stopped(ARBITRATED, {**servers, "b": Server("b", moves=True)}, ())
    assert is_stopped(replace(ARBITRATED, arbitration=Arbitration(moves=True)), servers, {"a"})
