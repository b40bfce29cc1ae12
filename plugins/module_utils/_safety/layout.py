# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is read about the tenants of a cluster: zones, arbitration services, units; what replaces missing tenants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from .._base.errors import ServiceError
from .._base.parsing import Record, integer, records
from .._base.text import join_names
from .._ocp.endpoints import OcpApi
from .._ocp.unknown_path import if_shown
from .._targets.lookup import address_of
from .._targets.serving import database_serves, is_in_flight
from .._targets.target import PlacedServer
from .locality import type_votes, voters_of, zones_in
from .voters import Arbiter, Replica, Tenant

Found = TypeVar("Found")

# Every cluster has this tenant; a list without it is incomplete.
SYS = "sys"
DEGRADED = "its log streams are degraded, so at most half of its voters count"


@dataclass
class Layout:
    """The tenants of one cluster as far as they were read.

    ``warnings`` gets a sentence for what cannot be read; ``reads`` counts what was read.
    """

    api: OcpApi
    cluster_id: int
    warnings: list[str] = field(default_factory=list)
    _tenants: list[Record] | None = None
    _detailed: dict[str, Record] = field(default_factory=dict)
    _services: list[Record] | None = None
    _is_empty: bool = False
    reads: int = 0

    def forget(self) -> None:
        """Read all of it anew."""
        self._tenants, self._services, self._detailed = None, None, {}

    def read(self) -> list[Record]:
        """The records of the tenants; they are read once. Raises a ServiceError if that failed for now."""
        if self._tenants is None:
            found = self._readable("the tenants", lambda: self.api.tenants(self.cluster_id))
            self._tenants = [one for one in found or [] if one.get("clusterId") in (None, self.cluster_id)]
            self._is_empty = not self._tenants and self._shows_no_tenant(found is not None)
        return self._tenants

    def tenants(self, placed: Iterable[PlacedServer]) -> list[Tenant]:
        """The tenants by their zones. Where they cannot be read, each zone of the servers has a voter.

        A cluster of one zone and without tenants has none to lose. Raises a ServiceError if reading them failed in
        another way.
        """
        read = [_by_locality(record) for record in self.read()]
        if any(tenant.name == SYS for tenant in read):
            return read
        zones = _of_zones(placed)
        if self._is_empty and len(zones.replicas) == 1:
            self._warn(
                f"Cluster {self.cluster_id} has one zone and, as far as the service shows, no tenant. All of it is "
                "down while that zone restarts."
            )
            return []
        shown = f"{join_names(tenant.name for tenant in read)} alone" if read else "none"
        self._warn(
            f"Of the tenants of cluster {self.cluster_id} the service shows {shown}, not {SYS}. So more than half "
            "of its zones have to stay up."
        )
        return [*read, zones]

    def _shows_no_tenant(self, is_listed: bool) -> bool:
        """Whether the cluster reports zero tenants; if it reports no number, whether an empty list could be read."""
        count = integer(self.api.cluster(self.cluster_id).get("tenantCount"))
        return is_listed if count is None else count == 0

    def with_arbiters(
        self, tenants: Iterable[Tenant], taken: int | None, own: frozenset[int] = frozenset()
    ) -> list[Tenant]:
        """The tenants with their arbitration services; ``taken`` would be restarted, ``own`` already are."""
        if self._services is None:
            services = self._readable("arbitration services", self.api.arbitration_services)
            self._services = services or []
        found = [_served(service, self.cluster_id, taken, own) for service in self._services]
        ids = self._ids()
        return [replace(tenant, arbiter=_arbiter_for(tenant, ids.get(tenant.name), found)) for tenant in tenants]

    def with_units(self, tenants: Iterable[Tenant], placed: Iterable[PlacedServer]) -> list[Tenant]:
        """The tenants with those of the servers that have a part of them, where their units can be read."""
        names = {server.id: server.member.name for server in placed}
        return [self._with_units(tenant, names) for tenant in tenants]

    def _with_units(self, tenant: Tenant, names: Mapping[int | None, str]) -> Tenant:
        number = None if tenant.stands_for_all else self._ids().get(tenant.name)
        if number is None:
            return tenant
        if tenant.name not in self._detailed:
            what = f"the units of tenant {tenant.name}"
            self._detailed[tenant.name] = self._readable(what, lambda: self.api.tenant(self.cluster_id, number)) or {}
        return _by_units(tenant, self._detailed[tenant.name], names)

    def _ids(self) -> Mapping[str, int]:
        numbers = ((str(one.get("name")), integer(one.get("id"))) for one in self._tenants or [])
        return {name: number for name, number in numbers if number is not None}

    def _readable(self, what: str, read: Callable[[], Found]) -> Found | None:
        """What ``read`` gives; None with a warning if the service has none of it, or not for this user."""

        def warn(error: ServiceError) -> None:
            self._warn(f"Before the restart {what} of cluster {self.cluster_id} cannot be read: {error.what}")

        self.reads += 1
        return if_shown(read, warn)

    def _warn(self, words: str) -> None:
        if words not in self.warnings:
            self.warnings.append(words)


def _by_locality(record: Record) -> Tenant:
    voters = voters_of(record.get("locality"))
    if voters is None:
        voters = zones_in(record.get("zoneList"))
    return Tenant(str(record.get("name")), tuple(Replica(zone, votes) for zone, votes in voters.items()))


def _of_zones(placed: Iterable[PlacedServer]) -> Tenant:
    zones = dict.fromkeys(server.zone for server in placed if server.zone is not None)
    return Tenant("", tuple(map(Replica, zones)), stands_for_all=True)


def _by_units(tenant: Tenant, detail: Record, names: Mapping[int | None, str]) -> Tenant:
    """The same with the servers of each replica; a type that the locality does not have is that of the zone."""
    zones = {str(zone.get("name")).casefold(): zone for zone in records(detail.get("zones"))}
    replicas = []
    for replica in tenant.replicas:
        zone = zones.get(replica.zone.casefold(), {})
        servers = frozenset(_server_of(unit, names) for unit in records(zone.get("units")))
        votes = replica.votes if replica.votes is not None else type_votes(str(zone.get("replicaType")))
        replicas.append(replace(replica, votes=votes, servers=servers or None))
    return replace(tenant, replicas=tuple(replicas))


def _server_of(unit: Record, names: Mapping[int | None, str]) -> str:
    """The name of the server of a unit; for a server that the cluster does not show, none of its names."""
    shown = address_of(unit, "serverIp", "serverPort")
    return names.get(integer(unit.get("serverId")), shown)


@dataclass(frozen=True)
class _Served:
    """An arbitration service in one cluster: the tenants that it serves, and those with degraded log streams."""

    arbiter: Arbiter
    tenants: frozenset[str | int | None]
    degraded: frozenset[str | int | None]


def _served(service: Record, cluster_id: int, taken: int | None, own: frozenset[int]) -> _Served:
    served = [one for one in records(service.get("clusters")) if _id_of(one, "cluster") == cluster_id]
    tenants = [tenant for cluster in served for tenant in records(cluster.get("tenants"))]
    number, status = service.get("id"), service.get("status")
    in_flight = is_in_flight(status) or number in own
    may_serve = in_flight or database_serves(status) is not False
    stays = may_serve and not in_flight
    state = "being restarted by this controller" if number in own else status
    words = "" if stays else f"arbitration service {address_of(service, 'svrIp', 'svrPort')} is {state}"
    degraded = [tenant for tenant in tenants if tenant.get("degradedLsIdList")]
    arbiter = Arbiter(may_serve, stays, taken=number == taken and may_serve, words=words)
    return _Served(arbiter, frozenset(map(_key_of, tenants)), frozenset(map(_key_of, degraded)))


def _arbiter_for(tenant: Tenant, tenant_id: int | None, services: Iterable[_Served]) -> Arbiter | None:
    keys = {tenant.name, tenant_id} - {None}
    used = next((served for served in services if keys & served.tenants), None)
    if used is None or tenant.stands_for_all:
        return None
    is_degraded = bool(keys & used.degraded)
    words = used.arbiter.words or (DEGRADED if is_degraded else "")
    return replace(used.arbiter, degraded=is_degraded, words=words)


def _key_of(tenant: Record) -> str | int | None:
    """The name of a tenant, or else its id, which may be of another kind."""
    return tenant.get("tenantName") or tenant.get("name") or _id_of(tenant, "tenant")


def _id_of(one: Record, kind: str) -> int | None:
    number = integer(one.get(f"{kind}Id"))
    return integer(one.get("id")) if number is None else number
