# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""From the tenants of a fleet file to those of a fleet: ids, replicas, units on servers, the arbitration service."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from ocp_emulator.fleet.entities import ArbitrationService, Cluster, Server, Tenant, Unit
from ocp_emulator.fleet.fleet_file import ClusterEntry, FleetError, TenantEntry
from ocp_emulator.fleet.locality import Replicas, parse_locality

# Far from the ids of clusters, so that nobody confuses them.
FIRST_TENANT_ID = 5_001
_SYS = TenantEntry(name="sys")
_SYS_OB_ID = 1
_FIRST_OB_ID = 1_002
_OB_ID_STEP = 2


@dataclass(frozen=True)
class Place:
    """A cluster, and its servers by the names of its zones."""

    entry: ClusterEntry
    cluster: Cluster
    servers: Mapping[str, Sequence[Server]]

    def entries(self) -> list[TenantEntry]:
        """Its tenants, `sys` first. A cluster that names none has a tenant `app` too."""
        given = [TenantEntry(name="app")] if self.entry.tenants is None else self.entry.tenants
        return [*([] if any(each.name == "sys" for each in given) else [_SYS]), *given]


def resolve_tenants(
    places: Sequence[Place], services: Sequence[ArbitrationService], tenant_ids: Sequence[int]
) -> tuple[tuple[Tenant, ...], tuple[Unit, ...]]:
    """The tenants of all clusters with their units. `tenant_ids` are those of all entries, in their order.

    FleetError for a locality, a unit or an arbitration service that does not fit the cluster.
    """
    ids, unit_ids = iter(tenant_ids), count(1)
    tenants: list[Tenant] = []
    units: list[Unit] = []
    for place in places:
        ob_ids = count(_FIRST_OB_ID, _OB_ID_STEP)
        for entry in place.entries():
            label = f"clusters: tenant {entry.name} of cluster {place.cluster.name}"
            replicas = _replicas(label, entry, place)
            tenant = _tenant(label, entry, place, replicas, services, next(ids), ob_ids)
            tenants.append(tenant)
            units += _units(label, entry, place, tenant, unit_ids)
    return tuple(tenants), tuple(units)


def _replicas(label: str, entry: TenantEntry, place: Place) -> tuple[Replicas, ...]:
    locality = entry.locality or ", ".join(f"FULL{{1}}@{zone}" for zone in place.servers)
    try:
        replicas = parse_locality(locality)
    except ValueError as error:
        raise FleetError(f"{label}: {error}") from None
    for each in replicas:
        if each.zone not in place.servers:
            raise FleetError(f"{label} has replicas in {each.zone!r}, which is not among its zones")
    return replicas


def _tenant(
    label: str,
    entry: TenantEntry,
    place: Place,
    replicas: Sequence[Replicas],
    services: Sequence[ArbitrationService],
    number: int,
    ob_ids: Iterator[int],
) -> Tenant:
    zones = list(dict.fromkeys(each.zone for each in replicas))
    arbitrated = place.entry.arbitration_service is not None if entry.arbitration is None else entry.arbitration
    return Tenant(
        id=number,
        cluster_id=place.cluster.id,
        ob_tenant_id=_SYS_OB_ID if entry.name == "sys" else next(ob_ids),
        name=entry.name,
        mode=entry.mode,
        locality=entry.locality or ", ".join(f"{each.type}{{{each.number}}}@{each.zone}" for each in replicas),
        replicas=tuple(replicas),
        primary_zone=entry.primary_zone or ";".join(zones),
        status=entry.status,
        locked=entry.locked,
        readonly=entry.readonly,
        arbitration_service_id=_service(label, place.entry, services) if arbitrated else None,
    )


def _service(label: str, entry: ClusterEntry, services: Sequence[ArbitrationService]) -> int:
    """The arbitration service of a cluster: the one at its address, or the first of the fleet."""
    wanted = entry.arbitration_service
    found = [service.id for service in services if wanted in (None, service.ip)]
    if not found:
        where = f"at {wanted}" if wanted else "in the fleet"
        raise FleetError(f"{label} has arbitration, and there is no arbitration service {where}")
    return found[0]


def _units(label: str, entry: TenantEntry, place: Place, tenant: Tenant, ids: Iterator[int]) -> list[Unit]:
    """One unit on each server that the entry names; else on each server of the zones, and of `sys` on the first."""
    zones = list(dict.fromkeys(each.zone for each in tenant.replicas))
    if entry.units is None:
        every = slice(1) if entry.name == "sys" else slice(None)
        chosen = [(zone, server) for zone in zones for server in place.servers[zone][every]]
    else:
        chosen = [_place_of_unit(label, address, place, zones) for address in entry.units]
        for zone in zones:
            if zone not in {placed for placed, _server in chosen}:
                raise FleetError(f"{label} has no unit in {zone}")
    return [Unit(next(ids), tenant.id, zone, server.id) for zone, server in chosen]


def _place_of_unit(label: str, address: str, place: Place, zones: Sequence[str]) -> tuple[str, Server]:
    by_address: Mapping[str, tuple[str, Server]] = {
        name: (zone, server)
        for zone in zones
        for server in reversed(place.servers[zone])
        for name in (server.ip, f"{server.ip}:{server.port}")
    }
    if address not in by_address:
        raise FleetError(f"{label} has a unit on {address!r}, which is not a server of its zones")
    return by_address[address]
