# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fields of alarms, samples of metrics, data backups, and restores."""

from typing import Annotated, Literal

from pydantic import Field

from ocp_emulator.schemas.schema import Long, Schema, Timestamp, absent

AppType = Literal["OceanBase", "OCP", "OMS", "OBProxy", "Log", "Backup"]
AlarmScope = Literal[
    "Cluster", "Tenant", "Host", "Service", "Arbitration", "Backup", "OceanBaseLog", "OBProxyLog", "HostLog"
]
AlarmStatus = Literal["Active", "Inactive", "Silenced", "Inhibited"]
AlarmLevel = Annotated[int, Field(ge=1, le=5)]
BackupStatus = Literal[
    "BEGINNING", "INITIALIZING", "DOING", "DONE", "FAILED", "CANCELING", "CANCELED", "OVERDUE", "UNKNOWN"
]

RestoreStatus = Literal["RESTORING", "RESTORE_SUCCESS", "RESTORE_FAIL"]


class AlarmedCluster(Schema):
    """A cluster that an alarm is about."""

    cluster_id: Long
    name: str
    ob_cluster_id: Long


class AlarmedTenant(Schema):
    """A tenant that an alarm is about."""

    name: str
    ob_tenant_id: Long
    tenant_id: Long


class IncludedTarget(Schema):
    """A cluster with the tenants of it that an alarm is about."""

    cluster: AlarmedCluster
    tenants: list[AlarmedTenant]


class AlarmTarget(Schema):
    """What an alarm is about."""

    app_type: AppType
    scope: AlarmScope
    include_targets: list[IncludedTarget]
    exclude_targets: list[IncludedTarget]


class MessagePush(Schema):
    """Notifications about an alarm; the emulator sends none."""

    configured: bool
    success_count: int
    no_success_count: int


class Alarm(Schema):
    """An alarm. `level` is 1 stopped, 2 critical, 3 warning, 4 caution, 5 reminder. Its times end with Z."""

    id: Long
    name: str
    alarm_type: str
    alarm_template_id: Long
    alarm_target: AlarmTarget
    message_push: MessagePush
    app_type: AppType
    scope: AlarmScope
    level: AlarmLevel
    status: AlarmStatus
    target: str
    summary: str
    description: str
    labels: dict[str, str]
    active_at: Timestamp
    resolved_at: Timestamp = absent()
    updated_at: Timestamp
    status_updated_at: Timestamp
    gmt_create: Timestamp
    gmt_modified: Timestamp


class ClusterTarget(Schema):
    """A cluster that an alarm is about, without its tenants."""

    cluster: AlarmedCluster


class ClusterTargets(Schema):
    """The clusters that an alarm is about."""

    app_type: AppType
    scope: Literal["Cluster"]
    include_targets: list[ClusterTarget]
    exclude_targets: list[ClusterTarget]


class AlarmDetail(Alarm):
    """An alarm as it is read by its id. `obCluster` is absent where it is about no cluster."""

    message_push: MessagePush = absent()
    ob_cluster: ClusterTargets = absent()
    target_labels: dict[str, str] = absent()


class DataBackup(Schema):
    """A data backup of a cluster, where `tenantId` is 0, or of a tenant."""

    backup_dimension: Literal["CLUSTER", "TENANT"] = absent()
    backup_mode: Literal["PHYSICAL_BACKUP"]
    backup_set_id: Long
    backup_uri: str
    cluster_id: Long
    cluster_name: str
    cluster_type: Literal["PRIMARY", "STANDBY"]
    data_backup_task_type: Literal["FULL_BACKUP"]
    data_secondary_backup_task_ids: list[Long] = absent()
    data_version: Long = absent()
    finish_time: str = absent()
    ob_cluster_id: Long
    ob_tenant_id: Long = absent()
    start_time: str
    status: BackupStatus
    task_id: Long
    tenant_id: Long
    tenant_name: str = absent()


class TenantRestore(Schema):
    """The restore of a tenant of a cluster, as another tenant of the same cluster."""

    backup_cluster_id: Long
    backup_cluster_name: str
    backup_mode: Literal["PHYSICAL_BACKUP"]
    backup_ob_cluster_id: Long
    backup_ob_tenant_id: Long
    backup_tenant_id: Long
    backup_tenant_name: str
    create_time: str
    error_msg: str
    finish_time: str = absent()
    finished: bool
    id: Long
    ocp_job_id: Long
    restore_cluster_id: Long
    restore_cluster_name: str
    restore_end_time: str
    restore_ob_cluster_id: Long
    restore_pool_list_str: str
    restore_tenant_name: str
    restore_uri: str
    status: RestoreStatus
    status_desc: str
    successful: bool
