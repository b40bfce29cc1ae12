# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A canary that fails, on an emulator with two clusters: no other cluster is begun, however many may fail."""

from __future__ import annotations

from contextlib import closing

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotAllRestarted
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

FAULT = {"kind": "subtask", "match": {"subtask": "Wait observer active"}, "action": "fail", "message": "no memory"}


@pytest.mark.parametrize(("canary", "tasks"), [(1, 1), (0, 4)], ids=["a canary", "another server"])
def test_failed_canary_ends_the_run_whatever_may_fail(canary, tasks, tmp_path, monkeypatch):
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path))
    with serving(settings={"fleet": generated_fleet(2, 3, 1), "step_ms": 5}) as served:
        served.data("POST", "/emulator/faults", FAULT)
        client = HttpClient(
            f"http://127.0.0.1:{served.port}", basic_auth("admin", "ocp-demo-1"), verify=True, timeout=10
        )
        policy = PollPolicy(60, 1, lambda _line, _failed: None)
        restart = RestartRequest(False, True, policy, change="memory", safety=Safety(healthy=True), safety_timeout=1)
        plan = RollingRequest(
            ["cluster1", "cluster2"], None, None, 1, Strategy.SERVER, None, canary=canary, change="memory"
        )
        with closing(client), pytest.raises(NotAllRestarted) as raised:
            roll_clusters(
                OcpApi(client), RollingRun(ClusterRun(plan, restart, False), max_failures=1, max_servers=None)
            )
        begun = served.data("GET", "/api/v2/tasks/instances?size=100")["contents"]
    assert len(raised.value.facts["failures"]) == 1
    assert len(begun) == tasks
