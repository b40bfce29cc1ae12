# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A database cluster as a target: how it is found, its servers, which tasks restart it or a part of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._base.cli_hints import server_command
from .._base.parsing import Record, instant, integer, records
from .._journal.rows import MemberKey
from .._ocp.endpoints import OcpApi
from .._ocp.envelope import ApiResponse
from .._ocp.records import servers_in_record, servers_there
from .lookup import address_of, find_cluster
from .operating_tasks import (
    is_other_work,
    may_be_of_whole,
    may_restart_servers,
    names_every_operation,
    operated_by,
    restarted_parts,
    shown_cluster,
    tag_values,
    tasks_of_cluster,
)
from .serving import database_serves
from .target import ClusterRecords, Member, Observation, PlacedServer, Target, TaskOnTarget, check_identity
from .task_names import CLUSTER_RESTART, DATABASE_RESTARTS, is_other_kind, kind_of


@dataclass(frozen=True)
class Cluster(Target):
    """A database cluster."""

    id: int
    name: str

    kind = "cluster"
    is_whole_cluster = True
    task_name = CLUSTER_RESTART
    shows_start = True

    first_observation: Observation | None = field(default=None, compare=False)

    @classmethod
    def find(cls, api: OcpApi, cluster: str) -> Cluster:
        """Find it by id or name, with its servers; digits are tried as an id first. Raises TargetError."""
        found = find_cluster(api, cluster)
        return replace(
            cls.from_api(found), first_observation=_observe_cluster(found, servers_of(api, found, found["id"]))
        )

    @classmethod
    def from_api(cls, found: Record) -> Cluster:
        """Read it from its own record, with or without servers."""
        servers = servers_in_record(found)
        return cls(found["id"], str(found.get("name")), _observe_cluster(found, servers) if servers else None)

    @property
    def label(self) -> str:
        """As in ``cluster orders (id 1)``."""
        return f"cluster {self.name} (id {self.id})"

    def result(self) -> dict[str, Any]:
        """Kind, id and name."""
        return {"kind": self.kind, "id": self.id, "name": self.name}

    @property
    def identity(self) -> str:
        """What it is called in the journal."""
        return identity_of({"name": self.name, "id": self.id})

    @property
    def whole_key(self) -> MemberKey:
        """Itself."""
        return MemberKey(self.identity, self.kind, self.id, self.name)

    @property
    def locks(self) -> Sequence[str]:
        """The whole cluster."""
        return (f"cluster {self.id}",)

    def member_keys(self, observed: Observation) -> dict[str, MemberKey]:
        """Its servers."""
        return keys_of_servers(self, observed)

    def command_for(self, member: str) -> str:
        """That of the server."""
        return server_command(self.id, member)

    def may_restart_part(self, task: Record) -> bool:
        """Whether a task may have restarted servers: a restart of whatever kind, or other work that starts some."""
        return may_restart_servers(task)

    def may_be_of(self, task: Record) -> bool:
        """Whether a task may be a restart of the whole cluster."""
        return self.may_be_of_part(task, self.task_name)

    def may_be_of_part(self, task: Record, name: str) -> bool:
        """Whether a task may be a restart of the kind ``name`` of a part of it."""
        return not is_other_kind(task, name) and shown_cluster(task) in (None, self.id)

    def read(self, api: OcpApi) -> Record:
        """Its record. Raises TargetError if that is of another cluster."""
        found = api.cluster(self.id)
        check_identity("cluster", self.label, self.name, found.get("name"))
        return found

    def part(self, kind: str, part_id: int | None, name: str) -> dict[str, Any]:
        """Kind, id and name of a part of the cluster, and the cluster."""
        return {"kind": kind, "id": part_id, "name": name, "cluster_id": self.id, "cluster_name": self.name}

    def observe(self, api: OcpApi) -> Observation:
        """Its status and its servers."""
        found = self.read(api)
        observed = _observe_cluster(found, servers_of(api, found, self.id))
        there = {member.name for member in observed.members}
        first = self.first_observation
        is_whole = first is None or there.issuperset(member.name for member in first.members)
        return replace(observed, is_there=is_whole)

    @property
    def cluster_id(self) -> int:
        """Its own id."""
        return self.id

    def listed(self, api: OcpApi, **query: Any) -> list[Record]:
        """The tasks of the cluster."""
        return tasks_of_cluster(api, self.id, **query)

    def touching(self, api: OcpApi, listed: list[Record], **_query: Any) -> list[TaskOnTarget]:
        """Restarts of it, its zones and its servers, and other work that names such a part or may be of all."""
        parts = [(task, kind_of(task.get("name")), restarted_parts(task)) for task in listed]
        servers = api.servers(self.id) if any(part for _task, _kind, part in parts) else []
        return [
            TaskOnTarget(task, None)
            if kind == CLUSTER_RESTART
            else TaskOnTarget(task, _addresses(servers, part), of_untold_part=not part)
            for task, kind, part in parts
            if kind in DATABASE_RESTARTS
        ] + [
            TaskOnTarget(task, frozenset())
            for task in listed
            if is_other_work(task) and (_names_a_part(task) or may_be_of_whole(task))
        ]

    def restart(self, api: OcpApi, _members: frozenset[str]) -> ApiResponse:
        """Restart all servers."""
        return api.restart_cluster(self.id)


class PartOfCluster(Target):
    """A server or zone: the tasks on it are among those of its cluster."""

    cluster: Cluster

    def may_restart_part(self, task: Record) -> bool:
        """As of its cluster."""
        return self.cluster.may_restart_part(task)

    @property
    def locks(self) -> Sequence[str]:
        """Its cluster."""
        return self.cluster.locks

    def member_keys(self, observed: Observation) -> dict[str, MemberKey]:
        """Its servers."""
        keys, names = keys_of_servers(self.cluster, observed), {member.name for member in observed.members}
        return {name: key for name, key in keys.items() if name in names}

    def neighbour_keys(self, observed: Observation) -> list[MemberKey]:
        """The other servers of its cluster."""
        mine = self.member_keys(observed)
        return [key for name, key in keys_of_servers(self.cluster, observed).items() if name not in mine]

    @property
    def cluster_id(self) -> int:
        """The id of its cluster."""
        return self.cluster.id

    def listed(self, api: OcpApi, **query: Any) -> list[Record]:
        """The tasks of its cluster."""
        return tasks_of_cluster(api, self.cluster.id, **query)


def keys_of_servers(cluster: Cluster, observed: Observation) -> dict[str, MemberKey]:
    """What the servers of a cluster are called in the journal, by their names."""
    ids = {server.member.name: server.id for server in observed.servers}
    names = [*ids, *(member.name for member in observed.members if member.name not in ids)]
    return {name: MemberKey(cluster.identity, "server", ids.get(name), name) for name in names}


def server_keys(cluster: Record, servers: Sequence[Record]) -> dict[str, MemberKey]:
    """The same by their records."""
    return keys_of_servers(Cluster.from_api(cluster), Observation(None, (), servers=placed_servers(cluster, servers)))


def servers_of(api: OcpApi, cluster: Record, cluster_id: int) -> list[Record]:
    """The servers of the cluster with this record and id."""
    return servers_in_record(cluster) or servers_there(api.servers(cluster_id))


def _names_a_part(task: Record) -> bool:
    return bool(tag_values(task, "serverId") or tag_values(task, "zoneName"))


def _addresses(servers: list[Record], part: set[Any]) -> frozenset[str]:
    """The members that ``part`` names, by the ids of servers or the names of zones."""
    return frozenset(
        address_of(server, "ip", "port") for server in servers if part & {server.get("id"), server.get("zoneName")}
    )


def _observe_cluster(cluster: Record, servers: list[Record]) -> Observation:
    members = tuple(member_of(server) for server in servers)
    names_operations = names_every_operation([cluster, *servers], related=records(cluster.get("zones")))
    status = cluster.get("status")
    placed = placed_servers(cluster, servers)
    return Observation(
        status,
        members,
        operated_by(cluster),
        names_operations,
        database_serves(status),
        placed,
        ClusterRecords(cluster, servers),
    )


def other_hosts(servers: Iterable[Record], own: Collection[int | None]) -> tuple[int, ...]:
    """The ids of the hosts of these servers that are not its ``own``."""
    known = {integer(server.get("hostId")) for server in servers}
    return tuple(sorted(host for host in known if host is not None and host not in own))


def placed_servers(cluster: Record, servers: Sequence[Record]) -> tuple[PlacedServer, ...]:
    """The servers of the cluster with this record, each in its zone."""
    zones = {zone.get("name"): zone for zone in records(cluster.get("zones"))}
    return tuple(
        PlacedServer(
            integer(server.get("id")),
            integer(server.get("hostId")),
            server.get("zoneName"),
            zones.get(server.get("zoneName"), {}).get("status"),
            member_of(server),
            server.get("version"),
            _compaction(zones.get(server.get("zoneName"), {}), cluster),
            instant(server.get("stopTime")),
            zones.get(server.get("zoneName"), {}).get("innerStatus"),
            *idc_and_region(server, zones.get(server.get("zoneName"), {})),
        )
        for server in servers
    )


def idc_and_region(server: Record, zone: Record) -> tuple[str | None, str | None]:
    """Where a server of this zone is, None where that is not shown. Older versions show it with the zone alone."""
    return server.get("idcName") or zone.get("idcName"), server.get("regionName") or zone.get("regionName")


def identity_of(cluster: Record) -> str:
    """What a cluster is called in the journal; never by the address of a service, which may have several."""
    return f"{cluster['name']} {cluster['id']}"


def servers_in_all(api: OcpApi) -> int:
    """How many servers all clusters have that these credentials see."""
    counts = [(cluster["id"], cluster.get("serverCount")) for cluster in api.clusters()]
    return sum(len(api.servers(number)) if count is None else count for number, count in counts)


def _compaction(*places: Record) -> tuple[str, ...]:
    """What the service shows of merges in a zone and its cluster."""
    return tuple(word for place in places if (word := place.get("compactionStatus")))


def member_of(server: Record) -> Member:
    """A server as a member of a target."""
    started = instant(server.get("startTime"))
    return Member(
        address_of(server, "ip", "port"),
        server.get("status"),
        start_time=server.get("startTime") if started else None,
        started=started,
        operated_by=operated_by(server),
        serves=database_serves(server.get("status"), server.get("innerStatus")),
        inner_status=server.get("innerStatus"),
    )
