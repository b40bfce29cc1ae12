# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Threads of the code under test as actors of virtual time: one runs at a time, and each wait is an event."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import side_by_side

from .scheduler import Actor, Killed, Scheduler


class _Condition:
    """Actors that wait until something holds."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiting: list[Actor] = []

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Let the current actor wait."""
        while not holds():
            actor = self._scheduler.current
            assert actor is not None
            self._waiting.append(actor)
            self._scheduler.sleep_until(self._scheduler.horizon)

    def notify(self) -> None:
        """Let all that wait look again."""
        waiting, self._waiting = self._waiting, []
        for actor in waiting:
            self._scheduler.wake(actor)


class _Event:
    """``threading.Event`` without timeouts."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._is_set = False
        self._condition = _Condition(scheduler)

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        self._condition.notify()

    def wait(self) -> None:
        self._condition.wait_until(self.is_set)


class _Semaphore:
    """``threading.Semaphore``."""

    def __init__(self, scheduler: Scheduler, value: int) -> None:
        self._value = value
        self._condition = _Condition(scheduler)

    def acquire(self) -> None:
        self._condition.wait_until(lambda: self._value > 0)
        self._value -= 1

    def release(self, number: int = 1) -> None:
        self._value += number
        self._condition.notify()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_error: object) -> None:
        self.release()


class _Future:
    """The end of a job of a pool."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._is_done = False
        self._error: BaseException | None = None
        self._condition = _Condition(scheduler)

    def do(self, job: Callable[[], Any]) -> None:
        try:
            job()
        except Killed:
            raise
        except BaseException as error:
            self._error = error
        self._is_done = True
        self._condition.notify()

    def result(self) -> None:
        self._condition.wait_until(lambda: self._is_done)
        if self._error is not None:
            raise self._error


class _Pool:
    """``ThreadPoolExecutor``: at most so many actors, which have the data of the actor that made the pool."""

    def __init__(self, scheduler: Scheduler, most: int) -> None:
        self._scheduler = scheduler
        self._most = most
        self._jobs: deque[Callable[[], None]] = deque()
        self._alive = 0
        self._condition = _Condition(scheduler)

    def submit(self, function: Callable[..., Any], *args: Any) -> _Future:
        future = _Future(self._scheduler)
        self._jobs.append(lambda: future.do(lambda: function(*args)))
        if self._alive < self._most:
            maker = self._scheduler.current
            assert maker is not None
            self._alive += 1
            self._scheduler.start(self._scheduler.now, f"{maker.name} thread {self._alive}", self._worker(maker))
        return future

    def _worker(self, maker: Actor) -> Callable[[Actor], None]:
        data = copy.copy(maker.data)

        def work(actor: Actor) -> None:
            actor.data = data
            while self._jobs:
                self._jobs.popleft()()
            self._alive -= 1
            self._condition.notify()

        return work

    def shutdown(self, *, wait: bool, cancel_futures: bool) -> None:
        if cancel_futures:
            self._jobs.clear()
        if wait:
            self._condition.wait_until(lambda: self._alive == 0)


@contextmanager
def virtual_threads(scheduler: Callable[[], Scheduler]) -> Iterator[None]:
    """Replace the threads of requests that go side by side, by actors of the ``scheduler`` of the current run."""
    with mock.patch.multiple(
        side_by_side,
        ThreadPoolExecutor=lambda most, **_name: _Pool(scheduler(), most),
        Event=lambda: _Event(scheduler()),
        Semaphore=lambda value: _Semaphore(scheduler(), value),
    ):
        yield
