# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Where a fleet comes from: a file, the default one, or a generated one.

A fleet file is YAML. Everything that can be worked out may be left out: ids are numbered in order of appearance, hosts
follow from the addresses of what runs on them, users and access keys are the default ones.

    clusters:
      - name: orders
        zones:
          - name: zone1
            servers: [{ip: 10.0.0.1}, {ip: 10.0.0.2}]
    arbitration_services: [{ip: 10.0.0.10}]
    users: [{name: dba, password: secret, permissions: [CLUSTER_MANAGER, TASK_VIEWER]}]
    access_keys: [{id: key, secret: secret, user: dba}]
"""

import ipaddress
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from ocp_emulator.base.permissions import Permission
from ocp_emulator.fleet.entities import AccessKey, ArbitrationService, Cluster, Fleet, Host, Server, User, Zone

_OB_VERSION = "4.3.5.2"
_LARGEST_FLEET = 100_000
_ARBITRATION_PORT = 2888
_FIRST_OB_CLUSTER_ID = 101


class FleetError(ValueError):
    """A fleet that cannot be; the message is one sentence that says where and why."""


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise ValueError(f"{text!r} is not an IP address") from None


Id = Annotated[int, Field(ge=1, le=2**53)]
Port = Annotated[int, Field(ge=1, le=65535)]
Text = Annotated[str, Field(min_length=1)]
Address = Annotated[str, AfterValidator(_address)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Numbered(_Entry):
    id: Annotated[Id | None, Field(strict=True)] = None


class ServerEntry(_Numbered):
    """A server of a zone."""

    ip: Address
    port: Port = 2882
    sql_port: Port = 2881


class ZoneEntry(_Numbered):
    """A zone of a cluster."""

    name: Text
    region: Text = "default_region"
    idc: Text = "default_idc"
    servers: Annotated[list[ServerEntry], Field(min_length=1)]


class ClusterEntry(_Numbered):
    """A cluster."""

    name: Text
    ob_cluster_id: Id | None = None
    type: Literal["PRIMARY", "STANDBY"] = "PRIMARY"
    version: Text = _OB_VERSION
    zones: Annotated[list[ZoneEntry], Field(min_length=1)]


class HostEntry(_Numbered):
    """A host; needed only to give it an id or a name of its own, or when nothing runs on it."""

    ip: Address
    name: Text | None = None


class ArbitrationEntry(_Numbered):
    """An arbitration service."""

    ip: Address
    port: Port = _ARBITRATION_PORT
    version: Text = _OB_VERSION


class UserEntry(_Numbered):
    """A user."""

    # A colon would end the name in HTTP Basic.
    name: Annotated[str, Field(min_length=1, pattern=r"^[^:\x00-\x1f]+$")]
    password: Text
    permissions: list[Permission]


class AccessKeyEntry(_Entry):
    """An access key of a user."""

    id: Annotated[str, Field(min_length=1, pattern=r"^[^:\s]+$")]
    secret: Text
    user: Text


class FleetFile(_Entry):
    """The whole file."""

    clusters: list[ClusterEntry] = []
    hosts: list[HostEntry] = []
    arbitration_services: list[ArbitrationEntry] = []
    users: list[UserEntry] | None = None
    access_keys: list[AccessKeyEntry] | None = None


_VIEWER = [
    Permission.TASK_VIEWER,
    Permission.CLUSTER_VIEWER,
    Permission.HOST_VIEWER,
    Permission.AUDIT_VIEWER,
    Permission.ARBITRATION_VIEW,
]
_DEFAULT_USERS = [
    UserEntry(id=100, name="admin", password="emulator", permissions=[Permission.ADMIN]),
    UserEntry(id=101, name="viewer", password="emulator", permissions=_VIEWER),
]
_DEFAULT_KEYS = [AccessKeyEntry(id="emulator", secret="emulator-secret", user="admin")]


def read_fleet(path: Path) -> Fleet:
    """The fleet of a YAML file. Raises FleetError for a file that cannot be read or does not make sense."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FleetError(f"the file cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FleetError("the file is not UTF-8 text") from error
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise FleetError(f"the file is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(document, dict):
        raise FleetError("the file has no mapping at its top, such as 'clusters: [...]'")
    try:
        return resolve(FleetFile.model_validate(document))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FleetError(f"{where}: {first['msg'].removeprefix('Value error, ')}") from error


def default_fleet() -> Fleet:
    """Clusters 1 `orders` (3 zones of 2 servers) and 2 `payments` (3 of 1), arbitration service 1 on host 10."""
    addresses = _addresses()
    clusters = [_cluster("orders", 3, 2, addresses), _cluster("payments", 3, 1, addresses)]
    return resolve(FleetFile(clusters=clusters, arbitration_services=[ArbitrationEntry(ip=next(addresses))]))


def generated_fleet(clusters: int, zones: int, servers_per_zone: int) -> Fleet:
    """`clusters` clusters named cluster1.. of the same size, and one arbitration service. All numbers from 1."""
    if min(clusters, zones, servers_per_zone) < 1 or clusters * zones * servers_per_zone > _LARGEST_FLEET:
        raise FleetError(f"a fleet has 1 to {_LARGEST_FLEET} servers")
    addresses = _addresses()
    entries = [_cluster(f"cluster{number}", zones, servers_per_zone, addresses) for number in range(1, clusters + 1)]
    return resolve(FleetFile(clusters=entries, arbitration_services=[ArbitrationEntry(ip=next(addresses))]))


def _addresses() -> Iterator[str]:
    for number in count():
        yield f"10.{number // 62_500}.{number // 250 % 250}.{number % 250 + 1}"


def _cluster(name: str, zones: int, servers_per_zone: int, addresses: Iterator[str]) -> ClusterEntry:
    return ClusterEntry(
        name=name,
        zones=[
            ZoneEntry(
                name=f"zone{number}", servers=[ServerEntry(ip=next(addresses)) for _server in range(servers_per_zone)]
            )
            for number in range(1, zones + 1)
        ],
    )


# --- From file to fleet -------------------------------------------------------------------------------------------


def resolve(file: FleetFile) -> Fleet:
    """Give ids, derive the hosts, follow the references. FleetError when something stands twice or is unknown."""
    zones_of = [(cluster, zone) for cluster in file.clusters for zone in cluster.zones]
    servers_of = [(cluster, zone, server) for cluster, zone in zones_of for server in zone.servers]
    _unique("clusters: name", [cluster.name for cluster in file.clusters])
    for cluster in file.clusters:
        _unique(f"clusters: zone name of cluster {cluster.name}", [zone.name for zone in cluster.zones])
    _unique(
        "address",
        [f"{server.ip}:{server.port}" for _cluster, _zone, server in servers_of]
        + [f"{service.ip}:{service.port}" for service in file.arbitration_services],
    )

    hosts = _hosts(file, [server.ip for _cluster, _zone, server in servers_of])
    host_id = {host.ip: host.id for host in hosts}
    cluster_ids = _number("clusters: id", [cluster.id for cluster in file.clusters])
    ob_cluster_ids = _number(
        "clusters: ob_cluster_id", [cluster.ob_cluster_id for cluster in file.clusters], _FIRST_OB_CLUSTER_ID
    )
    zone_ids = _number("zones: id", [zone.id for _cluster, zone in zones_of])
    server_ids = _number("servers: id", [server.id for _cluster, _zone, server in servers_of])
    arbitration_ids = _number("arbitration_services: id", [service.id for service in file.arbitration_services])
    users = _users(file)

    # Entries are told apart by identity: two zones of different clusters may be equal.
    cluster_id = {id(cluster): number for cluster, number in zip(file.clusters, cluster_ids, strict=True)}
    zone_id = {id(zone): number for (_cluster, zone), number in zip(zones_of, zone_ids, strict=True)}
    return Fleet(
        hosts=hosts,
        clusters=tuple(
            Cluster(number, cluster.name, ob_cluster_id, cluster.type, cluster.version)
            for cluster, number, ob_cluster_id in zip(file.clusters, cluster_ids, ob_cluster_ids, strict=True)
        ),
        zones=tuple(
            Zone(number, cluster_id[id(cluster)], zone.name, zone.region, zone.idc)
            for (cluster, zone), number in zip(zones_of, zone_ids, strict=True)
        ),
        servers=tuple(
            Server(
                id=number,
                cluster_id=cluster_id[id(cluster)],
                zone_id=zone_id[id(zone)],
                host_id=host_id[server.ip],
                ip=server.ip,
                port=server.port,
                sql_port=server.sql_port,
                root=server is cluster.zones[0].servers[0],
            )
            for (cluster, zone, server), number in zip(servers_of, server_ids, strict=True)
        ),
        arbitration_services=tuple(
            ArbitrationService(number, host_id[service.ip], service.ip, service.port, service.version)
            for service, number in zip(file.arbitration_services, arbitration_ids, strict=True)
        ),
        users=users,
        access_keys=_access_keys(file, users),
    )


def _hosts(file: FleetFile, server_addresses: Sequence[str]) -> tuple[Host, ...]:
    _unique("hosts: ip", [host.ip for host in file.hosts])
    entries = {host.ip: host for host in file.hosts}
    for ip in [*server_addresses, *(service.ip for service in file.arbitration_services)]:
        entries.setdefault(ip, HostEntry(ip=ip))
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


def _number(what: str, given: Sequence[int | None], first: int = 1) -> list[int]:
    """The ids given, and for the others the next free ones from `first`, in order of appearance."""
    taken = [number for number in given if number is not None]
    _unique(what, taken)
    used = set(taken)
    free = (number for number in count(first) if number not in used)
    return [next(free) if number is None else number for number in given]


def _unique(what: str, values: Iterable[object]) -> None:
    seen = set()
    for value in values:
        if value in seen:
            raise FleetError(f"{what} {value!r} stands twice")
        seen.add(value)
