# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A rolling restart in maintenance windows: what a night begins, what it says, and how the next one goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.windows import open_span, parse_windows
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.cluster_run import ClusterRun
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import RollingRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_run import RollingRun, roll_clusters
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER, at

CHANGE = at(-600)
# Each night has room for two restarts of 20 minutes.
NIGHTS = parse_windows(
    "windows",
    {"time_zone": "Asia/Shanghai", "weekly": [{"start": "23:00", "end": "00:00"}], "blackouts": ["2026-05-05"]},
)


@pytest.fixture
def night(service):
    service.seconds = 1200.0
    service.begin(SERVER, service.servers_there[1:2], seconds=1200.0, ago=2000.0)
    service.passes(1)
    for server in service.servers_there:
        server.started = -5000.0

    def run(check_mode=False):
        run.lines = []
        policy = PollPolicy(7200, 10, run.show, announce=run.show)
        restart = RestartRequest(
            check_mode, True, policy, CHANGE, safety=Safety(healthy=True), safety_timeout=60, windows=NIGHTS
        )
        plan = RollingRequest(["orders"], None, None, 1, Strategy.SERVER, CHANGE, windows=NIGHTS)
        return roll_clusters(service, RollingRun(ClusterRun(plan, restart, True), 0, None), service.time.clock)

    run.show = lambda line, _failed: run.lines.append(line.strip())
    return run


def now(service):
    return datetime.fromtimestamp(service.time.clock.wall(), UTC)


def opens_next(service):
    """Let time pass until the next window opens."""
    opens = next(span.opens for span in NIGHTS.spans(now(service)) if span.opens > now(service))
    service.passes((opens - now(service)) / timedelta(seconds=1) + 1)


def test_nothing_begins_outside_and_each_night_goes_on(service, night):
    found = night()
    assert (service.posts, found["failures"], found["changed"]) == ([], [], False)
    assert found["postponed"].startswith("no window is open; the next window opens on Monday 2026-05-04 23:00 (Asia/Sh")
    assert found["plan"]["forecast"]["windows"] == 2
    assert found["plan"]["forecast"]["message"] == (
        "About 1 h 0 min, in 2 windows, until Wednesday 2026-05-06 23:20 (Asia/Shanghai)."
    )
    assert f"forecast: {found['plan']['forecast']['message']}" in night.lines
    opens_next(service)
    first = night()
    assert (len(service.posts), first["failures"]) == (2, [])
    assert [
        line for line in night.lines if ", 1 left, about 20 min, in 1 window, until Wednesday 2026-05-06 23:2" in line
    ]
    assert "the next window opens on Wednesday 2026-05-06 23:00" in night.lines[-1]
    assert "run the same command again then" in night.lines[-1]
    opens_next(service)
    second = night()
    assert (len(service.posts), second["failures"], second["postponed"]) == (3, [], None)
    for job in service.jobs[1:]:
        begun, ended = (at(job.started_at + seconds).astimezone(UTC) for seconds in (0, job.seconds))
        span = open_span(NIGHTS.spans(begun), begun)
        assert span is not None and ended <= span.closes


def test_check_mode_shows_the_forecast(service, night):
    assert night(check_mode=True)["plan"]["forecast"]["seconds"] == 3620.0
    assert [line for line in night.lines if line.startswith("forecast: About 1 h 0 min, in 2 windows")]
    assert service.posts == []
