# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The state of a restart or task action while it runs, and how it reaches the user whatever ends it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any, Generic, TypeVar

from .._base.clock import Clock
from .._base.errors import ModuleCrashed, OcpError, RateLimited, attach_facts
from .diff import Diff

Result = dict[str, Any]


@dataclass(frozen=True)
class Attempt:
    """A change so far, with the keys of its result. ``changed``: a request that may have taken effect was sent."""

    changed: bool = False
    action: str | None = None
    reason: str | None = None
    before: Result | None = None
    task_id: int | None = None
    task: Result | None = None
    trace_id: str | None = None


@dataclass(frozen=True)
class RestartAttempt(Attempt):
    """A restart of ``target``; ``unchanged`` are the facts of the members that need none.

    ``safety`` is its effect on tenants, None if that was not checked. ``effective`` is whether its parameters are in
    effect; None, and no key of the result, if it is for none.
    """

    after: Result | None = None
    verified: bool | None = None
    safety: Result | None = None
    target: Result = field(default_factory=dict)
    unchanged: Mapping[str, Any] = field(default_factory=dict)
    effective: Result | None = None


@dataclass(frozen=True)
class ActionAttempt(Attempt):
    """An action on a task or on these subtasks of it."""

    subtask_ids: tuple[int, ...] = ()


Kind = TypeVar("Kind", bound=Attempt)


class Progressing(Generic[Kind]):
    """An attempt in progress: ``so_far`` is replaced, never changed, so an earlier one can stand again."""

    def __init__(self, attempt: Kind, clock: Clock) -> None:
        self.so_far = attempt
        self.warnings: list[str] = []
        self.diff: Diff = {}
        self._clock = clock
        self._began = clock.now()
        self._paused = 0.0
        self._refusals = 0

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return self._clock.now() - self._began

    def note(self, **facts: Any) -> None:
        """Replace these facts of the attempt."""
        self.so_far = replace(self.so_far, **facts)

    def result(self) -> Result:
        """The result with every key, ``warnings`` and ``diff``."""
        facts = {each.name: getattr(self.so_far, each.name) for each in fields(self.so_far)}
        unchanged = facts.pop("unchanged", {})
        effective = facts.pop("effective", None)
        if effective is not None:
            facts["effective"] = effective
        if "subtask_ids" in facts:
            facts["subtask_ids"] = list(facts["subtask_ids"])
        warnings = list(dict.fromkeys(self.warnings))
        return {**facts, **unchanged, "elapsed": round(self.elapsed, 3), "warnings": warnings, "diff": self.diff}

    def with_room_to_spare(self, requests: int) -> int:
        """Twice as many after each such pause: other machines may send requests of this user too."""
        return int(requests * 2**self._refusals)

    def pause_for(self, refusal: RateLimited, most: float, least: float = 0.0) -> None:
        """Pause until requests are allowed again, for ``most`` seconds in all; raises a ``refusal`` that asks for more.

        Earlier observations no longer count. It pauses for ``least`` seconds at least, and up to twice as long as it is
        asked to, so that others whose requests were refused at the same time do not all come back at once.
        """
        pause = refusal.retry_after
        if pause is None or self._paused + pause > most:
            raise refusal
        self._refusals += 1
        self._paused += pause
        self._clock.sleep(max(pause * (1 + self._clock.jitter()), least))

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Whatever is raised inside has the result so far in its facts; an interruption has it attached."""
        try:
            yield
        except OcpError as error:
            self.note(trace_id=self.so_far.trace_id or error.facts.get("trace_id"))
            self.warnings += error.facts.get("warnings", [])
            error.facts = {**error.facts, **self.result()}
            raise
        except Exception as error:
            raise ModuleCrashed(error, **self.result()) from error
        except BaseException as interruption:
            attach_facts(interruption, self.result())
            raise
