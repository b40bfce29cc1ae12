# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which task our request started if no answer named it: by id, kind, target, start and creator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from .._base.clock import SECOND, Clock
from .._base.errors import OutcomeUnknown, ServiceError
from .._base.parsing import Record, instant
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._targets.operating_tasks import shown_cluster
from .._targets.target import Target, TaskOnTarget
from .._targets.task_names import is_other_kind
from .outcome_search import search_outcome

# In addition to the uncertainty of the clocks.
RESOLUTION = timedelta(seconds=SECOND)
LARGEST_LEAD = timedelta(seconds=5) + RESOLUTION


@dataclass(frozen=True)
class Sent:
    """A request that was sent ``at`` a time of the service, which is ``uncertain`` by as much.

    ``mark`` is the highest id of a task before it; None without permission to read tasks. ``members`` are those that
    it restarts, ``user`` is who sent it, if known. ``refused``: its answer was a refusal, or named the task ``failed``
    that FAILED in its first step; a proxy may have got either for its own repetition of the request.
    """

    at: datetime
    uncertain: timedelta
    mark: int | None
    members: frozenset[str]
    user: str | None
    refused: bool = False
    failed: int | None = None

    def may_have_started(self, task: Task) -> bool:
        """Whether the id, the time and the creator of a task allow that the request started it."""
        return self.mark is not None and task.id > self.mark and task.id != self.failed and self.fits(task)

    def fits(self, task: Task) -> bool:
        """Whether the time and the creator of a task allow it."""
        began = _begin_of(task)
        return began is not None and not self._is_after(began, LARGEST_LEAD) and not self._is_of_another(task)

    def is_denied_by(self, task: Task) -> bool:
        """Whether both the time and the creator of a task show that somebody else started it before."""
        began = _begin_of(task)
        if began is None:
            return False
        shown_in_full = timedelta(0) if began.microsecond else RESOLUTION
        return self._is_after(began, shown_in_full) and self._is_of_another(task)

    def _is_after(self, began: datetime, lead: timedelta) -> bool:
        return began < self.at - self.uncertain - lead

    def _is_of_another(self, task: Task) -> bool:
        return len({str(name).casefold() for name in (self.user, task.creator) if name}) > 1

    def has_started(self, task: Task) -> bool:
        """Whether it may have started the task, and the service shows that its user did."""
        return self.may_have_started(task) and bool(self.user) and bool(task.creator)


def _begin_of(task: Task) -> datetime | None:
    return instant(task.start_time) or instant(task.create_time)


def own_tasks(target: Target, listed: Iterable[TaskOnTarget], sent: Sent) -> list[Task]:
    """Those of the listed tasks on the target that the request may have started: of its kind, for just its members."""
    restarts = [entry for entry in listed if entry.restarts is None or entry.restarts == sent.members]
    tasks = [Task.from_api(entry.record) for entry in restarts if _may_be(target, entry, told=True)]
    is_ours = sent.has_started if sent.refused else sent.may_have_started
    return [task for task in tasks if is_ours(task)]


def doubtful_tasks(target: Target, listed: Iterable[TaskOnTarget], sent: Sent) -> list[Task]:
    """Those of the listed tasks that the user of the request began since, and that may be of the target or not."""
    tasks = [Task.from_api(entry.record) for entry in listed if _may_be(target, entry, told=False)]
    return [task for task in tasks if sent.has_started(task)]


def _may_be(target: Target, entry: TaskOnTarget, *, told: bool) -> bool:
    """Whether a task may be a restart of the target's kind; ``told``: the service shows what it restarts."""
    return (entry.restarts != frozenset()) is told and target.may_be_kind(entry.record)


def is_answer(record: Record, target: Target, mark: int | None) -> bool:
    """Whether the task in an answer to the request can be the one it started, by its id, kind and cluster."""
    return (
        record["id"] > (mark or 0)
        and not is_other_kind(record, target.task_name)
        and (target.cluster_id is None or shown_cluster(record) in (None, target.cluster_id))
    )


def find_own_task(api: OcpApi, target: Target, sent: Sent, lost: ServiceError, clock: Clock) -> Task:
    """The only task that the request may have started; ``lost`` is how its answer was lost.

    The search lasts at most as long as a request. Raises OutcomeUnknown if there is no such task, or more than one.
    """
    kind = f'a task "{target.task_name}"' if target.task_name else "a task"
    wanted = f"{kind} of it, begun since and with an id above {sent.mark}"
    if sent.mark is None:
        raise outcome_unknown(
            target, lost, "The tasks cannot be read, since these credentials lack the permission (TASK_VIEWER)"
        )
    mark = sent.mark
    search = search_outcome(api, lambda: own_tasks(target, target.tasks(api, above=mark), sent), clock)
    found = search.found or []
    if len(found) == 1:
        return found[0]
    if found:
        result = f"More than one task fits, {wanted}: {', '.join(str(task.id) for task in found)}"
    else:
        result = f"For {api.timeout:g} seconds the task list did not show {wanted}"
    raise outcome_unknown(target, lost, result + search.last_look)


def outcome_unknown(target: Target, lost: ServiceError, search: str) -> OutcomeUnknown:
    """The error for a request that may or may not restart the target."""
    return OutcomeUnknown(
        f"It is not known whether a restart of {target.label} is running. {lost} {search}. "
        "Check its state and the newest tasks in OCP; then run this again with started_before, which restarts only "
        "what has not started since.",
        **lost.facts,
    )
