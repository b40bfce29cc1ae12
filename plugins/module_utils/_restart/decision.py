# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""When a target is restarted, skipped, joined, waited for or refused, and the reason in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum

from .._base.text import join_names
from .._ocp.task_model import Task, task_label
from .._targets.serving import is_in_flight
from .._targets.target import Member, Observation
from .task_evidence import FinishedRestart, due_starts, proven_by_task

UNNAMED_KIND = "the service does not tell whether such a task is a restart"
NEXT_STEP = "run this again when it has ended, or wait for it with in_flight=queue"


class InFlight(StrEnum):
    """What to do if the target is already being restarted; the option ``in_flight``."""

    ATTACH = "attach"
    FAIL = "fail"
    QUEUE = "queue"


class Action(Enum):
    """What was decided.

    EXPECT: a task has restarted it or a part of it, so wait for the start to show. HELD: a FAILED task holds it. ILL:
    it has started since, but does not serve, or nothing can tell whether it has. ADOPT: a task of our own request
    runs, or has run.
    """

    SKIP = "skip"
    EXPECT = "expect"
    ATTACH = "attach"
    QUEUE = "queue"
    REFUSE = "refuse"
    ADOPT = "adopt"
    HELD = "held"
    ILL = "ill"
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
class Look:
    """What was seen of a target: the target itself, the unfinished tasks on it, newest first, and those that ended.

    ``now`` is the time of the service; ``holder`` the FAILED task that holds the target; ``finished`` its restarts
    that have begun since the instant of the condition and did their work; ``failure`` its newest restart, if that is
    FAILED. ``reads_tasks``: whether these credentials may read tasks; ``untold``: the newest restart since then of
    which the service does not tell what it restarted. ``names_kind``: the name of a task tells that it is a restart.
    """

    observed: Observation
    operations: Sequence[Operation]
    now: datetime
    holder: Task | None = None
    finished: Sequence[FinishedRestart] = field(default=())
    failure: Task | None = None
    reads_tasks: bool = True
    untold: FinishedRestart | None = None
    names_kind: bool = True


@dataclass(frozen=True)
class Condition:
    """The request. ``started_before`` is by the clock of the service; None always restarts.

    ``waits``: for a start that does not show yet, and until it serves.
    """

    started_before: datetime | None
    in_flight: InFlight
    waits: bool = True


@dataclass(frozen=True)
class Decision:
    """What to do and why, in plain words.

    ``members`` are the names of those that need the restart, ``task_ids`` the task to join or the tasks to wait for.
    ``serves``: whether what is skipped is shown to serve.
    """

    action: Action
    reason: str
    members: frozenset[str]
    task_ids: tuple[int, ...] = ()
    serves: bool | None = None

    @property
    def sends(self) -> bool:
        """Whether it leads to a request, if nothing is waited for before."""
        return self.action is Action.SUBMIT or (self.action is Action.EXPECT and bool(self.members))


def decide_restart(look: Look, condition: Condition) -> Decision:
    """Decide; check mode makes no difference.

    Nothing is submitted while a task works on the target or holds it. Nothing is skipped without proof: a start that
    the service does not show does not count, unless a task is known to have made it.
    """
    observed, since = look.observed, condition.started_before
    stale = [member for member in observed.members if not _has_started_since(member, look, since)]
    names = frozenset(member.name for member in stale)
    if look.holder is not None:
        return Decision(Action.HELD, f"task {look.holder.label} FAILED and holds it", names, (look.holder.id,))
    needed = names or frozenset(member.name for member in observed.members)
    satisfying = next((running for running in look.operations if _satisfies(running, needed, since)), None)
    may_attach = condition.in_flight is InFlight.ATTACH or (condition.in_flight is InFlight.QUEUE and since is not None)
    if satisfying and may_attach:
        started_at = f" since {_instant_words(satisfying.started_at)}" if satisfying.started_at else ""
        return Decision(
            Action.ATTACH, f"{satisfying.label} is restarting it{started_at}", needed, (satisfying.task_id,)
        )
    if since is not None and observed.members and not stale:
        return _started_since(look, since, condition, satisfying)
    due = due_starts(look.finished, names if since is not None else (), look.now)
    all_due = bool(due) and due.keys() == names
    if not all_due and (look.operations or observed.is_in_flight):
        return _conflict(look, names, condition, satisfying)
    if due:
        return _expect(due, names, observed if all_due and not condition.waits else None)
    if since is not None and not observed.members:
        why = "the service shows nothing of it, so nothing tells whether a restart has happened"
        return Decision(Action.ILL, f"{why} since {_condition_words(since, observed)}", names)
    hidden = [member.name for member in stale if member.started is None]
    gap = _gap_in_tasks(look)
    if since is not None and hidden and gap:
        why = f"the service shows no start of {join_names(hidden)}, and {gap}, so nothing tells whether a restart has"
        return Decision(Action.ILL, f"{why} happened since {_condition_words(since, observed)}", names)
    return Decision(Action.SUBMIT, _restart_reason(stale, observed, since), names)


def _gap_in_tasks(look: Look) -> str:
    """Why the tasks do not tell whether there was a restart, if they do not."""
    if not look.reads_tasks:
        return "these credentials may not read tasks (TASK_VIEWER)"
    return f"does not tell what task {look.untold.label} restarted" if look.untold else ""


def _has_started_since(member: Member, look: Look, since: datetime | None) -> bool:
    if since is None:
        return False
    return member.started >= since if member.started is not None else proven_by_task(look.finished, member.name)


def _started_since(look: Look, since: datetime, condition: Condition, satisfying: Operation | None) -> Decision:
    """All members have started since: they are left alone if they serve, too."""
    observed = look.observed
    started = f"{_start_words(observed.members, look)}, not before {_condition_words(since, observed)}"
    if observed.serves is not False:
        why = started if observed.serves else f"{started}; the service does not show whether it serves"
        if look.names_kind:
            return Decision(Action.SKIP, why, frozenset(), serves=observed.serves)
        return Decision(Action.SKIP, f"{why}; not verified, since {UNNAMED_KIND}", frozenset())
    if look.operations or observed.is_in_flight:
        return _conflict(look, frozenset(), condition, satisfying)
    return Decision(Action.ILL, f"{started}, but {observed.trouble}", frozenset())


def _expect(due: Mapping[str, FinishedRestart], stale: frozenset[str], last_seen: Observation | None) -> Decision:
    """Those whose start is due are left out of ``members``. ``last_seen`` is what nobody waits to see differently."""
    last = max(due.values(), key=lambda task: task.due_until)
    what = "it" if due.keys() == stale else join_names(sorted(due))
    reason = f"task {last.label} has restarted {what}, and the service does not show the start yet"
    if last_seen is not None and last_seen.serves is False:
        return Decision(Action.ILL, f"{reason}; {last_seen.trouble}", frozenset())
    return Decision(Action.EXPECT, reason, stale - due.keys(), (last.task_id,))


def _covers(running: Operation, needed: frozenset[str]) -> bool:
    return running.restarts is None or (bool(needed) and needed <= running.restarts)


def _satisfies(running: Operation, needed: frozenset[str], since: datetime | None) -> bool:
    return _covers(running, needed) and (
        since is None or (running.started_at is not None and running.started_at >= since)
    )


def _conflict(look: Look, stale: frozenset[str], condition: Condition, satisfying: Operation | None) -> Decision:
    running = satisfying or next(iter(look.operations), None)
    if condition.in_flight is InFlight.QUEUE:
        first = tuple(operation.task_id for operation in look.operations)
        what = f"{running.label} is running" if running else f"{_moving_words(look.observed)}, without a task to see,"
        return Decision(Action.QUEUE, f"{what} and has to end first", stale, first)
    if running is None:
        why = f"{_moving_words(look.observed)}, and no task of it is to be seen"
        return Decision(Action.REFUSE, f"{why}; {NEXT_STEP}", stale)
    if condition.in_flight is InFlight.FAIL:
        return Decision(Action.REFUSE, f"{running.label} is running, and in_flight=fail was asked; {NEXT_STEP}", stale)
    if not _covers(running, stale):
        why = "it does not restart all that is asked for" if running.restarts else "it is not known to be its restart"
    elif running.started_at is None:
        why = "when it began is not known"
    else:
        why = f"it began at {_instant_words(running.started_at)}, before started_before"
    return Decision(Action.REFUSE, f"{running.label} is running, but {why}; {NEXT_STEP}", stale)


def _moving_words(observed: Observation) -> str:
    """As in ``10.0.0.1:2882 is RESTARTING``."""
    moving = [member.state for member in observed.members if is_in_flight(member.status)]
    return join_names(moving) or f"it is {observed.status}"


def _restart_reason(stale: Sequence[Member], observed: Observation, since: datetime | None) -> str:
    if since is None:
        return "no condition was given, so the verb always restarts"
    unknown = [member.name for member in stale if member.started is None]
    if unknown:
        return f"it is not proven that {join_names(unknown)} started since {_condition_words(since, observed)}"
    some = "" if len(stale) == len(observed.members) else f" ({len(stale)} of {len(observed.members)})"
    return f"{_start_words(stale)}, before {_condition_words(since, observed)}{some}"


def _start_words(members: Iterable[Member], look: Look | None = None) -> str:
    return join_names(_start_of(member, look) for member in members)


def _start_of(member: Member, look: Look | None) -> str:
    if member.started is not None or look is None:
        return f"{member.name} started at {_instant_words(member.started)}"
    task = next(task for task in look.finished if task.restarted(member.name))
    return f"{member.name} was restarted by task {task.label}, begun at {_instant_words(task.started_at)}"


def _condition_words(since: datetime | None, observed: Observation) -> str:
    """``since`` in the time zone of the service, so that a reader can compare."""
    zone = next((member.started.tzinfo for member in observed.members if member.started), None)
    return _instant_words(since.astimezone(zone) if since and zone else since)


def _instant_words(instant: datetime | None) -> str:
    if instant is None:
        return "an unknown time"
    return instant.isoformat(timespec="milliseconds" if instant.microsecond else "seconds")
