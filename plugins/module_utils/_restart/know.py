# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""From what a look has read to what is known: instants become relative to the change, records become values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .._base.parsing import Record
from .._ocp.task_model import SUCCESSFUL
from .._ocp.task_model import Task as TaskRecord
from .._targets.target import Member as ShownMember
from .._targets.target import TaskOnTarget
from .change import Begin, Span, begun_span, may_have_made, relative_to_task, started_span
from .evidence import PROOF_TIMEOUT, lacks_step_times, may_have_started, needs_detail, shows_until, work_of
from .held import holder_of
from .knowledge import Knowledge, Member, Relative, Request, Task, Values, Work
from .look import Look
from .values_seen import ValuesSeen

MayRestart = Callable[[Record], bool]


@dataclass(frozen=True)
class Ended:
    """How long a run has known tasks as ended, in seconds ``since`` then.

    ``uncertain``: the clocks of the service differ by so many seconds.
    """

    since: dict[int, float] = field(default_factory=dict)
    uncertain: float = 0.0

    def may_show(self, task: TaskRecord, now: datetime) -> bool:
        """Whether the start that an ended task has made may still show.

        It may until three minutes after the end of the task. If its end is not shown, or clocks leave it open, the
        three minutes begin when this run first sees that the task has ended.
        """
        until = shows_until(task)
        if until is not None and now - timedelta(seconds=self.uncertain) >= until:
            return False
        return self.since.get(task.id, 0.0) < PROOF_TIMEOUT


@dataclass(frozen=True)
class Memory:
    """What is known besides a look: by this run, and by the journal.

    ``requested`` has the time since which the restart of a member came, by the journal, in seconds since 1970, by the
    id of the task and the name of the member. ``own`` has the ids of tasks that a request of this run may have started.
    ``ended`` tells whether a start may still show. ``skipped`` has the ids of own tasks that skipped a step, by the
    journal. ``late`` has the names of members for which an earlier restart may still show its start. ``proven`` has the
    names of members whose start has moved since a request for the change, the task of which has SUCCEEDED.
    """

    requested: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    own: frozenset[int] = frozenset()
    requests: tuple[Request, ...] = ()
    ended: Ended = field(default_factory=Ended)
    skipped: frozenset[int] = frozenset()
    late: frozenset[str] = frozenset()
    proven: frozenset[str] = frozenset()


def know(
    may_restart: MayRestart, look: Look, begin: Begin, values: ValuesSeen | None = None, memory: Memory | None = None
) -> Knowledge:
    """What a look means for a change that began then, or is for ``values``.

    ``may_restart`` tells whether a task may have restarted the target or a part of it, see Target.may_restart_part.
    """
    return _Meaning(may_restart, look, begin, values, memory or Memory()).knowledge()


def undecided(
    may_restart: MayRestart, look: Look, begin: Begin, values: ValuesSeen | None = None, memory: Memory | None = None
) -> list[TaskOnTarget]:
    """The tasks that may decide, and of which the list may not show enough.

    Among them are those that have FAILED and hold nothing: a person may have retried them, and the list may be behind.
    """
    return list(_Meaning(may_restart, look, begin, values, memory or Memory()).undecided())


def late_tasks(
    may_restart: MayRestart, look: Look, member: ShownMember, ended: Ended, shown: Collection[int] = ()
) -> frozenset[int]:
    """The ids of the tasks whose start was made before this look, and may replace the one that is shown of a member.

    ``shown`` are those of tasks whose start is known to have shown. A task counts also if it ``may_restart`` a part
    of the target, and what it restarts is not shown.
    """
    untold = [entry for entry in look.tasks if entry.restarts == frozenset() and may_restart(entry.record)]
    entries = [entry for entry in look.tasks if _restarts(entry, member.name) or entry in untold]
    tasks = [entry.task for entry in entries if may_have_started(entry.task)]
    started = started_span(member)
    return frozenset(
        task.id
        for task in tasks
        if task.id not in shown
        and (not task.finished or ended.may_show(task, look.now))
        and not _has_shown(task, started, tasks, ended.uncertain)
    )


def explains(task: TaskRecord, member: ShownMember, apart: float = 0.0) -> bool:
    """Whether the start that is shown of a member is that of a task, or a minute from it, by the clocks.

    Those of the service are ``apart`` by so many seconds.
    """
    started = started_span(member)
    return started is not None and may_have_made(task, started, apart)


def _has_shown(task: TaskRecord, started: Span | None, tasks: Collection[TaskRecord], apart: float) -> bool:
    """Whether it has made the start that is shown: it began before, or nothing else explains that start."""
    begun = begun_span(task.start_time)
    if started is None or begun is None:
        return False
    found = relative_to_task(started, begun, apart)
    if found is Relative.UNCLEAR:
        return not any(may_have_made(other, started, apart) for other in tasks if other.id != task.id)
    return found is Relative.SINCE


def _restarts(entry: TaskOnTarget, name: str) -> bool:
    return entry.restarts is None or name in entry.restarts


@dataclass(frozen=True)
class _Meaning:
    may_restart: MayRestart
    look: Look
    begin: Begin
    values: ValuesSeen | None
    memory: Memory

    def knowledge(self) -> Knowledge:
        observed = self.look.observed
        holder = holder_of(self.look)
        return Knowledge(
            members=tuple(map(self._member, observed.members)),
            tasks=tuple(self._task(entry) for entry in self.look.tasks),
            serves=observed.serves,
            is_moving=observed.is_in_flight,
            holder=None if holder is None else holder.id,
            own=self.memory.own,
            requests=self.memory.requests,
            reads_tasks=self.look.reads_tasks,
            values_doubted=bool(self.values and self.values.doubts(observed.members)),
            is_there=observed.is_there,
        )

    def undecided(self) -> Iterator[TaskOnTarget]:
        members = self.look.observed.members
        open_ones = {member.name for member in members if self._is_open(member)}
        unclear_ones = {member.name for member in members if not self._start(member).is_sure}
        for entry in self.look.tasks:
            task = entry.task
            since, unclear = self._since(entry, task)
            is_denied = entry.is_denied and (not task.finished or bool((since | unclear) & open_ones))
            if is_denied or self._may_be_undone(entry, task, open_ones):
                yield entry
                continue
            is_untold = entry.restarts == frozenset() and self.may_restart(entry.record)
            decides = bool((since | unclear) & open_ones) and (is_untold or bool(self._parts(entry, task)))
            may_decide = task.status == SUCCESSFUL or task.start_time is None or bool((since | unclear) & unclear_ones)
            lacks_more = bool(unclear & open_ones) and lacks_step_times(task)
            is_let_go = task.finished and not task.succeeded and holder_of(self.look) is None
            if decides and (is_let_go or (may_decide and (needs_detail(task) or lacks_more))):
                yield entry

    def _may_be_undone(self, entry: TaskOnTarget, task: TaskRecord, names: Collection[str]) -> bool:
        """Whether only its detail shows if it was rolled back since the change, and so started one of these members."""
        if not task.finished or task.subtasks:
            return False
        return any(self.begin.ran_at_first(task.id, name) for name in self._parts(entry, task).intersection(names))

    def _is_open(self, member: ShownMember) -> bool:
        """Whether a task may decide about a member."""
        if not self.begin.is_dated:
            return self.values is not None
        return self.values is not None or self._start(member) is not Relative.SINCE

    def _start(self, member: ShownMember) -> Relative:
        """Whether it has started since the change, by its start and the tasks that may have made it."""
        restarts = [entry for entry in self.look.tasks if _restarts(entry, member.name)]
        found = self.begin.of_start_by(
            member, [(each.task, self._requested(each.task, member.name)) for each in restarts]
        )
        return Relative.SINCE if not found.is_sure and member.name in self.memory.proven else found

    def _member(self, member: ShownMember) -> Member:
        start = self._start(member) if self.begin.is_dated else Relative.HIDDEN
        values, was_tried = self._values_of(member)
        is_late = member.name in self.memory.late and self.begin.lacks_first_start(member)
        return Member(member.name, start, member.serves, self._is_new(member), values, was_tried, is_late)

    def _values_of(self, member: ShownMember) -> tuple[Values, bool]:
        if self.values is None:
            return Values.NOT_WANTED, False
        in_effect = self.values.is_in_effect(member.name)
        shown = {True: Values.IN_EFFECT, False: Values.OTHERS, None: Values.HIDDEN}[in_effect]
        return shown, member.name in self.values.tried

    def _is_new(self, member: ShownMember) -> bool:
        """Whether it may have started so recently that the service shows its values late."""
        if self.values is None:
            return False
        started = started_span(member)
        if started is not None:
            return self.look.now.timestamp() - self.memory.ended.uncertain < started.last + PROOF_TIMEOUT
        tasks = (self._task(entry) for entry in self.look.tasks)
        return any(task.is_due and task.work is Work.RESTARTED and member.name in task.since for task in tasks)

    def _task(self, entry: TaskOnTarget) -> Task:
        task = entry.task
        work = self._work(task)
        since, unclear = self._since(entry, task)
        restarts = self._parts(entry, task)
        return Task(
            task.id,
            work,
            restarts,
            since if restarts else frozenset(),
            unclear if restarts else frozenset(),
            is_due=work.may_have_started and self.memory.ended.may_show(task, self.look.now),
            is_told=bool(restarts) or not self._may_be_untold(entry, since | unclear),
        )

    def _work(self, task: TaskRecord) -> Work:
        """What it has done; by the journal where its steps are not shown any more."""
        is_noted = task.succeeded and not task.subtasks and task.id in self.memory.skipped
        return Work.SKIPPED if is_noted else work_of(task)

    def _may_be_untold(self, entry: TaskOnTarget, since: Collection[str]) -> bool:
        return entry.restarts == frozenset() and bool(since) and self.may_restart(entry.record)

    def _parts(self, entry: TaskOnTarget, task: TaskRecord) -> frozenset[str]:
        """The members that it restarts; a task that is undoing its work restarts none."""
        everything = frozenset(member.name for member in self.look.observed.members)
        if not task.finished and task.is_rolling_back:
            return frozenset()
        return everything if entry.restarts is None else entry.restarts & everything

    def _requested(self, task: TaskRecord, name: str) -> float | None:
        """When this machine sent the request of a task for a member; None if it was not for that."""
        return self.memory.requested.get(task.id, {}).get(name)

    def _since(self, entry: TaskOnTarget, task: TaskRecord) -> tuple[frozenset[str], frozenset[str]]:
        """For which members it began since the change, and for which that is not clear."""
        there = {member.name: member for member in self.look.observed.members}
        names = self._parts(entry, task) or there.keys()
        if not self.begin.is_dated:
            return frozenset(names), frozenset()
        found = {name: self.begin.of_task(task, self._requested(task, name), there[name]) for name in names}
        since = frozenset(name for name, when in found.items() if when is Relative.SINCE)
        return since, frozenset(name for name, when in found.items() if when is Relative.UNCLEAR)
