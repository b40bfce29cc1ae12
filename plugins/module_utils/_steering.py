# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Steering a task: read, decide, send each request once, wait (section 2 of the public evidence)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ._api import OcpApi
from ._commands import command
from ._diagnosis import NEXT, Purpose, failure
from ._errors import (
    NotFound,
    OcpError,
    OptionError,
    OutcomeUnknown,
    RequestRefused,
    ServiceError,
    StateError,
    TargetError,
)
from ._http import Answer
from ._progress import line
from ._steering_plan import CANCEL, CANCELING, Decision, State, Wish, checked, decide, operation_of
from ._tasks import FAILED, RUNNING, Subtask, Task
from ._time import SYSTEM_CLOCK, Clock
from ._waiting import SHORTEST_PAUSE, Patience, wait_for_success, wait_for_tasks

Result = dict[str, Any]

NOUNS = {
    State.RETRIED: "retry",
    State.ROLLED_BACK: "rollback",
    State.SKIPPED: "skipping",
    State.CANCELED: "cancellation",
}


def steer(
    api: OcpApi,
    task_id: int,
    wish: Wish,
    patience: Patience,
    *,
    wait: bool,
    check_mode: bool,
    clock: Clock = SYSTEM_CLOCK,
) -> Result:
    """Bring the task into the state that is wished for; returns the result of the module, every key always there.

    Raises an OcpError whose facts hold the result as far as it had got.
    """
    return _Steered(api, task_id, wish, patience, clock).steer(wait=wait, check_mode=check_mode)


class _Steered:
    """One task on its way to a state, with the result as far as it has got."""

    def __init__(self, api: OcpApi, task_id: int, wish: Wish, patience: Patience, clock: Clock) -> None:
        self._api = api
        self._task_id = task_id
        self._wish = checked(wish)
        self._patience = patience
        self._clock = clock
        self._begun = clock.now()
        self._warnings: list[str] = []
        self._result: Result = {
            "changed": False,
            **dict.fromkeys(("action", "reason", "task", "before", "trace_id")),
            "task_id": task_id,
            "subtask_ids": [],
        }

    def steer(self, *, wait: bool, check_mode: bool) -> Result:
        """See the function of this name."""
        try:
            self._steer(wait=wait, check_mode=check_mode)
        except OcpError as error:
            self._result["trace_id"] = self._result["trace_id"] or error.facts.get("trace_id")
            self._warnings += error.facts.get("warnings", [])
            error.facts = {**error.facts, **self._whole_result()}
            raise
        return self._whole_result()

    def _whole_result(self) -> Result:
        elapsed = round(self._clock.now() - self._begun, 3)
        return {**self._result, "elapsed": elapsed, "warnings": self._warnings, "diff": self._diff()}

    def _steer(self, *, wait: bool, check_mode: bool) -> None:
        task = self._read()
        self._result["before"] = {"status": task.status, "operation": task.operation}
        decision = decide(task, self._wish)
        self._result.update(reason=decision.reason, subtask_ids=[step.id for step in decision.subtasks])
        if decision.acts and check_mode:
            self._result.update(changed=True, action=self._wish.state.value)
            return
        for step, send in self._requests(decision):
            self._send(task, step, send)
        if wait and not check_mode:
            self._wait()
        elif decision.acts:
            self._read_again()

    def _read(self) -> Task:
        try:
            task = Task.from_api(self._api.task(self._task_id))
        except NotFound as error:
            raise TargetError(
                f"task_id: {self._task_id} is no task of this service; list its tasks with oceanbase.ocp.task_info.",
                trace_id=error.facts.get("trace_id"),
            ) from None
        self._result["task"] = task.result()
        return task

    def _read_again(self) -> None:
        try:
            self._read()
        except OcpError as error:
            self._warnings.append(f"Task {self._task_id} cannot be read any more: {error}")

    def _requests(self, decision: Decision) -> Iterator[tuple[Subtask | None, Callable[[], Answer]]]:
        """What to send, one after another: for the task as a whole, or for each of the subtasks."""
        api, state, task_id = self._api, self._wish.state, self._task_id
        if decision.whole:
            whole = {State.RETRIED: api.retry_task, State.ROLLED_BACK: api.roll_back_task}
            yield None, partial(whole[state], task_id)
        calls = {
            State.RETRIED: api.retry_subtask,
            State.SKIPPED: api.skip_subtask,
            State.CANCELED: api.cancel_subtask,
        }
        for step in decision.subtasks:
            yield step, partial(calls[state], task_id, step.id)

    def _send(self, before: Task, step: Subtask | None, send: Callable[[], Answer]) -> None:
        """Send once. What was refused may have come about by itself; of what was lost the task may show it."""
        state = self._wish.state.value
        what = f"task {before.label}" if step is None else f"subtask {step.id} of task {before.label}"
        try:
            answer = send()
        except ServiceError as error:
            self._result["trace_id"] = error.facts.get("trace_id")
            if error.maybe_done:
                self._find_lost(before, step, what, error)
            elif not (isinstance(error, RequestRefused) and error.may_be_of_state and self._is_there(step)):
                error.precede(f"{what[0].upper()}{what[1:]} was not {state}.")
                raise
            return
        self._result.update(changed=True, action=state, trace_id=answer.trace_id)
        self._patience.show(line(f"{what}: {state}"), False)

    def _is_there(self, step: Subtask | None) -> bool:
        """Whether what was refused is as wanted all the same."""
        try:
            decision = decide(self._read(), Wish(self._wish.state, None if step is None else step.id))
        except (OptionError, ServiceError, StateError):
            return False
        if not decision.acts:
            self._result["reason"] = f"{decision.reason}, since someone else was faster"
        return not decision.acts

    def _find_lost(self, before: Task, step: Subtask | None, what: str, lost: ServiceError) -> None:
        """Look whether the task shows that it was done, as long as a request may take. Raises OutcomeUnknown."""
        until = self._clock.now() + self._api.timeout
        self._result.update(changed=True, action=self._wish.state.value)
        while not self._is_shown(before, step):
            if self._clock.now() >= until:
                raise OutcomeUnknown(
                    f"It is not known whether {what} was {self._wish.state}. {lost} For {self._api.timeout:g} seconds "
                    "the task did not show it. It is not asked for again; look at the task, then run this again. "
                    f"{NEXT}\n  {command('task_info', task_id=self._task_id)}",
                    **lost.facts,
                )
            self._clock.sleep(SHORTEST_PAUSE)
        self._result["reason"] += "; the answer was lost, and the task shows that it was done"

    def _is_shown(self, before: Task, step: Subtask | None) -> bool:
        """Whether it was done: what is FAILED stays as it is by itself, but not what is RUNNING."""
        try:
            after = self._read()
        except ServiceError:
            return False
        if step is None:
            return after != before
        now = next((other for other in after.subtasks if other.id == step.id), step)
        if self._wish.state is State.CANCELED:
            return now.status == CANCELING or operation_of(now) == CANCEL
        return now != step

    def _wait(self) -> None:
        """Wait for the end that is wished for. A rollback is one, and so is the failure of what was canceled."""
        state = self._wish.state
        ids, patience = [self._task_id], self._patience.left(self._clock.now() - self._begun)
        purpose = Purpose(f"The {NOUNS[state]} of task {self._task_id}", self._result["trace_id"])
        try:
            if state in (State.RETRIED, State.SKIPPED):
                waited = wait_for_success(self._api, ids, patience, purpose=purpose, clock=self._clock)
            else:
                waited = wait_for_tasks(self._api, ids, patience, purpose=purpose, clock=self._clock)
        except OcpError as error:
            self._result["task"] = next(iter(error.facts.pop("tasks", [])), self._result["task"])
            raise
        self._warnings += waited.warnings
        [self._result["task"]] = waited.results
        if state is State.ROLLED_BACK and not waited.results[0]["rolled_back"]:
            raise failure(self._api, waited.unsuccessful, 1, purpose, patience.log_lines)

    def _diff(self) -> dict[str, str]:
        if not self._result["changed"]:
            return {}
        concerned = [f"subtask {number}" for number in self._result["subtask_ids"]] or [f"task {self._task_id}"]
        was = RUNNING if self._wish.state is State.CANCELED else FAILED
        return {
            "before": "".join(f"{what}: {was}\n" for what in concerned),
            "after": "".join(f"{what}: {self._wish.state}\n" for what in concerned),
        }
