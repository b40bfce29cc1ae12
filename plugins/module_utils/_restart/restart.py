# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The steps of one restart: look, decide, send at most once, wait, verify; and the pauses before the request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import (
    AuthenticationFailed,
    OcpError,
    OutcomeUnknown,
    RateLimited,
    RequestRefused,
    ServiceError,
    TargetBusy,
    TaskFailed,
    WaitTimeout,
)
from .._base.service_clock import to_service_clock
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._targets.target import Selector, Target
from .._waiting.await_tasks import UNSEEN_FOR, wait_for_tasks
from .._waiting.poll_pauses import PollPolicy
from .._waiting.progress import progress_line
from .aftermath import Aftermath
from .attempt import Progressing, RestartAttempt
from .cluster_lock import ClusterLock
from .decision import Action, Condition, Decision, Look, decide_restart
from .decision_errors import raise_if_refused
from .diff import restart_diff
from .effect_check import EffectCheck
from .look import Sight, Viewer
from .outcome_search import search_outcome
from .restart_request import RestartRequest
from .safety_check import SafetyCheck, locked_by
from .safety_wait import SafetyWait, found_target
from .send_once import Sender
from .sign_check import SignCheck
from .start_proof import PAUSES
from .task_adoption import outcome_unknown
from .task_evidence import PROOF_TIMEOUT
from .time_left import TimeLeft

Result = dict[str, Any]

# The least number of requests for a look and the restart request.
LOOK_AND_REQUEST = 5


def restart_target(api: OcpApi, selector: Selector, request: RestartRequest, clock: Clock = SYSTEM_CLOCK) -> Result:
    """Restart what ``selector`` names, if needed; returns the module's result, with ``warnings`` and ``diff``.

    Every key is always there. Raises an OcpError; once the target is found, its facts hold the result so far, so that
    no started task is lost.
    """
    return _Restart(api, found_target(api, selector, request, clock), request, clock).run()


class _Restart:
    """One restart in progress."""

    def __init__(self, api: OcpApi, target: Target, request: RestartRequest, clock: Clock) -> None:
        self._api = api
        self._target = target
        self._request = request
        self._clock = clock
        self._attempt = Progressing(
            RestartAttempt(target=target.result(), unchanged=target.unchanged_facts(None)), clock
        )
        self._viewer = Viewer(api, target, clock, self._attempt.warnings)
        self._lock = ClusterLock(api.url, locked_by(target), clock, self._attempt.warnings)
        self._safety_wait = SafetyWait(api, target, request, self._lock, clock)
        self._safety = SafetyCheck(api, target, request, self._attempt, self._lock, self._safety_wait)
        self._signs = SignCheck(api, target, request, self._attempt, self._safety_wait, clock)
        self._time = TimeLeft(api, target, request.finish_before, clock)
        self._sender = Sender(api, target, self._attempt, clock, request.policy.announce)
        self._effect = EffectCheck(api, target, request, self._attempt, clock)
        self._aftermath = Aftermath(api, target, self._attempt, self._effect, clock)
        self._since: datetime | None = None
        self._look: Look | None = None
        self._ended: set[int] = set()
        self._had_to_wait = False
        self._shown = ""
        self._expecting = 0.0

    def run(self) -> Result:
        """See restart_target."""
        with self._attempt.kept(), self._lock:
            self._run()
        return self._attempt.result()

    def _run(self) -> None:
        refusal: RequestRefused | TaskFailed | None = None
        while True:
            sight, decision = self._decide() if refusal is None else self._decide_after(refusal)
            try:
                self._execute(sight, decision)
                return
            except (RequestRefused, TaskFailed) as error:
                self._lock.release()
                if isinstance(error, RateLimited) and self._nothing_ran:
                    self._attempt.pause_for(error, self._api.timeout)
                elif not self._may_be_busy(error) or not (refusal is None or isinstance(refusal, RateLimited)):
                    raise
                refusal = error

    def _policy(self) -> PollPolicy:
        return self._request.policy.left(self._waited)

    @property
    def _waited(self) -> float:
        """Seconds of ``wait_timeout`` used up; waits for a start to show and for safety have limits of their own."""
        return self._attempt.elapsed - self._expecting - self._safety_wait.waited

    @property
    def _nothing_ran(self) -> bool:
        """Whether no request of this attempt was accepted."""
        return not self._attempt.so_far.changed and self._attempt.so_far.task_id is None

    def _may_be_busy(self, error: RequestRefused | TaskFailed) -> bool:
        """Whether the service did not run the restart, perhaps because another task works on the target."""
        if isinstance(error, TaskFailed):
            return error.at_first_step
        return error.may_be_due_to_state and self._nothing_ran

    def _decide_after(self, refusal: RequestRefused | TaskFailed) -> tuple[Sight, Decision]:
        """Look again: unless it was a 429, the refusal stands if nothing works on the target now."""
        refused = self._attempt.so_far
        if isinstance(refusal, TaskFailed):
            self._sender.expect_another_than(refused.task_id)
        self._had_to_wait = False
        self._attempt.note(changed=False, action=None, task_id=None, task=None, trace_id=None)
        try:
            sight, decision = self._decide_anew(refusal)
        except OcpError as problem:
            error = self._sender.after_refusal(problem, refusal)
            self._attempt.so_far = replace(refused, changed=refused.changed or isinstance(error, OutcomeUnknown))
            if isinstance(refusal, TaskFailed) and isinstance(error, TargetBusy) and self._is_alone(refused.task_id):
                raise refusal from None
            if not isinstance(error, OutcomeUnknown):
                error.add_context(str(refusal))
            raise error from None
        if isinstance(refusal, RateLimited):
            return sight, decision
        # A replica that lags shows our own task, which has failed, as running.
        is_failed_one = isinstance(refusal, TaskFailed) and decision.task_ids == (refused.task_id,)
        if is_failed_one or (decision.action is Action.SUBMIT and not self._had_to_wait):
            self._attempt.so_far = refused
            raise refusal
        if decision.sends and (doubt := self._sender.doubt(refusal)):
            self._attempt.so_far = replace(refused, changed=True)
            raise doubt
        return sight, decision

    def _decide_anew(self, refusal: RequestRefused | TaskFailed) -> tuple[Sight, Decision]:
        """Decide again, with as much time for looking as a request has: lists lag, and reads fail.

        Raises OutcomeUnknown if the target cannot be read: a proxy may have repeated the request and got the refusal.
        """
        is_busy = isinstance(refusal, RequestRefused) and refusal.is_busy

        def look() -> tuple[Sight, Decision] | None:
            seen = self._decide()
            is_clear = seen[1].action is not Action.SUBMIT or self._had_to_wait
            return seen if is_clear or not is_busy else None

        search = search_outcome(self._api, look, self._clock)
        if search.found:
            return search.found
        if search.problem is None:
            return self._decide()
        if isinstance(refusal, RequestRefused) and not search.is_in_vain:
            doubt = f"A proxy may have repeated the request{search.last_look}"
            raise outcome_unknown(self._target, refusal, doubt) from None
        raise search.problem

    def _is_alone(self, failed_task_id: int | None) -> bool:
        """Whether nothing but this FAILED task was seen on the target."""
        look = self._look
        return look is None or (not look.operations and (look.holder is None or look.holder.id == failed_task_id))

    # Deciding

    def _decide(self) -> tuple[Sight, Decision]:
        """The sight and the decision; waits for what has to end first. Holds the lock of the cluster afterwards."""
        self._safety.forget()
        while True:
            try:
                decided = self._look_and_decide()
            except ServiceError as error:
                if self._sender.has_sent or not self._safety_wait.outlasts(error):
                    raise
                self._safety.forget()
                continue
            if decided is not None:
                return decided

    def _look_and_decide(self) -> tuple[Sight, Decision] | None:
        """The same by one look; None if it has waited."""
        sight = self._see()
        self._attempt.note(before=sight.observed.result())
        adopted = self._sender.adopt(sight.tasks, self._since)
        if adopted is not None:
            return sight, adopted
        values = self._effect.seen(sight.observed)
        with self._saying_nothing_was_sent("it cannot be read"):
            look = self._look = self._viewer.judge(sight, self._since, values)
        waits = self._request.wait and not self._request.check_mode
        condition = Condition(self._since, self._request.in_flight, waits, settles=self._expecting < PROOF_TIMEOUT)
        decision = decide_restart(look, condition)
        self._attempt.note(reason=decision.reason, unchanged=self._target.unchanged_facts(decision.members))
        raise_if_refused(self._api, self._target, decision, look, self._request.policy.log_lines)
        if not self._request.check_mode and self._wait_first(decision):
            return None
        return None if decision.sends and not self._is_safe(sight) else (sight, decision)

    def _is_safe(self, sight: Sight) -> bool:
        with self._saying_nothing_was_sent("the data for its safety checks cannot be read", ServiceError):
            if not self._safety.allows(sight):
                return False
            if self._signs.allows(sight):
                return True
        self._safety.forget()
        return False

    def _see(self) -> Sight:
        with self._saying_nothing_was_sent("it cannot be read"):
            self._lock.release()
            self._effect.learn()
            look = LOOK_AND_REQUEST + self._signs.requests + self._effect.requests
            self._api.wait_for_room(self._attempt.with_room_to_spare(look), self._clock)
        with self._saying_nothing_was_sent("its cluster is locked"):
            self._lock.acquire(self._policy())
            self._sender.recall()
        with self._saying_nothing_was_sent("it cannot be read"):
            self._time.read()
            self._signs.read()
            self._effect.read()
            sight = self._viewer.see_with(self._lock.own_tasks)
        if (wanted := self._request.started_before) is not None:
            # Only here, because the clock of the service is judged from several answers.
            since, warnings = to_service_clock(wanted, self._api.service_clock, self._clock.wall())
            if self._since is None:
                self._since = since
                self._attempt.warnings += warnings
        return sight

    def _wait_first(self, decision: Decision) -> bool:
        """Wait a while for what has to end or to show first; returns whether there was a reason to wait."""
        expected = decision.action is Action.SETTLE or (decision.action is Action.EXPECT and self._request.wait)
        if not expected and decision.action is not Action.QUEUE:
            return False
        self._lock.release()
        self._safety.forget()
        if decision.reason != self._shown:
            # Above the lines of the task, which do not name the target.
            self._request.policy.show(progress_line(f"{self._target.label}: {decision.reason}"), False)
            self._shown = decision.reason
        if expected:
            began = self._clock.now()
            self._clock.sleep(PAUSES.pause(0.0, self._clock.jitter(), self._api.retry_after))
            self._expecting += self._clock.now() - began
            return True
        with self._saying_nothing_was_sent(decision.reason):
            self._wait_until_ended(decision.task_ids)
        self._had_to_wait = True
        return True

    def _wait_until_ended(self, task_ids: tuple[int, ...]) -> None:
        """Wait until tasks have ended. The list may still show them as running, or a status that something goes on."""
        if task_ids:
            wait_for_tasks(self._api, task_ids, self._policy(), unseen_for=UNSEEN_FOR, clock=self._clock)
        if self._ended.issuperset(task_ids):
            waited = self._waited
            if not (pause := self._request.policy.pause(waited, self._clock.jitter(), self._api.retry_after)):
                what = "It has ended, but" if task_ids else "No task of it is visible, but"
                raise WaitTimeout(
                    f"{what} after {waited:.0f} seconds the service still shows it at work. Check it in OCP, then run "
                    "this again."
                )
            self._clock.sleep(pause)
        self._ended.update(task_ids)

    @contextmanager
    def _saying_nothing_was_sent(self, why: str, kind: type[OcpError] = OcpError) -> Iterator[None]:
        try:
            yield
        except kind as error:
            # Not after an uncertain refusal: the request may have run.
            if not self._sender.has_sent:
                error.add_context(f"Did not restart {self._target.label}: {why}.")
            raise

    # Carrying out

    def _execute(self, sight: Sight, decision: Decision) -> None:
        if decision.action is Action.SKIP or (decision.action is Action.EXPECT and not decision.sends):
            self._attempt.note(action="skipped", verified=decision.serves)
            return
        if decision.sends and (too_late := self._time.objection(sight)) is not None:
            self._attempt.note(action="postponed", reason=too_late)
            return
        if decision.action is Action.ATTACH:
            self._attach(decision)
        elif self._request.check_mode:
            self._attempt.note(changed=True, action="submitted")
        elif decision.action is not Action.ADOPT:
            self._submit(sight, decision)
        self._lock.release()
        if decision.action is not Action.ATTACH:
            values = self._effect.lines(decision.members)
            self._attempt.diff = restart_diff(self._target.label, sight.observed, None, decision.members, values)
        if self._request.wait and not self._request.check_mode:
            self._aftermath.await_task(self._signs.with_offline_time(self._policy()))
            self._signs.warn_of_long_restart()
            self._aftermath.verify(sight.observed, decision, self._since, self._request.policy.log_lines)

    def _submit(self, sight: Sight, decision: Decision) -> None:
        """Send the request, and note the servers that it takes down for the next look of this controller."""
        asked_for = [member for member in sight.observed.members if member.name in decision.members]
        self._lock.begin(self._target, sight.observed)
        self._effect.asked_for(asked_for)
        try:
            self._sender.send(sight.mark, decision.members, self._viewer.now)
        except ServiceError as error:
            self._lock.end(None, refused=not error.may_have_run)
            if not error.may_have_run:
                self._effect.refused(asked_for)
            raise
        task = self._attempt.so_far.task or {}
        self._lock.end(self._attempt.so_far.task_id, task.get("start_time"), refused=False)

    def _attach(self, decision: Decision) -> None:
        [task_id] = decision.task_ids
        self._attempt.note(action="attached", task_id=task_id)
        if self._request.wait and not self._request.check_mode:
            return
        try:
            self._attempt.note(task=Task.from_api(self._api.task(task_id)).result())
        except AuthenticationFailed:
            raise
        except ServiceError as error:
            self._attempt.warnings.append(f"Task {task_id} cannot be read: {error.what}")
