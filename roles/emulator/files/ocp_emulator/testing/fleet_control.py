# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fleet of an emulator under test: as it is, processes that end without a task, and risks that inspections find."""

from typing import Any

from ocp_emulator.serializers.cluster_serializers import cluster_detail, servers_of
from ocp_emulator.service import Service
from ocp_emulator.testing.threaded_server import ThreadedServer

# What the service shows of each, by name.
_Shown = dict[str, dict[str, Any]]


class FleetControl:
    """The true state of the fleet, whatever faults let the service show."""

    def __init__(self, server: ThreadedServer) -> None:
        """Of this server."""
        self._server = server

    @property
    def clusters(self) -> _Shown:
        """The clusters by name, with their zones, as the service shows them."""
        return self._server.run(_clusters)

    @property
    def servers(self) -> _Shown:
        """The servers by address, such as 10.0.0.1:2882, as the service shows them."""
        return self._server.run(_servers)

    def stop(self, server: str) -> None:
        """End the process of a server, as people do on its host without OCP. KeyError for an unknown address."""
        self._set_process(server, running=False)

    def start(self, server: str) -> None:
        """Start the process of a server in the same way; this is not a restart."""
        self._set_process(server, running=True)

    def plant_risk(
        self, cluster: str, item: str, level: str = "HIGH", *, target: str | None = None, value: str | None = None
    ) -> int:
        """Let inspections of a cluster that end from now on find a risk; returns its id.

        The arguments are the fields of `POST /emulator/inspection-risks`. Raises ControlError for an invalid one.
        """
        given = {"cluster": cluster, "item": item, "level": level, "target": target, "value": value}
        body = {name: each for name, each in given.items() if each is not None}
        risk_id: int = self._server.call("POST", "/emulator/inspection-risks", body)["id"]
        return risk_id

    def clear_risks(self, risk_id: int | None = None) -> None:
        """Clear a risk, or all of them; reports keep what they have. Raises ControlError for one that is not there."""
        self._server.call("DELETE", "/emulator/inspection-risks" + ("" if risk_id is None else f"/{risk_id}"))

    def _set_process(self, server: str, *, running: bool) -> None:
        self._server.call("PUT", f"/emulator/servers/{self.servers[server]['id']}/process", {"running": running})


def _clusters(service: Service) -> _Shown:
    found = [cluster_detail(service.store.db, number, service.switches) for number in _cluster_ids(service)]
    return {each.name: each.model_dump(by_alias=True, exclude_unset=True) for each in found}


def _servers(service: Service) -> _Shown:
    found = [
        each
        for number in _cluster_ids(service)
        for each in servers_of(service.store.db, number, None, None, service.switches).contents
    ]
    return {f"{each.ip}:{each.port}": each.model_dump(by_alias=True, exclude_unset=True) for each in found}


def _cluster_ids(service: Service) -> list[int]:
    return [row["id"] for row in service.store.db.execute("SELECT id FROM clusters ORDER BY id")]
