# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Database clusters and their server nodes, as targets of a restart."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ._api import OcpApi
from ._errors import NotFound
from ._http import Answer
from ._shapes import Record, instant, integer
from ._targets import (
    CLUSTER_RESTART,
    SERVER_RESTART,
    ZONE_RESTART,
    Member,
    Observation,
    TaskOnTarget,
    address_of,
    only,
    tagged,
    tags_of,
)


@dataclass(frozen=True)
class Cluster:
    """A database cluster."""

    id: int
    name: str

    task_name = CLUSTER_RESTART
    shows_start = True

    @classmethod
    def find(cls, api: OcpApi, cluster: str) -> Cluster:
        """By id or name; what is all digits is an id first. Raises TargetError."""
        matches = _with_id(api, cluster) if cluster.isdecimal() else []
        named_alike = [] if matches else api.clusters(cluster)
        matches += [found for found in named_alike if found.get("name") == cluster]
        found = only("cluster", cluster, matches, [str(found.get("name")) for found in named_alike])
        return cls(found["id"], str(found.get("name")))

    @property
    def label(self) -> str:
        """As in ``cluster orders (id 1)``."""
        return f"cluster {self.name} (id {self.id})"

    def result(self) -> dict[str, Any]:
        """Kind, id and name."""
        return {"kind": "cluster", **asdict(self)}

    def left_out(self, _members: frozenset[str] | None) -> dict[str, Any]:
        """Nothing; the call always takes all servers."""
        return {}

    def observe(self, api: OcpApi) -> Observation:
        """Its status, and each of its servers."""
        servers = tuple(_server_member(found) for found in api.servers(self.id))
        cluster = api.cluster(self.id)
        return Observation(cluster.get("status"), servers, integer(cluster.get("operatingTaskInstanceId")))

    def tasks(self, api: OcpApi, **query: Any) -> list[TaskOnTarget]:
        """Restarts of the cluster, and of its zones and servers, which touch it only."""
        found = api.tasks(clusterId=self.id, **query)
        by_name = {CLUSTER_RESTART: None, ZONE_RESTART: frozenset[str](), SERVER_RESTART: frozenset[str]()}
        return [TaskOnTarget(task, by_name[task["name"]]) for task in found if task.get("name") in by_name]

    def restart(self, api: OcpApi, _members: frozenset[str]) -> Answer:
        """Section 4.2; always all servers."""
        return api.restart_cluster(self.id)


@dataclass(frozen=True)
class Server:
    """A database server node of a cluster, and how it is to be restarted.

    ``host_id`` and ``zone`` are None where the service does not tell them; ``alone`` tells that no other server of the
    cluster is on its host.
    """

    id: int
    address: str
    cluster: Cluster
    host_id: int | None
    zone: str | None
    alone: bool
    freeze_server: bool
    force: bool

    task_name = SERVER_RESTART
    shows_start = True

    @classmethod
    def find(cls, api: OcpApi, cluster: str, server: str, *, freeze_server: bool, force: bool) -> Server:
        """By id (digits) or ``ip:port`` within a cluster; raises TargetError."""
        owner = Cluster.find(api, cluster)
        servers = api.servers(owner.id)
        matches = [found for found in servers if server in (str(found.get("id")), address_of(found, "ip", "port"))]
        known = [address_of(found, "ip", "port") for found in servers]
        found = only("server", server, matches, known, f" in {owner.label}")
        host_id = integer(found.get("hostId"))
        return cls(
            found["id"],
            address_of(found, "ip", "port"),
            owner,
            host_id,
            found.get("zoneName"),
            sum(other.get("hostId") == host_id for other in servers) == 1,
            freeze_server,
            force,
        )

    @property
    def label(self) -> str:
        """As in ``server 10.0.0.1:2882 (id 1) of cluster orders (id 1)``."""
        return f"server {self.address} (id {self.id}) of {self.cluster.label}"

    def result(self) -> dict[str, Any]:
        """Kind, id, name (its address) and the cluster."""
        return {
            "kind": "server",
            "id": self.id,
            "name": self.address,
            "cluster_id": self.cluster.id,
            "cluster_name": self.cluster.name,
        }

    def left_out(self, _members: frozenset[str] | None) -> dict[str, Any]:
        """Nothing; it is one."""
        return {}

    def observe(self, api: OcpApi) -> Observation:
        """The server among those of its cluster; it may have gone since it was found."""
        member = next(
            (_server_member(found) for found in api.servers(self.cluster.id) if found.get("id") == self.id),
            Member(self.address, None),
        )
        return Observation(member.status, (member,))

    def tasks(self, api: OcpApi, **query: Any) -> list[TaskOnTarget]:
        """Restarts of the server, of its zone and of its cluster."""
        found = api.tasks(clusterId=self.cluster.id, **query)
        # Without tags only the filter by host tells the servers of a cluster apart.
        ask_host = self.alone and self.host_id is not None and any(_untagged_server(task) for task in found)
        on_host = api.tasks(clusterId=self.cluster.id, hostId=self.host_id, **query) if ask_host else []
        host_tasks = {task.get("id") for task in on_host}
        return [
            TaskOnTarget(task, None)
            for task in found
            if self._is_restarted_by(task) or (_untagged_server(task) and task.get("id") in host_tasks)
        ]

    def _is_restarted_by(self, task: Record) -> bool:
        return {
            SERVER_RESTART: tagged(task, "serverId", self.id),
            ZONE_RESTART: any(tag.get("zoneName") == self.zone for tag in tags_of(task)),
            CLUSTER_RESTART: True,
        }.get(str(task.get("name")), False)

    def restart(self, api: OcpApi, _members: frozenset[str]) -> Answer:
        """Section 4.1."""
        return api.restart_server(self.cluster.id, self.id, freeze_server=self.freeze_server, force=self.force)


def _untagged_server(task: Record) -> bool:
    return task.get("name") == SERVER_RESTART and not tags_of(task)


def _with_id(api: OcpApi, cluster: str) -> list[Record]:
    try:
        return [api.cluster(int(cluster))]
    except NotFound:
        return []


def _server_member(found: Record) -> Member:
    started = instant(found.get("startTime"))
    return Member(
        address_of(found, "ip", "port"),
        found.get("status"),
        start_time=found.get("startTime") if started else None,
        started=started,
        operated_by=integer(found.get("operatingTaskInstanceId")),
    )
