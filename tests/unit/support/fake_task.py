# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A model of a task by docs/dev/contract.md, "Task actions", and a fake OCP around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ServiceError
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.envelope import ApiResponse
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, FakeClock, chain, step

TASK_ID = 1001
FIRST, SECOND, THIRD = 51, 52, 53
ALIVE = ("READY", "RUNNING", "CANCELING")


class Refused(Exception):
    """The service's refusal with status 400."""


class TaskModel:
    """One task that has begun: one step, then two in parallel."""

    def __init__(self) -> None:
        first, second, third = step(FIRST, "Stop it"), step(SECOND, "Start it"), step(THIRD, "Tell of it")
        chain(first, second)
        chain(first, third)
        self.steps = {each["id"]: each for each in (first, second, third)}
        self.task: dict[str, Any] = {
            "id": TASK_ID,
            "name": "Restart OB cluster",
            "status": "RUNNING",
            "operation": "EXECUTE",
            "prohibitRollback": False,
            "subtasks": [first, second, third],
        }
        self.events = 0
        self._settle()

    # By itself

    def go_on(self, number: int, well: bool = True) -> None:
        """A subtask begins or ends."""
        each = self.steps[number]
        undone = each["operation"] in ("ROLLBACK", "ROLLBACK_SKIP")
        if each["status"] == "READY" and each["operation"] not in ("SKIP", "ROLLBACK_SKIP"):
            each["status"] = "RUNNING"
        elif each["status"] == "CANCELING" or (each["status"] == "RUNNING" and not well):
            each["status"] = "FAILED"
        elif each["status"] in ALIVE:
            each["status"] = "PENDING" if undone else "SUCCESSFUL"
        else:
            return
        self.events += 1
        each["finishTime"] = f"2026-05-04T03:00:00.{self.events:03d}+08:00"
        self._settle()

    def _settle(self) -> None:
        for each in self.steps.values():
            neighbours = each["downstreams" if self._backwards else "upstreams"]
            ready = {"SUCCESSFUL": "PENDING"} if self._backwards else {"PENDING": "SUCCESSFUL"}
            wanted = ready.get(each["status"])
            if wanted and all(self.steps[number]["status"] == wanted for number in neighbours):
                each["status"] = "READY"
        states = {each["status"] for each in self.steps.values()}
        self.task["status"] = "RUNNING" if states & set(ALIVE) else "FAILED" if "FAILED" in states else "SUCCESSFUL"

    @property
    def _backwards(self) -> bool:
        return self.task["operation"] == "ROLLBACK"

    # By requests

    def retry(self) -> None:
        self._require(self.task["status"] == "FAILED" and not self._backwards)
        self.task["operation"] = "RETRY"
        self._make_ready("RETRY", *self._failed())

    def roll_back(self) -> None:
        self._require(self.task["status"] == "FAILED" and not self.task["prohibitRollback"])
        self.task["operation"] = "ROLLBACK"
        for each in self.steps.values():
            if each["status"] != "PENDING":
                each["operation"] = "ROLLBACK"
        self._make_ready("ROLLBACK", *self._failed())

    def retry_step(self, number: int) -> None:
        each = self.steps[number]
        self._require(each["status"] == "FAILED" and not self._backwards and each["operation"] != "ROLLBACK")
        self._make_ready("RETRY", number)

    def skip_step(self, number: int) -> None:
        each = self.steps[number]
        self._require(each["status"] == "FAILED" and not each.get("prohibitSkip"))
        self._make_ready("ROLLBACK_SKIP" if self._backwards else "SKIP", number)

    def cancel_step(self, number: int) -> None:
        self._require(self.steps[number]["status"] == "RUNNING")
        self.steps[number] |= {"status": "CANCELING", "operation": "CANCEL"}

    def _failed(self) -> list[int]:
        return [number for number, each in self.steps.items() if each["status"] == "FAILED"]

    def _make_ready(self, operation: str, *numbers: int) -> None:
        for number in numbers:
            self.steps[number] |= {"status": "READY", "operation": operation, "finishTime": None}
        self._settle()

    @staticmethod
    def _require(state: bool) -> None:
        if not state:
            raise Refused


@dataclass
class FakeTaskOcp:
    """A fake OCP with this one task, in which something happens every second; tests set the fields.

    ``fails`` is how often each subtask still fails, ``hangs`` the subtasks that do not end.
    """

    time: FakeClock
    model: TaskModel = field(default_factory=TaskModel)
    fails: dict[int, int] = field(default_factory=dict)
    hangs: set[int] = field(default_factory=set)
    timeout: float = 20.0
    retry_after: float = 0.0
    trace_id: str | None = "trace-last"
    posts: list[tuple[Any, ...]] = field(default_factory=list)
    refusals: list[ServiceError] = field(default_factory=list)
    lose_before: list[ServiceError] = field(default_factory=list)
    lose_after: list[ServiceError] = field(default_factory=list)
    unreadable: list[ServiceError] = field(default_factory=list)
    looks: int = 0
    before_post: Callable[[], Any] = lambda: None

    def __post_init__(self) -> None:
        self._moved = self.time.time

    def run(self) -> FakeTaskOcp:
        """Go on until the task ends or hangs."""
        for _step in range(20):
            self._happen()
        return self

    # OcpApi

    def task(self, task_id: int) -> dict[str, Any]:
        self.looks += 1
        while self._moved + 1 <= self.time.time:
            self._moved += 1
            self._happen()
        if self.unreadable:
            raise self.unreadable.pop(0)
        if task_id != TASK_ID:
            raise refused(404)
        subtasks = [dict(each) for each in self.model.task["subtasks"]]
        return {**self.model.task, "subtasks": subtasks}

    def subtask_log(self, task_id: int, subtask_id: int) -> str:
        return f"log of {subtask_id} of {task_id}\n"

    def retry_task(self, task_id: int) -> ApiResponse:
        return self._post(self.model.retry, "retry", task_id)

    def roll_back_task(self, task_id: int) -> ApiResponse:
        return self._post(self.model.roll_back, "rollback", task_id)

    def retry_subtask(self, task_id: int, subtask_id: int) -> ApiResponse:
        return self._post(lambda: self.model.retry_step(subtask_id), "retry", task_id, subtask_id)

    def skip_subtask(self, task_id: int, subtask_id: int) -> ApiResponse:
        return self._post(lambda: self.model.skip_step(subtask_id), "skip", task_id, subtask_id)

    def cancel_subtask(self, task_id: int, subtask_id: int) -> ApiResponse:
        return self._post(lambda: self.model.cancel_step(subtask_id), "cancel", task_id, subtask_id)

    # Internals

    def _happen(self) -> None:
        # Together, so that parallel subtasks end at the same time.
        for number in [number for number, each in self.model.steps.items() if each["status"] in ALIVE]:
            each = self.model.steps[number]
            if each["status"] == "RUNNING" and number in self.hangs:
                continue
            fails = each["status"] == "RUNNING" and self.fails.get(number, 0) > 0
            if fails:
                self.fails[number] -= 1
            self.model.go_on(number, well=not fails)

    def _post(self, carry_out: Callable[[], None], *call: Any) -> ApiResponse:
        self.posts.append(call)
        self.before_post()
        if self.lose_before:
            raise self.lose_before.pop(0)
        if self.refusals:
            raise self.refusals.pop(0)
        try:
            carry_out()
        except Refused:
            raise refused(400) from None
        if self.lose_after:
            raise self.lose_after.pop(0)
        return ApiResponse(None, URL, "trace-post")
