# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is read of the parameters of a cluster, and how the modules return it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._base.checks import check_nonempty
from .._base.parsing import Record
from .._ocp.endpoints import OcpApi
from .._targets.cluster import servers_of
from .._targets.lookup import find_cluster, shown_address
from .effect import Effect
from .parameter import Parameter, parameters_by_name
from .wanted_parameters import check_names, check_wanted, wanted_parameters

Facts = dict[str, Any]


@dataclass(frozen=True)
class ClusterParameters:
    """A cluster, the addresses of its servers, and the records of its parameters."""

    cluster_id: int
    cluster_name: str
    servers: tuple[str, ...]
    shown: tuple[Record, ...]

    @property
    def by_name(self) -> dict[str, Parameter]:
        """Its parameters."""
        return parameters_by_name(self.shown)

    def effect(self, wanted: Mapping[str, str]) -> Effect:
        """Where the wanted values are in effect."""
        return Effect.of(wanted, self.shown, self.servers)

    def read_again(self, api: OcpApi) -> ClusterParameters:
        """The same with the parameters of now. Raises ServiceError."""
        shown = tuple(api.cluster_parameters(self.cluster_id))
        return ClusterParameters(self.cluster_id, self.cluster_name, self.servers, shown)

    def facts(self) -> Facts:
        """The cluster, as the modules return it."""
        return {"id": self.cluster_id, "name": self.cluster_name}


def read_cluster_parameters(api: OcpApi, cluster: str) -> ClusterParameters:
    """The parameters of the cluster with this name or id. Raises TargetError and ServiceError."""
    found = find_cluster(api, cluster)
    addresses = [shown_address(server, "ip", "port") for server in servers_of(api, found, found["id"])]
    servers = tuple(address for address in addresses if address is not None)
    name = found.get("name") or cluster
    return ClusterParameters(found["id"], name, servers, ()).read_again(api)


def read_parameters(api: OcpApi, cluster: str, names: list[str] | None, given: Mapping[object, object] | None) -> Facts:
    """The parameters with these ``names`` and those ``given`` with a wanted value, or all; and who does not have it.

    Raises OptionError, TargetError and ServiceError.
    """
    check_nonempty("names", names, "leave it out for all")
    wanted = {} if given is None else wanted_parameters("parameters", given)
    found = read_cluster_parameters(api, cluster)
    every = found.by_name
    check_names("names", names or [], every, found.cluster_name)
    if wanted:
        check_wanted("parameters", wanted, every, found.cluster_name, is_set=False)
    effect = found.effect(wanted)
    chosen = dict.fromkeys([*(names or []), *wanted]) or every
    return {
        "cluster": found.facts(),
        "servers": list(found.servers),
        "parameters": [parameter_facts(every[name], effect) for name in chosen],
        "pending": effect.pending_servers if wanted and effect.values_per_server else None,
    }


def parameter_facts(parameter: Parameter, effect: Effect) -> Facts:
    """A parameter on the servers of ``effect``; what the service does not show is None."""
    name = parameter.name
    is_shown = any(value is not None for value in parameter.values.values())
    return {
        "name": name,
        "server_values": {server: parameter.values.get(server) for server in effect.servers} if is_shown else None,
        "wanted": effect.wanted.get(name),
        "pending": pending_servers(effect, [name]) if is_shown and name in effect.wanted else None,
        "needs_restart": parameter.needs_restart,
        "readonly": parameter.readonly,
        "default": parameter.default,
        "type": parameter.type,
        "minimum": parameter.minimum,
        "maximum": parameter.maximum,
        "allowed": list(parameter.allowed) or None,
        "section": parameter.section,
        "description": parameter.description,
        "single_value": parameter.single_value,
    }


def pending_servers(effect: Effect, names: Iterable[str]) -> list[str]:
    """The servers on which one of these is pending."""
    asked = set(names)
    return [server for server in effect.servers if asked & set(effect.pending(server))]
