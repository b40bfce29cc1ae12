# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What must hold in each run, judged by what has really happened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ModuleCrashed, OcpError
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.change import HOST_UNCERTAINTY
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import LISTED_FOR
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import UNSEEN_FOR
from ansible_collections.oceanbase.ocp.tests.explore.doubles import OURS, TIMEOUT
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import Job, Thing
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING

if TYPE_CHECKING:
    from ansible_collections.oceanbase.ocp.tests.explore.world import World

# What is read for gates, before the look.
GATE_READS = frozenset({"tenants", "tenant", "lag_samples"})
# After these a run waits, and succeeds.
HARMLESS = frozenset({"it is listed late", "it is shown late", "it shows its start late"})
# Seconds after which all that was late has shown.
SETTLED = 400.0


@dataclass(frozen=True)
class Break:
    """A promise that a run has broken, by its number ("progress": it does not do what it is for), and how."""

    promise: str
    words: str

    def __str__(self) -> str:
        return f"{self.promise}: {self.words}"


@dataclass
class Promises:
    """Follows one run. ``events`` have happened in it, ``made`` are the tasks that its requests started."""

    breaks: list[Break] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    made: list[Job] = field(default_factory=list)
    _posts_before: int = 0
    # Why there is no look that a request may go by; "" if there is one.
    _stale: str = "no look"
    _seen: frozenset[int] = frozenset()
    _expected: str = ""

    def _broken(self, promise: str, words: str) -> None:
        self.breaks.append(Break(promise, words))

    # While it runs

    def begins(self, world: World, pause: float) -> None:
        """A run begins, so long after what was before."""
        self.made, self._posts_before = [], len(world.service.posts)
        self._expected = _expected(world) if pause >= SETTLED or world.is_new else ""

    def looks(self, name: str) -> None:
        """A call; the list of tasks is read first in each look."""
        if name == "tasks":
            self._stale = ""
        elif name in GATE_READS:
            self._stale = "gates have read"

    def pauses(self) -> None:
        """What was read before a pause does not count."""
        self._stale = "it has paused"

    def sends(self, world: World, things: Sequence[Thing]) -> None:
        """A request has left, which has to be allowed."""
        if self._stale:
            self._broken("7", f"a request, and since the last look {self._stale}")
        self._stale = "it has sent one"
        if not any(row.task_id is None and row.outcome is None for row in world.journal.rows):
            self._broken("16", "a request that is not noted")
        self._check_held_back(world)
        for job in world.service.jobs:
            if any(thing in job.things for thing in things) and _is_known(world, job):
                words = _forbids(world, job, things)
                if words:
                    self._broken("6", f"a request although task {job.id} {words}")
        if world.setting.change or world.setting.dated:
            self._check_crashes(world, things)
        self._check_other_zones(world, things)

    def _check_held_back(self, world: World) -> None:
        """A request that may still be delivered: this process knows it for ever, others search for its task."""
        on_its_way = world.service.held_back
        if on_its_way is None or not world.journal.rows:
            return
        is_recent = world.service.now - on_its_way.sent < TIMEOUT + UNSEEN_FOR
        if is_recent or world.remembers_its_request:
            self._broken("8", "a request although an earlier one may still be delivered")

    def _check_crashes(self, world: World, things: Sequence[Thing]) -> None:
        """Starts of which no task tells, that show."""
        if all(_has_shown_to_start_by_itself(world, thing) for thing in things):
            self._broken("6", "a request although it has started since by itself")

    def _check_other_zones(self, world: World, things: Sequence[Thing]) -> None:
        """Promise 14: what a restart of ours takes down elsewhere at this moment."""
        if world.setting.safety is None:
            return
        zones = {thing.zone for thing in things}
        for job in world.service.jobs:
            others = {thing.zone for thing in job.things if thing in world.service.servers_there} - zones
            if others and not job.applied and _is_noted(world, job):
                self._broken("14", f"a request while our task {job.id} restarts a server of another zone")

    # At its end

    def failed(self, world: World, error: OcpError) -> None:
        """It has failed: it has to tell what was sent, and to have had a reason."""
        if isinstance(error, ModuleCrashed):
            self._broken("progress", f"it crashed: {error}")
        self._check_report(world, error.facts)
        if self._expected and HARMLESS.issuperset(self.events):
            self._broken("progress", f"it failed, although {self._expected}: {error}")

    def succeeded(self, world: World, result: Mapping[str, Any]) -> None:
        """It is green, which has to be true."""
        self._check_report(world, result)
        has_sent = len(world.service.posts) > self._posts_before
        if self._expected == NEVER_RESTARTED and HARMLESS.issuperset(self.events) and not has_sent:
            self._broken("progress", f"it sent nothing, although {self._expected}")
        if result["verified"] is not True:
            return
        for thing in world.target:
            if thing.status is not None:
                self._broken("1", f"verified, but {thing.id} does not serve")
            begin = _begin_of(world, thing)
            if begin is not None and not any(moment >= begin for moment in _starts(world, thing)):
                self._broken("1", f"verified, but {thing.id} has not started since the change")
            if any(world.service.is_held(thing, job) for job in world.service.jobs):
                self._broken("2", f"verified, but {thing.id} is held by a FAILED task")

    def _check_report(self, world: World, facts: Mapping[str, Any]) -> None:
        if any(job.end != "REFUSED" for job in self.made) and facts.get("changed") is not True:
            self._broken("12", "a request was carried out, and the result does not say that something changed")
        if facts.get("action") in ("submitted", "adopted") and facts.get("task_id") is not None:
            found = [job for job in world.service.jobs if job.id == facts["task_id"]]
            if any(job.creator != OURS for job in found) and world.service.shows_creators:
                self._broken("9", f"task {facts['task_id']} was taken for its own")


NEVER_RESTARTED = "nothing has restarted it, and nothing is open"
RESTARTED = "it has restarted since, it serves, and nothing is open"


def _expected(world: World) -> str:
    """Why a run has to succeed now, if nothing happens in it; "" if it need not."""
    service, setting = world.service, world.setting
    things = world.target
    is_open = service.held_back is not None or any(not job.applied for job in service.jobs)
    is_ill = service.hides_everything or any(
        thing.status is not None or thing.operated_by is not None or service.hides_start(thing) for thing in things
    )
    # A task that failed first, whose request is open, is told of once.
    is_open |= any(job.end == "REFUSED" and not _is_noted(world, job) for job in service.jobs)
    if is_open or is_ill or service.unread or world.remembers_its_request or setting.is_unclear or _is_forgotten(world):
        return ""
    if not service.restarts and not any(job.end != "REFUSED" for job in service.jobs):
        return NEVER_RESTARTED
    newest = next((job for job in reversed(service.jobs) if job.end != "REFUSED"), None)
    begun = [_begin_of(world, thing) for thing in things]
    has_restarted = all(
        begin is not None and any(moment > begin for moment in _starts(world, thing))
        for thing, begin in zip(things, begun, strict=True)
    )
    is_well = newest is not None and newest.end == "SUCCESSFUL" and not newest.skipped
    return RESTARTED if is_well and has_restarted else ""


def _is_forgotten(world: World) -> bool:
    """Whether a request is too old for the list to show its task: a run then fails, and names the way out."""
    now = BEGINNING.timestamp() + world.service.now - world.setting.clock_offset
    return any(row.task_id is None and row.outcome is None and now - row.at >= LISTED_FOR for row in world.journal.rows)


def _starts(world: World, thing: Thing) -> Iterator[float]:
    return (moment for number, moment, _job in world.service.restarts if number == thing.id)


def _begin_of(world: World, thing: Thing) -> float | None:
    """When the change began for a thing, by the clock of the service; None if it has not, or there is no change."""
    return world.since if world.setting.dated else _named_at(world, thing)


def _named_at(world: World, thing: Thing) -> float | None:
    """When its name was first used for a thing."""
    sights = (sight for (_change, key), sight in world.journal.first.items() if key.id == thing.id)
    first = next(sights, None)
    return None if first is None else first.at - BEGINNING.timestamp() + world.setting.clock_offset


def _has_shown_to_start_by_itself(world: World, thing: Thing) -> bool:
    """Whether its last start is one of which no task tells, and it was to be seen that it is since the change."""
    starts = [(moment, job) for number, moment, job in world.service.restarts if number == thing.id]
    if not starts or starts[-1][1] is not None:
        return False
    moment, named_at = starts[-1][0], _named_at(world, thing)
    is_after_name = named_at is not None and moment > named_at
    shown = moment + world.setting.hosts_ahead
    is_after_instant = world.setting.dated and shown > world.since + HOST_UNCERTAINTY + 1
    return moment < world.service.now and (is_after_name or is_after_instant)


def _is_noted(world: World, job: Job) -> bool:
    return any(row.task_id == job.id for row in world.journal.rows)


def _is_known(world: World, job: Job) -> bool:
    """Whether the controller that runs has to know a task as it is: it was listed, or it is one of its own.

    What a person does between the list and the request cannot be known.
    """
    listed = world.service.listed
    if job.id in listed and listed[job.id] == bool(job.skipped):
        return True
    if (world.knows(job) or _is_noted(world, job)) and job.id not in listed:
        return True
    is_ours = job.creator == OURS and any(
        row.task_id is None and row.outcome is None for row in world.journal.rows[:-1]
    )
    # Its request is open, and its task is searched for.
    return is_ours and world.service.is_readable(job.id)


def _forbids(world: World, job: Job, things: Sequence[Thing]) -> str:
    """What a task says against another restart of all these things; "" for nothing."""
    if not job.applied:
        return "is running"
    if job.end == "FAILED":
        return "has failed, and holds it" if any(world.service.is_held(thing, job) for thing in things) else ""
    if job.end != "SUCCESSFUL" or not (world.setting.change or world.setting.dated):
        return ""
    concerned = [thing for thing in things if thing in job.things]
    begun = {thing.id: _begin_of(world, thing) for thing in things}
    if job.skipped:
        is_since = all((begin := begun[thing.id]) is not None and job.started_at > begin for thing in concerned)
        return "has skipped a step" if is_since and not _restarted_all(world, concerned, begun) else ""
    is_of_all = all(
        thing in job.things and (begin := begun[thing.id]) is not None and job.started_at > begin for thing in things
    )
    return "has succeeded" if is_of_all or _restarted_all(world, things, begun) else ""


def _restarted_all(world: World, things: Sequence[Thing], begun: Mapping[int, float | None]) -> bool:
    return all(
        (begin := begun[thing.id]) is not None and any(moment > begin for moment in _starts(world, thing))
        for thing in things
    )
