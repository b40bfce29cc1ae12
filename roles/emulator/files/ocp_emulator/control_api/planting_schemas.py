# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The schemas of what is planted: alarms, metrics, backups, restores, merges, versions, tenants, parameters, risks."""

from typing import Annotated

from pydantic import Field

from ocp_emulator.fleet.fleet_file import TenantStatus
from ocp_emulator.fleet.inspection_items import ItemIdentifier, RiskLevel
from ocp_emulator.schemas.fleet_schemas import CompactionStatus
from ocp_emulator.schemas.health_schemas import AlarmScope, AppType, BackupStatus, RestoreStatus
from ocp_emulator.schemas.schema import Long, Schema

Text = Annotated[str, Field(strict=True, min_length=1)]
Whole = Annotated[int, Field(strict=True, ge=1, le=2**53)]


class PlantedAlarm(Schema):
    """An alarm about a cluster, a tenant of it, a server, or the host with an address; `server` is an id.

    Without `scope` it is that of the narrowest of them.
    """

    alarm_type: Text
    level: Annotated[int, Field(strict=True, ge=1, le=5)] = 2
    app_type: AppType = "OceanBase"
    scope: AlarmScope | None = None
    cluster: Text | None = None
    tenant: Text | None = None
    server: Whole | None = None
    host: Text | None = None
    summary: Text | None = None


class PlantedMetric(Schema):
    """The value that a metric of a server has from now on."""

    name: Annotated[str, Field(strict=True, pattern=r"^[a-z][a-z0-9_]*$", max_length=100)]
    value: Annotated[float, Field(strict=True, ge=0, le=1e9)]


class PlantedBackup(Schema):
    """A backup of a cluster or of a tenant of it, by their names, that begins now."""

    cluster: Text
    tenant: Text | None = None
    status: BackupStatus = "DOING"


class BackupId(Schema):
    """A planted backup."""

    id: Long


class BackupChange(Schema):
    """The status of a backup from now on."""

    status: BackupStatus


class PlantedRestore(Schema):
    """A restore of a tenant of a cluster, by their names, that begins now; without another name it gets one."""

    cluster: Text
    tenant: Text
    restore_tenant_name: Text | None = None
    status: RestoreStatus = "RESTORING"


class RestoreId(Schema):
    """A planted restore."""

    id: Long


class RestoreChange(Schema):
    """The status of a restore from now on."""

    status: RestoreStatus


class PlantedRisk(Schema):
    """A risk that inspections of a cluster find from now on; without `target` it is in the cluster as a whole."""

    cluster: Text
    item: ItemIdentifier
    level: RiskLevel = "HIGH"
    target: Text | None = None
    value: Text = "planted"


class RiskId(Schema):
    """A planted risk."""

    id: Long


class Compaction(Schema):
    """Whether a cluster merges, or one zone of it."""

    compaction_status: CompactionStatus
    zone: Text | None = None


class TenantChange(Schema):
    """What a tenant shows from now on; an omitted field stays as it is."""

    status: TenantStatus | None = None
    locked: Annotated[bool, Field(strict=True)] | None = None


class ServerVersion(Schema):
    """The version that a server has from now on."""

    version: Text


class ParameterValues(Schema):
    """Values of parameters by their names, from now on."""

    parameters: dict[str, Annotated[str, Field(strict=True)]]
