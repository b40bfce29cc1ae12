# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Virtual time: events in order, and actors (threads) that take turns, one at a time.

Whoever waits carries the events out until its own turn comes, so a lone actor never switches threads.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from typing import Any

Action = Callable[[], Any]


class Killed(BaseException):
    """An actor ends here, as a process does after kill -9: nothing of it may act any more."""


class Actor:
    """What runs in a thread of its own, such as a controller."""

    def __init__(self, name: str, work: Callable[[Actor], None]) -> None:
        self.name = name
        self.work = work
        self.turn = threading.Lock()
        self.turn.acquire()
        self.waits_for: object = None
        self.alive = True
        # Raised where it waits or acts next.
        self.interruption: BaseException | None = None
        self.data: Any = None


class _Worker(threading.Thread):
    """A thread that is kept for the actors to come."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.given = threading.Lock()
        self.given.acquire()
        self.job: Action = lambda: None
        self.start()

    def run(self) -> None:
        while True:
            self.given.acquire()
            self.job()


class Scheduler:
    """The events of one run in the order of virtual time."""

    _idle: list[_Worker] = []  # noqa: RUF012 - shared by all runs of the process

    def __init__(self, horizon: float) -> None:
        self.now = 0.0
        self.horizon = horizon
        self.current: Actor | None = None
        self.broken: BaseException | None = None
        self._events: list[tuple[float, int, Action | None, Actor | None, object]] = []
        self._number = 0
        self._main = Actor("main", lambda _actor: None)
        self._actors: list[Actor] = []
        self._closing = False

    def at(self, when: float, action: Action) -> None:
        """Carry ``action`` out at a time; one that has passed is now."""
        self._push(when, action, None, None)

    def start(self, when: float, name: str, work: Callable[[Actor], None]) -> Actor:
        """Start an actor at a time."""
        actor = Actor(name, work)
        self._push(when, lambda: self._launch(actor), None, None)
        return actor

    def sleep_until(self, when: float) -> None:
        """Let the current actor wait; raises its interruption."""
        actor = self.current
        assert actor is not None
        actor.waits_for = token = object()
        self._push(when, None, actor, token)
        self._drive(actor)
        self.check(actor)

    def wake(self, actor: Actor) -> None:
        """End the wait of an actor now."""
        if actor.alive and actor.waits_for is not None:
            self._push(self.now, None, actor, actor.waits_for)

    def interrupt(self, actor: Actor, error: BaseException) -> None:
        """Raise ``error`` in an actor where it waits."""
        if actor.alive:
            actor.interruption = error
            self.wake(actor)

    def check(self, actor: Actor | None) -> None:
        """Raise the interruption of an actor; after a kill each time."""
        if actor is None or actor.interruption is None:
            return
        error = actor.interruption
        if not isinstance(error, Killed):
            actor.interruption = None
        raise error

    def run(self) -> None:
        """Carry everything out up to the horizon, then end all actors; raises what broke a model."""
        self._main.waits_for = token = object()
        self._push(self.horizon, None, self._main, token)
        self._drive(self._main)
        self._closing = True
        for actor in self._actors:
            if actor.alive:
                actor.interruption = Killed()
                self.current = actor
                actor.turn.release()
                self._main.turn.acquire()
        if self.broken is not None:
            raise self.broken

    def end(self) -> None:
        """End the run now, as at the horizon."""
        self._push(self.now, None, self._main, self._main.waits_for)

    def _push(self, when: float, action: Action | None, actor: Actor | None, token: object) -> None:
        self._number += 1
        heapq.heappush(self._events, (max(when, self.now), self._number, action, actor, token))

    def _drive(self, me: Actor | None) -> None:
        """Carry out events until it is the turn of ``me``; without one, until another actor goes on."""
        if self._closing:
            return
        while True:
            when, _number, action, actor, token = heapq.heappop(self._events)
            if actor is None:
                assert action is not None
                self.now = when
                self._carry_out(action)
            elif actor.alive and actor.waits_for is token:
                self.now = when
                actor.waits_for = None
                self.current = actor
                if actor is me:
                    return
                actor.turn.release()
                if me is not None:
                    me.turn.acquire()
                return

    def _carry_out(self, action: Action) -> None:
        try:
            action()
        except BaseException as error:
            # Not in the code under test, which would report it as its own.
            self.broken = self.broken or error
            self.end()

    def _launch(self, actor: Actor) -> None:
        self._actors.append(actor)
        worker = self._idle.pop() if self._idle else _Worker()

        def job() -> None:
            actor.turn.acquire()
            try:
                self.check(actor)
                actor.work(actor)
            except Killed:
                pass
            except BaseException as error:
                self.broken = self.broken or error
            actor.alive = False
            self._idle.append(worker)
            if self._closing:
                self._main.turn.release()
            else:
                self._drive(None)

        worker.job = job
        actor.waits_for = token = object()
        self._push(self.now, None, actor, token)
        worker.given.release()
