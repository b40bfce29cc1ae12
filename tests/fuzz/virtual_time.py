# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One clock for a whole run: the plugins, their HTTP client and the service share it, and nothing sleeps."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from types import SimpleNamespace
from typing import Any
from unittest import mock

import urllib3.util.retry
from ansible_collections.oceanbase.ocp.plugins.module_utils._base import clock
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import deadline, paging, retries, session
from ansible_collections.oceanbase.ocp.plugins.plugin_utils import _event_source
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import FakeClock

READERS = (deadline, paging, retries, session, urllib3.util.retry)


class LimitPassed(BaseException):
    """A run went on past a limit. No handler of errors stops it."""


class BoundedClock(FakeClock):
    """A clock that ends the run ``seconds`` after its beginning."""

    def __init__(self, seconds: float) -> None:
        super().__init__(jitter=lambda: 0.5)
        self.begun = self.time
        self._end = self.time + seconds

    @property
    def elapsed(self) -> float:
        return self.time - self.begun

    def pass_by(self, seconds: float) -> None:
        self.time += max(0.0, seconds)
        if self.time > self._end:
            raise LimitPassed(f"it went on for more than {self._end - self.begun:.0f} seconds")

    def _sleep(self, seconds: float) -> None:
        self.pass_by(seconds)


@contextmanager
def virtual_time(bounded: BoundedClock) -> Iterator[None]:
    """Everything reads and waits by ``bounded``."""
    names = {"time": bounded.clock.wall, "monotonic": bounded.clock.now, "sleep": bounded.clock.sleep}
    system = clock.SYSTEM_CLOCK
    before = {field.name: getattr(system, field.name) for field in fields(system)}
    with ExitStack() as stack:
        for module in READERS:
            stack.enter_context(mock.patch.object(module, "time", SimpleNamespace(**names)))
        stack.enter_context(mock.patch.object(_event_source, "Clock", _clock_of(bounded)))
        for name in before:
            # It is the default of arguments, so the object itself changes.
            object.__setattr__(system, name, getattr(bounded.clock, name))
        try:
            yield
        finally:
            for name, value in before.items():
                object.__setattr__(system, name, value)


def _clock_of(bounded: BoundedClock) -> Any:
    return lambda sleep: clock.Clock(bounded.clock.now, sleep, bounded.clock.wall, bounded.clock.jitter)


class CancelledAfter:
    """A threading.Event that is set once ``seconds`` have passed; waiting for it moves the clock."""

    def __init__(self, bounded: BoundedClock, seconds: float) -> None:
        self._clock = bounded
        self._end = bounded.time + seconds
        self._event = threading.Event()

    def is_set(self) -> bool:
        return self._event.is_set() or self._clock.time >= self._end

    def set(self) -> None:
        self._event.set()

    def wait(self, seconds: float) -> bool:
        self._clock.pass_by(min(seconds, max(0.0, self._end - self._clock.time)))
        return self.is_set()
