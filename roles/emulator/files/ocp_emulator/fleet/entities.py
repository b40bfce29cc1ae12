# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The objects of a fleet: hosts, clusters, zones, servers, tenants, arbitration services, OBProxies, users, keys."""

import hashlib
import json
from dataclasses import asdict, dataclass

from ocp_emulator.base.permissions import Permission
from ocp_emulator.fleet.locality import Replicas


@dataclass(frozen=True)
class Host:
    """A machine, identified by its inner IP address."""

    id: int
    ip: str
    name: str


@dataclass(frozen=True)
class Cluster:
    """A database cluster; `parameters` are those with another value than the default."""

    id: int
    name: str
    ob_cluster_id: int
    type: str
    version: str
    parameters: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Zone:
    """A zone of a cluster."""

    id: int
    cluster_id: int
    name: str
    region: str
    idc: str


@dataclass(frozen=True)
class Server:
    """A database server node; the first of a cluster is its root server. `parameters` are as of a cluster."""

    id: int
    cluster_id: int
    zone_id: int
    host_id: int
    ip: str
    port: int
    sql_port: int
    version: str
    root: bool
    parameters: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ArbitrationService:
    """An arbitration service."""

    id: int
    host_id: int
    ip: str
    port: int
    version: str


@dataclass(frozen=True)
class ObProxyCluster:
    """A cluster of OBProxies; its clients use `address` and `port`."""

    id: int
    name: str
    address: str
    port: int


@dataclass(frozen=True)
class ObProxy:
    """An OBProxy; `port` is the one for SQL."""

    id: int
    cluster_id: int
    host_id: int
    ip: str
    port: int
    exporter_port: int
    idc: str
    version: str


@dataclass(frozen=True)
class Tenant:
    """A tenant of a cluster; `locality` is shown as it was written, `replicas` is what it says."""

    id: int
    cluster_id: int
    ob_tenant_id: int
    name: str
    mode: str
    locality: str
    replicas: tuple[Replicas, ...]
    primary_zone: str
    status: str
    locked: bool
    readonly: bool
    arbitration_service_id: int | None


@dataclass(frozen=True)
class Unit:
    """What a tenant has on a server, in one of the zones of its locality."""

    id: int
    tenant_id: int
    zone: str
    server_id: int


@dataclass(frozen=True)
class User:
    """A user of the service."""

    id: int
    name: str
    password: str
    permissions: tuple[Permission, ...]


@dataclass(frozen=True)
class AccessKey:
    """An access key; it has the permissions of its user."""

    id: str
    secret: str
    user_id: int


@dataclass(frozen=True)
class Fleet:
    """All objects of a service."""

    hosts: tuple[Host, ...]
    clusters: tuple[Cluster, ...]
    zones: tuple[Zone, ...]
    servers: tuple[Server, ...]
    arbitration_services: tuple[ArbitrationService, ...]
    obproxy_clusters: tuple[ObProxyCluster, ...]
    obproxies: tuple[ObProxy, ...]
    tenants: tuple[Tenant, ...]
    units: tuple[Unit, ...]
    users: tuple[User, ...]
    access_keys: tuple[AccessKey, ...]

    def fingerprint(self) -> str:
        """The same for equal fleets, so that a database recognises the fleet that it was made with."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()
