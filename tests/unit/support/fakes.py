# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Doubles of what is below the code under test, and builders of service data."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from functools import partial
from itertools import pairwise
from typing import Any
from unittest.mock import NonCallableMock

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import HUNDREDTH, SECOND, Clock
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.envelope import ApiResponse

# The keys of every restart result.
RESULT_KEYS = {
    "changed",
    "action",
    "reason",
    "task_id",
    "task",
    "target",
    "before",
    "after",
    "verified",
    "safety",
    "elapsed",
    "trace_id",
}
# And those for the bridge to Ansible.
PASSED_ON = {"warnings", "diff"}
URL = "https://ocp.test:8080"
# The start of the fake clock.
BEGINNING = datetime(2026, 5, 4, 3, 0, tzinfo=timezone(timedelta(hours=8)))


class Script:
    """A strict double of a class: it accepts the expected calls only, in order, each once."""

    def __init__(self, replaced: type) -> None:
        self._replaced = replaced
        self._expected: list[tuple[str, dict[str, Any], Any]] = []
        self.calls: list[str] = []
        self.unexpected: list[str] = []
        self.double = NonCallableMock(spec_set=replaced)
        for name, _function in inspect.getmembers(replaced, inspect.isfunction):
            if not name.startswith("_"):
                getattr(self.double, name).side_effect = partial(self._play, name)
        # What it learns about a service begins as in a new one.
        for name, value in inspect.getmembers(replaced, lambda value: value is None or isinstance(value, bool)):
            if not name.startswith("_"):
                setattr(self.double, name, value)

    def expect(self, name: str, /, *args: Any, gives: Any = None, **kwargs: Any) -> Script:
        """Expect one more call; it returns ``gives``, what that returns if it is a function, or raises it."""
        self._expected.append((name, self._bound(name, args, kwargs), gives))
        return self

    def finish(self) -> None:
        assert not self.unexpected, f"calls that are not in the script: {self.unexpected}"
        missing = [f"{name}({arguments})" for name, arguments, _gives in self._expected]
        assert not missing, f"calls that did not come: {missing}"

    def _bound(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        bound = inspect.signature(getattr(self._replaced, name)).bind(None, *args, **kwargs)
        bound.apply_defaults()
        return {key: value for key, value in bound.arguments.items() if key != "self"}

    def _play(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        arguments = self._bound(name, args, kwargs)
        self.calls.append(name)
        expected = self._expected.pop(0) if self._expected else None
        if expected is None or (name, arguments) != expected[:2]:
            # Recorded too, since the code under test might swallow the failure.
            self.unexpected.append(f"{name}({arguments}) instead of {expected}")
            raise AssertionError(self.unexpected[-1])
        if isinstance(expected[2], Exception):
            raise expected[2]
        return expected[2](*args, **kwargs) if callable(expected[2]) else expected[2]


class FakeClock:
    """A clock that moves only when the code sleeps or a test sets it. ``after_sleep`` is called after each sleep."""

    def __init__(self, at: float = 1000.0, jitter: Callable[[], float] = lambda: 0.0) -> None:
        self.time = at
        self.pauses: list[float] = []
        self.after_sleep: Callable[[], Any] = lambda: None
        self.clock = Clock(
            now=lambda: self.time,
            sleep=self._sleep,
            wall=lambda: BEGINNING.timestamp() + self.time - at,
            jitter=jitter,
        )

    def _sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.pauses.append(seconds)
        self.time += seconds
        self.after_sleep()


def clock_ahead(*offsets: float) -> ServiceClock:
    """Give the clock of a service whose answers show that it is exactly so many seconds ahead."""
    clock, received = ServiceClock(), BEGINNING.timestamp()
    for offset in offsets:
        completed = BEGINNING + timedelta(seconds=offset)
        clock.shown(completed, received + (HUNDREDTH if completed.microsecond else SECOND), received)
    return clock


def response(data: Any, trace_id: str | None = "trace-1") -> ApiResponse:
    return ApiResponse(data, URL, trace_id)


def page_of(*contents: dict[str, Any], number: int = 1, pages: int = 1) -> ApiResponse:
    """The answer with this page of a list."""
    return response({"contents": list(contents), "page": {"number": number, "totalPages": pages}})


def step(number: int, description: str, status: str = "PENDING", **fields: Any) -> dict[str, Any]:
    """Build a subtask in the service's format, without links unless given."""
    return {
        "id": number,
        "name": description,
        "description": description,
        "status": status,
        "operation": "EXECUTE",
        "upstreams": [],
        "downstreams": [],
        **fields,
    }


def chain(*steps: dict[str, Any]) -> list[dict[str, Any]]:
    """Link each step to the next."""
    for earlier, later in pairwise(steps):
        earlier["downstreams"] = [*earlier["downstreams"], later["id"]]
        later["upstreams"] = [*later["upstreams"], earlier["id"]]
    return list(steps)


def raw_task(number: int, status: str = "RUNNING", **fields: Any) -> dict[str, Any]:
    """Build a task in the service's format."""
    return {"id": number, "name": f"Restart {number}", "status": status, "operation": "EXECUTE", **fields}
