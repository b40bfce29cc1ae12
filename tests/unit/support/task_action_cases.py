# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The five task actions: the desired state, the expected POST, and helpers for the tests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError, attached_facts
from ansible_collections.oceanbase.ocp.plugins.module_utils._task_actions.allowed_actions import DesiredState, State
from ansible_collections.oceanbase.ocp.plugins.module_utils._task_actions.task_actions import act_on_task
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.progress_lines import Show, show_nothing
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_task import SECOND, TASK_ID, FakeTaskOcp
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import PASSED_ON, FakeClock

# The keys of every result.
KEYS = {"changed", "action", "reason", "task_id", "subtask_ids", "before", "task", "elapsed", "trace_id"}


@dataclass(frozen=True)
class Call:
    """A desired state, the only POST it leads to, and the word for what was done."""

    wish: DesiredState
    post: tuple[Any, ...]
    done: str

    @property
    def begun(self) -> str:
        """What is announced."""
        return {
            State.RETRIED: "its retry has begun",
            State.ROLLED_BACK: "its rollback has begun",
            State.SKIPPED: "it is skipped, and the task goes on",
            State.CANCELED: "its cancellation has begun",
        }[self.wish.state]

    @property
    def what(self) -> str:
        task = f"task {TASK_ID} (Restart OB cluster)"
        return f"subtask {SECOND} of {task}" if self.wish.of_subtasks else task

    @property
    def subtask_ids(self) -> list[int]:
        return [SECOND] if self.wish.of_subtasks else []


CALLS = {
    "retry of the task": Call(DesiredState(State.RETRIED), ("retry", TASK_ID), "retried"),
    "rollback": Call(DesiredState(State.ROLLED_BACK), ("rollback", TASK_ID), "rolled back"),
    "retry of a subtask": Call(DesiredState(State.RETRIED, SECOND), ("retry", TASK_ID, SECOND), "retried"),
    "skip": Call(DesiredState(State.SKIPPED, SECOND), ("skip", TASK_ID, SECOND), "skipped"),
    "cancel": Call(DesiredState(State.CANCELED, SECOND), ("cancel", TASK_ID, SECOND), "canceled"),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def failed(time: FakeClock, *, times: int = 1, also: dict[int, int] | None = None) -> FakeTaskOcp:
    """A service whose task FAILED at its second subtask, which fails this number of ``times`` in all."""
    return FakeTaskOcp(time, fails={SECOND: times, **(also or {})}).run()


def hanging(time: FakeClock, *numbers: int) -> FakeTaskOcp:
    """A service with a task in which these subtasks hang."""
    return FakeTaskOcp(time, hangs=set(numbers or [SECOND])).run()


def retried_meanwhile(time: FakeClock) -> FakeTaskOcp:
    """A service in which somebody retries the task as soon as its rollback is requested, and it succeeds."""
    service = failed(time)
    read = service.task

    def task(number: int) -> dict[str, Any]:
        found = read(number)
        if not service.posts:
            return found
        done = [{**step, "status": "SUCCESSFUL", "operation": "EXECUTE"} for step in found["subtasks"]]
        return {**found, "status": "SUCCESSFUL", "operation": "RETRY", "subtasks": done}

    service.task = task  # type: ignore[method-assign]
    return service


def ready_for(call: Call, time: FakeClock) -> FakeTaskOcp:
    """A service that accepts ``call``."""
    return hanging(time) if call.wish.state is State.CANCELED else failed(time)


def acted_on(
    service: FakeTaskOcp,
    wish: DesiredState,
    *,
    task_id: int = TASK_ID,
    wait: bool = False,
    check_mode: bool = False,
    seconds: float = 60,
    announce: Show = show_nothing,
) -> dict[str, Any]:
    """Act, and check what holds for every result."""
    result = _act(service, wish, task_id, wait, check_mode, PollPolicy(seconds, 10, announce=announce))
    is_left = not wait and not check_mode and (result["changed"] or not result["task"]["finished"])
    assert result.keys() == KEYS | PASSED_ON | ({"wait_command"} if is_left else set())
    assert result["reason"]
    assert result["task"]["id"] == result["task_id"] == TASK_ID
    assert result["changed"] == (result["action"] is not None) == bool(result["diff"])
    json.dumps(result)
    return result


def task_action_error(
    service: FakeTaskOcp, wish: DesiredState, *, task_id: int = TASK_ID, wait: bool = False, seconds: float = 60
) -> OcpError:
    """Act, and check what holds for every failure."""
    with pytest.raises(OcpError) as raised:
        _act(service, wish, task_id, wait, False, PollPolicy(seconds, 10))
    assert raised.value.facts.keys() >= KEYS | PASSED_ON
    assert str(task_id) in str(raised.value)
    assert str(raised.value).endswith((".", "'"))  # a sentence, or a command to copy
    json.dumps(raised.value.facts)
    return raised.value


def interrupted_action(service: FakeTaskOcp, wish: DesiredState, *, wait: bool = False) -> dict[str, Any]:
    """Act until something that is no Exception ends it; returns the facts that it has then."""
    with pytest.raises(KeyboardInterrupt) as raised:
        _act(service, wish, TASK_ID, wait, False, PollPolicy(60, 10))
    facts = attached_facts(raised.value)
    assert facts.keys() == KEYS | PASSED_ON
    json.dumps(facts)
    return facts


def _act(
    service: FakeTaskOcp, wish: DesiredState, task_id: int, wait: bool, check_mode: bool, policy: PollPolicy
) -> dict[str, Any]:
    return act_on_task(service, task_id, wish, policy, wait=wait, check_mode=check_mode, clock=service.time.clock)
