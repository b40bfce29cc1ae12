# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What earlier looks of a run have shown and still counts, because the replicas of a service lag."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from .._base.parsing import Record
from .._journal.rows import has_another_begin
from .._targets.target import Member, Observation, PlacedServer, TaskOnTarget
from .._waiting.poll_pauses import UNSEEN_FOR
from .change import UPTIME_TOLERANCE, has_moved
from .look import newest_first

Starts = dict[str, datetime]


@dataclass
class EarlierLooks:
    """What was shown of a target and of its cluster, and until when a status counts that showed it at work."""

    _restarts: dict[int, TaskOnTarget] = field(default_factory=dict)
    _of_others: set[int] = field(default_factory=set)
    _starts: Starts = field(default_factory=dict)
    _first: dict[str, Member] = field(default_factory=dict)
    _at_work_until: float = 0.0
    _starts_at_work: Starts = field(default_factory=dict)
    # The servers of the cluster that were shown down, each as it was then, and when that was last.
    _down: dict[str, tuple[PlacedServer, float]] = field(default_factory=dict)

    def remember(self, entry: TaskOnTarget, members: Iterable[Member]) -> None:
        """Count a restart that this controller knows from elsewhere, or ignore one of another target."""
        if entry.restarts is not None and entry.restarts.isdisjoint(member.name for member in members):
            self._of_others.add(entry.record["id"])
        elif entry.record["id"] not in self._restarts or _is_untold(self._restarts[entry.record["id"]]):
            self._restarts[entry.record["id"]] = entry

    def completed(
        self,
        shown: Iterable[TaskOnTarget],
        read: Callable[[int], Record | None],
        may_restart: Callable[[Record], bool],
    ) -> list[TaskOnTarget]:
        """The ``shown`` tasks and the known restarts among which they lack some, newest first; ``read`` reads one.

        A task that has ended counts also where the service does not show what it restarts, if it ``may_restart`` the
        target and is gone now: nothing else will show what it has done.
        """
        found = {entry.record["id"]: entry for entry in shown if entry.record["id"] not in self._of_others}
        for number, known in self._restarts.items():
            if number not in found:
                record = read(number)
                if known.task.succeeded and has_another_begin(known.task.start_time, (record or {}).get("startTime")):
                    record = None
                if record is None or not _is_untold(known):
                    found[number] = replace(known, record=record or known.record)
            elif known.task.succeeded and not found[number].task.rolled_back:
                # It can no longer change, so a record with another state is stale.
                found[number] = replace(found[number], record=known.record) if _is_untold(known) else known
            elif _is_untold(found[number]):
                found[number] = replace(found[number], restarts=known.restarts)
        for number, entry in found.items():
            is_evidence = not entry.is_denied and entry.task.finished and may_restart(entry.record)
            if not _is_untold(entry) or is_evidence:
                self._restarts[number] = entry
        return newest_first(found.values())

    def note(self, observed: Observation, *, explained: bool, now: float) -> None:
        """Remember what was observed; ``explained``: a task is known that works on the target."""
        starts = _starts_of(observed)
        for member in observed.members:
            if member.started is not None or member.pids:
                self._first.setdefault(member.name, member)
        for name, start in starts.items():
            self._starts[name] = max(start, self._starts.get(name, start))
        if observed.is_in_flight and not explained:
            # While it works none may show, or the new one already.
            self._starts_at_work = self._starts_at_work if self.showed_work(now) else dict(self._starts)
            self._at_work_until = now + UNSEEN_FOR
        elif explained:
            self._at_work_until = 0.0

    def at_worst(self, observed: Observation, now: float) -> Observation:
        """The same with the other servers of the cluster that were down a minute ago, and are not shown to start since.

        Another answer may show an older state.
        """
        own = {member.name for member in observed.members}
        others = [server for server in observed.servers if server.member.name not in own]
        for server in others:
            name, member = server.member.name, server.member
            if member.serves is not True:
                self._down[name] = (server, now)
            elif name in self._down:
                before, last = self._down[name]
                if now - last >= UNSEEN_FOR or has_moved(before.member, member):
                    del self._down[name]
        if not self._down:
            return observed
        servers = tuple(
            self._down[server.member.name][0] if server in others and server.member.name in self._down else server
            for server in observed.servers
        )
        return replace(observed, servers=servers)

    @property
    def first_shown(self) -> Mapping[str, Member]:
        """Each member as it was shown first."""
        return self._first

    def showed_work(self, now: float) -> bool:
        """Whether a status counts that showed it at work."""
        return now < self._at_work_until

    def is_behind(self, observed: Observation) -> bool:
        """Whether it shows less than an earlier look: an earlier start, no start any more, or no target at all."""
        if not observed.is_there:
            return True
        starts = _starts_of(observed)
        is_gone = bool(self._starts) and not starts and observed.serves is None and not observed.is_in_flight
        return is_gone or _has_earlier(starts, self._starts)

    def may_be_behind(self, observed: Observation, now: float) -> bool:
        """Whether work is no longer shown, and its effect not yet."""
        is_recent = self.showed_work(now) and not observed.is_in_flight
        return is_recent and not _has_earlier(self._starts_at_work, _starts_of(observed))


def _is_untold(entry: TaskOnTarget) -> bool:
    return entry.restarts == frozenset()


def _starts_of(observed: Observation) -> Starts:
    return {member.name: member.started for member in observed.members if member.started is not None}


def _has_earlier(starts: Starts, others: Starts) -> bool:
    tolerance = timedelta(seconds=UPTIME_TOLERANCE)
    return any(start < others.get(name, start) - tolerance for name, start in starts.items())
