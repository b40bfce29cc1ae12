# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The rolling restart of several clusters in one process: one plan, one after another, which failures stop it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .._base.cli_hints import ways_last
from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import NotAllRestarted, OcpError, OptionError, attach_facts
from .._base.text import counted
from .._ocp.endpoints import OcpApi
from .._waiting.progress_lines import progress_line
from .cluster_run import ClusterInTurn, ClusterRun, blocked_words, look_again
from .rolling_plan import plan_rolling_restart
from .rolling_words import batch_words, outcome_counts, plan_lines, purposes, scope_lines, unblocked
from .run_inspections import RunInspections
from .server_outcomes import FAILED, shown_failure, tasks_of_failure
from .tally import Tally

Result = dict[str, Any]


@dataclass(frozen=True)
class RollingRun:
    """The request. ``each`` is that of each cluster, and its plan names all clusters.

    After more than ``max_failures`` failed clusters no other one is begun, nor after one that failed in its canaries;
    more than ``max_servers`` to restart are refused. The cluster of the last canary is watched for the ``soak`` of
    ``each``.

    With ``ahead`` each cluster has a call of its own, and this is the look at all of them before: if servers are to be
    restarted, it ends there. ``among_hosts``: others may show lines of their clusters meanwhile.
    """

    each: ClusterRun
    max_failures: int
    max_servers: int | None
    ahead: Ahead | None = None
    among_hosts: bool = False


@dataclass(frozen=True)
class Ahead:
    """The run to come: how many clusters at the same time, and the names of those that are the first."""

    forks: int
    canaries: Sequence[str]


def roll_clusters(api: OcpApi, wanted: RollingRun, clock: Clock = SYSTEM_CLOCK) -> Result:
    """Restart the servers of clusters that need it; returns the result, with ``plan`` and ``warnings``.

    In check mode it plans alone. Raises NotAllRestarted if a cluster has failed; its facts have the result too, and so
    has what is attached to an interruption.
    """
    run = _RollingRun(api, wanted, clock)
    try:
        run.carry_out()
    except OcpError as error:
        error.facts = {**run.result(), **error.facts}
        raise
    except BaseException as interruption:
        attach_facts(interruption, run.result())
        raise
    return run.result()


class _RollingRun:
    """One such run."""

    def __init__(self, api: OcpApi, wanted: RollingRun, clock: Clock) -> None:
        self._api = api
        self._wanted = wanted
        self._request = wanted.each.restart
        self._clock = clock
        self._began = clock.now()
        self._plan: Result = {"clusters": [], "batches": [], "left_alone": [], "done": [], "warnings": []}
        self._turns: list[ClusterInTurn] = []
        self._failures: list[Result] = []
        # Of the failures: what is shown of the newest one, and the tasks of all.
        self._shown: Result = {}
        self._tasks: list[Result] = []
        self._inspections = RunInspections(api, wanted.each.inspection, wanted.each.restart, clock)

    def carry_out(self) -> None:
        """See roll_clusters."""
        wanted, notes = self._wanted.each.plan, not self._plans_only
        self._plan = plan_rolling_restart(self._api, wanted, self._clock, notes_proofs=notes)
        self._request.policy.note({"plan": self._plan})
        for line in self._plan_lines():
            self._say(line)
        self._check_size()
        blocked = [cluster for cluster in self._plan["clusters"] if cluster["blocked"]]
        self._failures += [_failure(cluster["name"], {}, blocked_words(cluster)) for cluster in blocked]
        if self._wanted.ahead is not None and self._servers and not self._request.check_mode:
            self._look_ahead()
            return
        if self._request.check_mode:
            self._foretell()
        elif not self._plans_only:
            with self._inspections.around({b["cluster_id"]: b["cluster"] for b in unblocked(self._plan)}):
                self._restart()
        if self._failures:
            raise NotAllRestarted(self._words(), **self._shown)

    def result(self) -> Result:
        """The result so far."""
        results = self._results
        return {
            **self._run_to_come(),
            "changed": bool(self._would_restart) if self._request.check_mode else any(t.changed for t in self._turns),
            "plan": {key: value for key, value in self._plan.items() if key not in ("changed", "warnings")},
            "planned": len(self._servers),
            "left_alone": len(self._plan["left_alone"]),
            "results": results,
            "untouched": [server["name"] for server in self._untouched],
            "failures": self._failures,
            "tasks": self._tasks,
            "postponed": self._postponed or None,
            "stopped": None,
            "inspections": self._inspections.found,
            "elapsed": round(self._clock.now() - self._began, 3),
            "warnings": self._warnings(),
        }

    def _warnings(self) -> list[str]:
        of_turns = (warning for turn in self._turns for warning in turn.warnings)
        return list(dict.fromkeys([*self._plan["warnings"], *of_turns, *self._inspections.warnings()]))

    def _run_to_come(self) -> Result:
        wanted = self._wanted
        if wanted.ahead is None or wanted.each.record is None:
            return {}
        run = {
            "record": wanted.each.record.path,
            "canaries": [*wanted.ahead.canaries],
            "max_servers": wanted.max_servers,
            "max_failures": wanted.max_failures,
            "blocked": [cluster["name"] for cluster in self._plan["clusters"] if cluster["blocked"]],
        }
        return {"run": run}

    def _plan_lines(self) -> Iterator[str]:
        would, steps, ahead = self._plans_only, self._request.policy.steps, self._wanted.ahead
        if ahead is None:
            return plan_lines(self._plan, self._wanted.each.plan, in_full=would or steps, would=would)
        return scope_lines(self._plan, ahead.forks, ahead.canaries, in_full=steps, would=would)

    @property
    def _plans_only(self) -> bool:
        """Whether nothing is restarted: in check mode, and where the plan is written to be approved."""
        approval = self._wanted.each.plan.approval
        return self._request.check_mode or (approval is not None and approval.plans_only)

    def _foretell(self) -> None:
        for cluster in self._plan["clusters"]:
            if not cluster["blocked"]:
                turn = self._turn(cluster, Tally(0, self._clock))
                self._try(turn.name, dict, turn.foretell)

    def _look_ahead(self) -> None:
        """Make sure that the run may begin."""
        if len(self._failures) > self._wanted.max_failures:
            raise NotAllRestarted(self._words(), **self._shown)

    def _check_size(self) -> None:
        most = self._wanted.max_servers
        if most is not None and len(self._servers) > most:
            option = self._request.hints.named("max_servers")
            raise OptionError(
                f"{option}: {counted(len(self._servers), 'server')} to restart, and {most} is the most; give a larger "
                "number if that is meant. Nothing was restarted."
            )

    def _restart(self) -> None:
        soak = self._wanted.each.soak
        free = sum(len(batch["servers"]) for batch in unblocked(self._plan))
        tally = Tally(free, self._clock, watch=soak if self._last_canary else 0.0, windows=self._request.windows)
        self._turns = [self._turn(cluster, tally) for cluster in self._plan["clusters"] if not cluster["blocked"]]
        # The change begins for all of them before the first restart.
        begun = [turn for turn in self._turns if self._try(turn.name, dict, turn.begin)]
        for turn in begun:
            if self._postponed or len(self._failures) > self._wanted.max_failures:
                break
            run = partial(turn.run, watched=self._last_canary, soak=soak)
            if not self._try(turn.name, turn.current_batch, run) and self._has_lost_a_canary(turn):
                break
        if not self._failures:
            known = {server["id"] for server in self._results}
            known |= {server["id"] for server in self._untouched} if self._postponed else set()
            restarted = {turn.id for turn in self._turns if turn.results}
            plan = self._wanted.each.plan
            self._try("", dict, partial(look_again, self._api, plan, known, restarted, self._clock))
        if self._servers:
            self._say(outcome_counts(self._servers, self._plan["left_alone"], self._results))
        if self._postponed:
            names = ", ".join(server["name"] for server in self._untouched)
            # Whole, however narrow the terminal is.
            line = progress_line(self._labelled(f"Left for the next run, since {self._postponed}: {names}"))
            self._request.policy.announce(line, False)

    def _turn(self, cluster: Result, tally: Tally) -> ClusterInTurn:
        own = {**self._plan, "clusters": [cluster], "batches": self._batches_of(cluster)}
        label = f"{cluster['name']}: " if len(self._plan["clusters"]) > 1 or self._wanted.among_hosts else ""
        return ClusterInTurn(self._api, self._wanted.each, own, tally, label, self._clock)

    def _try(self, cluster: str, batch: Callable[[], Result], what: Callable[[], None]) -> bool:
        """Do it, and tell whether it succeeded; an error is the failure of a cluster, at the ``batch`` of then."""
        try:
            what()
        except OcpError as error:
            self._failures.append(_failure(cluster, batch(), str(error)))
            self._shown = shown_failure(error)
            self._tasks += tasks_of_failure(error)
            return False
        return True

    def _has_lost_a_canary(self, turn: ClusterInTurn) -> bool:
        """Whether a cluster failed in its canaries, or in the watch of them, so that they have shown a bad change."""
        batches = [batch for batch in self._plan["batches"] if batch["canary"] and self._last_canary]
        canaries = {server["id"] for batch in batches if batch["cluster_id"] == turn.id for server in batch["servers"]}
        begun = [*turn.results, *turn.current_batch().get("servers", [])]
        return bool(canaries) and all(server["id"] in canaries for server in begun)

    @property
    def _servers(self) -> list[Result]:
        return [server for batch in self._plan["batches"] for server in batch["servers"]]

    @property
    def _would_restart(self) -> list[Result]:
        """In check mode: the servers of the clusters without a failure, unless there are more failures than may be."""
        if len(self._failures) > self._wanted.max_failures:
            return []
        failed = {failure["cluster"] for failure in self._failures}
        batches = [batch for batch in self._plan["batches"] if batch["cluster"] not in failed]
        return [server for batch in batches for server in batch["servers"]]

    @property
    def _results(self) -> list[Result]:
        return [server for turn in self._turns for server in turn.results]

    @property
    def _untouched(self) -> list[Result]:
        done = {server["id"] for server in self._results}
        return [server for server in self._servers if server["id"] not in done]

    @property
    def _postponed(self) -> str:
        return next((turn.postponed for turn in self._turns if turn.postponed), "")

    @property
    def _last_canary(self) -> int:
        """The number of the last batch that is a canary, if others are left; a batch has no number 0."""
        batches = self._plan["batches"]
        canaries = [int(batch["number"]) for batch in batches if batch["canary"]]
        return canaries[-1] if canaries and len(canaries) < len(batches) else 0

    def _batches_of(self, cluster: Result) -> list[Result]:
        """In the order of their numbers, with the canaries first."""
        own = [batch for batch in self._plan["batches"] if batch["cluster_id"] == cluster["id"]]
        return sorted(own, key=lambda batch: not batch["canary"])

    def _words(self) -> str:
        """The message of a failed run: counts, then each failure, then what to do."""
        lines = [
            self._counts(),
            *ways_last([self._failure_words(failure) for failure in self._failures]),
        ]
        if "run the same command again" not in lines[-1]:
            # A way that works now comes before.
            has_ways = "To go on, " in lines[-1]
            again = "run the same command again"
            lines.append(f"Or {again} when the cause is gone." if has_ways else f"When the cause is gone, {again}.")
        return "\n".join(lines)

    def _counts(self) -> str:
        servers = counted(len(self._servers), "server")
        if self._request.check_mode:
            return f"This would restart {len(self._would_restart)} of {servers}.{self._others()}"
        failed = [server["name"] for server in self._results if server["outcome"] == FAILED]
        names = f" ({', '.join(failed)})" if failed else ""
        untouched = [server["name"] for server in self._untouched]
        more = f" and {len(untouched) - 10} more" if len(untouched) > 10 else ""
        listed = f": {', '.join(untouched[:10])}{more}" if untouched else ""
        done = len([server for server in self._results if server["outcome"] not in (FAILED, "skipped")])
        return (
            f"{done} of {servers} restarted, {len(failed)} failed{names}, {len(untouched)} not touched{listed}. "
            f"The next run goes on where this one stopped, and leaves alone what {purposes(self._wanted.each.plan)}."
            f"{self._others()}"
        )

    def _others(self) -> str:
        """What lets the other clusters restart where too many are blocked, as a sentence; may be empty."""
        blocked = sum(cluster["blocked"] for cluster in self._plan["clusters"])
        free = len(self._plan["clusters"]) - blocked
        if not free or blocked <= self._wanted.max_failures:
            return ""
        given = self._request.hints.given("max_failures", str(blocked))
        others = "cluster" if free == 1 else f"{free} clusters"
        return f" With {given} the other {others} can restart meanwhile." if given else ""

    def _failure_words(self, failure: Result) -> str:
        cluster, batches = failure["cluster"], self._plan["batches"]
        if not cluster:
            return str(failure["message"])
        where = [f" at {batch_words(batch, len(batches))}" for batch in batches if batch["number"] == failure["batch"]]
        is_blocked = any(one["blocked"] and one["name"] == cluster for one in self._plan["clusters"])
        would = ("would stop", "would not begin")
        end = (would if self._request.check_mode else ("stopped", "was not begun"))[is_blocked]
        return f"The rolling restart of {cluster} {end}{''.join(where)}. {failure['message']}"

    def _say(self, words: str) -> None:
        self._request.policy.show(progress_line(self._labelled(words)), False)

    def _labelled(self, words: str) -> str:
        """The same with the name of the cluster, where that is not known without."""
        names = [cluster["name"] for cluster in self._plan["clusters"]]
        is_known = len(names) != 1 or not self._wanted.among_hosts or words.startswith(f"{names[0]} ")
        return words if is_known else f"{names[0]}: {words}"


def _failure(cluster: str, batch: Result, message: str) -> Result:
    return {"cluster": cluster, "batch": batch.get("number"), "message": message}
