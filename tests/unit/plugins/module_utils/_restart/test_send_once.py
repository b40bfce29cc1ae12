# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The request of one restart: sent once, and its task found."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    OutcomeUnknown,
    RequestRefused,
    ServiceError,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.attempt import Progressing, RestartAttempt
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.decision import Action
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.open_outcomes import open_request
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.send_once import Sender
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import CLUSTER, at, lost, refused, unreadable
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER as SERVER_TASK
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import SERVER

TARGET = SERVER.target
MEMBERS = frozenset({"10.1.0.1:2882"})


@pytest.fixture
def attempt(service):
    service.user = "admin"
    found = Progressing(RestartAttempt(), service.time.clock)
    found.note(reason="It is wanted")
    return found


@pytest.fixture
def announced():
    return []


@pytest.fixture
def sender(service, attempt, announced):
    return Sender(service, TARGET, attempt, service.time.clock, lambda line, _failed: announced.append(line))


def send(sender, service, mark: int | None = 0):
    sender.send(mark, MEMBERS, at(service.now))


def other_task(service, *, creator="admin", name=SERVER_TASK, **more):
    return service.begin(name, SERVER.things(service), creator=creator, **more)


def listed(service):
    return TARGET.tasks(service)


def test_answer_names_the_task(sender, attempt, service):
    send(sender, service)
    so_far = attempt.so_far
    assert (so_far.changed, so_far.action, so_far.task_id) == (True, "submitted", 1001)
    assert (so_far.trace_id, so_far.task["id"]) == ("trace-post", 1001)
    assert open_request(service, TARGET) is None


@pytest.mark.parametrize("make_error", [lost, unreadable, lambda: refused(502)], ids=["lost", "unreadable", "502"])
def test_task_of_a_lost_answer_is_adopted_and_nothing_stays_open(make_error, sender, attempt, service):
    service.lose_after = [make_error()]
    send(sender, service)
    so_far = attempt.so_far
    assert (so_far.changed, so_far.action, so_far.task_id) == (True, "adopted", 1001)
    assert so_far.reason == (
        "It is wanted; the answer was lost, and task 1001 (Restart OB server) is the only one started since"
    )
    assert open_request(service, TARGET) is None


def test_lost_answer_without_a_task_stays_open(sender, attempt, service):
    service.lose_before = [lost()]
    with pytest.raises(OutcomeUnknown):
        send(sender, service)
    assert (attempt.so_far.changed, attempt.so_far.action, attempt.so_far.task_id) == (True, "submitted", None)
    kept = open_request(service, TARGET)
    assert (kept.at, kept.mark, kept.members, kept.user, kept.refused) == (at(0), 0, MEMBERS, "admin", False)


@pytest.mark.parametrize(
    ("name", "of_cluster", "mark"),
    [(SERVER_TASK, None, 1001), (CLUSTER, None, 0), (SERVER_TASK, 32, 0), (SERVER_TASK, None, 0)],
    ids=["an old id", "another kind", "another cluster", "begun before by another"],
)
def test_answer_that_shows_another_task_is_not_believed(name, of_cluster, mark, sender, attempt, service, monkeypatch):
    """No task of ours is found then; its id is not reported as ours."""
    other = other_task(service, name=name, of_cluster=of_cluster, ago=600, creator="root")
    monkeypatch.setattr(service, "_post", lambda *_args: _answer(service, other))
    with pytest.raises(OutcomeUnknown) as raised:
        send(sender, service, mark)
    assert f"shows task 1001 ({name}), which is not a new restart of {TARGET.label}" in str(raised.value)
    assert (attempt.so_far.changed, attempt.so_far.task_id) == (True, None)


@pytest.mark.parametrize(
    ("more", "task_id"),
    [({}, 1001), ({"creator": None}, 1001), ({"creator": "root"}, None), ({"ago": 60}, None)],
    ids=["ours", "creator not shown", "of somebody else", "begun before"],
)
def test_id_below_the_highest_one_is_told_though_it_is_not_believed(
    more, task_id, sender, attempt, announced, service, monkeypatch
):
    """As where the list shows an absurdly high id."""
    other = other_task(service, **more)
    monkeypatch.setattr(service, "_post", lambda *_args: _answer(service, other))
    with pytest.raises(OutcomeUnknown) as raised, attempt.kept():
        send(sender, service, 10**15)
    words = "the highest task id before the request; otherwise it fits (see task_id)."
    words = f"Its id is not above 1000000000000000, {words}"
    assert (words in str(raised.value)) is (task_id is not None)
    assert len(announced) == (task_id is not None)
    assert all(line.endswith(": submitted, perhaps as task 1001") for line in announced)
    assert (raised.value.facts["task_id"], raised.value.facts["changed"]) == (task_id, True)
    assert open_request(service, TARGET) is not None


def test_id_of_the_task_that_is_found_counts_instead(sender, attempt, service, monkeypatch):
    answered, own = other_task(service), other_task(service)
    monkeypatch.setattr(service, "_post", lambda *_args: _answer(service, answered))
    send(sender, service, answered.id)
    assert (attempt.so_far.action, attempt.so_far.task_id) == ("adopted", own.id)


def _answer(service, job):
    service.jobs.remove(job)
    found = service._record(job)
    return type("Answer", (), {"data": found, "url": service.url, "trace_id": "trace-post"})


@pytest.mark.parametrize("status", [400, 409, 429])
def test_refusal_says_that_there_was_no_restart(status, sender, attempt, service):
    service.lose_before = [refused(status)]
    with pytest.raises(RequestRefused) as raised:
        send(sender, service)
    assert str(raised.value) == f"Did not restart {TARGET.label}. Refused with {status}."
    assert (attempt.so_far.changed, attempt.so_far.action, open_request(service, TARGET)) == (False, None, None)


@pytest.mark.parametrize("error", [RuntimeError("A bug."), KeyError("id")], ids=repr)
def test_crash_while_sending_leaves_the_outcome_open(error, sender, attempt, service):
    def crash():
        raise error

    service.before_post = crash
    with pytest.raises(type(error)):
        send(sender, service)
    assert (attempt.so_far.changed, attempt.so_far.action) == (True, "submitted")
    assert open_request(service, TARGET) is not None


# A request of this process whose outcome is open


@pytest.fixture
def after_a_lost_one(sender, service):
    """A sender in the same process, for the same target, 30 seconds later."""
    service.lose_before = [lost()]
    with pytest.raises(OutcomeUnknown):
        send(sender, service)
    service.time.time += 30
    again = Progressing(RestartAttempt(), service.time.clock)
    return Sender(service, TARGET, again, service.time.clock), again


def test_nothing_is_sent_while_an_outcome_is_open(after_a_lost_one, service):
    again, attempt = after_a_lost_one
    with pytest.raises(OutcomeUnknown, match="this process requested one at 2026-05-04T03:00:00"):
        send(again, service)
    assert (len(service.posts), attempt.so_far.changed) == (1, False)


def test_task_of_the_open_request_is_adopted(after_a_lost_one, service):
    again, attempt = after_a_lost_one
    job = other_task(service)
    decision = again.adopt(listed(service), None)
    assert (decision.action, decision.task_ids, decision.members) == (Action.ADOPT, (job.id,), MEMBERS)
    assert (attempt.so_far.action, attempt.so_far.task_id) == ("adopted", job.id)
    assert attempt.so_far.reason == decision.reason
    assert decision.reason.startswith("this process has requested it before; the answer was lost, and task 1001 (")
    assert open_request(service, TARGET) is None


@pytest.mark.parametrize("others", [{"creator": "root"}, {"ago": 600}, {"name": CLUSTER}], ids=repr)
def test_task_that_is_not_its_own_is_not_adopted(others, after_a_lost_one, service):
    again, attempt = after_a_lost_one
    other_task(service, **others)
    assert again.adopt(listed(service), None) is None
    assert (attempt.so_far.action, open_request(service, TARGET) is None) == (None, False)


def test_two_tasks_are_not_adopted(after_a_lost_one, service):
    again, _attempt = after_a_lost_one
    other_task(service)
    other_task(service)
    assert again.adopt(listed(service), None) is None
    with pytest.raises(OutcomeUnknown):
        send(again, service)


def test_task_of_the_open_request_does_not_serve_a_later_change(after_a_lost_one, service):
    """It is found, so nothing is open; but it began before this change."""
    again, attempt = after_a_lost_one
    other_task(service)
    assert again.adopt(listed(service), at(service.now + 60)) is None
    assert open_request(service, TARGET) is None
    service.time.time += 60
    send(again, service)
    assert (attempt.so_far.action, len(service.posts)) == ("submitted", 2)


# A refused request


@pytest.mark.parametrize(("creator", "adopted"), [("admin", True), ("root", False), (None, False)])
def test_task_after_a_refusal_is_adopted_if_the_service_names_us(creator, adopted, sender, attempt, service):
    """A proxy has repeated our request, and got the refusal for its repetition."""
    service.lose_before = [refused(409)]
    with pytest.raises(ServiceError):
        send(sender, service)
    job = other_task(service, creator=creator)
    decision = sender.adopt(listed(service), None)
    assert bool(decision) is adopted
    assert attempt.so_far.task_id == (job.id if adopted else None)
    assert not adopted or "; the request was refused, and task 1001" in attempt.so_far.reason


def test_task_that_has_failed_is_not_adopted_again(sender, service):
    service.lose_before = [refused(409)]
    with pytest.raises(ServiceError):
        send(sender, service)
    job = other_task(service)
    sender.expect_another_than(job.id)
    assert sender.adopt(listed(service), None) is None
