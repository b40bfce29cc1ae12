# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a small world is made of: virtual time, a service whose truth may be hidden for a while, a journal."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import Any, Protocol

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import SECOND, Clock
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import RequestRefused
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.parsing import instant
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.journal import Allows
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import (
    RUNNING,
    FirstSight,
    MemberKey,
    RequestRow,
    Wish,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.store import SqlJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.envelope import ApiResponse
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import (
    AGENTS,
    ARBITRATION,
    SERVER,
    FakeOcp,
    Job,
    Thing,
    lost,
    refused,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, FakeClock

OURS, PERSON = "admin", "dba"
# Seconds: how long a restart takes, how long a new start and a new task are not shown, how long a request is held back
# within the time in which its task is searched for, and beyond it.
LASTS, START_LATE, TASK_LATE, HELD_BACK, HELD_BACK_LONG = 4.0, 120.0, 30.0, 30.0, 300.0
# Seconds. The least pause between two polls, and how long a request may last: so that a run needs few looks.
# A restart's step that starts something, and that start, so long before the end.
STARTING, STARTS = 2.0, 1.5
POLL_PAUSE, TIMEOUT = 10.0, 4.0
NEVER = float("inf")
DELAYS = ("it shows its start late", "it never shows its start", "it is listed late", "it is shown late")


class Events(Protocol):
    """The world, as its doubles see it."""

    def called(self, name: str) -> None:
        """Before a call of the service."""

    def sent(self, things: Sequence[Thing]) -> None:
        """A request has left."""

    def accepted(self, job: Job) -> None:
        """A request of the run has started a task."""

    def answered(self, job: Job) -> None:
        """Its answer has arrived."""

    def noted(self) -> None:
        """Something was written that the run knows of its request."""

    def happens(self, *options: str) -> str:
        """Which of these happens here; "" for none."""

    def writes(self, what: str) -> None:
        """Before something that lasts."""

    def pauses(self) -> None:
        """Before a pause."""


class VirtualTime(FakeClock):
    """Moves only in pauses."""

    events: Events

    def moved(self, events: Events) -> VirtualTime:
        """A copy for another world."""
        new = VirtualTime()
        new.time, new.events = self.time, events
        return new

    def _sleep(self, seconds: float) -> None:
        self.events.pauses()
        self.time += seconds


@dataclass(frozen=True)
class Delivery:
    """A request that something on the way delivers at a time of the service; ``sent`` at another."""

    due: float
    sent: float
    name: str
    things: tuple[int, ...]


class KnownClock(ServiceClock):
    """A clock of which nothing more will be learnt, so that its bounds are computed once."""

    def __init__(self, known: ServiceClock) -> None:
        vars(self).update(vars(known))

    offset = cached_property(ServiceClock.offset.fget)  # type: ignore
    # By what it is now, for bugs that are put back.
    bounds = cached_property(lambda self: ServiceClock.bounds.fget(self))  # type: ignore # pylint: disable=unnecessary-lambda
    uncertainty = cached_property(ServiceClock.uncertainty.fget)  # type: ignore
    agreed = cached_property(ServiceClock.agreed.fget)  # type: ignore
    is_doubtful = cached_property(ServiceClock.is_doubtful.fget)  # type: ignore


@dataclass
class Service(FakeOcp):
    """The service of a world. ``jobs`` and the things have the truth; what is shown of it may be late.

    Tasks that are ``unlisted`` or ``unread`` are not shown until then, ``late_starts`` are those of tasks whose start
    shows late by so many seconds. ``restarts`` are all that have really happened: of which thing, when, by which task
    (None: by itself). ``held_back`` is a request on its way. ``hosts_ahead`` are the seconds by which the clocks of
    database hosts are ahead. A second application server, whose clock is ``second_ahead`` of the first, writes the
    times of every other task.
    """

    unlisted: dict[int, float] = field(default_factory=dict)
    unread: dict[int, float] = field(default_factory=dict)
    late_starts: dict[int, float] = field(default_factory=dict)
    restarts: list[tuple[int, float, int | None]] = field(default_factory=list)
    held_back: Delivery | None = None
    hosts_ahead: float = 0.0
    second_ahead: float = 0.0
    shows_creators: bool = True
    reads_tasks: bool = True
    hides_everything: bool = False
    # The tasks that the list has shown last, and which of them had a step skipped.
    listed: dict[int, bool] = field(default_factory=dict)

    events: Events = field(init=False)
    endings: tuple[str, ...] = field(init=False, default=())

    def copied(self, time: VirtualTime, events: Events) -> Service:
        """A copy for another world."""
        new = copy.copy(self)
        new.time, new.events = time, events
        fresh = {
            id(thing): copy.copy(thing)
            for things in (self.servers_there, self.agents_there, self.arbitration)
            for thing in things
        }
        new.servers_there = [fresh[id(thing)] for thing in self.servers_there]
        new.agents_there = [fresh[id(thing)] for thing in self.agents_there]
        new.arbitration = [fresh[id(thing)] for thing in self.arbitration]
        new.jobs = [copy.copy(job) for job in self.jobs]
        for job in new.jobs:
            job.things = [fresh[id(thing)] for thing in job.things]
        new.posts, new.calls, new.restarts = list(self.posts), [], list(self.restarts)
        new.unlisted, new.unread, new.late_starts = dict(self.unlisted), dict(self.unread), dict(self.late_starts)
        new.parameters = self.parameters
        return new

    @cached_property
    def service_clock(self) -> ServiceClock:  # type: ignore[override]
        if not self.second_ahead:
            return KnownClock(super().service_clock)
        both, received = ServiceClock(), BEGINNING.timestamp()
        for server, ahead in {"first": 0.0, "second": self.second_ahead}.items():
            completed = BEGINNING + timedelta(seconds=self.clock_offset + ahead)
            both.shown(completed, received + SECOND, received, server)
        return KnownClock(both)

    # Truth

    def begin(self, name: str, things: list[Thing], **more: Any) -> Job:  # type: ignore[override]
        return super().begin(name, things, **{"creator": OURS, "seconds": LASTS, **more})

    def restart_by_itself(self, thing: Thing) -> None:
        """The process crashes, and is started again."""
        self._start(thing, self.now, None)

    def retry(self, job: Job) -> None:
        """A person lets a FAILED task go on."""
        job.end, job.applied, job.seconds = "SUCCESSFUL", False, self.now - job.started_at + LASTS

    def end_without(self, job: Job, end: str, skipped: tuple[int, ...] = ()) -> None:
        """A person ends a FAILED task without a restart."""
        job.end, job.skipped = end, skipped
        self._release(job)

    def forget_ended(self) -> None:
        """The service shows its ended tasks no more, but for those that hold something."""
        forgotten = dict.fromkeys((job.id for job in self.jobs if job.applied and job.end != "FAILED"), NEVER)
        self.unread.update(forgotten)
        self.unlisted.update(forgotten)

    def is_readable(self, number: int) -> bool:
        """Whether a task is shown by its id."""
        return self.now >= self.unread.get(number, 0.0)

    def restart_of(self, thing: Thing) -> str:
        """What the service calls a restart of that alone."""
        return ARBITRATION if thing in self.arbitration else AGENTS if thing in self.agents_there else SERVER

    def is_held(self, thing: Thing, job: Job) -> bool:
        """Whether a FAILED task holds a thing, and that is shown."""
        is_named = self.names_operations and thing not in self.agents_there
        return is_named and job.applied and job.end == "FAILED" and thing.operated_by == job.id

    def hides_start(self, thing: Thing) -> bool:
        """Whether the start of before is shown."""
        return thing.shown_before is not None and self.now < thing.shown_before[0]

    # What is called

    def task(self, task_id: int) -> dict[str, Any]:
        self._called("task")
        if not self.reads_tasks:
            raise refused(403)
        found = next((job for job in self.jobs if job.id == task_id and self.is_readable(job.id)), None)
        if found is None:
            raise refused(404)
        return self._record(found)

    def tasks(self, limit: int | None = None, above: int = 0, **filters: Any) -> list[dict[str, Any]]:
        self._called("tasks")
        if not self.reads_tasks:
            error = refused(403)
            error.has_envelope = True
            raise error
        there = [job for job in reversed(self.jobs) if self.now >= self.unlisted.get(job.id, 0.0) and job.id > above]
        self.listed = {job.id: bool(job.skipped) for job in there}
        found = [self._record(job) for job in there if self._passes(job, filters)][:limit]
        # Only a task itself shows its steps.
        return [{name: value for name, value in record.items() if name != "subtasks"} for record in found]

    def servers(self, cluster_id: int) -> list[dict[str, Any]]:
        return [] if self.hides_everything else super().servers(cluster_id)

    # Inside

    def _called(self, name: str) -> None:
        self.events.called(name)
        self._move_on()

    def _post(self, call: str, sent: Any, name: str, things: list[Thing]) -> ApiResponse:
        self.posts.append((call, sent))
        self._move_on()
        self.events.sent(things)
        self._leave(name, things)
        job = self.begin(name, things)
        self.events.accepted(job)
        end = self.events.happens(*self.endings, *DELAYS)
        self._set(job, end)
        # A repetition that is refused while the task does not show yet cannot be told from a plain refusal.
        repeated = () if job.id in self.unlisted else ("a proxy repeats it, and is refused",)
        answer = self.events.happens("the answer is lost", *repeated)
        if answer:
            raise lost() if answer == "the answer is lost" else _busy()
        self.events.answered(job)
        return ApiResponse(self._record(job), self.url, "trace-post")

    def _leave(self, name: str, things: list[Thing]) -> None:
        """The request is on its way."""
        way = self.events.happens(
            "it never arrives", "it is held back", "it is held back for long", "it is refused", "429"
        )
        if way.startswith("it is held back"):
            seconds = HELD_BACK_LONG if way.endswith("long") else HELD_BACK
            ids = tuple(thing.id for thing in things)
            self.held_back = Delivery(self.now + seconds, self.now, name, ids)
        if way == "429":
            limit = refused(429)
            limit.retry_after = 1.0  # type: ignore[attr-defined]
            raise limit
        if way:
            raise _busy() if way == "it is refused" else lost()

    def _set(self, job: Job, happened: str) -> None:
        if happened == "it skips a step":
            job.skipped = (2,)
        elif happened in self.endings:
            job.end = _END[happened]
            if job.end == "REFUSED":
                self._release(job)
        elif happened.endswith("shows its start"):
            self.late_starts[job.id] = NEVER
        elif happened.endswith("shows its start late"):
            self.late_starts[job.id] = START_LATE
        elif happened:
            self.unlisted[job.id] = self.now + TASK_LATE
        if happened == "it is shown late":
            self.unread[job.id] = self.now + TASK_LATE
            self.late_starts[job.id] = TASK_LATE

    def _move_on(self) -> None:
        on_its_way = self.held_back
        if on_its_way is not None and self.now >= on_its_way.due:
            self.held_back = None
            self.begin(on_its_way.name, [thing for thing in self.everything if thing.id in on_its_way.things])
        for job in self.jobs:
            if not job.applied and self.now >= job.started_at + self._lasts(job):
                self._apply(job)

    def _apply(self, job: Job) -> None:
        job.applied = True
        if job.end == "SUCCESSFUL" and not job.skipped:
            for thing in job.things:
                self._start(thing, job.started_at + self._lasts(job), job)
        if job.end in ("SUCCESSFUL", "ROLLBACK"):
            self._release(job)

    def _start(self, thing: Thing, ended: float, job: Job | None) -> None:
        late = self.late_starts.get(job.id, 0.0) if job else 0.0
        thing.shown_before = (ended + late, thing.started, thing.pid) if late else None
        moment = ended if job is None else ended - STARTS
        thing.pid += 1
        if thing not in self.arbitration:
            thing.started = moment
        elif job is None:
            return
        else:
            # Only the task is seen.
            moment = job.started_at
        self.restarts.append((thing.id, moment, None if job is None else job.id))

    def _release(self, job: Job) -> None:
        for thing in job.things:
            thing.operated_by = None if thing.operated_by == job.id else thing.operated_by

    @property
    def everything(self) -> list[Thing]:
        return [*self.servers_there, *self.agents_there, *self.arbitration]

    def _operating(self, task_id: int | None) -> dict[str, Any]:
        is_shown = task_id is None or self.is_readable(task_id)
        return super()._operating(task_id if is_shown else None)

    def _record(self, job: Job, lag: float = 0.0) -> dict[str, Any]:
        record = super()._record(job, lag)
        if not job.applied and job.end != "REFUSED" and self.now >= job.started_at + self._lasts(job) - STARTING:
            for subtask, status in zip(record["subtasks"], ("SUCCESSFUL", "RUNNING"), strict=True):
                subtask["status"] = status
        if not self.shows_creators:
            record.pop("creator", None)
        if job.id % 2:
            for each in (record, *record["subtasks"]):
                each.update((name, self._by_second(each[name])) for name in ("startTime", "finishTime") if name in each)
        return record

    def _by_second(self, time: str | None) -> str | None:
        """A time as the second application server writes it."""
        found = instant(time)
        return found and (found + timedelta(seconds=self.second_ahead)).isoformat(timespec="milliseconds")

    def _shown(self, thing: Thing) -> tuple[float | None, int]:
        started, pid = super()._shown(thing)
        return None if started is None else started + self.hosts_ahead, pid


def _busy() -> RequestRefused:
    error = refused(409)
    error.is_busy = True
    return error


# How a task of ours may end, and what that is to the double.
_END = {
    "it fails first": "REFUSED",
    "it fails later": "FAILED",
    "it is rolled back": "ROLLBACK",
}
ENDINGS = (*_END, "it skips a step")


class Journal:
    """The journal of a world, in plain values; see ``Journal`` of the plugins. A kill may come before each write."""

    place = "in memory"
    is_shared = False
    is_of_service = SqlJournal.is_of_service

    def __init__(self, events: Events, time: VirtualTime) -> None:
        self._events, self._time = events, time
        self.first: dict[tuple[str, MemberKey], FirstSight] = {}
        self.rows: list[RequestRow] = []
        self.facts: dict[tuple[str | int, ...], str] = {}
        self.is_locked = False

    def copied(self, events: Events, time: VirtualTime) -> Journal:
        """A copy for another world."""
        new = Journal(events, time)
        new.first, new.rows, new.facts = dict(self.first), list(self.rows), dict(self.facts)
        return new

    @contextmanager
    def lock(self, _names: Sequence[str], _clock: Clock, _timeout: float) -> Iterator[None]:
        assert not self.is_locked, "the lock is held, and is asked for again"
        self.is_locked = True
        try:
            yield
        finally:
            self.is_locked = False

    def renew(self) -> None:
        """Nothing: it is not lost."""

    def sights(self, change: str, members: Iterable[MemberKey]) -> dict[MemberKey, FirstSight]:
        return {key: self.first[change, key] for key in members if (change, key) in self.first}

    def check(self, _change: str, _wish: Wish, _members: Iterable[MemberKey]) -> None:
        """There is one wish."""

    def register(self, change: str, _wish: Wish, sights: Sequence[FirstSight]) -> None:
        new = {}
        for sight in sights:
            earlier = self.first.get((change, sight.member))
            kept = sight if earlier is None else earlier.completed_by(sight)
            if kept != earlier:
                new[change, sight.member] = kept
        if new:
            self._events.writes("the name is noted")
            self.first.update(new)

    def requests(self, members: Iterable[MemberKey]) -> list[RequestRow]:
        wanted = set(members)
        return [row for row in self.rows if any(key in wanted for key, _shown in row.members)]

    def down(self) -> list[RequestRow]:
        return [row for row in self.rows if row.takes_down]

    def begin(self, row: RequestRow, allows: Allows | None = None) -> int | None:
        if allows is not None and not allows(self.down()):
            return None
        self._events.writes("the request is noted")
        number = len(self.rows) + 1
        self.rows.append(replace(row, number=number))
        self._events.writes("the request is sent")
        return number

    def note(self, number: int, **told: Any) -> None:
        known = {name: value for name, value in told.items() if value is not None}
        # That servers are back decides nothing but caps, and here are none.
        if known.keys() != {"back"}:
            self._events.writes("the outcome is noted")
            self._events.noted()
        self.rows[number - 1] = self.rows[number - 1].with_facts(**known)

    def claim(self, number: int, task_id: int, began: str | None) -> bool:
        mine = self.rows[number - 1]
        claimed = replace(mine, task_id=task_id, began=began, outcome=RUNNING)
        others = self.requests(key for key, _shown in mine.members)
        if mine.task_id is not None or any(claimed.has_same_task(row) for row in others if row.number != number):
            return False
        self.note(number, task_id=task_id, began=began, outcome=RUNNING)
        return True

    def remember(self, kind: str, key: Sequence[str | int], value: str) -> None:
        if self.facts.get((kind, *key)) != value:
            self._events.writes("a fact is noted")
            self.facts[kind, *key] = value

    def recall(self, kind: str, key: Sequence[str | int]) -> str | None:
        return self.facts.get((kind, *key))

    def forget(self, kind: str, key: Sequence[str | int]) -> None:
        self.facts.pop((kind, *key), None)
