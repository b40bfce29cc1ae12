# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How long each step of a task takes: by its name, by the name of its task, or as every other step; and by chance.

The time of a whole task is divided among its steps in proportion to their time-outs, after those that have a time of
their own. No step takes longer than its time-out.
"""

import random
import sqlite3
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, field_validator

from ocp_emulator.base.clock import DAY, SECOND
from ocp_emulator.schemas.schema import Schema
from ocp_emulator.tasks.blueprints import BLUEPRINTS
from ocp_emulator.tasks.subtask_graph import Blueprint

_KEY = "durations"
LONGEST = DAY // SECOND

Seconds = Annotated[float, Field(ge=0, le=LONGEST, strict=True)]


def _longest_tasks() -> dict[str, int]:
    """The seconds that the time-outs of a task allow in every version."""
    found: dict[str, int] = {}
    for blueprint in BLUEPRINTS:
        allowed = sum(step.timeout for step in blueprint.steps)
        found[blueprint.task_name] = min(allowed, found.get(blueprint.task_name, allowed))
    return found


_TASKS: Mapping[str, int] = _longest_tasks()
_SUBTASKS: Mapping[str, int] = {
    step.description: step.timeout
    for step in sorted((step for blueprint in BLUEPRINTS for step in blueprint.steps), key=lambda step: step.timeout)
}


class Durations(Schema):
    """How long the steps of new tasks take, in seconds.

    `tasks` has whole tasks by their names, `subtasks` steps by theirs. What has no name there takes `stepSeconds`. With
    a `jitter` of 0.2, each step takes 20 % more or less at most; the same `seed` decides the same.
    """

    step_seconds: Seconds = 1.0
    tasks: dict[str, Seconds] = Field(default_factory=dict)
    subtasks: dict[str, Seconds] = Field(default_factory=dict)
    jitter: Annotated[float, Field(ge=0, le=1, strict=True)] = 0.0
    seed: Annotated[int, Field(ge=0, le=2**53, strict=True)] = 0

    @field_validator("tasks")
    @classmethod
    def _check_tasks(cls, given: dict[str, float]) -> dict[str, float]:
        return _checked(given, _TASKS, "task")

    @field_validator("subtasks")
    @classmethod
    def _check_subtasks(cls, given: dict[str, float]) -> dict[str, float]:
        return _checked(given, _SUBTASKS, "subtask")

    def of(self, blueprint: Blueprint) -> list[int]:
        """The milliseconds of each step, without chance."""
        own = [self.subtasks.get(step.description) for step in blueprint.steps]
        whole = self.tasks.get(blueprint.task_name)
        left = max(0.0, (whole or 0) - sum(each for each in own if each is not None))
        weight = sum(step.timeout for step, each in zip(blueprint.steps, own, strict=True) if each is None)
        times, passed = [], 0
        for step, each in zip(blueprint.steps, own, strict=True):
            if each is None and whole is not None:
                # So that what is rounded adds up to the whole.
                begin, passed = passed, passed + step.timeout
                times.append(round(left * SECOND * passed / weight) - round(left * SECOND * begin / weight))
            else:
                seconds = self.step_seconds if each is None else each
                times.append(round(min(seconds, step.timeout) * SECOND))
        return times

    def by_chance(self, milliseconds: int, timeout: int, task_id: int, place: int) -> int:
        """The milliseconds of a subtask, at a place of a task, that has so many without chance."""
        if not self.jitter:
            return milliseconds
        factor = random.Random(f"{self.seed}/{task_id}/{place}").uniform(1 - self.jitter, 1 + self.jitter)
        return min(round(milliseconds * factor), timeout * SECOND)


def keep(db: sqlite3.Connection, durations: Durations) -> None:
    """Take these for new tasks."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEY, durations.model_dump_json()))


def kept(db: sqlite3.Connection) -> Durations:
    """Those for new tasks."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
    return Durations.model_validate_json(row["value"]) if row else Durations()


def _checked(given: Mapping[str, float], longest: Mapping[str, int], what: str) -> dict[str, float]:
    """The same under the names as the service writes them, which are taken in any case. Raises ValueError."""
    names = {name.casefold(): name for name in longest}
    checked = {}
    for name, seconds in given.items():
        known = names.get(name.casefold())
        if known is None:
            raise ValueError(f"no {what} has the name {name!r}; there are {', '.join(sorted(longest))}")
        if seconds > longest[known]:
            most = longest[known]
            raise ValueError(f"the time of {name!r} is {seconds:g} s, and its time-outs allow {most} s at most")
        checked[known] = seconds
    return checked
