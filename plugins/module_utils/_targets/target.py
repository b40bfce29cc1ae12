# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The shape of all restart targets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from .._base.parsing import Record
from .._ocp.endpoints import OcpApi
from .._ocp.envelope import ApiResponse


@dataclass(frozen=True)
class Member:
    """One part of a target that restarts, and what the service shows of its last start; None for unknown.

    ``started`` is the latest instant that is known not to be after its start; ``operated_by`` is the id of the task
    that works on it.
    """

    name: str
    status: str | None
    start_time: str | None = None
    pids: dict[str, int] | None = None
    started: datetime | None = None
    operated_by: int | None = None

    def result(self) -> dict[str, Any]:
        """As registered facts."""
        return {"name": self.name, "status": self.status, "start_time": self.start_time, "pids": self.pids}


@dataclass(frozen=True)
class Observation:
    """A target at one moment, shown as ``before`` and ``after`` of a result.

    ``operated_by`` is the id of the task that works on the target as a whole. ``names_operations``: the service names
    such tasks, so none is there if none is named.
    """

    status: str | None
    members: tuple[Member, ...]
    operated_by: int | None = None
    names_operations: bool = False

    @property
    def operations(self) -> list[int]:
        """The ids of the tasks that work on the target or its members, newest first."""
        named = {member.operated_by for member in self.members} | {self.operated_by}
        return sorted((number for number in named if number is not None), reverse=True)

    def result(self) -> dict[str, Any]:
        """As registered facts."""
        return {"status": self.status, "members": [member.result() for member in self.members]}


@dataclass(frozen=True)
class TaskOnTarget:
    """An entry of the task list, and the members of a target that the task restarts.

    ``restarts`` is None for all of them. It is empty for a task that does other work on the target, or restarts an
    unknown part of it.
    """

    record: Record
    restarts: frozenset[str] | None


class Target(Protocol):
    """A thing in the service that one request restarts."""

    # How late the service may show a new start.
    proof_seconds: int = 30

    @property
    def first_observation(self) -> Observation | None:
        """Its observation when it was found, if that was read; else None."""

    @property
    def task_name(self) -> str:
        """The name of the tasks that its restart starts."""

    @property
    def shows_start(self) -> bool:
        """Whether the service shows its start, or only the tasks that restarted it."""

    @property
    def label(self) -> str:
        """Its name for people, with its id."""

    def result(self) -> dict[str, Any]:
        """Kind, names and ids, for ``target`` of a result."""

    def unchanged_facts(self, _members: frozenset[str] | None, /) -> dict[str, Any]:
        """Facts of the members that need no restart; ``_members`` need it, None while undecided.

        Empty if the request always restarts the whole target.
        """
        return {}

    def observe(self, api: OcpApi) -> Observation:
        """Read its current state."""

    def tasks(self, api: OcpApi, **query: Any) -> list[TaskOnTarget]:
        """The restarts of it among the tasks of ``query`` (see ``OcpApi.tasks``), newest first."""

    def restart(self, api: OcpApi, members: frozenset[str], /) -> ApiResponse:
        """Send the POST, for ``members`` alone if the endpoint supports it; the data of the response is a task."""
