# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How the request for a restart is sent once, and which task it started: by the answer, or by a search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from .._base.clock import Clock
from .._base.errors import OcpError, OutcomeUnknown, RequestRefused, ResponseUnreadable, ServiceError, TargetBusy
from .._base.parsing import instant
from .._base.text import join_names
from .._ocp.endpoints import OcpApi
from .._ocp.envelope import ApiResponse
from .._ocp.task_model import Task
from .._targets.target import Target, TaskOnTarget
from .._waiting.progress import Show, show_nothing, started_line
from .attempt import Progressing, RestartAttempt
from .decision import Action, Decision
from .open_outcomes import close_outcome, open_request, remember_open
from .task_adoption import Sent, doubtful_tasks, find_own_task, is_answer, outcome_unknown, own_tasks


class Sender:
    """Sends the request for one target, and notes in ``attempt`` what that started.

    It knows the last request of this process whose outcome is not certain: a refused one, which a proxy may have
    answered, or one whose outcome is still unknown. ``announce`` gets a line with a task that may be ours, before a
    search for it.
    """

    def __init__(
        self,
        api: OcpApi,
        target: Target,
        attempt: Progressing[RestartAttempt],
        clock: Clock,
        announce: Show = show_nothing,
    ) -> None:
        self._api = api
        self._target = target
        self._attempt = attempt
        self._clock = clock
        self._announce = announce
        self._open = open_request(api, target)
        self._sent = self._open
        self._last = self._open
        self._doubtful: list[Task] = []

    @property
    def has_sent(self) -> bool:
        """Whether there is such a request."""
        return self._sent is not None

    def recall(self) -> None:
        """Another thread of this process may have left a request for the target open. Called with the lock held."""
        if self._sent is None:
            self._open = self._sent = self._last = open_request(self._api, self._target)

    def expect_another_than(self, failed: int | None) -> None:
        """Its task FAILED in its first step. Another one may be at work that a proxy started by repeating it."""
        close_outcome(self._api, self._target)
        self._open = None
        self._sent = None if self._last is None else replace(self._last, refused=True, failed=failed)

    def _forget(self) -> None:
        """Forget the request: its restart is not the one that is wanted now."""
        close_outcome(self._api, self._target)
        self._sent = self._open = None

    def adopt(self, listed: Iterable[TaskOnTarget], since: datetime | None) -> Decision | None:
        """Adopt the task of that request, if it is the only one among the ``listed`` tasks.

        That of an earlier call has to have begun ``since`` then.
        """
        if self._sent is None:
            return None
        entries = list(listed)
        found = own_tasks(self._target, entries, self._sent)
        self._doubtful = doubtful_tasks(self._target, entries, self._sent)
        if len(found) != 1:
            return None
        [task] = found
        began = instant(task.start_time)
        if self._sent is self._open and since is not None and (began is None or began < since):
            self._forget()
            return None
        self._adopt(task, _why_adopted(self._sent))
        return Decision(Action.ADOPT, self._attempt.so_far.reason or "", self._sent.members, (task.id,))

    def after_refusal(self, error: OcpError, refusal: OcpError) -> OcpError:
        """What to report after a ``refusal`` and ``error``: OutcomeUnknown if the task at work may be our own."""
        doubt = self.doubt(refusal) if isinstance(error, TargetBusy) else None
        return doubt or error

    def doubt(self, refusal: OcpError) -> OutcomeUnknown | None:
        """The error if a task whose target the service does not show may be our own; None if there is none."""
        if not (self._doubtful and isinstance(refusal, RequestRefused)):
            return None
        refusal.context.clear()
        names = join_names(task.label for task in self._doubtful)
        doubt = f"That may be the answer to a request that a proxy repeated: {names} began since, by the same user"
        return outcome_unknown(self._target, refusal, doubt)

    def send(self, mark: int | None, members: frozenset[str], now: datetime) -> None:
        """Send it for ``members``. Raises OutcomeUnknown if it may run and its task is not found, else ServiceError."""
        if self._open is not None:
            raise _still_open(self._target, self._open)
        uncertain = timedelta(seconds=self._api.service_clock.uncertainty)
        sent = self._last = Sent(now, uncertain, mark, members, self._api.user)
        try:
            answer = self._target.restart(self._api, members)
            is_own = is_answer(answer.data, self._target, mark)
            if not is_own or sent.is_denied_by(Task.from_api(answer.data)):
                raise self._wrong_answer(sent, answer)
            self._note_sent(answer.trace_id)
            self._record(Task.from_api(answer.data))
        except ServiceError as error:
            if not error.may_have_run:
                self._sent = replace(sent, refused=True)
                error.add_context(f"Did not restart {self._target.label}.")
                raise
            self._note_sent(error.facts.get("trace_id"))
            remember_open(self._api, self._target, sent)
            self._adopt(find_own_task(self._api, self._target, sent, error, self._clock), "the answer was lost")
        except BaseException:
            if self._attempt.so_far.task_id is None:
                # Whether it was sent before this is not known.
                self._note_sent(self._attempt.so_far.trace_id)
                remember_open(self._api, self._target, sent)
            raise

    def _wrong_answer(self, sent: Sent, answer: ApiResponse) -> ResponseUnreadable:
        """The error for an answer with an implausible task; its id is noted if only the id is implausible."""
        task = Task.from_api(answer.data)
        words = f"shows task {task.label}, which is not a new restart of {self._target.label}."
        if is_answer(answer.data, self._target, None) and sent.fits(task):
            self._attempt.note(task_id=task.id)
            self._announce(started_line(self._target.label, f"submitted, perhaps as task {task.id}"), False)
            words += (
                f" Its id is not above {sent.mark}, the highest task id before the request; otherwise it fits (see "
                "task_id)."
            )
        return ResponseUnreadable(
            f"The answer to POST {answer.url} {words}", url=answer.url, trace_id=answer.trace_id, may_have_run=True
        )

    def _adopt(self, task: Task, why: str) -> None:
        before = self._attempt.so_far.reason or "this process has requested it before"
        reason = f"{before}; {why}, and task {task.label} is the only one started since"
        self._attempt.note(changed=True, action="adopted", reason=reason)
        self._record(task)

    def _note_sent(self, trace_id: str | None) -> None:
        self._attempt.note(changed=True, action="submitted", trace_id=trace_id)

    def _record(self, task: Task) -> None:
        close_outcome(self._api, self._target)
        self._attempt.note(task_id=task.id, task=task.result())


def _why_adopted(sent: Sent) -> str:
    if sent.failed is not None:
        return f"task {sent.failed} of the same request failed in its first step"
    return "the request was refused" if sent.refused else "the answer was lost"


def _still_open(target: Target, sent: Sent) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"It is not known whether a restart of {target.label} is going to run: this process requested one at "
        f"{sent.at.isoformat(timespec='seconds')}, the answer was lost, and something in between may still deliver the "
        "request. It is not sent again. Look at the newest tasks in OCP; another run, with started_before, "
        "restarts only what has not started since."
    )
