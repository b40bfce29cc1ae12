# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Clusters as hosts of the inventory: plain and unique host names, variables, groups."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any
from urllib.parse import quote, urlsplit

from ..module_utils._fleet.facts import Facts
from ._ansible_core import trusted
from ._inventory_groups import Groups, Hosts, Place, grouped, places_by

# It separates the parts of a name: no name or address contains it after `quote`, nor does the host name of a server.
BETWEEN = "+"
PORTS = {"http": 80, "https": 443}
# Ansible makes file names from the names of hosts.
LONGEST_NAME = 64
PREFIX = ALL = "ocp_clusters"
# A name that is a host name as it is. Groups of this plugin begin with ocp_, and localhost is the controller.
PLAIN = re.compile(r"(?!ocp_|localhost$)[A-Za-z][A-Za-z0-9_-]*", re.ASCII)


def cluster_hosts(clusters: Collection[Facts], url: str, taken: Collection[str] | None = None) -> Hosts:
    """A host for each cluster of the service with this address. Modules on it run on the controller.

    It is called like the cluster, if no other one here is and the name is not ``taken`` by a host or group; otherwise,
    and without ``taken``, as ``host_of`` says.
    """
    plain = Counter(plain_name(cluster) for cluster in clusters)

    def name_of(cluster: Facts) -> str:
        name = plain_name(cluster)
        is_free = taken is not None and name not in taken and plain[name] == 1
        return name if name is not None and is_free else host_of(cluster, url)

    named = {name_of(cluster): cluster for cluster in clusters}
    variables = {host: variables_of(cluster, url) for host, cluster in named.items()}
    settings = {
        "ansible_connection": "local",
        "ansible_python_interpreter": trusted("{{ ansible_playbook_python }}"),
    }
    return Hosts(variables, groups_of(named), settings)


def plain_name(cluster: Facts) -> str | None:
    """The name of a cluster, if it can be that of a host."""
    name = cluster["name"]
    return name if isinstance(name, str) and len(name) <= LONGEST_NAME and PLAIN.fullmatch(name) else None


def host_of(cluster: Facts, url: str) -> str:
    """The unique host name of a cluster: its name, its id, and the address of the service with the port.

    The id and the address make it unique, also among the clusters of several services. Other characters than letters,
    digits, ``_``, ``-``, ``.`` and ``~`` are encoded as in a URL, and so is a sign at the beginning of a name.
    """
    name = cluster["name"] if isinstance(cluster["name"], str) else ""
    word = quote(name or "cluster", safe="", errors="replace")
    if word[0] in "-.~":
        word = f"%{ord(word[0]):02X}{word[1:]}"
    parts = urlsplit(url)
    port = parts.port or PORTS[parts.scheme]
    address = [parts.hostname or "", str(port), *parts.path.rstrip("/").split("/")[1:]]
    return BETWEEN.join([word[:LONGEST_NAME], str(cluster["id"]), *(quote(part, safe="") for part in address)])


def variables_of(cluster: Facts, url: str) -> dict[str, Any]:
    """The host variables of a cluster; those that servers have too are called as theirs."""
    return {
        "ocp_url": url.rstrip("/"),
        "ocp_cluster": cluster["name"],
        "ocp_cluster_id": cluster["id"],
        "ocp_ob_cluster_id": cluster["ob_cluster_id"],
        "ocp_type": cluster["type"],
        "ocp_status": cluster["status"],
        "ocp_version": cluster["version"],
        "ocp_start_time": cluster["start_time"],
        "ocp_task_id": cluster["task_id"],
        "ocp_regions": _of_zones(cluster, "region"),
        "ocp_idcs": _of_zones(cluster, "idc"),
        "ocp_zones": cluster["zones"],
        "ocp_server_count": cluster["server_count"],
        "ocp_tenant_count": cluster["tenant_count"],
        "ocp_servers": cluster["server_names"],
    }


def groups_of(named: dict[str, Facts]) -> Groups:
    """The groups by region of a zone, status, version and type, and ALL, of clusters by their host names.

    None is a group of servers, so a play over servers never meets a cluster.
    """
    return grouped(ALL, ((host, _places(cluster)) for host, cluster in named.items()))


def _places(cluster: Facts) -> Iterator[Place]:
    for region in _of_zones(cluster, "region"):
        yield from places_by(PREFIX, region=region)
    yield from places_by(PREFIX, status=cluster["status"], version=cluster["version"], type=cluster["type"])


def _of_zones(cluster: Facts, key: str) -> list[Any]:
    """The values of the zones, each once, in the order of the zones."""
    values = (zone[key] for zone in cluster["zones"])
    # A service may send what is not hashable.
    return list({repr(value): value for value in values if value is not None}.values())
