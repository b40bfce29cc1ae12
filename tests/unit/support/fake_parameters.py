# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A fake OCP with one cluster of three servers, whose parameters can be read and set."""

from __future__ import annotations

from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.envelope import ApiResponse
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.records import parameter_record
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, FakeClock, response

SERVERS = [f"10.1.0.{number}:2882" for number in (1, 2, 3)]
STATIC, DYNAMIC, READONLY = "stack_size", "tcp_keepcnt", "devname"
OFFLINE_TIME = "server_permanent_offline_time"
METADATA: dict[str, dict[str, Any]] = {
    STATIC: {
        "needRestart": True,
        "readonly": False,
        "valueRange": {"type": "CAPACITY", "minValue": "512K", "maxValue": "20M"},
    },
    DYNAMIC: {"needRestart": False, "valueRange": {"type": "INT", "minValue": "1"}},
    READONLY: {"readonly": True},
    OFFLINE_TIME: {"needRestart": False, "valueRange": {"type": "TIME", "minValue": "20s"}},
}
OLD = {STATIC: "512K", DYNAMIC: "10", READONLY: "bond0"}


class ParametersOcp:
    """``values`` are those that servers show. A set reaches all of them at once, or after ``delay`` more reads.

    ``is_told``: static parameters show their old value, as no server restarts. ``shows`` is the field with the values
    of servers, None if there is none. ``failing`` are errors of the next reads.
    """

    url = URL

    def __init__(self) -> None:
        self.values: dict[str, dict[str, str]] = {name: dict.fromkeys(SERVERS, value) for name, value in OLD.items()}
        self.metadata = METADATA
        self.time = FakeClock()
        self.shows: str | None = "valueToServers"
        self.is_told = True
        self.delay = 0
        self.sent: list[dict[str, str]] = []
        self.failing: list[Exception] = []
        self._coming: dict[str, str] = {}

    def clusters(self, _name: str | None = None) -> list[dict[str, Any]]:
        zones = [{"name": "zone1", "servers": [{"id": 1, "ip": server[:-5], "port": 2882} for server in SERVERS]}]
        return [{"id": 31, "name": "orders", "serverCount": 3, "zones": zones}]

    def cluster(self, cluster_id: int) -> dict[str, Any]:
        [found] = self.clusters()
        assert cluster_id == found["id"]
        return found

    def cluster_parameters(self, cluster_id: int) -> list[dict[str, Any]]:
        assert cluster_id == 31
        if self.sent and self.failing:
            raise self.failing.pop()
        if self.delay <= 0:
            for name, value in self._coming.items():
                self.values[name] = dict.fromkeys(self.values[name], value)
        self.delay -= bool(self.sent)
        return [self._record(name) for name in self.values]

    def _record(self, name: str) -> dict[str, Any]:
        shown: dict[str, list[str]] = {}
        for server, value in self.values[name].items():
            shown.setdefault(value, []).append(server)
        current = {"values": list(shown), **({self.shows: shown} if self.shows else {})}
        return parameter_record({"name": name, "currentValue": current, **self.metadata.get(name, {})})

    def set_cluster_parameters(self, cluster_id: int, wanted: dict[str, str]) -> ApiResponse:
        assert cluster_id == 31
        self.sent.append(dict(wanted))
        static = {name for name in wanted if METADATA[name].get("needRestart") and self.is_told}
        self._coming.update({name: value for name, value in wanted.items() if name not in static})
        return response(None)

    def show(self, name: str, *values: str | None) -> None:
        """Show these values of a parameter, one for each server."""
        self.values[name] = {server: value for server, value in zip(SERVERS, values, strict=True) if value is not None}
