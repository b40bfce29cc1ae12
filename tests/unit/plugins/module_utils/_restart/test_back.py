# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a controller has noted: times by its own clock, and which servers of a request are back."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.parsing import instant
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import MemberKey, RequestRow, Shown
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.back import is_back, noted_span
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import taken_down
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, clock_ahead

NOTED = 1_000_000.0


@pytest.mark.parametrize(
    ("ahead", "offsets", "first", "last"),
    [
        pytest.param((0.0, 1.0), [0.0], 0, 1, id="by this clock"),
        pytest.param((0.0, 1.0), [0.0, 600.0], 0, 601, id="by this clock, and another application server is known now"),
        pytest.param((7200.0, 7201.0), [0.0], 7200, 7201, id="by the clock of another controller"),
        pytest.param((7200.0, 7201.0), [0.0, 600.0], 6600, 7801, id="which knew one of two application servers"),
        pytest.param(None, [30.0], 30, 31, id="how far it was is not noted"),
    ],
)
def test_noted_time_lies_between_what_the_clocks_of_the_service_may_have_shown(ahead, offsets, first, last):
    span = noted_span(NOTED, ahead, clock_ahead(*offsets))
    assert (span.first - NOTED, span.last - NOTED) == pytest.approx((first, last), abs=1.0)


EARLIER, LATER = "2026-05-04T02:00:00+00:00", "2026-05-04T03:00:00+00:00"
FIRST, SECOND = "10.1.0.1:2882", "10.1.0.2:2882"


def member(name, start, *, serves=True):
    return Member(name, "RUNNING", start_time=start, started=instant(start), serves=serves)


def request(late=()):
    """Only the first server needed the restart of the cluster, which took down both."""
    members = tuple(member(name, EARLIER) for name in (FIRST, SECOND))
    keys = {name: MemberKey("orders 31", "server", place, name) for place, name in enumerate((FIRST, SECOND))}
    places = taken_down(keys, Observation("RUNNING", members), late)
    parts = ((keys[FIRST], Shown(EARLIER)),)
    return RequestRow(None, 0.0, "cluster", "Restart OB cluster", parts, "memory", None, URL, places=places)


@pytest.mark.parametrize(
    ("starts", "late", "serves", "is_there"),
    [
        pytest.param((LATER, LATER), (), True, True, id="each has started since, also what did not need it"),
        pytest.param((LATER, EARLIER), (), True, False, id="one has not"),
        pytest.param((LATER, LATER), (SECOND,), True, False, id="that may be the start of an earlier restart"),
        pytest.param((LATER, LATER), (), False, False, id="one does not serve"),
    ],
)
def test_servers_are_back_when_each_shows_another_start_than_before(starts, late, serves, is_there):
    """While its task may not have ended, or was undone just now."""
    servers = [member(FIRST, starts[0]), member(SECOND, starts[1], serves=serves)]
    assert is_back(request(late), servers, has_ended=False) is is_there
