# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Plan a rolling restart from what the service shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .._base.checks import check_nonempty, check_range
from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import OptionError, TargetError
from .._base.parsing import instant
from .._base.service_clock import to_service_clock
from .._base.text import join_names
from .._fleet.facts import Facts, server_facts
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import RUNNING
from .._restart.decision import Action, Condition, InFlight, Look, decide_restart
from .._targets.cluster import Cluster, servers_of
from .._targets.lookup import clusters_named, exactly_one
from .._targets.serving import database_serves
from .._targets.target import Member, Observation
from .rolling_order import Batch, Node, Strategy, order_batches, unchanged_nodes

Result = dict[str, Any]


@dataclass(frozen=True)
class RollingRequest:
    """The options of the module; ``started_before`` is by the clock of this machine."""

    clusters: Sequence[str]
    zones: Sequence[str] | None
    servers: Sequence[str] | None
    batch: int
    strategy: Strategy
    started_before: datetime
    min_zones: int


def plan_rolling_restart(api: OcpApi, wanted: RollingRequest, clock: Clock = SYSTEM_CLOCK) -> Result:
    """The result of the module: ``clusters``, ``batches`` in order, ``left_alone`` servers, and ``warnings``.

    Raises OptionError, and TargetError for unknown names and for a cluster with too few zones.
    """
    _check_request(wanted)
    found = _find_clusters(api, wanted)
    _check_scope(found, wanted)
    since, warnings = to_service_clock(wanted.started_before, api.service_clock, clock.wall())
    planned = [(cluster, *_plan_cluster(servers, wanted, since)) for cluster, servers in found]
    every = [(cluster, batch) for cluster, parts, _left in planned for batch in parts]
    return {
        "changed": False,
        "clusters": [
            {
                "id": cluster.id,
                "name": cluster.name,
                "batches": len(parts),
                "task_ids": _running_restart_ids(api, cluster),
            }
            for cluster, parts, _left in planned
        ],
        "batches": [_batch_facts(number, cluster, batch) for number, (cluster, batch) in enumerate(every, 1)],
        # Not "skipped": Ansible would take the Ansible task for skipped.
        "left_alone": [
            {**_zone_facts(cluster, node.zone), **_node_facts(node)}
            for cluster, _parts, left in planned
            for node in left
        ],
        "warnings": warnings,
    }


def _check_request(wanted: RollingRequest) -> None:
    for option in ("clusters", "zones", "servers"):
        advice = "give names or ids" if option == "clusters" else "leave it out to have all"
        check_nonempty(option, getattr(wanted, option), advice)
    for option in ("batch", "min_zones"):
        check_range(option, getattr(wanted, option), 1)
    if wanted.servers is not None and wanted.strategy is Strategy.ZONE:
        raise OptionError("strategy: zone restarts whole zones, and servers are given; give zones, or strategy=server.")


def _find_clusters(api: OcpApi, wanted: RollingRequest) -> list[tuple[Cluster, list[Facts]]]:
    """Each cluster once, with the facts of all its servers."""
    found: dict[int, tuple[Cluster, list[Facts]]] = {}
    for name in wanted.clusters:
        record = exactly_one("clusters", name, *clusters_named(api, name))
        cluster = Cluster.from_api(record)
        if cluster.id not in found:
            servers = [server_facts(server, record) for server in servers_of(api, record, cluster.id)]
            found[cluster.id] = cluster, servers
    return list(found.values())


def _check_scope(found: Sequence[tuple[Cluster, list[Facts]]], wanted: RollingRequest) -> None:
    for cluster, servers in found:
        zones = _zone_names(servers)
        if len(zones) < wanted.min_zones:
            raise TargetError(
                f"clusters: {cluster.label} has {len(zones)} zones ({join_names(zones)}), and "
                f"min_zones={wanted.min_zones} are asked for: with fewer, a restart can interrupt what it serves. "
                "Give a smaller min_zones if it may."
            )
    everything = [server for _cluster, servers in found for server in servers]
    where = f" in {join_names(cluster.label for cluster, _servers in found)}"
    unknown = [zone for zone in wanted.zones or () if zone not in _zone_names(everything)]
    if unknown:
        exactly_one("zones", unknown[0], [], _zone_names(everything), where)
    for name in wanted.servers or ():
        matches = [server for server in everything if _is_named(server, [name])]
        exactly_one("servers", name, matches, [server["name"] for server in everything], where)


def _plan_cluster(servers: Sequence[Facts], wanted: RollingRequest, since: datetime) -> tuple[list[Batch], list[Node]]:
    """The batches of a cluster, and the servers in scope that stay unchanged."""
    nodes = [_plan_node(server, since) for server in servers if _in_scope(server, wanted)]
    root_zones = _zone_names([server for server in servers if server["with_rootserver"]])
    planned = order_batches(nodes, root_zones, wanted.batch, wanted.strategy)
    return planned, unchanged_nodes(nodes, planned)


def _in_scope(server: Facts, wanted: RollingRequest) -> bool:
    in_zone = wanted.zones is None or server["zone"] in wanted.zones
    return in_zone and (wanted.servers is None or _is_named(server, wanted.servers))


def _is_named(server: Facts, names: Sequence[str]) -> bool:
    return str(server["id"]) in names or server["name"] in names


def _plan_node(server: Facts, since: datetime) -> Node:
    """Plan one server by the same decision as its restart will make."""
    member = Member(
        server["name"],
        server["status"],
        server["start_time"],
        started=instant(server["start_time"]),
        serves=database_serves(server["status"], server["inner_status"]),
        inner_status=server["inner_status"],
    )
    look = Look(Observation(server["status"], (member,)), [], since)
    decision = decide_restart(look, Condition(since, InFlight.ATTACH))
    needed = decision.action not in (Action.SKIP, Action.ILL)
    return Node(server["id"], server["name"], server["zone"], server["with_rootserver"], needed, decision.reason)


def _running_restart_ids(api: OcpApi, cluster: Cluster) -> list[int]:
    return [restart.record["id"] for restart in cluster.tasks(api, status=RUNNING)]


def _batch_facts(number: int, cluster: Cluster, batch: Batch) -> Result:
    return {
        "number": number,
        **_zone_facts(cluster, batch.zone),
        "servers": [_node_facts(node) for node in batch.nodes],
        "reason": batch.reason,
        "first_of_zone": batch.first,
        "last_of_zone": batch.last,
    }


def _zone_facts(cluster: Cluster, zone: str) -> Result:
    return {"cluster": cluster.name, "cluster_id": cluster.id, "zone": zone}


def _node_facts(node: Node) -> Result:
    return {
        "id": node.id,
        "name": node.name,
        "with_rootserver": node.root,
        "needed": node.needed,
        "reason": node.reason,
    }


def _zone_names(servers: Sequence[Facts]) -> list[str]:
    return list(dict.fromkeys(server["zone"] for server in servers if server["zone"]))
