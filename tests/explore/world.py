# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A small world: a service, people and controllers. All that may happen in it is a choice."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import own_notes, run
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import InFlight
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.explore.doubles import (
    PERSON,
    POLL_PAUSE,
    TIMEOUT,
    Journal,
    Service,
    VirtualTime,
)
from ansible_collections.oceanbase.ocp.tests.explore.events import ChosenEvents
from ansible_collections.oceanbase.ocp.tests.explore.promises import Break, Promises
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import Job, Thing
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING

CHANGE = "memory-2026-11-20"
POLICY = PollPolicy(900.0, 20.0, log_lines=0)
# Seconds between two runs: at once; when tasks have to show; when starts have to show, too.
SOON, MIDDLE, LATER = 1.0, 90.0, 400.0
# An event before another call is the same as one before the next of these.
DECIDING_READS = frozenset({"tasks", "servers", "arbitration_service"})
BY_PEOPLE = ("a person restarts it", "a person retries", "a person skips the step", "a person rolls it back")
ANSWERS = (
    "the answer is lost",
    "it never arrives",
    "it is held back",
    "it is held back for long",
    "it is refused",
    "429",
    "a proxy repeats it, and is refused",
)
OF_THE_TARGET = (
    "it crashes, and starts again",
    "it stops serving",
    "the service forgets its tasks",
    "its servers are shown no more",
)
OTHER_RUNS = "the other controller runs"


class Killed(BaseException):
    """The process of a run was killed."""


@dataclass(frozen=True)
class Setting:
    """One small world: what is restarted by how many controllers, and what may happen.

    ``selectors`` are what each controller restarts, the last also for those after it. ``prepare`` makes the service,
    and returns the things that each selector names. ``endings`` are those that a task of ours may have besides success.
    ``most_events`` happen in all runs together. ``shared``: the controllers share a journal.
    ``is_unclear``: it does not show enough to expect that a run succeeds.
    """

    name: str
    selectors: tuple[Selector, ...]
    prepare: Callable[[Service], Sequence[Sequence[Thing]]]
    change: str | None = CHANGE
    dated: bool = False
    controllers: int = 1
    shared: bool = True
    events: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    most_events: int = 1
    most_runs: int = 4
    pauses: tuple[float, ...] = (SOON, MIDDLE, LATER)
    in_flight: InFlight = InFlight.ATTACH
    wait: bool = True
    safety: Safety | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    clock_offset: float = 0.0
    hosts_ahead: float = 0.0
    second_ahead: float = 0.0
    is_unclear: bool = False


@dataclass(frozen=True)
class Part:
    """One run of a controller: after a pause, in the process of the run before or in a new one."""

    controller: int = 0
    pause: float = SOON
    same_process: bool = False


class World:
    """A world from its begin, with all that has happened in it; ``copied`` for each way in which it may go on."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.choices = ChosenEvents()
        self.time = VirtualTime()
        self.time.events = self
        self.service = Service(
            self.time,
            clock_offset=setting.clock_offset,
            user="admin",
            retry_after=POLL_PAUSE,
            timeout=TIMEOUT,
            hosts_ahead=setting.hosts_ahead,
            second_ahead=setting.second_ahead,
        )
        self.service.events, self.service.endings = self, setting.endings
        self.things = [[thing.id for thing in things] for things in setting.prepare(self.service)]
        self.journals = [Journal(self, self.time) for _each in range(1 if setting.shared else setting.controllers)]
        self.since = self.service.now
        self.events_left = setting.most_events
        self.promises = Promises()
        self.rules: Counter[str] = Counter()
        self.story: list[str] | None = None
        # Whose process the last run was in, what that remembers, and which of its requests have no known outcome.
        self.process: tuple[int, frozenset[str], frozenset[str]] = (0, frozenset(), frozenset())
        self._is_killed = self._is_nested = self.is_in_run = False
        self._waited_at = -1
        self._controller = 0
        self._sent_before: frozenset[str] = frozenset()
        self._was_killed = False
        # The tasks of answers that arrived, with the number of the journal that they were noted in.
        self.known: set[tuple[int, int]] = set()
        self._answered: int | None = None

    def copied(self, choices: ChosenEvents) -> World:
        """The same again, to go on by other choices."""
        new = copy.copy(self)
        new.choices = choices
        new.time = self.time.moved(new)
        new.service = self.service.copied(new.time, new)
        new.journals = [journal.copied(new, new.time) for journal in self.journals]
        new.promises = Promises()
        new.rules = Counter()
        return new

    @property
    def breaks(self) -> list[Break]:
        """The promises that the last run has broken."""
        return self.promises.breaks

    # Points

    def tell(self, line: str) -> None:
        """A line of the story, if it is wanted."""
        if self.story is not None:
            self.story.append(line)

    def happens(self, *options: str) -> str:
        """Let something happen here, or nothing; returns what the caller has to do itself."""
        if not self.events_left or not options:
            return ""
        possible = [each for each in options if self._is_possible(each)]
        chosen = self.choices.choose(possible) if possible else ""
        if chosen:
            self.events_left -= 1
            self.promises.events.append(chosen)
            self.tell(f"    !! {chosen}")
            self._perform(chosen)
        return chosen

    def _perform(self, chosen: str) -> None:
        if chosen == "kill":
            self._is_killed = True
            raise Killed
        if chosen == OTHER_RUNS:
            self._nested_run()
        elif chosen in BY_PEOPLE:
            self._act_as_person(chosen)
        elif chosen in OF_THE_TARGET:
            self._change_target(chosen)

    def _act_as_person(self, chosen: str) -> None:
        service, failed = self.service, self._failed
        if chosen == "a person restarts it":
            thing = self.target[0]
            service.begin(service.restart_of(thing), [thing], creator=PERSON)
        elif failed is not None and chosen == "a person retries":
            service.retry(failed)
        elif failed is not None and chosen == "a person skips the step":
            service.end_without(failed, "SUCCESSFUL", skipped=(2,))
        elif failed is not None:
            service.end_without(failed, "ROLLBACK")

    def _change_target(self, chosen: str) -> None:
        thing = self.target[0]
        if chosen == "it crashes, and starts again":
            self.service.restart_by_itself(thing)
        elif chosen == "it stops serving":
            thing.status = "UNAVAILABLE"
        elif chosen == "the service forgets its tasks":
            self.service.forget_ended()
        else:
            self.service.hides_everything = True

    def _is_possible(self, event: str) -> bool:
        if event in self.setting.endings:
            return True
        if event not in self.setting.events:
            return False
        if event == OTHER_RUNS:
            return self.setting.controllers > 1 and not self._is_nested and not self.journals[0].is_locked
        if event == "a person restarts it":
            return self.target[0].operated_by is None
        if event == "it stops serving":
            return self.target[0].status is None
        if event == "the service forgets its tasks":
            return any(job.applied and self.service.is_readable(job.id) for job in self.service.jobs)
        return event not in BY_PEOPLE[1:] or self._failed is not None

    @property
    def _failed(self) -> Job | None:
        return next((job for job in self.service.jobs if job.end == "FAILED" and job.applied), None)

    @property
    def target(self) -> list[Thing]:
        """What the controller that runs restarts."""
        wanted = self.things[min(self._controller, len(self.things) - 1)]
        return [thing for thing in self.service.everything if thing.id in wanted]

    def called(self, name: str) -> None:
        """A call of the service."""
        if not self.is_in_run:
            return
        self._ends_if_killed()
        if name in DECIDING_READS:
            self.happens(*BY_PEOPLE, *OF_THE_TARGET, OTHER_RUNS)
        self.tell(f"    {name}")
        self.promises.looks(name)

    def pauses(self) -> None:
        """Once in a wait is as good as each time."""
        self.promises.pauses()
        if self.is_in_run and self._waited_at != len(self.service.posts):
            self._waited_at = len(self.service.posts)
            self.happens("kill", OTHER_RUNS)

    def writes(self, what: str) -> None:
        """A write of the journal, or the sending that follows one."""
        self._ends_if_killed()
        # While the lock of a shared journal is held, no other controller runs.
        self.happens("kill", *([OTHER_RUNS] if self.setting.shared else []))
        self.tell(f"    {what}")

    def sent(self, things: Sequence[Thing]) -> None:
        """A request has left."""
        self.tell("    POST")
        self.promises.sends(self, things)

    def accepted(self, job: Job) -> None:
        """A request of the run has started a task."""
        self.promises.made.append(job)

    def answered(self, job: Job) -> None:
        """Its answer has arrived."""
        self._answered = job.id

    def noted(self) -> None:
        """What has arrived is in the journal."""
        if self._answered is not None:
            self.known = {*self.known, (self.journals.index(self.journal), self._answered)}
            self._answered = None

    def knows(self, job: Job) -> bool:
        """Whether the journal of the controller that runs had a task, whatever is in it now."""
        return (self.journals.index(self.journal), job.id) in self.known

    def _ends_if_killed(self) -> None:
        if self._is_killed:
            raise Killed

    # Runs

    def possible_parts(self) -> Iterator[Part]:
        """The runs that may come next."""
        owner, _kept, open_ones = self.process
        for controller in range(self.setting.controllers):
            for pause in self.setting.pauses:
                yield Part(controller, pause)
                if open_ones and controller == owner:
                    yield Part(controller, pause, same_process=True)

    def run(self, part: Part) -> None:
        """One run of a controller for the change."""
        self.service.passes(part.pause)
        process = ", in the same process" if part.same_process else ""
        self.tell(f"  controller {part.controller + 1} runs, {part.pause:g} s later{process}")
        own_notes.forget_process()
        rows_before = len(self.journal_of(part.controller).rows)
        mine: frozenset[str] = frozenset()
        if part.same_process:
            own_notes._SENT_HERE.update(self.process[1])
            mine = self.process[2]
        self._sent_before = mine
        self._was_killed = False
        self._play(part.controller, part.pause)
        if self._was_killed:
            self.process = (part.controller, frozenset(), frozenset())
            return
        rows = self.journal_of(part.controller).rows
        new = {row.token for row in rows[rows_before:]}
        open_ones = {row.token for row in rows if row.task_id is None and row.outcome is None}
        self.process = (part.controller, frozenset(own_notes._SENT_HERE), (mine | new) & open_ones)

    def journal_of(self, controller: int) -> Journal:
        """The journal that a controller writes."""
        return self.journals[min(controller, len(self.journals) - 1)]

    @property
    def journal(self) -> Journal:
        """That of the one that runs."""
        return self.journal_of(self._controller)

    @property
    def is_nested(self) -> bool:
        """Whether it runs while the other one does."""
        return self._is_nested

    @property
    def remembers_its_request(self) -> bool:
        """Whether the process that runs has sent a request in an earlier run, and its outcome is not known."""
        return bool(self._sent_before) and not self._is_nested

    @property
    def is_new(self) -> bool:
        """Whether nothing has happened yet."""
        return not self.service.jobs and not any(journal.rows for journal in self.journals)

    def _nested_run(self) -> None:
        kept = (self.promises, self._waited_at, self._controller, set(own_notes._SENT_HERE))
        own_notes.forget_process()
        self.promises = Promises(breaks=self.promises.breaks)
        self._is_nested = True
        self.tell("  the other controller runs meanwhile")
        try:
            self._play(1 - kept[2], 0.0)
        finally:
            self._is_nested = False
            self.promises, self._waited_at, self._controller = kept[:3]
            own_notes.forget_process()
            own_notes._SENT_HERE.update(kept[3])
            self.tell("  the first goes on")

    def _play(self, controller: int, pause: float) -> None:
        setting = self.setting
        since = BEGINNING + timedelta(seconds=self.since - setting.clock_offset) if setting.dated else None
        request = RestartRequest(
            check_mode=False,
            wait=setting.wait,
            policy=POLICY,
            change=setting.change,
            started_before=since,
            in_flight=setting.in_flight,
            safety=setting.safety,
            until_effective=setting.values,
        )
        self._controller, self._waited_at = controller, -1
        selector = setting.selectors[min(controller, len(setting.selectors) - 1)]
        self._answered = None
        self.promises.begins(self, pause)
        was_in_run, self.is_in_run = self.is_in_run, True
        try:
            result = run.restart_target(
                self.service,
                selector,
                request,
                self.time.clock,
                self.journal,  # type: ignore[arg-type]
            )
        except Killed:
            self.tell("  killed")
            self._was_killed = not self._is_nested
            own_notes.forget_process()
        except OcpError as error:
            self.tell(f"  failed: {error}")
            self.promises.failed(self, error)
        else:
            self.tell(f"  {result['action']}, verified {result['verified']}: {result['reason']}")
            self.promises.succeeded(self, result)
        finally:
            self.is_in_run = was_in_run
            self._is_killed = False


# Which world runs now, since the real loop calls the real ``decide``.
_RUNNING: list[World] = []


@contextmanager
def counted_decisions() -> Iterator[None]:
    """Count which rule has decided, in the world of ``running``, for as long as it is entered."""
    decide = run.decide

    def counted(known: Any, wish: Any) -> Any:
        decision = decide(known, wish)
        world = _RUNNING[-1]
        world.rules[decision.rule.name] += 1
        world.tell(f"    -> {decision.rule.name}, {decision.step.name}")
        return decision

    with mock.patch.object(run, "decide", counted):
        yield


@contextmanager
def running(world: World) -> Iterator[None]:
    """The world whose code runs now."""
    _RUNNING.append(world)
    try:
        yield
    finally:
        _RUNNING.pop()
