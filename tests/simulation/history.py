# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What happened in one run of the simulation: the evidence of the oracle, and the story for a person."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .fleet import Key
from .journals import Memory
from .machines import Machine
from .service import Answer, Request


@dataclass
class Exchange:
    """A request of a module: when it was sent, when the service carried it out, what came back and when."""

    request: Request
    sent: float
    pause_ended: float
    fate: str = "plain"
    lag: float = 0.0
    commits: list[tuple[float, Answer]] = field(default_factory=list)
    came_back: float | None = None
    # What came back whole: the answer of the service, or what something on the way put in its place.
    answer: Answer | None = None
    replaced: Answer | None = None

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.request.method == "GET"


@dataclass
class Change:
    """What a person wants: these targets restarted once since ``at``."""

    kind: str
    members: tuple[Key, ...]
    own: Key | None
    cluster: int | None
    at: float
    args: dict[str, Any] = field(default_factory=dict)
    name: str = ""


@dataclass
class Run:
    """One run of a module by a controller.

    ``since`` is ``started_before`` as true time, None without the option; ``name`` is that of its change, if given.
    """

    number: int
    controller: str
    process: str
    module: str
    args: dict[str, Any]
    change: Change
    since: float | None
    began: float
    user: str
    machine: Machine
    name: str | None = None
    # In check mode, or a plan.
    only_looks: bool = False
    # Its journal could not be written, and was not required: no other run knows of its requests.
    forgets: bool = False
    # Seconds in which its process stood still.
    suspended: float = 0.0
    ended: float | None = None
    # What ended it: result, killed, timeout.
    end: str = "running"
    result: dict[str, Any] = field(default_factory=dict)
    lines: list[tuple[float, str]] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    pause_ended: float = 0.0

    @property
    def memory(self) -> Memory:
        """What its journal was told, also by others that use it."""
        return self.machine.memory

    def shares_journal(self, other: Run) -> bool:
        """Whether another one, or this one, uses the same journal."""
        return self.memory is other.memory

    @property
    def is_dated(self) -> bool:
        """Whether it restarts only what has not started since something."""
        return self.since is not None or self.name is not None

    @property
    def looks_from(self) -> float:
        """When it may look first: an instant that is still to come is waited for."""
        return max(self.began, self.since or 0.0)

    @property
    def label(self) -> str:
        """A name for the story."""
        return f"{self.controller} run {self.number}"

    @property
    def failed(self) -> bool:
        """Whether it reported a failure."""
        return bool(self.result.get("failed"))

    @property
    def green(self) -> bool:
        """Whether it reported success."""
        return self.end == "result" and not self.failed

    @property
    def knows_no_outcome(self) -> bool:
        """Whether it says that its request may have been carried out or not."""
        return "It is not known whether a restart" in str(self.result.get("msg"))

    @property
    def posts(self) -> list[Exchange]:
        """Its requests that change something."""
        return [exchange for exchange in self.exchanges if not exchange.reads]

    @property
    def restarts(self) -> list[tuple[Exchange, float, int]]:
        """The tasks that its requests began: exchange, when, task id."""
        return [
            (exchange, when, answer.task)
            for exchange in self.posts
            for when, answer in exchange.commits
            if answer.task is not None
        ]


@dataclass
class History:
    """All of it."""

    runs: list[Run] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    told: list[tuple[float, str]] | None = None
