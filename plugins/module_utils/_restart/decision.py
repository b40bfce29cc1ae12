# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Decide whether to restart a target, from what was observed and requested alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum

from .._base.text import join_names
from .._ocp.task_model import task_label
from .._targets.target import Member, Observation

NEXT_STEP = "run this again when it has ended, or wait for it with in_flight=queue"


class InFlight(StrEnum):
    """What to do if the target is already being restarted; the option ``in_flight``."""

    ATTACH = "attach"
    FAIL = "fail"
    QUEUE = "queue"


class Action(Enum):
    """What was decided."""

    SKIP = "skip"
    ATTACH = "attach"
    QUEUE = "queue"
    REFUSE = "refuse"
    SUBMIT = "submit"


@dataclass(frozen=True)
class Operation:
    """A task that works on the target now. ``started_at`` is None if unknown.

    ``restarts`` are the names of the members it restarts; None for all, empty for other work.
    """

    task_id: int
    name: str | None
    started_at: datetime | None
    restarts: frozenset[str] | None

    @property
    def label(self) -> str:
        """As in ``task 1001 (Restart OB cluster)``."""
        return f"task {task_label(self.task_id, self.name)}"


@dataclass(frozen=True)
class Condition:
    """The request. ``started_before`` is by the clock of the service; None always restarts."""

    started_before: datetime | None
    in_flight: InFlight


@dataclass(frozen=True)
class Decision:
    """What to do and why, in plain words.

    ``members`` are the names of those that need the restart, ``task_ids`` the task to join or the tasks to wait for.
    """

    action: Action
    reason: str
    members: frozenset[str]
    task_ids: tuple[int, ...] = ()


def decide_restart(observed: Observation, operations: Sequence[Operation], condition: Condition) -> Decision:
    """Decide; check mode makes no difference.

    Nothing is submitted while another task works on the target. Nothing is skipped without proof: a start that the
    service does not show does not count.
    """
    since = condition.started_before
    stale = [member for member in observed.members if not _has_started_since(member, since)]
    names = frozenset(member.name for member in stale)
    needed = names or frozenset(member.name for member in observed.members)
    satisfying = next((running for running in operations if _satisfies(running, needed, since)), None)
    may_attach = condition.in_flight is InFlight.ATTACH or (condition.in_flight is InFlight.QUEUE and since is not None)
    if satisfying and may_attach:
        started_at = f" since {_instant_words(satisfying.started_at)}" if satisfying.started_at else ""
        return Decision(
            Action.ATTACH, f"{satisfying.label} is restarting it{started_at}", needed, (satisfying.task_id,)
        )
    if observed.members and not stale:
        return Decision(
            Action.SKIP, f"{_start_words(observed.members)}, not before {_condition_words(since, observed)}", names
        )
    if operations:
        return _conflict(operations, names, condition, satisfying)
    return Decision(Action.SUBMIT, _restart_reason(stale, observed, since), names)


def _has_started_since(member: Member, since: datetime | None) -> bool:
    return since is not None and member.started is not None and member.started >= since


def _covers(running: Operation, needed: frozenset[str]) -> bool:
    return running.restarts is None or (bool(needed) and needed <= running.restarts)


def _satisfies(running: Operation, needed: frozenset[str], since: datetime | None) -> bool:
    return _covers(running, needed) and (
        since is None or (running.started_at is not None and running.started_at >= since)
    )


def _conflict(
    operations: Sequence[Operation], stale: frozenset[str], condition: Condition, satisfying: Operation | None
) -> Decision:
    running = satisfying or operations[0]
    if condition.in_flight is InFlight.QUEUE:
        first = tuple(operation.task_id for operation in operations)
        return Decision(Action.QUEUE, f"{running.label} is running and has to end first", stale, first)
    if condition.in_flight is InFlight.FAIL:
        return Decision(Action.REFUSE, f"{running.label} is running, and in_flight=fail was asked; {NEXT_STEP}", stale)
    if not _covers(running, stale):
        why = "it does not restart all that is asked for" if running.restarts else "it is not known to be its restart"
    elif running.started_at is None:
        why = "when it began is not known"
    else:
        why = f"it began at {_instant_words(running.started_at)}, before started_before"
    return Decision(
        Action.REFUSE,
        f"{running.label} is running, but {why}; {NEXT_STEP}",
        stale,
    )


def _restart_reason(stale: Sequence[Member], observed: Observation, since: datetime | None) -> str:
    if since is None:
        return "no condition was given, so the verb always restarts"
    if not stale:
        return "the service shows nothing of it, so it is not proven that it started since"
    unknown = [member.name for member in stale if member.started is None]
    if unknown:
        return f"it is not proven that {join_names(unknown)} started since {_condition_words(since, observed)}"
    some = "" if len(stale) == len(observed.members) else f" ({len(stale)} of {len(observed.members)})"
    return f"{_start_words(stale)}, before {_condition_words(since, observed)}{some}"


def _start_words(members: Iterable[Member]) -> str:
    return join_names(f"{member.name} started at {_instant_words(member.started)}" for member in members)


def _condition_words(since: datetime | None, observed: Observation) -> str:
    """``since`` in the time zone of the service, so that a reader can compare."""
    zone = next((member.started.tzinfo for member in observed.members if member.started), None)
    return _instant_words(since.astimezone(zone) if since and zone else since)


def _instant_words(instant: datetime | None) -> str:
    if instant is None:
        return "an unknown time"
    return instant.isoformat(timespec="milliseconds" if instant.microsecond else "seconds")
