# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The restart modules against a fake OCP: their targets, and helpers for the tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import InFlight
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.obproxies import ObProxies, ObProxy
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.progress_lines import Show, show_nothing
from ansible_collections.oceanbase.ocp.tests.unit.support import fake_ocp
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FakeOcp, Thing
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import PASSED_ON, RESULT_KEYS


@dataclass(frozen=True)
class RestartCase:
    """A target, its expected POST, the name of its task, and the things in the service that restart."""

    target: Any
    post: tuple[str, Any]
    task_name: str
    things: Callable[[FakeOcp], list[Thing]]
    proven: bool | None = True

    def find(self, _api: FakeOcp) -> Any:
        """As a selector does."""
        return self.target

    @property
    def task_words(self) -> str:
        """What is looked for after a lost answer."""
        return f'new task "{self.task_name}" of it' if self.target.task_name else "new task of it"

    @property
    def keys(self) -> set[str]:
        """The keys of its result, including those for the bridge."""
        return RESULT_KEYS | PASSED_ON | self.target.unchanged_facts(None).keys()


ORDERS = Cluster(31, "orders")
SERVER_41 = Server(41, "10.1.0.1:2882", ORDERS, 51, "zone1", True, True, False)
RESTART_CASES = {
    "server": RestartCase(SERVER_41, ("server", (31, 41, True, False)), fake_ocp.SERVER, lambda s: s.servers_there[:1]),
    "cluster": RestartCase(ORDERS, ("cluster", 31), fake_ocp.CLUSTER, lambda s: s.servers_there),
    "zone": RestartCase(
        Zone(71, "zone1", ORDERS, ((41, "10.1.0.1:2882"),), (51,), True, (51,)),
        ("zone", (31, "zone1")),
        fake_ocp.ZONE,
        lambda s: [thing for thing in s.servers_there if thing.zone == "zone1"],
    ),
    "agents": RestartCase(
        Agents(((51, "10.1.0.1"), (52, "10.1.0.2"))),
        ("agents", [51, 52]),
        fake_ocp.AGENTS,
        lambda s: s.agents_there[:2],
    ),
    "arbitration service": RestartCase(
        ArbitrationService(61, "10.1.0.8:2888"),
        ("arbitration", 61),
        fake_ocp.ARBITRATION,
        lambda s: s.arbitration,
        None,
    ),
    "obproxies": RestartCase(
        ObProxies(91, "entry", (ObProxy(81, "10.1.0.1:2883", 51), ObProxy(82, "10.1.0.2:2883", 52))),
        ("obproxies", (91, [81, 82])),
        fake_ocp.OBPROXIES,
        lambda s: s.obproxies_there[:2],
        None,
    ),
}
SERVER = RESTART_CASES["server"]
every_restart = pytest.mark.parametrize("case", RESTART_CASES.values(), ids=RESTART_CASES)
# For slow tests: the others at night.
every_restart_at_night = pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=kind, marks=() if kind in ("server", "agents") else pytest.mark.nightly)
        for kind, case in RESTART_CASES.items()
    ],
)
OCCUPIED = {"by operatingTaskInstanceId": True, "by the task list": False}
however_shown = pytest.mark.parametrize("names_operations", OCCUPIED.values(), ids=OCCUPIED)


def request(
    in_flight: str = "attach",
    started_before: datetime | None = None,
    *,
    wait: bool = False,
    check_mode: bool = False,
    seconds: float = 60,
    show: Show = show_nothing,
    announce: Show = show_nothing,
    until_effective: dict[str, str] | None = None,
) -> RestartRequest:
    policy = PollPolicy(seconds, 10, show, announce=announce)
    wanted = until_effective or {}
    return RestartRequest(
        check_mode, wait, policy, started_before, in_flight=InFlight(in_flight), until_effective=wanted
    )


def restart(service: FakeOcp, case: RestartCase, options: RestartRequest) -> dict[str, Any]:
    """Restart, and check what holds for every result."""
    result = restart_target(service, case, options, service.time.clock)
    assert result.keys() == case.keys | ({"effective"} if options.until_effective else set())
    assert result["reason"]
    json.dumps(result)
    return result


def failure(service: FakeOcp, case: RestartCase, options: RestartRequest) -> OcpError:
    """Restart, and check what holds for every failure."""
    with pytest.raises(OcpError) as raised:
        restart_target(service, case, options, service.time.clock)
    assert raised.value.facts.keys() >= case.keys
    assert raised.value.facts["target"] == case.target.result()
    json.dumps(raised.value.facts)
    assert str(raised.value).endswith((".", "'"))  # a sentence, or a command to copy
    return raised.value
