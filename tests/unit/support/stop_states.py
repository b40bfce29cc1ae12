# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""States in which the database refuses to stop server 1 of a cluster, and how an emulator gets into them.

The cluster has five zones, each with a server; server 1 is in zone1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ocp_emulator.fleet.entities import Fleet
from ocp_emulator.fleet.fleet_file import FleetFile
from ocp_emulator.fleet.resolve_fleet import resolve

ADDRESSES = [f"10.0.0.{number}" for number in range(1, 6)]
FIVE = ", ".join(f"FULL{{1}}@zone{number}" for number in range(1, 6))
TWO, THREE, FOUR = (", ".join(FIVE.split(", ")[:count]) for count in (2, 3, 4))
OF_CLUSTER = "/api/v2/ob/clusters/1"
LAG = "max_full_clog_sync_delay_second"


@dataclass(frozen=True)
class StopState:
    """A state: the error of the database, the tenants besides sys, and what is done to an emulator to get there."""

    code: int
    enter: Callable[[Any], None] = lambda _emulated: None
    app: dict[str, Any] | None = None

    @property
    def fleet(self) -> Fleet:
        """The fleet before that."""
        zones = [{"name": f"zone{n}", "servers": [{"ip": ip}]} for n, ip in enumerate(ADDRESSES, 1)]
        tenants = [{"name": "sys", "locality": FIVE}, {"name": "app", "locality": FIVE, "arbitration": False}]
        tenants[1] |= self.app or {}
        cluster = {"name": "orders", "zones": zones, "tenants": tenants, "arbitration_service": "10.0.0.9"}
        return resolve(FleetFile.model_validate({"clusters": [cluster], "arbitration_services": [{"ip": "10.0.0.9"}]}))


def _post(path: str, seconds: float = 60.0, **body: Any) -> Callable[[Any], None]:
    def enter(emulated: Any) -> None:
        emulated.data("POST", f"{OF_CLUSTER}/{path}", json=body)
        _pass(emulated, seconds)

    return enter


def _pass(emulated: Any, seconds: float) -> None:
    emulated.let_pass(seconds)
    emulated.get("/api/v2/tasks/instances")


def _put(path: str, **body: Any) -> Callable[[Any], None]:
    def enter(emulated: Any) -> None:
        answer = emulated.request("PUT", f"/emulator/{path}", json=body)
        assert answer.status_code == 200, answer.text

    return enter


def _away(*servers: int) -> Callable[[Any], None]:
    """Servers that do not answer, which is no stop."""

    def enter(emulated: Any) -> None:
        for server in servers:
            _put(f"servers/{server}", available=False)(emulated)

    return enter


def _failed_restart(emulated: Any) -> None:
    match = {"subtask": "Start observer process"}
    emulated.data("POST", "/emulator/faults", json={"kind": "subtask", "action": "fail", "match": match})
    _post("servers/4/restart", freezeServer=False)(emulated)


def _tenant(name: str, **changed: Any) -> Callable[[Any], None]:
    def enter(emulated: Any) -> None:
        tenants = emulated.get(f"{OF_CLUSTER}/tenants")["contents"]
        [number] = [each["id"] for each in tenants if each["name"] == name]
        _put(f"tenants/{number}", **changed)(emulated)

    return enter


_DEGRADED = {"cluster": "orders", "tenant": "app", "logStreams": [1001]}
STATES = {
    "a server of another zone was stopped": StopState(-4660, _post("servers/4/stop")),
    "the service of a server of another zone was stopped": StopState(
        -4660, _post("servers/4/stop", type="STOP_SERVICE")
    ),
    "another zone was stopped": StopState(-4660, _post("zones/zone4/stop")),
    "a server of another zone is being stopped": StopState(-4660, _post("servers/4/stop", 2.5)),
    "a server of another zone restarts": StopState(-4660, _post("servers/4/restart", 5, freezeServer=False)),
    "another zone restarts": StopState(-4660, _post("zones/zone4/restart", 5)),
    "a restart in another zone has failed": StopState(-4660, _failed_restart),
    "the process of a server of another zone was ended": StopState(-4660, _put("servers/4/process", running=False)),
    "two servers of other zones were stopped": StopState(
        -4660, lambda emulated: [_post(f"servers/{server}/stop")(emulated) for server in (4, 5)]
    ),
    "the locality of a tenant changes": StopState(-4179, _tenant("app", status="MODIFYING")),
    "the locality of sys changes": StopState(-4179, _tenant("sys", status="MODIFYING")),
    "a tenant is being created": StopState(-4179, _tenant("app", status="CREATING")),
    "a tenant elsewhere changes": StopState(-4179, app={"locality": FIVE.split(", ")[4], "status": "MODIFYING"}),
    "a tenant elsewhere has no leader": StopState(-4179, _away(5), {"locality": FIVE.split(", ")[4]}),
    "a tenant with a replica here has no leader": StopState(-4179, _away(2, 3), {"locality": THREE}),
    "this is the only replica of a tenant": StopState(-4179, app={"locality": FIVE.split(", ", maxsplit=1)[0]}),
    "one of three voters is away": StopState(-4179, _away(2), {"locality": THREE}),
    "two of five voters are away": StopState(-4179, _away(2, 3)),
    "one of four voters beside an arbitration service is away": StopState(
        -4179, _away(2), {"locality": FOUR, "arbitration": True}
    ),
    "one of two voters has no arbitration service": StopState(-4179, app={"locality": TWO}),
    "the arbitration service of two voters is away": StopState(
        -4179, _put("arbitration-services/1/process", running=False), {"locality": TWO, "arbitration": True}
    ),
    "log streams of two voters are degraded": StopState(
        -4179, _put("arbitration-services/1", degraded=[_DEGRADED]), {"locality": TWO, "arbitration": True}
    ),
    "replicas lag behind": StopState(-4179, _put("servers/3/metric", name=LAG, value=5.5)),
    "a replica lags far behind": StopState(-4179, _put("servers/5/metric", name=LAG, value=3600)),
}
