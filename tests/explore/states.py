# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The state of a world between two runs: all that decides what can come, with ordinals in place of times."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable
from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.parsing import instant
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import FirstSight, RequestRow, Shown
from ansible_collections.oceanbase.ocp.tests.explore.doubles import Journal
from ansible_collections.oceanbase.ocp.tests.explore.world import World
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import Job, Thing
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING

# Seconds at which an age begins to mean something else: the limits of the plugins.
AGES = (30.0, 60.0, 64.0, 180.0, 190.0, 250.0, 310.0)
# The same for how long something is after the instant of the change.
SINCE = (-60.0, -1.0, 0.0, 60.0)

Ordinal = Callable[[float | None], Any]


def state_of(world: World) -> Any:
    """A hashable value; two worlds with the same go on alike."""
    ordinal = _ordinals(world)
    service = world.service
    on_its_way = service.held_back
    owner, kept, open_ones = world.process
    return (
        tuple(_job(job, world, ordinal) for job in service.jobs),
        tuple(_thing(thing, world, ordinal) for thing in service.everything),
        tuple((number, ordinal(moment), job) for number, moment, job in service.restarts),
        None if on_its_way is None else (ordinal(on_its_way.due), on_its_way.things, ordinal(on_its_way.sent)),
        tuple(_noted(journal, ordinal, world, (kept, open_ones)) for journal in world.journals),
        owner if kept or open_ones else None,
        world.events_left,
        service.hides_everything,
    )


def _ordinals(world: World) -> Ordinal:
    """What a time of the service is: its rank among all times, its age, and how it lies to the change."""
    service, now = world.service, world.service.now
    times = {job.started_at for job in service.jobs}
    times |= {thing.started for thing in service.everything if thing.started is not None}
    times |= {moment for _number, moment, _job in service.restarts}
    for journal in world.journals:
        times |= {_by_service(row.at, world) for row in journal.rows}
        times |= {_by_service(sight.at, world) for sight in journal.first.values()}
    ranks = {moment: rank for rank, moment in enumerate(sorted(times))}

    def ordinal(moment: float | None) -> Any:
        if moment is None:
            return None
        return ranks.get(moment, -1), bisect(AGES, now - moment), bisect(SINCE, moment - world.since)

    return ordinal


def _by_service(wall: float, world: World) -> float:
    return wall - BEGINNING.timestamp() + world.setting.clock_offset


def _job(job: Job, world: World, ordinal: Ordinal) -> Any:
    service, now = world.service, world.service.now
    until = tuple(now < hidden.get(job.id, 0.0) for hidden in (service.unlisted, service.unread))
    things = tuple(thing.id for thing in job.things)
    late = service.late_starts.get(job.id) if not job.applied else None
    ended = ordinal(job.started_at + job.seconds)
    return job.name, things, job.end, job.applied, job.skipped, job.creator, ordinal(job.started_at), ended, until, late


def _thing(thing: Thing, world: World, ordinal: Ordinal) -> Any:
    before = thing.shown_before
    shown = before[1:] if before is not None and before[0] > world.service.now else None
    return thing.operated_by, thing.status, ordinal(thing.started), thing.pid, shown and (ordinal(shown[0]), shown[1])


def _noted(journal: Journal, ordinal: Ordinal, world: World, tokens: tuple[frozenset[str], ...]) -> Any:
    sights = tuple(_sight(sight, ordinal, world) for sight in journal.first.values())
    rows = tuple(_row(row, ordinal, world, tokens) for row in journal.rows)
    return sights, rows, tuple(sorted(journal.facts.items(), key=repr))


def _sight(sight: FirstSight, ordinal: Ordinal, world: World) -> Any:
    return sight.member.address, _shown(sight.shown, ordinal), ordinal(_by_service(sight.at, world)), sight.tasks


def _row(row: RequestRow, ordinal: Ordinal, world: World, tokens: tuple[frozenset[str], ...]) -> Any:
    parts = tuple((key.address, _shown(shown, ordinal)) for key, shown in row.members)
    here = tuple(row.token in each for each in tokens)
    return parts, row.task_id, row.began is None, row.outcome, row.known, here, ordinal(_by_service(row.at, world))


def _shown(shown: Shown, ordinal: Ordinal) -> Any:
    start = instant(shown.start)
    return shown.pids, None if start is None else ordinal(float(round((start - BEGINNING).total_seconds())))
