# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A rolling restart with the offline time raised: when it is raised and put back, and after a kill at any point."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotAllRestarted
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.store import SqlJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.offline_time import noted_clusters
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.cluster_run import ClusterRun
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import RollingRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_run import RollingRun, roll_clusters
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import (
    another_controller,
    another_process,
    journal_here,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FakeOcp
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import FakeClock

NAME = "server_permanent_offline_time"


def roll(service, raised="4h", *, check_mode=False, lines=None, judges_budget=False):
    def show(line, _failed):
        if lines is not None:
            lines.append(line.strip())

    policy = PollPolicy(7200, 10, show, announce=show, steps=False)
    purpose = {"change": "memory-2026-11-20"}
    restart = RestartRequest(check_mode, True, policy, safety=Safety(healthy=True), safety_timeout=60, **purpose)
    plan = RollingRequest(
        ["orders"], None, None, 1, Strategy.SERVER, None, raised=raised, judges_budget=judges_budget, **purpose
    )
    return roll_clusters(service, RollingRun(ClusterRun(plan, restart, True), 0, None), service.time.clock)


def noted(service):
    return noted_clusters(journal_here(), service.url)


def restarted(service):
    return sorted(thing.id for job in service.jobs for thing in job.things)


def test_it_is_raised_while_servers_restart(service):
    seen, lines = [], []
    service.before_post = lambda: seen.append((service.offline_time, noted(service)))
    roll(service, lines=lines)
    assert seen == [("4h", [31])] * 3
    assert (service.offline_time, noted(service)) == ("3600s", [])
    assert f"{NAME} of orders is raised from 3600s to 4h for this run" in lines
    assert f"{NAME} of orders is 3600s again" in lines


def test_it_is_put_back_after_a_failure(service):
    service.end = "FAILED"
    with pytest.raises(NotAllRestarted):
        roll(service)
    assert (service.offline_time, noted(service), len(service.posts)) == ("3600s", [], 1)


def test_it_is_left_where_nothing_is_to_restart(service):
    roll(service)
    service.calls.clear()
    roll(service)
    assert "set_cluster_parameters" not in service.calls


def test_plan_is_judged_by_the_raised_time(service):
    found = roll(service, judges_budget=True, check_mode=True)
    assert found["plan"]["clusters"][0]["offline_time"] == 14400


def test_check_mode_says_what_would_be_done_and_changes_nothing(service):
    lines = []
    roll(service, check_mode=True, lines=lines)
    assert f"would raise {NAME} of orders from 3600s to 4h, and put it back in the end" in lines
    assert (service.posts, service.offline_time, noted(service)) == ([], "3600s", [])


class Killed(BaseException):
    """SIGKILL: nothing of the run is executed after it."""


class Points:
    """The points at which a run can be killed: before and after each call of OCP and each write of the journal."""

    def __init__(self, monkeypatch, service):
        self.passed = 0
        self.end_at = None
        called, session = type(service)._called, SqlJournal._session

        def counted_call(of, name):
            self.pass_one()
            called(of, name)
            if name == "set_cluster_parameters":
                self.pass_one()

        @contextmanager
        def counted_session(of, *, writes=False):
            if writes:
                self.pass_one()
            with session(of, writes=writes) as run:
                yield run
            if writes:
                self.pass_one()

        monkeypatch.setattr(type(service), "_called", counted_call)
        monkeypatch.setattr(SqlJournal, "_session", counted_session)

    def pass_one(self):
        self.passed += 1
        # A process that was killed does nothing more, whatever its blocks `finally` say.
        if self.end_at is not None and self.passed >= self.end_at:
            raise Killed


def killed_at(points, service, point):
    """Whether a run is killed at this point; False if it ends before."""
    points.passed, points.end_at = 0, point
    try:
        roll(service)
    except Killed:
        return True
    finally:
        points.end_at = None
    return False


# Those of a night are at 200 points of each of both kinds, or at all if there are fewer.
@pytest.mark.parametrize("kills", [12, pytest.param(200, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("asks_again", [True, False])
def test_old_value_is_back_after_a_kill_at_any_point(monkeypatch, kills, asks_again):
    another_controller()
    service = FakeOcp(FakeClock())
    with monkeypatch.context() as patched:
        points = Points(patched, service)
        assert not killed_at(points, service, None)
    assert points.passed > 100
    for number in range(min(kills, points.passed)):
        point = 1 + number * points.passed // min(kills, points.passed)
        another_controller()
        service = FakeOcp(FakeClock())
        with monkeypatch.context() as patched:
            assert killed_at(Points(patched, service), service, point)
        another_process()
        roll(service, "4h" if asks_again else None)
        assert (service.offline_time, noted(service), restarted(service)) == ("3600s", [], [41, 42, 43]), point
