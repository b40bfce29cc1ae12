# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A rolling restart by the code of the modules, in the process of the test: the emulator's clock moves as it waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
import requests
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import Clock
from ansible_collections.oceanbase.ocp.plugins.module_utils._health.health_gate import await_health
from ansible_collections.oceanbase.ocp.plugins.module_utils._health.read_health import Demands
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import session
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import (
    RollingRequest,
    plan_rolling_restart,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.offline_budget import OfflineBudget
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.sign_rules import Sign, Watch
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from credentials import BASIC
from emulator_client import Emulator

EVERY_SIGN = Watch(frozenset(Sign), 30)
GATE_SECONDS = 600
# Pauses are no shorter than this, since they cost nothing.
SHORTEST_STEP = 15.0


@dataclass
class SteeredRun:
    """``meanwhile`` is called at each pause with its number; the first one comes before any restart."""

    emulator: Emulator
    monkeypatch: pytest.MonkeyPatch
    meanwhile: Callable[[int], None] = lambda _pause: None
    pauses: int = 0
    elapsed: float = 0.0
    _http: requests.Session = field(default_factory=requests.Session)

    def __post_init__(self) -> None:
        self._http.auth = tuple(BASIC.values())
        self.emulator.put("/emulator/clock", {"running": False})
        self._begin = datetime.fromisoformat(self.emulator.get("/emulator/clock")["time"]).timestamp()
        times = SimpleNamespace(time=self._wall, monotonic=session.time.monotonic)
        self.monkeypatch.setattr(session, "time", times)
        self.clock = Clock(now=lambda: self.elapsed, sleep=self._sleep, wall=self._wall, jitter=lambda: 0.0)

    def run(self, cluster: str, watch: Watch = EVERY_SIGN, budget: OfflineBudget = OfflineBudget.REFUSE) -> None:
        """Plan, restart server after server, and look once more at the end; raises as the modules do."""
        self.pauses = 0
        began = datetime.fromtimestamp(self._wall(), UTC)
        wanted = RollingRequest(
            [cluster], None, None, 1, Strategy.SERVER, began, min_zones=3, watch=watch, judges_budget=True
        )
        plan = self._call(lambda api: plan_rolling_restart(api, wanted, self.clock))
        [planned] = plan["clusters"]
        assert not planned["blocked"], planned["message"]
        known = replace(watch, alarms_before=frozenset(planned["alarms"]))
        policy = PollPolicy(7200, 60)
        # The service shows starts to the second.
        self._sleep(2)
        for batch in plan["batches"]:
            for server in batch["servers"]:
                request = RestartRequest(
                    False, True, policy, began, safety=Safety(), watch=known,
                    safety_timeout=GATE_SECONDS, offline_budget=budget, offline_time=planned["offline_time"],
                )  # fmt: skip
                self._restart(str(batch["cluster_id"]), str(server["id"]), request)
        gate = PollPolicy(GATE_SECONDS, 60)
        self._call(lambda api: await_health(api, cluster, Demands(3), gate, watch=known, clock=self.clock))

    def _restart(self, cluster: str, server: str, request: RestartRequest) -> None:
        options = {"cluster": cluster, "server": server, "freeze_server": False, "force": False}
        result = self._call(lambda api: restart_target(api, Selector(Server, options), request, self.clock))
        assert result["verified"] is True

    def _call(self, body: Callable[[OcpApi], Any]) -> Any:
        """As a module does it: with a connection of its own."""
        client = HttpClient(self.emulator.url, basic_auth(*BASIC.values()), verify=True, timeout=60)
        try:
            return body(OcpApi(client))
        finally:
            client.close()

    def _wall(self) -> float:
        return self._begin + self.elapsed

    def _sleep(self, seconds: float) -> None:
        step = max(seconds, SHORTEST_STEP)
        url = f"{self.emulator.url}/emulator/clock/advance"
        self._http.post(url, json={"seconds": step}, timeout=60).raise_for_status()
        self.elapsed += step
        self.pauses += 1
        self.meanwhile(self.pauses)
