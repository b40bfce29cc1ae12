# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The filters of the inventory and of the modules that read clusters, servers, hosts and other objects.

``wanted`` maps options to lists of accepted values, or None for any; it may have other options. A filter that matches
nothing is not an error, unless ``cluster`` has to exist. All raise OptionError for an empty filter, and ServiceError.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._base.checks import check_nonempty
from .._base.parsing import Record, integer
from .._ocp.endpoints import OcpApi
from .._targets.cluster import servers_of
from .._targets.lookup import clusters_named, exactly_one
from .facts import (
    Facts,
    arbitration_service_facts,
    bounded,
    cluster_facts,
    host_facts,
    obproxy_cluster_facts,
    obproxy_parameter_facts,
    server_facts,
)

Filters = Mapping[str, Any]

PLACES = ("zone", "region", "idc")


def read_clusters(api: OcpApi, wanted: Filters, *, must_exist: str = "") -> list[Facts]:
    """Clusters by ``cluster`` (names or ids), ``status``, and ``zone``, ``region``, ``idc`` of any of their zones.

    With ``must_exist``, the name of the filter in messages, each value of ``cluster`` has to be that of one, else
    TargetError is raised. For the shape see ``cluster_facts``.
    """
    filters = _filters(wanted, "cluster", "status", *PLACES)
    places = {"name" if place == "zone" else place: filters[place] for place in PLACES}
    clusters = bounded(map(cluster_facts, _clusters(api, filters["cluster"], must_exist)), "zones")
    anywhere = not any(places.values())
    return [
        cluster
        for cluster in clusters
        if _matches(cluster, {"status": filters["status"]})
        and (anywhere or any(_matches(zone, places) for zone in cluster["zones"]))
    ]


def read_servers(api: OcpApi, wanted: Filters, *, must_exist: str = "") -> list[Facts]:
    """Servers by ``cluster`` (names or ids), ``server`` (addresses or ids), ``zone``, ``region``, ``idc``, ``status``.

    ``must_exist`` is as in ``read_clusters``. For the shape see ``server_facts``.
    """
    filters = _filters(wanted, "cluster", "server", "status", *PLACES)
    others = {name: filters[name] for name in ("status", *PLACES)}
    servers = (
        server_facts(record, cluster)
        for cluster in _clusters(api, filters["cluster"], must_exist)
        for record in servers_of(api, cluster, cluster["id"])
    )
    return [server for server in bounded(servers) if _matches(server, others) and _is_named(server, filters["server"])]


def read_hosts(api: OcpApi, wanted: Filters) -> list[Facts]:
    """Hosts by ``host`` (inner IP addresses, names or ids), ``status``, ``agent_status``, ``region`` and ``idc``.

    For the shape see ``host_facts``.
    """
    filters = _filters(wanted, "host", "status", "agent_status", "region", "idc")
    others = {name: filters[name] for name in filters if name != "host"}
    hosts = bounded(map(host_facts, api.hosts()), "services")
    return [host for host in hosts if _matches(host, others) and _is_named(host, filters["host"], "ip")]


def read_arbitration_services(api: OcpApi, wanted: Filters) -> list[Facts]:
    """Arbitration services by ``arbitration_service`` (addresses or ids) and ``status``.

    For the shape see ``arbitration_service_facts``.
    """
    filters = _filters(wanted, "arbitration_service", "status")
    services = bounded(map(arbitration_service_facts, api.arbitration_services()), "clusters")
    return [
        service
        for service in services
        if _matches(service, {"status": filters["status"]}) and _is_named(service, filters["arbitration_service"])
    ]


def read_obproxy_clusters(api: OcpApi, wanted: Filters, *, with_parameters: bool = False) -> list[Facts]:
    """OBProxy clusters by ``obproxy_cluster`` (names or ids), with their OBProxies by ``obproxy`` and ``status``.

    With one of the latter two (addresses or ids, status words), clusters without any such OBProxy are left out. With
    ``with_parameters`` they have these. For the shape see ``obproxy_cluster_facts``.
    """
    filters = _filters(wanted, "obproxy_cluster", "obproxy", "status")
    everyone = filters["obproxy"] is None and filters["status"] is None
    clusters = bounded(map(obproxy_cluster_facts, _with_obproxies(api)), "obproxies")
    found = []
    for cluster in clusters:
        there = [
            proxy
            for proxy in cluster["obproxies"]
            if _matches(proxy, {"status": filters["status"]}) and _is_named(proxy, filters["obproxy"])
        ]
        if _is_named(cluster, filters["obproxy_cluster"]) and (there or everyone):
            found.append({**cluster, "obproxies": there, "parameters": None})
    if with_parameters:
        for cluster in found:
            shown = api.obproxy_parameters(cluster["id"]) if cluster["id"] is not None else ()
            cluster["parameters"] = [obproxy_parameter_facts(each) for each in shown]
    return found


def _with_obproxies(api: OcpApi) -> Iterable[Record]:
    """All OBProxy clusters; a list that leaves their OBProxies out is completed."""
    for cluster in api.obproxy_clusters():
        number = integer(cluster.get("id"))
        yield cluster if "obproxies" in cluster or number is None else api.obproxy_cluster(number)


def _filters(wanted: Filters, *options: str) -> dict[str, Sequence[str] | None]:
    for option in options:
        check_nonempty(option, wanted.get(option), "leave it out to have all")
    return {option: wanted.get(option) for option in options}


def _clusters(api: OcpApi, called: Sequence[str] | None, must_exist: str) -> Iterable[Record]:
    found = api.clusters() if called is None else [one for name in called for one in _named(api, name, must_exist)]
    # The same cluster may be given by name and by id.
    return {cluster["id"]: cluster for cluster in found if integer(cluster.get("id")) is not None}.values()


def _named(api: OcpApi, name: str, must_exist: str) -> list[Record]:
    """A primary cluster and its standby may have one name."""
    matches, choices = clusters_named(api, name)
    if must_exist and not matches:
        exactly_one(must_exist, name, matches, choices)
    return matches


def _is_named(facts: Facts, called: Sequence[str] | None, *others: str) -> bool:
    return called is None or any(str(facts[key]) in called for key in ("id", "name", *others))


def _matches(facts: Facts, filters: Mapping[str, Sequence[str] | None]) -> bool:
    return all(values is None or facts[key] in values for key, values in filters.items())
