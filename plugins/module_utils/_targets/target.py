# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What can be restarted: the shape that all kinds have, and how one is picked by name or id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from .._base.errors import TargetError
from .._base.parsing import Record, integer, records
from .._ocp.endpoints import OcpApi
from .._ocp.session import Answer

NAMED_AT_MOST = 10

# The names of the tasks by which the service restarts (sections 4.1 to 4.4, and the neighbouring call for a zone).
SERVER_RESTART = "Restart OB server"
ZONE_RESTART = "Restart OB zone"
CLUSTER_RESTART = "Restart OB cluster"
AGENT_RESTART = "Batch restart OCP agent"
ARBITRATION_RESTART = "Restart arbitration service"


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

    ``operated_by`` is the task that works on the target as a whole; ``tells_operations``, that the service names such
    tasks at all, so that there is none where it names none.
    """

    status: str | None
    members: tuple[Member, ...]
    operated_by: int | None = None
    tells_operations: bool = False

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
    def found(self) -> Observation | None:
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

    def left_out(self, _members: frozenset[str] | None, /) -> dict[str, Any]:
        """Facts of those that need no restart when ``_members`` do, which is None before that is decided.

        There are none where the call takes the target as a whole.
        """
        return {}

    def observe(self, api: OcpApi) -> Observation:
        """Read how it is now."""

    def tasks(self, api: OcpApi, **query: Any) -> list[TaskOnTarget]:
        """The restarts that touch it among the tasks of ``query`` (see ``OcpApi.tasks``), newest first."""

    def restart(self, api: OcpApi, members: frozenset[str], /) -> Answer:
        """Send the POST for ``members``, where the call can tell them apart; the answer's data is a task."""


def operated_by(record: Record) -> int | None:
    """The task that works on something now."""
    return integer(record.get("operatingTaskInstanceId"))


def tells_operations(own: list[Record], *, alike: Sequence[Record] = (), around: Sequence[Record] = ()) -> bool:
    """Whether the tasks that its ``own`` records name are all that work on a target.

    Null ones may be left out, so a service names them at all if any record does, also one ``alike``. What a record
    ``around`` names and no own one does, such as the cluster of a server, may work on the target all the same.
    """
    named = {operated_by(record) for record in own} | {None}
    told = any("operatingTaskInstanceId" in record for record in (*own, *alike, *around))
    return told and all(operated_by(record) in named for record in around)


def tag_values(task: Record, key: str) -> set[Any]:
    """What the tags of a task say under ``key``, such as which server it works on; none where they do not tell.

    Older versions send no tags, and what a tag has of its keys differs.
    """
    return {tag[key] for tag in records(task.get("tags")) if isinstance(tag.get(key), (int, str))}


def address_of(record: Record, ip: str, port: str) -> str:
    """As in ``10.0.0.1:2882``, an IPv6 address in brackets."""
    host = str(record.get(ip))
    return f"[{host}]:{record.get(port)}" if ":" in host else f"{host}:{record.get(port)}"


def only(option: str, value: str, matches: list[Record], known: Iterable[str], where: str = "") -> Record:
    """The one record that matches ``value``; raises TargetError, with a choice of those ``known``."""
    if len(matches) > 1:
        ids = listed(str(record.get("id")) for record in matches)
        raise TargetError(f"{option}: {value} is the name of {len(matches)}{where}; give one of the ids {ids} instead.")
    if not matches:
        there = listed(known)
        hint = f"; to choose from: {there}" if there else ""
        raise TargetError(f"{option}: {value} matches nothing{where}{hint}. Check the name or id.")
    if integer(matches[0].get("id")) is None:
        raise TargetError(f"{option}: the service tells no id of {value}{where}. Check the version of the OCP.")
    return matches[0]


def listed(names: Iterable[str]) -> str:
    """With commas, and no more than a reader can take in."""
    every = list(names)
    more = f" and {len(every) - NAMED_AT_MOST} more" if len(every) > NAMED_AT_MOST else ""
    return ", ".join(every[:NAMED_AT_MOST]) + more
