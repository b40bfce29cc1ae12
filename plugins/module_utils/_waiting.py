# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Waiting for tasks: how often to look, how long, and what ends it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ._api import OcpApi
from ._diagnosis import failure
from ._errors import AuthenticationFailed, NotFound, OptionError, PermissionDenied, ServiceError, WaitTimeout
from ._tasks import Task
from ._time import SYSTEM_CLOCK, Clock

SHORTEST_PAUSE = 0.5
SHARE_OF_WAITED = 0.05


@dataclass(frozen=True)
class Patience:
    """How long to wait in all, and the longest pause between two looks; both in seconds."""

    timeout: float
    interval: float

    def pause(self, waited: float) -> float:
        """Seconds until the next look: 5 % of the time waited so far, within bounds and the time that is left."""
        pause = min(max(SHORTEST_PAUSE, SHARE_OF_WAITED * waited), self.interval)
        return max(0.0, min(pause, self.timeout - waited))

    def left(self, waited: float) -> Patience:
        """What remains after ``waited`` seconds."""
        return replace(self, timeout=max(0.0, self.timeout - waited))


def await_tasks(api: OcpApi, task_ids: list[int], patience: Patience, clock: Clock = SYSTEM_CLOCK) -> dict[str, Any]:
    """The result of waiting for ``task_ids``; raises as ``wait_for_success`` does, or OptionError for an empty list."""
    if not task_ids:
        raise OptionError("task_ids: the list is empty; give the ids of the tasks to wait for.")
    started = clock.now()
    waited = wait_for_success(api, task_ids, patience, clock)
    return {
        "changed": False,
        "tasks": [task.result() for task in waited.tasks],
        "elapsed": round(clock.now() - started, 3),
        "warnings": waited.warnings,
    }


@dataclass(frozen=True)
class Waited:
    """The tasks in the order asked for, each once, and what is to be told of the looks that failed meanwhile."""

    tasks: list[Task]
    warnings: list[str]


def wait_for_success(api: OcpApi, task_ids: Iterable[int], patience: Patience, clock: Clock = SYSTEM_CLOCK) -> Waited:
    """Wait until all tasks have finished; raises TaskFailed if one did not succeed, else as ``wait_for_tasks``."""
    waited = wait_for_tasks(api, task_ids, patience, clock)
    failed = [task for task in waited.tasks if not task.succeeded]
    if failed:
        error = failure(api, failed, waited.tasks)
        error.facts["warnings"] = waited.warnings
        raise error
    return waited


def wait_for_tasks(api: OcpApi, task_ids: Iterable[int], patience: Patience, clock: Clock = SYSTEM_CLOCK) -> Waited:
    """Look at the tasks until each has finished, well or not.

    A look that fails is survived, since the task runs on without it; only what no later look can mend ends the wait:
    refused credentials, a missing permission, a task that does not exist. Raises WaitTimeout after one last look.
    """
    wanted = list(dict.fromkeys(task_ids))
    seen: dict[int, Task] = {}
    problems: list[ServiceError] = []
    started = clock.now()
    while True:
        for task_id in wanted:
            if task_id in seen and seen[task_id].finished:
                continue
            try:
                seen[task_id] = Task.from_api(api.task(task_id))
            except (AuthenticationFailed, PermissionDenied, NotFound) as error:
                error.facts.update(task_id=task_id, tasks=[task.result() for task in seen.values()])
                raise
            except ServiceError as error:
                problems.append(error)
        running = [task_id for task_id in wanted if task_id not in seen or not seen[task_id].finished]
        if not running:
            return Waited([seen[task_id] for task_id in wanted], _survived(problems))
        waited = clock.now() - started
        if waited >= patience.timeout:
            raise _timed_out(running, seen, waited, problems)
        clock.sleep(patience.pause(waited))


def _timed_out(running: list[int], seen: dict[int, Task], waited: float, problems: list[ServiceError]) -> WaitTimeout:
    task_id = running[0]
    task = seen.get(task_id)
    others = f" and {len(running) - 1} more" if len(running) > 1 else ""
    verb = "are" if others else "is"
    sentences = [f"Task {task_id}{others} {verb} not finished after {waited:.0f} seconds"]
    if task is not None:
        sentences[0] += f" (status {task.status})"
        steps = [step for step in task.subtasks if step.status == "RUNNING"]
        sentences += [f"Subtask {task.position(step)} is running: {step.label}" for step in steps[:1]]
    sentences += _survived(problems)
    ids = ",".join(map(str, running))
    sentences.append(
        f"It runs on in OCP; wait again with oceanbase.ocp.task_wait task_ids={ids} or a larger wait_timeout"
    )
    return WaitTimeout(
        ". ".join(sentence.rstrip(".") for sentence in sentences) + ".",
        task_id=task_id,
        tasks=[seen[number].result() for number in seen],
        unfinished_task_ids=running,
    )


def _survived(problems: list[ServiceError]) -> list[str]:
    if not problems:
        return []
    looks = "1 look" if len(problems) == 1 else f"{len(problems)} looks"
    return [f"{looks} at the tasks failed and did not end the wait. The last: {problems[-1]}"]
