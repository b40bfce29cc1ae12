# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Check mode predicts the real run in all states of the service, and sends no POST."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    NotVerified,
    OcpError,
    PermissionDenied,
    TargetBusy,
    WaitTimeout,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.tests.unit.support import fake_ocp
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_controller
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FakeOcp, at, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import FakeClock
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES, SERVER, request, restart
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = [fake_ocp.SERVER, fake_ocp.ZONE, fake_ocp.CLUSTER, fake_ocp.AGENTS, fake_ocp.ARBITRATION, "Stop OB server"]
starts = st.sampled_from([None, -3600.0, -100.0, -60.0, -5.0])
states = st.fixed_dictionaries(
    {
        "names_operations": st.booleans(),
        "tags": st.booleans(),
        "clock_offset": st.sampled_from([0.0, 30.0, -30.0]),
        "starts": st.lists(starts, min_size=6, max_size=6),
        "jobs": st.lists(
            st.tuples(
                st.sampled_from(NAMES),
                st.sets(st.integers(0, 2), min_size=1),
                st.sampled_from([120.0, 60.0, 10.0]),
                st.sampled_from([20.0, 500.0]),
                st.sampled_from(["SUCCESSFUL", "FAILED", "ROLLBACK", "REFUSED"]),
                st.booleans(),
            ),
            max_size=3,
        ),
        "forbidden": st.booleans(),
        "statuses": st.lists(st.sampled_from([None, None, None, "RESTARTING", "UNAVAILABLE"]), min_size=7, max_size=7),
        "start_shown_late": st.sampled_from([0.0, 0.0, 40.0, 400.0]),
    }
)
questions = st.tuples(st.sampled_from(["attach", "fail", "queue"]), st.sampled_from([None, -100.0, -60.0, -30.0]))


def build(state: dict[str, Any]) -> FakeOcp:
    another_controller()
    fields = ("names_operations", "tags", "clock_offset", "start_shown_late")
    service = FakeOcp(FakeClock(), **{key: state[key] for key in fields})
    things = [*service.servers_there, *service.agents_there]
    for thing, started in zip(things, state["starts"], strict=True):
        thing.started = started
    for thing, status in zip([*things, *service.arbitration], state["statuses"], strict=True):
        thing.status = status
    for name, picked, ago, seconds, end, hidden in state["jobs"]:
        fleet = {fake_ocp.AGENTS: service.agents_there, fake_ocp.ARBITRATION: service.arbitration}
        there = fleet.get(name, service.servers_there)
        places = range(3) if name == fake_ocp.CLUSTER else {number % len(there) for number in picked}
        things = [there[place] for place in sorted(places)]
        service.begin(name, things, ago=ago, seconds=seconds, end=end, hidden_start=hidden)
    if state["forbidden"]:
        service.failing.update(tasks=[refused(403)] * 99, task=[refused(403)] * 99)
    return service


def outcome(state: dict[str, Any], name: str, question: tuple[str, float | None], *, check_mode: bool):
    service = build(state)
    in_flight, since = question
    options = request(in_flight, None if since is None else at(since), check_mode=check_mode, seconds=600)
    before = len(service.jobs)
    try:
        result: Any = restart_target(service, RESTART_CASES[name], options, service.time.clock)
    except OcpError as error:
        result = error
    return service, result, len(service.jobs) - before


@settings(max_examples=150)
@given(states, st.sampled_from(list(RESTART_CASES)), questions)
def test_check_mode_and_real_run_agree(state, name, question):
    dry_service, dry, dry_jobs = outcome(state, name, question, check_mode=True)
    real_service, real, real_jobs = outcome(state, name, question, check_mode=False)

    assert (dry_service.posts, dry_jobs, dry_service.time.pauses) == ([], 0, [])
    assert len(real_service.posts) == real_jobs <= 1
    if isinstance(dry, OcpError):
        assert isinstance(dry, (TargetBusy, NotVerified))
        assert (real.__class__, str(real)) == (dry.__class__, str(dry))
        assert real_service.posts == []
    elif "has to end first" in dry["reason"]:
        assert question[0] == "queue"
        assert (dry["action"], dry["changed"]) == ("submitted", True)
        # Waiting is impossible without permission to read tasks.
        assert real_service.time.pauses or (state["forbidden"] and isinstance(real, PermissionDenied))
        assert "RESTARTING" in state["statuses"] or not isinstance(real, WaitTimeout)
    else:
        assert not isinstance(real, OcpError)
        assert dry["reason"] == f"{'would restart it: ' if dry['action'] == 'submitted' else ''}{real['reason']}"
        told = ("action", "changed", "before", "diff", "warnings", "target", "skipped_hosts")
        assert {key: dry.get(key) for key in told} == {key: real.get(key) for key in told}
        assert (real["action"] == "submitted") == (real_jobs == 1)
        if dry["action"] == "attached":
            assert dry["task_id"] == real["task_id"]


@pytest.mark.nightly
@settings(max_examples=100)
@given(states, st.sampled_from(list(RESTART_CASES)), st.sampled_from([-100.0, -60.0, -30.0]))
def test_second_run_never_restarts(state, name, since):
    """Same ``started_before`` after a first run that waited and was successful."""
    service = build({**state, "clock_offset": 0.0, "forbidden": False})
    options = request("queue", at(since), wait=True, seconds=600)
    try:
        restart_target(service, RESTART_CASES[name], options, service.time.clock)
    except OcpError:
        return
    jobs = len(service.jobs)
    again = restart_target(service, RESTART_CASES[name], options, service.time.clock)
    assert (again["action"], again["changed"], len(service.jobs)) == ("skipped", False, jobs)


@pytest.mark.parametrize(("foretells", "words"), [(True, "would restart it: "), (False, "")])
def test_look_that_foretells_nothing_has_the_plain_reason(foretells, words, service):
    asked = replace(request(check_mode=True), foretells=foretells)
    result = restart(service, SERVER, asked)
    assert result["reason"] == f"{words}started_before is not set, so this always restarts"
    assert service.posts == []
