# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The journals of machines: the real code, told to fail where a scenario says so. They tell what was noted."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import Clock
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import JournalError
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.parsing import Record
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.journal import Allows
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.local_journal import _unusable
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import (
    FirstSight,
    MemberKey,
    RequestRow,
    Wish,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.shared_journal import LEASE, SharedJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.sqlite_run import (
    sqlite_has_tables,
    sqlite_transaction,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.store import Run, SqlJournal, digest

from .choices import Stream
from .fleet import Key
from .profile import EPOCH
from .scheduler import Killed, Scheduler

KINDS = {"agent": "host", "arbitration_service": "arbitration"}


@dataclass(frozen=True)
class Noted:
    """When the journal got something about these things: a name, or a request if that is None.

    ``is_locked``: who noted it really had the locks that it had taken.
    """

    time: float
    name: str | None
    things: frozenset[Key]
    process: str = ""
    is_locked: bool = True


@dataclass
class TaskIds:
    """Of which tasks the journal has got the id, and when first; and for which it once failed to.

    ``kept``: the name of the machine that kept an id for itself, since the database could not be reached.
    """

    noted: dict[int, float] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    kept: dict[int, str] = field(default_factory=dict)

    def has(self, number: int, when: float, machine: str) -> bool:
        """Whether an id that the journal was to get was there at a time, as this machine sees it."""
        is_elsewhere = self.kept.get(number, machine) != machine
        return not (is_elsewhere or number in self.failed) or self.noted.get(number, when) < when


@dataclass
class Memory:
    """What a journal was told, whoever told it; and when people have cleared which names."""

    noted: list[Noted] = field(default_factory=list)
    task_ids: TaskIds = field(default_factory=TaskIds)
    cleared: dict[str, list[float]] = field(default_factory=dict)

    def cleared_at(self, change: str | None, until: float) -> float:
        """When a name was cleared last, until a time; long ago if it was not."""
        return max((when for when in self.cleared.get(change or "", ()) if when <= until), default=-1e12)


@dataclass(frozen=True)
class Outage:
    """A time in which a journal cannot be written, or not even be read."""

    begin: float
    end: float
    reads_fail: bool


@dataclass
class Trap:
    """What happens at one call of a method: after ``calls`` of them."""

    method: str
    calls: int
    how: str
    seconds: float = 0.0


class Faults:
    """When a journal fails, and when leases get lost."""

    def __init__(self, scheduler: Scheduler, choices: Stream, story: Callable[[str], None]) -> None:
        self.outages: list[Outage] = []
        self.traps: list[Trap] = []
        self._scheduler = scheduler
        self._choices = choices
        self._story = story

    def fails(self, *, writes: bool) -> bool:
        """Whether a transaction fails now."""
        now = self._scheduler.now
        found = any(each.begin <= now < each.end and (writes or each.reads_fail) for each in self.outages)
        if found:
            self.tell("cannot be written" if writes else "cannot be read")
        return found

    def happens(self, method: str) -> Trap | None:
        """What happens at this call."""
        due = [each for each in self.traps if each.method == method and each.calls == 0]
        for each in self.traps:
            each.calls -= each.method == method
        for each in due:
            self.tell(f"{each.how} at {method}")
        return due[0] if due else None

    def tell(self, what: str) -> None:
        """Count it, and tell it."""
        self._choices.counted(f"journal: {what}")
        self._story(f"the journal {what}")


FAILS, ANSWER_LOST, SUSPENDED, LEASE_ENDS = "fails", "loses its answer", "process is suspended", "lease ends"


def draw_faults(faults: Faults, choices: Stream) -> None:
    """Some seconds in which a journal fails, or one of its calls."""
    if not choices.chance(0.08):
        return
    if choices.chance(0.4):
        begin, lasts = choices.pick((12.0, 13.0, 10.0, 17.0, 26.0, 43.0)), choices.pick((10.0, 3.0, 30.0, 60.0))
        reads_fail = choices.chance(0.3)
        faults.outages.append(Outage(begin, begin + lasts, reads_fail))
        choices.counted("journal that cannot be used for a time" if reads_fail else "journal read-only for a time")
        return
    method = choices.pick(("begin", "note", "register", "claim"), (40, 35, 20, 5))
    how = choices.pick((FAILS, ANSWER_LOST), (75, 25))
    faults.traps.append(Trap(method, choices.pick((0, 1, 2), (60, 25, 15)), how))
    choices.counted("journal of which one call fails")


def draw_leases(faults: Faults, choices: Stream) -> None:
    """A controller that loses the lease of its cluster between two calls."""
    if not choices.chance(0.6):
        return
    method = choices.pick(("begin", "renew", "register"), (60, 30, 10))
    how = choices.pick((LEASE_ENDS, SUSPENDED))
    seconds = choices.pick((LEASE + 1.0, 45.0, 90.0))
    faults.traps.append(Trap(method, choices.pick((0, 1, 2), (60, 25, 15)), how, seconds))
    choices.counted("journal of which a lease gets lost")


class _Watched(SqlJournal):
    """A journal that tells when something was noted, and fails where that was drawn."""

    def __init__(self, machine: str, scheduler: Scheduler, memory: Memory, faults: Faults | None) -> None:
        super().__init__()
        self.faults = faults
        self._machine = machine
        self._memory = memory
        self._scheduler = scheduler
        self._trap: Trap | None = None
        self._is_written = False

    def register(self, change: str, wish: Wish, sights: Sequence[FirstSight]) -> None:
        try:
            with self._call("register"):
                super().register(change, wish, sights)
        finally:
            if self._is_written:
                self._tell(change, (sight.member for sight in sights))

    def begin(self, row: RequestRow, allows: Allows | None = None) -> int | None:
        with self._call("begin"):
            is_locked = self._has_locks()
            number = super().begin(row, allows)
        self._tell(None, (member for member, _shown in row.members), is_locked)
        return number

    def note(self, number: int, *, task_id: int | None = None, **known: Any) -> None:
        with self._keeping(task_id), self._call("note"):
            super().note(number, task_id=task_id, **known)

    def claim(self, number: int, task_id: int, began: str | None) -> bool:
        with self._keeping(task_id), self._call("claim"):
            return super().claim(number, task_id, began)

    def renew(self) -> None:
        with self._call("renew"):
            super().renew()

    def use(self, *, writes: bool) -> None:
        """Raise JournalError if transactions fail now; a process that was killed does nothing more."""
        actor = self._scheduler.current
        if actor is not None and isinstance(actor.interruption, Killed):
            raise actor.interruption
        is_due = self._trap is not None and self._trap.how == FAILS and writes
        if is_due or (self.faults is not None and self.faults.fails(writes=writes)):
            raise self._error()

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Run]:
        self._is_written = False
        self.use(writes=writes)
        with super()._transaction(writes=writes) as run:
            yield run
        self._is_written = writes
        if writes and self._trap is not None and self._trap.how == ANSWER_LOST:
            raise self._error()

    @contextmanager
    def _call(self, method: str) -> Iterator[None]:
        trap = None if self.faults is None else self.faults.happens(method)
        if trap is not None and trap.how == SUSPENDED:
            actor = self._scheduler.current
            if actor is not None and actor.data is not None:
                actor.data.run.suspended += trap.seconds
            self._scheduler.sleep_until(self._scheduler.now + trap.seconds)
        if trap is not None and trap.how == LEASE_ENDS:
            self._end_leases()
        self._trap, self._is_written = trap, False
        try:
            yield
        finally:
            self._trap = None

    @contextmanager
    def _keeping(self, task_id: int | None) -> Iterator[None]:
        try:
            yield
        except JournalError:
            self._memory.task_ids.failed.update(() if task_id is None else [task_id])
            raise
        if task_id is not None and self._is_written:
            self._memory.task_ids.noted.setdefault(task_id, self._scheduler.now)

    def _tell(self, name: str | None, members: Iterable[MemberKey], is_locked: bool = True) -> None:
        things = frozenset((KINDS.get(each.kind, each.kind), each.id or 0) for each in members)
        self._memory.noted.append(Noted(self._scheduler.now, name, things, self._process, is_locked))

    @property
    def _process(self) -> str:
        actor = self._scheduler.current
        return "" if actor is None or actor.data is None else str(actor.data.run.process)

    def _has_locks(self) -> bool:
        """Whether the current process really has the locks that it took last."""
        raise NotImplementedError

    def _error(self) -> JournalError:
        """What the real one raises when it cannot be used."""
        raise NotImplementedError

    def _end_leases(self) -> None:
        """Let all leases end."""


class FileJournal(_Watched, MemoryJournal):
    """That of one controller."""

    def __init__(self, machine: str, scheduler: Scheduler, memory: Memory, faults: Faults | None = None) -> None:
        super().__init__(machine, scheduler, memory, faults)
        self._locked_here: dict[str, set[str]] = {}

    @contextmanager
    def lock(self, names: Sequence[str], clock: Clock, timeout: float) -> Iterator[None]:
        with super().lock(names, clock, timeout):
            process, self._locked_here[self._process] = self._process, set(names)
            try:
                yield
            finally:
                self._locked_here.pop(process, None)

    def _has_locks(self) -> bool:
        taken = self._locked_here.get(self._process)
        return bool(taken) and self._locked.issuperset(taken or ())

    def _error(self) -> JournalError:
        file = Path(f"/home/{self._machine}/.ansible/oceanbase.ocp/journal.sqlite")
        return _unusable(file, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))


class Database:
    """The database of a shared journal. Its clock is ``ahead`` of the true time."""

    place = "journal on db.test:5432 (postgresql)"

    def __init__(self, ahead: float) -> None:
        self.ahead = ahead
        self.memory = Memory()
        self.connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)


class _Connected(SharedJournal):
    """The real one, with SQLite in memory in place of its library and the database."""

    _base: Database
    _scheduler: Scheduler

    def __init__(self) -> None:
        self._is_ready = False
        self._lease = LEASE
        self._held = {}
        self._id = ""
        self._has_mail = True

    @property
    def place(self) -> str:
        return self._base.place

    def _make_tables(self) -> None:
        SqlJournal.prepare(self)

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Run]:
        with sqlite_transaction(self._base.connection, writes=writes) as run:
            yield run

    def _has_tables(self, run: Run) -> bool:
        return sqlite_has_tables(run)

    def _now(self, _run: Run) -> float:
        return EPOCH + self._scheduler.now + self._base.ahead


class DatabaseJournal(_Watched, _Connected):
    """How one run uses a shared journal."""

    def __init__(self, machine: str, scheduler: Scheduler, database: Database, faults: Faults | None) -> None:
        super().__init__(machine, scheduler, database.memory, faults)
        self._base = database
        self._locked_here: dict[str, int] = {}

    @contextmanager
    def lock(self, names: Sequence[str], clock: Clock, timeout: float) -> Iterator[None]:
        with super().lock(names, clock, timeout):
            wanted = {digest(name) for name in names}
            self._locked_here = {key: fence for key, (_until, fence) in self._found().items() if key in wanted}
            try:
                yield
            finally:
                self._locked_here = {}

    def _keep(self, number: int, known: Record) -> None:
        super()._keep(number, known)
        if known["task_id"] is not None:
            self._memory.task_ids.kept.setdefault(known["task_id"], self._machine)

    def _deliver(self) -> None:
        super()._deliver()
        task_ids = self._memory.task_ids
        for task_id in [each for each, machine in task_ids.kept.items() if machine == self._machine]:
            task_ids.noted.setdefault(task_id, self._scheduler.now)

    def _found(self) -> dict[str, tuple[float, int]]:
        rows = self._base.connection.execute("SELECT name_key, held_until, fence FROM ocp_journal_leases")
        return {key: (until, fence) for key, until, fence in rows}

    def _has_locks(self) -> bool:
        now, found = EPOCH + self._scheduler.now + self._base.ahead, self._found()
        leases = [(found.get(key, (0.0, 0)), fence) for key, fence in self._locked_here.items()]
        return bool(leases) and all(until > now and current == fence for (until, current), fence in leases)

    def _error(self) -> JournalError:
        return JournalError(
            f"The journal {self.place} cannot be used: connection refused. Look whether the database runs, and whether "
            "this user may create, read and change tables there."
        )

    def _end_leases(self) -> None:
        self._base.connection.execute("UPDATE ocp_journal_leases SET held_until = 0")
