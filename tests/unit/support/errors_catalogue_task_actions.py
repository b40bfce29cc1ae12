# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The catalogue of task actions: tasks that the module ``task`` cannot bring into the desired state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue import TASKS, Entry, keys_of, outcome_of
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_service import (
    GET,
    POST,
    error_lost,
    error_status,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_tasks import staged
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_task import FIRST, SECOND, TASK_ID, THIRD, FakeTaskOcp
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import FakeClock
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import CONNECTION
from ansible_collections.oceanbase.ocp.tests.unit.support.task_action_cases import failed, hanging, retried_meanwhile

REFUSED, UNKNOWN, WAITED = (
    "A task is not in the state for it",
    "A task was not steered",
    "A steered task does not come to the end that is waited for",
)
PATH = f"/api/v2/tasks/instances/{TASK_ID}"
WAITING = {"wait": True, "wait_timeout": 60}


def task_action_entries() -> Iterator[Entry]:
    """The message of the module ``task``."""
    yield from _state_entries()
    yield from _request_entries()
    yield from _wait_entries()


def entry(heading: str, cause: str, service: FakeTaskOcp, **options: Any) -> Entry:
    with staged(service):
        result, kind = outcome_of("task", {**CONNECTION, "task_id": TASK_ID, **options})
    names = (str(options.get("subtask_id", TASK_ID)), str(TASK_ID))
    return Entry(TASKS, heading, cause, result["msg"], names, kind, ("task",), results=keys_of("task", result))


def _with(service: FakeTaskOcp, change: Callable[[FakeTaskOcp], object]) -> FakeTaskOcp:
    change(service)
    return service


def _rolled_back(fails: int = 1) -> FakeTaskOcp:
    service = failed(FakeClock())
    service.fails[FIRST] = fails - 1
    service.model.roll_back()
    return service.run()


def _state_entries() -> Iterator[Entry]:
    time = FakeClock()
    retried, rolled_back, skipped, canceled = (
        {"state": state} for state in ("retried", "rolled_back", "skipped", "canceled")
    )
    step = {"subtask_id": SECOND}
    done = FakeTaskOcp(time).run()
    yield entry(REFUSED, "retried, though it was rolled back", _rolled_back(), **retried)
    yield entry(REFUSED, "retried, though its rollback FAILED", _rolled_back(2), **retried)
    yield entry(REFUSED, "rolled back, though it was SUCCESSFUL", done, **rolled_back)
    yield entry(REFUSED, "rolled back, though it is RUNNING", hanging(time), **rolled_back)
    kept = _with(failed(time), lambda service: service.model.task.update(prohibitRollback=True))
    yield entry(REFUSED, "rolled back, though that is prohibited", kept, **rolled_back)
    yield entry(REFUSED, "a subtask retried, though its task was rolled back", _rolled_back(), **retried, **step)
    yield entry(REFUSED, "a subtask skipped that was SUCCESSFUL", done, **skipped, **step)
    yield entry(REFUSED, "a subtask skipped that is RUNNING", hanging(time), **skipped, **step)
    early = failed(time, also={FIRST: 1})
    yield entry(REFUSED, "a subtask skipped that has not begun", early, **skipped, **step)
    held = _with(failed(time), lambda service: service.model.steps[SECOND].update(prohibitSkip=True))
    yield entry(REFUSED, "a subtask skipped, though that is prohibited", held, **skipped, **step)
    yield entry(REFUSED, "a subtask canceled that is not RUNNING", failed(time), **canceled, subtask_id=THIRD)
    yield entry(REFUSED, "a subtask that the task does not have", failed(time), **skipped, subtask_id=99)


def _request_entries() -> Iterator[Entry]:
    for status in (400, 401, 403, 404, 409):
        service = failed(FakeClock())
        service.refusals = [error_status(POST, status, path=f"{PATH}/retry")]
        yield entry(UNKNOWN, f"status {status}", service, state="retried")
    for status in (401, 403, 500):
        service = failed(FakeClock())
        service.unreadable = [error_status(GET, status, path=PATH)]
        yield entry(UNKNOWN, f"it cannot be read, status {status}", service, state="retried")
    service = failed(FakeClock())
    service.lose_before = [error_lost(f"{PATH}/retry")]
    yield entry(UNKNOWN, "the answer was lost", service, state="retried")


def _wait_entries() -> Iterator[Entry]:
    yield entry(WAITED, "it FAILED again", failed(FakeClock(), times=2), state="retried", **WAITING)
    backwards = _with(failed(FakeClock()), lambda service: service.fails.update({FIRST: 1}))
    yield entry(WAITED, "its rollback FAILED", backwards, state="rolled_back", **WAITING)
    forwards = retried_meanwhile(FakeClock())
    yield entry(WAITED, "somebody retried it while it was to be rolled back", forwards, state="rolled_back", **WAITING)
    slow = _with(failed(FakeClock()), lambda service: service.hangs.add(SECOND))
    yield entry(WAITED, "wait_timeout is used up", slow, state="retried", **WAITING)
    unseen = failed(FakeClock())
    refusal = error_status(GET, 403, path=PATH)
    retry = unseen.retry_task

    def and_blind(task_id: int) -> Any:
        answer = retry(task_id)
        unseen.unreadable = [refusal]
        return answer

    unseen.retry_task = and_blind  # type: ignore[method-assign]
    yield entry(WAITED, "it may not be read", unseen, state="retried", **WAITING)
