# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How many targets FAILED restarts of one change hold in the service, and above how many no restart begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .._base.cli_hints import BY_OPTIONS, NEXT_STEPS_HEADING, RUN_AGAIN, Hints
from .._base.clock import Clock
from .._base.errors import ChangeStopped, NotFound, PermissionDenied, ServiceError
from .._base.parsing import Record, instant
from .._base.service_clock import ServiceClock, to_service_clock
from .._base.text import NAMED_AT_MOST
from .._journal.journal import Journal
from .._journal.rows import FirstSight
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import FAILED, SUCCESSFUL, Task
from .._targets.operating_tasks import restarted_parts, shown_cluster, tasks_of_cluster
from .._targets.task_names import CLUSTER_RESTART, DATABASE_RESTARTS, kind_of
from .back import noted_span
from .evidence import needs_detail, work_of
from .knowledge import Work
from .look import age_order

# All are read if these may not be the newest: each belongs to the change, or newer ones have lower ids.
NEWEST_FAILED = 100


@dataclass(frozen=True)
class FailureLimit:
    """Nothing begins while more than ``most`` targets are held, not counting those of the ``judged`` tasks.

    ``hints`` is how the caller gives these options.
    """

    most: int
    judged: frozenset[int] = frozenset()
    hints: Hints = BY_OPTIONS


def begin_of(
    started_before: datetime | None, uses: Iterable[FirstSight], clock: ServiceClock, wall: float
) -> datetime | None:
    """The begin of a change by the ``clock`` of the service: its instant, else the first of the ``uses`` of its name.

    None without both. ``wall`` is now by the clock of this machine. Rather too early than too late.
    """
    if started_before is not None:
        return to_service_clock(started_before, clock, wall)[0]
    earliest = min((noted_span(each.at, each.clocks, clock).first for each in uses), default=None)
    return None if earliest is None else datetime.fromtimestamp(earliest, UTC)


class FailureCheck:
    """Looks for the FAILED restarts of the change since ``started_before``, by the clock of this machine.

    Without that, ``begin_with`` says when the change began. Without a limit or a begin it reads nothing. ``warnings``
    gets a sentence if these credentials may not look.
    """

    def __init__(
        self,
        api: OcpApi,
        limit: FailureLimit | None,
        started_before: datetime | None,
        clock: Clock,
        warnings: list[str],
    ) -> None:
        self._api = api
        self._limit = limit
        self._started_before = started_before
        self._clock = clock
        self._warnings = warnings
        # Those of one target, newest first.
        self._found: list[list[Record]] | ServiceError = []
        self._first_uses: Callable[[], Sequence[FirstSight]] | None = None

    def begin_with(self, journal: Journal, change: str) -> None:
        """Without an instant, the change begins when its name is first used for anything."""
        self._first_uses = lambda: journal.first_uses(change)

    @property
    def since(self) -> datetime | None:
        """The begin of the change by the clock of the service; None if it is not known. Raises JournalError."""
        uses = [] if self._started_before is not None or self._first_uses is None else self._first_uses()
        return begin_of(self._started_before, uses, self._api.service_clock, self._clock.wall())

    @property
    def requests(self) -> int:
        """How many requests a look takes, as long as nothing has failed."""
        has_begin = self._started_before is not None or self._first_uses is not None
        return 1 if self._limit is not None and has_begin else 0

    def read(self) -> None:
        """Read the FAILED tasks again, before the look at the target. ``check`` raises an error of this read."""
        if self._limit is None or (since := self.since) is None:
            return
        try:
            self._found = self._failures(self._limit, since)
        except PermissionDenied as error:
            self._found = []
            self._warnings.append(f"It is not known how many restarts of this change have failed: {error}")
        except ServiceError as error:
            self._found = error

    def check(self, label: str) -> None:
        """Raise ChangeStopped if too many targets are held for a restart of what has this label, or a ServiceError."""
        if self._limit is None:
            return
        if isinstance(self._found, ServiceError):
            option = self._limit.hints.named("max_failures")
            self._found.add_advice(f"Without {option}, failed restarts elsewhere are not checked.")
            raise self._found
        most = self._limit.most
        if len(self._found) <= most:
            return
        # Only now it matters which of them hold their target.
        held = [holder for tasks in self._found if (holder := next(filter(self._holds, tasks), None)) is not None]
        if len(held) > most:
            numbers = [task["id"] for task in held]
            raise ChangeStopped(_words(label, held, self._limit), failed_task_ids=numbers, failed_subtasks=[])

    def _failures(self, limit: FailureLimit, since: datetime) -> list[list[Record]]:
        """The FAILED restarts since the change, those of each target newest first, as are the targets."""
        tasks = self._api.tasks(status=FAILED, limit=NEWEST_FAILED)
        in_order = sorted(tasks, key=_age, reverse=True)
        if len(tasks) >= NEWEST_FAILED and (in_order != tasks or _has_begun(tasks[-1], since)):
            in_order = sorted(self._api.tasks(status=FAILED), key=_age, reverse=True)
        found: dict[Any, list[Record]] = {}
        for task in in_order:
            if _counts(task, since, limit.judged):
                found.setdefault(_target(task), []).append(task)
        return list(found.values())

    def _holds(self, failed: Record) -> bool:
        """Whether the task is still FAILED, had changed something, and no later restart of its target succeeded."""
        try:
            task = Task.from_api(self._api.task(failed["id"]))
        except NotFound:
            return False
        if task.status != FAILED or task.failed_at_first_step:
            return False
        cluster = shown_cluster(failed)
        if cluster is None:
            return True
        others = tasks_of_cluster(self._api, cluster, status=SUCCESSFUL)
        later = [other for other in others if _age(other) > age_order(task)]
        return not any(_covers(other, failed) and self._has_restarted(other) for other in later)

    def _has_restarted(self, listed: Record) -> bool:
        """Whether a task that ended SUCCESSFUL has done its work: it was not rolled back, and skipped no such step."""
        task = Task.from_api(listed)
        if needs_detail(task):
            try:
                task = Task.from_api(self._api.task(task.id))
            except NotFound:
                return True
        return work_of(task) is Work.RESTARTED


def _age(task: Record) -> tuple[datetime, int]:
    return age_order(Task.from_api(task))


def _counts(task: Record, since: datetime, judged: Iterable[int]) -> bool:
    is_failed = Task.from_api(task).status == FAILED
    is_restart = kind_of(task.get("name")) in DATABASE_RESTARTS
    return is_failed and is_restart and task["id"] not in judged and _has_begun(task, since)


def _has_begun(task: Record, since: datetime) -> bool:
    """Whether it began since then; if no time is shown, it may have."""
    began = instant(Task.from_api(task).start_time)
    return began is None or began >= since


def _target(task: Record) -> Any:
    """What the task restarts; the task itself where the service does not show that."""
    parts = restarted_parts(task)
    whole = kind_of(task.get("name")) == CLUSTER_RESTART
    return (shown_cluster(task), *sorted(map(str, parts))) if parts or whole else task["id"]


def _covers(other: Record, failed: Record) -> bool:
    """Whether another restart of the cluster, which succeeded, is one of the same target."""
    if kind_of(other.get("name")) == CLUSTER_RESTART:
        return True
    parts = restarted_parts(failed)
    return bool(parts) and parts <= restarted_parts(other)


def _words(label: str, held: Sequence[Record], limit: FailureLimit) -> str:
    from .._waiting.failure_report import remedies

    tasks = [Task.from_api(task) for task in held]
    where = [f"task {task.label}{_place(task)}" for task in tasks[:NAMED_AT_MOST]]
    more = f" and {len(held) - NAMED_AT_MOST} more" if len(held) > NAMED_AT_MOST else ""
    one = "target of this change is" if len(held) == 1 else "targets of this change are"
    judged = ",".join(str(task["id"]) for task in held[:NAMED_AT_MOST])
    why = (
        f"Did not restart {label}: {len(held)} {one} held by a FAILED restart, more than "
        f"{limit.hints.named('max_failures')}={limit.most} allows: {', '.join(where)}{more}. Give "
        f"{limit.hints.given('judged_tasks', judged)} when a person has decided that the others may go on. "
        f"{NEXT_STEPS_HEADING}"
    )
    return "\n".join([why, *remedies(tasks[0]), RUN_AGAIN])


def _place(task: Task) -> str:
    cluster = task.cluster_name or task.cluster_id
    return "" if cluster is None else f" in cluster {cluster}"
