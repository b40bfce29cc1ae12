# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A zone as a target: how it is found, its servers, which tasks restart it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from .._base.cli_hints import server_command
from .._base.parsing import Record, integer, records
from .._journal.rows import MemberKey
from .._ocp.endpoints import OcpApi
from .._ocp.envelope import ApiResponse
from .cluster import Cluster, PartOfCluster, member_of, other_hosts, placed_servers, servers_of
from .lookup import address_of, exactly_one, find_cluster
from .operating_tasks import (
    is_other_work,
    may_be_of_whole,
    names_every_operation,
    names_only_others,
    operated_by,
    shown_hosts,
    shown_servers,
    shown_zones,
    tag_values,
    tasks_on_hosts,
)
from .serving import database_serves
from .target import ClusterRecords, Observation, TaskOnTarget
from .task_names import CLUSTER_RESTART, SERVER_RESTART, ZONE_RESTART, kind_of


@dataclass(frozen=True)
class Zone(PartOfCluster):
    """A zone of a cluster.

    ``servers`` are pairs of server id and address. ``hosts`` are the ids of hosts where all servers of the cluster
    belong to this zone; ``alone``: all its servers are on such hosts. ``every_host`` are the ids of the hosts of its
    servers, empty if one is not shown; ``other_hosts`` those of the cluster that are not ``hosts``.
    """

    id: int | None
    name: str
    cluster: Cluster
    servers: tuple[tuple[int, str], ...]
    hosts: tuple[int, ...]
    alone: bool
    every_host: tuple[int, ...] = ()
    other_hosts: tuple[int, ...] = field(default=(), compare=False)
    first_observation: Observation | None = field(default=None, compare=False)

    kind = "zone"
    task_name = ZONE_RESTART
    shows_start = True

    @classmethod
    def find(cls, api: OcpApi, cluster: str, zone: str) -> Zone:
        """Find it by name in a cluster; raises TargetError."""
        record = find_cluster(api, cluster)
        owner = Cluster.from_api(record)
        zones = records(record.get("zones")) or api.zones(owner.id)
        record = {**record, "zones": zones}
        matches = [found for found in zones if found.get("name") == zone]
        known = [found.get("name") for found in zones]
        found = exactly_one("zone", zone, matches, known, f" in {owner.label}", needs_id=False)
        servers = servers_of(api, record, owner.id)
        own = [server for server in servers if server.get("zoneName") == zone]
        others = {server.get("hostId") for server in servers if server.get("zoneName") != zone}
        every_host = {integer(server.get("hostId")) for server in own}
        known_hosts = {host for host in every_host if host is not None}
        hosts = known_hosts - others
        return cls(
            found.get("id"),
            zone,
            owner,
            tuple((server["id"], address_of(server, "ip", "port")) for server in own if integer(server.get("id"))),
            tuple(sorted(hosts)),
            all(server.get("hostId") in hosts for server in own),
            tuple(sorted(known_hosts)) if None not in every_host else (),
            other_hosts(servers, hosts),
            _observe_zone(zone, record, servers),
        )

    @property
    def whole_key(self) -> MemberKey:
        """Itself."""
        return MemberKey(self.cluster.identity, self.kind, self.id, self.name)

    @property
    def label(self) -> str:
        """As in ``zone zone1 of cluster orders (id 1)``."""
        return f"zone {self.name} of {self.cluster.label}"

    def result(self) -> dict[str, Any]:
        """Kind, id, name and the cluster."""
        return self.cluster.part(self.kind, self.id, self.name)

    def observe(self, api: OcpApi) -> Observation:
        """Its status and its servers."""
        found = self.cluster.read(api)
        found = {**found, "zones": records(found.get("zones")) or api.zones(self.cluster.id)}
        observed = _observe_zone(self.name, found, servers_of(api, found, self.cluster.id))
        there = {member.name for member in observed.members}
        is_whole = there.issuperset(address for _number, address in self.servers)
        return replace(observed, is_there=observed.is_there and is_whole)

    def command_for(self, member: str) -> str:
        """That of the server."""
        return server_command(self.cluster.id, member)

    def may_be_of(self, task: Record) -> bool:
        """Whether a task may be a restart of this zone."""
        if not self.cluster.may_be_of_part(task, self.task_name):
            return False
        if zones := shown_zones(task):
            # Its servers may have changed since they were read.
            return self.name in zones
        mine = [number for number, _address in self.servers]
        is_elsewhere = names_only_others(shown_hosts(task), self.every_host)
        return not (is_elsewhere or names_only_others(shown_servers(task), mine))

    def touching(self, api: OcpApi, listed: list[Record], **query: Any) -> list[TaskOnTarget]:
        """Restarts of the zone, its cluster and its servers, and other work that names the zone or such a server.

        A restart counts unless it is known to be of another zone, or of a server in one.
        """
        tasks, on_host = tasks_on_hosts(api, self.cluster.id, self.hosts, self.other_hosts, listed, **query)
        return [TaskOnTarget(task, restarts) for task in tasks for restarts in self._restarted_by(task, on_host)]

    def _restarted_by(self, task: Record, on_host: set[Any] | None) -> Iterator[frozenset[str] | None]:
        """Yield what the task restarts of the zone, see ``TaskOnTarget``; nothing if the task is of another zone."""
        name, servers, zones = kind_of(task.get("name")), tag_values(task, "serverId"), tag_values(task, "zoneName")
        known_here = on_host is not None and task.get("id") in on_host
        if name == CLUSTER_RESTART or (name == ZONE_RESTART and self.name in zones):
            yield None
        elif name == ZONE_RESTART and not zones:
            yield None if known_here else frozenset()
        elif name == SERVER_RESTART:
            restarted = frozenset(address for number, address in self.servers if number in servers)
            if restarted or (not servers and (known_here or on_host is None or not self.alone)):
                yield restarted
        elif is_other_work(task) and (
            self.name in zones or any(number in servers for number, _address in self.servers) or may_be_of_whole(task)
        ):
            yield frozenset()

    def restart(self, api: OcpApi, _members: frozenset[str]) -> ApiResponse:
        """Restart all servers of the zone."""
        return api.restart_zone(self.cluster.id, self.name)


def _observe_zone(zone: str, cluster: Record, all_servers: list[Record]) -> Observation:
    shown = next((found for found in records(cluster.get("zones")) if found.get("name") == zone), None)
    found = shown or {}
    own = [server for server in all_servers if server.get("zoneName") == zone]
    members = tuple(member_of(server) for server in own)
    names_operations = names_every_operation([found, *own], siblings=all_servers, related=[cluster])
    status = found.get("status")
    placed = placed_servers(cluster, all_servers)
    return Observation(
        status,
        members,
        operated_by(found),
        names_operations,
        database_serves(status),
        placed,
        ClusterRecords(cluster, all_servers),
        is_there=shown is not None,
    )
