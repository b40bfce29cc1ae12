# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Breadth first through all that can happen in a small world, by the code that restarts."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ansible_collections.oceanbase.ocp.tests.explore.events import ChosenEvents
from ansible_collections.oceanbase.ocp.tests.explore.promises import Break
from ansible_collections.oceanbase.ocp.tests.explore.states import state_of
from ansible_collections.oceanbase.ocp.tests.explore.world import Part, Setting, World, counted_decisions, running

# A run, and the events in it.
Taken = tuple[Part, tuple[str, ...]]


@dataclass
class Explored:
    """What was found in a world. ``depth`` is the largest number of runs, ``story`` the shortest one of a break.

    ``is_whole``: it ended because nothing new came, not because of ``most_runs``. ``seconds`` are of the processor.
    """

    name: str
    states: int = 0
    runs: int = 0
    depth: int = 0
    is_whole: bool = True
    seconds: float = 0.0
    rules: Counter[str] = field(default_factory=Counter)
    breaks: Counter[str] = field(default_factory=Counter)
    story: tuple[Break, list[str]] | None = None


def explore(setting: Setting, *, until_broken: bool = False) -> Explored:
    """All runs of a world, from each state once; ``until_broken`` ends with the first break."""
    began = time.process_time()
    found, waiting = Explored(setting.name), deque[tuple[World, tuple[Taken, ...]]]([(World(setting), ())])
    seen = {state_of(waiting[0][0])}
    with counted_decisions():
        while waiting and not (until_broken and found.story):
            world, path = waiting.popleft()
            if len(path) >= setting.most_runs:
                found.is_whole = False
                continue
            found.depth = max(found.depth, len(path) + 1)
            for part, events, after in _next(world):
                found.runs += 1
                found.rules.update(after.rules)
                taken = (*path, (part, events))
                if after.breaks:
                    _note_break(found, setting, taken, after.breaks)
                elif (state := state_of(after)) not in seen:
                    seen.add(state)
                    waiting.append((after, taken))
    found.states, found.seconds = len(seen), time.process_time() - began
    return found


def _next(world: World) -> Iterator[tuple[Part, tuple[str, ...], World]]:
    """Each way in which one more run can go, those with fewer events first."""
    for part in world.possible_parts():
        waiting = deque[tuple[str, ...]]([()])
        while waiting:
            after = world.copied(ChosenEvents(waiting.popleft()))
            with running(after):
                after.run(part)
            waiting += after.choices.alternatives()
            yield part, tuple(after.choices.taken), after


def _note_break(found: Explored, setting: Setting, taken: Sequence[Taken], breaks: Sequence[Break]) -> None:
    found.breaks.update(each.promise for each in breaks)
    if found.story is None:
        found.story = breaks[0], story_of(setting, taken)


def story_of(setting: Setting, taken: Sequence[Taken]) -> list[str]:
    """What happens in these runs, told; while decisions are counted."""
    world = World(setting)
    world.story = []
    for part, events in taken:
        world.choices = ChosenEvents(events)
        with running(world):
            world.run(part)
    return world.story
