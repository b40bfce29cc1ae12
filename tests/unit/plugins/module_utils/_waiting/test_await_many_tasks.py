# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Many tasks: the cost of a poll, and what is kept of ended tasks."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    NotFound,
    PermissionDenied,
    RequestRefused,
    ResponseLost,
    TaskFailed,
    WaitTimeout,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting import await_tasks as module
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.await_tasks import (
    await_tasks,
    wait_for_success,
    wait_for_tasks,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, FakeClock, chain, raw_task, response, step

PATIENT = PollPolicy(timeout=7200, interval=10)
PAGE = 2000


def refused(status: int) -> RequestRefused:
    kind = {401: AuthenticationFailed, 403: PermissionDenied, 404: NotFound}.get(status, RequestRefused)
    return kind(f"Refused with {status}.", status=status, reason="", url=URL)


def detail(number: int, status: str) -> dict[str, Any]:
    second = {"SUCCESSFUL": "SUCCESSFUL", "FAILED": "FAILED", "RUNNING": "RUNNING"}.get(status, "PENDING")
    return raw_task(number, status, subtasks=chain(step(1, "Stop it", "SUCCESSFUL"), step(2, "Start it", second)))


@dataclass
class Service:
    """A fake HttpClient: tasks by the second at which they end, and their outcome, without tags.

    ``looks`` has the requested paths of each poll, ``details`` the ids among them.
    """

    time: FakeClock
    ends: dict[int, float]
    timeout: float = 5.0
    others: dict[int, str] = field(default_factory=dict)
    failing: Callable[[float, str], Exception | None] = lambda _seconds, _path: None
    looks: dict[float, list[str]] = field(default_factory=dict)
    statuses: set[str] = field(default_factory=set)
    listed: Callable[[int], dict[str, Any]] = lambda number: detail(number, "SUCCESSFUL")
    retry_after: float = 0.0
    trace_id: str | None = None

    def __post_init__(self) -> None:
        self._begun = self.time.time

    def get(self, path: str, params: dict[str, Any] | None = None):
        now = self.time.time - self._begun
        self.looks.setdefault(now, []).append(path)
        error = self.failing(now, path)
        if error is not None:
            raise error
        if path.endswith("/log"):
            return response({"log": "It broke."})
        name = path.rpartition("/")[2]
        if name != "instances":
            return response(detail(int(name), self._status(int(name), now)))
        self.statuses.add(params["status"])
        if params["status"] == "SUCCESSFUL":
            assert params["size"] <= PAGE
            ended = [number for number in self.ends if self._status(number, now) == "SUCCESSFUL"]
            return response({"contents": [self.listed(number) for number in ended]})
        assert params["size"] == PAGE
        running = [number for number in self.ends if self._status(number, now) == "RUNNING"]
        first = (params["page"] - 1) * PAGE
        page = [raw_task(number, subtasks=[]) for number in running[first : first + PAGE]]
        return response({"contents": page, "page": {"totalPages": max(1, -(-len(running) // PAGE))}})

    def details(self) -> list[list[int]]:
        """The ids read in each poll, without the list."""
        return [
            [int(path.rpartition("/")[2]) for path in paths if path[-1].isdecimal()] for paths in self.looks.values()
        ]

    def lists(self) -> list[int]:
        """The number of list pages read in each poll."""
        return [sum(path.endswith("/instances") for path in paths) for paths in self.looks.values()]

    def _status(self, number: int, now: float) -> str:
        if now < self.ends[number]:
            return "RUNNING"
        return self.others.get(number, "SUCCESSFUL")


def service_of(time: FakeClock, ends: dict[int, float], **more: Any) -> tuple[OcpApi, Service]:
    service = Service(time, ends, **more)
    return OcpApi(service), service


def test_unchanged_tasks_share_one_request_per_poll(time_passes):
    api, service = service_of(time_passes, dict.fromkeys(range(1, 101), 60))
    waited = wait_for_tasks(api, range(1, 101), PATIENT, clock=time_passes.clock)
    assert [task["id"] for task in waited.results] == list(range(1, 101))
    assert set(service.lists()) == {1}
    *before, last = service.details()
    assert not any(before)
    assert last == list(range(1, 101))
    assert service.statuses == {"RUNNING"}


@pytest.mark.parametrize(("number", "pages"), [(5, 1), (1999, 1), (2001, 2), (5000, 3)])
def test_requests_per_poll_equal_the_number_of_pages(number, pages, time_passes):
    api, service = service_of(time_passes, dict.fromkeys(range(1, number + 1), 60.0))
    with pytest.raises(WaitTimeout):
        wait_for_tasks(api, range(1, number + 1), PollPolicy(5, 10), clock=time_passes.clock)
    assert {len(paths) for paths in service.looks.values()} == {pages}


def test_only_tasks_that_left_the_running_list_are_read(time_passes):
    ends = {number: float(number) for number in range(1, 9)}
    api, service = service_of(time_passes, ends)
    wait_for_tasks(api, ends, PATIENT, clock=time_passes.clock)
    many = [read for read, lists in zip(service.details(), service.lists(), strict=True) if lists]
    assert [read for read in many if read] == [[1], [2], [3], [4]]


def test_last_few_tasks_are_read_one_by_one(time_passes):
    ends = {1: 0.0, 2: 9.0, 3: 9.0, 4: 9.0, 5: 9.0}
    api, service = service_of(time_passes, ends)
    wait_for_tasks(api, ends, PATIENT, clock=time_passes.clock)
    assert service.lists()[0] == 1
    assert not any(service.lists()[1:])
    assert set(map(tuple, service.details()[1:])) == {(2, 3, 4, 5)}


def test_four_tasks_are_read_without_the_list(time_passes):
    api, service = service_of(time_passes, dict.fromkeys(range(1, 5), 5.0))
    wait_for_tasks(api, range(1, 5), PATIENT, clock=time_passes.clock)
    assert not any(service.lists())


def test_task_of_unknown_status_is_read_again_and_unfinished(time_passes):
    ends = dict.fromkeys(range(1, 8), 30.0) | {8: 0.0, 9: 0.0}
    api, service = service_of(time_passes, ends, others={8: "SUSPENDED", 9: "SUSPENDED"})
    with pytest.raises(WaitTimeout) as raised:
        wait_for_tasks(api, ends, PollPolicy(20, 10), clock=time_passes.clock)
    assert set(map(tuple, service.details())) == {(8, 9)}
    assert raised.value.facts["unfinished_task_ids"] == [*range(1, 10)]
    assert [task["id"] for task in raised.value.facts["tasks"]] == [8, 9]


def rolled_back(number: int) -> dict[str, Any]:
    steps = chain(step(1, "Stop it", "SUCCESSFUL", operation="ROLLBACK"), step(2, "Start it", "PENDING"))
    return raw_task(number, "SUCCESSFUL", subtasks=steps)


def of_another_id(number: int) -> dict[str, Any]:
    return detail(number + 1000, "SUCCESSFUL")


@pytest.mark.parametrize(
    ("listed", "is_read"),
    [
        (lambda number: detail(number, "SUCCESSFUL"), False),
        (lambda number: detail(number, "RUNNING"), True),
        (lambda number: raw_task(number, "SUCCESSFUL", subtasks=[]), True),
        (rolled_back, True),
        (of_another_id, True),
    ],
    ids=["with its steps", "not ended", "without steps", "rolled back", "of others"],
)
def test_success_that_the_list_shows_with_its_steps_is_not_read_again(listed, is_read, time_passes):
    ends = dict.fromkeys(range(1, 21), 0.0)
    api, service = service_of(time_passes, ends, listed=listed)
    waited = wait_for_tasks(api, ends, PATIENT, full=False, listed=True, clock=time_passes.clock)
    assert [task["succeeded"] for task in waited.results] == [True] * 20
    assert service.statuses == {"RUNNING", "SUCCESSFUL"}
    assert service.details() == [[*ends] if is_read else []]


def test_list_of_ends_is_one_page_however_many_tasks_have_ended(time_passes):
    api, service = service_of(time_passes, dict.fromkeys(range(1, PAGE), 0.0))
    waited = wait_for_tasks(api, range(1, PAGE), PATIENT, full=False, listed=True, clock=time_passes.clock)
    assert (len(waited.results), service.lists(), service.details()) == (PAGE - 1, [2], [[]])


def test_few_ends_and_failures_are_read_although_successes_are_listed(time_passes):
    ends = dict.fromkeys(range(1, 7), 0.0) | dict.fromkeys(range(7, 15), 20.0)
    api, service = service_of(time_passes, ends, others={1: "FAILED", 2: "FAILED"})
    waited = wait_for_tasks(api, ends, PATIENT, listed=True, clock=time_passes.clock)
    assert [task.id for task in waited.unsuccessful] == [1, 2]
    assert [read for read in service.details() if read] == [[1, 2]]
    few = dict.fromkeys(range(1, 5), 0.0)
    api, service = service_of(time_passes, {**few, 9: 20.0})
    wait_for_tasks(api, [*few, 9], PATIENT, listed=True, clock=time_passes.clock)
    assert service.details()[0] == [*few]


def test_results_keep_the_requested_order_without_duplicates(time_passes):
    asked = [9, 2, 7, 2, 5, 9, 1, 8]
    api, service = service_of(time_passes, {number: float(number) for number in asked})
    waited = wait_for_tasks(api, asked, PATIENT, clock=time_passes.clock)
    assert [task["id"] for task in waited.results] == [9, 2, 7, 5, 1, 8]
    assert all(len(read) == len(set(read)) for read in service.details())


# Errors


@pytest.mark.parametrize("error", [refused(503), ResponseLost("Lost.", url=URL)], ids=str)
def test_failed_list_does_not_end_the_wait(error, time_passes):
    ends = dict.fromkeys(range(1, 11), 20.0)
    api, service = service_of(
        time_passes, ends, failing=lambda now, path: error if 3 < now < 10 and path.endswith("/instances") else None
    )
    waited = wait_for_tasks(api, ends, PATIENT, clock=time_passes.clock)
    assert all(task["succeeded"] for task in waited.results)
    [warning] = waited.warnings
    assert str(error) in warning
    assert all(len(paths) == 1 for now, paths in service.looks.items() if 3 < now < 10)


@pytest.mark.parametrize("status", [401, 403])
def test_refused_list_ends_the_wait(status, time_passes):
    ends = {1: 0.0, **dict.fromkeys(range(2, 11), 20.0)}
    api, service = service_of(
        time_passes, ends, failing=lambda now, path: refused(status) if now and path.endswith("/instances") else None
    )
    with pytest.raises(RequestRefused) as raised:
        wait_for_tasks(api, ends, PATIENT, clock=time_passes.clock)
    assert raised.value.status == status
    assert raised.value.facts["task_id"] == 2
    assert [task["id"] for task in raised.value.facts["tasks"]] == [1]
    assert len(service.looks) == 2


def test_unknown_task_is_named(time_passes):
    ends = dict.fromkeys(range(1, 11), 20.0) | {7: 0.0}
    api, service = service_of(
        time_passes, ends, failing=lambda _now, path: refused(404) if path.endswith("/7") else None
    )
    with pytest.raises(NotFound) as raised:
        wait_for_tasks(api, ends, PATIENT, clock=time_passes.clock)
    assert raised.value.facts["task_id"] == 7
    assert len(service.looks) == 1


def test_failed_task_read_is_repeated_in_the_next_poll(time_passes):
    ends = {1: 0.0, 2: 0.0, **dict.fromkeys(range(3, 11), 20.0)}
    api, service = service_of(
        time_passes, ends, failing=lambda now, path: refused(503) if not now and path.endswith("/1") else None
    )
    waited = wait_for_tasks(api, ends, PATIENT, clock=time_passes.clock)
    assert service.details()[:3] == [[1, 2], [1], []]
    assert len(waited.results) == 10


def test_failures_are_counted_and_the_first_explained(time_passes):
    ends = {number: float(number) for number in range(1, 11)}
    api, _service = service_of(time_passes, ends, others={3: "FAILED", 5: "FAILED"})
    with pytest.raises(TaskFailed) as raised:
        wait_for_success(api, ends, PATIENT, full=False, clock=time_passes.clock)
    error = raised.value
    assert str(error).startswith("Task 3 (Restart 3) FAILED at subtask 2 of 2, Start it")
    assert "\nNot successful either: 5 (Restart 5); 2 of 10 tasks in all.\n" in str(error)
    assert error.facts["failed_task_ids"] == [3, 5]
    assert len(error.facts["tasks"]) == 10
    assert time_passes.time - 1000 >= 10  # the other tasks have ended


def test_timeout_has_finished_tasks_and_unfinished_ids(time_passes):
    ends = dict.fromkeys(range(1, 11), 90.0) | {4: 1.0}
    api, _service = service_of(time_passes, ends)
    with pytest.raises(WaitTimeout) as raised:
        await_tasks(api, list(ends), PollPolicy(60, 10), clock=time_passes.clock)
    assert str(raised.value).startswith("Task 1 and 8 more are not finished after 60 seconds.")
    assert [task["id"] for task in raised.value.facts["tasks"]] == [4]
    assert raised.value.facts["unfinished_task_ids"] == [1, 2, 3, 5, 6, 7, 8, 9, 10]


# Results and memory


@pytest.mark.parametrize("number", [2, 10])
def test_summary_keeps_all_keys_but_only_failed_subtasks(number, time_passes):
    ends = dict.fromkeys(range(1, number + 1), 5.0)
    results = {}
    for full in True, False:
        api, _service = service_of(time_passes, ends, others={2: "FAILED"})
        results[full] = wait_for_tasks(api, ends, PATIENT, full=full, clock=time_passes.clock).results
    for long, short in zip(results[True], results[False], strict=True):
        assert short.keys() == long.keys()
        assert {**short, "subtasks": None} == {**long, "subtasks": None}
        assert short["subtasks"] == [subtask for subtask in long["subtasks"] if subtask["status"] == "FAILED"]
    assert [len(task["subtasks"]) for task in results[True]] == [2] * number
    assert [len(task["subtasks"]) for task in results[False]] == [0, 1, *[0] * (number - 2)]


@pytest.mark.nightly
@pytest.mark.slow
def test_successful_tasks_are_not_kept_in_memory(time_passes, monkeypatch):
    read = []

    class Noted(Task):
        @classmethod
        def from_api(cls, data):
            task = Task.from_api(data)
            read.append(weakref.ref(task))
            return task

    monkeypatch.setattr(module, "Task", Noted)
    number = 5000
    ends = {task: 1.0 if task <= 4000 else 30.0 for task in range(1, number + 1)}
    api, _service = service_of(time_passes, ends, others={7: "FAILED"})
    waited = wait_for_tasks(api, ends, PATIENT, full=False, clock=time_passes.clock)
    gc.collect()
    assert (len(read), len(waited.results)) == (number, number)
    assert [task.id for task in waited.unsuccessful] == [7]
    assert [task().id for task in read if task() is not None] == [7]
