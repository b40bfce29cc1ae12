# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Breadth first through all that can happen in a small world, by the code that restarts."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from ansible_collections.oceanbase.ocp.tests.explore.world import LATER, SOON, Break, ChosenEvents, Setting, World

# The run of a controller after a pause, and the events in it.
Part = tuple[int, float, tuple[str, ...]]


@dataclass
class Explored:
    """What was found in a world. ``depth`` is the largest number of runs; ``story`` is the shortest one of a break."""

    setting: Setting
    states: int = 0
    runs: int = 0
    depth: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    breaks: Counter[str] = field(default_factory=Counter)
    story: tuple[Break, list[str]] | None = None


def explore(setting: Setting) -> Explored:
    """All runs of a world, each state once."""
    found, seen, waiting = Explored(setting), set(), deque([()])
    while waiting:
        before = waiting.popleft()
        if len(before) >= setting.most_runs:
            continue
        for controller in range(setting.controllers):
            for pause in (SOON, LATER):
                for world, events in _runs(setting, before, controller, pause):
                    found.runs += 1
                    found.depth = max(found.depth, world.runs)
                    found.rules.update(world.rules)
                    _note_breaks(found, world)
                    state = world.state()
                    if not world.breaks and state not in seen:
                        seen.add(state)
                        waiting.append((*before, (controller, pause, events)))
    found.states = len(seen)
    return found


def replay(setting: Setting, parts: tuple[Part, ...]) -> World:
    """The world after these runs."""
    world = World(setting, ChosenEvents(()))
    for controller, pause, events in parts:
        world.choices = ChosenEvents(events)
        world.run(controller, pause)
    return world


def _runs(setting: Setting, before: tuple[Part, ...], controller: int, pause: float):
    """Each way in which one more run can go."""
    stack: list[tuple[str, ...]] = [()]
    while stack:
        world = replay(setting, before)
        world.rules.clear()
        world.choices = ChosenEvents(stack.pop())
        world.run(controller, pause)
        stack += world.choices.alternatives()
        yield world, tuple(world.choices.taken)


def _note_breaks(found: Explored, world: World) -> None:
    for broken in world.breaks:
        found.breaks[broken.promise] += 1
    if world.breaks and found.story is None:
        found.story = world.breaks[0], world.story
