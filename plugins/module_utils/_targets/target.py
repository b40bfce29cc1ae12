# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The interface of every restart target: find, observe, restart, tasks; its members and facts before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol

from .._base.errors import TargetError
from .._base.parsing import Record
from .._base.text import join_names, state_words
from .._journal.rows import MemberKey, Place
from .._ocp.endpoints import OcpApi
from .._ocp.envelope import ApiResponse
from .._ocp.task_model import Task
from .serving import is_in_flight
from .task_names import is_foreign, is_known, is_named, is_other_kind


@dataclass(frozen=True)
class Member:
    """One part of a target that restarts, and what the service shows of its last start; None for unknown.

    ``started`` is the latest instant that is known not to be after its start; ``operated_by`` is the id of the task
    that works on it; ``serves``: see serving.py. ``stopped`` are the names of processes that do not run. ``is_ahead``:
    its start is still to come by the clock of the service, so only other starts of its host can be compared with it;
    None if that was not looked at. One so far ahead that no clock shows it is not ``started`` at all. ``uptime``: for
    how many seconds it has run, where ``started`` is computed from that.
    """

    name: str
    status: str | None
    start_time: str | None = None
    pids: dict[str, int] | None = None
    started: datetime | None = None
    operated_by: int | None = None
    serves: bool | None = None
    inner_status: str | None = None
    stopped: tuple[str, ...] = ()
    is_ahead: bool | None = None
    uptime: int | None = field(default=None, compare=False)

    @property
    def state(self) -> str:
        """What the service shows of it, as in ``10.0.0.1:2882 is RUNNING and INACTIVE``."""
        words = " and ".join(word for word in (self.status, self.inner_status) if word) or "in an unknown state"
        stopped = f", and {join_names(self.stopped)} does not run" if self.stopped else ""
        return f"{self.name} is {words}{stopped}"

    def result(self) -> dict[str, Any]:
        """As registered facts."""
        return {"name": self.name, "status": self.status, "start_time": self.start_time, "pids": self.pids}


def not_serving_words(count: int) -> str:
    """The begin of a sentence about so many parts that do not serve, or about a whole."""
    return "They do not serve now" if count > 1 else "It does not serve now"


@dataclass(frozen=True)
class PlacedServer:
    """A server of a cluster at one moment: its ids, its zone with the status of that, and what is shown of itself.

    ``version`` is that of the database on it; ``compaction`` are the words for merges in its zone and its cluster.
    ``stopped_at`` is when it was stopped last, None for never or not shown.
    """

    id: int | None
    host_id: int | None
    zone: str | None
    zone_status: str | None
    member: Member
    version: str | None = None
    compaction: tuple[str, ...] = ()
    stopped_at: datetime | None = None
    zone_inner_status: str | None = None
    idc: str | None = None
    region: str | None = None

    @property
    def place(self) -> Place:
        """Where it is."""
        return Place(self.member.name, self.idc, self.region)


@dataclass(frozen=True)
class ClusterRecords:
    """A cluster and its servers as the service has shown them at one moment."""

    cluster: Record
    servers: Sequence[Record]


@dataclass(frozen=True)
class Observation:
    """A target at one moment, shown as ``before`` and ``after`` of a result.

    ``operated_by`` is the id of the task that works on the target as a whole. ``names_operations``: the service names
    such tasks, so none is there if none is named. ``whole_serves``: whether a zone or cluster itself serves; None if
    it is not shown. ``servers`` are all of the cluster that the target is or belongs to, empty if it has none;
    ``records`` are what it was read from. ``is_there``: the service shows it, and each part that it was found with.
    """

    status: str | None
    members: tuple[Member, ...]
    operated_by: int | None = None
    names_operations: bool = False
    whole_serves: bool | None = True
    servers: tuple[PlacedServer, ...] = field(default=(), compare=False)
    records: ClusterRecords | None = field(default=None, compare=False)
    is_there: bool = True

    @property
    def operations(self) -> list[int]:
        """The ids of the tasks that work on the target or its members, newest first."""
        named = {member.operated_by for member in self.members} | {self.operated_by}
        return sorted((number for number in named if number is not None), reverse=True)

    @property
    def serves(self) -> bool | None:
        """Whether it serves with all its members; None if that is not shown, or not all of it is there."""
        shown = [self.whole_serves, *(member.serves for member in self.members)]
        if False in shown:
            return False
        return True if self.is_there and self.members and None not in shown else None

    @property
    def is_in_flight(self) -> bool:
        """Whether a status alone says that something works on it."""
        return any(is_in_flight(status) for status in (self.status, *(member.status for member in self.members)))

    @property
    def trouble(self) -> str:
        """Which parts do not serve, for people."""
        return (
            join_names(member.state for member in self.members if member.serves is False)
            or f"it is {state_words(self.status)}"
        )

    @property
    def serving_words(self) -> str:
        """A sentence for people who see a failure: whether the target serves now."""
        if not self.is_there:
            return "OCP no longer shows it, or a part of it."
        if self.serves is False:
            return f"{not_serving_words(sum(one.serves is False for one in self.members))}: {self.trouble}."
        return "It serves now." if self.serves else "OCP does not show whether it serves now."

    def in_its_zone(self, time: datetime) -> datetime:
        """The instant in the time zone in which the service shows starts, or as it is if it shows none."""
        zone = next((member.started.tzinfo for member in self.members if member.started), None)
        return time if zone is None else time.astimezone(zone)

    def judged_by(self, latest: datetime, farthest: datetime) -> Observation:
        """The same, where a start after ``latest`` is still to come, and one after ``farthest`` is of no clock."""
        return replace(self, members=tuple(_judged(member, latest, farthest) for member in self.members))

    @property
    def at_work(self) -> frozenset[str]:
        """The names of the members that are at work by their status."""
        return frozenset(member.name for member in self.members if is_in_flight(member.status))

    @property
    def troubled(self) -> frozenset[str]:
        """The names of the members that do not serve, or are at work by their status."""
        return self.at_work.union(member.name for member in self.members if member.serves is False)

    def not_started_since(self, since: datetime) -> list[Member]:
        """The members that are not shown to have started since then."""
        return [member for member in self.members if member.started is None or member.started < since]

    def result(self) -> dict[str, Any]:
        """As registered facts."""
        return {"status": self.status, "members": [member.result() for member in self.members]}


def _judged(member: Member, latest: datetime, farthest: datetime) -> Member:
    if member.started is None:
        return member
    if member.started > farthest:
        return replace(member, started=None, start_time=None, is_ahead=True)
    return replace(member, is_ahead=member.started > latest)


@dataclass(frozen=True)
class TaskOnTarget:
    """An entry of the task list, and the members of a target that the task restarts.

    ``restarts`` is None for all of them. It is empty for a task that does other work on the target, or restarts an
    unknown part of it. ``restarts_others``: what no request for a part of the target restarts is among it, too.
    ``is_denied``: a filter of the service says that it is of something else, and its own record was not read yet.
    ``of_untold_part``: it restarts a part of the target, and OCP does not show which.
    """

    record: Record
    restarts: frozenset[str] | None
    restarts_others: bool = False
    is_denied: bool = False
    of_untold_part: bool = False

    @cached_property
    def task(self) -> Task:
        """The record as it is read; once, since a look asks many times."""
        return Task.from_api(self.record)


class Target(Protocol):
    """A thing in the service that one request restarts.

    ``kind`` is its name in results. ``is_whole_cluster``: OCP chooses the order of its servers.
    """

    kind: str
    is_whole_cluster: bool = False

    @classmethod
    def find(cls, api: OcpApi, *options: Any, **more: Any) -> Target:
        """Find what the options name. Raises TargetError unless it is exactly one."""

    @property
    def first_observation(self) -> Observation | None:
        """Its observation when it was found, if that was read; else None."""

    @property
    def task_name(self) -> str | None:
        """The name of the tasks that its restart starts; None if no document has it."""

    @property
    def cluster_id(self) -> int | None:
        """The id of the cluster that it is a part of, if any."""

    @property
    def shows_start(self) -> bool:
        """Whether the service shows its start, or only the tasks that restarted it."""

    @property
    def endangers(self) -> Sequence[int]:
        """The ids of the clusters whose tenants its restart may concern."""
        return () if self.cluster_id is None else (self.cluster_id,)

    @property
    def arbiter_id(self) -> int | None:
        """The id of the arbitration service that it is, if it is one."""
        return None

    def served_now(self, _api: OcpApi, /) -> tuple[Sequence[int], bool]:
        """The ids of the clusters that it endangers now, and whether these are known to be all."""
        return self.endangers, True

    @property
    def locks(self) -> Sequence[str]:
        """What only one restart of this controller looks at and requests at a time, by name."""

    def member_keys(self, observed: Observation, /) -> dict[str, MemberKey]:
        """What its members are called in the journal, by their names."""

    def neighbour_keys(self, _observed: Observation, /) -> list[MemberKey]:
        """The same of others whose restart matters to it, such as the other servers of its cluster."""
        return []

    @property
    def whole_key(self) -> MemberKey | None:
        """What it is called in the journal itself; None for one thing, and where the caller chooses the members."""
        return None

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

    def may_be_kind(self, task: Record) -> bool:
        """Whether a task may be a restart of its kind: by its name, if documents have that, or in another language."""
        if self.task_name is None:
            return not is_known(task.get("name"))
        return is_named(task, self.task_name) or is_foreign(task)

    def may_restart_part(self, task: Record) -> bool:
        """Whether a task may have restarted it or a part of it, by its name: whatever may be of its kind, and more."""
        return self.may_be_kind(task)

    def may_be_of(self, task: Record) -> bool:
        """Whether nothing that a task shows, such as its kind, cluster or tags, speaks against a restart of it."""
        return not is_other_kind(task, self.task_name)

    def command_for(self, _member: str, /) -> str:
        """The ad-hoc command that restarts this member alone, for no change; empty for a kind that has no module."""
        return ""

    def observe(self, api: OcpApi) -> Observation:
        """Read its current state. Raises TargetError if its id now belongs to something else."""

    def listed(self, api: OcpApi, **query: Any) -> list[Record]:
        """The tasks of ``query`` (see ``OcpApi.tasks``) among which its restarts are, newest first."""

    def touching(self, api: OcpApi, listed: list[Record], **query: Any) -> list[TaskOnTarget]:
        """Those of the ``listed`` tasks of ``query`` that restart it or a part of it, or may do so."""

    def tasks(self, api: OcpApi, **query: Any) -> list[TaskOnTarget]:
        """The restarts of it among the tasks of ``query``, newest first."""
        return self.touching(api, self.listed(api, **query), **query)

    def restart(self, api: OcpApi, members: frozenset[str], /) -> ApiResponse:
        """Send the POST, for ``members`` alone if the endpoint supports it; the data of the response is a task."""


def check_identity(what: str, label: str, known: object, shown: object) -> None:
    """Raise TargetError if the id of a target shows another name or address than when it was found."""
    if shown is not None and known != shown:
        raise TargetError(
            f"The service now shows {what} {shown} under the id of {label}. Look at both in OCP, and name what you "
            "mean anew."
        )


@dataclass(frozen=True)
class Selector:
    """The options that name a target of a ``kind``, such as its class ``Server``."""

    kind: type[Target]
    options: Mapping[str, Any]

    def find(self, api: OcpApi) -> Target:
        """The target. Raises TargetError unless the options name exactly one, and ServiceError."""
        return self.kind.find(api, **self.options)
