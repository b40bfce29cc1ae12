# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is read about the tenants of a cluster: zones, arbitration services, units; what replaces missing tenants."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from .._base.errors import ServiceError
from .._base.parsing import Record, integer, records
from .._base.text import join_names, state_words
from .._journal.rows import MemberKey
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._ocp.unknown_path import if_shown
from .._targets.lookup import address_of
from .._targets.operating_tasks import operated_by, tag_values
from .._targets.serving import ACTIVE, database_may_serve, database_serves, is_in_flight, is_stopped
from .._targets.target import PlacedServer
from .._targets.task_names import ARBITRATION_FILTER, ARBITRATION_RESTART, is_named
from .locality import leaders_of, type_leads, type_votes, voters_of, zones_in
from .voters import UNKNOWN_ARBITER, Arbiter, Replica, Tenant

Found = TypeVar("Found")

# Every cluster has this tenant; a list without it is incomplete.
SYS = "sys"
ARBITERS = "arbitration services"
DEGRADED = "its log streams are degraded, so at most half of its voters count"


@dataclass
class Layout:
    """The tenants of one cluster as far as they were read, and what was needed to judge them.

    ``warnings`` gets a sentence for what cannot be read; ``reads`` counts what was read.
    """

    api: OcpApi
    cluster_id: int
    warnings: list[str] = field(default_factory=list)
    _tenants: list[Record] | None = None
    # What was needed besides, by what it is: how it is read, and what was found.
    _more: dict[str, Callable[[], object]] = field(default_factory=dict)
    _found: dict[str, Any] = field(default_factory=dict)
    _is_empty: bool = False
    reads: int = 0

    @property
    def requests(self) -> int:
        """How many requests it takes to read all of it anew."""
        return 1 + len(self._more)

    def read_anew(self) -> None:
        """Read the tenants, and what was needed besides so far. Raises a ServiceError if that failed for now."""
        self._tenants, self._found = None, {}
        self.read()
        for what, read in list(self._more.items()):
            self._needed(what, read)

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
        zones = _of_zones(placed)
        read = [self._somewhere(by_locality(record), zones) for record in self.read()]
        if any(tenant.name == SYS for tenant in read):
            return read
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

    def _somewhere(self, tenant: Tenant, zones: Tenant) -> Tenant:
        """The tenant as it is. If OCP shows no zone of it, with the voters of ``zones``: one in each zone."""
        if tenant.replicas:
            return tenant
        self._warn(
            f"The service does not show in which zones of cluster {self.cluster_id} tenant {tenant.name} is. So more "
            "than half of its zones have to stay up."
        )
        return replace(tenant, replicas=zones.replicas)

    def _shows_no_tenant(self, is_listed: bool) -> bool:
        """Whether the cluster reports zero tenants; if it reports no number, whether an empty list could be read."""
        count = integer(self.api.cluster(self.cluster_id).get("tenantCount"))
        return is_listed if count is None else count == 0

    def with_arbiters(
        self, tenants: Iterable[Tenant], taken: int | None, own: frozenset[int] = frozenset()
    ) -> list[Tenant]:
        """The tenants with their arbitration services; ``taken`` would be restarted, ``own`` already are.

        Where these cannot be read, one may help before the restart, and none helps after it.
        """
        services = self._needed(ARBITERS, self.api.arbitration_services)
        if services is None:
            return [replace(tenant, arbiter=UNKNOWN_ARBITER) for tenant in tenants]
        at_work = self._arbiters_at_work() if services and taken is None else {}
        tenants, ids = list(tenants), self._ids()
        known: set[str | int] = {*(tenant.name for tenant in tenants), *ids, *ids.values()}
        found = [_served(service, self.cluster_id, taken, own, at_work, known) for service in services]
        return [replace(tenant, arbiter=_arbiter_for(tenant, ids.get(tenant.name), found)) for tenant in tenants]

    def _arbiters_at_work(self) -> dict[int | None, str]:
        """The ids of the arbitration services that a task restarts, each with its name; None for one not shown.

        The status of a service may not show yet what has begun.
        """
        tasks = self._needed(f"tasks of {ARBITERS}", lambda: self.api.tasks(name=ARBITRATION_FILTER)) or []
        found: dict[int | None, str] = {}
        for record in tasks:
            task = Task.from_api(record)
            if is_named(record, ARBITRATION_RESTART) and not task.finished:
                named = tag_values(record, "arbitrationServiceId") or {None}
                found.update(dict.fromkeys(named, f"task {task.label}"))
        return found

    @property
    def arbiter_keys(self) -> list[MemberKey]:
        """What the arbitration services that were read are called in the journal."""
        services = self._found.get(ARBITERS) or []
        if not services:
            return []
        from .._targets.arbitration import arbiter_key

        return [arbiter_key(integer(one.get("id")), address_of(one, "svrIp", "svrPort")) for one in services]

    def with_units(self, tenants: Iterable[Tenant], placed: Iterable[PlacedServer]) -> list[Tenant]:
        """The tenants with those of the servers that have a part of them, where their units can be read."""
        names = {server.id: server.member.name for server in placed}
        return [self._with_units(tenant, names) for tenant in tenants]

    def _with_units(self, tenant: Tenant, names: Mapping[int | None, str]) -> Tenant:
        if tenant.stands_for_all or tenant.name not in self._ids():
            return tenant
        detail = self._needed(f"the units of tenant {tenant.name}", lambda: self._detail(tenant.name))
        return _by_units(tenant, detail or {}, names)

    def _detail(self, tenant: str) -> Record:
        """The record of a tenant; an empty one if it was dropped meanwhile."""
        number = self._ids().get(tenant)
        return {} if number is None else self.api.tenant(self.cluster_id, number)

    def _ids(self) -> Mapping[str, int]:
        numbers = ((str(one.get("name")), integer(one.get("id"))) for one in self._tenants or [])
        return {name: number for name, number in numbers if number is not None}

    def _readable(self, what: str, read: Callable[[], Found]) -> Found | None:
        """What ``read`` gives; None with a warning if the service has none of it, or not for this user."""

        def warn(error: ServiceError) -> None:
            self._warn(f"Before the restart {what} of cluster {self.cluster_id} cannot be read: {error.what}")

        self.reads += 1
        return if_shown(read, warn)

    def _needed(self, what: str, read: Callable[[], Found]) -> Found | None:
        """The same, once; from now on it is read with the tenants."""
        self._more[what] = read
        if what not in self._found:
            self._found[what] = self._readable(what, read)
        found: Found | None = self._found[what]
        return found

    def _warn(self, words: str) -> None:
        if words not in self.warnings:
            self.warnings.append(words)


def by_locality(record: Record) -> Tenant:
    locality = record.get("locality")
    voters, leaders = voters_of(locality), leaders_of(locality)
    if voters is None or leaders is None:
        voters = leaders = zones_in(record.get("zoneList"))
    replicas = (Replica(zone, votes, leads=leaders[zone]) for zone, votes in voters.items())
    return Tenant(str(record.get("name")), tuple(replicas))


def _of_zones(placed: Iterable[PlacedServer]) -> Tenant:
    zones = dict.fromkeys(server.zone for server in placed if server.zone is not None)
    return Tenant("", tuple(map(Replica, zones)), stands_for_all=True)


def _by_units(tenant: Tenant, detail: Record, names: Mapping[int | None, str]) -> Tenant:
    """The same with the servers of each replica; a type that the locality does not have is that of the zone."""
    zones = {str(zone.get("name")).casefold(): zone for zone in records(detail.get("zones"))}
    replicas = []
    for replica in tenant.replicas:
        zone = zones.get(replica.zone.casefold(), {})
        units = records(zone.get("units"))
        is_placed = all(_is_placed(unit, names) for unit in units)
        servers = frozenset(_server_of(unit, names) for unit in units) if is_placed else None
        kind = str(zone.get("replicaType"))
        votes = replica.votes if replica.votes is not None else type_votes(kind)
        leads = replica.leads if replica.leads is not None else type_leads(kind)
        replicas.append(replace(replica, votes=votes, servers=servers or None, leads=leads))
    return replace(tenant, replicas=tuple(replicas))


def _is_placed(unit: Record, names: Mapping[int | None, str]) -> bool:
    """Whether it is known on which server a unit is: that server is shown, and the unit does not move, come or go.

    Any other unit may be on each server of its zone.
    """
    is_shown = integer(unit.get("serverId")) in names or bool(unit.get("serverIp") and integer(unit.get("serverPort")))
    return is_shown and str(unit.get("status") or ACTIVE).upper() == ACTIVE


def _server_of(unit: Record, names: Mapping[int | None, str]) -> str:
    """The name of the server of a unit; for a server that the cluster does not show, none of its names."""
    shown = address_of(unit, "serverIp", "serverPort")
    return names.get(integer(unit.get("serverId")), shown)


@dataclass(frozen=True)
class _Served:
    """An arbitration service: the tenants that it serves in one cluster, and those with degraded log streams.

    ``is_there``: it serves some of the cluster, or may. ``is_vague``: which tenants these are is not shown, or not of
    all; ``is_degraded``: one of those that are not known has degraded log streams.
    """

    arbiter: Arbiter
    tenants: frozenset[str | int | None]
    degraded: frozenset[str | int | None]
    is_there: bool
    is_vague: bool
    is_degraded: bool


def _served(
    service: Record,
    cluster_id: int,
    taken: int | None,
    own: frozenset[int],
    at_work: Mapping[int | None, str],
    known: Collection[str | int | None],
) -> _Served:
    """``known`` are the names and ids of the tenants of the cluster."""
    served = [one for one in records(service.get("clusters")) if _id_of(one, "cluster") in (cluster_id, None)]
    tenants = [tenant for cluster in served for tenant in records(cluster.get("tenants"))]
    number, status = service.get("id"), service.get("status")
    named = operated_by(service)
    task = at_work.get(number) or at_work.get(None) or (None if named is None else f"task {named}")
    in_flight = is_in_flight(status) or number in own or task is not None
    may_serve = in_flight or database_may_serve(status)
    stays = database_serves(status) is not False and not in_flight
    shown = state_words(status)
    state = "being restarted by this controller" if number in own else f"{shown} ({task})" if task else shown
    address = address_of(service, "svrIp", "svrPort")
    words = "" if stays else f"arbitration service {address} is {state}"
    stopped = address if is_stopped(status) and not in_flight else ""
    arbiter = Arbiter(may_serve, stays, taken=number == taken and may_serve, words=words, stopped=stopped)
    degraded = [tenant for tenant in tenants if tenant.get("degradedLsIdList")]
    is_vague = any(_id_of(one, "cluster") is None or one.get("tenants") is None for one in served)
    keys, degraded_keys = frozenset(map(_key_of, tenants)), frozenset(map(_key_of, degraded))
    return _Served(
        arbiter,
        keys,
        degraded_keys,
        is_there=bool(served),
        is_vague=is_vague or not keys.issubset(known),
        is_degraded=not degraded_keys.issubset(known),
    )


def _arbiter_for(tenant: Tenant, tenant_id: int | None, services: Sequence[_Served]) -> Arbiter | None:
    """The arbitration service of a tenant; more than one count as one, at its worst."""
    keys = {tenant.name, tenant_id} - {None}
    named = [served for served in services if keys & served.tenants]
    used = named or [served for served in services if served.is_vague or (tenant.stands_for_all and served.is_there)]
    if not used:
        return None
    is_degraded = any(
        served.is_degraded or (served.degraded if tenant.stands_for_all else keys & served.degraded) for served in used
    )
    arbiters = [served.arbiter for served in used]
    return Arbiter(
        may_serve=any(arbiter.may_serve for arbiter in arbiters),
        stays=all(arbiter.stays for arbiter in arbiters),
        taken=any(arbiter.taken for arbiter in arbiters),
        degraded=is_degraded,
        words=next((arbiter.words for arbiter in arbiters if arbiter.words), DEGRADED if is_degraded else ""),
        uncertain=not named,
        stopped=next((arbiter.stopped for arbiter in arbiters if arbiter.stopped), ""),
    )


def _key_of(tenant: Record) -> str | int | None:
    """The name of a tenant, or else its id, which may be of another kind."""
    return tenant.get("tenantName") or tenant.get("name") or _id_of(tenant, "tenant")


def _id_of(one: Record, kind: str) -> int | None:
    number = integer(one.get(f"{kind}Id"))
    return integer(one.get("id")) if number is None else number
