# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The forecast of a rolling restart on an emulator whose tasks take a random time, against the run that follows."""

from __future__ import annotations

import tempfile
from contextlib import closing
from datetime import datetime
from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import SYSTEM_CLOCK
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import session
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.cluster_run import ClusterRun
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import RollingRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_run import RollingRun, roll_clusters
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.served_emulator import serving
from ocp_emulator.fleet.generate_fleet import generated_fleet

JITTER = {"tasks": {"Restart OB server": 8}, "jitter": 0.2, "seed": 1}


@pytest.fixture(autouse=True)
def _own_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path))


@pytest.fixture
def virtual(monkeypatch):
    """Let the clock of an emulator stand still but for what this process sleeps."""
    real = {name: getattr(SYSTEM_CLOCK, name) for name in ("now", "sleep", "wall", "jitter")}

    def tie(served):
        served.ask("PUT", "/emulator/clock", {"running": False})
        begin, slept = datetime.fromisoformat(served.data("GET", "/emulator/clock")["time"]).timestamp(), [0.0]

        def sleep(seconds):
            assert served.ask("POST", "/emulator/clock/advance", {"seconds": seconds}).status == 200
            slept[0] += seconds

        clock = {"now": lambda: slept[0], "sleep": sleep, "wall": lambda: begin + slept[0], "jitter": lambda: 0.5}
        for name, function in clock.items():
            object.__setattr__(SYSTEM_CLOCK, name, function)
        monkeypatch.setattr(session, "time", SimpleNamespace(time=clock["wall"], monotonic=session.time.monotonic))

    yield tie
    for name, function in real.items():
        object.__setattr__(SYSTEM_CLOCK, name, function)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("clusters", "zones", "per_zone"), [(1, 3, 3), (1, 4, 25), (10, 4, 25)], ids=["9", "100", "1000"]
)
def test_forecast_is_within_10_percent_of_a_run_in_virtual_time(virtual, clusters, zones, per_zone):
    """By the restarts of at most ten servers before."""
    names = [f"cluster{number}" for number in range(1, clusters + 1)]
    with serving(settings={"fleet": generated_fleet(clusters, zones, per_zone)}) as served:
        long = {**JITTER, "tasks": {"Restart OB server": 600}}
        assert served.ask("PUT", "/emulator/durations", long).status == 200
        virtual(served)
        client = HttpClient(
            f"http://127.0.0.1:{served.port}", basic_auth("admin", "ocp-demo-1"), verify=True, timeout=30
        )
        with closing(client):
            few = [str(number) for number in range(1, min(10, zones * per_zone) + 1)]
            roll(OcpApi(client), "first", names[:1], interval=60, servers=few)
            second = roll(OcpApi(client), "second", names, interval=60)
    told = second["plan"]["forecast"]["seconds"]
    print(f"forecast {told} s, took {second['elapsed']} s")
    assert len(second["results"]) == clusters * zones * per_zone
    assert second["elapsed"] > len(second["results"]) * 500
    assert told == pytest.approx(second["elapsed"], rel=0.1)


@pytest.mark.nightly
def test_second_run_takes_as_long_as_its_forecast_by_the_first():
    with serving(settings={"fleet": generated_fleet(1, 3, 3)}) as served:
        assert served.ask("PUT", "/emulator/durations", JITTER).status == 200
        client = HttpClient(
            f"http://127.0.0.1:{served.port}", basic_auth("admin", "ocp-demo-1"), verify=True, timeout=30
        )
        with closing(client):
            first, second = (roll(OcpApi(client), change, ["cluster1"]) for change in ("first", "second"))
    assert first["plan"]["forecast"]["seconds"] is None
    told = second["plan"]["forecast"]["seconds"]
    print(f"forecast {told} s, took {second['elapsed']} s")
    assert told == pytest.approx(second["elapsed"], rel=0.1)


def roll(api, change, clusters, interval=1, servers=None):
    policy = PollPolicy(7200, interval, lambda _line, _failed: None)
    restart = RestartRequest(False, True, policy, change=change, safety=Safety(healthy=True), safety_timeout=60)
    plan = RollingRequest(clusters, None, servers, 1, Strategy.SERVER, None, change=change)
    return roll_clusters(api, RollingRun(ClusterRun(plan, restart, False), 0, None))
