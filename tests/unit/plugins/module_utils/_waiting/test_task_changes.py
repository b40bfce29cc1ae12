# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Task changes: which are reported, each once and in order, and which errors are tolerated."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    PermissionDenied,
    WrongRecord,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.task_changes import Change, Listener, follow_tasks
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER, FakeOcp, lost, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, FakeClock, chain, raw_task, step


class Audience:
    """Hears changes until a time of the fake clock."""

    def __init__(self, time: FakeClock) -> None:
        self.time = time
        self.heard = []
        self.noted = []

    def follow(self, service, seconds, filters=None, interval=5.0, **options):
        ends = self.time.time + seconds
        listener = Listener(self._hear, self.noted.append, lambda: self.time.time >= ends)
        follow_tasks(service, filters or {}, listener, interval=interval, clock=self.time.clock, **options)
        return self.heard

    def _hear(self, change):
        self.heard.append((change.name, change.task.id, change.subtask and change.subtask.label, self.time.time - 1000))


@pytest.fixture
def time_flies():
    return FakeClock()


@pytest.fixture
def service(time_flies):
    return FakeOcp(time_flies)


@pytest.fixture
def audience(time_flies):
    return Audience(time_flies)


def kinds(heard):
    return [change[:3] for change in heard]


def later(time, seconds, do):
    """Do something once, after ``seconds`` of the fake clock."""
    at = time.time + seconds
    pending = [do]

    def due():
        if pending and time.time >= at:
            pending.pop()()

    time.after_sleep = due


def test_running_task_is_reported_as_started_and_finished(service, audience):
    service.begin(SERVER, service.servers_there[:1], ago=3.0)
    assert kinds(audience.follow(service, 30)) == [("started", 1001, None), ("finished", 1001, None)]


def test_task_that_ended_before_is_not_reported(service, audience):
    service.begin(SERVER, service.servers_there[:1], ago=100.0)
    assert audience.follow(service, 30) == []


def test_ended_tasks_newer_than_the_given_id_are_reported(service, audience):
    for server in service.servers_there[:2]:
        service.begin(SERVER, [server], ago=100.0, end="FAILED")
    heard = audience.follow(service, 30, newer_than=1001)
    assert {task for _name, task, *_rest in heard} == {1002}
    assert [change[0] for change in heard] == ["started", "subtask_failed", "finished"]


def test_task_that_starts_and_ends_between_two_polls_is_reported(service, audience, time_flies):
    later(time_flies, 10, lambda: service.begin(SERVER, service.servers_there[:1], ago=1.0, seconds=0.5))
    assert kinds(audience.follow(service, 30)) == [("started", 1001, None), ("finished", 1001, None)]


def test_end_is_reported_within_the_interval(service, audience):
    service.begin(SERVER, service.servers_there[:1], seconds=1000.0)
    heard = audience.follow(service, 2000, interval=7.0)
    assert 1000 <= heard[-1][3] <= 1007.1


def test_failed_subtask_is_reported_before_the_end(service, audience):
    service.begin(SERVER, service.servers_there[:1], end="FAILED")
    [_started, failed, (name, *_rest)] = audience.follow(service, 30)
    assert (failed[0], name) == ("subtask_failed", "finished")
    assert failed[2]


def test_task_that_ended_with_another_word_is_finished(audience):
    ended = {"finishTime": "2026-05-04T03:00:05+08:00"}
    service = Listed(picture("RUNNING", "RUNNING"), picture("ABORTED", "PENDING", **ended))
    heard = audience.follow(service, 30)
    assert kinds(heard) == [("started", 7, None), ("finished", 7, None)]


class Listed:
    """A service that shows another state of its tasks in each poll; the last one repeats."""

    retry_after = 0.0

    def __init__(self, *pictures):
        self.pictures = [*pictures]
        self.reads = 0

    def tasks(self, limit=None, above=0, status=None):
        if limit:
            return [raw_task(self.pictures[0]["id"] - 1)]
        if status:
            self.shown = self.pictures.pop(0) if len(self.pictures) > 1 else self.pictures[0]
        fits = self.shown["id"] > above and status in (None, self.shown["status"])
        return [self.shown] if fits else []

    def task(self, task_id):
        assert task_id == self.shown["id"]
        self.reads += 1
        return self.shown


def picture(status, *statuses, **fields):
    names = zip(("first", "second", "third"), statuses, strict=False)
    steps = [step(number, name, state, run_time=1) for number, (name, state) in enumerate(names)]
    return raw_task(7, status, subtasks=chain(*steps), **fields)


def test_retried_task_resumes_without_repeating_old_failures(audience):
    both = ("SUCCESSFUL", "FAILED", "FAILED")
    service = Listed(
        picture("RUNNING", "RUNNING", "PENDING", "PENDING"),
        picture("FAILED", *both),
        picture("RUNNING", "SUCCESSFUL", "RUNNING", "FAILED"),
        picture("SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL"),
    )
    assert kinds(audience.follow(service, 30)) == [
        ("started", 7, None),
        ("subtask_failed", 7, "second"),
        ("subtask_failed", 7, "third"),
        ("finished", 7, None),
        ("resumed", 7, None),
        ("finished", 7, None),
    ]


def test_subtask_failure_in_a_running_task_is_reported_once(audience):
    service = Listed(
        picture("RUNNING", "RUNNING", "RUNNING", "PENDING"),
        picture("RUNNING", "RUNNING", "FAILED", "PENDING"),
        picture("RUNNING", "SUCCESSFUL", "FAILED", "PENDING"),
        picture("FAILED", "SUCCESSFUL", "FAILED", "PENDING"),
    )
    assert kinds(audience.follow(service, 30)) == [
        ("started", 7, None), ("subtask_failed", 7, "second"), ("finished", 7, None),
    ]  # fmt: skip


def test_task_with_an_unchanged_list_entry_is_read_once(audience):
    service = Listed(picture("RUNNING", "RUNNING"))
    audience.follow(service, 600)
    assert service.reads == 1


def test_failed_poll_is_noted_once_and_loses_no_change(service, audience):
    service.begin(SERVER, service.servers_there[:1], ago=3.0)
    service.failing = {"tasks": [lost(), refused(503)], "task": [lost()]}
    heard = audience.follow(service, 30)
    assert kinds(heard) == [("started", 1001, None), ("finished", 1001, None)]
    assert audience.noted == [
        "Polling the tasks failed; retrying: Lost.",
        "Polling the tasks works again.",
    ]


def test_deleted_task_is_dropped_without_a_note(service, audience, time_flies):
    service.begin(SERVER, service.servers_there[:1], seconds=100.0)
    later(time_flies, 61, service.jobs.clear)
    heard = kinds(audience.follow(service, 200))
    reads = service.calls.count("task")
    assert (heard, audience.noted) == ([("started", 1001, None)], [])
    # From the last time that it was listed, for a minute.
    assert 10 < reads < 70


def test_404_at_the_end_of_a_long_task_does_not_lose_its_end(service, audience, time_flies):
    """A replica that lags answers it."""
    service.begin(SERVER, service.servers_there[:1], seconds=100.0)
    later(time_flies, 90, lambda: service.failing.update(task=[refused(404)]))
    assert kinds(audience.follow(service, 200)) == [("started", 1001, None), ("finished", 1001, None)]
    assert service.failing["task"] == []


@pytest.mark.parametrize("missing", [1, 20], ids=["once", "for long, while it is listed"])
def test_new_task_that_a_replica_does_not_have_yet_is_followed_from_its_start(service, audience, time_flies, missing):
    service.failing = {"task": [refused(404) for _look in range(missing)]}
    later(time_flies, 5, lambda: service.begin(SERVER, service.servers_there[:1], seconds=200.0))
    heard = audience.follow(service, 300)
    assert kinds(heard) == [("started", 1001, None), ("finished", 1001, None)]
    assert audience.noted == []


def test_short_task_that_a_replica_does_not_have_yet_is_reported(service, audience, time_flies):
    service.failing = {"task": [refused(404) for _look in range(5)]}
    later(time_flies, 5, lambda: service.begin(SERVER, service.servers_there[:1], ago=1.0, seconds=0.5))
    assert kinds(audience.follow(service, 60)) == [("started", 1001, None), ("finished", 1001, None)]


def test_started_task_that_a_replica_does_not_have_yet_is_not_resumed(service, audience, time_flies):
    service.begin(SERVER, service.servers_there[:1], seconds=3.0)
    read, answers = service.task, []

    def answer(task_id):
        answers.append(time_flies.time)
        if len(answers) == 2:
            raise refused(404)
        return read(task_id)

    service.task = answer
    assert kinds(audience.follow(service, 60)) == [("started", 1001, None), ("finished", 1001, None)]
    assert len(answers) == 3


@pytest.mark.parametrize(("status", "error"), [(401, AuthenticationFailed), (403, PermissionDenied)])
def test_authorization_error_ends_the_polling(service, audience, status, error):
    service.failing = {"tasks": [refused(status)]}
    with pytest.raises(error):
        audience.follow(service, 30)
    assert len(service.calls) == 1


def test_filters_are_passed_to_the_service(service, audience):
    service.begin(SERVER, service.servers_there[:1], ago=3.0)
    assert audience.follow(service, 30, {"name": "no such"}) == []
    assert {name for name, *_rest in audience.follow(service, 30, {"name": SERVER}, newer_than=0)} >= {"finished"}


# What leaves for a rulebook, and with it for extra_vars of a playbook


RUNS = "{{ lookup('ansible.builtin.pipe', 'id') }}"


@pytest.mark.parametrize("value", [RUNS, [RUNS], {"x": RUNS}, True, 1.5], ids=repr)
def test_every_id_of_an_event_is_an_integer_or_null(value):
    wrong = dict.fromkeys(("id", "clusterId", "hostId", "taskDefinitionId", "seriesId"), value)
    task = Task.from_api(raw_task(1001) | wrong | {"subtasks": [step(1, "A step", "FAILED") | wrong]})
    event = Change("subtask_failed", task, task.subtasks[0]).event()
    ids = [
        part[key]
        for part in (event["task"], event["subtask"], *event["task"]["subtasks"])
        for key in part
        if key == "id" or key.endswith("_id")
    ]
    assert len(ids) >= 8
    assert set(ids) == {None}


def test_task_that_answers_with_another_id_is_dropped_with_one_line(service, audience, monkeypatch):
    service.begin(SERVER, service.servers_there[:1], ago=3.0)
    service.begin(SERVER, service.servers_there[1:2], ago=3.0)
    read = service.task

    def answer(task_id):
        if task_id == 1001:
            raise WrongRecord("Another task.", url=URL)
        return read(task_id)

    monkeypatch.setattr(service, "task", answer)
    assert {task for _name, task, *_rest in audience.follow(service, 30)} == {1002}
    assert audience.noted == ["Task 1001 is not followed: the service answers with a task of another id."]


def test_list_that_ignores_the_filter_repeats_nothing(service, audience):
    listed = service.tasks
    service.tasks = lambda limit=None, above=0, **_filters: listed(limit, above)
    service.begin(SERVER, service.servers_there[:1], ago=100.0)
    assert audience.follow(service, 30) == []


def test_task_that_cannot_be_read_hides_no_change_of_another(service, audience):
    for server in service.servers_there[:2]:
        service.begin(SERVER, [server], ago=3.0)
    shown = service.task

    def task(number):
        if number == 1001:
            raise refused(500)
        return shown(number)

    service.task = task
    assert kinds(audience.follow(service, 30)) == [("started", 1002, None), ("finished", 1002, None)]
    assert any("Polling the tasks failed" in line for line in audience.noted)
