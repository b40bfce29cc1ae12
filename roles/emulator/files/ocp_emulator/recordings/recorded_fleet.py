# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fleet that a recording shows: clusters, zones, servers, hosts, tenants and arbitration services.

Users and access keys are the default ones. Left out are zones without servers, clusters without zones, and values that
the emulator does not have, such as a locality that it cannot read.
"""

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import ValidationError

from ocp_emulator.fleet.entities import Fleet
from ocp_emulator.fleet.fleet_file import FleetError, FleetFile, TenantStatus
from ocp_emulator.fleet.locality import parse_locality
from ocp_emulator.fleet.resolve_fleet import resolve
from ocp_emulator.recordings.recording_file import Record, Recording, RecordingError

CLUSTERS = "/api/v2/ob/clusters"
HOSTS = "/api/v2/compute/hosts"
SERVICES = "/api/v2/arbitration/services"


def recorded_fleet(recording: Recording) -> Fleet:
    """The fleet. Raises RecordingError where the answers contradict each other."""
    services = recording.records(SERVICES)
    clusters = [found for each in clusters_of(recording) if (found := _cluster(recording, each, services))]
    document = {
        "clusters": clusters,
        "hosts": _hosts(recording, clusters, services),
        "arbitration_services": [
            _given(id=each.get("id"), ip=each.get("svrIp"), port=each.get("svrPort"), version=each.get("version"))
            for each in services
        ],
    }
    for cluster in clusters:
        for zone in cluster["zones"]:
            for server in zone["servers"]:
                del server["host_id"]
    try:
        return resolve(FleetFile.model_validate(document))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RecordingError(f"the fleet of its answers is not valid, {where}: {first['msg']}") from error
    except FleetError as error:
        raise RecordingError(f"the fleet of its answers is not valid, {error}") from error


def clusters_of(recording: Recording) -> list[Record]:
    """The clusters, each with its own answer over the one of the list."""
    return [{**each, **recording.record(f"{CLUSTERS}/{each.get('id')}")} for each in recording.records(CLUSTERS)]


def zones_of(recording: Recording, cluster: Record) -> list[Record]:
    """The zones of a cluster, each with its own answer over the one within the cluster."""
    listed = {each.get("name"): each for each in recording.records(f"{CLUSTERS}/{cluster.get('id')}/zones")}
    inner = {each.get("name"): each for each in _list(cluster.get("zones"))}
    return [{**inner.get(name, {}), **listed.get(name, {})} for name in dict.fromkeys((*inner, *listed))]


def servers_of(recording: Recording, cluster: Record) -> list[Record]:
    """The servers of a cluster, each with the name of its zone."""
    found = {each.get("id"): each for each in recording.records(f"{CLUSTERS}/{cluster.get('id')}/servers")}
    for zone in zones_of(recording, cluster):
        for server in _list(zone.get("servers")):
            found.setdefault(server.get("id"), {"zoneName": zone.get("name"), **server})
    return list(found.values())


def _cluster(recording: Recording, cluster: Record, services: list[Record]) -> Record | None:
    servers = servers_of(recording, cluster)
    zones = [_zone(each, servers) for each in zones_of(recording, cluster)]
    filled = [each for each in zones if each["servers"]]
    if not filled:
        return None
    service = next((each for each in services if _serves(each, cluster)), None)
    return _given(
        id=cluster.get("id"),
        name=cluster.get("name"),
        ob_cluster_id=cluster.get("obClusterId"),
        type=cluster.get("type") if cluster.get("type") in ("PRIMARY", "STANDBY") else None,
        version=cluster.get("obVersion"),
        zones=filled,
        tenants=list(_tenants(recording, cluster, {each["name"]: each for each in filled})),
        arbitration_service=service and service.get("svrIp"),
    )


def _serves(service: Record, cluster: Record) -> bool:
    return any(each.get("id", each.get("clusterId")) == cluster.get("id") for each in _list(service.get("clusters")))


def _zone(zone: Record, servers: list[Record]) -> Record:
    own = [each for each in servers if each.get("zoneName") == zone.get("name")]
    return _given(
        id=zone.get("id"),
        name=zone.get("name"),
        region=zone.get("regionName"),
        idc=zone.get("idcName"),
        servers=[
            _given(
                id=each.get("id"),
                ip=each.get("ip"),
                port=each.get("port"),
                sql_port=each.get("sqlPort"),
                version=each.get("version"),
            )
            | {"host_id": each.get("hostId")}
            for each in own
        ],
    )


def _hosts(recording: Recording, clusters: list[Record], services: list[Record]) -> list[Record]:
    """The hosts that are listed, and those that only their servers name. One address is one host here."""
    found: dict[Any, Record] = {}
    for host in recording.records(HOSTS):
        entry = _given(id=host.get("id"), ip=host.get("innerIpAddress"), name=host.get("name"))
        found.setdefault(host.get("innerIpAddress"), entry)
    servers = [server for each in clusters for zone in each["zones"] for server in zone["servers"]]
    places = [(each.get("ip"), each["host_id"]) for each in servers]
    places += [(each.get("svrIp"), each.get("hostId")) for each in services]
    taken = {each.get("id") for each in found.values()}
    for address, number in places:
        if address not in found and number not in taken:
            found[address] = _given(id=number, ip=address)
            taken.add(number)
    return list(found.values())


def _tenants(recording: Recording, cluster: Record, zones: dict[str, Record]) -> Iterator[Record]:
    number = cluster.get("id")
    for each in recording.records(f"{CLUSTERS}/{number}/tenants"):
        if each.get("clusterId", number) != number:
            continue
        detail = tenant_detail(recording, number, each.get("id"))
        tenant = {**each, **detail}
        addresses = {server.get("ip") for zone in zones.values() for server in zone["servers"]}
        units = [unit.get("serverIp") for zone in _list(detail.get("zones")) for unit in _list(zone.get("units"))]
        yield _given(
            id=tenant.get("id"),
            name=tenant.get("name"),
            mode=tenant.get("mode") if tenant.get("mode") in ("MYSQL", "ORACLE") else None,
            locality=_locality(tenant.get("locality"), zones),
            primary_zone=tenant.get("primaryZone"),
            status=tenant.get("status") if tenant.get("status") in get_args(TenantStatus) else None,
            locked=tenant.get("locked"),
            readonly=tenant.get("readonly"),
            units=(units or None) if set(units) <= addresses else None,
        )


def tenant_detail(recording: Recording, cluster: object, tenant: object) -> Record:
    """The own answer of a tenant, below either of its paths."""
    paths = (f"/api/v2/ob/{name}/{cluster}/tenants/{tenant}" for name in ("clusters", "cluster"))
    return next((found for path in paths if (found := recording.record(path))), {})


def _locality(text: object, zones: dict[str, Record]) -> str | None:
    try:
        replicas = parse_locality(str(text))
    except ValueError:
        return None
    return str(text) if all(each.zone in zones for each in replicas) else None


def _given(**fields: object) -> Record:
    return {name: value for name, value in fields.items() if value is not None}


def _list(value: object) -> list[Record]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
