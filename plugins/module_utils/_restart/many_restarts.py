# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The restart of many servers side by side: request all, wait for all tasks at once, prove each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from .._base.cli_hints import RUN_AGAIN
from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import JournalError, ModuleCrashed, OcpError, attach_facts
from .._base.text import counted
from .._journal.journal import Journal
from .._journal.open_journal import open_journal
from .._ocp.endpoints import OcpApi
from .._ocp.shared_reads import ReadsInOrder, sharing_reads
from .._ocp.side_by_side import Crew, Ended
from .._targets.target import Observation, Selector, Target
from .._waiting.await_tasks import wait_for_tasks
from .._waiting.failure_report import Purpose
from .._waiting.heartbeat import Heartbeat
from .._waiting.poll_pauses import UNSEEN_FOR
from .._waiting.progress_lines import progress_line, started_line
from .aftermath import state_of
from .awaited_start import Awaited
from .fleet_outcome import UNKNOWN, FleetMember, FleetOutcome
from .reader import observe
from .restart_request import RestartRequest
from .run import journal_of, restart_target
from .start_proof import is_shown
from .turn import Turn

Result = dict[str, Any]
End: TypeAlias = Ended[Result]

# Seconds between two looks at servers whose start is not shown yet.
PROOF_PAUSE = 5.0


@dataclass(frozen=True)
class WaveByWave:
    """The positions of the members that restart at the same time, each wave after all of the one before serve.

    ``over`` gets what became of the members of a wave at its end. After one with a failure no other begins, and none
    begins while ``pause`` has a reason: its members, and those of later waves, are then postponed.
    """

    waves: Sequence[Sequence[int]]
    over: Callable[[Sequence[Result]], None]
    pause: Callable[[], str] = str


def restart_many(
    api: OcpApi,
    crew: Crew,
    members: Sequence[FleetMember],
    proof_timeout: float,
    clock: Clock = SYSTEM_CLOCK,
    waves: WaveByWave | None = None,
) -> Result:
    """Restart each member that needs it, all at the same time or in ``waves``; returns the module's result.

    Members of one cluster are looked at one after another. Raises an OcpError if one was not restarted as asked; its
    facts have the results of all, and so has what is attached to an interruption.
    """
    outcome = FleetOutcome(members, clock)
    fleet = _Fleet(api, crew, outcome, proof_timeout, clock)
    try:
        if waves is None:
            fleet.restart(range(len(members)))
        else:
            fleet.restart_in(waves)
    except OcpError as error:
        error.facts = {**error.facts, **outcome.result()}
        for line in outcome.failure_lines():
            error.add_advice(line)
        raise
    except Exception as error:
        raise ModuleCrashed(error, **outcome.result()) from error
    except BaseException as interruption:
        attach_facts(interruption, outcome.result())
        raise
    outcome.raise_failures(api, fleet.state_after)
    return outcome.result()


class _Fleet:
    """One such run; its findings are in ``outcome``."""

    def __init__(self, api: OcpApi, crew: Crew, outcome: FleetOutcome, proof_timeout: float, clock: Clock) -> None:
        self._api = api
        self._crew = crew
        self._outcome = outcome
        self._proof_timeout = proof_timeout
        self._clock = clock
        self._request = outcome.members[0].request
        self._awaited: dict[int, Awaited] = {}

    def restart_in(self, waves: WaveByWave) -> None:
        """Restart wave by wave, until something failed: also what an earlier wave has restarted."""
        done: list[int] = []
        for place, wave in enumerate(waves.waves):
            self._prove(done)
            if self._outcome.have_failed(done):
                return
            reason = waves.pause()
            if reason:
                left = [number for later in waves.waves[place:] for number in later]
                for number in left:
                    self._outcome.asked(number, Ended(found={**UNKNOWN, "action": "postponed", "reason": reason}))
                waves.over(self._outcome.servers(left))
                return
            self.restart(wave)
            waves.over(self._outcome.servers(wave))
            if self._outcome.have_failed(wave):
                return
            done += wave
        if len(waves.waves) > 1:
            self._prove(done)

    def restart(self, numbers: Sequence[int]) -> None:
        """Restart these members at the same time."""
        self._side_by_side(numbers, self._ask, self._outcome.asked, sends=True)
        if self._request.check_mode or not self._request.wait:
            return
        self._await_tasks(numbers)
        self._prove(numbers)
        self._note_back()

    def state_after(self, task_id: int) -> str:
        """The state that a task has left its server in, as a sentence; empty if it is not known."""
        number = self._outcome.number_of(task_id)
        awaited = None if number is None else self._awaited.get(number)
        return "" if awaited is None else state_of(self._api, awaited.target)

    def _side_by_side(
        self,
        numbers: Sequence[int],
        job: Callable[[OcpApi, int, Clock, _Line], Result],
        ended: Callable[[int, End], None],
        *,
        sends: bool,
    ) -> None:
        """Do the job for these members: those of one cluster one after another, with the same lock and reads."""
        members = self._outcome.members
        together = _lines_of(numbers, members)
        shared = self._crew.shared_reads(len(together))
        lines: dict[int, _Line] = {}
        for some in together:
            line = _Line(some[-1], ReadsInOrder(shared), sends=sends and not members[some[0]].request.check_mode)
            lines.update(dict.fromkeys(some, line))

        def over(number: int, end: End) -> None:
            lines[number].over(number, failed=end.error is not None)
            ended(number, end)

        try:
            self._crew.run(together, lambda api, number, clock: job(api, number, clock, lines[number]), over)
        finally:
            for line in lines.values():
                line.close()

    def _ask(self, api: OcpApi, number: int, clock: Clock, line: _Line) -> Result:
        member = self._outcome.members[number]
        # In check mode nothing is waited for.
        request = replace(
            member.request, wait=not member.request.check_mode and member.request.wait, awaited_together=True
        )
        result = line.restart(api, member.selector, request, clock, self._outcome.warnings)
        if line.awaited is not None:
            self._awaited[number] = line.awaited
        if member.request.wait and result["task_id"] is not None:
            started = f"{result['action']}, task {result['task_id']}"
            member.request.policy.announce(started_line(member.label, started), False)
        return result

    def _await_tasks(self, numbers: Sequence[int]) -> None:
        task_ids = self._outcome.task_ids(numbers)
        if not task_ids:
            return
        if self._request.policy.steps:
            self._show(f"{_runs(len(task_ids))}, {counted(self._outcome.skipped(numbers), 'server')} left alone")
        try:
            waited = wait_for_tasks(
                self._api,
                task_ids,
                self._request.policy,
                full=False,
                purpose=Purpose(then=RUN_AGAIN, targets=self._outcome.targets),
                unseen_for=UNSEEN_FOR,
                crew=self._crew,
                listed=True,
                clock=self._clock,
            )
        except OcpError as error:
            # Their summaries say less than the names of the servers that they restart.
            error.facts.pop("tasks", None)
            self._outcome.broke_off(numbers)
            raise
        self._outcome.warnings += waited.warnings
        self._outcome.unsuccessful.update({task.id: task for task in waited.unsuccessful})
        self._outcome.durations.update({task["id"]: task["duration"] for task in waited.results})

    def _prove(self, numbers: Sequence[int]) -> None:
        """Check these again, and every few seconds those that do not show their start yet."""
        began = self._clock.now()
        beat, shown = Heartbeat("Proof", self._request.policy, self._clock), 0
        unproven = self._outcome.to_be_proven(numbers)
        while unproven:
            self._side_by_side(unproven, self._look, self._outcome.proved, sends=False)
            unproven = self._outcome.unproven(unproven)
            waited = self._clock.now() - began
            if not unproven or waited >= self._proof_timeout:
                return
            words = f"{counted(len(unproven), 'server')} yet to show a new start and to serve"
            if len(unproven) != shown:
                shown = len(unproven)
                beat.policy.show(progress_line(words), False)
            with beat.about(words):
                beat.clock.sleep(min(PROOF_PAUSE, self._proof_timeout - waited))

    def _note_back(self) -> None:
        """Note that the servers that are proven serve again. Who waits for one that cannot be noted looks at it."""
        proven = self._outcome.proven
        with suppress(JournalError):
            journal = open_journal(self._request.journal_url, read_only=False, is_required=False, warnings=[])
            for row in journal.down() if proven else ():
                is_ours = row.url == self._api.url and row.task_id is not None
                if is_ours and all(proven.get(place.address) == row.task_id for place in row.places):
                    journal.note(row.number or 0, back=True)

    def _look(self, api: OcpApi, number: int, clock: Clock, line: _Line) -> Result:
        """See whether it has started since and serves; if that does not show, decide by the same evidence as before."""
        member, awaited = self._outcome.members[number], self._awaited.get(number)
        if awaited is not None and not member.request.until_effective:
            observed = line.observe(api, awaited.target, clock)
            if is_shown(awaited, observed):
                return {**UNKNOWN, "verified": True, "before": observed.result()}
        request = replace(member.request, check_mode=True, wait=False, foretells=False)
        return line.restart(api, member.selector, request, clock, self._outcome.warnings)

    def _show(self, words: str) -> None:
        self._request.policy.show(progress_line(words), False)


def _runs(count: int) -> str:
    return "1 restart runs" if count == 1 else f"{count} restarts run"


class _Line:
    """Restarts in one cluster, one after another: one lock from the first look to the ``last`` request, shared reads.

    If one fails or has to pause, the lock is released, and the next one reads anew. Without ``sends`` they only look.
    """

    def __init__(self, last: int, reads: ReadsInOrder, *, sends: bool) -> None:
        self._last = last
        self._reads = reads
        self._sends = sends
        self._turn = Turn(reads, keeps_lock=sends)
        self._journal: Journal | None = None

    def restart(
        self, api: OcpApi, selector: Selector, request: RestartRequest, clock: Clock, warnings: list[str]
    ) -> Result:
        """See ``restart_target``."""
        if self._sends and self._journal is None:
            self._journal = journal_of(request, warnings)
        with sharing_reads(api, self._reads):
            return restart_target(api, selector, request, clock, self._journal, self._turn)

    @property
    def awaited(self) -> Awaited | None:
        """What has to show after the last restart, if that was requested or joined."""
        return self._turn.awaited

    def observe(self, api: OcpApi, target: Target, clock: Clock) -> Observation:
        """What is shown of a target now. Raises a ServiceError."""
        self._reads.begin()
        with sharing_reads(api, self._reads):
            return observe(api, target, clock)

    def over(self, number: int, *, failed: bool) -> None:
        """The restart with this number has ended."""
        if failed or number == self._last:
            self.close()

    def close(self) -> None:
        """Release the lock, if it is held."""
        self._turn.let_go()


def _lines_of(numbers: Sequence[int], members: Sequence[FleetMember]) -> list[list[int]]:
    """The members of each cluster, as it is called in the options."""
    lines: dict[str, list[int]] = {}
    for number in numbers:
        lines.setdefault(members[number].line, []).append(number)
    return list(lines.values())
