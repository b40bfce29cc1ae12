# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which fields of the service's records are kept, and the type of each.

A field of another type is null. An absent field stays absent, which shows what this version of OCP reports. No field is
required here; the code that needs a field checks it (docs/dev/contract.md has what happens without it).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from .._base.parsing import Record, Shape, boolean, integer, integers, list_of, record, records, shaped, text, time_text

_OPERATION: Shape = {"operatingTaskInstanceId": integer}

_SERVER: Shape = {
    "id": integer,
    "ip": text,
    "port": integer,
    "sqlPort": integer,
    "hostId": integer,
    "zoneName": text,
    "regionName": text,
    "idcName": text,
    "status": text,
    "innerStatus": text,
    "withRootserver": boolean,
    "startTime": time_text,
    "stopTime": time_text,
    "version": text,
    **_OPERATION,
}
server_record = partial(shaped, shape=_SERVER)

_ZONE: Shape = {
    "id": integer,
    "name": text,
    "regionName": text,
    "idcName": text,
    "status": text,
    "innerStatus": text,
    "serverCount": integer,
    "compactionStatus": text,
    "servers": list_of(server_record),
    **_OPERATION,
}
zone_record = partial(shaped, shape=_ZONE)

_CLUSTER: Shape = {
    "id": integer,
    "name": text,
    "obClusterId": integer,
    "type": text,
    "status": text,
    "obVersion": text,
    "obStartTime": time_text,
    "serverCount": integer,
    "tenantCount": integer,
    "compactionStatus": text,
    "zones": list_of(zone_record),
    **_OPERATION,
}
cluster_record = partial(shaped, shape=_CLUSTER)

_UNIT: Shape = {"serverId": integer, "serverIp": text, "serverPort": integer, "status": text}
_TENANT_ZONE: Shape = {"name": text, "replicaType": text, "units": list_of(partial(shaped, shape=_UNIT))}
_TENANT: Shape = {
    "id": integer,
    "name": text,
    "clusterId": integer,
    "locality": text,
    "zoneList": text,
    "primaryZone": text,
    "status": text,
    "locked": boolean,
    "zones": list_of(partial(shaped, shape=_TENANT_ZONE)),
}
tenant_record = partial(shaped, shape=_TENANT)

_ALARM_LABELS: Shape = {
    "ob_cluster_name": text,
    "obregion": text,
    "ob_cluster": text,
    "svr_ip": text,
    "host_ip": text,
    "svr_port": integer,
}
_ALARM: Shape = {
    "id": integer,
    "alarmType": text,
    "level": integer,
    "status": text,
    "target": text,
    "summary": text,
    "activeAt": time_text,
    "labels": lambda value: shaped(record(value), _ALARM_LABELS),
}
alarm_record = partial(shaped, shape=_ALARM)

_BACKUP: Shape = {"taskId": integer, "clusterId": integer, "status": text, "tenantName": text, "finishTime": time_text}
backup_record = partial(shaped, shape=_BACKUP)

_RESTORE: Shape = {
    "id": integer,
    "restoreClusterId": integer,
    "restoreTenantName": text,
    "status": text,
    "finishTime": time_text,
    "finished": boolean,
}
restore_record = partial(shaped, shape=_RESTORE)


def _value_text(value: object) -> str | None:
    """The value of a parameter as text; documents have no other."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, float) else text(value)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _value_texts(value: object) -> list[str]:
    found = map(_value_text, _list(value))
    return [each for each in found if each is not None]


def _choices(value: object) -> list[str]:
    """As a text with commas; documents have no other."""
    every = _value_texts(value.split(",") if isinstance(value, str) else value)
    return [each.strip() for each in every if each.strip()]


_PARAMETER_OF_SERVER: Shape = {"svrIp": text, "svrPort": integer, "value": _value_text}
_CURRENT_VALUE: Shape = {
    "obParameters": list_of(partial(shaped, shape=_PARAMETER_OF_SERVER)),
    "valueToServers": record,
    "values": _value_texts,
    "singleValueInCluster": boolean,
}
_VALUE_RANGE: Shape = {"type": text, "minValue": _value_text, "maxValue": _value_text, "allowedValues": _choices}
_PARAMETER: Shape = {
    "name": text,
    "currentValue": lambda value: shaped(record(value), _CURRENT_VALUE),
    "defaultValue": _value_text,
    "description": text,
    "section": text,
    "needRestart": boolean,
    "readonly": boolean,
    "valueRange": lambda value: shaped(record(value), _VALUE_RANGE),
}
parameter_record = partial(shaped, shape=_PARAMETER)

_HOST_SERVICE: Shape = {"name": text, "type": text, "version": text}
_HOST: Shape = {
    "id": integer,
    "name": text,
    "innerIpAddress": text,
    "status": text,
    "regionName": text,
    "idcName": text,
    "hostAgentId": integer,
    "hostAgentStatus": text,
    "hostAgentVersion": text,
    "services": list_of(partial(shaped, shape=_HOST_SERVICE)),
}
host_record = partial(shaped, shape=_HOST)

_AGENT_PROCESS: Shape = {
    "alias": text,
    "status": text,
    "pid": integer,
    "elapsedTime": integer,
    "lastActiveTime": time_text,
}
_AGENT: Shape = {"status": text, "processes": list_of(partial(shaped, shape=_AGENT_PROCESS))}
agent_record = partial(shaped, shape=_AGENT)

# No document spells the ids and names within these.
_DEGRADED_TENANT: Shape = {
    "id": integer,
    "name": text,
    "tenantId": integer,
    "tenantName": text,
    # In an unknown form it shows at least that there are some.
    "degradedLsIdList": lambda value: integers(value) or ([None] if value else []),
}
_SERVED_CLUSTER: Shape = {
    "id": integer,
    "name": text,
    "clusterId": integer,
    "clusterName": text,
    "tenants": list_of(partial(shaped, shape=_DEGRADED_TENANT)),
}
_ARBITRATION_SERVICE: Shape = {
    "id": integer,
    "svrIp": text,
    "svrPort": integer,
    "hostId": integer,
    "status": text,
    "version": text,
    "description": text,
    "updateTime": time_text,
    "clusters": list_of(partial(shaped, shape=_SERVED_CLUSTER)),
    **_OPERATION,
}
arbitration_service_record = partial(shaped, shape=_ARBITRATION_SERVICE)

_OBPROXY: Shape = {
    "id": integer,
    "ip": text,
    "sqlPort": integer,
    "exporterPort": integer,
    "hostId": integer,
    "status": text,
    "operateStatus": text,
    "version": text,
    "idcName": text,
    "lastActiveTime": time_text,
}
_OBPROXY_CLUSTER: Shape = {
    "id": integer,
    "name": text,
    "address": text,
    "port": integer,
    "workMode": text,
    "obproxies": list_of(partial(shaped, shape=_OBPROXY)),
}
obproxy_cluster_record = partial(shaped, shape=_OBPROXY_CLUSTER)

_OBPROXY_VALUE: Shape = {"value": _value_text, "obproxies": lambda value: list(filter(None, map(text, _list(value))))}
_OBPROXY_PARAMETER: Shape = {
    "name": text,
    "description": text,
    "needReboot": boolean,
    "values": list_of(partial(shaped, shape=_OBPROXY_VALUE)),
}
obproxy_parameter_record = partial(shaped, shape=_OBPROXY_PARAMETER)

_TAG: Shape = {
    "serverId": integer,
    "svrIp": text,
    "clusterName": text,
    "zoneName": text,
    "hostId": integer,
    "arbitrationServiceId": integer,
    "arbitrationServiceSvrPort": integer,
    "obproxyId": integer,
}
# The ids there are texts.
_CONTEXT_LISTS: Shape = {"obproxy_server_ids": integers, "server_ids": integers, "host_ids": integers}
_CONTEXT_TEXTS: Shape = {"server_id": integer, "host_id": integer, "zone_name": text}
_TASK_CONTEXT: Shape = {
    "listMap": lambda value: shaped(record(value), _CONTEXT_LISTS),
    "stringMap": lambda value: shaped(record(value), _CONTEXT_TEXTS),
}
_STEP: Shape = {
    "id": integer,
    "name": text,
    "description": text,
    "status": text,
    "operation": text,
    "upstreams": integers,
    "downstreams": integers,
    "timeout": integer,
    "startTime": time_text,
    "finishTime": time_text,
    "executor": text,
    "runTime": integer,
    "parallelIdx": integer,
    "seriesId": integer,
    "nodeType": text,
    "className": text,
    "prohibitRollback": boolean,
    "prohibitSkip": boolean,
}


def _creator(value: object) -> str | None:
    """The name of who started a task: a text in the response to a start, an object elsewhere."""
    return text(value.get("name") if isinstance(value, dict) else value)


_TASK: Shape = {
    "id": integer,
    "name": text,
    "status": text,
    "operation": text,
    "type": text,
    "creator": _creator,
    "executor": text,
    "createTime": time_text,
    "startTime": time_text,
    "finishTime": time_text,
    "clusterId": integer,
    "cluster": lambda value: shaped(record(value), {"id": integer, "name": text}),
    "context": lambda value: shaped(record(value), _TASK_CONTEXT),
    "hostId": integer,
    "prohibitRollback": boolean,
    "taskDefinitionId": integer,
    "subtasks": list_of(partial(shaped, shape=_STEP)),
    "tasks": list_of(partial(shaped, shape=_STEP)),
    "tags": list_of(partial(shaped, shape=_TAG)),
}
task_record = partial(shaped, shape=_TASK)

# Clusters, zones, servers and hosts have ids, names, states, creators and times too.
_OF_TASKS_ALONE: Shape = {
    "operation": text,
    "taskDefinitionId": integer,
    "prohibitRollback": boolean,
    "subtasks": lambda value: value if isinstance(value, list) else None,
    "tasks": lambda value: value if isinstance(value, list) else None,
    "cluster": lambda value: integer(record(value).get("id")),
    "context": lambda value: value or None if isinstance(value, (str, dict)) else None,
}


def is_of_a_task(raw: Record) -> bool:
    """Whether this record, as the service sent it, has a field that only tasks have."""
    return any(value is not None for value in shaped(raw, _OF_TASKS_ALONE).values())


# By one field for each other list that is read here.
_NEVER_OF_TASKS = frozenset(
    {
        "alarmType",
        "innerIpAddress",
        "innerStatus",
        "locality",
        "needReboot",
        "needRestart",
        "obproxies",
        "obVersion",
        "svrIp",
    }
)


def is_of_something_else(raw: Record) -> bool:
    """Whether this record, as the service sent it, has a field that no task has."""
    return any(raw[name] is not None for name in _NEVER_OF_TASKS & raw.keys())


def servers_in_record(cluster: Record) -> list[Record]:
    """The servers in the record of a cluster, if it has all of them. Older versions have none there."""
    servers = [
        {"zoneName": zone.get("name"), **server}
        for zone in records(cluster.get("zones"))
        for server in records(zone.get("servers"))
    ]
    there = servers_there(servers)
    return there if cluster.get("serverCount") in (len(servers), len(there)) else []


def servers_there(servers: Iterable[Record]) -> list[Record]:
    """Those that were not deleted: the service may show the record of one beside its successor."""
    return [server for server in servers if str(server.get("status")).upper() != "DELETED"]


def shows_all(one: Any, other: Any) -> bool:
    """Whether a record shows each field that another record of the same thing shows."""
    if isinstance(other, dict):
        names = one.keys() if isinstance(one, dict) else ()
        return all(name in names and shows_all(one[name], value) for name, value in other.items())
    if isinstance(other, list):
        return isinstance(one, list) and len(one) >= len(other) and all(map(shows_all, one, other))
    return other is None or one is not None
