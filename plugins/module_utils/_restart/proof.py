# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Prove that members have restarted: poll for their new start, compare it with the one before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .._base.clock import SECOND, Clock
from .._base.errors import RequestRefused, ServiceError
from .._base.parsing import instant
from .._ocp.endpoints import OcpApi
from .._targets.target import Member, Observation, Target

MOST_OBSERVATIONS = 60

# A start computed from an uptime varies slightly between reads.
SAME_START_TOLERANCE = timedelta(seconds=2 * SECOND)


@dataclass(frozen=True)
class Proof:
    """The last observation ``after`` a restart, and for each member whether it restarted; None if unknown.

    ``problem`` is the error that ended the polling, with which nothing is proven.
    """

    after: Observation | None
    restarted: dict[str, bool | None] = field(default_factory=dict)
    problem: ServiceError | None = None

    @property
    def not_restarted(self) -> list[str]:
        """The members that show their old start."""
        return [name for name, restarted in self.restarted.items() if restarted is False]

    @property
    def complete(self) -> bool:
        """Whether all members are known to have restarted."""
        return bool(self.restarted) and all(self.restarted.values())


def await_proof(
    api: OcpApi, target: Target, before: Sequence[Member], started_at: datetime | None, *, attached: bool, clock: Clock
) -> Proof:
    """Observe ``target`` until no member of ``before`` shows its old start, for at most its ``proof_seconds``.

    ``started_at`` and ``attached`` are as for ``prove_restarts``.
    """
    until = clock.now() + target.proof_seconds
    after = None
    while True:
        try:
            after = target.observe(api)
        except RequestRefused as problem:
            return Proof(after, problem=problem)
        except ServiceError as problem:
            proof = Proof(after, problem=problem)
        else:
            proof = Proof(after, prove_restarts(before, after.members, started_at, attached=attached))
        if not (proof.not_restarted or proof.problem) or clock.now() >= until:
            return proof
        clock.sleep(target.proof_seconds / MOST_OBSERVATIONS)


def prove_restarts(
    before: Iterable[Member], after: Iterable[Member], started_at: datetime | None, *, attached: bool
) -> dict[str, bool | None]:
    """For each member of ``before``: whether the task that began at ``started_at`` restarted it; None if unknown.

    ``attached``: the task was already running at ``before``, so it may have started the member by then.
    """
    now = {member.name: member for member in after}
    return {member.name: _is_restarted(member, now.get(member.name), started_at, attached) for member in before}


def _is_restarted(before: Member, after: Member | None, started_at: datetime | None, attached: bool) -> bool | None:
    if after is None:
        return None
    if _lost_processes(before, after):
        return False
    moved = _start_has_moved(before, after)
    if not attached and not moved and _same_start(before, after):
        return moved
    # Starts are truncated to the second.
    started_since = after.started + timedelta(seconds=SECOND) > started_at if after.started and started_at else None
    if moved or started_since:
        return True
    return started_since if attached else moved


def _lost_processes(before: Member, after: Member) -> bool:
    """Whether a process that ran does not run any more."""
    return bool((before.pids or {}).keys() - (after.pids or {}).keys())


def _same_start(before: Member, after: Member) -> bool:
    """Whether both show the same start. It is no proof of a restart, even if a wrong clock puts it after the task."""
    if before.started is None or after.started is None:
        return False
    return abs(after.started - before.started) <= SAME_START_TOLERANCE


def _start_has_moved(before: Member, after: Member) -> bool | None:
    """Whether ``after`` shows another start than ``before``; None if either shows none."""
    if before.start_time and after.start_time:
        return instant(before.start_time) != instant(after.start_time)
    same_processes = (before.pids or {}).keys() & (after.pids or {}).keys()
    if before.pids and after.pids and same_processes:
        return all(before.pids[name] != after.pids[name] for name in same_processes)
    return None
