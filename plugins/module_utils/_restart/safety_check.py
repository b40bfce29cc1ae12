# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether the restart of a target is safe for the tenants: refused, delayed or reported, by the look that decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .._base.errors import AuthenticationFailed, NotHealthy, NotSafe, OcpError, ServiceError
from .._base.parsing import Record
from .._base.text import join_names
from .._health.health_gate import unhealthy_words
from .._health.health_rules import Kind, Problem
from .._ocp.endpoints import OcpApi
from .._safety.layout import Layout
from .._safety.server_states import server_states
from .._safety.verdict import Taken, Verdict, allowing_options, combined, judge, refusal_words
from .._safety.voters import Outage
from .._targets.arbitration import ArbitrationService
from .._targets.cluster import Cluster, placed_servers, servers_of
from .._targets.obproxies import ObProxies
from .._targets.operating_tasks import tasks_of_cluster
from .._targets.target import PlacedServer, Target
from .attempt import Progressing, RestartAttempt
from .cluster_lock import ClusterLock
from .health_check import HealthCheck
from .look import NEWEST_TASKS, Sight
from .restart_request import RestartRequest, Safety
from .safety_wait import SafetyWait

# For tenants that were not checked.
UNSEEN: dict[str, Any] = {"evidence": None, "tenants": [], "outages": []}


def clusters_of(target: Target) -> Sequence[int]:
    """The ids of the clusters whose tenants a restart of the target may concern."""
    if isinstance(target, ArbitrationService):
        return target.serves
    return [] if target.cluster_id is None else [target.cluster_id]


def locked_by(target: Target) -> Sequence[int | str]:
    """What only one restart of this controller checks at a time: clusters, and targets that may belong to none."""
    if isinstance(target, ArbitrationService):
        return [*target.serves, f"arbitration service {target.id}"]
    return [f"obproxy {target.proxy_cluster}"] if isinstance(target, ObProxies) else clusters_of(target)


class SafetyCheck:
    """Judges the restart of one target, again and again; ``wait`` is for a restart that may be safe later."""

    def __init__(
        self,
        api: OcpApi,
        target: Target,
        request: RestartRequest,
        attempt: Progressing[RestartAttempt],
        lock: ClusterLock,
        wait: SafetyWait,
    ) -> None:
        self._api = api
        self._target = target
        self._request = request
        self._attempt = attempt
        self._lock = lock
        self._safety_wait = wait
        self._arbiter = target.id if isinstance(target, ArbitrationService) else None
        self._layouts = {number: Layout(api, number, attempt.warnings) for number in clusters_of(target)}
        self._health = HealthCheck(api, lock, request.safety.zone if request.safety else None)

    def forget(self) -> None:
        """Tenants may have moved during a pause: read them again."""
        self._health.forget()
        for layout in self._layouts.values():
            layout.forget()

    def allows(self, sight: Sight) -> bool:
        """Whether the request may be sent right after this sight; if not, look again: it may have waited.

        Raises NotHealthy, NotSafe, and a ServiceError if their data cannot be read for now.
        """
        safety = self._request.safety
        if isinstance(self._target, Cluster):
            self._tell_what_it_means(sight)
        if safety is None:
            return True
        read = self._reads()
        problems = self._health.problems(sight, healthy=safety.healthy)
        if problems:
            self._note(None, problems)
            passes = all(problem.kind is not Kind.HELD for problem in problems)
            name = self._target.result().get("cluster_name")
            lines = [f"{name}: {problem.text}" for problem in problems]
            return self._put_off(self._unhealthy(problems), lines, passes=passes)
        if not safety.majority:
            self._note(None)
        elif not self._keeps_majorities(sight, safety):
            return False
        # The servers were observed before the rest was read.
        return self._reads() == read

    def _keeps_majorities(self, sight: Sight, safety: Safety) -> bool:
        """Whether all tenants that have to stay keep their majority; False: look again."""
        read = self._reads()
        try:
            verdict = combined([judge(*each, safety.tolerated) for each in self._taken(sight)])
        except ServiceError as error:
            error.add_advice("With safety=none, tenants are not checked.")
            raise
        self._note(verdict)
        self._warn_of_unknown(safety.tolerated, verdict)
        if not verdict.refused or self._reads() != read:
            return not verdict.refused
        others = [words for outage in verdict.refused for words in outage.others_down]
        return self._put_off(self._refusal(verdict), others, passes=verdict.passes)

    def _note(self, verdict: Verdict | None, problems: Sequence[Problem] = ()) -> None:
        looked_at = UNSEEN if verdict is None else verdict.result()
        allowed = not problems and not (verdict and verdict.refused)
        texts = [problem.text for problem in problems]
        self._attempt.note(safety={**looked_at, "problems": texts, "allowed": allowed})

    def _put_off(self, refusal: OcpError, others: Sequence[str], *, passes: bool) -> bool:
        """Wait a while, if that may help and there is time; returns False: look again. Raises the refusal."""
        if not self._safety_wait.puts_off(others, passes=passes):
            raise refusal
        self.forget()
        return False

    def _reads(self) -> int:
        return self._units_read() + self._health.reads

    def _units_read(self) -> int:
        return sum(layout.details_read for layout in self._layouts.values())

    def _taken(self, sight: Sight) -> Iterator[tuple[Layout, Taken]]:
        """What the restart takes away in each cluster."""
        if self._arbiter is None:
            for layout in self._layouts.values():
                taken = [member.name for member in sight.observed.members]
                yield layout, self._taken_of(sight.observed.servers, sight.newest, taken)
            return
        for number, layout in self._layouts.items():
            tasks = tasks_of_cluster(self._api, number, limit=NEWEST_TASKS)
            cluster = self._api.cluster(number)
            placed = placed_servers(cluster, servers_of(self._api, cluster, number))
            yield layout, self._taken_of(placed, tasks, ())

    def _taken_of(self, placed: Sequence[PlacedServer], tasks: Sequence[Record], names: Sequence[str]) -> Taken:
        own = self._lock.own_restarts(tasks)
        arbiters = frozenset().union(*(restart.arbiters for restart in own))
        return Taken(placed, server_states(placed, tasks, own, names), self._arbiter, arbiters)

    def _refusal(self, verdict: Verdict) -> NotSafe:
        waited = f" Waiting {self._safety_wait.waited:.0f} seconds did not help." if self._safety_wait.waited else ""
        return NotSafe(
            f"Did not restart {self._target.label}: it is not safe.{waited} {refusal_words(verdict.refused)} "
            f"{allowing_options(verdict.refused, passes=verdict.passes)}"
        )

    def _unhealthy(self, problems: Sequence[Problem]) -> NotHealthy:
        cluster = self._target.result().get("cluster_name")
        words = unhealthy_words(problems, self._safety_wait.waited or None)
        if not any(problem.kind is Kind.HELD for problem in problems):
            words += " Check the cluster first, or wait for it with safety_timeout."
        return NotHealthy(
            f"Did not restart {self._target.label}: cluster {cluster} (id {self._target.cluster_id}) {words}"
        )

    def _warn_of_unknown(self, tolerated: frozenset[str], verdict: Verdict) -> None:
        unknown = sorted(tolerated.difference(verdict.tenants))
        if unknown and verdict.tenants:
            names = join_names(unknown)
            self._attempt.warnings.append(f"tolerate_outage_of: no tenant of the cluster has the name {names}.")

    def _tell_what_it_means(self, sight: Sight) -> None:
        """Add to the reason what the restart of a whole cluster means, whatever can be read of its tenants."""
        try:
            [verdict] = [judge(*each, (), deeper=False) for each in self._taken(sight)]
        except AuthenticationFailed:
            raise
        except ServiceError as error:
            meaning = f"what that means for its tenants is not known: {error.what}"
        else:
            self._attempt.note(safety={**verdict.result(), "problems": [], "allowed": True})
            meaning = _meaning(verdict.found)
        self._attempt.note(reason=f"{self._attempt.so_far.reason}; {meaning}")


def _meaning(found: Sequence[Outage]) -> str:
    if not found:
        return "no tenant has a majority that it could take away"
    names = [outage.tenant.name for outage in found if not outage.tenant.stands_for_all]
    whom = f"of the tenants {join_names(names)}" if names else "of its tenants"
    return f"OCP chooses the order of its servers, so the majority {whom} may be lost meanwhile"
