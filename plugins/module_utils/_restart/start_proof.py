# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which start, pid or uptime proves a restart, and the wait for it to show and for the target to serve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .._base.errors import CredentialsRefused, ServiceError
from .._base.service_clock import time_in
from .._base.text import join_names
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._targets.serving import renewed_processes
from .._targets.target import Member, Observation, Target
from .._waiting.heartbeat import Heartbeat
from .._waiting.progress_lines import progress_line
from .awaited_start import PAUSES, Awaited, RestartTask
from .change import has_moved
from .evidence import PROOF_TIMEOUT
from .held import holder_of
from .knowledge import Relative
from .reader import look_at_named, observe
from .rules import Rule


@dataclass(frozen=True)
class Proof:
    """The last observation ``after`` a restart, and for each member whether it restarted; None if unknown.

    ``problem`` is the error that ended the polling, with which nothing is proven. ``holder`` is another task that is
    FAILED and holds the target, so that a person has to act.
    """

    after: Observation | None
    restarted: dict[str, bool | None] = field(default_factory=dict)
    problem: ServiceError | None = None
    holder: Task | None = None

    @property
    def not_restarted(self) -> list[str]:
        """The members that show their old start."""
        return [name for name, restarted in self.restarted.items() if restarted is False]

    @property
    def complete(self) -> bool:
        """Whether all members are known to have restarted, and the target serves."""
        restarted = bool(self.restarted) and all(self.restarted.values())
        return restarted and self.after is not None and self.after.serves is True and self.holder is None

    @property
    def contradiction(self) -> str | None:
        """What disproves it, as the end of a sentence; None if nothing does."""
        if self.after is not None and not self.after.is_there:
            return Rule.NOT_THERE.value
        words = [f"OCP shows no new start of {join_names(self.not_restarted)}"] if self.not_restarted else []
        if self.after is not None and self.after.serves is False:
            words.append(self.after.trouble)
        if self.holder is not None:
            words.append(f"task {self.holder.label} FAILED and holds it")
        return ", and ".join(words) or None

    @property
    def awaited(self) -> str:
        """What is waited for, as a part of a sentence."""
        if self.problem is not None:
            return "waiting for OCP to answer"
        if self.contradiction is not None and not self.not_restarted:
            return f"waiting for it to serve ({self.contradiction})"
        return "waiting for OCP to show the new start"

    def lost_processes(self, before: Iterable[Member]) -> list[str]:
        """Processes that ran before and do not run now, and that a restart does not depend on; one sentence each."""
        now = {member.name: member.pids or {} for member in (self.after.members if self.after else ())}
        return [
            f"{join_names(sorted(lost))} ran on {member.name} before the restart and does not run now."
            for member in before
            if (lost := (member.pids or {}).keys() - now.get(member.name, {}).keys())
        ]

    @property
    def gap(self) -> str:
        """What is not shown."""
        unclear = {name for name, restarted in self.restarted.items() if restarted is None}
        shown = [member for member in (self.after.members if self.after else ()) if member.name in unclear]
        if any(member.started for member in shown):
            return "the start that it shows lies before the task, or is still to come, so its clock cannot be compared"
        if not self.restarted or unclear:
            return "the service shows no start time or process of it"
        return "the service does not show whether it serves"


def is_shown(awaited: Awaited, after: Observation) -> bool:
    """Whether an observation alone proves a restart for a change that has an instant or a name.

    Each member shows a start that has moved and is since the change, and serves, and nothing works on the target. If
    not, its tasks may prove it.
    """
    now = {member.name: member for member in after.members}
    is_quiet = after.serves is True and not after.is_in_flight and not after.operations
    return (
        is_quiet
        and bool(awaited.before)
        and all(
            member.name in now
            and member.name not in awaited.late
            and has_moved(member, now[member.name]) is True
            and awaited.change.of_start(now[member.name]) is Relative.SINCE
            for member in awaited.before
        )
    )


def await_proof(
    api: OcpApi,
    target: Target,
    before: Observation,
    names: frozenset[str],
    task: RestartTask,
    beat: Heartbeat,
) -> Proof:
    """Observe ``target`` until its members with these ``names`` have restarted and it serves, for PROOF_TIMEOUT.

    It ends early where nothing more can be expected.
    """
    clock = beat.clock
    members = [member for member in before.members if member.name in names]
    started = clock.now()
    times = [task.began, *(member.started for member in before.members)]
    until = time_in(PROOF_TIMEOUT, api.service_clock, clock, times)
    after, shown = None, ""
    while True:
        try:
            after = observe(api, target, clock)
            holder = holder_of(look_at_named(api, target, after, clock, but=task.number))
        except CredentialsRefused as problem:
            return Proof(after, problem=problem)
        except ServiceError as problem:
            proof = Proof(after, problem=problem)
        else:
            newcomers = _newcomers(before, after)
            proof = Proof(after, prove_restarts([*members, *newcomers], after.members, task), holder=holder)
        waited = clock.now() - started
        may_show = proof.problem is not None or _may_still_show(before, members, proof, task)
        if proof.complete or waited >= PROOF_TIMEOUT or not may_show:
            return proof
        if proof.awaited != shown:
            shown = proof.awaited
            beat.policy.show(progress_line(f"{task.number} has ended; {shown}, until {until} at the latest"), False)
        with beat.about(shown):
            clock.sleep(PAUSES.pause(waited, clock.jitter(), api.retry_after))


def _newcomers(before: Observation, after: Observation) -> list[Member]:
    """The members that were not there before, of which nothing is known then: a task may not have restarted them."""
    known = {member.name for member in before.members}
    return [Member(member.name, None) for member in after.members if member.name not in known]


def _may_still_show(before: Observation, members: Sequence[Member], proof: Proof, task: RestartTask) -> bool:
    """Whether looking again may show more: what is shown disproves it, or was shown before."""
    if proof.holder is not None and proof.after is not None and proof.after.serves is False:
        return not task.is_before(proof.holder)
    if proof.contradiction is not None:
        return True
    lost_start = any(
        proof.restarted[member.name] is None and (member.started is not None or member.pids) for member in members
    )
    lost_state = proof.after is not None and proof.after.serves is None and before.serves is not None
    return lost_start or lost_state


def prove_restarts(before: Iterable[Member], after: Iterable[Member], task: RestartTask) -> dict[str, bool | None]:
    """For each member of ``before``: whether the task restarted it, or it has started since; None if unknown."""
    now = {member.name: member for member in after}
    return {member.name: _is_restarted(member, now.get(member.name), task) for member in before}


def _is_restarted(before: Member, after: Member | None, task: RestartTask) -> bool | None:
    if after is None:
        return None
    if renewed_processes(before.pids or ()) - (after.pids or {}).keys():
        return False
    moved = has_moved(before, after)
    since = task.change.of_start(after) if task.change.is_dated else Relative.HIDDEN
    if since is Relative.SINCE and (task.attached or moved is not False):
        return True
    if since is Relative.BEFORE and task.attached and not moved:
        # A task is joined only if it began since the change, so it has not made a start from before that.
        return False
    if task.skipped and not moved:
        return moved
    found = task.start_after(after)
    if task.skipped and before.name in task.late and found is not Relative.SINCE:
        # The start that has moved may be that of an earlier restart.
        return None
    if found is Relative.HIDDEN:
        return moved or (None if task.attached else moved)
    if found is Relative.BEFORE:
        # Either the clock of the host is off, or an earlier restart shows.
        return None if moved and before.name not in task.late else False
    return True if task.attached or moved is None else moved
