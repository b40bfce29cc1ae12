# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""In which status a task or subtask is retried, rolled back, skipped or canceled, left alone, or refused.

The states are those of docs/dev/contract.md, "Task actions". A state that is already reached needs no action. An action
that the service would refuse raises StateError with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .._base.errors import OptionError, StateError
from .._base.text import state_words
from .._ocp.task_model import FAILED, ROLLBACK, RUNNING, SKIPPED_BY, SUCCESSFUL, Subtask, Task

PENDING, READY, CANCELING, CANCEL = "PENDING", "READY", "CANCELING", "CANCEL"


class State(StrEnum):
    """The desired state; the option ``state``."""

    RETRIED = "retried"
    ROLLED_BACK = "rolled_back"
    SKIPPED = "skipped"
    CANCELED = "canceled"

    @property
    def done(self) -> str:
        """The state as a word of a sentence."""
        return self.value.replace("_", " ")


@dataclass(frozen=True)
class DesiredState:
    """The desired state of a task or of some of its subtasks.

    ``subtask_id`` selects one subtask, ``status`` all with this status; without both it is for the task as a whole.
    """

    state: State
    subtask_id: int | None = None
    status: str | None = None

    @property
    def of_subtasks(self) -> bool:
        """Whether it is for subtasks, not for the task as a whole."""
        return self.subtask_id is not None or self.status is not None


@dataclass(frozen=True)
class Decision:
    """Whether to act on the whole task, or on which subtasks, and why; on neither if the state is already reached."""

    reason: str
    whole: bool = False
    subtasks: tuple[Subtask, ...] = ()

    @property
    def is_needed(self) -> bool:
        """Whether to send anything."""
        return self.whole or bool(self.subtasks)


def check_desired_state(desired: DesiredState) -> DesiredState:
    """``desired``, if a service can do it. Raises OptionError."""
    fits = RUNNING if desired.state is State.CANCELED else FAILED
    if desired.state in (State.SKIPPED, State.CANCELED) and not desired.of_subtasks:
        raise OptionError(f"state: {desired.state} is for subtasks; give subtask={fits.lower()} or a subtask_id too.")
    if desired.state is State.ROLLED_BACK and desired.of_subtasks:
        raise OptionError("state: rolled_back is for a task as a whole; leave out subtask_id and subtask.")
    if desired.status is not None and desired.status != fits:
        raise OptionError(
            f"subtask: {desired.status.lower()} cannot be {desired.state}; give subtask={fits.lower()} or a subtask_id."
        )
    return desired


def decide_action(task: Task, desired: DesiredState) -> Decision:
    """Decide from the state of ``task`` alone.

    Raises StateError if the service would refuse the action, OptionError if the task has no such subtask.
    """
    if not desired.of_subtasks:
        return {State.RETRIED: _retry, State.ROLLED_BACK: _roll_back}[desired.state](task)
    steps = _selected_subtasks(task, desired)
    if not steps:
        _check_shown(task, desired)
        return Decision(f"no subtask of it is {desired.status}")
    check = {State.RETRIED: _retry_subtask, State.SKIPPED: _skip, State.CANCELED: _cancel}[desired.state]
    checked = [(step, check(task, step)) for step in steps]
    due = tuple(step for step, already_done in checked if already_done is None)
    if any(step.id is None for step in due):
        raise _refusal(
            task, f"has a subtask that is {due[0].status} and whose id is not shown. Look at the task in OCP"
        )
    reasons = [_status_sentence(task, step) for step in due] or [
        already_done for _step, already_done in checked if already_done is not None
    ]
    return Decision("; ".join(reasons), subtasks=due)


def _selected_subtasks(task: Task, desired: DesiredState) -> list[Subtask]:
    if desired.subtask_id is None:
        return [step for step in task.subtasks if step.status == desired.status]
    found = [step for step in task.subtasks if step.id == desired.subtask_id]
    if not found:
        own = ", ".join(str(step.id) for step in task.subtasks if step.id is not None)
        choice = f"give one of {own}" if own else "the service shows no ids, so look at it in OCP"
        raise OptionError(f"subtask_id: {desired.subtask_id} is not a subtask of task {task.label}; {choice}.")
    return found


def _check_shown(task: Task, desired: DesiredState) -> None:
    """Raise StateError if a subtask may have the desired status without showing it."""
    is_moot = task.status == SUCCESSFUL or (task.finished and desired.status == RUNNING)
    if not is_moot and (not task.subtasks or any(step.status is None for step in task.subtasks)):
        what = "the status of each subtask" if task.subtasks else "subtasks"
        raise _refusal(
            task, f"is shown without {what}, so it is not known which are {desired.status}. Look at the task in OCP"
        )


def _retry(task: Task) -> Decision:
    if task.rolled_back:
        raise _refusal(
            task, "was rolled back, so there is nothing to retry. Run the restart again if it is still wanted"
        )
    if task.is_rolling_back:
        raise _refusal(
            task,
            f"is {task.status} in its rollback and cannot be retried forwards; "
            "give state=rolled_back to go on with that",
        )
    if task.status == FAILED:
        return Decision("it is FAILED", whole=True)
    if task.status is None or (task.finished and task.status != SUCCESSFUL):
        shown = "ended " if task.finished else "is "
        raise _refusal(
            task, f"{shown}{state_words(task.status)}; only a FAILED task can be retried. Look at the task in OCP"
        )
    return Decision(f"it is {state_words(task.status)}")


def _roll_back(task: Task) -> Decision:
    if task.rolled_back or (task.is_rolling_back and task.status == RUNNING):
        return Decision("it was rolled back" if task.rolled_back else "it is being rolled back")
    if task.status == SUCCESSFUL:
        raise _refusal(task, "ended SUCCESSFUL; only a FAILED task can be rolled back. Leave it as it is")
    if task.status != FAILED:
        raise _refusal(
            task,
            f"is {state_words(task.status)}; only a FAILED task can be rolled back. Wait until it has ended, or cancel "
            "the subtask that hangs with state=canceled subtask=running",
        )
    if task.prohibit_rollback:
        raise _refusal(task, "must not be rolled back (prohibitRollback); retry it, or skip what failed")
    return Decision("it is FAILED", whole=True)


def _retry_subtask(task: Task, step: Subtask) -> str | None:
    """Why the subtask needs no retry; None if it does. The next two are alike."""
    if task.is_rolling_back or task.rolled_back or operation_of(step) == ROLLBACK:
        raise _subtask_refusal(
            task, step, "what is or was rolled back is not retried. Look at the task, or run the restart again"
        )
    if step.status in (SUCCESSFUL, RUNNING, READY):
        return _status_sentence(task, step)
    if step.status != FAILED:
        raise _subtask_refusal(task, step, f"only a FAILED subtask can be retried. {_advice_until_failed(step)}")
    return None


def _skip(task: Task, step: Subtask) -> str | None:
    if step.status == FAILED:
        if step.prohibit_skip:
            raise _subtask_refusal(task, step, "it must not be skipped (prohibitSkip); retry it, or roll the task back")
        return None
    if operation_of(step) not in SKIPPED_BY:
        raise _subtask_refusal(task, step, f"only a FAILED subtask can be skipped. {_advice_until_failed(step)}")
    return f"{_status_sentence(task, step)} by being skipped"


def _cancel(task: Task, step: Subtask) -> str | None:
    if step.status == RUNNING:
        return None
    # The service also writes CANCEL for a time-out.
    if step.status != CANCELING and (step.status, operation_of(step)) != (FAILED, CANCEL):
        raise _subtask_refusal(
            task, step, "only a RUNNING subtask can be canceled. Look at the task for the one that is"
        )
    return f"{_status_sentence(task, step)} with the operation {CANCEL}"


def _advice_until_failed(step: Subtask) -> str:
    """What to do until a subtask is FAILED."""
    if step.status == SUCCESSFUL:
        return "Leave it as it is"
    return "Begin with what FAILED before it" if step.status == PENDING else "Wait until it has ended"


def operation_of(step: Subtask) -> str:
    """The operation in upper case, as most versions write it."""
    return str(step.operation).upper()


def _status_sentence(task: Task, step: Subtask) -> str:
    return f"{_subtask_place(task, step)}, is {state_words(step.status)}"


def _subtask_place(task: Task, step: Subtask) -> str:
    return f"subtask {task.position(step)}, {step.label} (id {step.id})"


def _subtask_refusal(task: Task, step: Subtask, why: str) -> StateError:
    place = _subtask_place(task, step)
    return StateError(
        f"{place[0].upper()}{place[1:]}, of task {task.label} is {state_words(step.status)}; {why}.", task_id=task.id
    )


def _refusal(task: Task, why: str) -> StateError:
    return StateError(f"Task {task.label} {why}.", task_id=task.id)
