# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The rolling restart of one cluster in one process: plan, wait its turn, restart batch by batch, gate, last look."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from os.path import lexists
from typing import Any

from .._base.cli_hints import NEXT_STEPS_HEADING
from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import ChangeStopped, NotHealthy, NotVerified, OcpError
from .._base.parsing import instant
from .._base.text import join_names
from .._health.health_gate import await_health
from .._health.read_health import Demands
from .._ocp.endpoints import OcpApi
from .._ocp.side_by_side import Crew
from .._restart.evidence import PROOF_TIMEOUT
from .._restart.fleet_outcome import FleetMember
from .._restart.many_restarts import restart_many
from .._restart.restart_request import RestartRequest
from .._restart.run import LAG_PAUSES, note_first_use, restart_target
from .._signs.sign_rules import Watch
from .._targets.cluster import Cluster
from .._targets.server import Server
from .._targets.target import Selector
from .._targets.zone import Zone
from .._waiting.await_tasks import wait_for_tasks
from .._waiting.poll_pauses import SHORTEST_PAUSE, UNSEEN_FOR, PollPolicy
from .._waiting.progress_lines import progress_line
from .rolling_order import Strategy
from .rolling_plan import RollingRequest, plan_rolling_restart
from .rolling_words import left_alone_lines
from .run_inspections import RunInspections
from .run_record import ENDED, FAILED, STOPPED, RunRecord, duration_words
from .run_summary import close_run
from .server_outcomes import (
    failed_restart,
    outcome_words,
    outcomes_of_many,
    server_outcomes,
    shown_failure,
    tasks_of_failure,
)
from .tally import Tally

Result = dict[str, Any]

# Of a wait in which a server may be offline: twice the time that it may be, and at least twice the database's default.
SHORTEST_WAIT = 7200.0


@dataclass(frozen=True)
class ClusterRun:
    """The request. ``plan`` names one cluster; ``restart`` has the demands of each restart.

    ``freeze_server`` is None if zones are restarted, ``wait_timeout`` for one that fits the time that a server may be
    offline. The cluster has to stay healthy for ``soak`` seconds at its end, where servers were restarted. ``record``
    gets what became of it. The ``crew`` restarts batches of several servers. No batch begins while
    the ``pause_file`` is there. OCP inspects the cluster before the first restart and after the last one for the
    scenario ``inspection``, if there is one.
    """

    plan: RollingRequest
    restart: RestartRequest
    freeze_server: bool | None
    wait_timeout: float | None = None
    soak: float = 0.0
    record: RunRecord | None = None
    crew: Crew | None = None
    pause_file: str | None = None
    inspection: str | None = None


def roll_cluster(api: OcpApi, wanted: ClusterRun, clock: Clock = SYSTEM_CLOCK) -> Result:
    """Restart the servers of a cluster that need it, one after another; returns the result, with ``warnings``.

    In check mode it plans alone. Raises an OcpError at the first problem; its facts have the result so far. If too much
    of the change has failed elsewhere, that is in the result if there is a record, otherwise it is an error.
    """
    return _Alone(api, wanted, clock).run()


def end_run(wanted: ClusterRun, names: Sequence[str]) -> Result:
    """End the run of the record of ``wanted`` where no other of these clusters is begun; returns the result."""
    if wanted.record is not None and not wanted.restart.check_mode:
        _show_end(wanted, names)
    nothing = {"planned": 0, "left_alone": 0, "results": [], "untouched": [], "postponed": None, "stopped": None}
    cluster = {"id": None, "name": wanted.plan.clusters[0]}
    return {"changed": False, "cluster": cluster, **nothing, "inspections": [], "elapsed": 0.0}


def _show_end(wanted: ClusterRun, names: Sequence[str] = ()) -> None:
    if wanted.record is not None:
        for line in close_run(wanted.record, wanted.plan, names):
            wanted.restart.policy.announce(progress_line(line), False)


class ClusterInTurn:
    """One cluster in progress, with its part of a ``plan``. Its lines begin with ``label``, and count in ``tally``."""

    def __init__(self, api: OcpApi, wanted: ClusterRun, plan: Result, tally: Tally, label: str, clock: Clock) -> None:
        self._api = api
        self._wanted = wanted
        self._clock = clock
        self._label = label
        self._tally = tally
        self._batches: list[Result] = plan["batches"]
        [self._cluster] = plan["clusters"]
        self._policy = replace(wanted.restart.policy, timeout=self._timeout())
        self._batch: Result = {}
        self.results: list[Result] = []
        self.warnings: list[str] = []
        self.changed = False
        # Why the next restart is left for another run: the time, or the pause file; empty if neither stopped it.
        self.postponed = ""

    def begin(self) -> None:
        """Begin the change at once for all that it plans, or for its cluster: what a person restarts meanwhile counts.

        If it begins for the whole cluster, a server that is added later has joined that, and has no begin of its own.
        """
        names = {server["name"] for batch in self._batches for server in batch["servers"]}
        if names and self._wanted.restart.change is not None:
            cluster = Selector(Cluster, {"cluster": str(self._cluster["id"])})
            begun_for = None if self._wanted.plan.is_whole else names
            self.warnings += note_first_use(self._api, cluster, begun_for, self._wanted.restart, self._clock)

    def run(self, check: Callable[[], None] = lambda: None, watched: int | None = None, soak: float = 0.0) -> None:
        """Restart its batches, each after ``check``, and wait until the cluster is healthy. Raises an OcpError.

        The cluster has to stay healthy for ``soak`` seconds after batch number ``watched``; without a number at its
        end, if a server was restarted, or if others of a run wait for it: an earlier run may have ended in its watch.
        """
        from .._parameters.offline_time import raised_while
        from .raised_time import offline_time_of

        held = offline_time_of(self._api, self._wanted.restart, self.id, self._raised, self._clock)
        if held is None:
            self._restart_all(check, watched, soak)
            return

        def check_too() -> None:
            check()
            # Another run of the cluster may have ended, and put it back.
            held.keep()

        with raised_while(held):
            self._restart_all(check_too, watched, soak)

    def _restart_all(self, check: Callable[[], None], watched: int | None, soak: float) -> None:
        if self._cluster["task_ids"]:
            self._say(f"waits for {join_names(self._cluster['waits_for'])}, running on it already")
            wait_for_tasks(self._api, self._cluster["task_ids"], self._policy, unseen_for=UNSEEN_FOR, clock=self._clock)
        for batch in self._batches:
            check()
            if self._wanted.pause_file is not None and lexists(self._wanted.pause_file):
                self.postponed = f"{self._wanted.pause_file} is there; remove it, then run the same command again"
                break
            self._batch = batch
            self._restart(batch)
            if self.postponed:
                break
            self._batch = {}
            if batch["number"] == watched:
                self._gate(soak)
        self._batch = {}
        is_watched = watched is None and not self.postponed and (self.results or self._wanted.record)
        self._gate(soak if is_watched else 0.0)

    def foretell(self) -> None:
        """Say in check mode what the run would do about the time that a server may be offline. Raises an OcpError."""
        from .raised_time import foretell

        foretell(self._api, self._wanted.restart, self.id, self._raised, self._clock)

    @property
    def _raised(self) -> str | None:
        """What the offline time is raised to, where a server is to be restarted."""
        return self._wanted.plan.raised if self._batches else None

    @property
    def id(self) -> int:
        """The id of the cluster."""
        return int(self._cluster["id"])

    @property
    def name(self) -> str:
        """The name of the cluster."""
        return str(self._cluster["name"])

    def current_batch(self) -> Result:
        """The batch in progress; empty if there is none."""
        return self._batch

    def untouched(self) -> dict[int, str]:
        """The names of the planned servers that were not begun, by id."""
        done = {server["id"] for server in self.results}
        planned = {server["id"]: server["name"] for batch in self._batches for server in batch["servers"]}
        return {number: name for number, name in planned.items() if number not in done}

    def _timeout(self) -> float:
        if self._wanted.wait_timeout is not None:
            return self._wanted.wait_timeout
        return max(SHORTEST_WAIT, 2.0 * (self._cluster["offline_time"] or 0))

    def _restart(self, batch: Result) -> None:
        """Restart a batch, and record each of its servers."""
        self._tally.begin()
        if len(batch["servers"]) > 1 and self._wanted.plan.strategy is Strategy.SERVER:
            self._restart_many(batch)
            return
        began = self._clock.now()
        try:
            found = restart_target(self._api, self._selector(batch), self._request(batch), self._clock)
        except OcpError as error:
            failed = failed_restart(error)
            if failed is not None:
                self._note(server_outcomes(batch, failed, self._clock.now() - began), failed)
            raise
        if found["action"] == "postponed":
            self.postponed = str(found["reason"])
            return
        self._note(server_outcomes(batch, found, self._clock.now() - began), found)

    def _restart_many(self, batch: Result) -> None:
        """Restart servers at the same time; the others of a batch are awaited whatever becomes of one."""
        if self._wanted.crew is None:
            raise TypeError("batches of several servers need a crew")
        began, request = self._clock.now(), self._request(batch)
        members = [
            FleetMember(batch["cluster"], server["name"], self._selector({**batch, "servers": [server]}), request)
            for server in batch["servers"]
        ]
        try:
            found = restart_many(self._api, self._wanted.crew, members, PROOF_TIMEOUT, self._clock)
        except OcpError as error:
            self._note(outcomes_of_many(batch, error.facts["servers"], self._clock.now() - began), error.facts)
            raise
        postponed = [server["reason"] for server in found["servers"] if server["action"] == "postponed"]
        self.postponed = str(postponed[0]) if postponed else ""
        self._note(outcomes_of_many(batch, found["servers"], self._clock.now() - began), found)

    def _selector(self, batch: Result) -> Selector:
        if self._wanted.plan.strategy is Strategy.ZONE:
            return Selector(Zone, {"cluster": str(batch["cluster_id"]), "zone": batch["zone"]})
        [server] = batch["servers"]
        # By its address: its id may be that of another one by now.
        given = {"cluster": str(batch["cluster_id"]), "server": server["name"], "force": False}
        return Selector(Server, {**given, "freeze_server": self._wanted.freeze_server})

    def _request(self, batch: Result) -> RestartRequest:
        asked = self._wanted.restart
        safety, watch = asked.safety, asked.watch
        if safety is not None and self._wanted.plan.strategy is Strategy.SERVER:
            safety = replace(safety, zone=batch["zone"] or None)
        if watch is not None:
            watch = replace(
                watch, alarms_before=frozenset(self._cluster["alarms"]), metrics_before=self._cluster["metrics"]
            )
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
        return max(asked, UNSEEN_FOR) if self.results else asked

    def _note(self, outcomes: list[Result], found: Result) -> None:
        self.changed = self.changed or bool(found["changed"])
        self.warnings += found["warnings"]
        self._tally.ended(len(outcomes))
        for outcome in outcomes:
            self.results.append(outcome)
            self._policy.note({"ended": outcome})
            failed = outcome["outcome"] == FAILED
            self._say(self._tally.words(outcome_words(outcome), goes_on=not failed), failed=failed)

    def _gate(self, soak: float) -> None:
        self._await_health()
        if soak:
            until = datetime.fromtimestamp(self._clock.wall() + soak, UTC).astimezone(self._zone())
            self._say(f"watched for {duration_words(soak)}, until {until.timetz().isoformat('seconds')}")
            self._await_health(soak, self._request({"zone": ""}).watch)
            self._tally.watched()

    def _await_health(self, soak: float = 0.0, watch: Watch | None = None) -> None:
        gate = PollPolicy(self._gate_timeout, self._policy.interval, self._policy.show)
        found = await_health(
            self._api, str(self._cluster["id"]), Demands(), gate, soak=soak, watch=watch, clock=self._clock
        )
        self.warnings += found["warnings"]

    def _zone(self) -> tzinfo | None:
        """The time zone of the service, as far as a start shows it; None for that of this machine."""
        shown = [instant(outcome["start_after"]) for outcome in self.results]
        return next((start.tzinfo for start in reversed(shown) if start is not None), None)

    def _say(self, words: str, *, failed: bool = False) -> None:
        self._policy.show(progress_line(f"{self._label}{words}"), failed)


def look_again(
    api: OcpApi, wanted: RollingRequest, known: Collection[int], restarted: Collection[int], clock: Clock
) -> None:
    """Make sure that each server in the scope was restarted, but for ``known`` ids, and that all clusters serve.

    ``restarted`` are the ids of the clusters in which this run restarted servers: answers that are behind may show one
    of them at work for a while. Raises an OcpError.
    """
    plan = _last_plan(api, wanted, restarted, clock)
    for cluster in plan["clusters"]:
        if not cluster["serves"]:
            words = cluster["message"] or "; ".join(cluster["problems"]) + "."
            raise NotHealthy(f"Cluster {_label(cluster)} does not serve at the end: {words}")
    servers = [server for batch in plan["batches"] for server in batch["servers"]]
    left = [server for server in servers if server["needed"] and server["id"] not in known]
    if left:
        names = join_names(f"{server['name']} ({server['reason']})" for server in left)
        which = " and ".join(dict.fromkeys(server["cluster"] for server in left))
        raise NotVerified(f"These servers of cluster {which} were not restarted, but should have been: {names}.")


def _last_plan(api: OcpApi, wanted: RollingRequest, restarted: Collection[int], clock: Clock) -> Result:
    again = replace(
        wanted,
        majority=False,
        watch=None,
        judges_budget=False,
        min_zones=0,
        caps=None,
        canary=0,
        approval=None,
        windows=None,
    )
    began = clock.now()
    while True:
        plan = plan_rolling_restart(api, again, clock, notes_proofs=True)
        behind = [cluster for cluster in plan["clusters"] if not cluster["serves"] and not cluster["blocked"]]
        waited = clock.now() - began
        if not any(cluster["id"] in restarted for cluster in behind) or waited >= UNSEEN_FOR:
            return plan
        clock.sleep(max(SHORTEST_PAUSE, LAG_PAUSES.pause(waited, clock.jitter(), api.retry_after)))


def blocked_words(cluster: Result) -> str:
    """Why nothing in a blocked cluster of a plan is restarted."""
    ill = "healthy" if cluster["safe"] else "safe to restart"
    return f"Cluster {_label(cluster)} is not {ill}: {cluster['message']}"


def _label(cluster: Result) -> str:
    return f"{cluster['name']} (id {cluster['id']})"


class _Alone:
    """The run of one cluster, which plans it, and adds its end to the record."""

    def __init__(self, api: OcpApi, wanted: ClusterRun, clock: Clock) -> None:
        self._api = api
        self._wanted = wanted
        self._clock = clock
        self._began = clock.now()
        self._cluster: Result = {"id": None, "name": wanted.plan.clusters[0]}
        self._planned: list[Result] = []
        self._left_alone: list[Result] = []
        self._turn: ClusterInTurn | None = None
        self._stopped = ""
        self._warnings: list[str] = []
        self._inspections = RunInspections(api, wanted.inspection, wanted.restart, clock)

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
        return {**self._result(), "warnings": self._all_warnings()}

    def _run(self) -> None:
        self._check_run()
        notes = not self._wanted.restart.check_mode
        plan = plan_rolling_restart(self._api, self._wanted.plan, self._clock, notes_proofs=notes)
        [self._cluster] = plan["clusters"]
        self._left_alone, self._warnings = plan["left_alone"], plan["warnings"]
        self._planned = [server for batch in plan["batches"] for server in batch["servers"]]
        if self._cluster["blocked"]:
            raise NotHealthy(blocked_words(self._cluster))
        label, policy = f"{self._cluster['name']}: ", self._wanted.restart.policy
        for line in left_alone_lines(self._planned, self._left_alone, in_full=policy.steps):
            policy.show(progress_line(f"{label}{line}"), False)
        tally = Tally(len(self._planned), self._clock, self._wanted.record, windows=self._wanted.restart.windows)
        self._wanted.restart.policy.note({"plan": plan})
        self._turn = ClusterInTurn(self._api, self._wanted, plan, tally, label, self._clock)
        if self._wanted.restart.check_mode:
            self._turn.foretell()
            return
        with self._inspections.around({self._turn.id: self._turn.name} if self._planned else {}):
            self._restart(self._turn)

    def _restart(self, turn: ClusterInTurn) -> None:
        turn.begin()
        turn.run(self._check_run, soak=self._wanted.soak)
        known = {server["id"] for server in turn.results} | set(turn.untouched())
        restarted = {turn.id} if turn.results else set()
        look_again(self._api, self._wanted.plan, known, restarted, self._clock)

    def _check_run(self) -> None:
        """Raise ChangeStopped if the run must not begin another restart."""
        objection = self._wanted.record.objection() if self._wanted.record else ""
        if objection:
            raise ChangeStopped(f"No restart of cluster {self._cluster['name']} begins: {objection}.")

    def _result(self) -> Result:
        turn = self._turn
        is_check = turn is not None and self._wanted.restart.check_mode
        return {
            "changed": bool(self._planned) if is_check else turn is not None and turn.changed,
            "cluster": {name: self._cluster[name] for name in ("id", "name")},
            "planned": len(self._planned),
            "left_alone": len(self._left_alone),
            "results": turn.results if turn else [],
            "untouched": [*turn.untouched().values()] if turn else [server["name"] for server in self._planned],
            "postponed": (turn.postponed if turn else "") or None,
            "stopped": self._stopped or None,
            "inspections": self._inspections.found,
            "elapsed": round(self._clock.now() - self._began, 3),
        }

    def _all_warnings(self) -> list[str]:
        own = [*self._warnings, *(self._turn.warnings if self._turn else ()), *self._inspections.warnings()]
        return list(dict.fromkeys(own))

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Add the outcome to the record, whatever it is, and show a line about the rest of the run."""
        try:
            yield
        except OcpError as error:
            facts, tasks = shown_failure(error), tasks_of_failure(error)
            warnings = list(dict.fromkeys([*self._all_warnings(), *error.facts.get("warnings", [])]))
            error.facts = {**self._result(), **facts, "warnings": warnings}
            self._record(FAILED, {"message": str(error), "tasks": tasks, **facts})
            raise
        self._record(STOPPED if self._stopped else ENDED, {"message": self._stopped})

    def _record(self, word: str, facts: Result) -> None:
        if self._wanted.record is not None and not self._wanted.restart.check_mode:
            elapsed = self._clock.now() - self._began
            state = self._wanted.record.note(word, elapsed, {"outcome": word, **self._result(), **facts})
            first = str(facts["message"]).partition("\n")[0].removesuffix(f" {NEXT_STEPS_HEADING}")
            why = f": {first}" if word == FAILED else ""
            announce = self._wanted.restart.policy.announce
            # The option may be its id, which beside counts reads as a count.
            name = self._wanted.record.host if self._cluster["id"] is None else self._cluster["name"]
            if state.failed or not state.is_over:
                announce(progress_line(f"{state.words} ({name} {word}{why})"), word == FAILED)
            if state.is_over:
                _show_end(self._wanted)
