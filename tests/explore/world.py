# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A small world: a service, people and controllers, whose events are choices; and what must hold in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError, RequestRefused
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.envelope import ApiResponse
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import run
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import forget_process
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER, FakeOcp, Job, Thing, lost
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, FakeClock

CHANGE = "memory-2026-11-20"
POLICY = PollPolicy(900.0, 20.0)
OURS, PERSON = "admin", "dba"
# Seconds. Older than this, nothing that ended decides by its age.
OLD = 1000.0
# Seconds that a restart takes.
SECONDS = 3.0
# Seconds for which an old start is shown.
LATE = 60.0
SKIPPED = "ends SKIPPED"
# Seconds between two runs.
SOON, LATER = 1.0, 400.0
# Before other calls, an event is the same as before the next of these.
DECIDING_READS = frozenset({"tasks", "servers", "arbitration_service"})


class Killed(BaseException):
    """The process of a run was killed."""


@dataclass(frozen=True)
class Setting:
    """One small world: what is restarted by how many controllers, and what may happen how often in all its runs.

    ``endings`` are those a task of ours may have besides SUCCESSFUL, each an event. ``shared``: controllers share a
    journal. ``hosts_ahead``: seconds by which the clocks of database hosts are ahead of the service.
    """

    name: str
    selector: Selector
    things: Callable[[FakeOcp], Sequence[Thing]]
    change: str | None = CHANGE
    dated: bool = False
    controllers: int = 1
    shared: bool = True
    events: tuple[str, ...] = ("kill", "lost", "person", "late start")
    endings: tuple[str, ...] = ()
    most_events: int = 2
    most_runs: int = 3
    clock_offset: float = 0.0
    hosts_ahead: float = 0.0


@dataclass(frozen=True)
class Break:
    """A promise that a run has broken, and how."""

    promise: str
    words: str


class ChosenEvents:
    """Which event happens at each point: those of the path, then none; ``open_points`` are the others there were."""

    def __init__(self, path: Sequence[str]) -> None:
        self._path = path
        self.taken: list[str] = []
        self.open_points: list[tuple[int, str]] = []

    def choose(self, options: Sequence[str]) -> str:
        """The event at this point, "" for none."""
        number = len(self.taken)
        chosen = self._path[number] if number < len(self._path) else ""
        if number >= len(self._path):
            self.open_points += [(number, option) for option in options]
        self.taken.append(chosen)
        return chosen

    def alternatives(self) -> Iterator[tuple[str, ...]]:
        """The paths that differ from this one by one more event."""
        for number, option in self.open_points:
            yield (*self.taken[:number], option)


class Service(FakeOcp):
    """The service of a world; each call of it is a point at which something may happen."""

    world: World

    def begin(self, name: str, things: list[Thing], **more: Any) -> Job:
        return super().begin(name, things, **{"creator": OURS, **more})

    def _called(self, name: str) -> None:
        if self.world.is_in_run:
            self.world.called(name)
        super()._called(name)

    def _post(self, call: str, sent: Any, name: str, things: list[Thing]) -> ApiResponse:
        self.world.sent(things)
        happened = self.world.happens(*(f"ends {end}" for end in self.world.setting.endings), "late start", "lost")
        self.end, self.start_shown_late = "SUCCESSFUL", 0.0
        if happened.startswith("ends ") and happened != SKIPPED:
            self.end = happened.removeprefix("ends ")
        elif happened == "late start":
            self.start_shown_late = LATE
        answer = super()._post(call, sent, name, things)
        if happened == SKIPPED:
            self.jobs[-1].skipped = (2,)
        if happened == "lost":
            raise lost()
        return answer

    def _move_on(self) -> None:
        """One after another: a task whose step was skipped restarts nothing."""
        everything = self.jobs
        for job in everything:
            self.jobs, self.restarts_really = [job], not job.skipped
            super()._move_on()
        self.jobs = everything

    def _shown(self, thing: Thing) -> tuple[float | None, int]:
        started, pid = super()._shown(thing)
        return None if started is None else started + self.world.setting.hosts_ahead, pid


class Journal(MemoryJournal):
    """The journal of a world; a kill may come before and after each write."""

    def __init__(self, world: World) -> None:
        super().__init__(world.time.clock)
        self._world = world

    def register(self, *arguments: Any) -> None:
        self._world.writes("register")
        super().register(*arguments)

    def begin(self, row: Any) -> int:
        self._world.writes("note the request")
        number = super().begin(row)
        self._world.writes("send")
        return number

    def note(self, *arguments: Any, **values: Any) -> None:
        self._world.writes("note the outcome")
        super().note(*arguments, **values)


@dataclass
class World:
    """A world from its begin, with all that has happened in it."""

    setting: Setting
    choices: ChosenEvents
    breaks: list[Break] = field(default_factory=list)
    story: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    runs: int = 0
    events_left: int = 0
    is_in_run: bool = False

    def __post_init__(self) -> None:
        self.time = FakeClock()
        self.events_left = self.setting.most_events
        self.service = Service(self.time, clock_offset=self.setting.clock_offset, user=OURS, seconds=SECONDS)
        self.service.world = self
        self.things = list(self.setting.things(self.service))
        first = Journal(self)
        self.journals = [first if self.setting.shared else Journal(self) for _each in range(self.setting.controllers)]
        self.journals[0] = first
        self.since = self.service.now
        self._is_killed = self._is_nested = False
        self._last_look = -1
        self._waits_since = -1
        self.time.after_sleep = self._sleeps
        self.time.time += SOON

    # Points

    def happens(self, *options: str) -> str:
        """Let something happen here, or nothing; returns what the caller has to do itself."""
        possible = [each for each in options if self.events_left and self._is_possible(each)]
        chosen = self.choices.choose(possible) if possible else ""
        if not chosen:
            return ""
        self.events_left -= 1
        self.story.append(f"    {chosen}")
        if chosen == "kill":
            self._is_killed = True
            raise Killed
        if chosen == "person":
            self.service.begin(SERVER, [self.things[0]], creator=PERSON, seconds=SECONDS)
        if chosen == "person retries":
            self._retry()
        if chosen == "other controller":
            self._nested_run()
        return chosen

    def called(self, name: str) -> None:
        """A call of the service."""
        if self._is_killed:
            raise Killed
        if name in DECIDING_READS:
            self.happens("person", "person retries", "other controller")
        self.story.append(f"    {name}")
        if name == "tasks":
            self._last_look = len(self.service.jobs)

    def _sleeps(self) -> None:
        """Once in a wait is as good as each time."""
        if self.is_in_run and self._waits_since != len(self.service.posts):
            self._waits_since = len(self.service.posts)
            self.happens("kill")

    def writes(self, what: str) -> None:
        """A write of the journal, or the sending that follows one."""
        if self._is_killed:
            raise Killed
        self.happens("kill")
        self.story.append(f"    {what}")

    def sent(self, things: Sequence[Thing]) -> None:
        """A request that is carried out: what was to be seen before the last look forbids it."""
        seen = self.service.jobs[: max(self._last_look, 0)]
        for job in seen:
            if job.started_at < self.since or not any(thing in job.things for thing in things):
                continue
            words = self._forbids(job)
            if words:
                self.breaks.append(Break("6", f"a request although task {job.id} {words}"))

    def _forbids(self, job: Job) -> str:
        if not job.applied:
            return "was running"
        if job.end == "SUCCESSFUL":
            return "had skipped a step" if job.skipped else "had succeeded"
        return "had failed, and holds it" if job.end == "FAILED" else ""

    def _is_possible(self, event: str) -> bool:
        if event.startswith("ends "):
            return True
        if event not in self.setting.events:
            return False
        if event == "other controller":
            return self.setting.controllers > 1 and not self._is_nested
        if event == "person retries":
            return any(job.end == "FAILED" and job.applied for job in self.service.jobs)
        return True

    def _retry(self) -> None:
        failed = next(job for job in self.service.jobs if job.end == "FAILED" and job.applied)
        failed.end, failed.applied, failed.seconds = "SUCCESSFUL", False, self.service.now - failed.started_at + SECONDS

    # Runs

    def run(self, controller: int, pause: float) -> None:
        """One run of a controller for the change, after a pause."""
        self.service.passes(pause)
        self.story.append(f"  controller {controller + 1} runs, {pause:g} s later")
        self._play(controller)
        self.runs += 1

    def _nested_run(self) -> None:
        kept = self._last_look
        self._is_nested = True
        self.story.append("  the other controller runs meanwhile")
        try:
            self._play(1)
        finally:
            self._is_nested = False
            self._is_killed = False
            self._last_look = kept

    def _play(self, controller: int) -> None:
        request = RestartRequest(
            check_mode=False,
            wait=True,
            policy=POLICY,
            change=self.setting.change,
            started_before=BEGINNING + timedelta(seconds=self.since - self.setting.clock_offset)
            if self.setting.dated
            else None,
        )
        self._last_look = self._waits_since = -1
        was_in_run, self.is_in_run = self.is_in_run, True
        sent = len(self.service.posts)
        try:
            with self._counting():
                result = run.restart_target(
                    self.service, self.setting.selector, request, self.time.clock, self.journals[controller]
                )
        except Killed:
            if self._is_nested and not self._is_killed:
                raise
            self._is_killed = False
            self.story.append("  killed")
        except OcpError as error:
            self._check_failure(error, len(self.service.posts) > sent)
        else:
            self._check_result(result)
        finally:
            self.is_in_run = was_in_run
            forget_process()

    @contextmanager
    def _counting(self) -> Iterator[None]:
        decide = run.decide

        def counted(known: Any, wish: Any) -> Any:
            decision = decide(known, wish)
            self.rules.append(decision.rule.name)
            self.story.append(f"    -> {decision.rule.name}, {decision.step.name}")
            return decision

        with mock.patch.object(run, "decide", counted):
            yield

    def _check_result(self, result: dict[str, Any]) -> None:
        self.story.append(f"  {result['action']}, verified {result['verified']}: {result['reason']}")
        if result["verified"] is not True:
            return
        for thing in self.things:
            if thing.started is not None and thing.started < self.since:
                self.breaks.append(Break("1", f"verified, but {thing.id} has not started since the change"))
            held = any(job.end == "FAILED" and job.applied and thing in job.things for job in self.service.jobs)
            if held and thing.operated_by is not None:
                self.breaks.append(Break("2", f"verified, but {thing.id} is held by a FAILED task"))

    def _check_failure(self, error: OcpError, has_sent: bool) -> None:
        self.story.append(f"  failed: {error}")
        facts = error.facts
        if has_sent and facts.get("changed") is not True and not isinstance(error, RequestRefused):
            refused_first = any(job.end == "REFUSED" for job in self.service.jobs)
            if not refused_first:
                self.breaks.append(Break("12", "a request was sent, and the result does not say so"))

    # The state that decides what can come

    def state(self) -> tuple[Any, ...]:
        """All that decides what can happen next, with ages in place of times."""
        now = self.service.now
        jobs = tuple(
            (
                job.id,
                job.name,
                tuple(thing.id for thing in job.things),
                job.end,
                job.applied,
                job.skipped,
                job.creator,
                _age(now - job.started_at),
            )
            for job in self.service.jobs
        )
        things = tuple(
            (
                thing.id,
                thing.operated_by,
                None if thing.started is None else _age(now - thing.started),
                thing.pid,
                thing.shown_before is not None and thing.shown_before[0] > now,
            )
            for thing in self.service.servers_there
        )
        journals = tuple(_entries(journal, self.time.clock.wall()) for journal in dict.fromkeys(self.journals))
        return (jobs, things, journals, self.events_left, self.runs)


def _age(seconds: float) -> float:
    return min(round(seconds), OLD)


def _entries(journal: MemoryJournal, now: float) -> str:
    found = journal.entries()
    for kind in found.values():
        for entry in kind:
            entry.pop("token", None)
            if "at" in entry:
                entry["at"] = _age(now - entry["at"])
            for sight in entry.get("sights", ()):
                sight["at"] = _age(now - sight["at"])
    return repr(found)
