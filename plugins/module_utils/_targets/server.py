# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A database server as a target: how it is found, its state, which tasks restart it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._base.cli_hints import server_command
from .._base.parsing import Record, integer, records
from .._journal.rows import MemberKey
from .._ocp.endpoints import OcpApi
from .._ocp.envelope import ApiResponse
from .cluster import Cluster, PartOfCluster, member_of, other_hosts, placed_servers, servers_of
from .lookup import address_of, exactly_one, find_cluster, shown_address
from .operating_tasks import (
    is_other_work,
    may_be_of_whole,
    names_every_operation,
    names_only_others,
    shown_hosts,
    shown_servers,
    shown_zones,
    tag_values,
    tasks_on_hosts,
)
from .target import ClusterRecords, Member, Observation, TaskOnTarget, check_identity
from .task_names import CLUSTER_RESTART, SERVER_RESTART, ZONE_RESTART, kind_of


@dataclass(frozen=True)
class Server(PartOfCluster):
    """A server node of a cluster, and how to restart it.

    ``host_id`` and ``zone`` are None if the service does not report them; ``alone``: no other server of the cluster is
    on its host. ``other_hosts`` are the ids of the hosts of the other servers.
    """

    id: int
    address: str
    cluster: Cluster
    host_id: int | None
    zone: str | None
    alone: bool
    freeze_server: bool
    force: bool
    first_observation: Observation | None = field(default=None, compare=False)
    other_hosts: tuple[int, ...] = field(default=(), compare=False)

    kind = "server"
    task_name = SERVER_RESTART
    shows_start = True

    @classmethod
    def find(cls, api: OcpApi, cluster: str, server: str, *, freeze_server: bool, force: bool) -> Server:
        """Find it by id (digits) or ``ip:port`` in a cluster; raises TargetError."""
        cluster_record = find_cluster(api, cluster)
        owner = Cluster.from_api(cluster_record)
        servers = servers_of(api, cluster_record, owner.id)
        matches = [found for found in servers if server in (str(found.get("id")), address_of(found, "ip", "port"))]
        known = [shown_address(found, "ip", "port") for found in servers]
        found = exactly_one("server", server, matches, known, f" in {owner.label}")
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
            _observe_server(found, address_of(found, "ip", "port"), cluster_record, servers),
            other_hosts(servers, [host_id]),
        )

    @classmethod
    def of_records(cls, found: Record, owner: Cluster, servers: Sequence[Record]) -> Server:
        """The server of the cluster with this record, to look at; its restart would freeze nothing."""
        host_id = integer(found.get("hostId"))
        alone = sum(other.get("hostId") == host_id for other in servers) == 1
        address = address_of(found, "ip", "port")
        number, hosts = integer(found.get("id")) or 0, other_hosts(servers, [host_id])
        return cls(number, address, owner, host_id, found.get("zoneName"), alone, False, False, other_hosts=hosts)

    @property
    def label(self) -> str:
        """As in ``server 10.0.0.1:2882 (id 1) of cluster orders (id 1)``."""
        return f"server {self.address} (id {self.id}) of {self.cluster.label}"

    def result(self) -> dict[str, Any]:
        """Kind, id, name (its address) and the cluster."""
        return self.cluster.part(self.kind, self.id, self.address)

    def member_keys(self, _observed: Observation) -> dict[str, MemberKey]:
        """Itself, whatever was read."""
        return {self.address: MemberKey(self.cluster.identity, "server", self.id, self.address)}

    def observe(self, api: OcpApi) -> Observation:
        """Its state; it may be gone from the cluster by now."""
        cluster = self.cluster.read(api)
        servers = servers_of(api, cluster, self.cluster.id)
        found = next(filter(self._is_shown_by, servers), None)
        if found is not None:
            check_identity("server", self.label, self.address, shown_address(found, "ip", "port"))
        if found is None:
            placed, read = placed_servers(cluster, servers), ClusterRecords(cluster, servers)
            gone = Member(self.address, None)
            return Observation(None, (gone,), servers=placed, records=read, is_there=False)
        return _observe_server(found, self.address, cluster, servers)

    def _is_shown_by(self, record: Record) -> bool:
        """Whether a record is its own: by the id or, where that is not shown, by the address."""
        number = record.get("id")
        return number == self.id if number is not None else address_of(record, "ip", "port") == self.address

    def command_for(self, member: str) -> str:
        """That of the server."""
        return server_command(self.cluster.id, member)

    def may_be_of(self, task: Record) -> bool:
        """Whether a task may be a restart of this server."""
        if not self.cluster.may_be_of_part(task, self.task_name):
            return False
        if servers := shown_servers(task):
            # Its host and its zone may have changed since they were read.
            return self.id in servers
        is_elsewhere = names_only_others(shown_hosts(task), [] if self.host_id is None else [self.host_id])
        return not (is_elsewhere or names_only_others(shown_zones(task), [] if self.zone is None else [self.zone]))

    def touching(self, api: OcpApi, listed: list[Record], **query: Any) -> list[TaskOnTarget]:
        """Restarts of the server, its zone and its cluster, and other work that names the server.

        A restart counts unless it is known to be of another server or zone.
        """
        hosts = () if self.host_id is None else (self.host_id,)
        tasks, on_host = tasks_on_hosts(api, self.cluster.id, hosts, self.other_hosts, listed, **query)
        return [TaskOnTarget(task, restarts) for task in tasks for restarts in self._restarted_by(task, on_host)]

    def _restarted_by(self, task: Record, on_host: set[Any] | None) -> Iterator[frozenset[str] | None]:
        """Yield what the task restarts of it, see ``TaskOnTarget``; nothing if it is for another server or zone."""
        name = str(kind_of(task.get("name")))
        servers, zones = tag_values(task, "serverId"), tag_values(task, "zoneName")
        known_here = on_host is not None and task.get("id") in on_host
        here = known_here or on_host is None
        tagged = {CLUSTER_RESTART: True, ZONE_RESTART: self.zone in zones, SERVER_RESTART: self.id in servers}
        untagged = {ZONE_RESTART: not zones, SERVER_RESTART: not servers and (here or self.host_id is None)}
        if tagged.get(name):
            yield None
        elif untagged.get(name):
            yield None if known_here and self.alone else frozenset()
        elif is_other_work(task) and (self.id in servers or may_be_of_whole(task, [self.zone])):
            yield frozenset()

    def restart(self, api: OcpApi, _members: frozenset[str]) -> ApiResponse:
        """Restart this server alone."""
        return api.restart_server(self.cluster.id, self.id, freeze_server=self.freeze_server, force=self.force)


def _observe_server(server: Record, address: str, cluster: Record, all_servers: list[Record]) -> Observation:
    # The record may lack the address.
    member = replace(member_of(server), name=address)
    zones = [zone for zone in records(cluster.get("zones")) if zone.get("name") == server.get("zoneName")]
    names_operations = names_every_operation([server], siblings=all_servers, related=[cluster, *zones])
    placed = placed_servers(cluster, all_servers)
    records_read = ClusterRecords(cluster, all_servers)
    return Observation(
        member.status, (member,), names_operations=names_operations, servers=placed, records=records_read
    )
