# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""When a target is restarted, skipped, joined, waited for or refused, and the reason in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, StrEnum

from .._base.text import join_names
from .._ocp.task_model import Task, task_label
from .._targets.target import Member, Observation
from .decision_words import condition_words, instant_words, moving_words, start_words
from .task_evidence import PROOF_TIMEOUT, FinishedRestart, due_starts, proven_by_task
from .values_seen import ValuesSeen

UNNAMED_KIND = "the service does not show whether such a task is a restart"
NEXT_STEP = "run this again when it has ended, or wait for it with in_flight=queue"


class InFlight(StrEnum):
    """What to do if the target is already being restarted; the option ``in_flight``."""

    ATTACH = "attach"
    FAIL = "fail"
    QUEUE = "queue"


class Action(Enum):
    """The decision.

    EXPECT: a task has restarted it or a part of it, so wait for the start to show. HELD: a FAILED task holds it. ILL:
    it has started since but does not serve, or it is not known whether it has started. ADOPT: a task of our own request
    runs, or has run. SETTLE: it has just restarted, so it may show the wanted values late. NO_EFFECT: it has started
    since, but still shows other values. DOUBT: it shows the wanted values, but that proves nothing.
    """

    SKIP = "skip"
    EXPECT = "expect"
    ATTACH = "attach"
    QUEUE = "queue"
    REFUSE = "refuse"
    ADOPT = "adopt"
    HELD = "held"
    ILL = "ill"
    SETTLE = "settle"
    NO_EFFECT = "no effect"
    DOUBT = "doubt"
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

    ``now`` is the time of the service; ``holder`` the FAILED task that holds the target; ``finished`` its restarts that
    have begun since the instant of the condition, or ended just now, and did their work; ``failure`` its newest
    restart, if that is FAILED. ``reads_tasks``: whether these credentials may read tasks; ``untold``: the newest
    restart since then whose target the service does not show. ``names_kind``: the name of a task shows that it is a
    restart. ``values`` are those of the wanted parameters, None if none are wanted or shown.
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
    values: ValuesSeen | None = None


@dataclass(frozen=True)
class Condition:
    """The request. ``started_before`` is by the clock of the service; without it and wanted values, always restart.

    ``waits``: wait for a start that does not show yet, and until it serves. ``settles``: there is time left to wait for
    values that may show late.
    """

    started_before: datetime | None
    in_flight: InFlight
    waits: bool = True
    settles: bool = True


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
        """Whether it leads to a request, once nothing has to be waited for."""
        return self.action is Action.SUBMIT or (self.action is Action.EXPECT and bool(self.members))


def decide_restart(look: Look, condition: Condition) -> Decision:
    """Decide; check mode makes no difference.

    Nothing is submitted while a task works on the target or holds it. Nothing is skipped without proof: a start that
    the service does not show does not count, unless a task is known to have made it. Where values are wanted, they have
    to be shown too.
    """
    observed, since = look.observed, condition.started_before
    stale = [member for member in observed.members if _needs_restart(member, look, since)]
    names = frozenset(member.name for member in stale)
    is_conditional = since is not None or look.values is not None
    if look.holder is not None:
        return Decision(Action.HELD, f"task {look.holder.label} FAILED and holds it", names, (look.holder.id,))
    needed = names or frozenset(member.name for member in observed.members)
    satisfying = next((running for running in look.operations if _satisfies(running, needed, since)), None)
    may_attach = condition.in_flight is InFlight.ATTACH or (condition.in_flight is InFlight.QUEUE and since is not None)
    if satisfying and may_attach:
        started_at = f" since {instant_words(satisfying.started_at)}" if satisfying.started_at else ""
        return Decision(
            Action.ATTACH, f"{satisfying.label} is restarting it{started_at}", needed, (satisfying.task_id,)
        )
    if is_conditional and observed.members and not stale:
        return _needs_none(look, condition, satisfying)
    late = [member for member in stale if look.values and (since is None or _has_started_since(member, look, since))]
    started = {member.name for member in late if _is_new(member, look)}
    due = due_starts(look.finished, names - started if is_conditional else (), look.now)
    all_due = bool(due) and due.keys() == names
    if not all_due and (look.operations or observed.is_in_flight):
        return _conflict(look, names, condition, satisfying)
    if due or late:
        settling = _settle(look, late, due, condition)
        if settling is not None:
            return settling
    if due:
        return _expect(due, names, observed if all_due and not condition.waits else None)
    return _untold(look, stale, since) or Decision(Action.SUBMIT, _restart_reason(stale, look, since), names)


def _untold(look: Look, stale: Sequence[Member], since: datetime | None) -> Decision | None:
    """The decision if it is not known whether a restart has happened since."""
    names = frozenset(member.name for member in stale)
    if not look.observed.members and (since is not None or look.values is not None):
        why = "the service shows nothing of it, so it is not known whether a restart has happened"
        return Decision(Action.ILL, f"{why} since {condition_words(since, look.observed)}" if since else why, names)
    hidden = [member.name for member in stale if member.started is None]
    gap = _gap_in_tasks(look)
    if since is not None and hidden and gap:
        why = f"the service shows no start of {join_names(hidden)}, and {gap}, so it is not known whether a restart has"
        return Decision(Action.ILL, f"{why} happened since {condition_words(since, look.observed)}", names)
    return None


def _gap_in_tasks(look: Look) -> str:
    """Why the tasks do not show whether there was a restart; empty if they do."""
    if not look.reads_tasks:
        return "these credentials may not read tasks (TASK_VIEWER)"
    return f"does not show what task {look.untold.label} restarted" if look.untold else ""


def _needs_restart(member: Member, look: Look, since: datetime | None) -> bool:
    values = look.values
    if since is None and values is None:
        return True
    if since is not None and not _has_started_since(member, look, since):
        return True
    return values is not None and values.ask_for_restart(member, alone=since is None)


def _has_started_since(member: Member, look: Look, since: datetime | None) -> bool:
    if since is None:
        return False
    return member.started >= since if member.started is not None else proven_by_task(look.finished, member.name)


def _is_new(member: Member, look: Look) -> bool:
    """Whether it has started so recently that the service may show its values late."""
    if member.started is None:
        return any(task.restarted(member.name) and look.now < task.due_until for task in look.finished)
    return look.now < member.started + timedelta(seconds=PROOF_TIMEOUT)


def _needs_none(look: Look, condition: Condition, satisfying: Operation | None) -> Decision:
    """All members have started since, and show the wanted values: they are left alone if they serve, too."""
    observed, since = look.observed, condition.started_before
    shown = _met_words(look, since)
    if look.operations and since is None and condition.in_flight is InFlight.QUEUE:
        return _conflict(look, frozenset(), condition, satisfying)
    if observed.serves is not False:
        if since is None and look.values is not None and (doubt := _doubt(look.values, observed)):
            return Decision(Action.DOUBT, doubt, frozenset())
        why = shown if observed.serves else f"{shown}; the service does not show whether it serves"
        if look.names_kind:
            return Decision(Action.SKIP, why, frozenset(), serves=observed.serves)
        return Decision(Action.SKIP, f"{why}; not verified, since {UNNAMED_KIND}", frozenset())
    if look.operations or observed.is_in_flight:
        return _conflict(look, frozenset(), condition, satisfying)
    return Decision(Action.ILL, f"{shown}, but {observed.trouble}", frozenset())


def _met_words(look: Look, since: datetime | None) -> str:
    """What is shown of the conditions that all members meet."""
    members = look.observed.members
    started = (
        f"{start_words(members, look.finished)}, not before {condition_words(since, look.observed)}" if since else ""
    )
    return " and ".join(filter(None, (started, look.values.words(members) if look.values else "")))


def _doubt(values: ValuesSeen, observed: Observation) -> str:
    """Why the values alone do not prove that no server needs the restart; empty if they do."""
    hidden = [member for member in observed.members if values.is_in_effect(member.name) is None]
    if hidden:
        return values.words(hidden)
    if not values.doubted:
        return ""
    return (
        f"{values.words(observed.members)}, but this service is not known to show the old value of "
        f"{join_names(values.doubted)} until a server has restarted"
    )


def _settle(
    look: Look, late: Sequence[Member], due: Mapping[str, FinishedRestart], condition: Condition
) -> Decision | None:
    """What to do about members that have restarted, ``due`` ones by their tasks, and do not show the wanted values.

    None: restart them, because nothing shows that they have restarted for these values.
    """
    if look.values is None:
        return None
    names = frozenset(due) | {member.name for member in late}
    if due:
        last = max(due.values(), key=lambda task: task.due_until)
        reason = f"task {last.label} has restarted {join_names(sorted(due))}, which may show start and values late"
        return Decision(Action.SETTLE, reason, names, (last.task_id,))
    new = [member for member in late if _is_new(member, look)]
    if new and condition.settles:
        reason = f"{start_words(new, look.finished)}, and may show its values late; {look.values.words(new)}"
        return Decision(Action.SETTLE, reason, names)
    since = condition.started_before
    if since is None:
        in_vain = [member for member in late if member.name in look.values.tried]
        started = f"{start_words(in_vain, look.finished)}, after this controller requested a restart for these values"
        why = f"{started}, but {look.values.words(in_vain)}"
        return Decision(Action.NO_EFFECT, why, names) if in_vain else None
    started = f"{start_words(late, look.finished)}, not before {condition_words(since, look.observed)}"
    return Decision(Action.NO_EFFECT, f"{started}, but {look.values.words(late)}", names)


def _expect(due: Mapping[str, FinishedRestart], stale: frozenset[str], last_seen: Observation | None) -> Decision:
    """Members whose start is due are left out of ``members``.

    ``last_seen`` is the observation if there will be no other one.
    """
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
        what = f"{running.label} is running" if running else f"{moving_words(look.observed)} without a visible task"
        return Decision(Action.QUEUE, f"{what} and has to end first", stale, first)
    if running is None:
        why = f"{moving_words(look.observed)}, but no task of it is visible"
        return Decision(Action.REFUSE, f"{why}; {NEXT_STEP}", stale)
    if condition.in_flight is InFlight.FAIL:
        return Decision(Action.REFUSE, f"{running.label} is running, and in_flight=fail is set; {NEXT_STEP}", stale)
    if not _covers(running, stale):
        is_part = bool(running.restarts)
        why = "it does not restart everything that is asked for" if is_part else "it may not restart this target"
    elif running.started_at is None:
        why = "when it began is not known"
    else:
        why = f"it began at {instant_words(running.started_at)}, before started_before"
    return Decision(Action.REFUSE, f"{running.label} is running, but {why}; {NEXT_STEP}", stale)


def _restart_reason(stale: Sequence[Member], look: Look, since: datetime | None) -> str:
    observed, some = (
        look.observed,
        "" if len(stale) == len(look.observed.members) else f" ({len(stale)} of {len(look.observed.members)})",
    )
    if since is None:
        return (
            f"{look.values.words(stale)}{some}" if look.values else "started_before is not set, so this always restarts"
        )
    unknown = [member.name for member in stale if member.started is None]
    if unknown:
        return f"it is not proven that {join_names(unknown)} started since {condition_words(since, observed)}"
    return f"{start_words(stale)}, before {condition_words(since, observed)}{some}"
