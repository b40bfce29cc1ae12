# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What one look at a target reads, in an order that misses no restart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from .._base.clock import Clock
from .._base.errors import NotFound, PermissionDenied, ResponseUnreadable
from .._base.parsing import Record, instant
from .._base.service_clock import FIRST_ANSWERS, service_time
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import RUNNING, SUCCESSFUL, Task
from .._targets.target import Member, Observation, Target, TaskOnTarget
from .._targets.task_names import is_known
from .._waiting.await_tasks import UNSEEN_FOR
from .._waiting.poll_pauses import PollPolicy
from .decision import Look, Operation
from .earlier_looks import EarlierLooks
from .held import holder_of, newest_failure
from .in_flight import NamedTasks, listed_in_flight, named_tasks
from .task_evidence import FinishedRestart, finished_restart, untold_restart
from .values_seen import ValuesSeen

Found = TypeVar("Found")

# A start further ahead of the service's clock comes from another clock.
LARGEST_START_LEAD = timedelta(seconds=60)

# Of the newest tasks, those on a target and its members: tasks that are not shown, or not as those of the target.
Noted = Callable[[Iterable[Record], Iterable[TaskOnTarget], Iterable[Member]], list[TaskOnTarget]]

# Of one cluster, or of one kind of target: more tasks than these do not begin while a restart runs.
NEWEST_TASKS = 30
PAUSES = PollPolicy(UNSEEN_FOR, 5.0)


def observe(api: OcpApi, target: Target, clock: Clock) -> Observation:
    """The current state of a target, without starts that are still to come. Raises a ServiceError."""
    observed = target.observe(api)
    uncertain = timedelta(seconds=api.service_clock.uncertainty)
    return observed.without_starts_after(service_time(api.service_clock, clock) + uncertain + LARGEST_START_LEAD)


@dataclass(frozen=True)
class Sight:
    """What was read about a target: its record, the tasks ``named`` by it, and all ``tasks`` on it, newest first.

    ``mark`` is the highest id of a task on the list, its own or not; None without permission to read tasks.
    All tasks since ``reach`` are on the list; None if that is not known. ``newest`` are all tasks on it.
    """

    observed: Observation
    named: NamedTasks
    tasks: list[TaskOnTarget]
    mark: int | None
    reach: datetime | None
    newest: list[Record] = field(default_factory=list)

    @property
    def unfinished(self) -> list[Operation]:
        """The tasks that have not ended, newest first."""
        found = {task.task_id: task for task in [*listed_in_flight(self.tasks), *self.named.unfinished]}
        return [found[number] for number in sorted(found, reverse=True)]

    @property
    def newest_cause(self) -> int | None:
        """The newest task that may have caused what the target shows; not a restart of something else."""
        own = {entry.record["id"] for entry in self.tasks}
        causes = (task["id"] for task in self.newest if task["id"] in own or not is_known(task.get("name")))
        return max(causes, default=None)


@dataclass
class Viewer:
    """Looks at one target, again and again. ``warnings`` gets a sentence for what these credentials may not read."""

    api: OcpApi
    target: Target
    clock: Clock
    warnings: list[str] = field(default_factory=list)
    _names_operations: bool = False
    _earlier: EarlierLooks = field(default_factory=EarlierLooks)

    def __post_init__(self) -> None:
        first = self.target.first_observation
        if first is not None:
            self._names_operations = first.names_operations
            self._earlier.note(first, explained=False, now=self.clock.now())

    @property
    def now(self) -> datetime:
        """The time of the service."""
        return service_time(self.api.service_clock, self.clock)

    def see(self) -> Sight:
        """Read the target and the tasks on it, again while that is behind what was shown. Raises a ServiceError."""
        began = self.clock.now()
        sight = self._see_once()
        if sight.named.outdated or self._has_just_begun(sight):
            # The target has changed since, or a stale name hides what runs.
            self._note(sight)
            sight = self._see_once()
        while (is_behind := self._earlier.is_behind(sight.observed)) or self._may_be_behind(sight):
            waited = self.clock.now() - began
            if is_behind and waited >= UNSEEN_FOR:
                raise _older_than_before(self.api, self.target)
            self.clock.sleep(PAUSES.pause(waited, self.clock.jitter(), self.api.retry_after))
            sight = self._see_once()
        self._note(sight)
        return sight

    def see_with(self, noted: Noted) -> Sight:
        """Look, and look again if the answers disagree about the time, or ``noted`` knows more about tasks.

        Raises a ServiceError.
        """
        sight = self.see()
        for _answer in range(FIRST_ANSWERS):
            if self.api.service_clock.is_doubtful:
                sight = self.see()
        more = noted(sight.newest, sight.tasks, sight.observed.members)
        for entry in more:
            self._earlier.remember(entry, sight.observed.members)
        return self.see() if more else sight

    def _has_just_begun(self, sight: Sight) -> bool:
        """Whether the target shows work that may have begun since the list was read."""
        is_new = sight.observed.is_in_flight and not self._earlier.showed_work(self.clock.now())
        return is_new and not sight.unfinished

    def _may_be_behind(self, sight: Sight) -> bool:
        return self._earlier.may_be_behind(sight.observed, self.clock.now()) and not _shows_the_effect(sight)

    def _note(self, sight: Sight) -> None:
        self._earlier.note(sight.observed, explained=bool(sight.unfinished), now=self.clock.now())
        for entry in self._own_by_status(sight):
            self._earlier.remember(entry, sight.observed.members)

    def _own_by_status(self, sight: Sight) -> list[TaskOnTarget]:
        """The only running task, if OCP does not show what it restarts, and the status shows this target at work.

        If it restarts something else, the run waits for a start in vain, and then decides by the start that is shown.
        """
        running = [entry for entry in sight.tasks if not Task.from_api(entry.record).finished]
        at_work = sight.observed.at_work
        if not (self.target.shows_start and at_work and len(running) == len(sight.unfinished) == 1):
            return []
        is_untold = running[0].restarts == frozenset() and self.target.may_be_kind(running[0].record)
        return [replace(running[0], restarts=at_work)] if is_untold else []

    def _see_once(self) -> Sight:
        # The list first: a restart that ends between the two reads then shows in the start.
        tasks = self._newest()
        listed = [] if tasks is None else self._touching(tasks)
        mark = None if tasks is None else max((task.get("id") or 0 for task in tasks), default=0)
        observed = observe(self.api, self.target, self.clock)
        self._names_operations = observed.names_operations
        named = named_tasks(self.api, self.target, observed)
        all_known = self._earlier.completed([*listed, *named.entries], self._read_again)
        return Sight(observed, named, all_known, mark, _reach(tasks or []), tasks or [])

    def _read_again(self, task_id: int) -> Record | None:
        try:
            return self.api.task(task_id)
        except (NotFound, PermissionDenied):
            return None

    def _newest(self) -> list[Record] | None:
        unknown = f"whether a restart of {self.target.label} is running already"
        return self._if_permitted(unknown, lambda: self.target.listed(self.api, limit=NEWEST_TASKS))

    def _touching(self, tasks: list[Record]) -> list[TaskOnTarget]:
        """Those of the newest tasks that are on the target, and those that have run for long."""
        found = {entry.record["id"]: entry for entry in self.target.touching(self.api, tasks, limit=NEWEST_TASKS)}
        if not self._names_operations:
            found.update((entry.record["id"], entry) for entry in self.target.tasks(self.api, status=RUNNING))
        return [found[number] for number in sorted(found, reverse=True)]

    def judge(self, sight: Sight, since: datetime | None, values: ValuesSeen | None = None) -> Look:
        """What the sight means for a restart that has to have begun ``since`` then, or is for ``values``.

        Raises a ServiceError.
        """
        # The list of ended tasks may show one that has just begun, if the service ignores the filter.
        evidence = self._evidence(sight, since)
        operations, observed, failure = replace(sight, tasks=evidence).unfinished, sight.observed, None
        if observed.is_in_flight or observed.serves is False:
            failure = newest_failure(
                sight.tasks, operations, sight.newest_cause, self._with_subtasks, observed.troubled
            )
        holder = holder_of(observed, sight.named, operations, failure)
        finished = [] if since is None else list(self._finished(evidence, observed, since))
        if values is not None:
            finished += self._just_finished(sight.tasks, since or datetime.min.replace(tzinfo=UTC), finished)
        untold = None if since is None else untold_restart(self.target, evidence, since)
        reads_tasks, names_kind = sight.mark is not None, self.target.task_name is not None
        return Look(observed, operations, self.now, holder, finished, failure, reads_tasks, untold, names_kind, values)

    def _finished(
        self, evidence: Iterable[TaskOnTarget], observed: Observation, since: datetime
    ) -> Iterator[FinishedRestart]:
        """The restarts since then that are evidence where the start is not, or not yet, shown."""
        stale = observed.not_started_since(since)
        never_shown = any(member.started is None for member in stale)
        yield from self._restarts_among(evidence if stale else (), since, long_ago=never_shown)

    def _just_finished(
        self, tasks: Iterable[TaskOnTarget], since: datetime, known: Iterable[FinishedRestart]
    ) -> Iterator[FinishedRestart]:
        """The restarts since then that have just ended, so that nothing need show yet; without those known."""
        numbers = {task.task_id for task in known}
        left = [entry for entry in tasks if entry.record["id"] not in numbers]
        yield from self._restarts_among(left, since, long_ago=False)

    def _restarts_among(
        self, entries: Iterable[TaskOnTarget], since: datetime, *, long_ago: bool
    ) -> Iterator[FinishedRestart]:
        """The restarts since then that did their work; ``long_ago``: also those whose start should show by now."""
        for entry in entries:
            found = finished_restart(entry, Task.from_api(entry.record), since)
            if found is not None and (long_ago or self.now < found.due_until):
                detailed = self._with_subtasks(entry)
                checked = None if detailed is None else finished_restart(entry, detailed, since)
                if checked is not None:
                    yield checked

    def _evidence(self, sight: Sight, since: datetime | None) -> list[TaskOnTarget]:
        """The tasks among which the restarts since then are, or those whose start may still show late."""
        stale = [] if since is None else sight.observed.not_started_since(since)
        never_shown = any(member.started is None for member in stale)
        is_enough = not never_shown or (since is not None and sight.reach is not None and sight.reach < since)
        if not stale or (self.target.shows_start and is_enough):
            return sight.tasks
        # These may come from a replica that lags.
        found = {entry.record["id"]: entry for entry in (*self._all_finished(), *sight.tasks)}
        return list(found.values())

    def _all_finished(self) -> list[TaskOnTarget]:
        unknown = f"when the last restart of {self.target.label} was"
        return self._if_permitted(unknown, lambda: self.target.tasks(self.api, status=SUCCESSFUL)) or []

    def _with_subtasks(self, entry: TaskOnTarget) -> Task | None:
        listed = Task.from_api(entry.record)
        if listed.subtasks:
            return listed
        try:
            return Task.from_api(self.api.task(listed.id))
        except NotFound:
            return None

    def _if_permitted(self, unknown: str, read: Callable[[], Found]) -> Found | None:
        try:
            return read()
        except PermissionDenied as error:
            if not error.has_envelope:
                raise
            self.warnings.append(f"It is not known {unknown}: {error}")
            return None


def _shows_the_effect(sight: Sight) -> bool:
    """Whether each member has started since the begin of a restart of it that has not ended."""
    unended = (entry for entry in sight.tasks if not Task.from_api(entry.record).finished)
    begun = [(entry, begin) for entry in unended if (begin := instant(entry.record.get("startTime"))) is not None]

    def is_effect(member: Member) -> bool:
        return member.started is not None and any(
            begin <= member.started and (entry.restarts is None or member.name in entry.restarts)
            for entry, begin in begun
        )

    return bool(sight.observed.members) and all(map(is_effect, sight.observed.members))


def _older_than_before(api: OcpApi, target: Target) -> ResponseUnreadable:
    return ResponseUnreadable(
        f"For {UNSEEN_FOR:g} seconds the service has shown an older start of {target.label} than before, or "
        "nothing of it, so its answers are stale.",
        url=api.url,
        advice="Check it in OCP, then run this again when the service is healthy.",
    )


def _reach(newest: list[Record]) -> datetime | None:
    """The instant since which the newest tasks are complete."""
    return min((begin for task in newest if (begin := instant(task.get("startTime"))) is not None), default=None)
