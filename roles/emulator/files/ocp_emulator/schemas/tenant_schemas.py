# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fields and status words of tenants, their zones and units."""

from typing import Literal

from ocp_emulator.fleet.fleet_file import TenantMode, TenantStatus
from ocp_emulator.fleet.locality import ReplicaType
from ocp_emulator.schemas.fleet_schemas import ClusterStatus
from ocp_emulator.schemas.schema import Long, Schema, Timestamp


class Tenant(Schema):
    """A tenant in a list. `zoneList` and `primaryZone` have semicolons between zones; commas are for equal ones."""

    id: Long
    name: str
    cluster_id: Long
    cluster_name: str
    cluster_type: Literal["PRIMARY", "STANDBY"]
    ob_cluster_id: Long
    ob_version: str
    mode: TenantMode
    locality: str
    primary_zone: str
    zone_list: str
    status: TenantStatus
    locked: bool
    readonly: bool
    create_time: Timestamp


class Unit(Schema):
    """What a tenant has on a server."""

    id: Long
    resource_pool_id: Long
    server_id: Long
    server_ip: str
    server_port: int
    status: Literal["ACTIVE"]
    zone_name: str


class UnitConfig(Schema):
    """The size of a unit; memory in GiB."""

    max_cpu_core_count: float
    max_memory_size: int
    min_cpu_core_count: float
    min_memory_size: int


class ResourcePool(Schema):
    """The resource pool of a tenant."""

    id: Long
    name: str
    unit_config: UnitConfig
    unit_count: int


class TenantZone(Schema):
    """The replicas of a tenant in a zone. Where it has two types there, the first is shown."""

    name: str
    replica_type: ReplicaType
    resource_pool: ResourcePool
    units: list[Unit]


class TenantDetail(Tenant):
    """One tenant that is read."""

    ob_tenant_id: Long
    cluster_status: ClusterStatus
    charset: str
    collation: str
    sql_audit_enabled: bool
    whitelist: str
    zones: list[TenantZone]
