# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the plan of a rolling restart rests on, and the plan that is kept for approval or run as it was approved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .._base.cli_hints import BY_OPTIONS, Hints
from .._base.parsing import Record, integer
from .._health.read_health import ClusterHealth
from .._restart.time_gate import longest_restart
from .._restart.values_seen import ValuesSeen
from .._safety.layout import by_locality
from .._targets.task_names import SERVER_RESTART, ZONE_RESTART
from .approved_plan import ROLLING, check_unchanged, sealed, steps_left
from .rolling_order import Node

Result = dict[str, Any]


@dataclass(frozen=True)
class Approval:
    """What to do with the plan: run it as ``approved`` in the file that ``named`` names, or ``keep`` it; or both."""

    approved: Result | None = None
    named: str = ""
    keep: Callable[[Result], None] | None = None
    hints: Hints = BY_OPTIONS


@dataclass(frozen=True)
class Basis:
    """One cluster: what its plan rests on, and the seconds of its longest past restart of a server and of a zone."""

    facts: Result
    seconds: dict[str, float | None]


def basis_of(
    health: ClusterHealth, tenants: Iterable[Record], nodes: Sequence[Node], values: ValuesSeen | None
) -> Basis:
    """What the plan of a cluster rests on; ``nodes`` are its servers in scope."""
    in_scope = {node.name: node for node in nodes}
    servers = []
    for server in health.servers:
        node = in_scope.get(server["name"])
        servers.append(
            {
                **{key: server[key] for key in ("id", "name", "zone", "status", "idc", "region")},
                "root": server["with_rootserver"],
                "needed": None if node is None else node.needed,
                "reason": "" if node is None else node.reason,
                "values": {} if values is None else values.effect.shown(server["name"]),
            }
        )
    facts = {
        **{key: health.cluster[key] for key in ("id", "name")},
        "servers": sorted(servers, key=lambda one: str(one["name"])),
        "tenants": sorted(map(_tenant, tenants), key=lambda one: str(one["name"])),
    }
    tasks = {"server": SERVER_RESTART, "zone": ZONE_RESTART}
    slowest = {kind: longest_restart(health.listed, name) for kind, name in tasks.items()}
    return Basis(facts, {kind: None if task is None else task.duration for kind, task in slowest.items()})


def _tenant(record: Record) -> Result:
    voters = [replica.zone for replica in by_locality(record).replicas if replica.votes is not False]
    return {
        "id": integer(record.get("id")),
        "name": str(record.get("name")),
        "voters": sorted(voters),
        "locality": record.get("locality"),
        "primary_zone": record.get("primaryZone"),
    }


def with_approval(found: Result, bases: Sequence[Basis], options: Result, approval: Approval) -> Result:
    """The plan ``found`` now with its digest; if one was approved, that one, as far as it is left.

    Raises PlanChanged, and OptionError if the plan cannot be kept.
    """
    now = _document(found, bases, options)
    if approval.approved is None:
        if approval.keep is not None:
            approval.keep(now)
        return {**found, "digest": now["digest"]}
    busy = {cluster["id"] for cluster in found["clusters"] if cluster["task_ids"]}
    check_unchanged(approval.approved, now, approval.named, busy, approval.hints.named)
    servers = {server["id"]: server for batch in found["batches"] for server in batch["servers"]}
    whole = options["strategy"] == "zone"
    left = steps_left([_shown(batch) for batch in approval.approved["batches"]], servers, whole=whole)
    counts = [batch["cluster_id"] for batch in left]
    clusters = [{**cluster, "batches": counts.count(cluster["id"])} for cluster in found["clusters"]]
    return {**found, "clusters": clusters, "batches": left, "digest": approval.approved["digest"]}


def _document(found: Result, bases: Sequence[Basis], options: Result) -> Result:
    """The plan as it is written."""
    known = {basis.facts["id"]: basis for basis in bases}
    batches = [_expected(batch, known[batch["cluster_id"]], options["strategy"]) for batch in found["batches"]]
    times = [batch["seconds"] for batch in batches]
    one_by_one = options["strategy"] == "server"
    return sealed(
        {
            "kind": ROLLING,
            "options": options,
            "clusters": [basis.facts for basis in bases],
            "blocked": {one["name"]: one["message"] for one in found["clusters"] if one["blocked"]},
            "batches": batches,
            "requests": sum(len(batch["servers"]) if one_by_one else 1 for batch in batches),
            "seconds": None if None in times else sum(times),
        }
    )


def _expected(batch: Result, basis: Basis, strategy: str) -> Result:
    """A batch with the tenants that lose a voter meanwhile, and for how long: as the longest past restart took."""
    tenants = [one["name"] for one in basis.facts["tenants"] if batch["zone"] in one["voters"]]
    return {**batch, "tenants_without_a_voter": tenants, "seconds": basis.seconds[strategy]}


def _shown(batch: Result) -> Result:
    """The batch without what is only told to the person who approves it."""
    return {key: value for key, value in batch.items() if key not in ("tenants_without_a_voter", "seconds")}
