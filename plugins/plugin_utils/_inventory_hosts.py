# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Database servers as hosts of the inventory: host names, variables, groups, and servers that are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..module_utils._base.errors import OptionError
from ..module_utils._base.text import one_line
from ..module_utils._fleet.facts import Facts
from ._inventory_groups import Groups, Hosts, Place, group_name, grouped, places_by

ALL = "ocp_servers"
# No path, no option of ssh, no template: Ansible makes file names and commands from the names of hosts.
# No mere number, which ssh takes for 0.0.0.7.
ADDRESS = re.compile(r"(?!\d+$)[A-Za-z0-9_:][A-Za-z0-9_.:-]*", re.ASCII)
PORT = re.compile(r"[0-9]{1,5}", re.ASCII)


def server_hosts(servers: Iterable[Facts], url: str) -> Hosts:
    """A host for each server of the service with this address. Raises OptionError for equal addresses.

    A server whose address cannot be the name of a host is left out.
    """
    usable, warnings = usable_servers(servers)
    check_names(usable)
    variables = {host_of(server): variables_of(server, url) for server in usable}
    return Hosts(variables, groups_of(usable), warnings=warnings)


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
                "named by their addresses; give filters that pass only one of the two."
            )


def host_of(server: Facts) -> str:
    """The host name of a server.

    Without colons, which separate hosts in a pattern: ``all:!10.0.0.1:2882`` would not exclude this host.
    """
    return str(server["name"]).replace("[", "").replace("]", "").replace(":", "_")


def variables_of(server: Facts, url: str) -> dict[str, Any]:
    """The host variables of a server."""
    return {
        "ansible_host": server["ip"],
        "ocp_url": url.rstrip("/"),
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
    """The groups by cluster, zone of a cluster, region, status and version, and ALL."""
    return grouped(ALL, ((host_of(server), _places(server)) for server in servers))


def _places(server: Facts) -> Iterator[Place]:
    of_cluster = group_name("ocp_cluster", str(server["cluster_name"]))
    of_zone = group_name("ocp_zone", f"{server['cluster_name']}_{server['zone']}")
    of_zone_words = f"zone {one_line(server['zone'])} of {_cluster(server)}"
    yield Place(of_cluster, _cluster(server), of_service=True)
    yield Place(of_zone, of_zone_words, parent=of_cluster, of_service=True)
    yield from places_by("ocp", region=server["region"], status=server["status"], version=server["version"])


def _cluster(server: Facts) -> str:
    return f"cluster {one_line(server['cluster_name'])} (id {server['cluster_id']})"
