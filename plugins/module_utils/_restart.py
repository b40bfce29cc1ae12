# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Restarting one target: decide, send the POST, wait, prove it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._api import OcpApi
from ._errors import NotVerified, OcpError, ServiceError, TaskFailed, WaitTimeout
from ._shapes import instant
from ._targets import Member, Observation, Target
from ._tasks import Task
from ._waiting import SHORTEST_PAUSE, SYSTEM_CLOCK, Clock, Patience, wait_for_success

Result = dict[str, Any]

PROOF_SECONDS = 30
OPEN_AT_FIRST = ("action", "reason", "before", "after", "verified", "task_id", "task", "trace_id")


@dataclass(frozen=True)
class Options:
    """How a verb was asked to restart. ``patience`` is None when it is not to wait."""

    check_mode: bool
    patience: Patience | None


@dataclass(frozen=True)
class Decision:
    """What is to be done about a target, and why, in plain words."""

    action: str
    reason: str


def plan() -> Decision:
    """Decide from what was observed and asked. A verb that was given no condition always restarts."""
    return Decision("submitted", "no condition was given, so the verb always restarts")


def perform(api: OcpApi, target: Target, options: Options, clock: Clock = SYSTEM_CLOCK) -> Result:
    """Carry out the plan; returns the result of a verb, every key always there.

    Raises an OcpError whose facts hold the result as far as it had got, so that no task that was started is lost.
    """
    started = clock.now()
    result: Result = {"changed": False, "target": target.result(), **dict.fromkeys(OPEN_AT_FIRST)}
    try:
        before = _observe(api, target)
        decision = plan()
        result.update(changed=True, action=decision.action, reason=decision.reason, before=before.result())
        if not options.check_mode:
            _submit(api, target, result)
            if options.patience is not None:
                _await(api, target, options.patience, clock, result)
                _verify(api, target, before, clock, result)
    except OcpError as error:
        result["trace_id"] = result["trace_id"] or error.facts.get("trace_id")
        error.facts = {**error.facts, **result, "elapsed": _since(started, clock)}
        raise
    return {**result, "elapsed": _since(started, clock)}


def _observe(api: OcpApi, target: Target) -> Observation:
    try:
        return target.observe(api)
    except ServiceError as error:
        error.precede(f"{target.label} was not restarted, since it cannot be read.")
        raise


def _submit(api: OcpApi, target: Target, result: Result) -> None:
    try:
        answer = target.restart(api)
    except ServiceError as error:
        if not error.maybe_done:
            result.update(changed=False, action=None)
        error.precede(
            f"{target.label} may be restarting." if error.maybe_done else f"{target.label} was not restarted."
        )
        raise
    task = Task.from_api(answer.data)
    result.update(changed=True, task_id=task.id, task=task.result(), trace_id=answer.trace_id)


def _await(api: OcpApi, target: Target, patience: Patience, clock: Clock, result: Result) -> None:
    try:
        waited = wait_for_success(api, [result["task_id"]], patience, clock)
    except OcpError as error:
        result["task"] = next(iter(error.facts.pop("tasks")), result["task"])
        if isinstance(error, TaskFailed):
            outcome = "did not succeed."
        elif isinstance(error, WaitTimeout):
            outcome = "goes on."
        else:
            outcome = f"was started as task {result['task_id']}; waiting for it was not possible."
        error.precede(f"The restart of {target.label} {outcome}")
        raise
    result.update(task=waited.tasks[0].result(), warnings=waited.warnings)


def _verify(api: OcpApi, target: Target, before: Observation, clock: Clock, result: Result) -> None:
    """Prove that every member has started anew. The service may show a new start some seconds late."""
    until = clock.now() + PROOF_SECONDS
    while True:
        try:
            after = target.observe(api)
        except ServiceError as error:
            result["reason"] += f"; not verified, since reading it afterwards failed: {error}"
            return
        result["after"] = after.result()
        now = {member.name: member for member in after.members}
        proofs = {member.name: _restarted(member, now.get(member.name)) for member in before.members}
        unmoved = [name for name, proof in proofs.items() if proof is False]
        if not unmoved or clock.now() >= until:
            break
        clock.sleep(SHORTEST_PAUSE)
    if unmoved:
        result["verified"] = False
        raise NotVerified(
            f"The restart of {target.label} ended SUCCESSFUL, but {', '.join(unmoved)} has not started anew. "
            f"Look at task {result['task_id']} in OCP and at the process itself before restarting again."
        )
    if proofs and all(proofs.values()):
        result["verified"] = True
    else:
        result["reason"] += "; not verified, since the service shows no start time or process of it"


def _restarted(before: Member, after: Member | None) -> bool | None:
    """Whether ``after`` shows another start than ``before``; None where one of them shows none."""
    if after is None:
        return None
    if before.start_time and after.start_time:
        return instant(before.start_time) != instant(after.start_time)
    same_processes = (before.pids or {}).keys() & (after.pids or {}).keys()
    if before.pids and after.pids and same_processes:
        return all(before.pids[name] != after.pids[name] for name in same_processes)
    return None


def _since(started: float, clock: Clock) -> float:
    return round(clock.now() - started, 3)
