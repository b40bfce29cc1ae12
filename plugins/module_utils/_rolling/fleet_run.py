# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The restart of many servers by a plan, at once or in waves: refuse it or show it, begin the change, then restart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from os.path import lexists
from typing import TYPE_CHECKING, Any

from .._base.cli_hints import NEXT_STEPS_HEADING, RUN_AGAIN, Hints, sentence
from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import NotAllRestarted, OcpError, OptionError, attach_facts, attached_facts
from .._base.text import counted
from .._ocp.endpoints import OcpApi
from .._ocp.side_by_side import Crew
from .._restart.evidence import PROOF_TIMEOUT
from .._restart.fleet_outcome import FleetMember, first_of
from .._restart.many_restarts import WaveByWave, restart_many
from .._restart.restart_request import RestartRequest
from .._restart.run import note_first_use
from .._signs.offline_budget import raised_seconds
from .._targets.cluster import Cluster
from .._targets.target import Selector
from .._waiting.progress_lines import progress_line
from .fleet_plan import FleetRequest, plan_fleet
from .run_inspections import RunInspections
from .tally import Tally

if TYPE_CHECKING:
    from .plan_basis import Approval
    from .raised_time import OfflineTimes

Result = dict[str, Any]

# Of a larger plan only the counts are shown.
MOST_WAVES, MOST_NAMED, MOST_REASONS = 12, 10, 3


@dataclass(frozen=True)
class FleetRun:
    """The request: what to ``plan``, and how ``member`` restarts a server of the plan at its place in the options.

    ``request`` is what all of them have in common. Unless ``in_waves``, all have to restart at the same time. No wave
    begins while the ``pause_file`` is there.
    ``raised`` is what the time that a server may be offline is raised to for the run, as text. OCP inspects the
    clusters before the first wave and after the last one for the scenario ``inspection``, if there is one.
    """

    plan: FleetRequest
    member: Callable[[Result, int], FleetMember]
    request: RestartRequest
    in_waves: bool
    proof_timeout: float
    pause_file: str | None = None
    raised: str | None = None
    inspection: str | None = None

    @property
    def plans_only(self) -> bool:
        """Whether the plan is kept for approval, and nothing is restarted."""
        return self.plan.approval is not None and self.plan.approval.plans_only


def restart_by_plan(api: OcpApi, crew: Crew, wanted: FleetRun, clock: Clock = SYSTEM_CLOCK) -> Result:
    """Plan it, then restart wave by wave; returns the module's result, with the ``plan``.

    In check mode it decides for each server, and restarts none. A plan that is kept for approval is only shown. Raises
    PlanChanged, NotAllRestarted before anything is sent if they cannot restart as asked, and what ``restart_many``
    raises; the facts have the plan too.
    """
    if wanted.in_waves and not wanted.request.wait and not wanted.plans_only:
        raise OptionError("waves: true needs wait=true, since a wave begins when the one before serves.")
    planned = plan_fleet(crew, wanted.plan)
    fleet = _PlannedFleet(api, crew, wanted, planned, clock)
    try:
        found = fleet.restart()
    except OcpError as error:
        error.facts = fleet.completed(error.facts)
        raise
    except BaseException as interruption:
        attach_facts(interruption, fleet.completed(attached_facts(interruption)))
        raise
    return fleet.completed(found)


class _PlannedFleet:
    """One such run."""

    def __init__(self, api: OcpApi, crew: Crew, wanted: FleetRun, planned: Result, clock: Clock) -> None:
        self._api = api
        self._crew = crew
        self._wanted = wanted
        self._request = wanted.request
        self._plan = plan = {key: value for key, value in planned.items() if key not in ("changed", "warnings")}
        self._warnings = list(planned["warnings"])
        self._clock = clock
        self._waves: list[list[Result]] = [wave["servers"] for wave in plan["waves"]]
        servers = [*(server for wave in self._waves for server in wave), *plan["left_alone"]]
        places = {name: place for place, name in reversed(list(enumerate(wanted.plan.servers)))}
        # In the order of the options.
        self._places = {
            _key(server): min(map(places.__getitem__, _names(server) & places.keys())) for server in servers
        }
        self._servers = sorted(servers, key=lambda server: self._places[_key(server)])
        self._planned = {(server["cluster"], server["server"]) for wave in self._waves for server in wave}
        self._later = {_key(server) for wave in self._waves[1:] for server in wave}
        self._tally = Tally(sum(map(len, self._waves)), clock, windows=wanted.request.windows)
        self._inspections = RunInspections(api, wanted.inspection, wanted.request, clock)

    def restart(self) -> Result:
        """See restart_by_plan."""
        self._request.policy.note({"plan": self._plan})
        would, approval = self._request.check_mode or self._wanted.plans_only, self._wanted.plan.approval
        for line in plan_lines(self._plan, approval, in_full=self._request.policy.steps, would=would):
            self._say(line)
        if self._plan["refused"] or (len(self._waves) > 1 and not self._wanted.in_waves):
            raise NotAllRestarted("\n".join(refusal_lines(self._plan, self._wanted.plan, self._request.hints)))
        if self._wanted.plans_only:
            return {"changed": False}
        members = list(map(self._member, self._servers))
        from .raised_time import OfflineTimes

        planned = {server["cluster_id"] for wave in self._waves for server in wave}
        clusters = sorted({server["cluster_id"] for server in self._servers})
        held = OfflineTimes(self._crew, self._request, clusters, planned, self._wanted.raised)
        if self._request.check_mode:
            held.foretell()
            return restart_many(self._api, self._crew, members, self._wanted.proof_timeout, self._clock)
        names = {server["cluster_id"]: server["cluster"] for wave in self._waves for server in wave}
        with self._inspections.around(names):
            self._begin()
            return self._restart(members, held)

    def _restart(self, members: Sequence[FleetMember], held: OfflineTimes) -> Result:
        from .._parameters.offline_time import raised_while

        with raised_while(held):
            self._tally.begin()
            waves = WaveByWave(self._numbers(), self._over, self._pause)
            return restart_many(self._api, self._crew, members, self._wanted.proof_timeout, self._clock, waves)

    def completed(self, facts: Result) -> Result:
        """The result, or the facts of a failure, with the plan."""
        warnings = list(dict.fromkeys([*self._warnings, *facts.get("warnings", []), *self._inspections.warnings()]))
        return {**facts, "plan": self._plan, "inspections": self._inspections.found, "warnings": warnings}

    def _member(self, server: Result) -> FleetMember:
        """The restart of a server. In check mode those of later waves are judged by the plan."""
        member = self._wanted.member(server, self._places[_key(server)])
        request = member.request
        allowed = raised_seconds(self._wanted.raised)
        if request.check_mode and allowed is not None and request.offline_time is None:
            # It would be raised before the request.
            request = replace(request, offline_time=allowed)
            member = replace(member, request=request)
        if _key(server) not in self._later:
            return member
        if request.check_mode:
            safety = None if request.safety is None else replace(request.safety, majority=False)
            return replace(member, request=replace(request, safety=safety, caps=None))
        # The service may show the end of the wave before a little late.
        timeout = max(request.safety_timeout, PROOF_TIMEOUT)
        return replace(member, request=replace(request, safety_timeout=timeout))

    def _numbers(self) -> list[list[int]]:
        """The waves as positions of the servers. Those that need no restart are checked with the first."""
        place = {_key(server): number for number, server in enumerate(self._servers)}
        waves = self._waves or [[]]
        first = [*waves[0], *self._plan["left_alone"]]
        return [sorted(place[_key(server)] for server in wave) for wave in (first, *waves[1:])]

    def _begin(self) -> None:
        """Begin the change for all servers at once: what a person restarts until their turn counts."""
        names: dict[int, set[str]] = {}
        for server in (server for wave in self._waves for server in wave):
            names.setdefault(server["cluster_id"], set()).add(server["server"])
        if self._request.change is None or len(self._planned) < 2:
            return

        def begin(api: OcpApi, cluster: int, clock: Clock) -> list[str]:
            selector = Selector(Cluster, {"cluster": str(cluster)})
            return note_first_use(api, selector, names[cluster], self._request, clock)

        for warnings in self._crew.each(list(names), begin):
            self._warnings += warnings

    def _pause(self) -> str:
        """Why no other wave begins now; empty if one may."""
        path = self._wanted.pause_file
        if path is None or not lexists(path):
            return ""
        return f"{path} is there; remove it, then run the same command again"

    def _over(self, servers: Sequence[Result]) -> None:
        """A line for each server of a wave that was to be restarted, or that failed."""
        if not self._request.wait:
            return
        reached = [one for one in servers if one["action"] != "postponed" and not (one["refused"] and not one["name"])]
        begun = [one for one in reached if not one["refused"]]
        planned = {one["server"] for one in begun if (one["cluster"], one["server"]) in self._planned}
        fails = any(one["failed"] for one in servers)
        self._tally.ended(len(planned))
        paused = [one for one in servers if self._is_left(one)]
        if paused:
            names = ", ".join(f"{one['cluster']} {one['server']}" for one in paused)
            line = progress_line(f"Left for the next run, since {paused[0]['reason']}: {names}")
            self._request.policy.announce(line, False)
        for one in reached:
            self._request.policy.note({"ended": one})
            what = f"{one['cluster']} {one['server']} {_outcome_words(one)}"
            if one["server"] in planned:
                self._say(self._tally.words(what, goes_on=not fails), failed=one["failed"])
            elif one["failed"]:
                self._say(what, failed=True)

    def _is_left(self, server: Result) -> bool:
        """Whether the pause file alone keeps it from its restart; a server that needs none is not left."""
        is_planned = (server["cluster"], server["server"]) in self._planned
        return (
            is_planned
            and server["action"] == "postponed"
            and server["reason"].startswith(f"{self._wanted.pause_file} ")
        )

    def _say(self, words: str, *, failed: bool = False) -> None:
        self._request.policy.show(progress_line(words), failed)


def _key(server: Result) -> tuple[int, int]:
    return server["cluster_id"], server["id"]


def _names(server: Result) -> set[tuple[str, str]]:
    """How the options may name it."""
    clusters, servers = (server["cluster"], server["cluster_id"]), (server["server"], server["id"])
    return {(str(cluster), str(one)) for cluster in clusters for one in servers}


def _outcome_words(server: Result) -> str:
    took = f" in {server['duration']:.1f} s" if server["duration"] is not None else ""
    words = {"skipped": "left alone", "attached": f"restarted{took}, by a task that ran already"}
    if server["refused"]:
        return "not begun"
    return "FAILED" if server["failed"] else words.get(server["action"], f"restarted{took}")


def plan_lines(plan: Result, approval: Approval | None, *, in_full: bool, would: bool = False) -> Iterator[str]:
    """The counts, a line for each wave, and why not all restart at once; ``in_full`` with the reason of each server.

    ``would``: in check mode.
    """
    waves, left, refused = plan["waves"], plan["left_alone"], plan["refused"]
    total = sum(len(wave["servers"]) for wave in waves)
    done = f"would restart {counted(total, 'server')}" if would and total else f"{total} to restart"
    how = f" in {counted(len(waves), 'wave')}" if len(waves) > 1 else ""
    stopped = f", {len(refused)} refused, so nothing is sent" if refused else ""
    yield f"{done}{how}, {len(left)} left alone{stopped}"
    if approval is not None:
        yield approval.words(plan["digest"])
    # Refusals are printed once, at the end.
    if refused and not in_full:
        return
    for wave in waves if in_full or 1 < len(waves) <= MOST_WAVES else ():
        where = f"wave {wave['number']} of {len(waves)}"
        yield where if in_full else f"{where}: {_named(wave['servers'])}"
        for server in wave["servers"] if in_full else ():
            yield f"  {server['cluster']} {server['server']} in {server['zone']}: {server['reason']}"
    for server in left if in_full else ():
        yield f"left alone: {server['cluster']} {server['server']}: {server['reason']}"
    reasons = plan["message"].splitlines()
    yield from reasons if in_full else reasons[:MOST_REASONS]
    if len(reasons) > MOST_REASONS and not in_full:
        yield f"and so for {len(reasons) - MOST_REASONS} more"


def refusal_lines(plan: Result, wanted: FleetRequest, hints: Hints) -> Iterator[str]:
    """Why they cannot restart as asked, what can, and the options that allow more."""
    yield plan["message"]
    given = " or ".join(_allowing(plan, wanted, hints))
    if plan["refused"]:
        until = " until that has ended" if plan["obstacles"] else ""
        if plan["remedies"]:
            yield f"Nothing was sent. {NEXT_STEPS_HEADING}"
            yield from [*plan["remedies"][:MOST_REASONS], RUN_AGAIN]
            return
        allowing = f", or give {given}" if given else ""
        yield sentence(f"Nothing was sent. Leave out {_named(plan['refused'])}{until}{allowing}")
        yield "When the cause is gone, run the same command again."
        return
    first, *others = plan["waves"]
    later = [server for wave in others for server in wave["servers"]]
    yield (
        f"Nothing was sent. These can restart together: {_named(first['servers'])}. These cannot join them: "
        f"{_named(later)}."
    )
    waves = counted(len(plan["waves"]), "wave")
    in_waves = sentence(f"To restart them in {waves}, give {hints.given('waves', 'true')}")
    yield f"{in_waves} {sentence(f'Else give {given}')}" if given else in_waves


def _allowing(plan: Result, wanted: FleetRequest, hints: Hints) -> list[str]:
    """The options that allow more; none for which the database would refuse to stop a server, which would then hang.

    It stops servers of two zones at once for no tenant's sake.
    """
    if plan["obstacles"] or (not plan["refused"] and _have_more_zones(plan)):
        return []
    names = ",".join(dict.fromkeys([*(wanted.tolerated or ()), *plan["lost_tenants"]]))
    tolerated = hints.given("tolerate_outage_of", names) if plan["lost_tenants"] else ""
    return [given for given in (tolerated, hints.given("safety", "none")) if given]


def _have_more_zones(plan: Result) -> bool:
    """Whether servers of more than one zone of a cluster would be down at once."""
    places = {(server["cluster_id"], server["zone"]) for wave in plan["waves"] for server in wave["servers"]}
    return len(places) > len({cluster for cluster, _zone in places})


def _named(servers: Sequence[Result]) -> str:
    return first_of([f"{server['cluster']} {server['server']}" for server in servers], MOST_NAMED)
