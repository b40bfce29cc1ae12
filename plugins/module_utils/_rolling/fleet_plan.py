# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The plan of a fleet restart: which servers of which clusters go in which wave, and why not all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

from .._base.checks import check_tenants
from .._base.cli_hints import start_arbiter_line, start_line
from .._base.clock import Clock
from .._base.errors import OptionError, PermissionDenied
from .._base.parsing import Record
from .._base.text import counted, join_names
from .._journal.rows import Place
from .._ocp.endpoints import OcpApi
from .._ocp.shared_reads import ReadsInOrder, SharedReads, sharing_reads
from .._ocp.side_by_side import Crew
from .._ocp.task_model import is_finished
from .._restart.outlook import Foresight
from .._restart.own_notes import Change
from .._safety.caps import OPTION, Caps, portions
from .._safety.database_rules import Obstacle, obstacle_words, obstacles
from .._safety.layout import Layout
from .._safety.server_states import server_states
from .._safety.verdict import Taken, Verdict, judge, refusal_words, stopped_arbiters
from .._safety.voters import Outage, ServerState
from .._targets.cluster import Cluster, placed_servers, servers_in_all, servers_of
from .._targets.lookup import address_of, clusters_named, exactly_one
from .._targets.operating_tasks import tasks_of_cluster
from .._targets.server import Server
from .._targets.serving import is_stopped
from .._targets.target import PlacedServer
from .._targets.task_names import DATABASE_RESTARTS, SERVER_RESTART, kind_of
from .forecast import Past, Stage, forecast
from .waves import Waves, waves_of
from .zone_order import zone_order

if TYPE_CHECKING:
    from .._base.windows import Calendar
    from .plan_basis import Approval, Basis

Result = dict[str, Any]
# The facts of a server of a wave, and where it is.
Planned: TypeAlias = tuple[Result, Place]


@dataclass(frozen=True)
class FleetRequest:
    """The options of the module: ``servers`` are pairs of cluster and server. Without ``majority`` all go in one wave.

    ``started_before`` is by the clock of this machine, ``change`` is a name; one of them is required. With ``caps`` no
    wave takes down more servers than they allow. The forecast is for ``windows``. ``tolerated_alone`` are the tenants
    that are tolerated for one server instead, by its cluster and name. By ``approval`` the plan is kept, or is one that
    was approved.
    """

    servers: Sequence[tuple[str, str]]
    started_before: datetime | None = None
    majority: bool = True
    tolerated: Sequence[str] | None = None
    change: str | None = None
    journal_url: str | None = None
    caps: Caps | None = None
    windows: Calendar | None = None
    tolerated_alone: Mapping[str, Sequence[str]] = field(default_factory=dict)
    approval: Approval | None = None


def plan_fleet(crew: Crew, wanted: FleetRequest) -> Result:
    """The result of the module: ``waves``, ``left_alone`` and ``refused`` servers, why in ``message``, ``warnings``.

    ``lost_tenants`` are those for which servers are refused or, if none is, cannot all be down at once. ``obstacles``
    are for what the database would refuse the refused servers now, even if all outages were tolerated.

    Each cluster is read once, side by side, without waiting. Raises OptionError, TargetError for what does not exist,
    ServiceError, and PlanChanged if an approved plan does not fit any more.
    """
    check_tenants("tolerate_outage_of", wanted.tolerated)
    plans = crew.each(_find(crew, wanted), lambda api, found, clock: _planned(api, found, wanted, clock))
    side_by_side = zip_longest(*(plan.waves for plan in plans), fillvalue=())
    together = [[server for part in parts for server in part] for parts in side_by_side]
    waves = together if wanted.caps is None else _capped(crew, together, wanted.caps)
    found = {
        "changed": False,
        "waves": [
            {"number": number, "servers": [facts for facts, _place in wave]} for number, wave in enumerate(waves, 1)
        ],
        "left_alone": [facts for plan in plans for facts in plan.left_alone],
        "refused": [facts for plan in plans for facts in plan.refused],
        "message": "\n".join([*(plan.message for plan in plans if plan.message), *_capped_words(together, waves)]),
        "lost_tenants": _lost_tenants(plans),
        "obstacles": [obstacle for plan in plans for obstacle in plan.obstacles],
        "remedies": [line for plan in plans for line in plan.remedies],
        "forecast": _forecast(plans, waves, wanted),
        "warnings": [
            *plans[0].clock_warnings,
            *(words for plan in plans for words in plan.warnings),
            *_unknown_tenants(plans, wanted.tolerated or ()),
        ],
    }
    return found if wanted.approval is None else _approved(found, plans, wanted, wanted.approval)


def _lost_tenants(plans: Sequence[_ClusterPlan]) -> list[str]:
    refusing = [plan for plan in plans if plan.refused]
    return sorted({name for plan in refusing or plans for name in plan.lost})


def _approved(found: Result, plans: Sequence[_ClusterPlan], wanted: FleetRequest, approval: Approval) -> Result:
    """The plan as it is kept for approval, or as far as the approved one is left. Raises PlanChanged."""
    from .fleet_basis import fleet_with_approval

    bases = {plan.cluster_id: plan.basis for plan in plans if plan.basis is not None}
    busy = {plan.cluster_id for plan in plans if plan.is_busy}
    return fleet_with_approval(found, bases, busy, options_of(wanted), approval)


def options_of(wanted: FleetRequest) -> Result:
    """The options that a plan is made of, as JSON; ``servers`` has what is said of one alone.

    Which servers are listed shows in what each cluster rests on, whatever their order and however they are named.
    """
    from .plan_basis import shared_options

    return {
        **shared_options(wanted.change, wanted.started_before, wanted.majority, wanted.tolerated, wanted.caps),
        "servers": {name: sorted(tenants) for name, tenants in wanted.tolerated_alone.items()},
    }


def _forecast(plans: Sequence[_ClusterPlan], waves: Sequence[Sequence[Planned]], wanted: FleetRequest) -> Result:
    pasts = {plan.cluster_id: plan.past for plan in plans}
    stages = [
        Stage(
            [
                (pasts[cluster], count)
                for cluster, count in Counter(facts["cluster_id"] for facts, _place in wave).items()
            ]
        )
        for wave in waves
    ]
    return forecast(stages, pasts.values(), plans[0].planned_at, wanted.windows)


@dataclass(frozen=True)
class _Found:
    """A cluster: its record, its servers as records and placed, and the requested ones in the order of the options."""

    record: Record
    servers: Sequence[Record]
    placed: Sequence[PlacedServer]
    listed: dict[str, PlacedServer]


@dataclass(frozen=True)
class _ClusterPlan:
    """The part of the result that is of one cluster; ``tenants`` are the names of those that were looked at.

    ``lost`` are the names of those that do not allow what is refused or, if nothing is, all at once. ``obstacles`` are
    those of the database, ``remedies`` the lines with the commands that start what is stopped.
    """

    waves: list[list[Planned]]
    left_alone: list[Result]
    refused: list[Result]
    message: str
    lost: set[str]
    obstacles: list[str]
    remedies: list[str]
    tenants: set[str]
    warnings: list[str]
    clock_warnings: list[str]
    cluster_id: int
    past: Past
    planned_at: datetime
    is_busy: bool
    basis: Basis | None


def _find(crew: Crew, wanted: FleetRequest) -> list[_Found]:
    if not wanted.servers:
        raise OptionError("servers: is empty; give the servers, each with its cluster.")
    if wanted.change is None and wanted.started_before is None:
        raise OptionError(
            "change: is not given, nor is started_before; give the name of the change that the restart is for, or its "
            "instant."
        )
    names = list(dict.fromkeys(cluster for cluster, _server in wanted.servers))
    shared = crew.shared_reads(len(names))
    by_name = dict(zip(names, crew.each(names, partial(_find_cluster, shared)), strict=True))
    # The same cluster may be there by its name and by its id.
    found: dict[int, _Found] = {}
    for cluster_name, name in wanted.servers:
        first = by_name[cluster_name]
        cluster = found.setdefault(first.record["id"], first)
        if wanted.approval is not None and _has_left(name, cluster, wanted.approval):
            continue
        server = _named(name, cluster.placed, Cluster.from_api(cluster.record).label)
        cluster.listed[server.member.name] = server
    return list(found.values())


def _has_left(name: str, cluster: _Found, approval: Approval) -> bool:
    """Whether the approved plan has this server and the cluster has not: it is named with all else that has changed."""
    return not _matching(name, cluster.placed) and approval.has_server(cluster.record["id"], name)


def _find_cluster(shared: SharedReads, api: OcpApi, name: str, _clock: Clock) -> _Found:
    with sharing_reads(api, ReadsInOrder(shared)):
        record = exactly_one("servers", name, *clusters_named(api, name))
        servers = servers_of(api, record, record["id"])
    return _Found(record, servers, placed_servers(record, servers), {})


def _planned(api: OcpApi, found: _Found, wanted: FleetRequest, clock: Clock) -> _ClusterPlan:
    plan = _PlannedCluster(api, found, wanted, clock)
    basis = None if wanted.approval is None else plan.basis(found)
    return _ClusterPlan(
        plan.wave_facts(),
        [plan.facts(server) for server in plan.left_alone],
        [plan.facts(server) for server in plan.refused],
        plan.message,
        plan.lost,
        plan.obstacles,
        plan.remedies,
        # After all reads.
        plan.tenants,
        plan.warnings,
        plan.clock_warnings,
        plan.cluster.id,
        plan.past,
        datetime.fromtimestamp(clock.wall(), UTC),
        plan.is_busy,
        basis,
    )


def _named(name: str, placed: Sequence[PlacedServer], cluster: str) -> PlacedServer:
    matches = _matching(name, placed)
    known = [server.member.name for server in placed]
    exactly_one("servers", name, [{"id": server.id} for server in matches], known, f" in {cluster}")
    return matches[0]


def _matching(name: str, placed: Sequence[PlacedServer]) -> list[PlacedServer]:
    return [server for server in placed if name in (str(server.id), server.member.name)]


class _PlannedCluster:
    """The part of the plan that is of one cluster; ``waves`` are of names of servers."""

    def __init__(self, api: OcpApi, found: _Found, wanted: FleetRequest, clock: Clock) -> None:
        self.cluster = Cluster.from_api(found.record)
        self.warnings: list[str] = []
        self.tenants: set[str] = set()
        # Known with the message.
        self.lost: set[str] = set()
        self.obstacles: list[str] = []
        self._stopped_arbiters: list[str] = []
        self._placed = placed = found.placed
        self._majority, self._tolerated = wanted.majority, frozenset(wanted.tolerated or ())
        self._layout = Layout(api, self.cluster.id, self.warnings)
        listed = self._tasks(api)
        self._tasks_listed = listed or []
        self.past = Past.of(self._tasks_listed, SERVER_RESTART)
        self._states = server_states(placed, self._tasks_listed, (), ())
        self._listed = found.listed
        self._root_servers = {
            address_of(one, "ip", "port") for one in found.servers if one.get("withRootserver") is True
        }
        foresight = Foresight(api, Change(wanted.started_before, wanted.change, journal_url=wanted.journal_url), clock)
        self.clock_warnings = foresight.warnings
        outlooks = {
            name: foresight.of(self._server(found.servers, name), server.member, listed)
            for name, server in self._listed.items()
        }
        self._reasons = {name: outlook.reason if outlook.needed else "" for name, outlook in outlooks.items()}
        self._troubled = [name for name in self._listed if self._is_troubled(name)]
        self._needed = [name for name, reason in self._reasons.items() if reason and name not in self._troubled]
        self.waves = self._plan_waves()

    def _is_troubled(self, name: str) -> bool:
        """Whether its restart takes nothing away that is not gone already, or it is not up and would not be restarted.

        What is unclear may serve, so its restart is planned as that of those that do.
        """
        state = self._states[name]
        return state.dead or state.in_flight or (state.unclear and not self._reasons[name])

    def _server(self, servers: Sequence[Record], name: str) -> Server:
        record = next(one for one in servers if address_of(one, "ip", "port") == name)
        return Server.of_records(record, self.cluster, servers)

    def _tasks(self, api: OcpApi) -> list[Record] | None:
        try:
            return tasks_of_cluster(api, self.cluster.id)
        except PermissionDenied as error:
            self.warnings.append(f"It is not known what works on {self.cluster.label}: {error}")
            return None

    def _plan_waves(self) -> Waves:
        if not self._majority:
            together = (*self._troubled, *self._needed)
            return Waves((together,) if together else (), ())
        return waves_of(self._zones(), self._troubled, self._may_go)

    def _may_go(self, names: Collection[str], number: int) -> bool:
        """Whether these may be down together in the wave with this number: in one zone, and no tenant is lost."""
        together = {*names, *(self._troubled if number == 1 else ())}
        zones = {server.zone for server in self._placed if server.member.name in together} - {None}
        return len(zones) <= 1 and not self._verdict(names, number).refused

    @property
    def left_alone(self) -> list[PlacedServer]:
        """Those that have started since, and are not known to do anything but serve."""
        return [
            server for name, server in self._listed.items() if name not in self._needed and name not in self._troubled
        ]

    @property
    def refused(self) -> list[PlacedServer]:
        """Those that no wave can take."""
        return [self._listed[name] for name in self.waves.refused]

    @property
    def message(self) -> str:
        """Why not all can be down at once, and why some cannot be down at all; empty if all can."""
        waves, refused, label = self.waves.waves, self.waves.refused, self.cluster.label
        words = []
        if len(waves) > 1:
            together = self._verdict([name for name in self._needed if name not in refused], 1)
            if not refused:
                self._note_lost(together.refused)
            why = refusal_words(together.refused) or "The database stops servers of one zone at a time."
            words.append(f"The servers of {label} cannot all be down at once. {why}")
        if refused:
            verdicts = [self._verdict([name], len(waves) + 1) for name in refused]
            alone = [outage for verdict in verdicts for outage in verdict.refused]
            self._note_lost(alone)
            self._stopped_arbiters = stopped_arbiters(alone)
            found = {outage.tenant.name: outage for outage in reversed(alone)}
            lost = refusal_words(list(found.values()))
            when = "now" if all(verdict.passes for verdict in verdicts) else "at all"
            words.append(f"{join_names(refused)} of {label} cannot be down {when}. {lost}")
            each = dict.fromkeys(one for name in refused for one in self._obstacles(name, len(waves) + 1))
            if each:
                self.obstacles = [obstacle.text for obstacle in each]
                words.append(f"The database would refuse it, too, since {obstacle_words(list(each))}.")
        return " ".join(words)

    @property
    def remedies(self) -> list[str]:
        """How to start what is in the way of what is refused, and that nothing starts."""
        stopped = [
            name
            for name, server in ((server.member.name, server) for server in self._placed)
            if is_stopped(server.member.status) and not self._states[name].in_flight and name not in self._listed
        ]
        if not self.waves.refused:
            return []
        # The name of the change is for the servers of the list alone.
        servers = [start_line(self.cluster.id, name) for name in stopped]
        return [*servers, *map(start_arbiter_line, self._stopped_arbiters)]

    @property
    def is_busy(self) -> bool:
        """Whether a restart runs on it or on a part of it."""
        return any(
            kind_of(task.get("name")) in DATABASE_RESTARTS and not is_finished(task) for task in self._tasks_listed
        )

    def basis(self, found: _Found) -> Basis:
        """What its plan rests on. Raises a ServiceError if its tenants cannot be read for now."""
        from .._fleet.facts import cluster_facts, server_facts
        from .plan_basis import basis_of

        left = {server.member.name for server in self.left_alone}
        needs = {name: (name not in left, self.facts(server)["reason"]) for name, server in self._listed.items()}
        servers = [server_facts(server, found.record) for server in found.servers]
        return basis_of(cluster_facts(found.record), servers, self._layout.read(), needs, self._tasks_listed)

    def _note_lost(self, refused: Sequence[Outage]) -> None:
        self.lost.update(outage.tenant.name for outage in refused if not outage.tenant.stands_for_all)

    def wave_facts(self) -> list[list[Planned]]:
        """The facts of the servers, each with its place, wave by wave."""
        return [
            [(self.facts(self._listed[name]), self._listed[name].place) for name in wave] for wave in self.waves.waves
        ]

    def facts(self, server: PlacedServer) -> Result:
        """A server as registered facts, with the tenants of its cluster whose outage is tolerated."""
        name = server.member.name
        known = self._tolerated & self.tenants if self.tenants else self._tolerated
        return {
            "cluster": self.cluster.name,
            "cluster_id": self.cluster.id,
            "zone": server.zone,
            "server": name,
            "id": server.id,
            "reason": self._states[name].words or self._reasons[name] or "it has started since",
            "tolerate_outage_of": sorted(known),
        }

    def _zones(self) -> list[list[str]]:
        """The servers that are to be taken, by zone in the order of a rolling restart."""
        zones: dict[str | None, list[str]] = {}
        for server in self._placed:
            if server.member.name in self._needed:
                zones.setdefault(server.zone, []).append(server.member.name)
        if not zones:
            return []
        every = dict.fromkeys(server.zone for server in self._placed if server.zone is not None)
        root_zones = [server.zone or "" for server in self._placed if server.member.name in self._root_servers]
        order = zone_order(every, root_zones, self._layout.read())
        return [zones[zone] for zone in sorted(zones, key=lambda zone: order.rank(zone or ""))]

    def _verdict(self, names: Collection[str], number: int) -> Verdict:
        """The effect if these are down together in the wave with this number; the waves before it have succeeded."""
        verdict = judge(self._layout, Taken(self._placed, self._taking(names, number)), self._tolerated)
        self.tenants.update(verdict.tenants)
        return verdict

    def _obstacles(self, name: str, number: int) -> list[Obstacle]:
        """For what the database would refuse to stop a server in the wave with this number, if no outage mattered."""
        return obstacles(self._placed, self._taking([name], number), self._layout.read(), self._tolerated | self.lost)

    def _taking(self, names: Collection[str], number: int) -> dict[str, ServerState]:
        states = self._states if number == 1 else _all_up(self._states, self._listed)
        return {name: replace(state, taken=name in names) for name, state in states.items()}


def _all_up(states: Mapping[str, ServerState], listed: Iterable[str]) -> dict[str, ServerState]:
    return {**states, **{name: ServerState(states[name].zone) for name in listed}}


def _unknown_tenants(plans: Sequence[_ClusterPlan], tolerated: Collection[str]) -> list[str]:
    unknown = sorted(set(tolerated).difference(*(plan.tenants for plan in plans)))
    if not unknown or not any(plan.tenants for plan in plans):
        return []
    return [f"tolerate_outage_of: no tenant of these clusters has the name {join_names(unknown)}."]


def _capped(crew: Crew, waves: Sequence[Sequence[Planned]], caps: Caps) -> list[list[Planned]]:
    """These waves, each in as many parts as the caps ask for."""
    [total] = crew.each([caps], lambda api, _caps, _clock: servers_in_all(api)) if caps.needs_total else [0]
    found = []
    for wave in waves:
        by_place = {place: (facts, place) for facts, place in wave}
        found += [[by_place[place] for place in part] for part in portions(caps, total, by_place)]
    return found


def _capped_words(together: Sequence[object], waves: Sequence[object]) -> list[str]:
    if len(waves) == len(together):
        return []
    return [f"With {OPTION} they take {counted(len(waves), 'wave')}, and {len(together)} without."]
