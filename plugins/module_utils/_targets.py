# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What can be restarted: found by name or id, observed before and after, restarted by its own call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from ._api import OcpApi
from ._errors import NotFound, OptionError, TargetError
from ._http import Answer
from ._shapes import Record, instant, integer, records

NAMED_AT_MOST = 10


@dataclass(frozen=True)
class Member:
    """One part of a target that restarts, with what the service shows of its last start; None where it shows none."""

    name: str
    status: str | None
    start_time: str | None
    pids: dict[str, int] | None


@dataclass(frozen=True)
class Observation:
    """A target at one moment, as ``before`` and ``after`` of a result show it."""

    status: str | None
    members: tuple[Member, ...]

    def result(self) -> dict[str, Any]:
        """As registered facts."""
        return {"status": self.status, "members": [asdict(member) for member in self.members]}


class Target(Protocol):
    """Something found in the service that one call restarts."""

    @property
    def label(self) -> str:
        """What a person calls it, with its id."""

    def result(self) -> dict[str, Any]:
        """Kind, names and ids, as ``target`` of a result shows them."""

    def observe(self, api: OcpApi) -> Observation:
        """Read how it is now."""

    def restart(self, api: OcpApi) -> Answer:
        """Send the POST; the answer's data is a task."""


@dataclass(frozen=True)
class Cluster:
    """A database cluster."""

    id: int
    name: str

    @classmethod
    def find(cls, api: OcpApi, cluster: str) -> Cluster:
        """By id or name; what is all digits is an id first. Raises TargetError."""
        matches = _with_id(api, cluster) if cluster.isdecimal() else []
        named_alike = [] if matches else api.clusters(cluster)
        matches += [record for record in named_alike if record.get("name") == cluster]
        record = _only("cluster", cluster, matches, [str(record.get("name")) for record in named_alike])
        return cls(record["id"], str(record.get("name")))

    @property
    def label(self) -> str:
        """As in ``cluster orders (id 1)``."""
        return f"cluster {self.name} (id {self.id})"

    def result(self) -> dict[str, Any]:
        """Kind, id and name."""
        return {"kind": "cluster", **asdict(self)}

    def observe(self, api: OcpApi) -> Observation:
        """Its status, and each of its servers."""
        servers = tuple(_server_member(record) for record in api.servers(self.id))
        return Observation(api.cluster(self.id).get("status"), servers)

    def restart(self, api: OcpApi) -> Answer:
        """Section 4.2."""
        return api.restart_cluster(self.id)


@dataclass(frozen=True)
class Server:
    """A database server node of a cluster, and how it is to be restarted."""

    id: int
    address: str
    cluster: Cluster
    freeze_server: bool
    force: bool

    @classmethod
    def find(cls, api: OcpApi, cluster: str, server: str, *, freeze_server: bool, force: bool) -> Server:
        """By id (digits) or ``ip:port`` within a cluster; raises TargetError."""
        owner = Cluster.find(api, cluster)
        records = api.servers(owner.id)
        matches = [record for record in records if server in (str(record.get("id")), _address(record, "ip", "port"))]
        known = [_address(record, "ip", "port") for record in records]
        record = _only("server", server, matches, known, f" in {owner.label}")
        return cls(record["id"], _address(record, "ip", "port"), owner, freeze_server, force)

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

    def observe(self, api: OcpApi) -> Observation:
        """The server among those of its cluster; it may have gone since it was found."""
        member = next(
            (_server_member(record) for record in api.servers(self.cluster.id) if record.get("id") == self.id),
            Member(self.address, None, None, None),
        )
        return Observation(member.status, (member,))

    def restart(self, api: OcpApi) -> Answer:
        """Section 4.1."""
        return api.restart_server(self.cluster.id, self.id, freeze_server=self.freeze_server, force=self.force)


@dataclass(frozen=True)
class Agents:
    """The management agents of hosts; ``hosts`` are pairs of host id and inner IP address."""

    hosts: tuple[tuple[int, str], ...]

    @classmethod
    def find(cls, api: OcpApi, hosts: Sequence[str]) -> Agents:
        """By host ids (digits) or inner IP addresses, each host once; raises OptionError or TargetError."""
        if not hosts or not all(hosts):
            raise OptionError(
                "hosts: the list is empty or has an empty entry; name at least one host by id or address."
            )
        records = api.hosts()
        return cls(tuple(dict(find_host("hosts", records, host) for host in hosts).items()))

    @property
    def label(self) -> str:
        """As in ``the agents of 2 hosts: 10.0.0.1, 10.0.0.2``."""
        number = f"{len(self.hosts)} host" + ("s" if len(self.hosts) > 1 else "")
        return f"the agents of {number}: {_listed(address for _id, address in self.hosts)}"

    def result(self) -> dict[str, Any]:
        """Kind, and the hosts with id and name (inner IP address)."""
        return {"kind": "agents", "hosts": [{"id": number, "name": address} for number, address in self.hosts]}

    def observe(self, api: OcpApi) -> Observation:
        """Each agent with the pids of its processes; the status is the one they share, else None."""
        members = tuple(_agent_member(address, api.host_agent(number)) for number, address in self.hosts)
        statuses = {member.status for member in members}
        return Observation(statuses.pop() if len(statuses) == 1 else None, members)

    def restart(self, api: OcpApi) -> Answer:
        """Section 4.3."""
        return api.restart_agents([number for number, _address in self.hosts])


@dataclass(frozen=True)
class ArbitrationService:
    """An arbitration service."""

    id: int
    address: str

    @classmethod
    def find(cls, api: OcpApi, arbitration_service: str) -> ArbitrationService:
        """By id (digits) or ``ip:port``; raises TargetError."""
        records = api.arbitration_services()
        known = [_address(record, "svrIp", "svrPort") for record in records]
        matches = [
            record
            for record, address in zip(records, known, strict=True)
            if arbitration_service in (str(record.get("id")), address)
        ]
        record = _only("arbitration_service", arbitration_service, matches, known)
        return cls(record["id"], _address(record, "svrIp", "svrPort"))

    @property
    def label(self) -> str:
        """As in ``arbitration service 10.0.0.10:2888 (id 1)``."""
        return f"arbitration service {self.address} (id {self.id})"

    def result(self) -> dict[str, Any]:
        """Kind, id and name (its address)."""
        return {"kind": "arbitration_service", "id": self.id, "name": self.address}

    def observe(self, api: OcpApi) -> Observation:
        """Its status; the service shows no start time of it."""
        status = api.arbitration_service(self.id).get("status")
        return Observation(status, (Member(self.address, status, None, None),))

    def restart(self, api: OcpApi) -> Answer:
        """Section 4.4."""
        return api.restart_arbitration_service(self.id)


def find_host(option: str, records: list[Record], host: str) -> tuple[int, str]:
    """Id and inner IP address of the host among ``records`` with this id (digits) or address; raises TargetError."""
    known = [str(record.get("innerIpAddress")) for record in records]
    matches = [record for record in records if host in (str(record.get("id")), record.get("innerIpAddress"))]
    record = _only(option, host, matches, known)
    return record["id"], str(record.get("innerIpAddress"))


def _with_id(api: OcpApi, cluster: str) -> list[Record]:
    try:
        return [api.cluster(int(cluster))]
    except NotFound:
        return []


def _server_member(record: Record) -> Member:
    start_time = record.get("startTime")
    return Member(
        _address(record, "ip", "port"), record.get("status"), start_time if instant(start_time) else None, None
    )


def _agent_member(name: str, record: Record) -> Member:
    pids = {str(process.get("alias")): integer(process.get("pid")) for process in records(record.get("processes"))}
    known = {alias: pid for alias, pid in pids.items() if pid is not None}
    return Member(name, record.get("status"), None, known or None)


def _address(record: Record, ip: str, port: str) -> str:
    host = str(record.get(ip))
    return f"[{host}]:{record.get(port)}" if ":" in host else f"{host}:{record.get(port)}"


def _only(option: str, value: str, matches: list[Record], known: Iterable[str], where: str = "") -> Record:
    if len(matches) > 1:
        ids = _listed(str(record.get("id")) for record in matches)
        raise TargetError(f"{option}: {value} is the name of {len(matches)}{where}; give one of the ids {ids} instead.")
    if not matches:
        there = _listed(known)
        hint = f"; to choose from: {there}" if there else ""
        raise TargetError(f"{option}: {value} matches nothing{where}{hint}. Check the name or id.")
    if integer(matches[0].get("id")) is None:
        raise TargetError(f"{option}: the service tells no id of {value}{where}. Check the version of the OCP.")
    return matches[0]


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - NAMED_AT_MOST} more" if len(every) > NAMED_AT_MOST else ""
    return ", ".join(every[:NAMED_AT_MOST]) + more
