# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The facts of clusters, zones, servers, hosts, arbitration services and OBProxies, from every documented form.

Every key is always there, null if the service does not report it. Times are the service's own, ISO 8601 with offset;
null for never. ``task_id`` is the task that works on the thing now.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._base.errors import OcpError
from .._base.parsing import Record, integer, integers, records, time_text
from .._ocp.paging import MOST_ITEMS
from .._ocp.records import servers_in_record
from .._targets.cluster import idc_and_region
from .._targets.lookup import address_of
from .._targets.operating_tasks import operated_by

Facts = dict[str, Any]


def bounded(every: Iterable[Facts], inner: str = "") -> list[Facts]:
    """``every`` as a list; raises OcpError if they and the things under ``inner`` are too many."""
    kept: list[Facts] = []
    number = 0
    for facts in every:
        number += 1 + len(facts.get(inner) or ())
        if number > MOST_ITEMS:
            what = f"entries and {inner}" if inner else "entries"
            raise OcpError(
                f"The service has more than {MOST_ITEMS:,} {what}, so reading stopped. Ask for less with the "
                "options of the module, and check that url is the address of an OCP."
            )
        kept.append(facts)
    return kept


def cluster_facts(cluster: Record) -> Facts:
    """A cluster with its ``zones``; ``version`` is the database's, ``start_time`` the start of the whole cluster.

    ``server_names`` is None where the record has none, as in most lists of clusters.
    """
    return {
        "id": integer(cluster.get("id")),
        "name": cluster.get("name"),
        "ob_cluster_id": cluster.get("obClusterId"),
        "type": cluster.get("type"),
        "status": cluster.get("status"),
        "version": cluster.get("obVersion"),
        "start_time": time_text(cluster.get("obStartTime")),
        "task_id": operated_by(cluster),
        "server_count": integer(cluster.get("serverCount")),
        "tenant_count": integer(cluster.get("tenantCount")),
        "server_names": [address_of(server, "ip", "port") for server in servers_in_record(cluster)] or None,
        "zones": [_zone_facts(zone) for zone in records(cluster.get("zones"))],
    }


def server_facts(server: Record, cluster: Record) -> Facts:
    """A server node of ``cluster``; ``name`` is its address with the RPC port."""
    zones = (zone for zone in records(cluster.get("zones")) if zone.get("name") == server.get("zoneName"))
    idc, region = idc_and_region(server, next(zones, {}))
    return {
        "id": integer(server.get("id")),
        "name": address_of(server, "ip", "port"),
        "ip": server.get("ip"),
        "port": server.get("port"),
        "sql_port": server.get("sqlPort"),
        "host_id": integer(server.get("hostId")),
        "cluster_id": integer(cluster.get("id")),
        "cluster_name": cluster.get("name"),
        "zone": server.get("zoneName"),
        "region": region,
        "idc": idc,
        "status": server.get("status"),
        "inner_status": server.get("innerStatus"),
        "with_rootserver": server.get("withRootserver") is True,
        "start_time": time_text(server.get("startTime")),
        "stop_time": time_text(server.get("stopTime")),
        "version": server.get("version"),
        "task_id": operated_by(server),
    }


def host_facts(host: Record) -> Facts:
    """A host with the services on it; ``ip`` is its inner IP address."""
    return {
        "id": integer(host.get("id")),
        "name": host.get("name"),
        "ip": host.get("innerIpAddress"),
        "status": host.get("status"),
        "region": host.get("regionName"),
        "idc": host.get("idcName"),
        "agent_id": integer(host.get("hostAgentId")),
        "agent_status": host.get("hostAgentStatus"),
        "agent_version": host.get("hostAgentVersion"),
        "services": [
            {"name": service.get("name"), "type": service.get("type"), "version": service.get("version")}
            for service in records(host.get("services"))
        ],
    }


def arbitration_service_facts(service: Record) -> Facts:
    """An arbitration service with the clusters it serves; ``name`` is its address.

    ``degraded_tenants`` of a cluster have degraded log streams. Do not restart the service while there are any
    (docs/dev/contract.md, "Restart an arbitration service").
    """
    return {
        "id": integer(service.get("id")),
        "name": address_of(service, "svrIp", "svrPort"),
        "ip": service.get("svrIp"),
        "port": service.get("svrPort"),
        "host_id": integer(service.get("hostId")),
        "status": service.get("status"),
        "version": service.get("version"),
        "description": service.get("description"),
        "update_time": time_text(service.get("updateTime")),
        "task_id": operated_by(service),
        "clusters": [_served_cluster_facts(cluster) for cluster in records(service.get("clusters"))],
    }


def obproxy_cluster_facts(cluster: Record) -> Facts:
    """An OBProxy cluster with its ``obproxies``, each with its address as ``name``. No start of one is shown."""
    return {
        "id": integer(cluster.get("id")),
        "name": cluster.get("name"),
        "address": cluster.get("address"),
        "port": cluster.get("port"),
        "work_mode": cluster.get("workMode"),
        "obproxies": [_obproxy_facts(proxy) for proxy in records(cluster.get("obproxies"))],
    }


def obproxy_parameter_facts(parameter: Record) -> Facts:
    """A parameter of an OBProxy cluster, with each value and the addresses that the service shows with it."""
    return {
        "name": parameter.get("name"),
        "needs_restart": parameter.get("needReboot"),
        "description": parameter.get("description"),
        "obproxy_values": [
            {"value": each.get("value"), "obproxies": each.get("obproxies") or []}
            for each in records(parameter.get("values"))
        ],
    }


def _obproxy_facts(proxy: Record) -> Facts:
    return {
        "id": integer(proxy.get("id")),
        "name": address_of(proxy, "ip", "sqlPort"),
        "ip": proxy.get("ip"),
        "sql_port": proxy.get("sqlPort"),
        "exporter_port": proxy.get("exporterPort"),
        "host_id": integer(proxy.get("hostId")),
        "idc": proxy.get("idcName"),
        "status": proxy.get("status"),
        "operate_status": proxy.get("operateStatus"),
        "version": proxy.get("version"),
        "last_active_time": time_text(proxy.get("lastActiveTime")),
    }


def _zone_facts(zone: Record) -> Facts:
    servers = records(zone.get("servers"))
    return {
        "name": zone.get("name"),
        "region": zone.get("regionName"),
        "idc": zone.get("idcName"),
        "status": zone.get("status"),
        "servers": zone.get("serverCount"),
        "with_rootserver": any(server.get("withRootserver") is True for server in servers) if servers else None,
    }


def _served_cluster_facts(cluster: Record) -> Facts:
    return {
        **_identity(cluster, "cluster"),
        "degraded_tenants": [
            {**_identity(tenant, "tenant"), "log_streams": integers(tenant["degradedLsIdList"])}
            for tenant in records(cluster.get("tenants"))
            if tenant.get("degradedLsIdList")
        ],
    }


def _identity(thing: Record, kind: str) -> Facts:
    """Id and name of a nested record. Its keys are undocumented, so both spellings are read."""
    return {
        "id": integer(thing.get(f"{kind}Id", thing.get("id"))),
        "name": thing.get(f"{kind}Name", thing.get("name")),
    }
