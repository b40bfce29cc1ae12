# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A target that becomes busy before the POST: the decision is repeated, once."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    OutcomeUnknown,
    RateLimited,
    RequestRefused,
    TargetBusy,
    TaskFailed,
    WaitTimeout,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import aftermath
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at, lost, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    SERVER,
    every_restart,
    failure,
    however_shown,
    request,
    restart,
)

BUSY = [409, 400, 423]
every_refusal = pytest.mark.parametrize("status", BUSY)


def someone_is_first(service, case, **more):
    """Let another restart of the target start between the reads and the first POST."""

    def start():
        if len(service.posts) == 1:
            service.begin(case.task_name, case.things(service), **more)

    service.before_post = start


@every_restart
@every_refusal
@however_shown
@pytest.mark.parametrize("since", [None, -10], ids=["no condition", "started_before"])
def test_refused_post_attaches_to_the_other_restart(since, names_operations, status, case, service):
    service.names_operations = names_operations
    service.busy = status
    someone_is_first(service, case)
    result = restart(service, case, request(started_before=since and at(since), wait=True))
    assert (result["changed"], result["action"], result["task_id"]) == (False, "attached", 1001)
    assert result["verified"] is case.proven
    assert (len(service.posts), len(service.jobs)) == (1, 1)


@every_restart
@every_refusal
def test_refused_post_is_skipped_when_the_other_restart_ended(status, case, service):
    """The other restart ends before the target is read again."""
    service.busy = status
    someone_is_first(service, case, seconds=10)
    call = {"arbitration": "restart_arbitration_service"}.get(case.post[0], f"restart_{case.post[0]}")
    real = getattr(service, call)

    def slow(*args, **flags):
        try:
            return real(*args, **flags)
        finally:
            service.time.time += 20

    setattr(service, call, slow)
    result = restart(service, case, request(started_before=at(-10)))
    assert (result["changed"], result["action"], result["task_id"]) == (False, "skipped", None)
    assert (len(service.posts), len(service.jobs)) == (1, 1)


@every_restart
@every_refusal
@however_shown
def test_refused_post_queues_and_is_sent_again(names_operations, status, case, service):
    service.names_operations = names_operations
    service.busy = status
    someone_is_first(service, case)
    result = restart(service, case, request("queue"))
    assert (result["changed"], result["action"], result["task_id"]) == (True, "submitted", 1002)
    assert 10 <= result["elapsed"] <= 11
    assert service.posts == [case.post] * 2


@every_restart
@every_refusal
def test_refused_post_fails_with_in_flight_fail(status, case, service):
    service.busy = status
    someone_is_first(service, case)
    error = failure(service, case, request("fail"))
    assert error.__class__ is TargetBusy
    assert "task 1001" in str(error)
    assert (error.facts["changed"], len(service.posts)) == (False, 1)


@every_refusal
def test_other_restart_begun_before_started_before_is_not_joined(status, service):
    service.busy = status
    someone_is_first(service, SERVER, ago=60, seconds=100)
    error = failure(service, SERVER, request(started_before=at(-10)))
    assert error.__class__ is TargetBusy
    assert "before started_before" in str(error)


def test_queue_after_a_refused_post_is_bounded_by_wait_timeout(service):
    service.busy = 409
    someone_is_first(service, SERVER, seconds=1000)
    error = failure(service, SERVER, request("queue", seconds=30))
    assert (error.__class__, error.facts["elapsed"], len(service.posts)) == (WaitTimeout, 30.0, 1)
    assert "1001" in str(error)


@every_refusal
def test_second_refusal_after_the_queue_is_final(status, service):
    service.busy = status
    service.before_post = lambda: service.begin("Restart OB server", SERVER.things(service))
    error = failure(service, SERVER, request("queue"))
    assert isinstance(error, RequestRefused)
    assert error.status == status
    assert str(error) == f"Did not restart {SERVER.target.label}. Refused with {status}."
    assert (len(service.posts), error.facts["changed"], error.facts["action"]) == (2, False, None)


@every_refusal
def test_task_of_a_lost_second_response_is_adopted(status, service):
    service.busy = status
    someone_is_first(service, SERVER)
    real = service.before_post

    def lose_the_second():
        real()
        if len(service.posts) == 2:
            service.lose_after = [lost()]

    service.before_post = lose_the_second
    result = restart(service, SERVER, request("queue"))
    assert (result["action"], result["task_id"], len(service.posts)) == ("adopted", 1002, 2)


@every_refusal
def test_failed_task_that_holds_the_target_is_named(status, service):
    service.begin("Restart OB server", SERVER.things(service), end="FAILED")
    service.time.time += 60
    service.busy = status
    message = str(failure(service, SERVER, request()))
    assert message.startswith(
        f"Did not restart {SERVER.target.label}: task 1001 (Restart OB server) FAILED and holds it.\n"
        "Task 1001 (Restart OB server) FAILED at subtask 2 of 2, Start it (id 2). The end of its log:\n"
    )
    command = "ansible localhost -m oceanbase.ocp.task -a 'task_id=1001 state=retried wait=true detail=compact'"
    assert f"Retry what failed: {command}" in message
    assert "Roll the task back: ansible localhost" in message
    assert service.posts == []


@pytest.mark.parametrize("status", [401, 403, 404])
def test_permanent_refusal_ends_without_further_requests(status, service):
    """These refusals are permanent, so nothing is read or sent after them."""
    someone_is_first(service, SERVER)
    service.lose_before = [refused(status)]
    error = failure(service, SERVER, request(wait=True))
    assert error.status == status
    assert service.calls[-1] == "server"
    assert len(service.posts) == 1


def unreadable_after_post(service, times):
    service.before_post = lambda before=service.before_post: (
        before(),
        service.failing.update(servers=[refused(503)] * times),
    )


@every_refusal
def test_read_that_fails_after_a_refusal_is_repeated(status, service):
    service.busy = status
    someone_is_first(service, SERVER)
    unreadable_after_post(service, 1)
    assert restart(service, SERVER, request())["action"] == "attached"
    assert len(service.posts) == 1


@every_refusal
def test_outcome_is_unknown_if_nothing_can_be_read_after_a_refusal(status, service):
    """A proxy that repeats requests gets such a refusal for its repetition."""
    service.busy = status
    someone_is_first(service, SERVER)
    unreadable_after_post(service, 999)
    error = failure(service, SERVER, request())
    assert error.__class__ is OutcomeUnknown
    assert f"Refused with {status}. A proxy may have repeated the request (the last poll failed: Refused" in str(error)
    assert (error.facts["changed"], len(service.posts)) == (True, 1)


# A task that FAILED at its first step


@every_restart
@however_shown
def test_first_subtask_failure_attaches_to_the_other_restart(names_operations, case, service):
    service.names_operations = names_operations
    service.busy = "REFUSED"
    someone_is_first(service, case)
    result = restart(service, case, request(wait=True))
    assert (result["changed"], result["action"], result["task_id"]) == (False, "attached", 1001)
    assert result["task"]["succeeded"] is True
    assert (len(service.posts), len(service.jobs)) == (1, 2)


@every_restart
def test_first_subtask_failure_queues_and_restarts(case, service):
    service.busy = "REFUSED"
    someone_is_first(service, case)
    result = restart(service, case, request("queue", wait=True))
    assert (result["changed"], result["action"], result["task_id"]) == (True, "submitted", 1003)
    assert result["task"]["succeeded"] is True
    assert service.posts == [case.post] * 2


@every_restart
def test_first_subtask_failure_on_an_idle_target_fails(case, service):
    service.end = "REFUSED"
    error = failure(service, case, request(wait=True))
    assert error.__class__ is TaskFailed
    assert str(error).startswith(f"The restart of {case.target.label} did not succeed.")
    assert "FAILED at subtask 1 of 2, Stop it (id 1)" in str(error)
    assert (error.facts["task_id"], error.facts["task"]["status"], error.facts["changed"]) == (1001, "FAILED", True)
    assert error.facts["action"] == "submitted"
    assert len(service.posts) == 1


@every_restart
def test_own_failed_task_that_a_replica_shows_as_running_is_not_attached_to(case, service):
    service.end, service.list_lags, service.names_operations = "REFUSED", 50.0, False
    error = failure(service, case, request(wait=True))
    assert (error.__class__, error.facts["action"], error.facts["changed"]) == (TaskFailed, "submitted", True)
    assert len(service.posts) == 1


@every_restart
def test_restart_is_not_repeated_after_a_second_subtask_failure(case, service):
    """The task has changed something already."""
    service.end = "FAILED"
    someone_is_first(service, case, seconds=1000)
    error = failure(service, case, request("queue", wait=True))
    assert error.__class__ is TaskFailed
    assert (len(service.posts), error.facts["task_id"]) == (1, 1002)


def test_repeated_first_subtask_failure_is_final(service):
    service.busy = "REFUSED"
    service.before_post = lambda: service.begin("Restart OB server", SERVER.things(service))
    error = failure(service, SERVER, request("queue", wait=True))
    assert error.__class__ is TaskFailed
    assert (len(service.posts), error.facts["task_id"]) == (2, 1004)


def test_restart_without_wait_returns_its_own_task(service):
    service.busy = "REFUSED"
    someone_is_first(service, SERVER)
    result = restart(service, SERVER, request())
    assert (result["action"], result["task_id"], len(service.posts)) == ("submitted", 1002, 1)


def test_own_failed_task_is_named_when_joining_is_not_allowed(service):
    service.busy = "REFUSED"
    someone_is_first(service, SERVER, seconds=100)
    error = failure(service, SERVER, request("fail", wait=True))
    assert error.__class__ is TargetBusy
    assert "1002" in f"{error} {error.facts['task_id']}"
    assert (error.facts["changed"], error.facts["action"]) == (True, "submitted")


@every_restart
def test_own_task_that_failed_at_its_first_step_and_left_the_status_is_reported_itself(case, service):
    service.end = "REFUSED"
    service.after_restart = lambda: [setattr(thing, "status", "RESTARTING") for thing in case.things(service)]
    error = failure(service, case, request(wait=True))
    assert (error.__class__, error.facts["action"], error.facts["changed"]) == (TaskFailed, "submitted", True)


@every_restart
@pytest.mark.parametrize("in_flight", ["attach", "queue"])
def test_own_task_that_failed_since_another_runs_holds_nothing(in_flight, case, service):
    """The status of the target is that of the other one's work."""
    service.busy, service.names_operations = "REFUSED", False

    def start_another():
        service.before_post = lambda: None
        service.begin(case.task_name, case.things(service), seconds=20)
        with_status(service, case, "RESTARTING")

    service.before_post = start_another

    def ended():
        if all(job.applied for job in service.jobs):
            with_status(service, case, None)

    service.after_restart = ended
    result = restart(service, case, request(in_flight, at(-10), wait=True))
    assert (result["action"], result["task_id"], len(service.posts)) == ("attached", 1001, 1)


def with_status(service, case, status):
    for thing in case.things(service):
        thing.status = status


@every_restart
def test_task_that_made_it_busy_is_looked_for_while_lists_lag(case, service):
    service.busy, service.names_operations, service.list_lacks, service.user = 409, False, 3.0, "admin"
    refusal = refused(409)
    refusal.is_busy = True
    service.lose_before = [refusal]
    service.before_post = lambda: service.begin(case.task_name, case.things(service), creator="admin")
    result = restart(service, case, request())
    assert (result["action"], result["task_id"], len(service.posts)) == ("adopted", 1001, 1)


@pytest.mark.parametrize("status", [400, 409, 429])
def test_refusal_after_the_accepted_request_does_not_send_it_again(status, service, monkeypatch):
    error = refused(status)
    if isinstance(error, RateLimited):
        error.retry_after = 1.0

    def refuse(*_args, **_options):
        error.facts["tasks"] = []
        raise error

    monkeypatch.setattr(aftermath, "wait_for_success", refuse)
    failed = failure(service, SERVER, request(wait=True))
    assert (failed, failed.facts["task_id"], len(service.posts)) == (error, 1001, 1)
    assert (failed.facts["action"], failed.facts["changed"]) == ("submitted", True)


def test_attached_task_that_fails_is_not_restarted(service):
    """No POST of this run found the target busy."""
    service.names_operations = False
    service.begin("Restart OB server", SERVER.things(service), end="REFUSED", seconds=20)
    error = failure(service, SERVER, request(wait=True))
    assert error.__class__ is TaskFailed
    assert (error.facts["action"], error.facts["task_id"], service.posts) == ("attached", 1001, [])
