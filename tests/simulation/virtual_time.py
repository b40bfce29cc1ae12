# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The clocks, sockets and screen of the code under test, replaced once per process by those of the current run."""

from __future__ import annotations

import email.utils
import importlib
import os
import pkgutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest import mock

import urllib3.connection
import urllib3.util.connection
import urllib3.util.retry
import urllib3.util.timeout
from ansible_collections.oceanbase.ocp import plugins
from ansible_collections.oceanbase.ocp.plugins.module_utils._base import clock
from ansible_collections.oceanbase.ocp.plugins.plugin_utils import _in_process

from .machines import machines
from .network import Network
from .profile import EPOCH
from .scheduler import Scheduler
from .virtual_threads import virtual_threads

PREFIX = plugins.__name__ + "."
BOOT = 1000.0


class Current:
    """The run that goes on now in this process."""

    def __init__(self) -> None:
        self.scheduler: Scheduler | None = None
        self.network: Network | None = None

    # What modules call

    def monotonic(self) -> float:
        """Seconds of the current controller's monotonic clock."""
        return BOOT + self.active_scheduler.now

    def wall(self) -> float:
        """Seconds since 1970 by the current controller's clock."""
        actor = self.active_scheduler.current
        ahead = actor.data.machine.ahead if actor is not None and actor.data is not None else 0.0
        return EPOCH + self.active_scheduler.now + float(ahead)

    def sleep(self, seconds: float) -> None:
        """Let the current controller pause."""
        scheduler = self.active_scheduler
        scheduler.sleep_until(scheduler.now + max(0.0, seconds))
        assert scheduler.current is not None
        scheduler.current.data.run.pause_ended = scheduler.now

    def connect(self, *_args: Any, **_options: Any) -> Any:
        """A connection of the current controller."""
        assert self.network is not None
        actor = self.active_scheduler.current
        assert actor is not None
        self.active_scheduler.check(actor)
        return self.network.connect(actor)

    def show(self, text: str, **_options: Any) -> None:
        """A line that a person sees."""
        actor = self.active_scheduler.current
        assert actor is not None
        actor.data.run.lines.append((self.active_scheduler.now, text))

    @property
    def active_scheduler(self) -> Scheduler:
        """The scheduler of the run."""
        assert self.scheduler is not None
        return self.scheduler


class _Time:
    """The module ``time`` as the code under test sees it."""

    def __init__(self, current: Current) -> None:
        self.monotonic = self.perf_counter = current.monotonic
        self.time = current.wall
        self.sleep = current.sleep

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


class _Screen:
    """Ansible's display as the action plugins see it."""

    def __init__(self, current: Current) -> None:
        self.display = current.show

    def __getattr__(self, _name: str) -> Any:
        return lambda *_args, **_options: None


def load_plugins() -> None:
    """Import all that is patched."""
    for folder in ("module_utils", "plugin_utils"):
        package = importlib.import_module(PREFIX + folder)
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            with suppress(ImportError):
                importlib.import_module(found.name)


@contextmanager
def virtual_time() -> Iterator[Current]:
    """Replace what reads a clock, sleeps, connects, shows or starts threads."""
    load_plugins()
    current = Current()
    shim = _Time(current)
    readers = [urllib3.util.retry, urllib3.util.timeout, email.utils]
    readers += [found for name, found in list(sys.modules.items()) if name.startswith(PREFIX)]
    # requests looks for proxies in each variable, at each request; and what is set here must not count.
    with mock.patch.dict(os.environ, {"HOME": os.devnull}, clear=True), mock.patch.multiple(
        urllib3.connection, wait_for_read=lambda sock, timeout: sock.has_ended  # noqa: ARG005
    ), mock.patch.object(urllib3.util.connection, "create_connection", current.connect), mock.patch.object(
        _in_process, "display", _Screen(current)
    ):  # fmt: skip
        patched = [reader for reader in readers if getattr(reader, "time", None) is time]
        real = {name: getattr(clock.SYSTEM_CLOCK, name) for name in ("now", "sleep", "wall", "jitter")}
        virtual = {"now": current.monotonic, "sleep": current.sleep, "wall": current.wall, "jitter": lambda: 0.5}
        try:
            for reader in patched:
                reader.time = shim
            _set_clock(virtual)
            with virtual_threads(lambda: current.active_scheduler), machines(lambda: current.active_scheduler.current):
                yield current
        finally:
            for reader in patched:
                reader.time = time
            _set_clock(real)


def _set_clock(functions: dict[str, Any]) -> None:
    # The one clock that all functions have as their default; it is frozen for everybody else.
    for name, function in functions.items():
        object.__setattr__(clock.SYSTEM_CLOCK, name, function)
