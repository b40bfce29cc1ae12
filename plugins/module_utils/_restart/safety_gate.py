# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether a restart is safe for the tenants, its cluster healthy, and the database would stop it, by the last look."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from .._base.cli_hints import (
    NEXT_STEPS_HEADING,
    RUN_AGAIN,
    report_command,
    sentence,
    start_arbiter_line,
    start_line,
    waiting,
)
from .._base.clock import Clock
from .._base.errors import AuthenticationFailed, NotHealthy, NotSafe, ServiceError
from .._base.parsing import Record
from .._base.text import in_seconds, join_names
from .._health.health_rules import Kind, Problem
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._safety.database_rules import Obstacle, lag_counts, obstacle_words, obstacles, status_doubts, unaided, ways_past
from .._safety.layout import Layout
from .._safety.server_states import server_states
from .._safety.verdict import Taken, Verdict, combined, judge, refusal_words, stopped_arbiters, ways_out
from .._safety.voters import Outage
from .._signs.cluster_lag import ClusterLag
from .._targets.cluster import placed_servers, server_keys, servers_of
from .._targets.operating_tasks import tasks_of_cluster
from .._targets.serving import is_stopped
from .._targets.target import PlacedServer, Target
from .health_check import HealthCheck
from .look import Look
from .own_notes import OwnNotes
from .restart_request import RestartRequest, Safety
from .verdicts import Go, Judgement, LookAgain, Refuse, Wait

Facts = dict[str, Any]

MOST_STARTED = 3

# For tenants that were not checked.
UNSEEN: Facts = {"evidence": None, "tenants": [], "outages": []}
# The cluster, its servers and its tasks.
REQUESTS_OF_SERVED = 3


def lag_of_stopped(api: OcpApi, target: Target, request: RestartRequest, clock: Clock) -> ClusterLag | None:
    """How far replicas lag where the database stops servers; None if it stops none, or if that is not checked."""
    is_checked = request.safety is not None and request.safety.majority
    if not is_checked or target.is_whole_cluster or target.arbiter_id is not None or not target.endangers:
        return None
    return ClusterLag(api, str(target.result()["cluster_name"]), clock)


class SafetyGate:
    """Judges the restart of one target, again and again. ``warnings`` gets a sentence for what cannot be read.

    It reads the ``lag`` of its cluster, if there is one.
    """

    def __init__(
        self,
        api: OcpApi,
        target: Target,
        request: RestartRequest,
        notes: OwnNotes,
        warnings: list[str],
        lag: ClusterLag | None,
    ) -> None:
        self._api = api
        self._target = target
        self._request = request
        self._notes = notes
        self._lag = lag
        self._warnings = warnings
        self._layouts = {number: Layout(api, number, warnings) for number in target.endangers}
        self._served: dict[int, tuple[Sequence[PlacedServer], list[Record], list[Any]]] = {}
        self._health = HealthCheck(api, notes, request.safety.zone if request.safety else None)
        self._problem: ServiceError | None = None

    @property
    def requests(self) -> int:
        """The tenants, for an arbitration service what it serves, how far replicas lag, and what was needed besides."""
        if not self._reads_tenants:
            return self._health.requests
        of_tenants = sum(layout.requests for layout in self._layouts.values())
        if self._target.arbiter_id is not None:
            of_tenants += 1 + len(self._layouts) * REQUESTS_OF_SERVED
        return of_tenants + (self._lag is not None) + self._health.requests

    @property
    def _reads_tenants(self) -> bool:
        """Whether tenants matter; the restart of a whole cluster says what it means for them in any case."""
        return self._target.is_whole_cluster or (self._request.safety is not None and self._request.safety.majority)

    def read(self) -> None:
        """Read the tenants, the lag, and what was needed besides; they may have changed during a pause."""
        self._problem = None
        if self._reads_tenants and self._lag is not None:
            self._lag.read()
        try:
            self._health.read_anew()
            if not self._reads_tenants:
                return
            if self._target.arbiter_id is not None:
                self._read_who_is_served()
            for number, layout in self._layouts.items():
                if self._target.arbiter_id is not None:
                    self._served[number] = self._read_served(number)
                layout.read_anew()
        except AuthenticationFailed:
            raise
        except ServiceError as error:
            self._problem = error

    def _read_who_is_served(self) -> None:
        """An arbitration service may have got more clusters since it was found."""
        numbers, is_whole = self._target.served_now(self._api)
        for number in set(numbers) - self._layouts.keys():
            self._layouts[number] = Layout(self._api, number, self._warnings)
        words = f"OCP does not show all clusters that {self._target.label} serves, so their tenants are not checked."
        if not is_whole and words not in self._warnings:
            self._warnings.append(words)

    def judge(self, look: Look, waited: float) -> Judgement:
        """Refuse what would take the majority from a tenant, or hurt an unhealthy cluster; wait where that may help."""
        if self._target.is_whole_cluster:
            return self._what_it_means(look)
        safety = self._request.safety
        if safety is None:
            return Judgement(Go())
        read = self._health.reads
        problems = self._health.problems(look, healthy=safety.healthy)
        if problems:
            return self._unhealthy(problems, waited)
        if self._health.reads != read:
            return Judgement(LookAgain())
        return self._tenants(look, safety, waited) if safety.majority else Judgement(Go(), safety=_facts(None))

    def _tenants(self, look: Look, safety: Safety, waited: float) -> Judgement:
        """Whether all tenants that have to stay keep their majority."""
        try:
            if self._problem is not None:
                raise self._problem
            read = self._reads
            taken = list(self._taken(look))
            verdict = combined([judge(*each, safety.tolerated) for each in taken])
        except ServiceError as error:
            error.add_advice(f"With {self._request.hints.named('safety')}=none tenants are not checked.")
            raise
        facts, warnings = _facts(verdict), self._unknown_tenants(safety.tolerated, verdict)
        if self._reads != read:
            return Judgement(LookAgain(), facts, warnings=warnings)
        lost = {outage.tenant.name for outage in verdict.refused if not outage.tenant.stands_for_all}
        found, doubts = self._obstacles(taken, safety.tolerated | lost)
        if self._reads != read:
            return Judgement(LookAgain())
        if not verdict.refused:
            return self._database(found, doubts, waited, taken, Judgement(Go(), facts, warnings=warnings))
        refusal = self._refusal(verdict, found, waited, warnings, taken)
        others = tuple(words for outage in verdict.refused for words in outage.others_down)
        decision = Wait(refusal, others) if verdict.passes else Refuse(refusal)
        return Judgement(decision, facts, warnings=warnings)

    def _unknown_tenants(self, tolerated: frozenset[str], verdict: Verdict) -> tuple[str, ...]:
        unknown = sorted(tolerated.difference(verdict.tenants))
        if not unknown or not verdict.tenants:
            return ()
        option, cluster = self._request.hints.named("tolerate_outage_of"), self._target.result().get("cluster_name")
        whose = "its clusters" if cluster is None else f"cluster {cluster}"
        return (f"{option}: no tenant of {whose} has the name {join_names(unknown)}.",)

    def _obstacles(
        self, taken: Sequence[tuple[Layout, Taken]], tolerated: frozenset[str]
    ) -> tuple[list[Obstacle], list[str]]:
        """For what the database would refuse to stop the servers, as far as that is shown; and doubts as warnings.

        It does not stop other targets.
        """
        found: list[Obstacle] = []
        doubts: list[str] = []
        for layout, one in taken if self._target.arbiter_id is None else ():
            records = layout.read()
            lag, gap = self._lag_for(one)
            found += obstacles(one.placed, one.states, records, tolerated, lag)
            found += unaided(layout, one.placed, one.states, tolerated)
            doubts += [*status_doubts(records, tolerated), *gap]
        return found, doubts

    def _database(
        self,
        found: Sequence[Obstacle],
        doubts: Sequence[str],
        waited: float,
        taken: Sequence[tuple[Layout, Taken]],
        allowed: Judgement,
    ) -> Judgement:
        """The judgement if no tenant is lost: whether the database would stop the servers."""
        if not found:
            return replace(allowed, warnings=(*allowed.warnings, *doubts))
        lines = tuple(obstacle.text for obstacle in found)
        facts = {**(allowed.safety or {}), "problems": list(lines), "allowed": False}
        refusal = self._would_be_refused(found, waited, taken)
        passes = all(obstacle.passes for obstacle in found)
        return replace(allowed, verdict=Wait(refusal, lines) if passes else Refuse(refusal), safety=facts)

    def _lag_for(self, taken: Taken) -> tuple[float | None, tuple[str, ...]]:
        """How many seconds replicas lag, if that counts and is known; and a warning if it cannot be read for now.

        Without it a restart may fail, but no tenant is lost.
        """
        if self._lag is None or not lag_counts(taken.placed, taken.states):
            return None, ()
        try:
            return self._lag.seconds, ()
        except ServiceError as error:
            return None, (f"It was not checked how far replicas lag: {error.what}",)

    def _would_be_refused(
        self, found: Sequence[Obstacle], waited: float, taken: Sequence[tuple[Layout, Taken]]
    ) -> NotSafe:
        after = f" Waiting {in_seconds(round(waited))} did not help." if waited else ""
        return NotSafe(
            f"Did not restart {self._target.label}: the database would refuse to stop it, since "
            f"{obstacle_words(found)}.{after} {self._ways_past(found, taken)}".rstrip()
            + self._steps_of_a_person(taken)
        )

    def _ways_past(self, found: Sequence[Obstacle], taken: Sequence[tuple[Layout, Taken]]) -> str:
        safety = self._request.safety
        tolerated = safety.tolerated if safety else ()
        if _needs_a_person(taken) and not any(obstacle.locked for obstacle in found):
            return ""  # A longer wait brings nothing back; the commands that do follow.
        return ways_past(found, tolerated, self._request.hints, self._request.safety_timeout)

    @property
    def _reads(self) -> int:
        return sum(layout.reads for layout in self._layouts.values())

    def _read_served(self, number: int) -> tuple[Sequence[PlacedServer], list[Record], list[Any]]:
        """The servers of a cluster that an arbitration service serves, its tasks, and what is noted of them."""
        tasks = tasks_of_cluster(self._api, number)
        cluster = self._api.cluster(number)
        servers = servers_of(self._api, cluster, number)
        return placed_servers(cluster, servers), tasks, [*server_keys(cluster, servers).values()]

    def _taken(self, look: Look) -> Iterator[tuple[Layout, Taken]]:
        """What the restart takes away in each cluster."""
        arbiter = self._target.arbiter_id
        for number, layout in self._layouts.items():
            if arbiter is None:
                own = self._notes.own_restarts(look.listed)
                own += self._notes.own_restarts((), self._notes.rows_of(layout.arbiter_keys))
                names = [member.name for member in look.observed.members]
                yield layout, _taken_of(look.observed.servers, look.listed, own, names, gone=look.unseen)
            else:
                placed, tasks, keys = self._served[number]
                own = self._notes.own_restarts(tasks, self._notes.rows_of([*keys, *self._notes.keys]))
                yield layout, _taken_of(placed, tasks, own, (), arbiter)

    def _refusal(
        self,
        verdict: Verdict,
        found: Sequence[Obstacle],
        waited: float,
        unknown: Sequence[str],
        taken: Sequence[tuple[Layout, Taken]],
    ) -> NotSafe:
        """Why it is not safe; ``found`` is for what the database would refuse it even if no outage mattered."""
        after = f" Waiting {in_seconds(round(waited))} did not help." if waited else ""
        sentences = [*unknown, refusal_words(verdict.refused)]
        sentences += [f"The database would refuse it, too, since {obstacle_words(found)}."] if found else []
        arbiters = stopped_arbiters(verdict.refused)
        # A longer wait brings back nothing that is stopped or held; the commands that do follow.
        waits = replace(verdict, passes=verdict.passes and not arbiters and not _needs_a_person(taken))
        ways = ways_out(waits, self._request.hints, self._request.safety_timeout, stoppable=not found)
        return NotSafe(
            f"Did not restart {self._target.label}: it is not safe.{after} {' '.join(sentences)} {ways}".rstrip()
            + self._steps_of_a_person(taken, arbiters)
        )

    def _steps_of_a_person(self, taken: Sequence[tuple[Layout, Taken]], arbiters: Sequence[str] = ()) -> str:
        """What to do about what only a person brings back: stopped, or held by a FAILED task; may be empty.

        The ``arbiters`` are arbitration services that are stopped. The start of a server is to count for the change, so
        that a run of it does not restart it again.
        """
        from .._waiting.failure_report import remedies

        stopped = [(layout.cluster_id, name) for layout, one in taken for name in _stopped(one)][:MOST_STARTED]
        changes = self._notes.unbegun() if stopped else {}
        lines = [start_line(cluster, name, changes.get(name)) for cluster, name in stopped]
        lines += map(start_arbiter_line, arbiters)
        records = {task["id"]: task for _layout, one in taken for task in _holders(one)}
        for task in map(Task.from_api, list(records.values())[:MOST_STARTED]):
            lines += [f"  Show why {task.id} FAILED: {report_command(task.id)}", *remedies(task)]
        return "\n".join(["", NEXT_STEPS_HEADING, *lines, RUN_AGAIN]) if lines else ""

    def _unhealthy(self, problems: Sequence[Problem], waited: float) -> Judgement:
        from .._health.health_gate import unhealthy_words

        cluster = self._target.result().get("cluster_name")
        words = unhealthy_words(
            problems,
            waited or None,
            self._before_healthy(problems),
            self._notes.unbegun(),
        )
        is_held = any(problem.kind is Kind.HELD for problem in problems)
        refusal = NotHealthy(
            f"Did not restart {self._target.label}: cluster {cluster} (id {self._target.cluster_id}) {words}"
        )
        lines = tuple(f"{cluster}: {problem.text}" for problem in problems)
        facts = _facts(None, [problem.text for problem in problems])
        return Judgement(Refuse(refusal) if is_held else Wait(refusal, lines), facts)

    def _before_healthy(self, problems: Sequence[Problem]) -> str:
        """What to do until the cluster is healthy; a longer wait starts no server that is stopped."""
        if any(problem.stopped for problem in problems):
            return "Check the cluster first."
        wait = waiting("it is", self._request.hints, self._request.safety_timeout)
        return sentence(f"Check the cluster first, or {wait}")

    def _what_it_means(self, look: Look) -> Judgement:
        """What the restart of a whole cluster means, whatever can be read of its tenants; that refuses nothing."""
        try:
            if self._problem is not None:
                raise self._problem
            read = self._reads
            [verdict] = [judge(*each, (), deeper=False) for each in self._taken(look)]
        except AuthenticationFailed:
            raise
        except ServiceError as error:
            return Judgement(Go(), meaning=f"what that means for its tenants is not known: {error.what}")
        if self._reads != read:
            return Judgement(LookAgain())
        return Judgement(Go(), {**verdict.result(), "problems": [], "allowed": True}, meaning=_meaning(verdict.found))


def _taken_of(
    placed: Sequence[PlacedServer],
    tasks: Sequence[Record],
    own: Sequence[Any],
    names: Sequence[str],
    arbiter: int | None = None,
    gone: Collection[int] = (),
) -> Taken:
    arbiters = frozenset().union(*(restart.arbiters for restart in own))
    return Taken(placed, server_states(placed, tasks, own, names, gone), arbiter, arbiters)


def _needs_a_person(taken: Sequence[tuple[Layout, Taken]]) -> bool:
    """Whether only a person brings a server back: it is stopped, or a FAILED task holds it."""
    return any(_stopped(one) or _holders(one) for _layout, one in taken)


def _holders(taken: Taken) -> list[Record]:
    """The FAILED tasks that hold other servers than those that are taken away."""
    return [state.holder for state in taken.states.values() if state.holder is not None and not state.taken]


def _stopped(taken: Taken) -> list[str]:
    """The names of the servers that are stopped and that nothing starts."""
    return [
        server.member.name
        for server in taken.placed
        if is_stopped(server.member.status)
        and not taken.states[server.member.name].taken
        and (not taken.states[server.member.name].in_flight or taken.states[server.member.name].is_left)
    ]


def _facts(verdict: Verdict | None, problems: Sequence[str] = ()) -> Facts:
    looked_at = UNSEEN if verdict is None else verdict.result()
    allowed = not problems and not (verdict and verdict.refused)
    return {**looked_at, "problems": list(problems), "allowed": allowed}


def _meaning(found: Sequence[Outage]) -> str:
    if not found:
        return "no tenant has a majority that it could take away"
    names = [outage.tenant.name for outage in found if not outage.tenant.stands_for_all]
    whom = f"of the tenants {join_names(names)}" if names else "of its tenants"
    return f"OCP chooses the order of its servers, so the majority {whom} may be lost meanwhile"
