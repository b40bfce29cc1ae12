# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Database clusters and their server nodes, as targets of a restart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ._api import OcpApi
from ._errors import NotFound
from ._http import Answer
from ._shapes import Record, instant, integer, records
from ._targets import (
    CLUSTER_RESTART,
    SERVER_RESTART,
    ZONE_RESTART,
    Member,
    Observation,
    Target,
    TaskOnTarget,
    address_of,
    only,
    operated_by,
    tagged,
    tags_of,
    tells_operations,
)


@dataclass(frozen=True)
class Cluster(Target):
    """A database cluster."""

    id: int
    name: str

    task_name = CLUSTER_RESTART
    shows_start = True

    found: Observation | None = field(default=None, compare=False)

    @classmethod
    def find(cls, api: OcpApi, cluster: str) -> Cluster:
        """By id or name; what is all digits is an id first. Raises TargetError."""
        return cls.from_api(find_cluster(api, cluster))

    @classmethod
    def from_api(cls, found: Record) -> Cluster:
        """Of its own record, which has its servers or not."""
        servers = _servers_within(found)
        return cls(found["id"], str(found.get("name")), _of_cluster(found, servers) if servers else None)

    @property
    def label(self) -> str:
        """As in ``cluster orders (id 1)``."""
        return f"cluster {self.name} (id {self.id})"

    def result(self) -> dict[str, Any]:
        """Kind, id and name."""
        return {"kind": "cluster", "id": self.id, "name": self.name}

    def part(self, kind: str, part_id: int, name: str) -> dict[str, Any]:
        """Kind, id and name of a part of it, and whose part it is."""
        return {"kind": kind, "id": part_id, "name": name, "cluster_id": self.id, "cluster_name": self.name}

    def observe(self, api: OcpApi) -> Observation:
        """Its status, and each of its servers."""
        found = api.cluster(self.id)
        return _of_cluster(found, servers_of(api, found, self.id))

    def tasks(self, api: OcpApi, **query: Any) -> list[TaskOnTarget]:
        """Restarts of the cluster, and of its zones and servers, which touch it only."""
        found = api.tasks(clusterId=self.id, **query)
        by_name = {CLUSTER_RESTART: None, ZONE_RESTART: frozenset[str](), SERVER_RESTART: frozenset[str]()}
        return [TaskOnTarget(task, by_name[task["name"]]) for task in found if task.get("name") in by_name]

    def restart(self, api: OcpApi, _members: frozenset[str]) -> Answer:
        """Section 4.2; always all servers."""
        return api.restart_cluster(self.id)


@dataclass(frozen=True)
class Server(Target):
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
    found: Observation | None = field(default=None, compare=False)

    task_name = SERVER_RESTART
    shows_start = True

    @classmethod
    def find(cls, api: OcpApi, cluster: str, server: str, *, freeze_server: bool, force: bool) -> Server:
        """By id (digits) or ``ip:port`` within a cluster; raises TargetError."""
        cluster_record = find_cluster(api, cluster)
        owner = Cluster.from_api(cluster_record)
        servers = servers_of(api, cluster_record, owner.id)
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
            _of_server(found, servers),
        )

    @property
    def label(self) -> str:
        """As in ``server 10.0.0.1:2882 (id 1) of cluster orders (id 1)``."""
        return f"server {self.address} (id {self.id}) of {self.cluster.label}"

    def result(self) -> dict[str, Any]:
        """Kind, id, name (its address) and the cluster."""
        return self.cluster.part("server", self.id, self.address)

    def observe(self, api: OcpApi) -> Observation:
        """The server among those of its cluster; it may have gone since it was found."""
        servers = api.servers(self.cluster.id)
        found = next((found for found in servers if found.get("id") == self.id), None)
        return _of_server(found, servers) if found else Observation(None, (Member(self.address, None),))

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


def clusters_called(api: OcpApi, cluster: str) -> tuple[list[Record], list[str]]:
    """The clusters of this id or name, and the names of those called alike; what is all digits is an id first."""
    matches = _with_id(api, cluster) if cluster.isdecimal() else []
    named_alike = [] if matches else api.clusters(cluster)
    matches += [found for found in named_alike if found.get("name") == cluster]
    return matches, [str(found.get("name")) for found in named_alike]


def find_cluster(api: OcpApi, cluster: str) -> Record:
    """The record of the cluster of this id or name; raises TargetError."""
    return only("cluster", cluster, *clusters_called(api, cluster))


def _with_id(api: OcpApi, cluster: str) -> list[Record]:
    try:
        return [api.cluster(int(cluster))]
    except NotFound:
        return []


def servers_of(api: OcpApi, cluster: Record, cluster_id: int) -> list[Record]:
    """The servers of a ``cluster`` that has this record and id."""
    return _servers_within(cluster) or api.servers(cluster_id)


def _servers_within(cluster: Record) -> list[Record]:
    """The servers that the record of a cluster has itself, if it has all of them. In older versions it has none."""
    servers = [
        {"zoneName": zone.get("name"), **server}
        for zone in records(cluster.get("zones"))
        for server in records(zone.get("servers"))
    ]
    return servers if len(servers) == cluster.get("serverCount") else []


def _of_cluster(cluster: Record, servers: list[Record]) -> Observation:
    members = tuple(member_of(server) for server in servers)
    return Observation(cluster.get("status"), members, operated_by(cluster), tells_operations([cluster, *servers]))


def _of_server(server: Record, all_servers: list[Record]) -> Observation:
    member = member_of(server)
    return Observation(member.status, (member,), tells_operations=tells_operations(all_servers))


def member_of(server: Record) -> Member:
    """A server as a member of a target."""
    started = instant(server.get("startTime"))
    return Member(
        address_of(server, "ip", "port"),
        server.get("status"),
        start_time=server.get("startTime") if started else None,
        started=started,
        operated_by=operated_by(server),
    )
