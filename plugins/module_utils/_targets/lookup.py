# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Find clusters, hosts and other records by the name or id in an option."""

from __future__ import annotations

from collections.abc import Iterable

from .._base.errors import NotFound, TargetError
from .._base.parsing import Record, integer
from .._base.text import join_names
from .._ocp.endpoints import OcpApi


def clusters_named(api: OcpApi, cluster: str) -> tuple[list[Record], list[str]]:
    """The clusters with this id or name, and the names of similar ones; digits are tried as an id first."""
    matches = _with_id(api, cluster) if cluster.isdecimal() else []
    named_alike = [] if matches else api.clusters(cluster)
    matches += [found for found in named_alike if found.get("name") == cluster]
    return matches, [str(found.get("name")) for found in named_alike]


def find_cluster(api: OcpApi, cluster: str) -> Record:
    """The record of the cluster with this id or name; raises TargetError."""
    return exactly_one("cluster", cluster, *clusters_named(api, cluster))


def _with_id(api: OcpApi, cluster: str) -> list[Record]:
    try:
        return [api.cluster(int(cluster))]
    except NotFound:
        return []


def find_host(option: str, found: list[Record], host: str) -> tuple[int, str]:
    """Id and inner IP address of the one of ``found`` with this id (digits) or address.

    Raises TargetError.
    """
    known = [str(record.get("innerIpAddress")) for record in found]
    matches = [record for record in found if host in (str(record.get("id")), record.get("innerIpAddress"))]
    record = exactly_one(option, host, matches, known)
    return record["id"], str(record.get("innerIpAddress"))


def exactly_one(
    option: str, value: str, matches: list[Record], known: Iterable[str], where: str = "", *, needs_id: bool = True
) -> Record:
    """The one record in ``matches``, with an id if it ``needs_id``; raises TargetError with the ``known`` names."""
    if len(matches) > 1:
        ids = join_names(str(record.get("id")) for record in matches)
        raise TargetError(f"{option}: {value} is the name of {len(matches)}{where}; give one of the ids {ids} instead.")
    if not matches:
        there = join_names(known)
        hint = f"; to choose from: {there}" if there else ""
        raise TargetError(f"{option}: {value} matches nothing{where}{hint}. Check the name or id.")
    if needs_id and integer(matches[0].get("id")) is None:
        raise TargetError(f"{option}: the service tells no id of {value}{where}. Check the version of the OCP.")
    return matches[0]


def address_of(record: Record, ip: str, port: str) -> str:
    """As in ``10.0.0.1:2882``; an IPv6 address is in brackets."""
    host = str(record.get(ip))
    return f"[{host}]:{record.get(port)}" if ":" in host else f"{host}:{record.get(port)}"
