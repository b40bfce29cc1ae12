# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The plan of a rolling restart: which servers are in scope, which stay unchanged and why, what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .._base.checks import check_nonempty, check_range, check_tenants
from .._base.cli_hints import BY_OPTIONS, Hints, sentence, ways_last
from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import OptionError, TargetError
from .._base.text import counted, join_names
from .._fleet.facts import Facts
from .._health.health_gate import problem_words
from .._health.health_rules import Kind, is_unhealthy
from .._health.read_health import ClusterHealth, Demands, read_health
from .._ocp.endpoints import OcpApi
from .._restart.outlook import Foresight
from .._restart.own_notes import Change
from .._restart.reasons import doubt_error
from .._restart.values_reader import ValuesReader
from .._restart.values_seen import ValuesSeen
from .._safety.caps import Caps
from .._safety.database_rules import Obstacle
from .._safety.layout import Layout
from .._signs.offline_budget import raised_seconds
from .._signs.sign_rules import Watch
from .._targets.cluster import Cluster, member_of, placed_servers, servers_in_all
from .._targets.lookup import address_of, clusters_named, exactly_one
from .._targets.server import Server
from .._targets.task_names import DATABASE_RESTARTS, SERVER_RESTART, ZONE_RESTART, kind_of
from .forecast import Past, Stage, forecast
from .planned_signs import PlannedSigns, SeenSigns
from .rolling_order import Batch, Node, Strategy, done_by_zone, order_batches, unchanged_nodes, with_canaries
from .rolling_safety import first_obstacles, obstacle_reason, unsafe_words
from .zone_order import zone_order

if TYPE_CHECKING:
    from .._base.windows import Calendar
    from .plan_basis import Approval, Basis

Result = dict[str, Any]


@dataclass(frozen=True)
class RollingRequest:
    """The options of the module; ``started_before`` is by the clock of this machine, ``change`` is a name.

    Without ``batch`` a batch is as large as may be. With ``majority`` no tenant that is not ``tolerated`` may lose its
    own. The first ``canary`` servers of the first clusters go before all others, one at a time. ``watch`` are the signs
    of trouble to look for; ``judges_budget``: read how long a server may be offline. ``until_effective`` are the values
    of parameters that the restart is for. At least one of these three is required. With ``caps`` no batch takes down
    more servers than they allow. With ``approval`` the plan is kept, or run as it was approved. The forecast is for
    ``windows``, with ``soak`` seconds after the last canary. ``raised`` is what the time that a server may be
    offline is raised to, as text; None to leave it.
    """

    clusters: Sequence[str]
    zones: Sequence[str] | None
    servers: Sequence[str] | None
    batch: int | None
    strategy: Strategy
    started_before: datetime | None
    min_zones: int = 0
    majority: bool = True
    tolerated: Sequence[str] | None = None
    canary: int = 0
    watch: Watch | None = None
    judges_budget: bool = False
    until_effective: Mapping[str, str] = field(default_factory=dict)
    change: str | None = None
    journal_url: str | None = None
    caps: Caps | None = None
    windows: Calendar | None = None
    soak: float = 0.0
    hints: Hints = BY_OPTIONS
    approval: Approval | None = None
    raised: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it is for all servers of each cluster."""
        return self.zones is None and self.servers is None


def batch_size(option: str) -> int | None:
    """The option ``batch`` as a number; None for as many as may be. Raises OptionError."""
    if option == "auto":
        return None
    if not option.isdecimal():
        given = option or "an empty text"
        raise OptionError(f"batch: {given} is not a number; give how many servers of a zone at the same time, or auto.")
    return int(option)


def check_options(api: OcpApi, wanted: RollingRequest) -> Result:
    """Make sure that a plan can be asked for, and plan nothing. Raises OptionError, TargetError and ServiceError."""
    _check_request(wanted)
    _check_scope(_find_clusters(api, wanted), wanted)
    return {"changed": False}


def plan_rolling_restart(
    api: OcpApi, wanted: RollingRequest, clock: Clock = SYSTEM_CLOCK, *, notes_proofs: bool = False
) -> Result:
    """The result of the module: ``clusters``, ``batches`` in order, ``left_alone`` servers, ``done``, and ``warnings``.

    Each cluster is checked once, without waiting; its problems are in the result. ``notes_proofs``: tasks that alone
    prove that a server has restarted are noted in the journal.

    Raises OptionError, and TargetError for unknown names and for a cluster with too few zones.
    """
    _check_request(wanted)
    found = _find_clusters(api, wanted)
    _check_scope(found, wanted)
    change = Change(wanted.started_before, wanted.change, wanted.until_effective, wanted.journal_url)
    foresight = Foresight(api, change, clock)
    warnings = foresight.warnings
    total = servers_in_all(api) if wanted.caps is not None and wanted.caps.needs_total else 0
    raised = raised_seconds(wanted.raised)
    signs = PlannedSigns(api, wanted.watch, wanted.judges_budget, clock, warnings, foresight.began, raised)
    planned = [
        replace(_plan_cluster(api, cluster, health, wanted, foresight, total, clock), signs=signs.of(health))
        for cluster, health in found
    ]
    if notes_proofs:
        foresight.note_proofs()
    planned = _with_canaries([replace(plan, changes=foresight.unbegun) for plan in planned], wanted)
    every = [(plan, batch) for plan in planned for batch in plan.batches]
    result = {
        "changed": False,
        "clusters": [_cluster_facts(plan) for plan in planned],
        "batches": [_batch_facts(number, plan.cluster, batch) for number, (plan, batch) in enumerate(every, 1)],
        # Not "skipped": Ansible would count the Ansible task as skipped.
        "left_alone": [_node_facts(plan.cluster, node) for plan in planned for node in plan.unchanged],
        "done": [_batch_facts(None, plan.cluster, zone) for plan in planned for zone in plan.done],
        "forecast": _forecast(planned, wanted, clock),
        "warnings": warnings,
    }
    return result if wanted.approval is None else _approved(result, planned, wanted, wanted.approval)


def _approved(result: Result, planned: Sequence[_Plan], wanted: RollingRequest, approval: Approval) -> Result:
    """The plan as it is kept for approval, or as it was approved. Raises PlanChanged."""
    from .plan_basis import rolling_with_approval

    bases = [plan.basis for plan in planned if plan.basis is not None]
    return rolling_with_approval(result, bases, options_of(wanted), approval)


def _forecast(planned: Sequence[_Plan], wanted: RollingRequest, clock: Clock) -> Result:
    """How long it takes, for what is not blocked."""
    kind = SERVER_RESTART if wanted.strategy is Strategy.SERVER else ZONE_RESTART
    pasts = [Past.of(plan.health.listed, kind) for plan in planned]
    there = [
        (batch, past) for plan, past in zip(planned, pasts, strict=True) if not _reasons(plan) for batch in plan.batches
    ]
    canaries = [place for place, (batch, _past) in enumerate(there) if batch.canary]
    watched = canaries[-1] if canaries and len(canaries) < len(there) else None
    stages = [
        Stage(
            [(past, len(batch.nodes) if wanted.strategy is Strategy.SERVER else 1)],
            wanted.soak if place == watched else 0.0,
        )
        for place, (batch, past) in enumerate(there)
    ]
    return forecast(stages, pasts, datetime.fromtimestamp(clock.wall(), UTC), wanted.windows)


def _with_canaries(planned: Sequence[_Plan], wanted: RollingRequest) -> list[_Plan]:
    """The same plans with their canaries. A blocked cluster has none."""
    found, left = [], wanted.canary
    for plan in planned:
        count = 0 if _reasons(plan) else left
        found.append(replace(plan, batches=with_canaries(plan.batches, count, wanted.strategy)))
        left -= 0 if _reasons(plan) else sum(len(batch.nodes) for batch in plan.batches)
    return found


@dataclass(frozen=True)
class _Plan:
    """The plan of one cluster: its batches, the servers in scope that stay unchanged, and why it is not safe, if so.

    The ``obstacles`` are what the database would refuse now, ``crossed`` the caps that a whole zone passes, ``changes``
    the names for which the start of a server that is stopped is to count.
    """

    cluster: Cluster
    health: ClusterHealth
    batches: list[Batch]
    unchanged: list[Node]
    unsafe: Sequence[str]
    obstacles: Sequence[Obstacle]
    hints: Hints = BY_OPTIONS
    crossed: Sequence[str] = ()
    signs: SeenSigns = field(default_factory=SeenSigns)
    changes: Mapping[str, str] = field(default_factory=dict)
    basis: Basis | None = None

    @property
    def done(self) -> list[Batch]:
        """What needs no restart, or no other one, by zone."""
        return done_by_zone(self.unchanged, self.batches)


def options_of(wanted: RollingRequest) -> Result:
    """The options that a plan is made of, as JSON."""
    from .plan_basis import shared_options

    watch = wanted.watch
    return {
        **shared_options(wanted.change, wanted.started_before, wanted.majority, wanted.tolerated, wanted.caps),
        "clusters": [*wanted.clusters],
        "zones": None if wanted.zones is None else [*wanted.zones],
        "servers": None if wanted.servers is None else [*wanted.servers],
        "batch": "auto" if wanted.batch is None else str(wanted.batch),
        "strategy": wanted.strategy.value,
        "until_effective": dict(wanted.until_effective),
        "min_zones": wanted.min_zones,
        "canary": wanted.canary,
        "stop_on": [] if watch is None else sorted(sign.value for sign in watch.signs),
        "max_lag": None if watch is None else watch.max_lag,
    }


def _check_request(wanted: RollingRequest) -> None:
    raised_seconds(wanted.raised)
    for option in ("clusters", "zones", "servers"):
        advice = "give names or ids" if option == "clusters" else "leave it out to have all"
        check_nonempty(option, getattr(wanted, option), advice)
    if wanted.change is None and wanted.started_before is None and not wanted.until_effective:
        raise OptionError(
            "change: is not given, nor is started_before or until_effective; give the name of the change that the "
            "restart is for, its instant, or the values that it has set."
        )
    check_tenants(wanted.hints.named("tolerate_outage_of"), wanted.tolerated)
    for option in ("min_zones", "canary"):
        check_range(option, getattr(wanted, option), 0)
    if wanted.batch is not None:
        check_range("batch", wanted.batch, 1, unit=", or auto")
    if wanted.servers is not None and wanted.strategy is Strategy.ZONE:
        raise OptionError("strategy: zone restarts whole zones, and servers are given; give strategy=server or zones.")


def _find_clusters(api: OcpApi, wanted: RollingRequest) -> list[tuple[Cluster, ClusterHealth]]:
    """Each cluster once, with its health and the facts of all its servers."""
    found: dict[int, tuple[Cluster, ClusterHealth]] = {}
    for name in wanted.clusters:
        record = exactly_one("clusters", name, *clusters_named(api, name))
        cluster = Cluster.from_api(record)
        if cluster.id not in found:
            found[cluster.id] = cluster, read_health(api, record, Demands())
    return list(found.values())


def _check_scope(found: Sequence[tuple[Cluster, ClusterHealth]], wanted: RollingRequest) -> None:
    for cluster, health in found:
        zones = _zone_names(health.servers)
        if len(zones) < wanted.min_zones:
            option = wanted.hints.named("min_zones")
            raise TargetError(
                f"clusters: {cluster.label} has {counted(len(zones), 'zone')} ({join_names(zones)}), and "
                f"{option}={wanted.min_zones} is required. Give a smaller {option}, or leave it out."
            )
    everything = [server for _cluster, health in found for server in health.servers]
    where = f" in {join_names(cluster.label for cluster, _health in found)}"
    unknown = [zone for zone in wanted.zones or () if zone not in _zone_names(everything)]
    if unknown:
        exactly_one("zones", unknown[0], [], _zone_names(everything), where)
    for name in wanted.servers or ():
        matches = [server for server in everything if _is_named(server, [name])]
        exactly_one("servers", name, matches, [server["name"] for server in everything], where)
    if everything and not any(_in_scope(server, wanted) for server in everything):
        raise TargetError(
            f"zones, servers: none of {join_names(wanted.servers or ())} is in {join_names(wanted.zones or ())}. "
            "Leave one of the options out, or give zones of these servers."
        )


def _plan_cluster(
    api: OcpApi,
    cluster: Cluster,
    health: ClusterHealth,
    wanted: RollingRequest,
    foresight: Foresight,
    total: int,
    clock: Clock,
) -> _Plan:
    servers, warnings = health.servers, foresight.warnings
    alone = wanted.started_before is None and wanted.change is None
    reader = ValuesReader(api, (cluster.id, cluster.name), wanted.until_effective, warnings, alone=alone)
    reader.learn(clock)
    reader.read()
    values = reader.seen([server["name"] for server in servers])
    nodes = [_plan_node(server, cluster, health, foresight, values) for server in servers if _in_scope(server, wanted)]
    root_zones = _zone_names([server for server in servers if server["with_rootserver"]])
    layout = Layout(api, cluster.id, warnings)
    judged = wanted.majority and any(node.needed for node in nodes)
    order = zone_order(_zone_names(servers), root_zones, layout.read() if judged else ())
    planned = order_batches(
        nodes, order, wanted.batch, wanted.strategy, lambda some: not _crossed(wanted.caps, total, some)
    )
    crossed = [words for batch in planned for words in _crossed(wanted.caps, total, batch.nodes)]
    found: Sequence[Obstacle] = ()
    unsafe: Sequence[str] = ()
    if judged:
        placed = placed_servers(health.records.cluster, health.records.servers)
        tolerated = wanted.tolerated or ()
        found = first_obstacles(layout, placed, health.listed, planned, tolerated)
        lost = unsafe_words(layout, placed, planned, tolerated, wanted.hints)
        unsafe = [*filter(None, (lost, obstacle_reason(found, tolerated, wanted.hints)))]
    basis = None
    if wanted.approval is not None:
        from .plan_basis import basis_of, needs_of

        basis = basis_of(health.cluster, health.servers, layout.read(), needs_of(nodes), health.listed, values)
    return _Plan(
        cluster, health, planned, unchanged_nodes(nodes, planned), unsafe, found, wanted.hints, crossed, basis=basis
    )


def _crossed(caps: Caps | None, total: int, nodes: Sequence[Node]) -> list[str]:
    """Which caps these would pass, in words, if they were down together and no other server was."""
    found = [] if caps is None else caps.crossings(total, (), [node.place for node in nodes])
    return [crossing.words for crossing in found]


def _in_scope(server: Facts, wanted: RollingRequest) -> bool:
    in_zone = wanted.zones is None or server["zone"] in wanted.zones
    return in_zone and (wanted.servers is None or _is_named(server, wanted.servers))


def _is_named(server: Facts, names: Sequence[str]) -> bool:
    return str(server["id"]) in names or server["name"] in names


def _plan_node(
    server: Facts, cluster: Cluster, health: ClusterHealth, foresight: Foresight, values: ValuesSeen | None
) -> Node:
    """Plan one server by the same decision as its restart will make. Raises an OcpError if that is none."""
    records = health.records.servers
    record = next(one for one in records if address_of(one, "ip", "port") == server["name"])
    target = Server.of_records(record, cluster, records)
    outlook = foresight.of(target, member_of(record), health.listed, values)
    if outlook.is_doubted and not is_unhealthy(server):
        raise doubt_error(f"No plan was made: {outlook.reason}.")
    name, zone, root = server["name"], server["zone"], server["with_rootserver"]
    return Node(
        server["id"],
        name,
        zone,
        root,
        outlook.needed,
        outlook.reason,
        not is_unhealthy(server),
        outlook.restarted,
        server["idc"],
        server["region"],
    )


def _cluster_facts(plan: _Plan) -> Result:
    cluster, problems = plan.cluster, plan.health.problems
    restarts = [task for task in plan.health.tasks if not task.finished and kind_of(task.name) in DATABASE_RESTARTS]
    reasons = _reasons(plan)
    return {
        "id": cluster.id,
        "name": cluster.name,
        "batches": len(plan.batches),
        "task_ids": [task.id for task in restarts],
        "waits_for": [task.words for task in restarts],
        "problems": [problem.text for problem in problems],
        "serves": all(problem.kind is Kind.AT_WORK for problem in problems),
        "safe": not plan.unsafe and not plan.crossed,
        "obstacles": [obstacle.text for obstacle in plan.obstacles],
        "blocked": bool(reasons),
        "message": "\n".join(ways_last(reasons)),
        **plan.signs.result(),
    }


def _reasons(plan: _Plan) -> list[str]:
    """Why no restart should begin in the cluster."""
    ill = [problem for problem in plan.health.problems if problem.kind in (Kind.ILL, Kind.HELD)]
    ill += plan.signs.blocking
    return [
        *([problem_words(ill, changes=plan.changes)] if ill else []),
        *plan.unsafe,
        *([_capped_words(plan)] if plan.crossed else []),
    ]


def _capped_words(plan: _Plan) -> str:
    by_server = plan.hints.given("strategy", "server")
    advice = f" {sentence(f'Give {by_server}')}" if by_server else ""
    return f"A zone cannot restart at once: {'; '.join(dict.fromkeys(plan.crossed))}.{advice}"


def _batch_facts(number: int | None, cluster: Cluster, batch: Batch) -> Result:
    return {
        "number": number,
        **_zone_facts(cluster, batch.zone),
        "servers": [_node_facts(cluster, node) for node in batch.nodes],
        "reason": batch.reason,
        "first_of_zone": batch.first,
        "last_of_zone": batch.last,
        "canary": batch.canary,
    }


def _zone_facts(cluster: Cluster, zone: str) -> Result:
    return {"cluster": cluster.name, "cluster_id": cluster.id, "zone": zone}


def _node_facts(cluster: Cluster, node: Node) -> Result:
    return {
        **_zone_facts(cluster, node.zone),
        "id": node.id,
        "name": node.name,
        "with_rootserver": node.root,
        "needed": node.needed,
        "reason": node.reason,
        "serves": node.serves,
        "restarted": node.restarted,
    }


def _zone_names(servers: Sequence[Facts]) -> list[str]:
    return list(dict.fromkeys(server["zone"] for server in servers if server["zone"]))
