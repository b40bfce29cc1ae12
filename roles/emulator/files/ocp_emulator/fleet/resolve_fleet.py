# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""From the entries of a fleet file to a fleet: ids, hosts, default users and keys, references, duplicates."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from ocp_emulator.base.permissions import Permission
from ocp_emulator.fleet.entities import (
    AccessKey,
    ArbitrationService,
    Cluster,
    Fleet,
    Host,
    ObProxy,
    ObProxyCluster,
    Server,
    Tenant,
    Unit,
    User,
    Zone,
)
from ocp_emulator.fleet.fleet_file import (
    AccessKeyEntry,
    ClusterEntry,
    FleetError,
    FleetFile,
    HostEntry,
    ObProxyEntry,
    ServerEntry,
    UserEntry,
    ZoneEntry,
)
from ocp_emulator.fleet.ob_parameters import PARAMETER_NAMES
from ocp_emulator.fleet.resolve_tenants import FIRST_TENANT_ID, Place, resolve_tenants

_FIRST_OB_CLUSTER_ID = 101

_VIEWER = [
    Permission.TASK_VIEWER,
    Permission.CLUSTER_VIEWER,
    Permission.HOST_VIEWER,
    Permission.AUDIT_VIEWER,
    Permission.ARBITRATION_VIEW,
    Permission.OBPROXY_VIEWER,
    Permission.ALARM_VIEWER,
    Permission.BACKUP_VIEWER,
]
_DEFAULT_USERS = [
    UserEntry(id=100, name="admin", password="ocp-demo-1", permissions=[Permission.ADMIN]),
    UserEntry(id=101, name="viewer", password="ocp-demo-1", permissions=_VIEWER),
]
_DEFAULT_KEYS = [AccessKeyEntry(id="emulator", secret="emulator-secret", user="admin")]


def resolve(file: FleetFile) -> Fleet:
    """Number the entries, derive the hosts, follow the references. FleetError for duplicates and unknown references."""
    _check_unique(file)
    hosts = _hosts(file)
    host_ids = {host.ip: host.id for host in hosts}
    clusters, zones, servers = _clusters(file, host_ids)
    arbitration_services = _arbitration_services(file, host_ids)
    tenants, units = _tenants(file, clusters, zones, servers, arbitration_services)
    obproxy_clusters, obproxies = _obproxies(file, host_ids)
    users = _users(file)
    return Fleet(
        hosts=hosts,
        clusters=clusters,
        zones=zones,
        servers=servers,
        arbitration_services=arbitration_services,
        obproxy_clusters=obproxy_clusters,
        obproxies=obproxies,
        tenants=tenants,
        units=units,
        users=users,
        access_keys=_access_keys(file, users),
    )


def _check_unique(file: FleetFile) -> None:
    _unique("clusters: name", [cluster.name for cluster in file.clusters])
    for cluster in file.clusters:
        _unique(f"clusters: zone name of cluster {cluster.name}", [zone.name for zone in cluster.zones])
        _unique(f"clusters: tenant name of cluster {cluster.name}", [tenant.name for tenant in cluster.tenants or ()])
    _unique("obproxy_clusters: name", [cluster.name for cluster in file.obproxy_clusters])
    processes = [*_server_entries(file), *file.arbitration_services, *_obproxy_entries(file)]
    _unique("address", [f"{each.ip}:{each.port}" for each in processes])


def _zone_entries(file: FleetFile) -> list[ZoneEntry]:
    return [zone for cluster in file.clusters for zone in cluster.zones]


def _server_entries(file: FleetFile) -> list[ServerEntry]:
    return [server for zone in _zone_entries(file) for server in zone.servers]


def _obproxy_entries(file: FleetFile) -> list[ObProxyEntry]:
    return [each for cluster in file.obproxy_clusters for each in cluster.obproxies]


def _clusters(
    file: FleetFile, host_ids: Mapping[str, int]
) -> tuple[tuple[Cluster, ...], tuple[Zone, ...], tuple[Server, ...]]:
    cluster_ids = iter(_number("clusters: id", [cluster.id for cluster in file.clusters]))
    ob_cluster_ids = iter(
        _number("clusters: ob_cluster_id", [cluster.ob_cluster_id for cluster in file.clusters], _FIRST_OB_CLUSTER_ID)
    )
    zone_ids = iter(_number("zones: id", [zone.id for zone in _zone_entries(file)]))
    server_ids = iter(_number("servers: id", [server.id for server in _server_entries(file)]))
    clusters: list[Cluster] = []
    zones: list[Zone] = []
    servers: list[Server] = []
    for cluster in file.clusters:
        cluster_id = next(cluster_ids)
        clusters.append(_cluster(cluster_id, next(ob_cluster_ids), cluster))
        for zone in cluster.zones:
            zone_id = next(zone_ids)
            zones.append(Zone(zone_id, cluster_id, zone.name, zone.region, zone.idc))
            servers += [
                Server(
                    id=next(server_ids),
                    cluster_id=cluster_id,
                    zone_id=zone_id,
                    host_id=host_ids[server.ip],
                    ip=server.ip,
                    port=server.port,
                    sql_port=server.sql_port,
                    version=server.version or cluster.version,
                    root=server is cluster.zones[0].servers[0],
                    parameters=_parameters(f"server {server.ip}:{server.port}", server.parameters),
                )
                for server in zone.servers
            ]
    return tuple(clusters), tuple(zones), tuple(servers)


def _cluster(cluster_id: int, ob_cluster_id: int, entry: ClusterEntry) -> Cluster:
    parameters = _parameters(f"cluster {entry.name}", entry.parameters)
    return Cluster(cluster_id, entry.name, ob_cluster_id, entry.type, entry.version, parameters)


def _parameters(label: str, given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    for name in given:
        if name not in PARAMETER_NAMES:
            raise FleetError(f"clusters: {label} has no parameter {name!r}")
    return tuple(given.items())


def _tenants(
    file: FleetFile,
    clusters: Sequence[Cluster],
    zones: Sequence[Zone],
    servers: Sequence[Server],
    arbitration_services: Sequence[ArbitrationService],
) -> tuple[tuple[Tenant, ...], tuple[Unit, ...]]:
    zone_of = {zone.id: zone for zone in zones}
    servers_of: dict[int, dict[str, list[Server]]] = defaultdict(dict)
    for server in servers:
        servers_of[server.cluster_id].setdefault(zone_of[server.zone_id].name, []).append(server)
    places = [
        Place(entry, cluster, servers_of[cluster.id]) for entry, cluster in zip(file.clusters, clusters, strict=True)
    ]
    entries = [entry for place in places for entry in place.entries()]
    ids = _number("tenants: id", [entry.id for entry in entries], FIRST_TENANT_ID)
    return resolve_tenants(places, arbitration_services, ids)


def _arbitration_services(file: FleetFile, host_ids: Mapping[str, int]) -> tuple[ArbitrationService, ...]:
    ids = _number("arbitration_services: id", [service.id for service in file.arbitration_services])
    return tuple(
        ArbitrationService(number, host_ids[service.ip], service.ip, service.port, service.version)
        for service, number in zip(file.arbitration_services, ids, strict=True)
    )


def _obproxies(file: FleetFile, host_ids: Mapping[str, int]) -> tuple[tuple[ObProxyCluster, ...], tuple[ObProxy, ...]]:
    cluster_ids = _number("obproxy_clusters: id", [cluster.id for cluster in file.obproxy_clusters])
    ids = iter(_number("obproxies: id", [each.id for each in _obproxy_entries(file)]))
    numbered = list(zip(file.obproxy_clusters, cluster_ids, strict=True))
    clusters = [
        ObProxyCluster(number, cluster.name, cluster.address or cluster.obproxies[0].ip, cluster.port)
        for cluster, number in numbered
    ]
    obproxies = [
        ObProxy(next(ids), number, host_ids[each.ip], each.ip, each.port, each.exporter_port, each.idc, each.version)
        for cluster, number in numbered
        for each in cluster.obproxies
    ]
    return tuple(clusters), tuple(obproxies)


def _hosts(file: FleetFile) -> tuple[Host, ...]:
    _unique("hosts: ip", [host.ip for host in file.hosts])
    entries = {host.ip: host for host in file.hosts}
    for each in [*_server_entries(file), *file.arbitration_services, *_obproxy_entries(file)]:
        entries.setdefault(each.ip, HostEntry(ip=each.ip))
    ids = _number("hosts: id", [host.id for host in entries.values()])
    hosts = tuple(
        Host(number, host.ip, host.name or f"host{number}") for host, number in zip(entries.values(), ids, strict=True)
    )
    _unique("hosts: name", [host.name for host in hosts])
    return hosts


def _users(file: FleetFile) -> tuple[User, ...]:
    entries = _DEFAULT_USERS if file.users is None else file.users
    _unique("users: name", [user.name for user in entries])
    ids = _number("users: id", [user.id for user in entries])
    return tuple(
        User(number, user.name, user.password, tuple(user.permissions))
        for user, number in zip(entries, ids, strict=True)
    )


def _access_keys(file: FleetFile, users: Sequence[User]) -> tuple[AccessKey, ...]:
    entries = file.access_keys
    if entries is None:
        # The default keys belong to a default user.
        entries = _DEFAULT_KEYS if file.users is None else []
    _unique("access_keys: id", [key.id for key in entries])
    user_id = {user.name: user.id for user in users}
    for key in entries:
        if key.user not in user_id:
            raise FleetError(f"access_keys: {key.id} belongs to {key.user!r}, who is not among the users")
    return tuple(AccessKey(key.id, key.secret, user_id[key.user]) for key in entries)


def _number(label: str, ids: Sequence[int | None], first: int = 1) -> list[int]:
    """The ids that are given; entries without one get the next free id from `first`, in order of appearance."""
    taken = [number for number in ids if number is not None]
    _unique(label, taken)
    used = set(taken)
    free = (number for number in count(first) if number not in used)
    return [next(free) if number is None else number for number in ids]


def _unique(label: str, values: Iterable[object]) -> None:
    seen = set()
    for value in values:
        if value in seen:
            raise FleetError(f"{label} {value!r} occurs twice")
        seen.add(value)
