# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The host names, variables and groups of the inventory, and groups that are left out as ambiguous."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ansible.inventory.group import to_safe_group_name

from ..module_utils._base.errors import OptionError
from ..module_utils._base.text import one_line
from ..module_utils._fleet.facts import Facts

ALL = "ocp_servers"
# The build follows the version number.
NUMBER = re.compile(r"\d+(\.\d+)*")
# No path, no option of ssh, no template: Ansible makes file names and commands from the names of hosts.
# No mere number, which ssh takes for 0.0.0.7.
ADDRESS = re.compile(r"(?!\d+$)[A-Za-z0-9_:][A-Za-z0-9_.:-]*", re.ASCII)
PORT = re.compile(r"[0-9]{1,5}", re.ASCII)


@dataclass
class Groups:
    """The host names in each group, the parent of a group, and the warnings."""

    members: dict[str, list[str]] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def usable_servers(servers: Iterable[Facts]) -> tuple[list[Facts], list[str]]:
    """The servers whose address can be the name of a host, and a warning for each of the others."""
    usable, warnings = [], []
    for server in servers:
        if _is_address(server["ip"]) and PORT.fullmatch(str(server["port"])):
            usable.append(server)
        else:
            warnings.append(
                f"Server {one_line(server['name'])} of {_cluster(server)} is left out of the inventory: its address is "
                "not an IP address or host name with a port. Check it in OCP."
            )
    return usable, warnings


def _is_address(value: object) -> bool:
    return isinstance(value, str) and ADDRESS.fullmatch(value) is not None


def check_names(servers: Sequence[Facts]) -> None:
    """Raise OptionError if two servers share an address, from which host names are made."""
    first: dict[str, Facts] = {}
    for server in servers:
        other = first.setdefault(server["name"], server)
        if other is not server:
            raise OptionError(
                f"filters: {_cluster(other)} and {_cluster(server)} both have a server {server['name']}, and hosts are "
                "called by their addresses; let pass one of the two."
            )


def host_of(server: Facts) -> str:
    """The host name of a server.

    Without colons, which separate hosts in a pattern: ``all:!10.0.0.1:2882`` would not exclude this host.
    """
    return str(server["name"]).replace("[", "").replace("]", "").replace(":", "_")


def variables_of(server: Facts) -> dict[str, Any]:
    """The host variables of a server."""
    return {
        "ansible_host": server["ip"],
        "ocp_server": server["name"],
        "ocp_server_id": server["id"],
        "ocp_cluster": server["cluster_name"],
        "ocp_cluster_id": server["cluster_id"],
        "ocp_host_id": server["host_id"],
        "ocp_zone": server["zone"],
        "ocp_region": server["region"],
        "ocp_idc": server["idc"],
        "ocp_status": server["status"],
        "ocp_inner_status": server["inner_status"],
        "ocp_start_time": server["start_time"],
        "ocp_version": server["version"],
        "ocp_with_rootserver": server["with_rootserver"],
        "ocp_sql_port": server["sql_port"],
        "ocp_task_id": server["task_id"],
    }


def groups_of(servers: Iterable[Facts]) -> Groups:
    """The groups by cluster, zone of a cluster, region, status and version, and ALL.

    If two names become the same group name, neither gets a group, and there is a warning: a play then matches no hosts
    rather than too many.
    """
    hosts: dict[str, list[str]] = defaultdict(list)
    things: dict[str, set[str]] = defaultdict(set)
    above: dict[str, str] = {}
    found = Groups({ALL: []})
    for server in servers:
        host = host_of(server)
        found.members[ALL].append(host)
        of_cluster = _group("cluster", str(server["cluster_name"]))
        of_zone = _group("zone", f"{server['cluster_name']}_{server['zone']}")
        above[of_zone] = of_cluster
        things[of_cluster].add(_cluster(server))
        things[of_zone].add(f"zone {one_line(server['zone'])} of {_cluster(server)}")
        groups = [of_cluster, of_zone]
        number = NUMBER.match(str(server["version"] or ""))
        for kind, value in (
            ("region", server["region"]),
            ("status", server["status"]),
            ("version", number and number[0]),
        ):
            if value:
                groups.append(_group(kind, str(value)))
                things[groups[-1]].add(f"{kind} {one_line(value)}")
        for group in groups:
            hosts[group].append(host)
    found.members |= {group: hosts[group] for group, alike in things.items() if len(alike) == 1}
    found.parents = {zone: cluster for zone, cluster in above.items() if {zone, cluster} <= found.members.keys()}
    found.warnings = [
        f"There is no group {group}, since {' and '.join(sorted(alike))} would both be it. "
        "Make groups of your own with keyed_groups."
        for group, alike in things.items()
        if len(alike) > 1
    ]
    return found


@cache
def _group(kind: str, value: str) -> str:
    name: str = to_safe_group_name(f"ocp_{kind}_{value}", force=True, silent=True)
    return name


def _cluster(server: Facts) -> str:
    return f"cluster {one_line(server['cluster_name'])} (id {server['cluster_id']})"
