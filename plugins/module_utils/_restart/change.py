# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether a start or a task lies before or since a change: by intervals of clocks, or by the first use of its name.

Three kinds of clock are never taken for one: that of this machine, those of the application servers of the service, and
that of each database host. Where intervals overlap, the clocks decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf

from .._base.clock import HUNDREDTH, SECOND
from .._base.parsing import instant
from .._base.service_clock import HOST_UNCERTAINTY, LARGEST_SILENT_OFFSET, ServiceClock
from .._journal.rows import Shown
from .._ocp.task_model import Task
from .._targets.serving import renewed_processes
from .._targets.target import Member
from .evidence import started_within, work_of
from .knowledge import Relative, Work

# Seconds by which a start that is computed from an uptime varies between reads.
UPTIME_TOLERANCE = 2 * SECOND
# Seconds. OCP reads what shows of a process so often (ocp-agent's report).
UPTIME_READ_EVERY = 60 * SECOND
# Seconds. A start that is shown as such moves by the whole length of a restart, or not at all.
SHORTEST_RESTART = SECOND / 2


def _cut_off(time: datetime) -> float:
    """Seconds that a time may lack as it is shown."""
    return HUNDREDTH if time.microsecond else SECOND


@dataclass(frozen=True)
class Span:
    """Something happened from ``first`` to ``last``, in seconds since 1970 by one clock."""

    first: float
    last: float

    @classmethod
    def of(cls, time: datetime) -> Span:
        """A time as it is shown, which is truncated."""
        seconds = time.timestamp()
        return cls(seconds, seconds + _cut_off(time))

    def widened(self, seconds: float) -> Span:
        """The same by a clock that differs by so much at most."""
        return Span(self.first - seconds, self.last + seconds)

    def relative_to(self, other: Span) -> Relative:
        """Whether it was before the other, or since."""
        if self.first >= other.last:
            return Relative.SINCE
        # A time and itself, each shown as its second, are not before one another.
        return Relative.BEFORE if self.last <= other.first else Relative.UNCLEAR


def begun_by(local: datetime, clock: ServiceClock) -> Span:
    """An instant by the clock of this machine, as the clocks of the service may show it."""
    least, most = clock.bounds
    return Span(local.timestamp() + least, local.timestamp() + most)


def started_span(member: Member) -> Span | None:
    """When a member started, by the clocks of the service; None if no start is shown, or one that is still to come."""
    if member.started is None or member.is_ahead:
        return None
    return Span.of(member.started).widened(HOST_UNCERTAINTY)


def begun_span(time: str | None) -> Span | None:
    """When a task began or ended, by the clock of one of the application servers."""
    found = instant(time)
    return None if found is None else Span.of(found)


def newest_time(tasks: Iterable[Task]) -> float | None:
    """The end of the newest second in which one of these tasks began or ended; None without, or if one hides it."""
    times = [time for task in tasks for time in (task.start_time, *([task.finish_time] if task.finished else []))]
    spans = [begun_span(time) for time in times]
    return None if None in spans else max((span.last for span in spans if span is not None), default=None)


def relative_to_task(started: Span, begun: Span, apart: float) -> Relative:
    """Compare a start with the time at which a task began or ended; HIDDEN if the clocks are too far apart for that.

    The clocks of the service are ``apart`` by so many seconds. It is not known which of them wrote the task's time.
    """
    found = started.relative_to(begun)
    is_sure = apart <= LARGEST_SILENT_OFFSET or started.widened(apart).relative_to(begun) is found
    return found if is_sure or found is Relative.UNCLEAR else Relative.HIDDEN


def may_have_made(task: Task, started: Span, apart: float) -> bool:
    """Whether a start may be that of a task, by the clocks; those of the service are ``apart`` by so many seconds."""
    begun, ended = begun_span(task.start_time), begun_span(task.finish_time)
    is_later = begun is None or relative_to_task(started, begun, apart) is not Relative.BEFORE
    return is_later and (ended is None or relative_to_task(started, ended, apart) is not Relative.SINCE)


def noted_member(name: str, shown: Shown) -> Member:
    """A member of this name with what the journal has noted of it."""
    started = instant(shown.start)
    pids = dict(shown.pids) or None
    return Member(name, None, start_time=shown.start, pids=pids, started=started, is_ahead=shown.ahead)


def has_moved(before: Member, after: Member) -> bool | None:
    """Whether the start is later than before, or else the processes are others; None if neither is shown.

    Both starts are by the clock of the same host. One that was still to come and is earlier now: that clock was set.
    Where a process has the number of before, as it may in a container after each start, that clock may have drifted.
    """
    renewed = _has_other_pids(before, after)
    if before.started is None or after.started is None:
        return renewed
    if _was_set_back(before, after):
        return None
    later = (after.started - before.started).total_seconds()
    if later <= _least_move(before, after):
        return False
    return None if renewed is False and later <= HOST_UNCERTAINTY else True


def _has_other_pids(before: Member, after: Member) -> bool | None:
    """Whether each process has another number; None if that is not shown."""
    same = renewed_processes((before.pids or {}).keys() & (after.pids or {}).keys())
    if not before.pids or not after.pids or not same:
        return None
    return all(before.pids[name] != after.pids[name] for name in same)


def _has_same_pids(before: Member, after: Member) -> bool:
    """Whether all processes that a restart renews are shown with the numbers of before."""
    earlier, later = before.pids or {}, after.pids or {}
    renewed = renewed_processes(earlier.keys() | later.keys())
    return bool(renewed) and all(name in earlier and earlier[name] == later.get(name) for name in renewed)


def _least_move(before: Member, after: Member) -> float:
    """A start that moves by more seconds is another one. Of one start, an application server may omit the fractions."""
    if not after.start_time:
        return UPTIME_TOLERANCE
    return max(SHORTEST_RESTART, *(_cut_off(each.started) for each in (before, after) if each.started is not None))


def _was_set_back(before: Member, after: Member) -> bool:
    """Whether a start that was still to come is earlier now: the clock was set, and it may have started since."""
    if not before.is_ahead or after.started is None:
        return False
    if before.started is None:
        return not after.is_ahead
    return (before.started - after.started).total_seconds() > _least_move(before, after)


def _is_earlier(before: Member, after: Member) -> bool:
    """Whether the start is an earlier one than before: the answer is old, or the clock of the host was set back."""
    if before.started is None or after.started is None:
        return False
    return (before.started - after.started).total_seconds() > UPTIME_TOLERANCE


@dataclass(frozen=True)
class Sight:
    """What was shown of a member when a name was first used for it, and the ids of the tasks that it had.

    ``tasks`` is None if OCP did not let the controller read tasks then. ``shown`` has neither a start nor processes if
    none was shown. ``late``: one of these tasks may have made a start that shows later. ``filled``: ``shown`` is what
    was shown after that use, and may be since. ``newest`` is the newest time that these tasks showed, by the clocks of
    the service, None if it is not known. Of the tasks, ``starting`` might start it from then on, ``running`` only
    if they are rolled back. ``at`` is when that was, by the clocks of the service, and ``age`` how many seconds ago, by
    that of this machine. ``joined``: the name was used for its cluster or zone before it belonged to that, from then
    on.
    """

    shown: Member
    tasks: frozenset[int] | None
    late: bool = False
    filled: bool = False
    newest: float | None = None
    starting: frozenset[int] = frozenset()
    running: frozenset[int] = frozenset()
    at: Span | None = None
    age: float | None = None
    joined: Span | None = None

    def of_start(self, member: Member) -> Relative:
        """Whether it has started since, by what it shows now."""
        if self.joined is not None:
            started = started_span(member)
            return Relative.HIDDEN if started is None else started.relative_to(self.joined)
        if self._runs_since_before(member):
            return Relative.BEFORE
        moved = has_moved(self.shown, member)
        if moved and not self.late:
            found = _of_moved(self.shown, member, self.at)
            return Relative.UNCLEAR if found is Relative.SINCE and self._has_run_since(member) else found
        if moved is False and self._is_filled_since(member):
            return Relative.MOVED
        was_set = _was_set_back(self.shown, member) or _is_earlier(self.shown, member)
        if moved or was_set or (moved is False and self.filled):
            return Relative.UNCLEAR
        if moved is None:
            return Relative.UNCLEAR if self._may_be_new(member) else Relative.HIDDEN
        return Relative.BEFORE

    def _is_filled_since(self, member: Member) -> bool:
        """Whether no start was shown then, and the one that was shown later is since by the clocks."""
        started = started_span(member)
        return self.filled and started is not None and self.at is not None and started.first >= self.at.last

    def _runs_since_before(self, member: Member) -> bool:
        """Whether the processes have the numbers of then, and have started before that by all clocks.

        The start that is computed from an uptime moves with the clock of the application server that answers.
        """
        started = started_span(member)
        is_before = started is not None and self.at is not None and started.relative_to(self.at) is Relative.BEFORE
        return is_before and _has_same_pids(self.shown, member)

    def _has_run_since(self, member: Member) -> bool:
        """Whether a process with the number of then may have run for longer: a clock was set.

        Its uptime is read once a minute.
        """
        is_same = _has_other_pids(self.shown, member) is False
        return (
            is_same
            and self.age is not None
            and member.uptime is not None
            and member.uptime + UPTIME_READ_EVERY >= self.age
        )

    def _may_be_new(self, member: Member) -> bool:
        """Whether a start shows now, where none did, and it is not sure to be from before."""
        started = started_span(member)
        if self.shown.started is not None or started is None or self.at is None:
            return False
        return started.relative_to(self.at) is not Relative.BEFORE

    def of_task(self, task: Task, member: Member, *, is_own: bool = False) -> Relative:
        """Whether a task began since: it was not there, or another one was that had its id, or it may have started it.

        If the start has moved, the start decides. A task that began before a member joined has not restarted it, and
        nothing shows when it joined: for such a member the result is UNCLEAR, unless it has started since. It is also
        UNCLEAR for a task that was not there and began before by the clocks, or may have made the start that was shown:
        the list may have been behind. One that we requested for the member has begun since. Where it is not known which
        tasks were there, the clocks decide.
        """
        if self.tasks is None:
            begun = begun_span(task.start_time)
            return Relative.UNCLEAR if begun is None or self.at is None else begun.relative_to(self.at)
        if task.id not in self.tasks or self._is_newer(task.start_time):
            if is_own:
                return Relative.SINCE
            is_unclear = (
                (self.joined is not None and self.of_start(member) is not Relative.SINCE)
                or self._may_be_earlier(task)
                or self._has_begun_before(task)
            )
            return Relative.UNCLEAR if is_unclear else Relative.SINCE
        is_retried = task.id not in self.running and self._is_newer(task.finish_time)
        may_start = task.id in self.starting or is_retried or (task.is_undone and task.id in self.running)
        is_unclear = may_start and self.of_start(member) is not Relative.SINCE
        return Relative.UNCLEAR if is_unclear else Relative.BEFORE

    def may_be_of(self, task: Task, member: Member) -> bool:
        """Whether a task may have made the start that is shown of a member, which is not since by the clocks."""
        started = started_span(member)
        if started is None or self.at is None or started.relative_to(self.at) is Relative.SINCE:
            return False
        return may_have_made(task, started, apart=self.at.last - self.at.first)

    def _has_begun_before(self, task: Task) -> bool:
        begun = begun_span(task.start_time)
        return begun is not None and self.at is not None and begun.relative_to(self.at) is Relative.BEFORE

    def _is_newer(self, time: str | None) -> bool:
        """Whether a begin or an end is later than all that the tasks showed then.

        So the id of a task that was there is that of another one now, or somebody has retried it. Each time is by the
        clock of one application server, and so are those that it is compared with.
        """
        span = begun_span(time)
        return span is not None and self.newest is not None and span.first >= self.newest

    def _may_be_earlier(self, task: Task) -> bool:
        """Whether a task that was not there may have made the start that was shown."""
        started = started_span(self.shown)
        if started is None or self.at is None:
            return False
        return may_have_made(task, started, apart=self.at.last - self.at.first)


@dataclass(frozen=True)
class Begin:
    """When a change began.

    ``instant`` is ``started_before`` by the clocks of the service, and ``wall`` by that of this machine; None if it is
    not given. ``sights`` are those of the name by member, without those for which it was never used; None without a
    name. ``requested`` is what members showed when this machine requested a restart of them at the instant or later.
    ``seen`` is what this run saw of them first. It lacks members whose start may still be replaced by that of a restart
    from before the change. ``latest`` is what a known clock of the service may show now; a later time is by another.
    """

    instant: Span | None = None
    wall: float | None = None
    sights: Mapping[str, Sight] | None = None
    requested: Mapping[str, Sequence[Member]] = field(default_factory=dict)
    seen: Mapping[str, Member] = field(default_factory=dict)
    latest: float = inf

    @property
    def is_dated(self) -> bool:
        """Whether there is an instant or a name."""
        return self.instant is not None or self.sights is not None

    def of_start(self, member: Member) -> Relative:
        """Whether a member has started since. With an instant and a name, either is enough."""
        return _either(self._by_clock(member), self._by_sight(member))

    def of_start_by(self, member: Member, tasks: Iterable[tuple[Task, float | None]]) -> Relative:
        """The same, beside the ``tasks`` that restart it, each with when this machine has sent its request.

        A start that has moved is unclear if one of them may have made it that may have begun before the name was used,
        and no other.
        """
        found = self.of_start(member)
        sight = None if self.sights is None else self.sights.get(member.name)
        if found is not Relative.SINCE or sight is None or self._by_clock(member) is Relative.SINCE:
            return found
        made = {self.of_task(task, requested, member) for task, requested in tasks if sight.may_be_of(task, member)}
        is_unclear = Relative.UNCLEAR in made and Relative.SINCE not in made
        return Relative.UNCLEAR if is_unclear else found

    def of_task(self, task: Task, requested: float | None, member: Member) -> Relative:
        """Whether a task that restarts a member began since; ``requested`` is when this machine requested that."""
        by_clock = by_name = None
        if self.instant is not None:
            span = begun_span(task.start_time)
            by_clock = Relative.UNCLEAR
            # A later one is of an application server whose clock no answer has shown.
            if span is not None and span.first <= self.latest:
                by_clock = span.relative_to(self.instant)
            if by_clock is Relative.BEFORE and task.finished:
                by_clock = self._by_its_start(task)
            if self.wall is not None and requested is not None and requested >= self.wall:
                by_clock = Relative.SINCE
        if self.sights is not None:
            sight = self.sights.get(member.name)
            is_own = requested is not None
            by_name = Relative.BEFORE if sight is None else sight.of_task(task, member, is_own=is_own)
        return _either(by_clock, by_name)

    def lacks_first_start(self, member: Member) -> bool:
        """Whether what shows of a member may not yet count as its start at the first use of the name."""
        if self.sights is None or not (member.started or member.pids or member.is_ahead):
            return False
        sight = self.sights.get(member.name)
        return sight is None or sight.late

    def ran_at_first(self, task_id: int, name: str) -> bool:
        """Whether a task ran when the name of the change was first used for a member."""
        sight = (self.sights or {}).get(name)
        return sight is not None and task_id in sight.running

    def _by_its_start(self, task: Task) -> Relative:
        """Whether an ended task that began before has started its target since, by the same clock."""
        began, ended = map(begun_span, started_within(task))
        if self.instant is None or began is None or work_of(task) is Work.NOTHING:
            return Relative.BEFORE
        if ended is not None and ended.relative_to(self.instant) is Relative.BEFORE:
            return Relative.BEFORE
        return Relative.SINCE if began.relative_to(self.instant) is Relative.SINCE else Relative.UNCLEAR

    def _by_clock(self, member: Member) -> Relative | None:
        if self.instant is None:
            return None
        earlier = [before for before in self.requested.get(member.name, ()) if has_moved(before, member)]
        if earlier:
            return _either(*(_of_moved(before, member, self.instant) for before in earlier))
        span = started_span(member)
        found = Relative.HIDDEN if span is None else span.relative_to(self.instant)
        if found is Relative.UNCLEAR and member.name in self.seen and has_moved(self.seen[member.name], member):
            return Relative.SINCE
        return found

    def _by_sight(self, member: Member) -> Relative | None:
        if self.sights is None:
            return None
        sight = self.sights.get(member.name)
        if sight is None:
            return Relative.BEFORE if member.started is not None or member.pids else Relative.HIDDEN
        return sight.of_start(member)


def _of_moved(shown: Member, member: Member, begin: Span | None) -> Relative:
    """Whether a member has restarted since, whose start is another one than the ``shown``.

    A start that is before by all clocks, and moved no more than computed starts vary, is the same: otherwise the clock
    of its host was set back by just the time between two starts.
    """
    if not _was_before(shown, member, begin):
        return Relative.SINCE
    return Relative.BEFORE if _varies(shown, member) else Relative.MOVED


def _varies(shown: Member, member: Member) -> bool:
    if shown.started is None or member.started is None:
        return False
    return abs(member.started - shown.started) <= timedelta(seconds=UPTIME_TOLERANCE)


def _was_before(shown: Member, member: Member, begin: Span | None) -> bool:
    """Whether the start of a member, which is not the one that was ``shown``, is before this by all clocks.

    That its processes are others needs no clock.
    """
    started = None if _has_other_pids(shown, member) else started_span(member)
    return started is not None and begin is not None and started.relative_to(begin) is Relative.BEFORE


def _either(*told: Relative | None) -> Relative:
    """SINCE if one of them says so; BEFORE only if all do."""
    shown = [each for each in told if each is not None]
    for each in (Relative.SINCE, Relative.MOVED, Relative.UNCLEAR, Relative.HIDDEN):
        if each in shown:
            return each
    return Relative.BEFORE
