# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which changes of tasks between two polls are reported: started, resumed, subtask failed, finished."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from math import inf
from typing import Any

from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import CredentialsRefused, NotFound, ServiceError, WrongRecord
from .._base.parsing import Record, integer
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import RUNNING, Subtask, Task, is_finished
from .await_tasks import Grace
from .poll_pauses import UNSEEN_FOR, PollPolicy, poll_until_done

STARTED, RESUMED, SUBTASK_FAILED, FINISHED = "started", "resumed", "subtask_failed", "finished"


@dataclass(frozen=True)
class Change:
    """Of a ``task``: ``started``, ``resumed`` after FAILED, ``subtask_failed`` with its subtask, or ``finished``."""

    name: str
    task: Task
    subtask: Subtask | None = None

    def event(self) -> dict[str, Any]:
        """The change as plain data; its ``task`` has the FAILED subtasks only. Every id is an integer or None."""
        task = _with_integer_ids(self.task.result(full=False))
        task["subtasks"] = [_with_integer_ids(step) for step in task["subtasks"]]
        subtask = None if self.subtask is None else _with_integer_ids(asdict(self.subtask))
        return {"change": self.name, "task": task, "subtask": subtask}


@dataclass(frozen=True)
class Listener:
    """A follower: ``on_change`` gets each change in order, ``log`` a sentence, ``is_gone`` ends the polling."""

    on_change: Callable[[Change], None]
    log: Callable[[str], None]
    is_gone: Callable[[], bool]


def follow_tasks(
    api: OcpApi,
    filters: Record,
    listener: Listener,
    *,
    interval: float,
    newer_than: int | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> None:
    """Report every change of the tasks that pass ``filters`` (see OcpApi.tasks) to ``listener``, until it is gone.

    It begins with the tasks that run or have an id above ``newer_than``. ``interval`` is the longest pause between two
    polls in seconds. Temporary polling errors are logged; raises CredentialsRefused.
    """
    poll_until_done(_FollowedTasks(api, filters, listener, newer_than, clock), api, PollPolicy(inf, interval), clock)


@dataclass
class _FollowedTask:
    """An unfinished task: its first change, its last list entry, and the failures already reported.

    Until ``grace`` is over, a 404 is that of a replica that lags.
    """

    first: str
    grace: Grace
    announced: bool = False
    listed: Record | None = None
    failures: set[tuple[object, ...]] = field(default_factory=set)


class _FollowedTasks:
    """The unfinished tasks, and the newest known id."""

    heartbeat_due = inf

    def __init__(self, api: OcpApi, filters: Record, listener: Listener, newer_than: int | None, clock: Clock) -> None:
        self._api = api
        self._filters = filters
        self._listener = listener
        self._clock = clock
        self._newest = newer_than
        self._polled = False
        self._is_failing = False
        self._followed: dict[int, _FollowedTask] = {}
        self._dropped: set[int] = set()

    @property
    def done(self) -> bool:
        """Whether the listener is gone."""
        return self._listener.is_gone()

    def poll(self) -> None:
        """Report all changes since the last poll. A change is never reported twice, even after an error."""
        try:
            self._poll()
        except CredentialsRefused:
            raise
        except ServiceError as problem:
            if not self._is_failing:
                self._listener.log(f"Polling the tasks failed; retrying: {problem}")
            self._is_failing = True
        else:
            if self._is_failing:
                self._listener.log("Polling the tasks works again.")
            self._is_failing = False

    def report(self, waited: float) -> None:
        """Do nothing: the listener has every change already."""

    def heartbeat(self, waited: float) -> None:
        """Do nothing: the listener gets changes only."""

    def _poll(self) -> None:
        if self._newest is None:
            self._newest = max(map(_id, self._api.tasks(1)), default=0)
        # A service may ignore the filter.
        listed = self._listed(status=RUNNING)
        running = {task_id: task for task_id, task in listed.items() if not is_finished(task)}
        # A short task may have run and ended since the last poll.
        newer = self._listed(above=self._newest)
        for task_id in running.keys() | newer.keys():
            first = RESUMED if self._polled and task_id <= self._newest else STARTED
            self._followed.setdefault(task_id, _FollowedTask(first, Grace(self._clock, UNSEEN_FOR)))
        self._newest = max(self._newest, *newer) if newer else self._newest
        self._polled = True
        problems: list[ServiceError] = []
        for task_id in sorted(self._followed):
            try:
                self._follow(task_id, running.get(task_id))
            except CredentialsRefused:
                raise
            except ServiceError as error:
                # Others are reported all the same.
                problems.append(error)
        if problems:
            raise problems[0]

    def _listed(self, **filters: Any) -> dict[int, Record]:
        return {_id(task): task for task in self._api.tasks(**self._filters, **filters)}

    def _follow(self, task_id: int, listed: Record | None) -> None:
        """Read a task whose list entry has changed, or that is no longer listed as RUNNING."""
        followed = self._followed[task_id]
        if listed is not None:
            followed.grace.renew()
            if listed == followed.listed:
                return
        try:
            task = Task.from_api(self._api.task(task_id))
        except NotFound:
            if listed is None and followed.grace.is_over:
                del self._followed[task_id]
            return
        except WrongRecord:
            self._drop(task_id)
            return
        failures = {_failure_key(step): step for step in task.failed_subtasks}
        if not followed.announced:
            followed.announced = True
            self._listener.on_change(Change(followed.first, task))
            if followed.first == RESUMED and not task.finished:
                followed.failures = set(failures)
        for failure in [failure for failure in failures if failure not in followed.failures]:
            followed.failures.add(failure)
            self._listener.on_change(Change(SUBTASK_FAILED, task, failures[failure]))
        followed.listed = listed
        if task.finished:
            del self._followed[task_id]
            self._listener.on_change(Change(FINISHED, task))

    def _drop(self, task_id: int) -> None:
        """Report no change of a task whose record is of another task: a rulebook acts on events."""
        del self._followed[task_id]
        if task_id not in self._dropped:
            self._listener.log(f"Task {task_id} is not followed: the service answers with a task of another id.")
        self._dropped.add(task_id)


def _with_integer_ids(facts: dict[str, Any]) -> dict[str, Any]:
    """``facts`` without ids of another type: a rulebook hands ids to playbooks, where a text may be a template."""
    return {key: integer(value) if key == "id" or key.endswith("_id") else value for key, value in facts.items()}


def _failure_key(step: Subtask) -> tuple[object, ...]:
    return step.id, step.run_time, step.finish_time


def _id(task: Record) -> int:
    return integer(task.get("id")) or 0
