# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How an option finds a cluster, host or record by name or id, and what is suggested for a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher, get_close_matches

from .._base.errors import NotFound, TargetError
from .._base.parsing import Record, integer
from .._base.text import join_names
from .._ocp.endpoints import OcpApi


def clusters_named(api: OcpApi, cluster: str) -> tuple[list[Record], Iterable[str | None]]:
    """The clusters with this id or name, and the names to choose from, which are read only if somebody looks at them.

    Digits are tried as an id first.
    """
    matches = _with_id(api, cluster) if cluster.isdecimal() else []
    named_alike = [] if matches else api.clusters(cluster)
    matches += [found for found in named_alike if found.get("name") == cluster]
    return matches, _choices(api, named_alike)


def _choices(api: OcpApi, named_alike: list[Record]) -> Iterator[str | None]:
    """The names of all clusters, those that the service finds alike first."""
    every = [*named_alike, *api.clusters()]
    for _id, name in dict.fromkeys((found.get("id"), found.get("name")) for found in every):
        yield name


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
    known = [record.get("innerIpAddress") for record in found]
    matches = [record for record in found if host in (str(record.get("id")), record.get("innerIpAddress"))]
    record = exactly_one(option, host, matches, known)
    return record["id"], str(record.get("innerIpAddress"))


def exactly_one(
    option: str,
    value: str,
    matches: list[Record],
    known: Iterable[str | None],
    where: str = "",
    *,
    needs_id: bool = True,
) -> Record:
    """The one record in ``matches``, with an id if it ``needs_id``; raises TargetError with the ``known`` names.

    A name is None where the service shows none.
    """
    if len(matches) > 1:
        ids = join_names(str(record.get("id")) for record in matches)
        raise TargetError(f"{option}: {value} is the name of {len(matches)}{where}; give one of the ids {ids} instead.")
    if not matches:
        every = list(known)
        names = [name for name in every if name is not None]
        hint = f"; to choose from: {join_names(names)}" if names else ""
        hint += f"; of {len(every) - len(names)} no name or address is shown" if len(names) < len(every) else ""
        raise TargetError(f"{option}: {value} matches nothing{where}{hint}. {next_guess(value, names)}")
    if needs_id and integer(matches[0].get("id")) is None:
        raise TargetError(f"{option}: the service shows no id of {value}{where}. Check the version of the OCP.")
    return matches[0]


def next_guess(value: str, known: list[str], what: str = "name or id") -> str:
    """A suggestion for a misspelt ``value``, of the ``known`` names."""
    on_host = [name for name in known if ":" in name and name.rpartition(":")[0].strip("[]") == value.strip("[]")]
    if on_host:
        return f"The port is missing: give {' or '.join(on_host)}."
    nearest = get_close_matches(value, known, 2)
    ratios = [SequenceMatcher(None, name, value).ratio() for name in nearest]
    # zone1 and zone2 are equally near to zone9.
    is_clear = len(ratios) == 1 or len(set(ratios)) == 2
    return f"Did you mean {nearest[0]}? Check the {what}." if is_clear else f"Check the {what}."


def shown_address(record: Record, ip: str, port: str) -> str | None:
    """``address_of`` of a record that has all of it, else None."""
    return None if None in (record.get(ip), record.get(port)) else address_of(record, ip, port)


def address_of(record: Record, ip: str, port: str) -> str:
    """As in ``10.0.0.1:2882``; an IPv6 address is in brackets."""
    host = str(record.get(ip))
    return f"[{host}]:{record.get(port)}" if ":" in host else f"{host}:{record.get(port)}"
