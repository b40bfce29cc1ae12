# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""One parameter of a cluster as the service shows it: its value on each server, its kind, its range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .._base.parsing import Record, record, records, text
from .._targets.lookup import address_of, shown_address
from .parameter_value import Kind, kind_of_type, same_value


@dataclass(frozen=True)
class Parameter:
    """What the service shows of a parameter; None or empty where it shows nothing.

    ``values`` has the value for each server (``ip:port``) that one is shown of; None where two are shown of one server.
    ``cluster_values`` are all values in the cluster, without their servers. ``minimum`` and
    ``maximum`` are allowed themselves, as far as documents tell.
    """

    name: str
    values: Mapping[str, str | None]
    cluster_values: tuple[str, ...] = ()
    type: str | None = None
    kind: Kind | None = None
    minimum: str | None = None
    maximum: str | None = None
    allowed: tuple[str, ...] = ()
    default: str | None = None
    section: str | None = None
    description: str | None = None
    readonly: bool | None = None
    needs_restart: bool | None = None
    single_value: bool | None = None

    @classmethod
    def from_api(cls, shown: Record) -> Parameter:
        """Of a record of ``OcpApi.cluster_parameters``."""
        limits, current = record(shown.get("valueRange")), record(shown.get("currentValue"))
        allowed = tuple(limits.get("allowedValues") or ())
        return cls(
            name=str(shown.get("name")),
            values=_values(current),
            cluster_values=tuple(current.get("values") or ()),
            type=limits.get("type"),
            kind=_kind(limits.get("type"), allowed),
            minimum=limits.get("minValue") or None,
            maximum=limits.get("maxValue") or None,
            allowed=allowed,
            default=shown.get("defaultValue"),
            section=shown.get("section"),
            description=shown.get("description"),
            readonly=shown.get("readonly"),
            needs_restart=shown.get("needRestart"),
            single_value=current.get("singleValueInCluster"),
        )

    def same(self, one: str | None, other: str | None) -> bool:
        """Whether both are the same value of this parameter; one that is not shown is the same as none."""
        return one is not None and other is not None and same_value(one, other, self.kind)


def parameters_by_name(shown: Iterable[Record]) -> dict[str, Parameter]:
    """The parameters of records of ``OcpApi.cluster_parameters``; those without a name are left out."""
    return {each["name"]: Parameter.from_api(each) for each in shown if each.get("name")}


def _kind(word: str | None, allowed: tuple[str, ...]) -> Kind | None:
    is_boolean = {each.lower() for each in allowed} == {"true", "false"}
    return Kind.BOOLEAN if is_boolean else Kind.CHOICE if allowed else kind_of_type(word)


def _values(current: Record) -> dict[str, str | None]:
    """By server, from both of the forms that documents have."""
    pairs = [
        (shown_address(each, "svrIp", "svrPort"), each.get("value")) for each in records(current.get("obParameters"))
    ]
    for shared, servers in record(current.get("valueToServers")).items():
        pairs += [(_address(server), text(shared)) for server in (servers if isinstance(servers, list) else ())]
    found: dict[str, str | None] = {}
    for server, value in pairs:
        if server is not None and value is not None:
            found[server] = value if found.get(server, value) == value else None
    return found


def _address(server: object) -> str | None:
    """As in ``10.0.0.1:2882``; an IPv6 address is in brackets."""
    ip, _colon, port = (text(server) or "").rpartition(":")
    return address_of({"ip": ip.strip("[]"), "port": port}, "ip", "port") if ip and port.isdecimal() else None
