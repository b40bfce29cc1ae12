# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Zones of database clusters, as targets of a restart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ._api import OcpApi
from ._databases import Cluster, find_cluster, member_of, servers_of
from ._http import Answer
from ._shapes import Record, integer, records
from ._targets import (
    CLUSTER_RESTART,
    SERVER_RESTART,
    ZONE_RESTART,
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
class Zone(Target):
    """A zone of a cluster.

    ``servers`` are pairs of server id and address. ``hosts`` are the ids of the hosts on which the cluster has no
    servers but those of this zone.
    """

    id: int
    name: str
    cluster: Cluster
    servers: tuple[tuple[int, str], ...]
    hosts: tuple[int, ...]
    found: Observation | None = field(default=None, compare=False)

    task_name = ZONE_RESTART
    shows_start = True

    @classmethod
    def find(cls, api: OcpApi, cluster: str, zone: str) -> Zone:
        """By name within a cluster; raises TargetError."""
        record = find_cluster(api, cluster)
        owner = Cluster.from_api(record)
        zones = records(record.get("zones"))
        matches = [found for found in zones if found.get("name") == zone]
        found = only("zone", zone, matches, [str(found.get("name")) for found in zones], f" in {owner.label}")
        servers = servers_of(api, record, owner.id)
        own = [server for server in servers if server.get("zoneName") == zone]
        others = {server.get("hostId") for server in servers if server.get("zoneName") != zone}
        hosts = {host for server in own if (host := integer(server.get("hostId"))) is not None and host not in others}
        return cls(
            found["id"],
            zone,
            owner,
            tuple((server["id"], address_of(server, "ip", "port")) for server in own if integer(server.get("id"))),
            tuple(sorted(hosts)),
            _observation(zone, record, servers),
        )

    @property
    def label(self) -> str:
        """As in ``zone zone1 of cluster orders (id 1)``."""
        return f"zone {self.name} of {self.cluster.label}"

    def result(self) -> dict[str, Any]:
        """Kind, id, name and the cluster."""
        return self.cluster.part("zone", self.id, self.name)

    def observe(self, api: OcpApi) -> Observation:
        """Its status, and each of its servers."""
        found = api.cluster(self.cluster.id)
        return _observation(self.name, found, servers_of(api, found, self.cluster.id))

    def tasks(self, api: OcpApi, **query: Any) -> list[TaskOnTarget]:
        """Restarts of the zone, of its cluster, and of its servers.

        Where tasks have no tags, a restart of a zone that is not known to be of another one touches this one.
        """
        found = api.tasks(clusterId=self.cluster.id, **query)
        untagged = any(task.get("name") in (ZONE_RESTART, SERVER_RESTART) and not tags_of(task) for task in found)
        # Without tags only the filter by host tells the zones of a cluster apart.
        on_hosts = {
            task.get("id")
            for host in (self.hosts if untagged else ())
            for task in api.tasks(clusterId=self.cluster.id, hostId=host, **query)
        }
        return [TaskOnTarget(task, restarts) for task in found for restarts in self._restarted_by(task, on_hosts)]

    def _restarted_by(self, task: Record, on_hosts: set[Any]) -> Iterator[frozenset[str] | None]:
        """What the task restarts of the zone, see ``TaskOnTarget``; nothing where it does not touch it."""
        name, untagged, here = task.get("name"), not tags_of(task), task.get("id") in on_hosts
        if name == CLUSTER_RESTART:
            yield None
        elif name == ZONE_RESTART:
            if here or any(tag.get("zoneName") == self.name for tag in tags_of(task)):
                yield None
            elif untagged:
                yield frozenset()
        elif name == SERVER_RESTART:
            restarted = frozenset(address for number, address in self.servers if tagged(task, "serverId", number))
            if restarted or here:
                yield restarted

    def restart(self, api: OcpApi, _members: frozenset[str]) -> Answer:
        """The restart of section 4.5 of ocp-api.md; always all servers of the zone."""
        return api.restart_zone(self.cluster.id, self.name)


def _observation(zone: str, cluster: Record, all_servers: list[Record]) -> Observation:
    found = next((found for found in records(cluster.get("zones")) if found.get("name") == zone), {})
    members = tuple(member_of(server) for server in all_servers if server.get("zoneName") == zone)
    told = tells_operations([cluster, found, *all_servers])
    return Observation(found.get("status"), members, operated_by(found), told)
