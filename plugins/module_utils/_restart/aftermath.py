# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""After the request for a restart: the wait for its task, and the proof that the target has restarted and serves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._base.cli_hints import NEXT_STEPS_HEADING, RUN_AGAIN_IF_NONE, adhoc_command, report_command
from .._base.clock import Clock
from .._base.errors import NotVerified, OcpError, ServiceError, TargetError, TaskError
from .._ocp.endpoints import OcpApi
from .._targets.target import Observation, Target
from .._waiting.await_tasks import wait_for_success
from .._waiting.failure_report import Purpose, not_serving, then_of_restart
from .._waiting.heartbeat import Heartbeat
from .._waiting.poll_pauses import UNSEEN_FOR, PollPolicy
from .._waiting.progress_lines import started_line
from .awaited_start import RestartTask
from .effect_check import EffectCheck
from .restart_request import RestartRequest
from .start_proof import Proof, await_proof
from .way_out import with_way_out

Facts = dict[str, Any]


@dataclass(frozen=True)
class AwaitedTask:
    """How the wait for a task ended: its facts, if it was read, and the ``error`` unless it did its work."""

    task: Facts | None
    warnings: list[str] = field(default_factory=list)
    error: OcpError | None = None


@dataclass(frozen=True)
class Verified:
    """What was proven: ``verified`` as in the result, what the reason lacks, and the ``error`` if it is disproved."""

    after: Observation | None
    verified: bool | None
    gaps: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)
    error: OcpError | None = None


def await_restart(
    api: OcpApi,
    target: Target,
    task_id: int,
    what: str,
    trace_id: str | None,
    policy: PollPolicy,
    clock: Clock,
    *,
    at_most_once: bool,
) -> AwaitedTask:
    """Wait until the task of a restart has ended; ``what`` is how it came about, as in ``submitted``.

    ``at_most_once`` says whether the same command would leave alone what has restarted meanwhile.
    """
    policy.announce(started_line(target.label, f"{what}, task {task_id}"), False)
    purpose = Purpose(
        f"The restart of {target.label}",
        trace_id,
        then=then_of_restart(at_most_once=at_most_once),
        names={task_id: _short_name(target)},
        state=lambda _task: state_of(api, target),
    )
    try:
        waited = wait_for_success(api, [task_id], policy, purpose=purpose, unseen_for=UNSEEN_FOR, clock=clock)
    except OcpError as error:
        task = next(iter(error.facts.pop("tasks")), None)
        if not isinstance(error, TaskError):
            error.add_context(f"{purpose.what} runs as task {task_id}, but waiting for it failed.")
            error.add_advice(f"Then wait for it: {adhoc_command('task_wait', task_ids=task_id)}")
        return AwaitedTask(task, error=error)
    return AwaitedTask(waited.results[0], waited.warnings)


def state_of(api: OcpApi, target: Target) -> str:
    """A sentence about the state that a failure has left a target in; empty if it cannot be read."""
    try:
        return target.observe(api).serving_words
    except (ServiceError, TargetError):
        return ""


def _short_name(target: Target) -> str:
    """The address of a server; the label of anything else."""
    return str(target.result()["name"]) if target.kind == "server" else target.label


def verify(
    api: OcpApi,
    target: Target,
    before: Observation,
    members: frozenset[str],
    task: RestartTask,
    beat: Heartbeat,
    request: RestartRequest,
) -> Verified:
    """Prove that these members have restarted, or started since the change, and that the target serves."""
    proof = await_proof(api, target, before, members, task, beat)
    if proof.problem is not None:
        gap = f"not verified, since reading it afterwards failed: {proof.problem.what}"
        return Verified(proof.after, None, (gap,))
    if task.skipped and not proof.complete:
        return Verified(proof.after, False, error=_skipped(target, task.number, proof, request))
    if proof.contradiction is not None:
        return Verified(proof.after, False, error=_not_verified(api, target, task.number, proof, request))
    if proof.complete:
        return Verified(proof.after, True, warnings=proof.lost_processes(before.members))
    return Verified(proof.after, None, (f"not verified, since {proof.gap}",))


def _skipped(target: Target, task_id: int, proof: Proof, request: RestartRequest) -> OcpError:
    shown = proof.contradiction or proof.gap
    words = "ended SUCCESSFUL, but a step was skipped that may stop or start it, and no later start shows"
    return _look_first(f"The restart of {target.label} {words}: {shown}.", target, task_id, proof, request)


def _not_verified(api: OcpApi, target: Target, task_id: int, proof: Proof, request: RestartRequest) -> OcpError:
    ended = f"The restart of {target.label} ended SUCCESSFUL, but {proof.contradiction}."
    if proof.holder is not None:
        return not_serving(api, proof.holder, ended, request.policy.log_lines)
    return _look_first(ended, target, task_id, proof, request)


def _look_first(words: str, target: Target, task_id: int, proof: Proof, request: RestartRequest) -> OcpError:
    """The error that proposes a look, then the way out. ``words`` say what is wrong, also that it does not serve."""
    after = proof.after
    state = [] if after is None or not after.is_there or after.serves is False else [after.serving_words]
    told = " ".join([words, *state, f"Look at task {task_id} and at the process itself."])
    look = f"  See what it did: {report_command(task_id)}"
    if not request.is_at_most_once:
        # The same command restarts what has restarted.
        return NotVerified("\n".join([f"{told} {NEXT_STEPS_HEADING}", look, RUN_AGAIN_IF_NONE]))
    return NotVerified(with_way_out(told, target, proof.not_restarted, first=(look,)))


def verify_effect(
    target: Target, task_id: int, effect: EffectCheck, observed: Observation, found: Verified
) -> Verified:
    """The same when the values that the restart is for are in effect too, after waiting for them."""
    problem = effect.await_values(found.after or observed)
    others = effect.other_values(observed)
    if others:
        error = NotVerified(
            f"The restart of {target.label} ended SUCCESSFUL (task {task_id}), but {others}. Look at the parameter in "
            "OCP before restarting anything else for it; another restart helps only if it was set after this start."
        )
        return Verified(found.after, False, found.gaps, found.warnings, error)
    gap = f"reading it failed: {problem.what}" if problem else effect.gap(observed)
    if not gap:
        return found
    return Verified(found.after, None, (*found.gaps, f"not verified to be in effect, since {gap}"), found.warnings)
