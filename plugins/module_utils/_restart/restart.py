# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Restart one target: observe, decide, send the POST at most once, wait, verify."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .._base.cli_hints import adhoc_command
from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import (
    AuthenticationFailed,
    ModuleCrashed,
    NotVerified,
    OcpError,
    RequestRefused,
    ServiceError,
    TargetBusy,
    TaskError,
    TaskFailed,
    WaitTimeout,
)
from .._base.parsing import instant
from .._base.service_clock import to_service_clock
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._targets.target import Observation, Target
from .._waiting.await_tasks import wait_for_success, wait_for_tasks
from .._waiting.failure_report import NEXT_STEPS_HEADING, Purpose
from .._waiting.poll import SHORTEST_PAUSE, PollPolicy
from .._waiting.progress import progress_line
from .decision import Action, Condition, Decision, InFlight, decide_restart
from .diff import Diff, restart_diff
from .lost_response import find_lost_task
from .proof import await_proof
from .running_tasks import failed_task_holding, read_high_water_mark
from .target_reader import TargetReader

Result = dict[str, Any]

INITIALLY_NONE = ("action", "reason", "before", "after", "verified", "task_id", "task", "trace_id")


@dataclass(frozen=True)
class RestartRequest:
    """The options of a restart module. ``started_before`` is by the clock of this machine; None always restarts.

    ``policy`` limits all waiting: with ``in_flight`` queue for other tasks, with ``wait`` for the restart.
    """

    check_mode: bool
    wait: bool
    policy: PollPolicy
    started_before: datetime | None = None
    in_flight: InFlight = InFlight.ATTACH


def restart_target(
    api: OcpApi, find: Callable[[], Target], request: RestartRequest, clock: Clock = SYSTEM_CLOCK
) -> Result:
    """Restart what ``find`` finds, if needed; returns the module's result, with ``warnings`` and ``diff``.

    Every key is always there. Raises an OcpError; once the target is found, its facts hold the result so far, so that
    no started task is lost.
    """
    # Before ``find``, which may observe the target: nothing is read between the last observation and the request.
    high_water_mark = None if request.check_mode else read_high_water_mark(api)
    return _Restart(api, find(), high_water_mark, request, clock).run()


class _Restart:
    """One restart in progress, with its result so far."""

    def __init__(
        self, api: OcpApi, target: Target, high_water_mark: int | None, request: RestartRequest, clock: Clock
    ) -> None:
        self._api = api
        self._target = target
        self._high_water_mark = high_water_mark
        self._request = request
        self._clock = clock
        self._started_at = clock.now()
        self._ended: set[int] = set()
        self._warnings: list[str] = []
        self._reader = TargetReader(api, target, self._warnings)
        self._diff: Diff = {}
        self._result: Result = {"changed": False, "target": target.result(), **dict.fromkeys(INITIALLY_NONE)}
        self._result.update(target.unchanged_facts(None))
        self._condition = Condition(self._started_before(), request.in_flight)

    def run(self) -> Result:
        """See restart_target."""
        try:
            self._run()
        except OcpError as error:
            self._result["trace_id"] = self._result["trace_id"] or error.facts.get("trace_id")
            self._warnings += error.facts.get("warnings", [])
            error.facts = {**error.facts, **self._whole_result()}
            raise
        except Exception as error:
            raise ModuleCrashed(error, **self._whole_result()) from error
        return self._whole_result()

    def _whole_result(self) -> Result:
        warnings = list(dict.fromkeys(self._warnings))
        return {**self._result, "elapsed": round(self._elapsed(), 3), "warnings": warnings, "diff": self._diff}

    def _elapsed(self) -> float:
        return self._clock.now() - self._started_at

    def _policy(self) -> PollPolicy:
        return self._request.policy.left(self._elapsed())

    def _run(self) -> None:
        before, decision, _had_to_wait = self._decide()
        if self._request.check_mode:
            self._predict(before, decision)
            return
        try:
            self._execute(before, decision)
        except (RequestRefused, TaskFailed) as error:
            if not self._may_be_busy(error):
                raise
            self._execute_after_refusal(error)

    def _may_be_busy(self, error: RequestRefused | TaskFailed) -> bool:
        """Whether the service did not run the restart, perhaps because another task works on the target."""
        if isinstance(error, TaskFailed):
            return error.at_first_step
        return error.may_be_due_to_state

    def _execute_after_refusal(self, refusal: RequestRefused | TaskFailed) -> None:
        """Decide again. If no other task works on the target, the refusal stands."""
        refused = self._result
        self._result = {**refused, **dict.fromkeys(INITIALLY_NONE), "changed": False}
        try:
            self._renew_high_water_mark()
            before, decision, had_to_wait = self._decide()
        except OcpError as error:
            self._result = refused
            error.prepend(str(refusal))
            raise
        if decision.action is Action.SUBMIT and not had_to_wait:
            self._result = refused
            holder = failed_task_holding(self._api, before)
            if holder is not None:
                refusal.append(
                    f"Task {holder.label} FAILED and still holds it: retry it or roll it back. {NEXT_STEPS_HEADING}\n"
                    f"  {adhoc_command('task', task_id=holder.id, state='rolled_back')}"
                )
            raise refusal
        self._execute(before, decision)

    # Deciding

    def _started_before(self) -> datetime | None:
        """The option ``started_before``, by the clock of the service."""
        local = self._request.started_before
        if local is None:
            return None
        moved, warnings = to_service_clock(local, self._api.service_clock, self._clock.wall())
        self._warnings += warnings
        return moved

    def _decide(self) -> tuple[Observation, Decision, bool]:
        """The observation, the decision, and whether another task had to end first and did."""
        had_to_wait = False
        while True:
            with self._saying_nothing_was_sent("since it cannot be read"):
                before, operations = self._reader.read(self._condition.started_before)
            decision = decide_restart(before, operations, self._condition)
            self._result.update(before=before.result(), reason=decision.reason)
            self._result.update(self._target.unchanged_facts(decision.members))
            if decision.action is Action.REFUSE:
                raise TargetBusy(f"There was no restart of {self._target.label}: {decision.reason}.")
            if decision.action is not Action.QUEUE or self._request.check_mode:
                return before, decision, had_to_wait
            self._show(decision.reason)
            with self._saying_nothing_was_sent(f"since {decision.reason}"):
                self._wait_until_ended(decision.task_ids)
            self._renew_high_water_mark()
            had_to_wait = True

    def _wait_until_ended(self, task_ids: tuple[int, ...]) -> None:
        """Wait until tasks have ended. The list may still show them as running for a while."""
        wait_for_tasks(self._api, task_ids, self._policy(), clock=self._clock)
        if self._ended.issuperset(task_ids):
            left = self._policy().timeout
            if not left:
                raise WaitTimeout(
                    f"It has ended, but after {self._elapsed():.0f} seconds the service lists it as running. "
                    "Look at it in OCP; then run this again."
                )
            self._clock.sleep(min(SHORTEST_PAUSE, left))
        self._ended.update(task_ids)

    def _renew_high_water_mark(self) -> None:
        """Called before observing again: a task started after this may be the restart that is sent."""
        with self._saying_nothing_was_sent("since the newest task cannot be read"):
            self._high_water_mark = read_high_water_mark(self._api)

    @contextmanager
    def _saying_nothing_was_sent(self, why: str) -> Iterator[None]:
        try:
            yield
        except OcpError as error:
            error.prepend(f"There was no restart of {self._target.label}, {why}.")
            raise

    # Carrying out

    def _predict(self, before: Observation, decision: Decision) -> None:
        if decision.action is Action.SKIP:
            self._skip()
        elif decision.action is Action.ATTACH:
            self._attach(decision)
        else:
            self._result.update(changed=True, action="submitted")
            self._diff = restart_diff(self._target.label, before, None, decision.members)

    def _execute(self, before: Observation, decision: Decision) -> None:
        if decision.action is Action.SKIP:
            self._skip()
            return
        if decision.action is Action.ATTACH:
            self._attach(decision)
        else:
            self._submit(decision.members)
            self._diff = restart_diff(self._target.label, before, None, decision.members)
        if self._request.wait:
            self._await()
            self._verify(before, decision.members)

    def _skip(self) -> None:
        self._result.update(action="skipped", verified=True)

    def _attach(self, decision: Decision) -> None:
        [task_id] = decision.task_ids
        self._result.update(action="attached", task_id=task_id)
        if self._request.wait and not self._request.check_mode:
            return
        try:
            self._result["task"] = Task.from_api(self._api.task(task_id)).result()
        except AuthenticationFailed:
            raise
        except ServiceError as error:
            self._warnings.append(f"Task {task_id} cannot be read: {error}")

    def _submit(self, members: frozenset[str]) -> None:
        try:
            answer = self._target.restart(self._api, members)
        except Exception as error:
            if not isinstance(error, ServiceError):
                # Whether it was sent before this is not known.
                self._result.update(changed=True, action="submitted")
                raise
            if error.may_have_run:
                self._result.update(changed=True, action="submitted", trace_id=error.facts.get("trace_id"))
                task = find_lost_task(self._api, self._target, members, self._high_water_mark, error, self._clock)
                self._result["action"] = "adopted"
                self._result["reason"] += f"; the answer was lost, and task {task.label} is the only one started since"
                self._record_task(task)
                return
            error.prepend(f"There was no restart of {self._target.label}.")
            raise
        self._result.update(changed=True, action="submitted", trace_id=answer.trace_id)
        self._record_task(Task.from_api(answer.data))

    def _record_task(self, task: Task) -> None:
        self._result.update(task_id=task.id, task=task.result())

    # Waiting, and the proof

    def _show(self, what: str) -> None:
        """Show a line above those of the task, which do not name the target."""
        self._request.policy.show(progress_line(f"{self._target.label}: {what}"), False)

    def _await(self) -> None:
        task_id = self._result["task_id"]
        self._show(f"{self._result['action']}, task {task_id}")
        purpose = Purpose(f"The restart of {self._target.label}", self._result["trace_id"])
        try:
            waited = wait_for_success(self._api, [task_id], self._policy(), purpose=purpose, clock=self._clock)
        except OcpError as error:
            self._result["task"] = next(iter(error.facts.pop("tasks")), self._result["task"])
            if not isinstance(error, TaskError):
                error.prepend(f"{purpose.what} runs as task {task_id}; waiting for it was not possible.")
                error.append(f"Then wait for it: {adhoc_command('task_wait', task_ids=task_id)}")
            raise
        self._warnings += waited.warnings
        self._result["task"] = waited.results[0]

    def _verify(self, before: Observation, members: frozenset[str]) -> None:
        """Prove that all ``members`` have restarted."""
        proof = await_proof(
            self._api,
            self._target,
            [member for member in before.members if member.name in members],
            instant(self._result["task"]["start_time"]),
            attached=self._result["action"] == "attached",
            clock=self._clock,
        )
        if proof.after is not None:
            self._result["after"] = proof.after.result()
            self._diff = restart_diff(self._target.label, before, proof.after, members)
        if proof.problem is not None:
            self._result["reason"] += f"; not verified, since reading it afterwards failed: {proof.problem}"
        elif proof.not_restarted:
            self._result["verified"] = False
            names = ", ".join(proof.not_restarted)
            raise NotVerified(
                f"The restart of {self._target.label} ended SUCCESSFUL, but {names} has not started anew. "
                f"Look at task {self._result['task_id']} in OCP and at the process itself before restarting again."
            )
        elif proof.complete:
            self._result["verified"] = True
        else:
            self._result["reason"] += "; not verified, since the service shows no start time or process of it"
