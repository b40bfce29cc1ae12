# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The rolling restart of one cluster in one process: plan, wait its turn, restart one by one, gate, last look."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import ChangeStopped, NotHealthy, NotVerified, OcpError
from .._base.text import join_names
from .._health.health_gate import await_health
from .._health.read_health import Demands
from .._ocp.endpoints import OcpApi
from .._restart.restart_request import RestartRequest
from .._restart.run import LAG_PAUSES, note_first_use, restart_target
from .._targets.cluster import Cluster
from .._targets.server import Server
from .._targets.target import Selector
from .._targets.zone import Zone
from .._waiting.await_tasks import UNSEEN_FOR, wait_for_tasks
from .._waiting.poll_pauses import SHORTEST_PAUSE, PollPolicy
from .._waiting.progress import progress_line
from .rolling_order import Strategy
from .rolling_plan import RollingRequest, plan_rolling_restart
from .run_record import ENDED, FAILED, STOPPED, RunRecord
from .server_outcomes import failed_restart, outcome_words, server_outcomes, shown_failure, tasks_of_failure

Result = dict[str, Any]

# Of a wait in which a server may be offline: twice the time that it may be, and at least twice the database's default.
SHORTEST_WAIT = 7200.0


@dataclass(frozen=True)
class ClusterRun:
    """The request. ``plan`` names one cluster; ``restart`` has the demands of each restart.

    ``freeze_server`` is None if zones are restarted, ``wait_timeout`` for one that fits the time that a server may be
    offline. The cluster has to stay healthy for ``soak`` seconds at its end, where servers were restarted. ``record``
    gets what became of it.
    """

    plan: RollingRequest
    restart: RestartRequest
    freeze_server: bool | None
    wait_timeout: float | None = None
    soak: float = 0.0
    record: RunRecord | None = None


def roll_cluster(api: OcpApi, wanted: ClusterRun, clock: Clock = SYSTEM_CLOCK) -> Result:
    """Restart the servers of a cluster that need it, one after another; returns the result, with ``warnings``.

    In check mode it plans alone. Raises an OcpError at the first problem; its facts have the result so far. If too much
    of the change has failed elsewhere, that is in the result if there is a record, otherwise it is an error.
    """
    return _Run(api, wanted, clock).run()


class _Run:
    """One cluster in progress."""

    def __init__(self, api: OcpApi, wanted: ClusterRun, clock: Clock) -> None:
        self._api = api
        self._wanted = wanted
        self._clock = clock
        self._began = clock.now()
        self._policy = wanted.restart.policy
        self._cluster: Result = {"id": None, "name": wanted.plan.clusters[0]}
        self._batches: list[Result] = []
        self._left_alone: list[Result] = []
        self._results: list[Result] = []
        self._postponed = ""
        self._stopped = ""
        self._changed = False
        self._warnings: list[str] = []

    def run(self) -> Result:
        """See roll_cluster."""
        with self._noted():
            try:
                self._run()
            except ChangeStopped as stop:
                # The run is judged in the end, by its record.
                if self._wanted.record is None:
                    raise
                self._stopped = str(stop)
        return {**self._result(), "warnings": list(dict.fromkeys(self._warnings))}

    def _run(self) -> None:
        self._check_run()
        self._plan()
        if self._wanted.restart.check_mode:
            self._changed = bool(self._batches)
            return
        self._begin()
        if self._cluster["task_ids"]:
            self._say(f"waits for the restarts that run on it: {join_names(map(str, self._cluster['task_ids']))}")
            wait_for_tasks(self._api, self._cluster["task_ids"], self._policy, unseen_for=UNSEEN_FOR, clock=self._clock)
        for batch in self._batches:
            self._check_run()
            self._restart(batch)
            if self._postponed:
                break
        self._gate(self._wanted.soak if self._results else 0.0)
        self._look_again()

    def _check_run(self) -> None:
        """Raise ChangeStopped if the run must not begin another restart."""
        objection = self._wanted.record.objection() if self._wanted.record else ""
        if objection:
            raise ChangeStopped(f"No restart of cluster {self._cluster['name']} begins: {objection}.")

    def _plan(self) -> None:
        plan = plan_rolling_restart(self._api, self._wanted.plan, self._clock)
        [self._cluster] = plan["clusters"]
        self._batches, self._left_alone = plan["batches"], plan["left_alone"]
        self._warnings += plan["warnings"]
        if self._cluster["blocked"]:
            ill = "safe to restart" if not self._cluster["safe"] else "healthy"
            raise NotHealthy(f"Cluster {self._label} is not {ill}: {self._cluster['message']}")
        timeout = self._wanted.wait_timeout
        if timeout is None:
            timeout = max(SHORTEST_WAIT, 2.0 * (self._cluster["offline_time"] or 0))
        self._policy = replace(self._policy, timeout=timeout)
        for server in self._left_alone:
            self._say(f"left alone: {server['reason']}")

    def _begin(self) -> None:
        """Begin the change for all at once: what a person restarts until the turn of a server counts."""
        names = {server["name"] for batch in self._batches for server in batch["servers"]}
        if names and self._wanted.restart.change is not None:
            cluster = Selector(Cluster, {"cluster": str(self._cluster["id"])})
            self._warnings += note_first_use(self._api, cluster, names, self._wanted.restart, self._clock)

    @property
    def _label(self) -> str:
        return f"{self._cluster['name']} (id {self._cluster['id']})"

    def _restart(self, batch: Result) -> None:
        """Restart a batch by one request, and record each of its servers."""
        began = self._clock.now()
        try:
            found = restart_target(self._api, self._selector(batch), self._request(batch), self._clock)
        except OcpError as error:
            failed = failed_restart(error)
            if failed is not None:
                self._note(batch, failed, began)
            raise
        if found["action"] == "postponed":
            self._postponed = str(found["reason"])
            return
        self._note(batch, found, began)

    def _selector(self, batch: Result) -> Selector:
        if self._wanted.plan.strategy is Strategy.ZONE:
            return Selector(Zone, {"cluster": str(batch["cluster_id"]), "zone": batch["zone"]})
        [server] = batch["servers"]
        given = {"cluster": str(batch["cluster_id"]), "server": str(server["id"]), "force": False}
        return Selector(Server, {**given, "freeze_server": self._wanted.freeze_server})

    def _request(self, batch: Result) -> RestartRequest:
        asked = self._wanted.restart
        safety, watch = asked.safety, asked.watch
        if safety is not None and self._wanted.plan.strategy is Strategy.SERVER:
            safety = replace(safety, zone=batch["zone"] or None)
        if watch is not None:
            watch = replace(watch, alarms_before=frozenset(self._cluster["alarms"]))
        offline_time = self._cluster["offline_time"]
        return replace(
            asked,
            policy=self._policy,
            safety=safety,
            watch=watch,
            offline_time=offline_time,
            safety_timeout=self._gate_timeout,
        )

    @property
    def _gate_timeout(self) -> float:
        """How long a gate waits. After a restart, an answer that is behind may show that at work for a while."""
        asked = self._wanted.restart.safety_timeout
        return max(asked, UNSEEN_FOR) if self._results else asked

    def _note(self, batch: Result, found: Result, began: float) -> None:
        self._changed = self._changed or bool(found["changed"])
        self._warnings += found["warnings"]
        for outcome in server_outcomes(batch, found, self._clock.now() - began):
            self._results.append(outcome)
            done, total = len(self._results), self._planned
            self._say(f"{done} of {total}, {outcome_words(outcome, found['reason'])}, {total - done} left")

    @property
    def _planned(self) -> int:
        return sum(len(batch["servers"]) for batch in self._batches)

    def _gate(self, soak: float) -> None:
        gate = PollPolicy(self._gate_timeout, self._policy.interval, self._policy.show)
        watch = self._request({"zone": ""}).watch if soak else None
        found = await_health(
            self._api, str(self._cluster["id"]), Demands(), gate, soak=soak, watch=watch, clock=self._clock
        )
        self._warnings += found["warnings"]

    def _look_again(self) -> None:
        """Make sure that each server in the scope was restarted, and that the cluster serves. Raises OcpError."""
        plan = self._last_plan()
        [cluster] = plan["clusters"]
        if not cluster["serves"]:
            words = cluster["message"] or "; ".join(cluster["problems"]) + "."
            raise NotHealthy(f"Cluster {self._label} does not serve at the end: {words}")
        known = {server["id"] for server in self._results} | set(self._untouched())
        servers = [server for batch in plan["batches"] for server in batch["servers"]]
        left = [server for server in servers if server["needed"] and server["id"] not in known]
        if left:
            names = join_names(f"{server['name']} ({server['reason']})" for server in left)
            which = f"These servers of cluster {self._label}"
            raise NotVerified(f"{which} were not restarted, but should have been: {names}.")

    def _last_plan(self) -> Result:
        """What is still to do. After a restart, answers that are behind may show that at work for a while."""
        again = replace(self._wanted.plan, majority=False, watch=None, judges_budget=False, min_zones=0)
        began = self._clock.now()
        while True:
            plan = plan_rolling_restart(self._api, again, self._clock)
            [cluster] = plan["clusters"]
            waited = self._clock.now() - began
            if cluster["serves"] or cluster["blocked"] or not self._results or waited >= UNSEEN_FOR:
                return plan
            pause = LAG_PAUSES.pause(waited, self._clock.jitter(), self._api.retry_after)
            self._clock.sleep(max(SHORTEST_PAUSE, pause))

    def _untouched(self) -> dict[int, str]:
        """The names of the planned servers that were not begun, by id."""
        done = {server["id"] for server in self._results}
        planned = {server["id"]: server["name"] for batch in self._batches for server in batch["servers"]}
        return {number: name for number, name in planned.items() if number not in done}

    def _result(self) -> Result:
        return {
            "changed": self._changed,
            "cluster": {name: self._cluster[name] for name in ("id", "name")},
            "planned": self._planned,
            "left_alone": len(self._left_alone),
            "results": self._results,
            "untouched": list(self._untouched().values()),
            "postponed": self._postponed or None,
            "stopped": self._stopped or None,
            "elapsed": round(self._clock.now() - self._began, 3),
        }

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Add the outcome to the record, whatever it is, and show a line about the rest of the run."""
        try:
            yield
        except OcpError as error:
            facts, tasks = shown_failure(error), tasks_of_failure(error)
            self._warnings += error.facts.get("warnings", [])
            error.facts = {**self._result(), **facts, "warnings": list(dict.fromkeys(self._warnings))}
            self._record(FAILED, {"message": str(error), "tasks": tasks, **facts})
            raise
        self._record(STOPPED if self._stopped else ENDED, {"message": self._stopped})

    def _record(self, word: str, facts: Result) -> None:
        if self._wanted.record is not None and not self._wanted.restart.check_mode:
            elapsed = self._clock.now() - self._began
            left = self._wanted.record.note(word, elapsed, {"outcome": word, **self._result(), **facts})
            self._policy.announce(progress_line(f"{left} ({self._cluster['name']} {word})"), word == FAILED)

    def _say(self, words: str) -> None:
        self._policy.show(progress_line(f"{self._cluster['name']}: {words}"), False)
