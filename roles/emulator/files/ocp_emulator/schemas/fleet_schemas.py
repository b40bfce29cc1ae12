# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fields and status words of clusters, zones, servers, hosts, agents and arbitration services.

They have the documented fields that make sense in an emulator. `operatingTaskInstanceId` is absent when no task
occupies the object.
"""

from typing import Literal

from pydantic import Field

from ocp_emulator.schemas.schema import Long, Schema, Timestamp, absent

ClusterStatus = Literal[
    "RUNNING",
    "CREATING",
    "DELETING",
    "STARTING",
    "RESTARTING",
    "STOPPING",
    "STOPPED",
    "TAKINGOVER",
    "MOVINGOUT",
    "SWITCHOVER",
    "FAILOVER",
    "OPERATING",
]
ZoneStatus = Literal[
    "RUNNING",
    "UNAVAILABLE",
    "SERVICE_STOPPED",
    "STOPPED",
    "DELETED",
    "CREATING",
    "STOPPING",
    "STARTING",
    "RESTARTING",
    "DELETING",
    "OPERATING",
]
ServerStatus = Literal[
    "CREATING",
    "RUNNING",
    "STOPPING",
    "STOPPED",
    "STARTING",
    "RESTARTING",
    "DELETING",
    "UNAVAILABLE",
    "OPERATING",
    "DELETED",
]
ArbitrationStatus = Literal["RUNNING", "RESTARTING", "STOPPED", "UNAVAILABLE"]
AgentStatus = Literal["AVAILABLE", "RESTARTING", "STOPPING", "REINTSTALLING", "OFFLINE", "DELETED"]
ServiceType = Literal[
    "OB_CLUSTER",
    "OB_PROXY",
    "OCP_AGENT",
    "BACKUP_AGENT",
    "RESTORE_AGENT",
    "BACKUP_RESTORE_AGENT",
    "OMS",
    "ARBITRATION_SERVICE",
]
HostStatus = Literal["NEW", "AVAILABLE", "ONLINE", "OFFLINE", "DELETING"]
CompactionStatus = Literal["IDLE", "MERGING"]
InnerStatus = Literal["ACTIVE", "INACTIVE"]


class Server(Schema):
    """A database server node. `stopTime` is 1970-01-01T08:00:00+08:00 as long as it is in service."""

    id: Long
    cluster_id: Long
    zone_name: str
    region_name: str = absent()
    idc_name: str = absent()
    host_id: Long = absent()
    host_status: HostStatus = absent()
    host_type_name: str = absent()
    ip: str
    port: int
    sql_port: int
    version: str
    run_user: str = absent()
    run_path: str = absent()
    install_path: str = absent()
    with_rootserver: bool
    status: ServerStatus
    inner_status: InnerStatus
    operating_task_instance_id: Long = absent()
    start_time: Timestamp
    stop_time: Timestamp
    update_time: Timestamp


class RootServer(Schema):
    """Where the root service of a zone runs."""

    address: str
    role: Literal["LEADER", "FOLLOWER"]
    # Documented in this spelling.
    sql_port: int = Field(alias="sql_port")


class ZoneState(Schema):
    """The fields of every record of a zone. `number` is not in the answer: faults find the zone by it."""

    number: int = Field(exclude=True)
    name: str
    region_name: str
    idc_id: Long
    idc_name: str
    status: ZoneStatus
    inner_status: InnerStatus
    server_count: int
    servers: list[Server]


class Zone(ZoneState):
    """A zone in the list of zones, with its servers."""

    cluster_id: Long
    ob_cluster_id: Long
    architecture: str = absent()
    compaction_status: CompactionStatus
    root_server: RootServer
    host_count: int
    create_time: Timestamp
    update_time: Timestamp


class ZoneOfCluster(ZoneState):
    """A zone in the list of clusters. `id` and servers are there by switches."""

    id: Long = absent()
    operate_status: Literal["NORMAL", "OPERATING"]
    compaction_status: CompactionStatus = absent()
    operating_task_instance_id: Long = absent()


class StandbyCluster(Schema):
    """A standby of a cluster; the emulator has none."""

    id: Long
    name: str


class Cluster(Schema):
    """A cluster with its zones. `obStartTime` is when the whole of it was last started."""

    id: Long
    name: str
    ob_cluster_id: Long
    ob_version: str
    type: Literal["PRIMARY", "STANDBY"]
    architecture: str = absent()
    origin: Literal["CREATED"] = absent()
    creator: str
    status: ClusterStatus
    compaction_status: CompactionStatus = absent()
    operating_task_instance_id: Long = absent()
    region_count: int
    server_count: int
    tenant_count: int
    root_servers: list[RootServer]
    standby_clusters: list[StandbyCluster]
    ob_start_time: Timestamp = absent()
    zones: list[ZoneOfCluster]
    create_time: Timestamp
    update_time: Timestamp = absent()


class HostService(Schema):
    """Something that runs on a host."""

    name: str
    type: str
    version: str
    software_package_id: Long | None


class Host(Schema):
    """A host. What it does not have is null here, not absent, as documented."""

    id: Long
    name: str
    inner_ip_address: str
    alias: str | None
    description: str | None
    architecture: str
    kind: Literal["DEDICATED_PHYSICAL_MACHINE"]
    operating_system: str
    operating_system_release: str
    region_id: Long
    region_name: str
    region_description: str | None
    idc_id: Long
    idc_name: str
    idc_description: str | None
    type_id: Long
    type_name: str
    type_description: str | None
    serial_number: str | None
    publish_ports: str | None
    ssh_port: int
    status: HostStatus
    host_agent_id: Long
    host_agent_status: AgentStatus
    host_agent_version: str
    services: list[HostService]
    create_time: Timestamp
    update_time: Timestamp


class AgentProcess(Schema):
    """A process of an agent; `elapsedTime` is in seconds. A process that is stopped has the pid 0."""

    id: Long
    host_id: Long
    alias: str
    pid: int
    ports: str | None
    status: Literal["STARTED", "STOPPED"]
    elapsed_time: int
    last_active_time: Timestamp
    start_command: str | None
    log_file_pattern: str
    user: str | None
    operable: bool
    create_time: Timestamp
    update_time: Timestamp


class Agent(Schema):
    """The management agent of a host."""

    id: Long
    host_id: Long
    host_inner_ip_address: str
    version: str
    status: AgentStatus
    last_available_time: Timestamp
    install_home: str
    log_home: str
    manager_port: str
    monitor_port: str
    processes: list[AgentProcess]
    create_time: Timestamp
    update_time: Timestamp


class DegradedTenant(Schema):
    """A tenant of a cluster that an arbitration service serves, with its degraded log streams."""

    id: Long
    name: str
    degraded_ls_id_list: list[Long]


class ServedCluster(Schema):
    """A cluster that an arbitration service serves."""

    id: Long
    name: str
    ob_cluster_id: Long
    tenants: list[DegradedTenant]


class ArbitrationService(Schema):
    """An arbitration service. There is no start time among its documented fields."""

    id: Long
    host_id: Long
    svr_ip: str
    svr_port: int
    version: str
    architecture: str
    description: str
    install_path: str
    run_path: str
    run_user: str
    startup_parameters: list[dict[str, str]]
    clusters: list[ServedCluster]
    tags: list[dict[str, str]]
    status: ArbitrationStatus
    operating_task_instance_id: Long = absent()
    create_time: Timestamp
    update_time: Timestamp
