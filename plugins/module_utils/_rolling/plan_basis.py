# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the plan of a restart rests on, and the plan that is kept for approval or run as it was approved."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .._base.cli_hints import BY_OPTIONS, Hints
from .._base.parsing import Record, integer
from .._fleet.facts import Facts
from .._restart.time_gate import longest_restart
from .._restart.values_seen import ValuesSeen
from .._safety.caps import Caps
from .._safety.layout import by_locality
from .._targets.task_names import SERVER_RESTART, ZONE_RESTART
from .approved_plan import ROLLING, check_unchanged, sealed, server_key, steps_left
from .rolling_order import Node

Result = dict[str, Any]


@dataclass(frozen=True)
class Approval:
    """What to do with the plan: run it as ``approved`` in the file that ``named`` names, or ``keep`` it; or both."""

    approved: Result | None = None
    named: str = ""
    keep: Callable[[Result], None] | None = None
    hints: Hints = BY_OPTIONS

    @property
    def plans_only(self) -> bool:
        """Whether the plan is written to be approved, and nothing is restarted."""
        return self.approved is None

    def words(self, digest: str) -> str:
        """The line that shows the digest of the plan."""
        return f"{'plan' if self.plans_only else 'approved plan, unchanged'}: {digest}"

    def has_server(self, cluster_id: int, name: str) -> bool:
        """Whether the approved plan has a server of this cluster with this id, as text, or address."""
        clusters = [] if self.approved is None else self.approved["clusters"]
        servers = [server for cluster in clusters if cluster["id"] == cluster_id for server in cluster["servers"]]
        return any(name in (str(server["id"]), server["name"]) for server in servers)


@dataclass(frozen=True)
class Basis:
    """One cluster: what its plan rests on, and the seconds of its longest past restart of a server and of a zone."""

    facts: Result
    seconds: dict[str, float | None]


def basis_of(
    cluster: Facts,
    servers: Sequence[Facts],
    tenants: Iterable[Record],
    needs: Mapping[str, tuple[bool, str]],
    listed: Sequence[Record],
    values: ValuesSeen | None = None,
) -> Basis:
    """What the plan of a cluster rests on.

    ``needs`` are its servers in scope, by name: whether each needs the restart, and why. ``listed`` are its tasks.
    """
    shown = []
    for server in servers:
        needed, reason = needs.get(server["name"], (None, ""))
        shown.append(
            {
                **{key: server[key] for key in ("id", "name", "zone", "status", "idc", "region")},
                "root": server["with_rootserver"],
                "needed": needed,
                "reason": reason,
                "values": {} if values is None else values.effect.shown(server["name"]),
            }
        )
    facts = {
        **{key: cluster[key] for key in ("id", "name")},
        "servers": sorted(shown, key=lambda one: str(one["name"])),
        "tenants": sorted(map(_tenant, tenants), key=lambda one: str(one["name"])),
    }
    tasks = {"server": SERVER_RESTART, "zone": ZONE_RESTART}
    slowest = {kind: longest_restart(listed, name) for kind, name in tasks.items()}
    return Basis(facts, {kind: None if task is None else task.duration for kind, task in slowest.items()})


def needs_of(nodes: Iterable[Node]) -> dict[str, tuple[bool, str]]:
    """The servers of a rolling restart as basis_of wants them."""
    return {node.name: (node.needed, node.reason) for node in nodes}


def _tenant(record: Record) -> Result:
    voters = [replica.zone for replica in by_locality(record).replicas if replica.votes is not False]
    return {
        "id": integer(record.get("id")),
        "name": str(record.get("name")),
        "voters": sorted(voters),
        "locality": record.get("locality"),
        "primary_zone": record.get("primaryZone"),
    }


def shared_options(
    change: str | None,
    started_before: datetime | None,
    majority: bool,
    tolerated: Sequence[str] | None,
    caps: Caps | None,
) -> Result:
    """The options that every plan is made of, as JSON."""
    return {
        "change": change,
        "started_before": None if started_before is None else started_before.astimezone(UTC).isoformat(),
        "safety": "majority" if majority else "none",
        "tolerate_outage_of": sorted(tolerated or ()),
        "most_down": {} if caps is None else dict(caps.most),
    }


def as_approved(
    found: Result, now: Result, busy: Collection[int], approval: Approval, left: Callable[[Result], Result]
) -> Result:
    """The plan ``found`` with the digest of ``now``, its document; if one was approved, with what is ``left`` of that.

    ``busy`` are the ids of the clusters on which a restart runs. Raises PlanChanged, and OptionError if the plan cannot
    be kept.
    """
    if approval.approved is None:
        if approval.keep is not None:
            approval.keep(now)
        return {**found, "digest": now["digest"]}
    check_unchanged(approval.approved, now, approval.named, busy, approval.hints.named)
    return {**found, **left(approval.approved), "digest": approval.approved["digest"]}


def voters_lost(basis: Basis, zone: str | None) -> list[str]:
    """The tenants that have a voter in this zone, and so lose it while a server of the zone restarts."""
    return [one["name"] for one in basis.facts["tenants"] if zone in one["voters"]]


def without_expectations(step: Result) -> Result:
    """A batch or wave without what is only told to the person who approves it."""
    return {key: value for key, value in step.items() if key not in ("tenants_without_a_voter", "seconds")}


def total_seconds(steps: Sequence[Result]) -> float | None:
    """How long all of them take one after another; None if that of one is not known."""
    times = [step["seconds"] for step in steps]
    return None if None in times else sum(times)


def rolling_with_approval(found: Result, bases: Sequence[Basis], options: Result, approval: Approval) -> Result:
    """The plan of a rolling restart ``found`` now; see as_approved."""
    busy = {cluster["id"] for cluster in found["clusters"] if cluster["task_ids"]}
    return as_approved(
        found, _document(found, bases, options), busy, approval, lambda approved: _left(found, approved, options)
    )


def _left(found: Result, approved: Result, options: Result) -> Result:
    servers = [server for batch in found["batches"] for server in batch["servers"]]
    needed = {server_key(one) for one in servers if one["needed"]}
    steps = [without_expectations(batch) for batch in approved["batches"]]
    left = steps_left(steps, servers, needed, whole=options["strategy"] == "zone")
    zones = [(batch["cluster_id"], batch["zone"]) for batch in left]
    for place, batch in enumerate(left):
        batch["first_of_zone"] = zones[place] not in zones[:place]
        batch["last_of_zone"] = zones[place] not in zones[place + 1 :]
    counts = [batch["cluster_id"] for batch in left]
    clusters = [{**cluster, "batches": counts.count(cluster["id"])} for cluster in found["clusters"]]
    return {"clusters": clusters, "batches": left}


def _document(found: Result, bases: Sequence[Basis], options: Result) -> Result:
    """The plan as it is written."""
    known = {basis.facts["id"]: basis for basis in bases}
    batches = [_expected(batch, known[batch["cluster_id"]], options["strategy"]) for batch in found["batches"]]
    one_by_one = options["strategy"] == "server"
    return sealed(
        {
            "kind": ROLLING,
            "options": options,
            "clusters": [basis.facts for basis in bases],
            "blocked": {one["name"]: one["message"] for one in found["clusters"] if one["blocked"]},
            "batches": batches,
            "requests": sum(len(batch["servers"]) if one_by_one else 1 for batch in batches),
            "seconds": total_seconds(batches),
        }
    )


def _expected(batch: Result, basis: Basis, strategy: str) -> Result:
    """A batch with the tenants that lose a voter meanwhile, and for how long: as the longest past restart took."""
    return {
        **batch,
        "tenants_without_a_voter": voters_lost(basis, batch["zone"]),
        "seconds": basis.seconds[strategy],
    }
