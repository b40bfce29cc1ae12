# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""After the request for a restart: the wait for its task, and the proof that the target has restarted and serves."""

from __future__ import annotations

from datetime import datetime

from .._base.cli_hints import adhoc_command
from .._base.clock import Clock
from .._base.errors import NotVerified, OcpError, TaskError
from .._base.parsing import instant
from .._ocp.endpoints import OcpApi
from .._targets.target import Observation, Target
from .._waiting.await_tasks import UNSEEN_FOR, wait_for_success
from .._waiting.failure_report import Purpose, not_serving
from .._waiting.poll_pauses import PollPolicy
from .._waiting.progress import started_line
from .attempt import Progressing, RestartAttempt
from .decision import Action, Decision
from .diff import restart_diff
from .effect_check import EffectCheck
from .start_proof import Proof, RestartTask, await_proof


class Aftermath:
    """Waits for the task in ``attempt``, and records there what it has shown."""

    def __init__(
        self,
        api: OcpApi,
        target: Target,
        attempt: Progressing[RestartAttempt],
        effect: EffectCheck,
        clock: Clock,
    ) -> None:
        self._api = api
        self._target = target
        self._attempt = attempt
        self._effect = effect
        self._clock = clock

    def await_task(self, policy: PollPolicy) -> None:
        """Wait until it has ended. Raises an OcpError unless it did its work."""
        so_far = self._attempt.so_far
        task_id = so_far.task_id or 0
        started = started_line(self._target.label, f"{so_far.action}, task {task_id}")
        policy.announce(started, False)
        purpose = Purpose(f"The restart of {self._target.label}", so_far.trace_id)
        try:
            waited = wait_for_success(
                self._api, [task_id], policy, purpose=purpose, unseen_for=UNSEEN_FOR, clock=self._clock
            )
        except OcpError as error:
            self._attempt.note(task=next(iter(error.facts.pop("tasks")), so_far.task))
            if not isinstance(error, TaskError):
                error.add_context(f"{purpose.what} runs as task {task_id}, but waiting for it failed.")
                error.add_advice(f"Then wait for it: {adhoc_command('task_wait', task_ids=task_id)}")
            raise
        self._attempt.warnings += waited.warnings
        self._attempt.note(task=waited.results[0])

    def verify(self, before: Observation, decision: Decision, since: datetime | None, log_lines: int) -> None:
        """Prove that all members of the decision have restarted, or started ``since``, and that the target serves.

        ``log_lines`` of a FAILED task that holds it are shown.
        """
        task, members = self._attempt.so_far.task or {}, decision.members
        is_attached = decision.action in (Action.ATTACH, Action.ADOPT)
        number, began = self._attempt.so_far.task_id or 0, instant(task.get("start_time"))
        restart_task = RestartTask(number, began, is_attached, since)
        proof = await_proof(self._api, self._target, before, members, restart_task, self._clock)
        if proof.after is not None:
            self._attempt.note(after=proof.after.result())
            self._attempt.diff = restart_diff(self._target.label, before, proof.after, members, self._effect.lines())
        if proof.problem is not None:
            self._add_to_reason(f"not verified, since reading it afterwards failed: {proof.problem.what}")
        elif proof.contradiction is not None:
            self._attempt.note(verified=False)
            raise self._not_verified(proof, log_lines)
        elif proof.complete:
            self._attempt.note(verified=True)
            self._attempt.warnings += proof.lost_processes(before.members)
        else:
            self._add_to_reason(f"not verified, since {proof.gap}")
        self._show_effect(before, proof.after, members)

    def _not_verified(self, proof: Proof, log_lines: int) -> NotVerified:
        ended = f"The restart of {self._target.label} ended SUCCESSFUL, but {proof.contradiction}"
        if proof.holder is not None:
            return not_serving(self._api, proof.holder, f"{ended}; a later task holds it.", log_lines)
        return NotVerified(
            f"{ended}. Look at task {self._attempt.so_far.task_id} in OCP and at the process itself before restarting "
            "again."
        )

    def _show_effect(self, before: Observation, after: Observation | None, members: frozenset[str]) -> None:
        """Wait until the values that the restart is for are in effect. Raises NotVerified if others are shown."""
        if self._attempt.so_far.effective is None:
            return
        problem = self._effect.await_values(after or before)
        if after is not None:
            self._attempt.diff = restart_diff(self._target.label, before, after, members, self._effect.lines())
        others = self._effect.other_values(before)
        if others:
            raise NotVerified(
                f"The restart of {self._target.label} ended SUCCESSFUL (task {self._attempt.so_far.task_id}), but "
                f"{others}. Look at the parameter in OCP before restarting anything else for it; another restart helps "
                "only if it was set after this start."
            )
        gap = f"reading it failed: {problem.what}" if problem else self._effect.gap(before)
        if gap:
            self._attempt.note(verified=None)
            self._add_to_reason(f"not verified to be in effect, since {gap}")

    def _add_to_reason(self, more: str) -> None:
        self._attempt.note(reason=f"{self._attempt.so_far.reason}; {more}")
