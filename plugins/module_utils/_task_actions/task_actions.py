# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A retry, rollback, skip or cancel of a task: sent at most once, looked for after a lost response, awaited.

See docs/dev/contract.md, "Task actions".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from .._base.cli_hints import NEXT_STEPS_HEADING, adhoc_command, tasks_command
from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import (
    NotFound,
    NotRolledBack,
    OcpError,
    OptionError,
    OutcomeUnknown,
    PermissionDenied,
    RateLimited,
    RequestRefused,
    ServiceError,
    StateError,
    TargetError,
    TaskError,
)
from .._base.text import in_seconds
from .._ocp.endpoints import OcpApi
from .._ocp.envelope import ApiResponse
from .._ocp.task_model import FAILED, ROLLBACK, RUNNING, SKIPPED_BY, Subtask, Task
from .._restart.attempt import ActionAttempt, Progressing
from .._waiting.await_tasks import wait_for_success, wait_for_tasks
from .._waiting.failure_report import Purpose, task_failed
from .._waiting.outcome_search import search_outcome
from .._waiting.poll_pauses import UNSEEN_FOR, PollPolicy
from .._waiting.progress_lines import progress_line
from .allowed_actions import (
    CANCEL,
    CANCELING,
    Decision,
    DesiredState,
    State,
    check_desired_state,
    decide_action,
    operation_of,
)

Result = dict[str, Any]

ACTION_NOUNS = {
    State.RETRIED: "retry",
    State.ROLLED_BACK: "rollback",
    State.SKIPPED: "skipping",
    State.CANCELED: "cancellation",
}

# What is announced: the task is not where it should be yet.
_BEGUN = {
    State.RETRIED: "its retry has begun",
    State.ROLLED_BACK: "its rollback has begun",
    State.SKIPPED: "it is skipped, and the task goes on",
    State.CANCELED: "its cancellation has begun",
}
# Until a record shows what was done.
_SHOWN_PAUSES = PollPolicy(UNSEEN_FOR, 2.0)
# In check mode.
WOULD = {
    State.RETRIED: "retry it",
    State.ROLLED_BACK: "roll it back",
    State.SKIPPED: "skip it",
    State.CANCELED: "cancel it",
}


def act_on_task(
    api: OcpApi,
    task_id: int,
    desired: DesiredState,
    policy: PollPolicy,
    *,
    wait: bool,
    check_mode: bool,
    clock: Clock = SYSTEM_CLOCK,
) -> Result:
    """Bring the task into the desired state; returns the result of the module, with every key.

    Raises an OcpError whose facts hold the result so far.
    """
    return _TaskAction(api, task_id, desired, policy, clock).run(wait=wait, check_mode=check_mode)


class _TaskAction:
    """One action in progress."""

    def __init__(self, api: OcpApi, task_id: int, desired: DesiredState, policy: PollPolicy, clock: Clock) -> None:
        self._api = api
        self._task_id = task_id
        self._desired = check_desired_state(desired)
        self._policy = policy
        self._clock = clock
        self._attempt = Progressing(ActionAttempt(task_id=task_id), clock)

    def run(self, *, wait: bool, check_mode: bool) -> Result:
        """See act_on_task."""
        with self._attempt.kept():
            self._run(wait=wait, check_mode=check_mode)
        return self._attempt.result() | ({} if wait or check_mode else self._wait_command())

    def _run(self, *, wait: bool, check_mode: bool) -> None:
        task = self._read_before()
        self._attempt.note(before={"status": task.status, "operation": task.operation})
        decision = decide_action(task, self._desired)
        self._attempt.note(reason=decision.reason)
        if check_mode:
            if decision.is_needed:
                self._record_action(*decision.subtasks)
                self._attempt.note(reason=f"would {WOULD[self._desired.state]}: {decision.reason}")
            return
        for step, send in self._requests(decision):
            self._send_when_allowed(task, step, send)
        if wait:
            self._wait(task)
        elif decision.is_needed:
            self._read_again(task)

    def _record_action(self, *steps: Subtask | None) -> None:
        """Record an action that is, or may be, done to these subtasks; to the whole task without any."""
        done = *self._attempt.so_far.subtask_ids, *(step.id for step in steps if step is not None)
        self._attempt.note(changed=True, action=self._desired.state.value, subtask_ids=done)
        concerned = [f"subtask {number}" for number in done] or [f"task {self._task_id}"]
        was = RUNNING if self._desired.state is State.CANCELED else FAILED
        self._attempt.diff = {
            "before": "".join(f"{what}: {was}\n" for what in concerned),
            "after": "".join(f"{what}: {self._desired.state.done}\n" for what in concerned),
        }

    def _add_to_reason(self, more: str) -> None:
        self._attempt.note(reason=f"{self._attempt.so_far.reason}; {more}")

    def _read_before(self) -> Task:
        try:
            return self._read()
        except ServiceError as error:
            error.add_context(f"Task {self._task_id} was not {self._desired.state.done}, since it cannot be read.")
            raise

    def _read(self) -> Task:
        try:
            task = Task.from_api(self._api.task(self._task_id))
        except NotFound as error:
            raise TargetError(
                f"task_id: task {self._task_id} does not exist. See the newest tasks: {tasks_command()}",
                trace_id=error.facts.get("trace_id"),
            ) from None
        self._attempt.note(task=task.result())
        return task

    def _read_again(self, before: Task) -> None:
        """Read it until it shows the action: what waits for it next would take the record of ``before`` for its end."""
        began = self._clock.now()
        try:
            while self._read() == before and (waited := self._clock.now() - began) < UNSEEN_FOR:
                self._clock.sleep(_SHOWN_PAUSES.pause(waited, self._clock.jitter(), self._api.retry_after))
        except OcpError as error:
            self._attempt.warnings.append(f"Task {self._task_id} cannot be read any more: {error.what}")

    def _requests(self, decision: Decision) -> Iterator[tuple[Subtask | None, Callable[[], ApiResponse]]]:
        """The requests to send, one after another: one for the whole task, or one for each subtask."""
        api, state, task_id = self._api, self._desired.state, self._task_id
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

    def _send_when_allowed(self, before: Task, step: Subtask | None, send: Callable[[], ApiResponse]) -> None:
        """Send; after a pause that the service requested, look and decide again: somebody else may have sent it.

        So may a proxy, which got the 429 for its repetition. What was done since, and has failed again, is not done
        a second time.
        """
        while True:
            try:
                self._send(before, step, send)
                return
            except RateLimited as refusal:
                self._attempt.pause_for(refusal, self._api.timeout)
            now = self._read_before()
            if self._is_reached(now, step):
                return
            if _action_is_visible(now, before, step, self._desired.state):
                self._record_action(step)
                self._add_to_reason("the task shows that it was done since, by this request or somebody else's")
                return
            before = now

    def _send(self, before: Task, step: Subtask | None, send: Callable[[], ApiResponse]) -> None:
        """Send once. After a refusal or a lost response, the task may show that the state is reached."""
        what = f"task {before.label}" if step is None else f"subtask {step.id} of task {before.label}"
        try:
            answer = send()
        except ServiceError as error:
            self._attempt.note(trace_id=error.facts.get("trace_id"))
            if error.may_have_run:
                self._record_action(step)
                self._find_lost_action(before, step, what, error)
            elif self._is_already_done(step, error):
                # A proxy may have sent it twice, and this is the answer to the second.
                self._record_action(step)
            else:
                error.add_context(f"{what[0].upper()}{what[1:]} was not {self._desired.state.done}.")
                if isinstance(error, PermissionDenied):
                    error.add_advice("The permission is TASK_MANAGER.")
                raise
            return
        except BaseException:
            # Whether it was sent before this is not known.
            self._record_action(step)
            raise
        self._record_action(step)
        self._attempt.note(trace_id=answer.trace_id)
        self._announce(what)

    def _announce(self, what: str) -> None:
        self._policy.announce(progress_line(f"{what}: {_BEGUN[self._desired.state]}"), False)

    def _is_already_done(self, step: Subtask | None, refusal: ServiceError) -> bool:
        """Whether the desired state is reached despite the refusal."""
        if not (isinstance(refusal, RequestRefused) and refusal.may_be_due_to_state):
            return False
        try:
            return self._is_reached(self._read(), step, "by this request or somebody else's")
        except (OptionError, ServiceError, StateError, TargetError):
            return False

    def _is_reached(self, task: Task, step: Subtask | None, by: str = "since someone else was faster") -> bool:
        """Whether it is in the desired state, as it was not before. Raises StateError if it is in another one."""
        decision = decide_action(task, DesiredState(self._desired.state, None if step is None else step.id))
        if not decision.is_needed:
            self._add_to_reason(f"by now {decision.reason}, {by}")
        return not decision.is_needed

    def _find_lost_action(self, before: Task, step: Subtask | None, what: str, lost: ServiceError) -> None:
        """Poll for up to one request timeout until the task shows the action. Raises OutcomeUnknown."""
        state = self._desired.state
        search = search_outcome(
            self._api, lambda: _action_is_visible(self._read(), before, step, state) or None, self._clock
        )
        if not search.found:
            shown = (
                "It cannot be read"
                if search.is_in_vain
                else f"For {in_seconds(self._api.timeout)} it did not show that"
            )
            raise OutcomeUnknown(
                f"It is not known whether {what} was {state.done}. {lost} {shown}{search.last_look}. "
                f"The request is not sent again; look at the task, then run this again. {NEXT_STEPS_HEADING}\n"
                f"  {adhoc_command('task_info', task_id=self._task_id)}",
                **lost.facts,
            )
        self._add_to_reason("the answer was lost, and the task shows that it was done")
        self._announce(what)

    def _wait_command(self) -> Result:
        """The command that waits for the end of a task that goes on; it begins nothing that is not begun."""
        so_far = self._attempt.so_far
        task = Task.from_result(so_far.task or {})
        if task.finished and not so_far.changed:
            return {}
        # For another module, a task that is rolled back as it should be has not succeeded.
        if self._desired.state is State.ROLLED_BACK or task.is_rolling_back:
            return {"wait_command": adhoc_command("task", task_id=self._task_id, state="rolled_back")}
        return {"wait_command": adhoc_command("task_wait", task_ids=self._task_id)}

    def _wait(self, before: Task) -> None:
        """Wait for the desired end: for a rollback, or the failure of a canceled subtask, too."""
        from .left_down import state_of_servers

        state = self._desired.state
        ids, policy = [self._task_id], self._policy.left(self._attempt.elapsed)
        so_far = self._attempt.so_far
        done = f"The {ACTION_NOUNS[state]} of task {self._task_id}" if so_far.changed else ""
        purpose = Purpose(done, so_far.trace_id, state=lambda _task: state_of_servers(self._api, before))
        rolling_back = state is State.ROLLED_BACK or (state is State.SKIPPED and before.is_rolling_back)
        wait_for = wait_for_tasks if rolling_back or state is State.CANCELED else wait_for_success
        acted_on = before if so_far.changed else None
        try:
            waited = wait_for(
                self._api, ids, policy, purpose=purpose, unseen_for=UNSEEN_FOR, before=acted_on, clock=self._clock
            )
        except OcpError as error:
            self._attempt.note(task=next(iter(error.facts.pop("tasks", [])), so_far.task))
            if not isinstance(error, TaskError):
                error.add_context(f"{done or f'Task {self._task_id}'} goes on, but waiting for it failed.")
                error.add_advice(f"Then wait for it: {adhoc_command('task_wait', task_ids=self._task_id)}")
            raise
        self._attempt.warnings += waited.warnings
        self._attempt.note(task=waited.results[0])
        self._tell_what_it_left(before, Task.from_result(waited.results[0]))
        if not rolling_back or waited.results[0]["rolled_back"]:
            return
        if waited.unsuccessful:
            raise task_failed(self._api, waited.unsuccessful, 1, purpose, policy.log_lines)
        raise NotRolledBack(
            f"Task {before.label} ended SUCCESSFUL, but it was not rolled back: somebody retried it meanwhile. "
            f"Its work is done; look at it. {NEXT_STEPS_HEADING}\n"
            f"  {adhoc_command('task_info', task_id=self._task_id)}"
        )

    def _tell_what_it_left(self, before: Task, ended: Task) -> None:
        """Add to the warnings, or to the reason, what ``ended`` has left down, held or undone."""
        from .left_down import left_down, left_held, left_undone, state_of_servers

        state, warnings = self._desired.state, self._attempt.warnings
        if state is State.CANCELED:
            warnings += left_held(self._api, ended)
        else:
            warnings += [*left_down(self._api, ended)] or [*left_undone(ended)]
        if state is State.ROLLED_BACK and self._attempt.so_far.changed and ended.rolled_back:
            serves = state_of_servers(self._api, before).startswith("It serves")
            self._add_to_reason(f"{'its target serves now; ' if serves else ''}what it was for can be asked for again")


def _action_is_visible(after: Task, before: Task, step: Subtask | None, state: State) -> bool:
    """Whether the task shows the action. A FAILED task does not change by itself, a RUNNING one does."""
    if step is None and state is State.ROLLED_BACK:
        return after != before and after.is_rolling_back
    if step is None:
        concerned = before.failed_subtasks
        return after != before and all(_subtask_shows_action(after, each, state) for each in concerned)
    return _subtask_shows_action(after, step, state)


def _subtask_shows_action(after: Task, before: Subtask, state: State) -> bool:
    now = next((step for step in after.subtasks if step.id == before.id), before)
    if state is State.CANCELED:
        return now.status == CANCELING or operation_of(now) == CANCEL
    if state is State.SKIPPED:
        return now != before and operation_of(now) in SKIPPED_BY
    return now != before and operation_of(now) not in (*SKIPPED_BY, ROLLBACK)
