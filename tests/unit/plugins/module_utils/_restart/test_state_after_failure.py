# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A restart that failed, and the refusal after it, say whether the target serves."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import TaskFailed
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES, failure, request

SERVER = RESTART_CASES["server"]
DOWN = "It does not serve now: 10.1.0.1:2882 is UNAVAILABLE."


STATES = {
    "down": ("UNAVAILABLE", DOWN),
    "up": (None, "It serves now."),
    "a status nobody knows": ("WONDERING", "It does not serve now: 10.1.0.1:2882 is WONDERING."),
}


@pytest.mark.parametrize("state", STATES)
def test_failure_says_whether_it_serves(state, service):
    status, words = STATES[state]
    service.end = "FAILED"
    service.after_restart = lambda: setattr(service.servers_there[0], "status", status)
    assert f"\n{words} The task took" in str(failure(service, SERVER, request(wait=True)))


def test_failure_of_several_says_that_they_do_not_serve():
    """A host with agents, a zone or a cluster has several parts."""
    down = [Member(name, "RESTARTING", serves=False) for name in ("a", "b")]
    up = Member("c", "RUNNING", serves=True)
    assert Observation(None, (*down, up)).serving_words == ("They do not serve now: a is RESTARTING, b is RESTARTING.")
    assert Observation(None, (down[0], up)).serving_words == "It does not serve now: a is RESTARTING."


def test_failure_says_that_it_is_gone(service):
    service.end, service.after_restart = "FAILED", lambda: service.servers_there and service.servers_there.pop(0)
    assert "\nOCP no longer shows it, or a part of it. The task took" in str(
        failure(service, SERVER, request(wait=True))
    )


def test_state_that_cannot_be_read_hides_no_failure(service):
    service.end = "FAILED"
    service.after_restart = lambda: setattr(service, "cluster_name", "stock")
    error = failure(service, SERVER, request(wait=True))
    assert isinstance(error, TaskFailed)
    assert "serve now" not in str(error)


def test_refusal_after_it_says_so_too(service):
    service.end = "FAILED"
    failure(service, SERVER, request(wait=True))
    service.servers_there[0].status = "UNAVAILABLE"
    said = str(failure(service, SERVER, request(wait=True)))
    assert "FAILED and holds it.\n" in said
    assert f"\n{DOWN}\nNothing restarts it until that is cleared." in said
    assert len(service.posts) == 1


def test_state_of_what_shows_none_is_not_known():
    assert Observation(None, ()).serving_words == "OCP does not show whether it serves now."
