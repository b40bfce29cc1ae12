# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whole runs where clocks differ: those of this machine, of the application servers of OCP, and of database hosts."""

from __future__ import annotations

from itertools import cycle

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import HUNDREDTH, SECOND
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotVerified
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.tests.unit.support import fake_ocp
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_controller, another_process
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    RESTART_CASES,
    SERVER,
    failure,
    request,
    restart,
)

DATABASE = {name: RESTART_CASES[name] for name in ("server", "zone", "cluster")}
every_database_restart = pytest.mark.parametrize("case", DATABASE.values(), ids=DATABASE)
# How the next run knows of the one before.
NEXT = {"the same controller": another_process, "another controller": another_controller}
every_next_run = pytest.mark.parametrize("another_run", NEXT.values(), ids=NEXT)
# By the clock of this machine.
CHANGE = at(0)


def runs(service, case, another_run, *, pause=100.0, since=CHANGE):
    """Three runs for one change, each as soon as the one before has ended and some time has passed."""
    results = []
    for _run in range(3):
        results.append(restart(service, case, request(started_before=since, wait=True)))
        another_run()
        service.passes(pause)
    return results


def restarted_once(service, results):
    first, *later = results
    assert (first["action"], first["verified"]) == ("submitted", True)
    assert [(each["action"], each["changed"]) for each in later] == [("skipped", False)] * 2
    assert (len(service.posts), len(service.jobs)) == (1, 1)


@every_database_restart
@every_next_run
@pytest.mark.parametrize("pause", [0.0, 30.0, 1000.0])
@pytest.mark.parametrize("offset", [0.0, 40.0], ids=["hosts 40 s behind this machine", "hosts with this machine"])
def test_restart_where_the_service_is_ahead_of_the_hosts_is_verified_and_not_repeated(
    offset, pause, another_run, case, service
):
    service.clock_offset, service.hosts_ahead = offset, -40.0
    restarted_once(service, runs(service, case, another_run, pause=pause))


@pytest.fixture
def two_servers(service, monkeypatch):
    """OCP has two application servers, 40 s apart; most answers are those of b."""
    clock, received = ServiceClock(), BEGINNING.timestamp()
    for name, ahead in [("a", 0), ("b", 40), ("b", 40)] * 2:
        completed = at(ahead)
        clock.shown(completed, received + (HUNDREDTH if completed.microsecond else SECOND), received, name)
    monkeypatch.setattr(fake_ocp.FakeOcp, "service_clock", property(lambda _service: clock))
    return service


def answered_in_turn(service, begins_with):
    ahead = cycle([begins_with, 40.0 - begins_with])

    def answered_by_the_other():
        service.clock_offset = next(ahead)
        service.hosts_ahead = -service.clock_offset

    service.before_post = answered_by_the_other


BEGINS = {"first by a": 0.0, "first by b": 40.0}


@every_database_restart
@pytest.mark.parametrize("begins_with", BEGINS.values(), ids=BEGINS)
def test_one_restart_where_the_application_servers_of_the_service_differ(begins_with, case, two_servers):
    answered_in_turn(two_servers, begins_with)
    restarted_once(two_servers, runs(two_servers, case, another_process))


@every_database_restart
@pytest.mark.parametrize("begins_with", BEGINS.values(), ids=BEGINS)
def test_another_controller_restarts_nothing_where_the_application_servers_differ(begins_with, case, two_servers):
    """Where the clock of the other application server leaves open when the task began, the run fails."""
    answered_in_turn(two_servers, begins_with)
    change = request(started_before=CHANGE, wait=True)
    restart(two_servers, case, change)
    for _run in range(2):
        another_controller()
        two_servers.passes(100.0)
        if begins_with:
            assert restart(two_servers, case, change)["action"] == "skipped"
        else:
            error = failure(two_servers, case, change)
            assert error.__class__ is NotVerified
            assert "the clocks do not tell whether 10.1.0.1:2882" in str(error)
    assert len(two_servers.posts) == 1


@every_database_restart
@every_next_run
def test_start_before_the_change_on_a_host_that_is_ahead_is_not_one_after_it(another_run, case, service):
    service.hosts_ahead = 50.0
    for thing in case.things(service):
        thing.started = -10.0 + service.hosts_ahead
    restarted_once(service, runs(service, case, another_run))


@every_next_run
@pytest.mark.parametrize("pause", [0.0, 20.0, 1000.0])
def test_change_that_is_a_little_ahead_restarts_once(pause, another_run, service):
    results = runs(service, SERVER, another_run, pause=pause, since=at(50))
    restarted_once(service, results)
    assert service.jobs[0].started_at >= 50
