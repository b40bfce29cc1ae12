# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What can be restarted: the shape that all kinds have, and how one is picked by name or id."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from .._base.parsing import Record
from .._ocp.endpoints import OcpApi
from .._ocp.envelope import ApiResponse


@dataclass(frozen=True)
class Member:
    """One part of a target that restarts, with what the service shows of its last start; None where it shows none.

    ``started`` is the latest instant at which, or after which, it is known to have started; ``operated_by`` is the
    task that works on it.
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
    """A target at one moment, as ``before`` and ``after`` of a result show it.

    ``operated_by`` is the task that works on the target as a whole; ``names_operations``, that the service names such
    tasks at all, so that there is none where it names none.
    """

    status: str | None
    members: tuple[Member, ...]
    operated_by: int | None = None
    names_operations: bool = False

    @property
    def operations(self) -> list[int]:
        """The ids of the tasks that work on the target or on a member of it, newest first."""
        named = {member.operated_by for member in self.members} | {self.operated_by}
        return sorted((number for number in named if number is not None), reverse=True)

    def result(self) -> dict[str, Any]:
        """As registered facts."""
        return {"status": self.status, "members": [member.result() for member in self.members]}


@dataclass(frozen=True)
class TaskOnTarget:
    """An entry of the task list, and which members of a target that task restarts.

    ``restarts`` is None for all of them; it is empty for a task that works on the target in another way, or on a part
    that the service does not tell.
    """

    record: Record
    restarts: frozenset[str] | None


class Target(Protocol):
    """Something found in the service that one call restarts."""

    @property
    def first_observation(self) -> Observation | None:
        """How it was when it was found, as far as that was read."""

    @property
    def task_name(self) -> str:
        """Name of the tasks that this call starts."""

    @property
    def shows_start(self) -> bool:
        """Whether the service shows when it started, or only the tasks that restarted it."""

    @property
    def label(self) -> str:
        """What a person calls it, with its id."""

    def result(self) -> dict[str, Any]:
        """Kind, names and ids, as ``target`` of a result shows them."""

    def unchanged_facts(self, _members: frozenset[str] | None, /) -> dict[str, Any]:
        """Facts of those that need no restart when ``_members`` do, which is None before that is decided.

        There are none where the call takes the target as a whole.
        """
        return {}

    def observe(self, api: OcpApi) -> Observation:
        """Read how it is now."""

    def tasks(self, api: OcpApi, **query: Any) -> list[TaskOnTarget]:
        """The restarts that touch it among the tasks of ``query`` (see ``OcpApi.tasks``), newest first."""

    def restart(self, api: OcpApi, members: frozenset[str], /) -> ApiResponse:
        """Send the POST for ``members``, where the call can tell them apart; the answer's data is a task."""
