# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Reads a target and all tasks on it, in an order that misses no restart. It neither waits nor decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from math import inf
from typing import TypeVar

from .._base.clock import Clock
from .._base.errors import NotFound, PermissionDenied
from .._base.parsing import Record, instant
from .._base.service_clock import service_time
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import FAILED, RUNNING, Task
from .._targets.target import Member, Observation, Target, TaskOnTarget
from .._targets.task_names import DATABASE_RESTARTS, kind_of
from .._waiting.poll_pauses import UNSEEN_FOR
from .earlier_looks import EarlierLooks
from .held import newest_failure
from .look import Look, newest_first

Found = TypeVar("Found")

# A start further ahead of the service's clock comes from another clock.
LARGEST_START_LEAD = timedelta(seconds=60)
# One further ahead comes from no clock: it stands for "none", as the year 9999 does.
LARGEST_CLOCK_ERROR = timedelta(days=3653)
# Seconds that a target may be read for, as that of many hosts, until the list of tasks is read again.
LONGEST_LOOK = 2.0


def observe(api: OcpApi, target: Target, clock: Clock) -> Observation:
    """The current state of a target, with the starts marked that are still to come. Raises a ServiceError."""
    return with_starts_to_come(api, target.observe(api), clock)


def with_starts_to_come(api: OcpApi, observed: Observation, clock: Clock) -> Observation:
    """What was just observed, with the starts marked that are still to come by the clocks of the service."""
    latest = service_time(api.service_clock, clock) + timedelta(seconds=api.service_clock.uncertainty)
    return observed.judged_by(latest + LARGEST_START_LEAD, latest + LARGEST_CLOCK_ERROR)


def look_at_named(api: OcpApi, target: Target, observed: Observation, clock: Clock, *, but: int) -> Look:
    """What a target names and has FAILED, other than the task with the id ``but``. Raises a ServiceError."""
    others = tuple(named for named in observed.operations if named != but)
    failed = _named_tasks(api, target, observed, others).failed
    return Look(observed, service_time(api.service_clock, clock), named_failed=failed)


class Reader:
    """Looks at one target, again and again. ``warnings`` gets a sentence for what these credentials may not read."""

    def __init__(self, api: OcpApi, target: Target, clock: Clock, warnings: list[str]) -> None:
        self._api = api
        self._target = target
        self._clock = clock
        self._warnings = warnings
        self._earlier = EarlierLooks()
        self._details: dict[int, _Detail] = {}
        # The tasks that the target names and OCP does not show, each with the time of the first such look.
        self._unseen: dict[int, float] = {}
        first = target.first_observation
        if first is not None:
            self._earlier.note(first, explained=False, now=clock.now())
            self._earlier.at_worst(first, clock.now())

    def look(self, own: Iterable[int] = ()) -> Look:
        """Read the target and the tasks on it, twice where it has changed meanwhile; ``own`` are ids of tasks to read.

        Raises a ServiceError.
        """
        own = list(own)
        look = self._look_once(own)
        if look.is_outdated or self._has_just_begun(look):
            self.note(look)
            look = self._look_once(own)
        return look

    def read_details(self, tasks: Iterable[TaskOnTarget]) -> None:
        """Read these tasks whole, for the looks to come; one that is gone keeps what was listed."""
        for entry in tasks:
            self._keep(entry.record, self._read(entry.record["id"]) or {})

    def _keep(self, listed: Record, found: Record) -> None:
        self._details[listed["id"]] = _Detail({**listed, **found}, _end_of(listed))

    def has_detail(self, entry: TaskOnTarget) -> bool:
        """Whether it was read whole since it ended like this."""
        return self._detail_of(entry.record) is not None

    def _detail_of(self, shown: Record) -> Record | None:
        """The whole record, unless the task has gone on since: a person may have retried it, or rolled it back.

        The list and the detail may show one task differently, for ever: a list what a task was asked for first.
        """
        known = self._details.get(shown["id"])
        if known is None or _end_of(shown) not in (known.listed, _end_of(known.record)):
            return None
        return known.record

    def is_behind(self, look: Look) -> bool:
        """Whether an older start is shown than before, or nothing any more."""
        return self._earlier.is_behind(look.observed)

    def may_be_behind(self, look: Look) -> bool:
        """Whether the answers may be old: they show neither work nor its effect, or lack a task that is named."""
        since = max((self._unseen[number] for number in look.unseen), default=-inf)
        if not look.unfinished and self._clock.now() - since < UNSEEN_FOR:
            return True
        return self._earlier.may_be_behind(look.observed, self._clock.now()) and not _shows_the_effect(look)

    @property
    def first_shown(self) -> Mapping[str, Member]:
        """Each member as this run has seen it first."""
        return self._earlier.first_shown

    def note(self, look: Look) -> None:
        """Remember what was shown: a later look from a replica that lags does not overrule it."""
        self._earlier.note(look.observed, explained=bool(look.unfinished), now=self._clock.now())
        for entry in self._own_by_status(look):
            self._earlier.remember(entry, look.observed.members)

    def remember(self, entries: Iterable[TaskOnTarget], members: Iterable[Member]) -> None:
        """Count restarts that this controller knows from elsewhere, or ignore those of other targets."""
        members = list(members)
        for entry in entries:
            self._earlier.remember(entry, members)

    def _look_once(self, own: Sequence[int]) -> Look:
        # The list first: a restart that ends between the two reads then shows in the start.
        began = self._clock.now()
        tasks, on_target = self._tasks(own)
        observed = self._earlier.at_worst(observe(self._api, self._target, self._clock), self._clock.now())
        if self._clock.now() - began > LONGEST_LOOK:
            # It may have begun and ended since the list was read, and since its start was.
            tasks, on_target = self._tasks(own)
        named = _named_tasks(self._api, self._target, observed, observed.operations)
        entries = self._earlier.completed(
            [*on_target, *named.entries], self._read_of_target, self._target.may_restart_part
        )
        shown = [self._with_detail(entry) for entry in entries]
        unseen = named.unseen.difference(entry.record["id"] for entry in shown)
        for number in unseen:
            self._unseen.setdefault(number, self._clock.now())
        now = service_time(self._api.service_clock, self._clock)
        look = Look(
            observed,
            now,
            shown,
            tasks or [],
            named.failed,
            is_outdated=named.is_outdated or bool(unseen),
            unseen=unseen,
            reads_tasks=tasks is not None,
        )
        return replace(look, failure=self._failure(look))

    def _tasks(self, own: Sequence[int]) -> tuple[list[Record] | None, list[TaskOnTarget]]:
        """The listed tasks, None without permission; and those on the target, with its ``own`` that are not listed."""
        tasks = self._listed()
        found = [] if tasks is None else self._target.touching(self._api, list(map(self._completed, tasks)))
        on_target = [replace(entry, is_denied=entry.is_denied and not self.has_detail(entry)) for entry in found]
        known = {entry.record["id"] for entry in on_target}
        missing = [number for number in own if number not in known]
        return tasks, on_target + self._own_tasks(missing, tasks or [])

    def _listed(self) -> list[Record] | None:
        unknown = f"whether a restart of {self._target.label} is running already"
        return self._if_permitted(unknown, lambda: self._target.listed(self._api))

    def _own_tasks(self, numbers: Iterable[int], listed: list[Record]) -> list[TaskOnTarget]:
        """Tasks that are known to be of the target, and that the list does not show.

        Where the service does not tell what they restart, the journal does.
        """
        there = {task["id"] for task in listed}
        found = [self._read(number) for number in numbers if number not in there]
        mine = [task for task in found if task is not None and self._target.may_be_of(task)]
        found_on = ((task, self._target.touching(self._api, [task])) for task in mine)
        return [entry for task, entries in found_on for entry in entries or [TaskOnTarget(task, frozenset())]]

    def _with_detail(self, entry: TaskOnTarget) -> TaskOnTarget:
        known = self._detail_of(entry.record)
        return entry if known is None else replace(entry, record=known)

    def _completed(self, listed: Record) -> Record:
        """A listed task by its detail, which may be all that shows what it is for."""
        return self._detail_of(listed) or listed

    def _failure(self, look: Look) -> Task | None:
        """The newest restart of a target that is at work or does not serve, if it FAILED."""
        if not look.observed.is_in_flight and look.observed.serves is not False:
            return None
        return newest_failure(replace(look, tasks=self._in_order(look.tasks)), self._whole)

    def _in_order(self, tasks: Sequence[TaskOnTarget]) -> Sequence[TaskOnTarget]:
        """The tasks by their age, where one has FAILED: those that the list shows no begin of by their details."""
        if not any(entry.task.status == FAILED for entry in tasks):
            return tasks
        ended = [entry for entry in tasks if entry.task.finished and instant(entry.task.start_time) is None]
        self.read_details(entry for entry in ended if not self.has_detail(entry))
        return newest_first(map(self._with_detail, tasks))

    def _whole(self, entry: TaskOnTarget) -> Task | None:
        """The task by its detail: a list need not show its steps, and never in their order."""
        if not self.has_detail(entry):
            found = self._read(entry.record["id"])
            if found is None and not entry.task.subtasks:
                return None
            self._keep(entry.record, found or {})
        return Task.from_api({**entry.record, **(self._detail_of(entry.record) or {})})

    def _has_just_begun(self, look: Look) -> bool:
        """Whether the target shows work that may have begun since the list was read."""
        is_new = look.observed.is_in_flight and not self._earlier.showed_work(self._clock.now())
        return is_new and not look.unfinished

    def _own_by_status(self, look: Look) -> list[TaskOnTarget]:
        """The only running task, if OCP does not show what it restarts, and the status shows this target at work.

        One that may not be read and that no list shows is not taken for it: its name may deny that it is a restart.
        If it restarts something else, the run waits for a start in vain, and then decides by the start that is shown.
        """
        running = [entry for entry in look.tasks if not entry.task.finished]
        at_work = look.observed.at_work
        if not (self._target.shows_start and at_work and len(running) == 1):
            return []
        record = running[0].record
        is_untold = running[0].restarts == frozenset() and "name" in record and self._target.may_be_kind(record)
        return [replace(running[0], restarts=at_work)] if is_untold else []

    def _read(self, task_id: int) -> Record | None:
        try:
            return self._api.task(task_id)
        except (NotFound, PermissionDenied):
            return None

    def _read_of_target(self, task_id: int) -> Record | None:
        """The record of a task; None if OCP has none, or if its id is now that of a task of something else."""
        found = self._read(task_id)
        is_mine = found is not None and (self._target.may_be_of(found) or self._target.touching(self._api, [found]))
        return found if is_mine else None

    def _if_permitted(self, unknown: str, read: Callable[[], Found]) -> Found | None:
        try:
            return read()
        except PermissionDenied as error:
            if not error.has_envelope:
                raise
            self._warnings.append(f"It is not known {unknown}: {error}")
            return None


@dataclass(frozen=True)
class _Detail:
    """A task that was read whole, and how it was ``listed`` then."""

    record: Record
    listed: tuple[str, ...]


def _end_of(shown: Record) -> tuple[str, ...]:
    """How a task has ended, as it is shown; a later attempt ends otherwise, or at another time."""
    return tuple(str(shown.get(key)).upper() for key in ("status", "operation", "finishTime"))


@dataclass(frozen=True)
class _Named:
    """The tasks that a target itself names (``operatingTaskInstanceId``), newest first; of these the FAILED ones.

    ``unseen`` are the ids of those that OCP does not have, or a replica of it does not have yet. ``is_outdated``: one
    ended otherwise, so that the target has changed since.
    """

    entries: list[TaskOnTarget]
    failed: list[Task]
    unseen: frozenset[int]
    is_outdated: bool


def _named_tasks(api: OcpApi, target: Target, observed: Observation, numbers: Iterable[int]) -> _Named:
    entries, failed, unseen, is_outdated = [], [], set(), False
    for number in numbers:
        try:
            record = api.task(number)
        except PermissionDenied:
            entries.append(TaskOnTarget({"id": number, "status": RUNNING}, frozenset()))
            continue
        except NotFound:
            unseen.add(number)
            continue
        task = Task.from_api(record)
        entries.append(TaskOnTarget(record, _members_restarted_by(task, target, observed)))
        if task.status == FAILED:
            failed.append(task)
        is_outdated = is_outdated or (task.finished and task.status != FAILED)
    return _Named(entries, failed, frozenset(unseen), is_outdated)


def _members_restarted_by(task: Task, target: Target, observed: Observation) -> frozenset[str] | None:
    """The members that a task restarts, judged by its name; the target itself names the task."""
    if kind_of(task.name) == target.task_name and (observed.operated_by == task.id or len(observed.members) == 1):
        return None
    if kind_of(task.name) in DATABASE_RESTARTS:
        return frozenset(member.name for member in observed.members if member.operated_by == task.id)
    return frozenset()


def _shows_the_effect(look: Look) -> bool:
    """Whether each member has started since the begin of a restart of it that has not ended."""
    unended = (entry for entry in look.tasks if not entry.task.finished)
    begun = [(entry, begin) for entry in unended if (begin := instant(entry.record.get("startTime"))) is not None]

    def is_effect(member: Member) -> bool:
        started = None if member.is_ahead else member.started
        return started is not None and any(
            begin <= started and (entry.restarts is None or member.name in entry.restarts) for entry, begin in begun
        )

    return bool(look.observed.members) and all(map(is_effect, look.observed.members))
