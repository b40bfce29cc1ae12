# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Database clusters and their server nodes, as targets of a restart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .._base.errors import NotFound
from .._base.parsing import Record, instant, integer, records
from .._ocp.endpoints import OcpApi
from .._ocp.session import Answer
from .target import (
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
    tag_values,
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
            _of_server(found, cluster_record, servers),
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
        cluster = api.cluster(self.cluster.id)
        servers = servers_of(api, cluster, self.cluster.id)
        found = next((found for found in servers if found.get("id") == self.id), None)
        return _of_server(found, cluster, servers) if found else Observation(None, (Member(self.address, None),))

    def tasks(self, api: OcpApi, **query: Any) -> list[TaskOnTarget]:
        """Restarts of the server, of its zone and of its cluster.

        What is not known to be the restart of another server or zone touches this one.
        """
        found = api.tasks(clusterId=self.cluster.id, **query)
        hosts = () if self.host_id is None else (self.host_id,)
        on_host = on_hosts(api, self.cluster, hosts, found, **query)
        return [TaskOnTarget(task, restarts) for task in found for restarts in self._restarted_by(task, on_host)]

    def _restarted_by(self, task: Record, on_host: set[Any]) -> Iterator[frozenset[str] | None]:
        """What the task restarts of it, see ``TaskOnTarget``; nothing where it is known not to touch it."""
        name, servers, zones = str(task.get("name")), tag_values(task, "serverId"), tag_values(task, "zoneName")
        here = task.get("id") in on_host
        told = {CLUSTER_RESTART: True, ZONE_RESTART: self.zone in zones, SERVER_RESTART: self.id in servers}
        open_to = {ZONE_RESTART: not zones, SERVER_RESTART: not servers and (here or self.host_id is None)}
        if told.get(name):
            yield None
        elif open_to.get(name):
            yield None if here and self.alone else frozenset()

    def restart(self, api: OcpApi, _members: frozenset[str]) -> Answer:
        """Section 4.1."""
        return api.restart_server(self.cluster.id, self.id, freeze_server=self.freeze_server, force=self.force)


def on_hosts(api: OcpApi, cluster: Cluster, hosts: Iterable[int], found: list[Record], **query: Any) -> set[Any]:
    """The ids of the tasks of a cluster that work on these hosts, asked for if the tags of those ``found`` do not tell.

    Without tags, or with some that name the cluster alone, only the service's filter by host tells its parts apart.
    """
    telling = {SERVER_RESTART: "serverId", ZONE_RESTART: "zoneName"}
    untold = any(not tag_values(task, telling[task["name"]]) for task in found if task.get("name") in telling)
    return {
        task.get("id")
        for host in (hosts if untold else ())
        for task in api.tasks(clusterId=cluster.id, hostId=host, **query)
    }


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
    told = tells_operations([cluster, *servers], around=records(cluster.get("zones")))
    return Observation(cluster.get("status"), members, operated_by(cluster), told)


def _of_server(server: Record, cluster: Record, all_servers: list[Record]) -> Observation:
    member = member_of(server)
    zones = [zone for zone in records(cluster.get("zones")) if zone.get("name") == server.get("zoneName")]
    told = tells_operations([server], alike=all_servers, around=[cluster, *zones])
    return Observation(member.status, (member,), tells_operations=told)


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
