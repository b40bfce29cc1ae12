# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fields of alarms, samples of metrics, and data backups."""

from typing import Annotated, Literal

from pydantic import Field

from ocp_emulator.schemas.schema import Long, Schema, Timestamp, absent

AppType = Literal["OB", "OCP", "OMS", "OBProxy", "Backup"]
AlarmScope = Literal["ObCluster", "ObTenant", "AppCluster", "Service", "Host"]
AlarmStatus = Literal["Active", "Inactive", "Silenced", "Inhibited"]
AlarmLevel = Annotated[int, Field(ge=1, le=5)]
BackupStatus = Literal[
    "BEGINNING", "INITIALIZING", "DOING", "DONE", "FAILED", "CANCELING", "CANCELED", "OVERDUE", "UNKNOWN"
]


class Alarm(Schema):
    """An alarm. `level` is 1 stopped, 2 critical, 3 warning, 4 caution, 5 reminder. Its times end with Z."""

    id: Long
    alarm_type: str
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
    gmt_create: Timestamp
    gmt_modified: Timestamp


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
