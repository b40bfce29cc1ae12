# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which task a request of ours has started, if no answer named it: by kind, target, start, creator, and what was there.

Ids need not rise, so a task is new if it was not among those that were seen before the request.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from .._base.clock import SECOND
from .._base.parsing import Record, instant
from .._ocp.task_model import Task
from .._targets.target import Target, TaskOnTarget
from .._waiting.poll_pauses import UNSEEN_FOR

# In addition to the uncertainty of the clocks.
RESOLUTION = timedelta(seconds=SECOND)
LARGEST_LEAD = timedelta(seconds=5) + RESOLUTION


@dataclass(frozen=True)
class Sent:
    """A request that was sent ``at`` a time of the service, which is ``uncertain`` by as much.

    ``known`` are the ids of the tasks that were there before it; None without permission to read tasks. ``members`` are
    those that it restarts, ``user`` is who sent it, if known. ``refused``: its answer was a refusal, or named the task
    ``failed`` that FAILED in its first step; a proxy may have got either for its own repetition of the request. One of
    an earlier run has the ``token`` that the journal tells it by, the time of this machine in ``wall``, in seconds
    since 1970, and the name of its ``change``; ``is_old``: the time is over in which its task should have shown.
    ``at_most_once``: the same command leaves alone what it may have restarted.
    """

    at: datetime
    uncertain: timedelta
    known: frozenset[int] | None
    members: frozenset[str]
    user: str | None
    refused: bool = False
    failed: int | None = None
    wall: float | None = None
    change: str | None = None
    is_old: bool = False
    token: str | None = None
    at_most_once: bool = False

    def is_new(self, task_id: int) -> bool:
        """Whether a task was not there before."""
        return self.known is not None and task_id not in self.known and task_id != self.failed

    def may_have_started(self, task: Task) -> bool:
        """Whether the request may have started a task: it is new, and its time and its creator allow it."""
        return self.is_new(task.id) and (self.fits(task) or self._has_another_clock(task))

    def fits(self, task: Task) -> bool:
        """Whether the time and the creator of a task allow it."""
        began = _begin_of(task)
        return began is not None and not self._is_after(began, LARGEST_LEAD) and not self._is_of_another(task)

    def _has_another_clock(self, task: Task) -> bool:
        """Whether its user began a task by a clock that no answer has shown.

        No list lags so long that this task was not there before the request.
        """
        began = _begin_of(task)
        is_earlier = began is not None and self._is_after(began, timedelta(seconds=UNSEEN_FOR))
        return is_earlier and bool(self.user and task.creator) and not self._is_of_another(task)

    def is_denied_by(self, task: Task) -> bool:
        """Whether both the time and the creator of a task show that somebody else started it before."""
        began = _begin_of(task)
        if began is None:
            return False
        shown_in_full = timedelta(0) if began.microsecond else RESOLUTION
        return self._is_after(began, shown_in_full) and self._is_of_another(task)

    def has_started(self, task: Task) -> bool:
        """Whether it may have started the task, and the service shows that its user did."""
        return self.may_have_started(task) and bool(self.user) and bool(task.creator)

    def has_begun_since(self, task: Task) -> bool:
        """Whether the service shows that its user began a task at its time or later."""
        return self.fits(task) and bool(self.user) and bool(task.creator)

    def _is_after(self, began: datetime, lead: timedelta) -> bool:
        return began < self.at - self.uncertain - lead

    def _is_of_another(self, task: Task) -> bool:
        return len({str(name).casefold() for name in (self.user, task.creator) if name}) > 1


def _begin_of(task: Task) -> datetime | None:
    return instant(task.start_time) or instant(task.create_time)


def own_tasks(target: Target, tasks: Iterable[TaskOnTarget], sent: Sent) -> list[Task]:
    """Those of the tasks on the target that the request may have started: of its kind, for just its members."""
    restarts = [entry for entry in tasks if _is_whole(entry, sent)]
    found = [entry.task for entry in restarts if _may_be(target, entry, told=True)]
    is_ours = sent.has_started if sent.refused else sent.may_have_started
    return [task for task in found if is_ours(task)]


def undated_tasks(target: Target, tasks: Iterable[TaskOnTarget], sent: Sent) -> list[TaskOnTarget]:
    """Those that may be own tasks, but whose begin is not in the list. Their details have it."""
    restarts = [entry for entry in tasks if _is_whole(entry, sent)]
    new = [entry for entry in restarts if sent.is_new(entry.task.id) and _may_be(target, entry, told=True)]
    return [entry for entry in new if _begin_of(entry.task) is None]


def doubtful_tasks(target: Target, tasks: Iterable[TaskOnTarget], sent: Sent) -> list[Task]:
    """Those of the tasks that the request may have started, if they may be of the target or not.

    Where the tasks could not be read before the request, all of them are in doubt that its user began since: they may
    have been there.
    """
    is_blind = sent.known is None
    found = [entry.task for entry in tasks if _may_be(target, entry, told=False)]
    found += [entry.task for entry in tasks if is_blind and _may_be(target, entry, told=True)]
    is_ours = sent.has_begun_since if is_blind else sent.may_have_started
    return [task for task in found if is_ours(task)]


def _is_whole(entry: TaskOnTarget, sent: Sent) -> bool:
    """Whether a task restarts just what a request was for."""
    return not entry.restarts_others and (entry.restarts is None or entry.restarts == sent.members)


def _may_be(target: Target, entry: TaskOnTarget, *, told: bool) -> bool:
    """Whether a task may be a restart of the target's kind; ``told``: the service shows what it restarts."""
    return (entry.restarts != frozenset()) is told and target.may_be_kind(entry.record)


def is_answer(record: Record, target: Target) -> bool:
    """Whether the task in an answer to the request can be the one it started, by all that it shows but its id."""
    return target.may_be_of(record)
