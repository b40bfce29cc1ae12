# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a check of a service has found: its reads, its filters, its records, and why it ended early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from .._base.parsing import Record
from .._base.service_clock import ServiceClock


class Verdict(StrEnum):
    """How the check as a whole ended; all but the first end it early."""

    CHECKED = "checked"
    NO_OCP = "no_ocp"
    UNREACHABLE = "unreachable"
    CREDENTIALS_REFUSED = "credentials_refused"
    RATE_LIMITED = "rate_limited"


class Answer(StrEnum):
    """The result of a read.

    ABSENT: the path is unknown, or something other than OCP answers there. SKIPPED: not requested.
    """

    OK = "ok"
    FORBIDDEN = "forbidden"
    ABSENT = "absent"
    FAILED = "failed"
    SKIPPED = "skipped"


class Shown(StrEnum):
    """Whether a service shows a fact: in all records that were read, in some, in none; or unknown."""

    SHOWN = "shown"
    PARTLY = "partly"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Heed(StrEnum):
    """Whether a service applies a filter of the task list."""

    WORKS = "works"
    IGNORED = "ignored"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Read:
    """One request; ``path`` is None if it was not sent. ``why`` are a few words, ``message`` is the whole error."""

    name: str
    path: str | None
    answer: Answer
    status: int | None = None
    why: str | None = None
    message: str | None = None
    trace_id: str | None = None

    def result(self) -> dict[str, Any]:
        """As registered facts."""
        return {**asdict(self), "answer": self.answer.value}


@dataclass(frozen=True)
class Filter:
    """A parameter of the task list, and what its check showed."""

    name: str
    state: Heed
    message: str

    def result(self) -> dict[str, Any]:
        """As registered facts."""
        return {**asdict(self), "state": self.state.value}


@dataclass(frozen=True)
class Fact:
    """Something that a service may show or not, and how many records show it."""

    name: str
    state: Shown
    message: str

    def result(self) -> dict[str, Any]:
        """As registered facts."""
        return {**asdict(self), "state": self.state.value}


@dataclass
class Findings:
    """All that was read. A list is None if it could not be read; so is a record if there is none to read.

    ``cluster`` and ``host`` are the ones that were looked at, ``servers`` and ``zones`` those of the cluster, ``agent``
    that of the host. ``tasks`` are the first that it lists, ``restarts`` the newest with that word in their names.
    """

    clock: ServiceClock
    user: str | None
    reads: dict[str, Read] = field(default_factory=dict)
    filters: list[Filter] = field(default_factory=list)
    verdict: Verdict = Verdict.CHECKED
    message: str | None = None
    version: str | None = None
    clusters: list[Record] | None = None
    cluster: Record | None = None
    zones: Sequence[Record] = ()
    servers: Sequence[Record] = ()
    hosts: list[Record] | None = None
    host: Record | None = None
    agent: Record | None = None
    services: list[Record] | None = None
    obproxy_clusters: list[Record] | None = None
    tasks: list[Record] | None = None
    restarts: list[Record] | None = None
    tenants: list[Record] | None = None
    parameters: list[Record] | None = None
    alarms: list[Record] | None = None

    def ok(self, *names: str) -> bool:
        """Whether one of these reads succeeded."""
        return any(name in self.reads and self.reads[name].answer is Answer.OK for name in names)

    def heeds(self, name: str) -> Heed:
        """The result of the check of a filter of the task list."""
        return next((each.state for each in self.filters if each.name == name), Heed.UNKNOWN)
