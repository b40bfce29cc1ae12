# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The local lock of a cluster: one look and its request at a time, and the restarts that were just requested under it.

It serves one user of one machine. Another controller does not see it; see docs/safety.md.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from .._base.clock import Clock
from .._base.errors import TargetBusy
from .._base.parsing import Record
from .._base.private_folder import private_folder
from .._ocp.task_model import SUCCESSFUL, Task
from .._safety.server_states import OwnRestart
from .._targets.target import Member, Observation, Target, TaskOnTarget
from .._waiting.poll_pauses import PollPolicy
from .restart_notes import RestartNote, whole_seconds

LARGEST_FILE = 1024 * 1024
# Seconds between two attempts to get the lock: this or up to twice as much.
SHORTEST_PAUSE = 0.05
# Seconds. How long a note replaces the missing target of a listed task; longer than a restart takes.
KEPT_FOR = 6 * 3600.0


class ClusterLock:
    """The lock of these ``things`` (ids of clusters) at the service with this ``url``; without any it does nothing.

    ``warnings`` gets a sentence if there can be no lock.
    """

    def __init__(self, url: str, things: Sequence[int | str], clock: Clock, warnings: list[str]) -> None:
        self._names = sorted(sha256(f"{url} {thing}".encode()).hexdigest()[:32] for thing in set(things))
        self._clock = clock
        self._warnings = warnings
        self._held: list[int] = []
        self._own: RestartNote | None = None

    def __enter__(self) -> ClusterLock:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.release()

    def acquire(self, policy: PollPolicy) -> None:
        """Hold it, again if it is held already. Raises TargetBusy after the time of ``policy``."""
        self.release()
        try:
            for name in self._names:
                self._held.append(self._lock(_folder() / name, policy))
        except OSError as error:
            self.release()
            self._warn(
                f"The lock in {tempfile.gettempdir()} cannot be used, so other restarts from this machine may run at "
                f"the same time: {error}"
            )
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Let others look."""
        while self._held:
            os.close(self._held.pop())

    def own_restarts(self, tasks: Iterable[Record]) -> list[OwnRestart]:
        """The restarts requested under this lock that may be running, by the newest ``tasks`` of the cluster."""
        listed = {task["id"]: Task.from_api(task) for task in tasks}
        for held in self._held:
            # Later it may not be among the newest ones.
            _write(held, [_noted_end(note, listed.get(note.task_id)) for note in _read(held)])
        now = self._clock.wall()
        return [note.restart for note in self._notes() if note.may_run(listed.get(note.task_id), now)]

    def own_tasks(
        self, newest: Iterable[Record], shown: Iterable[TaskOnTarget], members: Iterable[Member]
    ) -> list[TaskOnTarget]:
        """The tasks of such restarts on these members: those too new to be shown, and those shown without a target."""
        newest, shown, members, now = list(newest), list(shown), list(members), self._clock.wall()
        touching, names = {entry.record["id"] for entry in shown}, {member.name for member in members}
        others = [TaskOnTarget(task, frozenset()) for task in newest if task["id"] not in touching]
        listed = {task["id"] for task in (*newest, *(entry.record for entry in shown))}
        found = []
        for note in self._notes():
            if note.task_id in listed:
                # The service may not tie a task to anything that the target is known by.
                open_ones = shown if names.isdisjoint(note.starts) else [*shown, *others]
                found += [note.told(entry, members) for entry in open_ones]
            elif note.is_new(now):
                found.append(note.unseen_task(members))
        return [task for task in found if task is not None]

    def begin(self, target: Target, observed: Observation) -> None:
        """Note that a restart of the target is about to be requested."""
        self._own = RestartNote.of(target, observed, self._clock.wall())
        self._replace(self._own, [self._own])

    def end(self, task_id: int | None, began: str | None = None, *, refused: bool) -> None:
        """Note the task that was started and when it began, or that there was none, and let others look."""
        if self._own is not None:
            known = replace(self._own, task_id=task_id, began=whole_seconds(began))
            self._replace(self._own, [] if refused else [known])
        self._own = None
        self.release()

    def _notes(self) -> list[RestartNote]:
        return [note for held in self._held for note in _read(held)]

    def _replace(self, own: RestartNote, more: list[RestartNote]) -> None:
        """Write ``more`` in place of the own note, and leave out what is old."""
        now = self._clock.wall()
        for held in self._held:
            kept = [note for note in _read(held) if note != own and abs(now - note.at) < KEPT_FOR]
            _write(held, [*kept, *more])

    def _lock(self, path: Path, policy: PollPolicy) -> int:
        """The open file, locked. Raises OSError where there can be none."""
        began = self._clock.now()
        while True:
            held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_same(held, path):
                    return held
                os.close(held)
            except BlockingIOError:
                os.close(held)
                self._pause(began, policy)
            except BaseException:
                os.close(held)
                raise

    def _pause(self, began: float, policy: PollPolicy) -> None:
        waited = self._clock.now() - began
        if waited >= policy.timeout:
            raise TargetBusy(
                f"For {waited:.0f} seconds other restarts of this controller held the lock of the cluster. Run this "
                "again, with fewer forks or a longer wait_timeout."
            )
        self._clock.sleep(SHORTEST_PAUSE * (1 + self._clock.jitter()))

    def _warn(self, words: str) -> None:
        if words not in self._warnings:
            self._warnings.append(words)


def _folder() -> Path:
    """Raises OSError if there is something else in its place."""
    return private_folder(Path(tempfile.gettempdir()) / f"oceanbase.ocp-{os.getuid()}")


def _is_same(held: int, path: Path) -> bool:
    """Whether nobody has removed the file meanwhile."""
    try:
        return os.path.samestat(os.fstat(held), path.lstat())
    except FileNotFoundError:
        return False


def _read(held: int) -> list[RestartNote]:
    """The notes in the file; none in one that was cut off."""
    try:
        found = json.loads(os.pread(held, LARGEST_FILE, 0) or b"[]")
    except (OSError, ValueError):
        return []
    notes = map(RestartNote.from_json, found if isinstance(found, list) else [])
    return [note for note in notes if note is not None]


def _write(held: int, notes: Sequence[RestartNote]) -> None:
    """Have these notes alone in the file. If it cannot be written, others do not see it."""
    if notes != _read(held):
        with suppress(OSError):
            os.ftruncate(held, 0)
            os.pwrite(held, json.dumps([note.to_json() for note in notes]).encode(), 0)


def _noted_end(note: RestartNote, shown: Task | None) -> RestartNote:
    return replace(note, is_done=True) if shown is not None and shown.status == SUCCESSFUL else note
