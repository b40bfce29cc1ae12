# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The search for what a request did whose response was lost."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import TargetError, TaskFailed
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.outcome_search import search_outcome
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import lost, refused

NOT_YET, HERE = None, "here"


@pytest.fixture
def search(service):
    """Search where the looks give this, one after another, the last one again and again."""
    service.timeout = 2.0

    def run(*looks):
        left = list(looks)

        def look():
            now = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(now, Exception):
                raise now
            return now

        return search_outcome(service, look, service.time.clock)

    return run


@pytest.mark.parametrize(
    ("looks", "pauses"),
    [
        pytest.param([HERE], 0, id="at once"),
        pytest.param([NOT_YET, NOT_YET, HERE], 2, id="later"),
        pytest.param([lost(), refused(503), refused(429), HERE], 3, id="after failed looks"),
        pytest.param([NOT_YET] * 4 + [HERE], 4, id="in the last moment"),
    ],
)
def test_what_is_found_ends_the_search(looks, pauses, search, service):
    found = search(*looks)
    assert (found.found, found.problem, found.last_look) == (HERE, None, "")
    assert service.time.pauses == [0.5] * pauses


def test_search_lasts_as_long_as_a_request(search, service):
    found = search(NOT_YET)
    assert (found.found, found.problem, found.is_in_vain) == (None, None, False)
    assert sum(service.time.pauses) == 2.0


def test_looks_that_take_long_are_farther_apart(service):
    """A search of eleven pages each half a second is more than a service may allow."""
    service.timeout = 6.0
    assert search_outcome(service, lambda: service.passes(1.0), service.time.clock).found is None
    assert service.time.pauses == [2.0, 2.0]


def test_last_failed_look_is_told(search, service):
    found = search(NOT_YET, refused(503))
    assert (found.found, found.is_in_vain) == (None, False)
    assert found.last_look == " (the last poll failed: Refused with 503)"
    assert sum(service.time.pauses) == 2.0
    assert search(refused(503), NOT_YET).last_look == ""


@pytest.mark.parametrize("problem", [refused(401), refused(403), TargetError("Gone.")], ids=repr)
def test_search_in_vain_ends_at_once(problem, search, service):
    """Repeating rejected credentials locks the account."""
    found = search(problem, HERE)
    assert (found.found, found.problem, found.is_in_vain, service.time.pauses) == (None, problem, True, [])


def test_other_errors_end_the_search(search):
    with pytest.raises(TaskFailed):
        search(TaskFailed("No."))
