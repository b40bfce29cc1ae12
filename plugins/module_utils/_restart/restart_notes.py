# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What this controller notes about a restart that it requests, and how long the note counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from .._base.parsing import instant
from .._ocp.task_model import RUNNING, Task
from .._safety.server_states import OwnRestart
from .._targets.arbitration import ArbitrationService
from .._targets.target import Member, Observation, Target, TaskOnTarget
from .._waiting.await_tasks import UNSEEN_FOR


@dataclass(frozen=True)
class RestartNote:
    """A restart that was requested ``at`` that time; instants are whole seconds since 1970.

    ``starts``: its members, each with the start that it showed before. ``arbiters``: ids of arbitration services.
    ``task_id`` and when that ``began``, by the clock of the service, are None as long as the answer is not known.
    ``is_done``: it was shown as SUCCESSFUL, after which nothing can be done to it.
    """

    at: int
    task_name: str | None
    starts: dict[str, str | None]
    arbiters: list[int]
    task_id: int | None = None
    began: int | None = None
    is_done: bool = False

    @classmethod
    def of(cls, target: Target, observed: Observation, now: float) -> RestartNote:
        """The note of a request that is about to be sent."""
        arbiters = [target.id] if isinstance(target, ArbitrationService) else []
        return cls(int(now), target.task_name, {each.name: each.start_time for each in observed.members}, arbiters)

    @classmethod
    def from_json(cls, found: object) -> RestartNote | None:
        """The note in a file; None if it is none."""
        try:
            note = cls(**found)  # type: ignore[arg-type]
        except TypeError:
            return None
        instants = (note.task_id, note.began)
        is_whole = isinstance(note.at, int) and all(isinstance(each, int | None) for each in instants)
        is_note = is_whole and isinstance(note.task_name, str | None) and isinstance(note.starts, dict)
        return note if is_note and isinstance(note.arbiters, list) and isinstance(note.is_done, bool) else None

    def to_json(self) -> dict[str, Any]:
        """As it is written to a file."""
        return asdict(self)

    @property
    def restart(self) -> OwnRestart:
        """What it takes down."""
        servers = frozenset() if self.arbiters else frozenset(self.starts)
        return OwnRestart(self.task_id, servers, frozenset(self.arbiters))

    def is_new(self, now: float) -> bool:
        """Whether the service may not show its task yet."""
        return not self.is_done and abs(now - self.at) < UNSEEN_FOR

    def may_run(self, listed: Task | None, now: float) -> bool:
        """Whether it may run, by the ``listed`` task with its id.

        A new installation of the service gives the same ids to other tasks.
        """
        if listed is None:
            return self.is_new(now)
        shown = whole_seconds(listed.start_time)
        return not listed.finished and (None in (shown, self.began) or shown == self.began)

    def unseen_task(self, members: Iterable[Member]) -> TaskOnTarget | None:
        """Its task as far as it is known, if some of these members are its own and show the start of before."""
        there = {member.name: member.start_time for member in members}
        waiting = {name for name, start in self.starts.items() if name in there and there[name] == start}
        if self.task_id is None or not waiting:
            return None
        began = {} if self.began is None else {"startTime": _instant_text(self.began)}
        record = {"id": self.task_id, "name": self.task_name, "status": RUNNING, **began}
        return TaskOnTarget(record, self._restarts_of(there.keys()))

    def told(self, shown: TaskOnTarget, members: Iterable[Member]) -> TaskOnTarget | None:
        """Its task as shown, if the service does not show what that restarts; None if it is another task."""
        task, names = Task.from_api(shown.record), {member.name for member in members}
        is_same = task.id == self.task_id and self.began is not None and whole_seconds(task.start_time) == self.began
        if not is_same or shown.restarts != frozenset():
            return None
        of_others = names.isdisjoint(self.starts)
        return replace(shown, restarts=frozenset(self.starts) if of_others else self._restarts_of(names))

    def _restarts_of(self, names: Collection[str]) -> frozenset[str] | None:
        restarts = frozenset(names) & self.starts.keys()
        return None if len(restarts) == len(names) else restarts


def whole_seconds(time: str | None) -> int | None:
    """An instant in whole seconds since 1970."""
    found = instant(time)
    return None if found is None else int(found.timestamp())


def _instant_text(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
