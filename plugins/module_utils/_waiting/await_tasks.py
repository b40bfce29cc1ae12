# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The wait for one task or thousands: what each poll reads, how long a task may be missing, the result."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from .._base.cli_hints import tasks_command
from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import (
    NotFound,
    OcpError,
    OptionError,
    PageNotFound,
    ResponseUnreadable,
    ServiceError,
    TargetError,
)
from .._base.parsing import Record
from .._ocp.endpoints import OcpApi
from .._ocp.paging import PAGE_SIZE
from .._ocp.side_by_side import Crew, Ended
from .._ocp.task_list import RECENT_TASKS
from .._ocp.task_model import RUNNING, SUCCESSFUL, Task, is_finished
from .failure_report import Purpose, task_failed, wait_timed_out
from .poll_pauses import LASTING_AT_FIRST, PollPolicy, Result, poll_until_done, transient_error_warnings
from .progress import MOST_TASKS_IN_DETAIL, PollResult, Progress, Unseen

NO_PURPOSE = Purpose()
UNSEEN = (NotFound, PageNotFound)
# UNSEEN_FOR for an id that a user has given and may have misspelt.
GIVEN_UNSEEN_FOR = 15.0


@dataclass(frozen=True)
class Awaited:
    """The results of the tasks in the order requested, each once, and warnings about failed polls."""

    results: list[Result]
    unsuccessful: list[Task]
    warnings: list[str]


def await_tasks(
    api: OcpApi,
    task_ids: list[int],
    policy: PollPolicy,
    *,
    full: bool = True,
    purpose: Purpose = NO_PURPOSE,
    clock: Clock = SYSTEM_CLOCK,
) -> Result:
    """The result of a wait for ``task_ids``; raises as ``wait_for_success`` does, OptionError and TargetError."""
    if not task_ids:
        raise OptionError("task_ids: the list is empty; give the ids of the tasks to wait for.")
    started = clock.now()
    try:
        waited = wait_for_success(
            api, task_ids, policy, full=full, purpose=purpose, unseen_for=GIVEN_UNSEEN_FOR, clock=clock
        )
    except NotFound as error:
        text = f"task_ids: task {error.facts['task_id']} does not exist. See the newest tasks: {tasks_command()}"
        raise TargetError(text, **error.facts) from None
    return {
        "changed": False,
        "tasks": waited.results,
        "elapsed": round(clock.now() - started, 3),
        "warnings": waited.warnings,
    }


def wait_for_success(
    api: OcpApi,
    task_ids: Iterable[int],
    policy: PollPolicy,
    *,
    full: bool = True,
    purpose: Purpose = NO_PURPOSE,
    unseen_for: float = 0.0,
    before: Task | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Awaited:
    """Wait until all tasks have finished; raises TaskFailed if one did not succeed, else as ``wait_for_tasks``."""
    waited = wait_for_tasks(
        api, task_ids, policy, full=full, purpose=purpose, unseen_for=unseen_for, before=before, clock=clock
    )
    if waited.unsuccessful:
        error = task_failed(api, waited.unsuccessful, len(waited.results), purpose, policy.log_lines)
        error.facts.update(tasks=waited.results, warnings=waited.warnings)
        raise error
    return waited


def wait_for_tasks(
    api: OcpApi,
    task_ids: Iterable[int],
    policy: PollPolicy,
    *,
    full: bool = True,
    purpose: Purpose = NO_PURPOSE,
    unseen_for: float = 0.0,
    before: Task | None = None,
    crew: Crew | None = None,
    listed: bool = False,
    clock: Clock = SYSTEM_CLOCK,
) -> Awaited:
    """Poll the tasks until each has finished, successfully or not; ``full`` results have all subtasks.

    With a ``crew`` many that have ended since the last poll are read side by side. With ``listed`` the list may tell
    that they have succeeded, which shows less of a task than a read of it. Temporary polling errors do not end the
    wait. Rejected credentials, a missing permission and a task that does not exist do: every answer was 404 for
    ``unseen_for`` seconds. As long may a replica that lags show a task as it was ``before`` somebody acted on it, which
    is not its end. Raises WaitTimeout after one last poll.
    """
    grace = min(unseen_for, policy.timeout)
    graces = {task_id: Grace(clock, grace) for task_id in task_ids}
    progress = Progress(policy.show, policy.offline_time, steps=policy.steps)
    poller = _AwaitedTasks(api, crew, graces, full, listed, progress, purpose)
    if before is not None:
        poller.acted_on(before, Grace(clock, grace))
    waited = poll_until_done(poller, api, policy, clock)
    if not poller.done:
        error = wait_timed_out(
            api, poller.unfinished, waited, poller.poll_warnings(), purpose, was_seen=poller.was_seen
        )
        error.facts["tasks"] = poller.results()
        raise error
    return Awaited(poller.results(), poller.unsuccessful, poller.poll_warnings())


class Grace:
    """The ``seconds``, from now on and since a task was last seen, in which a 404 does not mean that it is gone."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self.renew()

    def renew(self) -> None:
        """The task was seen."""
        self._until = self._clock.now() + self._seconds

    @property
    def left(self) -> float:
        """For how many seconds more; 0 if it is over."""
        return max(0.0, self._until - self._clock.now())

    @property
    def is_over(self) -> bool:
        """Whether a 404 means that the task does not exist."""
        return self.left == 0


class _AwaitedTasks:
    """The awaited tasks: results of those that ended, and the others as last read, if ever."""

    def __init__(
        self,
        api: OcpApi,
        crew: Crew | None,
        graces: Mapping[int, Grace],
        full: bool,
        listed: bool,
        progress: Progress,
        purpose: Purpose,
    ) -> None:
        self.wanted = list(graces)
        self.unfinished: dict[int, Task | None] = dict.fromkeys(graces)
        self.ended: dict[int, Result] = {}
        self.unsuccessful: list[Task] = []
        self._just_read: dict[int, Task] = {}
        self._problem: ServiceError | None = None
        self._unseen: Unseen | None = None
        self._api = api
        self._crew = crew
        self._full = full
        self._listed = listed
        self._graces = graces
        self._problems: list[ServiceError] = []
        self._progress = progress
        self._purpose = purpose
        self._before: tuple[Task, Grace] | None = None

    def acted_on(self, before: Task, grace: Grace) -> None:
        """Until ``grace`` is over a record that is the same as ``before`` is of the time before the action."""
        self._before = before, grace

    def _is_outdated(self, task: Task) -> bool:
        return self._before is not None and task == self._before[0] and not self._before[1].is_over

    @property
    def done(self) -> bool:
        """Whether all have ended."""
        return not self.unfinished

    @property
    def was_seen(self) -> bool:
        """Whether the last poll succeeded."""
        return self._problem is None

    @property
    def heartbeat_due(self) -> float:
        """Seconds into the wait at which ``heartbeat`` is due."""
        return self._progress.heartbeat_due

    def poll(self) -> None:
        """Read each task; of more than MOST_TASKS_IN_DETAIL, only those that the list no longer shows as RUNNING."""
        self._just_read, self._problem, self._unseen = {}, None, None
        try:
            changed = set(self.unfinished)
            if len(changed) > MOST_TASKS_IN_DETAIL:
                changed -= self._running()
            if self._listed and len(changed) > MOST_TASKS_IN_DETAIL:
                changed -= self._note_listed(changed)
            for task_id, answer in self._answers([task_id for task_id in self.wanted if task_id in changed]):
                self._note(task_id, answer)
        except LASTING_AT_FIRST as error:
            error.facts.setdefault("task_id", next(iter(self.unfinished)))
            error.facts["tasks"] = self.results()
            raise
        except ServiceError as error:
            self._record_problem(error)

    def _running(self) -> set[int]:
        """The ids of the tasks that the list shows as not ended; none if no list is complete.

        A service may ignore the filter, and so show all tasks.
        """
        try:
            listed = self._api.tasks(status=RUNNING)
        except (PageNotFound, ResponseUnreadable) as error:
            self._record_problem(error)
            return set()
        found = {task["id"] for task in listed if not is_finished(task) and task["id"] in self.unfinished}
        for task_id in found:
            self._graces[task_id].renew()
        return found

    def _note_listed(self, task_ids: Collection[int]) -> set[int]:
        """Note those that one page of the list shows as done with all their steps; returns their ids."""
        page = self._api.page_of_tasks(min(len(self.wanted) + RECENT_TASKS, PAGE_SIZE), status=SUCCESSFUL)
        shown = {task["id"]: task for task in page if task.get("id") in task_ids}
        done = {task_id for task_id, task in shown.items() if _is_done(Task.from_api(task))}
        for task_id in done:
            self._note(task_id, shown[task_id])
        return done

    def _answers(self, task_ids: list[int]) -> Iterator[tuple[int, Record | OcpError | None]]:
        """The record of each, or why it cannot be read."""
        if self._crew is not None and len(task_ids) > MOST_TASKS_IN_DETAIL:
            ends: dict[int, Ended[Record]] = {}
            self._crew.run([[number] for number in task_ids], lambda api, number, _: api.task(number), ends.__setitem__)
            yield from ((number, ends[number].error or ends[number].found) for number in task_ids)
            return
        for number in task_ids:
            try:
                yield number, self._api.task(number)
            except ServiceError as error:
                yield number, error

    def _note(self, task_id: int, answer: Record | OcpError | None) -> None:
        if isinstance(answer, OcpError):
            if isinstance(answer, UNSEEN) and not self._graces[task_id].is_over:
                self._record_problem(answer)
                self._unseen = Unseen(task_id, self._graces[task_id].left)
            elif isinstance(answer, LASTING_AT_FIRST) or not isinstance(answer, ServiceError):
                answer.facts["task_id"] = task_id
                raise answer
            else:
                self._record_problem(answer)
            return
        shown = Task.from_api(answer or {})
        self._graces[task_id].renew()
        if self._is_outdated(shown):
            return
        task = self._purpose.named(shown)
        self._just_read[task_id] = self.unfinished[task_id] = task
        if task.finished:
            del self.unfinished[task_id]
            self.ended[task_id] = task.result(full=self._full)
            if not task.succeeded:
                self.unsuccessful.append(task)

    def _record_problem(self, problem: ServiceError) -> None:
        self._problem = problem
        self._problems.append(problem)

    def report(self, waited: float) -> None:
        """Show the result of the last poll."""
        ended, unsuccessful = len(self.ended), len(self.unsuccessful)
        names = {**self._purpose.targets, **self._purpose.names}
        self._progress.report(
            PollResult(
                waited, self._just_read, self.unfinished, ended, unsuccessful, self._problem, names, self._unseen
            )
        )

    def heartbeat(self, waited: float) -> None:
        """Show that the tasks continue."""
        self._progress.heartbeat(waited)

    def results(self) -> list[Result]:
        """The results of all tasks that were read, in the order requested."""
        known = {task_id: task.result(full=self._full) for task_id, task in self.unfinished.items() if task is not None}
        known.update(self.ended)
        return [known[task_id] for task_id in self.wanted if task_id in known]

    def poll_warnings(self) -> list[str]:
        """A sentence about the failed polls, if any."""
        return transient_error_warnings("the tasks", self._problems)


def _is_done(task: Task) -> bool:
    """Whether a listed task did its work, by its steps; whether it was rolled back would show in them alone."""
    return bool(task.subtasks) and task.succeeded
