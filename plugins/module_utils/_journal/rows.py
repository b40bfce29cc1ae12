# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the journal keeps: members, what they showed at first sight, wishes, requests and their outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .._base.parsing import instant

# Their ``address`` is a name.
WITHOUT_ADDRESS = ("cluster", "zone")
REFUSED, RUNNING, SUCCESSFUL, FAILED, UNKNOWN = "REFUSED", "RUNNING", "SUCCESSFUL", "FAILED", "UNKNOWN"


@dataclass(frozen=True, eq=False)
class MemberKey:
    """One thing that restarts, such as a server: ``cluster`` is the identity of its cluster, never a URL.

    That is a name, a space and an id, or nothing. The same thing has another one after its cluster was renamed: keys
    are equal if their ``parts`` are.
    """

    cluster: str
    kind: str
    id: int | None
    address: str

    @property
    def parts(self) -> tuple[str | int | None, ...]:
        """What it is compared by.

        Two services may use the same ids. An address is of one of them; without one, the cluster's name counts too.
        """
        number = self.cluster.rpartition(" ")[2]
        return (self.cluster if self.kind in WITHOUT_ADDRESS else number, self.kind, self.id, self.address)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemberKey) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def in_cluster(self, identity: str) -> MemberKey:
        """The same thing when its cluster has this identity."""
        name = identity.rpartition(" ")[0]
        return replace(self, cluster=identity, address=name if self.kind == "cluster" else self.address)


@dataclass(frozen=True)
class Shown:
    """What the service showed of a member: its start as text, and the processes that run with their ids.

    ``ahead``: the start was still to come by the clock of the service.
    """

    start: str | None = None
    pids: tuple[tuple[str, int], ...] = ()
    ahead: bool = False

    @property
    def is_null(self) -> bool:
        """Whether it shows nothing to compare with."""
        return self.start is None and not self.pids and not self.ahead


@dataclass(frozen=True)
class Place:
    """Where the server with this address is: its IDC and its region, None where OCP does not show them.

    ``shown`` is what it showed before the request that takes it down; None if the start of an earlier restart may still
    replace that, so that a later start proves nothing.
    """

    address: str
    idc: str | None = None
    region: str | None = None
    shown: Shown | None = field(default=None, compare=False)

    @property
    def host(self) -> str:
        """The IP address of its machine."""
        return self.address.rpartition(":")[0]


@dataclass(frozen=True)
class FirstSight:
    """What a member showed when a change was first asked for; ``at`` is in seconds since 1970, by the controller.

    ``tasks`` are the ids of the tasks that it had; None if OCP did not let the controller read tasks. Of these,
    ``starting`` might start it from then on, ``running`` only if they are rolled back, and ``late`` have perhaps made a
    start that shows later. ``filled``: ``shown`` is what was shown later, when nothing was shown at first, or when a
    start was late. ``newest`` is the newest time that the tasks showed, in seconds since 1970 by the clocks of the
    service; None if one of them hid when it began or ended. ``clocks`` is how many seconds those of the service were
    ahead of the controller's then, at least and at most; None if that is not noted.
    """

    member: MemberKey
    shown: Shown
    at: float
    tasks: tuple[int, ...] | None = ()
    late: tuple[int, ...] = ()
    starting: tuple[int, ...] = ()
    running: tuple[int, ...] = ()
    filled: bool = False
    newest: float | None = None
    clocks: tuple[float, float] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the first start is not known yet."""
        return self.shown.is_null or bool(self.late)

    def completed_by(self, later: FirstSight) -> FirstSight:
        """The same with the start of a later sight, if this one is open and the later one shows a start for sure."""
        if not self.is_open or later.shown.is_null or (later.late and not self.shown.is_null):
            return self
        is_filled = self.filled or self.shown.is_null or later.filled
        starting = tuple(sorted({*self.starting, *(number for number in later.starting if number in self.late)}))
        return replace(self, shown=later.shown, late=later.late, filled=is_filled, starting=starting)


@dataclass(frozen=True)
class Wish:
    """What the name of a change asks for: a ``digest`` to compare, and ``words`` for people."""

    digest: str
    words: str


def has_another_begin(known: str | None, shown: str | None) -> bool:
    """Whether a task is another one than the known task with its id: it began in another second.

    A service gives ids a second time if it was installed anew, or restored from a backup.
    """
    before, now = instant(known), instant(shown)
    return before is not None and now is not None and int(before.timestamp()) != int(now.timestamp())


@dataclass(frozen=True)
class RequestRow:
    """A request for a restart, noted before it is sent.

    ``number`` is None until the journal has it. ``at`` is in seconds since 1970, by the controller. ``members`` are
    what it restarts, each with what it showed before. ``change`` is the name of a change. ``values`` are those of
    ``until_effective`` as canonical JSON. ``began`` is when the task began, by the service. ``outcome`` is None as long
    as it is not known, REFUSED, RUNNING (accepted, the task is known), SUCCESSFUL, FAILED, or UNKNOWN (the search is
    over and found no task). ``settled``: a person has said that it counts no more. ``known`` are the ids of the tasks
    that the target had before; None if OCP did not let the controller read tasks. ``token`` tells the request from
    every other one. ``places``: where all servers are that it takes down, also those that need no restart. ``back``:
    these are known to serve again. ``looked_at`` is when somebody who waits for that has looked last, by the clock of
    the journal. ``ahead`` is how many seconds the clocks of the service were ahead of the controller's then, at least
    and at most. ``timeout`` is how many seconds its answer may take; 0 if that is not noted. ``witnessed``: it is not
    our request for this change but a restart by somebody else, or for another change, noted as a proof that OCP may
    forget. ``since`` is the instant that it is for (``started_before``), in seconds since 1970.
    """

    number: int | None
    at: float
    kind: str
    task_name: str | None
    members: tuple[tuple[MemberKey, Shown], ...]
    change: str | None
    values: str | None
    url: str
    task_id: int | None = None
    began: str | None = None
    outcome: str | None = None
    settled: bool = False
    known: tuple[int, ...] | None = ()
    token: str = ""
    places: tuple[Place, ...] = ()
    back: bool = False
    looked_at: float = 0.0
    ahead: tuple[float, float] | None = None
    timeout: float = 0.0
    witnessed: bool = False
    since: float | None = None

    @property
    def is_for_change(self) -> bool:
        """Whether it is for a change, so that a later run may need it however late that is."""
        return self.since is not None or self.change is not None or self.values is not None

    @property
    def takes_down(self) -> bool:
        """Whether its servers may be down because of it."""
        return bool(self.places) and not self.back and not self.settled and self.outcome != REFUSED

    def with_facts(self, **facts: Any) -> RequestRow:
        """The row with these facts noted too.

        A request whose task is known was not refused, whatever its answer said: another controller may have found that
        task meanwhile.
        """
        is_refuted = facts.get("outcome") == REFUSED and self.task_id is not None
        return self if is_refuted else replace(self, **facts)

    def has_same_task(self, other: RequestRow) -> bool:
        """Whether both have one task. A new installation of the service gives the same ids to other tasks."""
        is_same_id = self.task_id is not None and self.task_id == other.task_id
        return is_same_id and not has_another_begin(self.began, other.began)
