# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The loop of one restart: look, know, decide, act. It alone locks, sleeps, notes, prints and sends."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from math import inf
from typing import TYPE_CHECKING, Any

from .._base.clock import SECOND, SYSTEM_CLOCK, Clock
from .._base.errors import (
    AuthenticationFailed,
    JournalError,
    OcpError,
    OutcomeUnknown,
    RateLimited,
    RequestRefused,
    ResponseUnreadable,
    ServiceError,
    TargetBusy,
    TaskFailed,
    WaitTimeout,
)
from .._base.parsing import instant
from .._base.service_clock import FIRST_ANSWERS, LARGEST_LEAD, service_time, time_in, to_service_clock
from .._base.text import in_seconds, join_names
from .._journal.journal import Journal
from .._journal.open_journal import open_journal
from .._ocp.endpoints import OcpApi
from .._ocp.shared_reads import MOST_AGE
from .._ocp.task_model import Task
from .._targets.target import Member, Observation, Selector, Target
from .._waiting.heartbeat import Heartbeat
from .._waiting.outcome_search import Search, search_outcome
from .._waiting.poll_pauses import LASTING, LASTING_AT_FIRST, SHORTEST_PAUSE, UNSEEN_FOR, PollPolicy
from .._waiting.progress_lines import progress_line
from .attempt import Progressing, RestartAttempt
from .awaited_start import Awaited, RestartTask
from .cap_gate import CapGate
from .change import UPTIME_TOLERANCE, Begin, begun_by, has_moved
from .diff import restart_diff
from .effect_check import EffectCheck
from .evidence import PROOF_TIMEOUT, work_of
from .held import holder_of
from .know import Ended, Memory, know, undecided
from .knowledge import Relative, Wish, Work
from .look import Look
from .own_notes import Claim, Late, OwnNotes
from .own_request import Sent, doubtful_tasks, own_tasks, undated_tasks
from .reader import Reader
from .reasons import WOULD_JOIN, WOULD_RESTART, Told, lacks_values, reason_of, refusal_of, skip_gap
from .restart_request import RestartRequest
from .rules import Decision, Rule, Step, decide
from .safety_gate import SafetyGate, lag_of_stopped
from .send_once import DoubtfulAnswer, find_own_task, of_another_request, outcome_unknown, post_restart
from .sign_gate import SignGate
from .time_gate import TimeGate
from .turn import Turn
from .values_seen import ValuesSeen
from .verdicts import Gate, Judgement, LookAgain, Postpone, Refuse, Wait

if TYPE_CHECKING:
    from .aftermath import AwaitedTask

Result = dict[str, Any]

# The least number of requests for a look and the restart request.
LOOK_AND_REQUEST = 4
# While answers from a lagging replica are waited out.
LAG_PAUSES = PollPolicy(UNSEEN_FOR, 5.0)
# While a rule waits for what has to show; the rule ends the wait.
EXPECTING = PollPolicy(inf, 5.0)
# Seconds that a wait pauses for each request of its last look: OCP allows 100 in 10 seconds by default.
PAUSE_FOR_A_REQUEST = 0.1
# Requests of one restart that may take too long to be noted.
MOST_SLOW_NOTES = 5
# Looks one after another that are each interrupted by a pause of the service.
MOST_INTERRUPTED = 10
# Looks one after another that may each show another start.
MOST_UNCONFIRMED = 20


def restart_target(
    api: OcpApi,
    selector: Selector,
    request: RestartRequest,
    clock: Clock = SYSTEM_CLOCK,
    journal: Journal | None = None,
    turn: Turn | None = None,
) -> Result:
    """Restart what ``selector`` names, if needed; returns the module's result, with ``warnings`` and ``diff``.

    Every key is always there. ``journal`` is by default the one that ``request`` names; ``turn`` is that of restarts
    which share their reads. Raises an OcpError; once the target is found, its facts hold the result so far, so that no
    started task is lost.
    """
    warnings: list[str] = []
    turn = Turn.alone(clock) if turn is None else turn
    clock = turn.clock(clock)
    journal = journal_of(request, warnings) if journal is None else journal
    _wait_for_the_change(request, clock)
    with turn.hearing_pauses(api.client):
        turn.begin()
        target = _found_target(api, selector, request, clock)
        turn.begin()
        return _Run(api, target, request, clock, journal, warnings, turn).run()


def journal_of(request: RestartRequest, warnings: list[str]) -> Journal:
    """The journal that a request names; ``warnings`` gets a sentence if it cannot be used, and need not be.

    Raises JournalError and OptionError.
    """
    return open_journal(
        request.journal_url,
        read_only=request.check_mode,
        is_required=request.change is not None or request.caps is not None,
        warnings=warnings,
    )


def note_first_use(
    api: OcpApi, selector: Selector, names: Collection[str] | None, request: RestartRequest, clock: Clock = SYSTEM_CLOCK
) -> list[str]:
    """Note that the name of the change is used from now on for what ``selector`` names, or for some of its members.

    ``names`` are those of the members, None for all and for the whole itself. Nothing is sent, and a name that was used
    before for one of them has begun then. Returns warnings. Raises an OcpError.
    """
    warnings: list[str] = []
    journal = open_journal(request.journal_url, read_only=False, is_required=True, warnings=warnings)
    target = _found_target(api, selector, request, clock)
    return _Run(api, target, request, clock, journal, warnings, Turn.alone(clock)).begin(names)


def _wait_for_the_change(request: RestartRequest, clock: Clock) -> None:
    """Wait for an instant that another machine has noted, if it is a little ahead, so that all reads are after it."""
    since = request.started_before
    lead = 0.0 if since is None else since.timestamp() - clock.wall()
    if 0 < lead <= LARGEST_LEAD and not request.check_mode:
        clock.sleep(lead)


def _found_target(api: OcpApi, selector: Selector, request: RestartRequest, clock: Clock) -> Target:
    """The target of ``selector``, looked for as long as failed reads may pass. Raises TargetError and ServiceError."""
    beat = Heartbeat("Looking for the target", request.policy, clock)
    began, shown = clock.now(), ""
    while True:
        try:
            return selector.find(api)
        except ServiceError as error:
            pause = _pause_for_gates(request, clock.now() - began, clock, api.retry_after)
            if not pause or not _may_pass(request, error, LASTING_AT_FIRST):
                raise
            words = _unread_words(error)
            if words != shown:
                shown = words
                beat.policy.show(progress_line(words), True)
            with beat.about(words):
                beat.clock.sleep(pause)


class _Run:
    """One restart in progress."""

    def __init__(
        self,
        api: OcpApi,
        target: Target,
        request: RestartRequest,
        clock: Clock,
        journal: Journal,
        warnings: list[str],
        turn: Turn,
    ) -> None:
        self._beat = Heartbeat(target.label, request.policy, clock)
        request, clock = replace(request, policy=self._beat.policy), self._beat.clock
        self._api, self._target, self._request, self._clock = api, target, request, clock
        self._attempt = Progressing(
            RestartAttempt(target=target.result(), unchanged=target.unchanged_facts(None)), clock
        )
        self._attempt.warnings += warnings
        self._journal = journal
        self._turn = turn
        self._notes = OwnNotes(api, target, request, journal, clock)
        self._reader = Reader(api, target, clock, self._attempt.warnings)
        # A wait for room, and one for values to settle, is made without the lock.
        self._pacing = replace(clock, sleep=self._sleep_unlocked)
        self._effect = EffectCheck(api, target, request, journal, self._pacing, self._attempt.warnings)
        # Read by the first gate for both.
        lag = lag_of_stopped(api, target, request, clock)
        safety = SafetyGate(api, target, request, self._notes, self._attempt.warnings, lag)
        self._signs = SignGate(api, target, request, clock, self._attempt.warnings, lag, journal)
        self._caps = CapGate(api, target, request, journal, clock)
        time = TimeGate(target, request.finish_before, clock, request.windows)
        self._gates: Sequence[Gate] = (safety, self._signs, self._caps, time)
        self._attempt.note(effective=self._effect.facts(()))
        self._begin_state()

    def _begin_state(self) -> None:
        self._since: datetime | None = None
        self._begin = Begin()
        # The members for which the change begins, by a name that is used for the first time; None for all.
        self._begun_for: Collection[str] | None = None
        self._told: Told | None = None
        self._values: ValuesSeen | None = None
        # The last request of this run that may have run although it was refused, or whose task FAILED at once.
        self._sent: Sent | None = None
        self._last_sent: Sent | None = None
        self._doubtful: list[Task] = []
        # What the members of the last request showed before it.
        self._requested: dict[str, Member] = {}
        self._ended: set[int] = set()
        self._ended_at: dict[int, float] = {}
        self._late: Late = {}
        # Members whose start is since the instant if it moves; None before the first look.
        self._moves_tell: frozenset[str] | None = None
        self._starts_seen: dict[str, Member] = {}
        self._unconfirmed = 0
        self._claim = Claim.UNSURE
        # When the last request was sent; and whether it is the last one, since requests are not allowed again in time.
        self._requested_at = 0.0
        # When the last look ended, and how often noting a request took so long that it was too old.
        self._looked_at = 0.0
        self._sent_before_look = 0
        self._slow_notes = 0
        self._gives_up = False
        # At which of the turn's interruptions gates have read; None before.
        self._gated_at: int | None = None
        self._interrupted_looks = 0
        self._reads_gates = not (self._request.is_dated or self._request.until_effective) or self._seems_needed()
        self._had_to_wait = self._had_no_turn = False
        # Whether it has waited for anything: then a failed read does not end the run, as none ends the wait for a task.
        self._is_waiting = False
        self._begin_waits()

    def _begin_waits(self) -> None:
        self._shown: list[str] = []
        # When each wait ends, as it was shown, and by the clock of this run.
        self._ends: dict[str, tuple[str, float]] = {}
        # Seconds that count neither for ``wait_timeout`` nor for one another.
        self._expecting = self._gate_before = self._turn_waited = self._lag_waited = self._paced = 0.0
        # Since when gates put it off, None if they do not; the seconds of earlier times are in ``_gate_before``.
        self._gate_since: float | None = None

    def run(self) -> Result:
        """See restart_target."""
        with self._attempt.kept(), self._locked():
            try:
                self._run()
            except OutcomeUnknown:
                raise
            except OcpError:
                self._notes.refused_for_sure()
                raise
            self._notes.refused_for_sure()
        return self._attempt.result()

    def begin(self, names: Collection[str] | None) -> list[str]:
        """See note_first_use."""
        self._begun_for, self._reads_gates = names, False
        with self._locked():
            self._look()
        return list(self._attempt.warnings)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Until its end it may hold the lock of its cluster."""
        try:
            yield
        except BaseException:
            self._turn.end(failed=True)
            raise
        self._turn.end(failed=False)

    def _run(self) -> None:
        refusal: RequestRefused | TaskFailed | None = None
        while True:
            look, decision = self._decide() if refusal is None else self._decide_after(refusal)
            try:
                if self._execute(look, decision):
                    return
            except (RequestRefused, TaskFailed) as error:
                self._turn.let_go()
                if isinstance(error, RateLimited) and self._nothing_ran:
                    self._pause_for(error)
                elif not self._may_be_busy(error) or not (refusal is None or isinstance(refusal, RateLimited)):
                    raise
                refusal = error
            else:
                self._await_turn(look)

    def _pause_for(self, limited: RateLimited) -> None:
        """Pause after a 429. Where it names no pause, or a long one, one more look ends the run.

        It may be the answer to a repetition by a proxy. So the look comes no earlier than the search for the task of a
        request ends whose answer was lost.
        """
        least = max(0.0, self._api.timeout - (self._clock.now() - self._requested_at))
        with self._beat.about("waiting until OCP allows requests again"):
            try:
                self._attempt.pause_for(limited, self._api.timeout, least)
            except RateLimited:
                self._gives_up = True
                self._clock.sleep(least)

    def _seems_needed(self) -> bool:
        """Whether the first observation lets expect a restart, so that what gates need is read before the next look."""
        first, since = self._target.first_observation, self._request.started_before
        if first is None or since is None:
            return True
        return any(member.started is None or member.started < since for member in first.members)

    @property
    def _policy(self) -> PollPolicy:
        return self._request.policy.left(self._waited)

    @property
    def _waited(self) -> float:
        """Seconds of ``wait_timeout`` used up.

        Waits for a start to show, for gates, for its turn, for an answer that is new and for room among the requests
        have limits of their own.
        """
        own_limits = self._expecting + self._gate_waited + self._turn_waited + self._lag_waited + self._paced
        return self._attempt.elapsed - own_limits

    @property
    def _gate_waited(self) -> float:
        """Seconds for which gates have put it off, with the looks between, so that the wait has one end."""
        return self._gate_before + (0.0 if self._gate_since is None else self._clock.now() - self._gate_since)

    def _leave_gates(self) -> None:
        """Count no longer what is not a wait for gates."""
        self._gate_before, self._gate_since = self._gate_waited, None

    @property
    def _nothing_ran(self) -> bool:
        """Whether no request of this attempt was accepted."""
        return not self._attempt.so_far.changed and self._attempt.so_far.task_id is None

    def _may_be_busy(self, error: RequestRefused | TaskFailed) -> bool:
        """Whether the service did not run the restart, perhaps because another task works on the target."""
        if isinstance(error, TaskFailed):
            return error.at_first_step
        return error.may_be_due_to_state and self._nothing_ran

    # After a refusal

    def _decide_after(self, refusal: RequestRefused | TaskFailed) -> tuple[Look, Decision]:
        """Look again: the refusal stands if nothing works on the target now, unless a 429 allows another request."""
        refused, told = self._attempt.so_far, self._told
        if isinstance(refusal, TaskFailed):
            # Another task may be at work that a proxy started by repeating the request.
            last = self._last_sent
            self._sent = None if last is None else replace(last, refused=True, failed=refused.task_id)
        self._had_to_wait = False
        self._attempt.note(changed=False, action=None, task_id=None, task=None, trace_id=None)
        try:
            look, decision = self._decide_anew(refusal)
        except OcpError as problem:
            raise self._after_refusal(problem, refusal, refused, is_seen=self._told is not told) from None
        if decision.step is Step.ADOPT:
            return look, decision
        doubt = self._doubt(refusal)
        if isinstance(refusal, RateLimited) and not (doubt or self._gives_up):
            return look, decision
        if doubt:
            self._attempt.so_far = replace(refused, changed=True)
            raise doubt
        # A replica that lags shows our own task, which has failed, as running; or others may be our own.
        is_failed_one = isinstance(refusal, TaskFailed) and (decision.tasks == (refused.task_id,) or self._doubtful)
        may_send = self._had_to_wait or self._had_no_turn or isinstance(refusal, RateLimited)
        self._had_no_turn = False
        is_final = self._gives_up or not may_send
        if is_failed_one or (decision.sends and is_final):
            self._attempt.so_far = refused
            raise refusal
        return look, decision

    def _after_refusal(
        self, problem: OcpError, refusal: RequestRefused | TaskFailed, refused: RestartAttempt, *, is_seen: bool
    ) -> OcpError:
        """What to report if the target cannot be restarted after a refusal; ``is_seen``: a look since has ended."""
        error = self._doubt(refusal) or problem
        if isinstance(refusal, RequestRefused) and not (is_seen or isinstance(error, OutcomeUnknown)):
            error = self._unknown(refusal, f"A proxy may have repeated the request. {problem}")
        is_unknown = isinstance(error, OutcomeUnknown)
        verified = self._attempt.so_far.verified
        self._attempt.so_far = replace(refused, changed=refused.changed or is_unknown, verified=verified)
        if isinstance(refusal, TaskFailed) and isinstance(error, TargetBusy) and self._is_alone(refused.task_id):
            return refusal
        if not is_unknown:
            error.add_context(str(refusal))
        return error

    def _decide_anew(self, refusal: RequestRefused | TaskFailed) -> tuple[Look, Decision]:
        """Decide again, with as much time for looking as a request has: lists lag, and reads fail.

        Raises OutcomeUnknown if the target cannot be read: a proxy may have repeated the request and got the refusal.
        """
        is_busy = isinstance(refusal, RequestRefused) and refusal.is_busy

        busy: list[TargetBusy] = []

        def look() -> tuple[Look, Decision] | None:
            busy.clear()
            try:
                seen = self._decide()
            except TargetBusy as error:
                if not is_busy or self._shows_work:
                    raise
                # What works on it may be our own task, which the list does not show yet.
                busy.append(error)
                return None
            is_clear = not seen[1].sends or self._had_to_wait or self._had_no_turn
            return seen if is_clear or not is_busy else None

        if self._gives_up:
            search = Search(*self._last_look())
        else:
            with self._beat.about("looking whether the request that was refused has started a task"):
                search = search_outcome(self._api, look, self._clock)
        if search.found:
            return search.found
        if busy:
            raise busy[0]
        if search.problem is None:
            return self._decide()
        if isinstance(refusal, RequestRefused) and not search.is_in_vain:
            doubt = f"A proxy may have repeated the request{search.last_look}"
            raise self._unknown(refusal, doubt) from None
        raise search.problem

    @property
    def _shows_work(self) -> bool:
        """Whether the last look shows a task that works on the target, or that holds it."""
        look = self._told.look if self._told else None
        return look is not None and bool(look.unfinished or holder_of(look))

    def _last_look(self) -> tuple[tuple[Look, Decision] | None, OcpError | None]:
        try:
            return self._decide(), None
        except ServiceError as error:
            return None, error

    def _doubt(self, refusal: OcpError) -> OutcomeUnknown | None:
        """The error if what has happened since may be our own doing; None if nothing shows that.

        It is a task whose target the service does not show, one of several that fit, or a start where tasks cannot be
        read.
        """
        if not isinstance(refusal, RequestRefused) or not (happened := self._happened_since()):
            return None
        refusal.context.clear()
        doubt = f"That may be the answer to a request that a proxy repeated: {happened}"
        return self._unknown(refusal, doubt)

    def _happened_since(self) -> str:
        if self._doubtful:
            return f"{join_names(task.label for task in self._doubtful)} began since, by the same user"
        look = self._told.look if self._told else None
        if look is None or look.reads_tasks:
            return ""
        there = {member.name: member for member in look.observed.members}
        started = [name for name, before in self._requested.items() if name in there and has_moved(before, there[name])]
        return f"{join_names(started)} started since, and tasks cannot be read" if started else ""

    def _unknown(self, lost: ServiceError, search: str) -> OutcomeUnknown:
        return outcome_unknown(self._target, lost, search, at_most_once=self._request.is_at_most_once)

    def _is_alone(self, failed_task_id: int | None) -> bool:
        """Whether nothing but this FAILED task was seen on the target."""
        look = self._told.look if self._told else None
        if look is None or look.unfinished:
            return look is None
        holder = holder_of(look)
        return holder is None or holder.id == failed_task_id

    # Deciding

    def _decide(self) -> tuple[Look, Decision]:
        """The look and the decision; waits for what has to end first. Holds the lock of the cluster afterwards."""
        while True:
            try:
                decided = self._look_and_decide()
            except ServiceError as error:
                if self._sent is not None or not self._outlasts(error):
                    raise
                continue
            if decided is not None:
                return decided

    def _look_and_decide(self) -> tuple[Look, Decision] | None:
        """The same by one look; None if it has to look again."""
        look = self._look()
        self._attempt.note(before=look.observed.result(), effective=self._effect.facts(look.observed.members))
        wish, memory = self._wish(), self._memory(look)
        known = know(self._target.may_restart_part, look, self._begin, self._values, memory)
        decision = decide(known, wish)
        self._told = Told(
            look, known, wish, self._since, self._request.change, self._values, self._begin, self._request.hints
        )
        if decision.step is Step.ADOPT:
            return (look, decision) if self._claims(look, decision) else None
        reason = reason_of(decision, self._told)
        self._attempt.note(reason=reason, unchanged=self._target.unchanged_facts(decision.members))
        if decision.step is Step.FAIL:
            self._attempt.note(verified=False if lacks_values(decision, self._told) else None)
            raise refusal_of(self._api, self._target, decision, reason, look, self._request)
        if not self._request.check_mode and decision.step in (Step.WAIT, Step.QUEUE):
            self._wait_first(decision, reason)
            return None
        if decision.sends and not (self._is_confirmed(look, decision) and self._is_allowed(look)):
            return None
        return look, decision

    def _claims(self, look: Look, decision: Decision) -> bool:
        """Whether the task that is adopted is that of no other request, and is all that is needed; if not, look again.

        So it does if somebody else has found the task of an earlier run first. The task of this run's request stays its
        own. That of an earlier request for fewer members is noted as its task, so that what it leaves is restarted.
        """
        task, sent = look.task(decision.tasks[0]), self._searched
        if task is None or sent is None or self._request.check_mode:
            return True
        self._claim = self._notes.adopted(task, sent)
        is_ours = self._sent is not None and self._claim is Claim.NOTED_BEFORE
        is_whole = decision.members <= sent.members
        return is_whole and (is_ours or self._claim in (Claim.MADE, Claim.UNSURE))

    def _is_confirmed(self, look: Look, decision: Decision) -> bool:
        """Whether the list of tasks was read after the starts that are shown, if these alone do not decide.

        A restart may have begun and ended after the list of the first look was read. Raises ResponseUnreadable if each
        look shows another start.
        """
        told = self._told
        unclear = () if told is None else (member for member in told.known.members if member.name in decision.members)
        if not self._request.is_dated or all(member.start is Relative.BEFORE for member in unclear):
            return True
        shown = {member.name: member for member in look.observed.members if member.name in decision.members}
        before, self._starts_seen = self._starts_seen, shown
        is_same = before.keys() == self._starts_seen.keys() and all(
            _shows_the_same(before[name], member) for name, member in self._starts_seen.items()
        )
        self._unconfirmed = 0 if is_same else self._unconfirmed + 1
        if self._unconfirmed > 1:
            self._pause_unconfirmed()
        return is_same

    def _pause_unconfirmed(self) -> None:
        if self._unconfirmed > MOST_UNCONFIRMED:
            with self._saying_nothing_was_sent("its start is not clear"):
                raise _never_the_same(self._api, self._target)
        self._turn.let_go()
        if not self._request.check_mode:
            with self._beat.about("waiting for OCP to show the same start twice in a row"):
                self._clock.sleep(self._pause(LAG_PAUSES, 0.0))

    def _wish(self) -> Wish:
        asked = self._request
        has_values = self._values is not None
        waits = asked.wait and not asked.check_mode
        settles = self._expecting < PROOF_TIMEOUT
        return Wish(asked.is_dated, asked.in_flight, has_values, waits, asked.awaited_together, settles=settles)

    def _pause(self, policy: PollPolicy, waited: float) -> float:
        """Seconds until the next look, after ``waited`` of them; more after a look that took many requests."""
        return policy.pause(waited, self._clock.jitter(), self._least_pause)

    @property
    def _least_pause(self) -> float:
        asked = self._api.sent - self._sent_before_look
        return max(self._api.retry_after, PAUSE_FOR_A_REQUEST * asked)

    def _look(self) -> Look:
        """Pace, lock, read what gates and values need, then the target: nothing is read after it."""
        self._sent_before_look = self._api.sent
        with self._saying_nothing_was_sent("it cannot be read"):
            self._effect.learn()
            with self._beat.about("waiting for its turn, since OCP limits requests"):
                self._wait_for_room()
        with self._saying_nothing_was_sent("its cluster is locked"):
            timeout = max(0.0, self._policy.timeout)
            until = self._end_of("lock", timeout)
            with self._beat.about(f"waiting {until} for another restart that has the lock of its cluster"):
                self._turn.take(self._journal, self._target.locks, self._clock, timeout)
        with self._saying_nothing_was_sent("it cannot be read"):
            if self._reads_gates and not self._is_gated:
                self._read_gates()
            self._effect.read()
        look = self._see()
        open_ones = undecided(self._target.may_restart_part, look, self._begin, self._values, self._memory(look))
        if (sent := self._searched) is not None:
            open_ones += [entry for entry in undated_tasks(self._target, look.tasks, sent) if entry not in open_ones]
        unread = [entry for entry in open_ones if not self._reader.has_detail(entry)]
        if unread:
            with self._saying_nothing_was_sent("it cannot be read"):
                self._reader.read_details(unread)
            look = self._see()
        return look

    def _wait_for_room(self) -> None:
        """Wait until OCP allows all that is read and sent next; after a pause gates have to read, too."""
        # The last look is followed by no request.
        while not self._gives_up:
            was_gated = self._is_gated
            of_gates = sum(gate.requests for gate in self._gates) if self._reads_gates and not was_gated else 0
            needed = LOOK_AND_REQUEST + of_gates + self._effect.requests
            room = self._attempt.with_room_to_spare(self._turn.room(needed) * (1 + self._interrupted_looks))
            self._api.wait_for_room(room, self._pacing)
            if self._is_gated == was_gated:
                return

    def _see(self) -> Look:
        """One look that is not behind earlier ones, with what the journal knows more; and when the change began."""
        with self._saying_nothing_was_sent("it cannot be read"):
            look = self._current_look()
            for _answer in range(FIRST_ANSWERS):
                if self._api.service_clock.is_doubtful:
                    look = self._current_look()
            self._notes.refresh(look.observed)
            own = self._notes.open_task_ids()
            if set(own) - look.ids:
                look = self._current_look(own)
            look = self._completed(look, own)
        self._note_ends(look)
        self._late = self._notes.late(look, self._ended_tasks)
        self._note_begin(look)
        self._values = self._effect.seen(look.observed, self._notes.tried)
        self._note_effect(look.observed)
        if not self._request.check_mode:
            self._notes.came_back(look.observed, look.listed)
        return look

    def _completed(self, look: Look, own: Sequence[int]) -> Look:
        """The look with what the journal knows of its tasks, also of those that only another look shows."""
        known: set[int] = set()
        while more := [entry for entry in self._notes.completed(look) if entry.record["id"] not in known]:
            known.update(entry.record["id"] for entry in more)
            self._reader.remember(more, look.observed.members)
            look = self._current_look(own)
        return look

    def _note_effect(self, observed: Observation) -> None:
        names = self._effect.in_effect(observed)
        if names and not self._request.check_mode:
            self._notes.took_effect(names)

    def _current_look(self, own: Sequence[int] = ()) -> Look:
        """Look until OCP shows nothing older than before, for at most a minute.

        A minute in vain counts for ``wait_timeout``, so that a run which tries again comes to its end.
        """
        began, lagged = self._clock.now(), 0.0
        while True:
            self._journal.renew()
            look = self._reader.look(own)
            is_behind = self._reader.is_behind(look)
            if not is_behind and not self._reader.may_be_behind(look):
                self._reader.note(look)
                self._looked_at = self._clock.now()
                self._lag_waited += lagged
                return look
            waited = self._clock.now() - began
            if is_behind and waited >= UNSEEN_FOR:
                if not look.observed.is_there:
                    return look
                raise _older_than_before(self._api, self._target)
            if not (is_behind or lagged):
                self._note_first_use(look)
            pause = self._pause(LAG_PAUSES, waited)
            self._sent_before_look = self._api.sent
            with self._beat.about("waiting for an answer of OCP that is not older than the last one"):
                self._clock.sleep(max(SHORTEST_PAUSE, pause))
            lagged += self._clock.now() - began - waited

    def _note_first_use(self, look: Look) -> None:
        """Note the name before the wait for tasks that only the target names: the run may be killed meanwhile.

        A later start may be that of such a task. Where none is named, nothing would tell that start apart.
        """
        if self._request.check_mode or not (look.unseen and look.observed.is_there):
            return
        self._notes.refresh(look.observed)
        late = {member.name: look.unseen for member in look.observed.members}
        self._notes.sights(look, late, registers=True, names=self._begun_for)

    def _note_begin(self, look: Look) -> None:
        """Learn when the change began, and note the first use of its name. Raises OptionError."""
        wanted, span = self._request.started_before, None
        if wanted is not None:
            # Only here, because the clock of the service is judged from several answers.
            since, warnings = to_service_clock(wanted, self._api.service_clock, self._clock.wall())
            span = begun_by(wanted, self._api.service_clock)
            if self._since is None:
                self._since = since
                self._attempt.warnings += warnings
        wall = None if wanted is None else wanted.timestamp()
        requested = {} if wall is None else self._notes.shown_at_requests(wall)
        registers = not self._request.check_mode and look.observed.is_there
        sights = self._notes.sights(look, self._late, registers=registers, names=self._begun_for)
        if self._moves_tell is None:
            self._moves_tell = self._told_by_moves(look, Begin(span, wall))
        seen = {name: member for name, member in self._reader.first_shown.items() if name in self._moves_tell}
        latest = self._clock.wall() + self._api.service_clock.bounds[1] + UPTIME_TOLERANCE
        self._begin = Begin(span, wall, sights, requested, seen, latest)

    def _told_by_moves(self, look: Look, begin: Begin) -> frozenset[str]:
        """The members whose start, if it moves from now on, is since the instant."""
        tasks = {entry.task.id: entry.task for entry in look.tasks}

        def began_since(number: int, member: Member) -> bool:
            return number in tasks and begin.of_task(tasks[number], None, member) is Relative.SINCE

        return frozenset(
            member.name
            for member in look.observed.members
            if all(began_since(number, member) for number in self._late.get(member.name, ()))
        )

    def _note_ends(self, look: Look) -> None:
        """Since when this run knows tasks as ended, and in the journal how own tasks have ended."""
        for entry in look.tasks:
            task = entry.task
            if task.finished:
                self._ended_at.setdefault(task.id, self._clock.now())
                if not self._request.check_mode:
                    self._notes.ended(task)

    @property
    def _ended_tasks(self) -> Ended:
        now = self._clock.now()
        least, most = self._api.service_clock.bounds
        return Ended({number: now - at for number, at in self._ended_at.items()}, uncertain=most - least)

    def _memory(self, look: Look) -> Memory:
        return Memory(
            requested=self._notes.requested_at(),
            own=self._own_tasks(look),
            requests=() if self._sent is not None else self._notes.open_requests(look),
            ended=self._ended_tasks,
            skipped=self._notes.skipped_tasks(),
            late=frozenset(self._late),
            proven=self._notes.proven(look.observed.members),
        )

    @property
    def _searched(self) -> Sent | None:
        """The request whose task is searched for: one of this run, or an open one of an earlier run."""
        return self._sent or self._notes.sent_before()

    def _own_tasks(self, look: Look) -> frozenset[int]:
        """The tasks that a request of ours may have started whose answer did not say so.

        That of an earlier run has to have begun since the change.
        """
        sent = self._searched
        self._doubtful = []
        if sent is None:
            return frozenset()
        noted = self._notes.noted_tasks
        found = [task for task in own_tasks(self._target, look.tasks, sent) if task.id not in noted]
        self._doubtful = doubtful_tasks(self._target, look.tasks, sent) + (found if len(found) > 1 else [])
        if self._sent is None and len(found) == 1 and not self._has_begun_since(found[0], sent):
            if not self._request.check_mode:
                self._notes.adopted(found[0], sent)
            return frozenset()
        return frozenset(task.id for task in found)

    def _has_begun_since(self, task: Task, sent: Sent) -> bool:
        """Whether the task of an earlier request does what this run was asked for.

        A run without a change asks for a restart of its own. It takes a task that has ended only as long as it would
        have waited for the lost answer itself.
        """
        if not self._request.is_dated and sent.is_old:
            return not task.finished
        since = None if self._request.started_before is None else self._request.started_before.timestamp()
        is_later = since is None or sent.wall is None or sent.wall >= since
        return is_later and self._request.change in (None, sent.change)

    def _is_allowed(self, look: Look) -> bool:
        """Whether all gates let the request go right after this look; if not, look again: it may have waited.

        Raises what a gate refuses with, and a ServiceError if what it needs cannot be read for now.
        """
        if not self._is_gated:
            self._count_interrupted()
            self._reads_gates = True
            return False
        self._interrupted_looks = 0
        with self._saying_nothing_was_sent("the data for its safety checks cannot be read", ServiceError):
            for gate in self._gates:
                judgement = gate.judge(look, self._gate_waited)
                self._note_judgement(judgement)
                verdict = judgement.verdict
                if isinstance(verdict, Refuse):
                    raise verdict.error
                if isinstance(verdict, Postpone):
                    self._attempt.note(action="postponed", reason=verdict.why)
                if isinstance(verdict, Wait):
                    if not self._puts_off(verdict.lines):
                        raise verdict.refusal
                    return False
                if isinstance(verdict, LookAgain):
                    return False
        if not (self._request.check_mode or self._gives_up):
            with self._beat.about("waiting for its turn, since OCP limits requests"):
                self._api.wait_to_send(self._pacing)
        return self._is_gated

    def _count_interrupted(self) -> None:
        """Raise ResponseUnreadable if each look was interrupted by a pause after gates had begun to read."""
        if not self._reads_gates:
            return
        self._interrupted_looks += 1
        if self._interrupted_looks >= MOST_INTERRUPTED:
            with self._saying_nothing_was_sent("what it rests on was too old"):
                raise _interrupted_too_often(self._api)

    def _note_judgement(self, judgement: Judgement) -> None:
        self._attempt.warnings += judgement.warnings
        if judgement.safety is not None:
            self._attempt.note(safety=judgement.safety)
        safety = self._attempt.so_far.safety
        if judgement.problems and safety is not None:
            problems = [*safety["problems"], *judgement.problems]
            self._attempt.note(safety={**safety, "problems": problems, "allowed": False})
        if judgement.meaning:
            self._attempt.note(reason=f"{self._attempt.so_far.reason}; {judgement.meaning}")

    def _read_gates(self) -> None:
        self._turn.decide_anew()
        self._gated_at = self._turn.interruptions
        for gate in self._gates:
            gate.read()

    @property
    def _is_gated(self) -> bool:
        """Whether gates have read all that they need, with the lock that is held, and after the last pause."""
        return self._gated_at == self._turn.interruptions

    def _sleep_unlocked(self, seconds: float) -> None:
        self._turn.let_go()
        began = self._clock.now()
        self._clock.sleep(seconds)
        self._paced += self._clock.now() - began

    # Waiting

    def _puts_off(self, why: Sequence[str]) -> bool:
        """Whether it has waited a while for gates, if there is time; a line is shown for each reason."""
        if self._gate_since is None:
            self._gate_since = self._clock.now()
        pause = _pause_for_gates(self._request, self._gate_waited, self._clock, self._least_pause)
        if not pause:
            return False
        self._turn.let_go()
        until = self._until(self._request.safety_timeout - self._gate_waited)
        self._show_once(f"not safe yet, waiting {until}", list(dict.fromkeys(why)))
        with self._beat.about(f"not safe, waiting {until}: {why[0]}"):
            self._clock.sleep(pause)
        return True

    def _await_turn(self, look: Look) -> None:
        """Wait until fewer servers are down, without the lock of the cluster."""
        self._turn.let_go()
        began = self._clock.now()
        with self._saying_nothing_was_sent("too many servers are down", JournalError):
            self._caps.await_turn(look, lambda why: self._show_once("waits", list(why)))
        self._turn_waited += self._clock.now() - began
        self._had_no_turn = True

    def _until(self, seconds: float) -> str:
        observed = self._target.first_observation if self._told is None else self._told.observed
        shown = [] if observed is None else [member.started for member in observed.members]
        return f"until {time_in(seconds, self._api.service_clock, self._clock, shown)} at the latest"

    def _end_of(self, wait: str, seconds: float) -> str:
        """When a wait ends at the latest. The looks in it take time, too, and yet it has one end until that is past."""
        now = self._clock.now()
        words, end = self._ends.get(wait, ("", now))
        if end <= now:
            words, end = self._until(seconds), now + seconds
        self._ends[wait] = words, end
        return words

    def _show_once(self, what: str, why: list[str]) -> None:
        """Show what the target waits for, and a line for each reason, unless these were shown last."""
        if why != self._shown:
            self._shown = why
            for line in (f"{self._target.label}: {what}", *why):
                self._request.policy.show(progress_line(line), False)

    def _outlasts(self, error: ServiceError) -> bool:
        """The same after a look that failed."""
        words = _unread_words(error)
        if _may_pass(self._request, error):
            return self._puts_off([words])
        if not self._is_waiting or isinstance(error, LASTING):
            return False
        pause = self._pause(self._request.policy, self._waited)
        if pause:
            self._turn.let_go()
            left = self._request.policy.timeout - self._waited
            until = self._end_of("service", left)
            self._show_once(f"waiting {until}", [words])
            with self._beat.about(f"waiting {until}: {words}"):
                self._clock.sleep(pause)
        return bool(pause)

    def _wait_first(self, decision: Decision, reason: str) -> None:
        """Wait a while for what has to end or to show first."""
        self._is_waiting = True
        self._leave_gates()
        self._turn.let_go()
        if decision.step is Step.WAIT:
            self._expect(decision.rule, reason)
            return
        # Above the lines of the task, which do not name the target.
        self._show_once(f"waiting {self._until(self._request.policy.timeout - self._waited)}", [reason])
        with self._saying_nothing_was_sent(reason):
            self._wait_until_ended(decision.tasks)
        self._had_to_wait = True

    def _expect(self, rule: Rule, reason: str) -> None:
        """Wait a while for what has to show. Raises WaitTimeout where other runs send one request after another."""
        of_open = PROOF_TIMEOUT + self._api.timeout + UNSEEN_FOR
        if self._expecting > of_open + PROOF_TIMEOUT:
            with self._saying_nothing_was_sent(reason):
                raise WaitTimeout(
                    f"It has waited more than {in_seconds(round(of_open + PROOF_TIMEOUT))}. Other runs may request "
                    "one restart after another. See who restarts it, then run this again."
                )
        until = self._end_of(rule.name, of_open if rule is Rule.REQUEST_OPEN else PROOF_TIMEOUT)
        self._show_once(f"waiting {until}", [reason])
        began = self._clock.now()
        with self._beat.about(f"waiting {until}: {reason}"):
            self._clock.sleep(max(SECOND, self._pause(EXPECTING, self._expecting)))
        self._expecting += self._clock.now() - began

    def _wait_until_ended(self, task_ids: tuple[int, ...]) -> None:
        """Wait until tasks have ended. The list may still show them as running, or a status that something goes on."""
        if task_ids:
            from .._waiting.await_tasks import wait_for_tasks

            wait_for_tasks(self._api, task_ids, self._policy, unseen_for=UNSEEN_FOR, clock=self._clock)
        if self._ended.issuperset(task_ids):
            waited = self._waited
            if not (pause := self._pause(self._request.policy, waited)):
                what = "It has ended, but" if task_ids else "No task of it is visible, but"
                raise WaitTimeout(
                    f"{what} after {in_seconds(round(waited))} the service still shows it at work. Check it in OCP, "
                    "then run this again."
                )
            until = self._end_of("work", self._request.policy.timeout - waited)
            with self._beat.about(f"waiting {until}: OCP shows that something works on it"):
                self._clock.sleep(pause)
        self._ended.update(task_ids)

    @contextmanager
    def _saying_nothing_was_sent(self, why: str, kind: type[OcpError] = OcpError) -> Iterator[None]:
        try:
            yield
        except kind as error:
            # Not after an uncertain refusal: the request may have run.
            if self._sent is None:
                cause = "" if isinstance(error, JournalError) else f": {why}"
                error.add_context(f"Did not restart {self._target.label}{cause}.")
            raise

    # Acting

    def _execute(self, look: Look, decision: Decision) -> bool:
        """Whether it was done; False if it is not its turn."""
        self._leave_gates()
        if decision.step is Step.SKIP:
            self._skip(decision)
            return True
        if self._attempt.so_far.action == "postponed":
            return True
        if decision.step is Step.JOIN:
            self._join(decision)
        elif decision.step is Step.ADOPT:
            self._adopt(look, decision)
        elif self._request.check_mode:
            would = WOULD_RESTART if self._request.foretells else ""
            self._attempt.note(changed=True, action="submitted", reason=f"{would}{self._attempt.so_far.reason}")
        elif not self._submit(look, decision.members):
            return False
        self._note_proofs()
        if self._attempt.so_far.task_id is not None and not self._request.check_mode:
            self._tell("began", decision.members)
        self._turn.end(failed=False)
        before = tuple(member for member in look.observed.members if member.name in decision.members)
        self._turn.awaited = Awaited(self._target, before, self._begin, frozenset(self._late))
        if decision.step is not Step.JOIN:
            values = self._effect.lines(decision.members)
            self._attempt.diff = restart_diff(self._target.label, look.observed, None, decision.members, values)
        if self._request.awaits_end:
            self._await(look, decision)
        return True

    def _note_proofs(self) -> None:
        """Note the tasks that alone prove of members that they have restarted: OCP may not list them for long."""
        if self._told is None or self._request.check_mode:
            return
        for number, names in self._told.case.proofs.items():
            if (task := self._told.look.task(number)) is not None:
                self._notes.witnessed(task, names)

    def _note_joined(self, task: Task) -> None:
        """Note the task of somebody else that was joined, once it has restarted what had not started before."""
        if self._told is None or not self._request.is_dated or work_of(task) is not Work.RESTARTED:
            return
        members = self._told.known.members
        self._notes.witnessed(task, [member.name for member in members if member.start is not Relative.SINCE])

    def _skip(self, decision: Decision) -> None:
        told = self._told
        self._note_proofs()
        serves = told.observed.serves if told and decision.rule is Rule.DONE else None
        if told and decision.rule is Rule.DONE and (gap := skip_gap(self._target, told)):
            self._attempt.note(reason=f"{self._attempt.so_far.reason}; not verified, since {gap}")
            serves = None
        self._attempt.note(action="skipped", verified=serves)

    def _join(self, decision: Decision) -> None:
        [task_id] = decision.tasks
        self._attempt.note(action="attached", task_id=task_id)
        if self._request.wait and self._request.check_mode:
            self._attempt.note(reason=f"{WOULD_JOIN}{self._attempt.so_far.reason}")
        if self._request.awaits_end:
            return
        try:
            self._attempt.note(task=Task.from_api(self._api.task(task_id)).result())
        except AuthenticationFailed:
            raise
        except ServiceError as error:
            self._attempt.warnings.append(f"Task {task_id} cannot be read: {error.what}")

    def _adopt(self, look: Look, decision: Decision) -> None:
        task = look.task(decision.tasks[0])
        if task is not None:
            before = self._attempt.so_far.reason or "this controller has requested it before"
            self._note_adopted(task, f"{before}; {_why_adopted(self._sent)}")
            if task.finished and not task.succeeded and not (self._request.awaits_end or self._request.check_mode):
                # Nobody has to wait to see that.
                self._see_end(task.id)

    def _note_adopted(self, task: Task, why: str) -> None:
        reason = f"{why}, and task {task.label} is the only one started since"
        if self._claim is Claim.UNSURE:
            reason += "; another controller of this user that does not share the journal may have started it"
        self._attempt.note(changed=True, action="adopted", reason=reason, task_id=task.id, task=task.result())

    def _submit(self, look: Look, members: frozenset[str]) -> bool:
        """Note the request, and send it; False, and not sent, if too many servers are down or the look is too old.

        Raises OutcomeUnknown if it may run and its task is not found.
        """
        if not self._note_request(look, members):
            return False
        least, most = self._api.service_clock.bounds
        known = look.ids | self._notes.new_tasks() if look.reads_tasks else None
        at = service_time(self._api.service_clock, self._clock)
        sent = self._last_sent = Sent(
            at,
            timedelta(seconds=most - least),
            known,
            members,
            self._api.user,
            at_most_once=self._request.is_at_most_once,
        )
        self._requested = {member.name: member for member in look.observed.members if member.name in members}
        self._requested_at = self._clock.now()
        # A wait from before the request allows no other one after a refusal.
        self._had_no_turn = False
        self._tell("asked", members)
        try:
            self._send(sent)
        except (RequestRefused, ServiceError) as error:
            if not error.may_have_run:
                self._tell("refused", members)
                self._notes.end(None, refused=True)
            raise
        except BaseException:
            if self._attempt.so_far.task_id is None:
                # Whether it was sent before this is not known.
                self._note_sent(self._attempt.so_far.trace_id)
            raise
        task = self._attempt.so_far.task or {}
        self._notes.end(self._attempt.so_far.task_id, task.get("start_time"))
        return True

    def _tell(self, what: str, members: frozenset[str]) -> None:
        """Note for the evidence what became of a request for these members: asked, refused or began."""
        facts = {"target": self._target.label, "task_id": self._attempt.so_far.task_id, "members": sorted(members)}
        self._request.policy.note({what: facts})

    def _note_request(self, look: Look, members: frozenset[str]) -> bool:
        """Note the request; False if too many servers are down, or the look is too old now. Raises JournalError."""
        if not self._notes.begin(look, members, self._late, self._caps.allows(look)):
            return False
        if self._turn.is_fresh and self._clock.now() - self._looked_at <= MOST_AGE:
            return True
        self._notes.end(None, refused=True)
        self._notes.refused_for_sure()
        self._slow_notes += 1
        if self._slow_notes >= MOST_SLOW_NOTES:
            raise _journal_too_slow(self._target, self._journal)
        return False

    def _send(self, sent: Sent) -> None:
        try:
            started = post_restart(self._api, self._target, sent, self._request.policy.announce)
        except ServiceError as error:
            if not error.may_have_run:
                self._sent = replace(sent, refused=True)
                error.add_context(f"Did not restart {self._target.label}.")
                raise
            self._note_sent(error.facts.get("trace_id"))
            if isinstance(error, DoubtfulAnswer) and error.claimed is not None:
                self._attempt.note(task_id=error.claimed)
            self._note_found(sent, error)
        else:
            self._note_sent(started.trace_id)
            self._attempt.note(task_id=started.task.id, task=started.task.result())

    def _note_found(self, sent: Sent, lost: ServiceError) -> None:
        """Search the task of a request whose answer was lost. Raises OutcomeUnknown."""
        until = self._until(self._api.timeout)
        with self._beat.about(f"looking for the task of its request, whose answer was lost, {until}"):
            found = find_own_task(self._api, self._target, sent, lost, self._clock, self._notes.noted_tasks_now)
        self._claim = self._notes.adopted(found, sent)
        why = f"{self._attempt.so_far.reason}; the answer was lost"
        if self._claim is Claim.OF_ANOTHER:
            raise self._unknown(lost, f"The only task that fits is {of_another_request([found])}")
        if self._claim is Claim.NOTED_BEFORE:
            reason = f"{why}, and by the journal its task is {found.label}"
            self._attempt.note(reason=reason, task_id=found.id, task=found.result())
        else:
            self._note_adopted(found, why)

    def _note_sent(self, trace_id: str | None) -> None:
        self._attempt.note(changed=True, action="submitted", trace_id=trace_id)

    def _await_task(self, task_id: int) -> AwaitedTask:
        from .aftermath import await_restart

        so_far = self._attempt.so_far
        policy = replace(self._policy, offline_time=self._signs.offline_time)
        return await_restart(
            self._api,
            self._target,
            task_id,
            str(so_far.action),
            so_far.trace_id,
            policy,
            self._clock,
            at_most_once=self._request.is_at_most_once,
        )

    def _await(self, look: Look, decision: Decision) -> None:
        """Wait for the task, and prove the restart."""
        before, members = look.observed, decision.members
        task_id = self._attempt.so_far.task_id or 0
        self._see_end(task_id)
        task = self._attempt.so_far.task
        self._attempt.warnings += self._signs.long_restart(task["duration"] if task else None)
        self._prove(before, members, self._restart_task(task_id, task, decision))

    def _see_end(self, task_id: int) -> None:
        """Wait for the end of a task, and note it. Raises an OcpError if the task failed, or if the wait broke off."""
        awaited = self._await_task(task_id)
        self._attempt.warnings += awaited.warnings
        if awaited.task is not None:
            self._attempt.note(task=awaited.task)
            ended = Task.from_result(awaited.task)
            self._notes.ended(ended)
            if self._attempt.so_far.action == "attached":
                self._note_joined(ended)
        if awaited.error is not None:
            raise awaited.error

    def _restart_task(self, task_id: int, task: Result | None, decision: Decision) -> RestartTask:
        return RestartTask(
            number=task_id,
            began=None if task is None else instant(task.get("start_time")),
            attached=decision.step in (Step.JOIN, Step.ADOPT),
            change=self._begin,
            late=frozenset(self._late),
            apart=self._ended_tasks.uncertain,
            skipped=task is not None and work_of(Task.from_result(task)) is Work.SKIPPED,
        )

    def _prove(self, before: Observation, members: frozenset[str], task: RestartTask) -> None:
        """Wait until these members show that they restarted. Raises what shows that they did not."""
        from .aftermath import verify, verify_effect

        found = verify(self._api, self._target, before, members, task, self._beat, self._request)
        if found.error is None and self._attempt.so_far.effective is not None:
            began = self._clock.now()
            with self._beat.about("waiting for OCP to show the new values"):
                found = verify_effect(self._target, task.number, self._effect, before, found)
            self._attempt.note(effective=self._effect.facts(before.members))
            self._note_effect(before)
            if found.error is None and self._clock.now() - began >= SHORTEST_PAUSE:
                now = verify(self._api, self._target, before, members, task, self._beat, self._request)
                found = replace(found, after=now.after) if now.verified is True else now
        if found.after is not None:
            self._notes.came_back(found.after)
            self._attempt.note(after=found.after.result())
            values = self._effect.lines()
            self._attempt.diff = restart_diff(self._target.label, before, found.after, members, values)
        self._attempt.warnings += found.warnings
        reason = "; ".join([str(self._attempt.so_far.reason), *found.gaps])
        self._attempt.note(verified=found.verified, reason=reason)
        if found.error is not None:
            raise found.error


def _why_adopted(sent: Sent | None) -> str:
    if sent is None:
        return "the answer was lost"
    if sent.failed is not None:
        return f"task {sent.failed} of the same request failed in its first step"
    return "the request was refused" if sent.refused else "the answer was lost"


def _older_than_before(api: OcpApi, target: Target) -> ResponseUnreadable:
    return ResponseUnreadable(
        f"For {UNSEEN_FOR:g} seconds the service has shown an older start of {target.label} than before, or "
        "nothing of it, so its answers are stale.",
        url=api.url,
        advice="Check it in OCP, then run this again when the service is healthy.",
    )


def _journal_too_slow(target: Target, journal: Journal) -> JournalError:
    return JournalError(
        f"Did not restart {target.label}: {MOST_SLOW_NOTES} times it took longer than {MOST_AGE:g} seconds to note its "
        f"request in the journal {journal.place}, so what was read before was too old. Look at what keeps the journal "
        "busy, then run this again."
    )


def _interrupted_too_often(api: OcpApi) -> ResponseUnreadable:
    return ResponseUnreadable(
        f"The service has asked for a pause in each of {MOST_INTERRUPTED} looks, and what was read before a pause does "
        "not count.",
        url=api.url,
        advice="Run this again when others send fewer requests, or raise the request limit of OCP.",
    )


def _never_the_same(api: OcpApi, target: Target) -> ResponseUnreadable:
    return ResponseUnreadable(
        f"In {MOST_UNCONFIRMED} looks the service has not shown the same start of {target.label} twice in a row.",
        url=api.url,
        advice="Check the target in OCP, then run this again when its start no longer changes.",
    )


def _shows_the_same(before: Member, after: Member) -> bool:
    """Whether two looks show the same start. One that is computed from an uptime differs by milliseconds each time."""
    if (before.started is None) != (after.started is None) or before.pids != after.pids:
        return False
    return after.started is None or has_moved(before, after) is False


def _pause_for_gates(request: RestartRequest, waited: float, clock: Clock, least: float) -> float:
    """Seconds until the next look, after ``waited`` of them; 0 if there is no time left. Check mode does not wait."""
    timeout = request.safety_timeout
    if request.check_mode or waited > timeout - SHORTEST_PAUSE:
        return 0.0
    return PollPolicy(timeout, request.policy.interval).pause(waited, clock.jitter(), least)


def _may_pass(request: RestartRequest, error: ServiceError, lasting: tuple[type[ServiceError], ...] = LASTING) -> bool:
    """Whether a failed look may be repeated: a restart that waits for a healthy cluster also waits for the service."""
    is_waiting = request.safety is not None and request.safety.healthy
    return is_waiting and not isinstance(error, lasting)


def _unread_words(error: ServiceError) -> str:
    """What is shown while it is waited for."""
    return f"the service cannot be read: {error.what.rstrip('.')}"
