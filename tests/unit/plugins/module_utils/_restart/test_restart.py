# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One restart on an otherwise idle service, from the first read to the end of its task."""

from __future__ import annotations

import dataclasses
import inspect
import json
from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    NotFound,
    OcpError,
    OptionError,
    PermissionDenied,
    ResponseLost,
    TaskFailed,
    WaitTimeout,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.envelope import ApiResponse
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Target
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FakeOcp, at, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import PASSED_ON, RESULT_KEYS, URL, raw_task
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    SERVER,
    every_restart,
    failure,
    however_shown,
    request,
    restart,
)

READS_OF = {
    "server": ["servers", "tasks"],
    "cluster": ["servers", "cluster", "tasks"],
    "zone": ["servers", "cluster", "tasks"],
    "agents": ["host_agent", "tasks"],
    "arbitration": ["arbitration_service", "tasks"],
    "obproxies": ["obproxy_cluster", "tasks"],
}


STEERING = {"retry_task", "roll_back_task", "retry_subtask", "skip_subtask", "cancel_subtask"}
# Those that no restart needs.
OTHERS = {*STEERING, "set_cluster_parameters", "obproxy_parameters"}


def test_fake_service_has_the_calls_of_the_real_api():
    for name, function in inspect.getmembers(OcpApi, inspect.isfunction):
        if not name.startswith("_") and name not in OTHERS:
            parameters = inspect.signature(getattr(FakeOcp, name)).parameters
            assert list(parameters) == list(inspect.signature(function).parameters), name
    shown = {"service_clock", "retry_after", "room", "sent", "timeout", "trace_id", "url", "user", "account"}
    properties = {name for name, _value in inspect.getmembers(OcpApi, lambda v: isinstance(v, property))}
    # No restart needs the connection itself.
    assert shown == properties - {"client"}


# Started


@every_restart
def test_restart_without_wait_returns_after_submitting(case, service):
    result = restart(service, case, request())
    assert (result["changed"], result["action"], result["task_id"]) == (True, "submitted", 1001)
    assert (result["after"], result["verified"], result["elapsed"]) == (None, None, 0)
    assert (result["trace_id"], result["warnings"]) == ("trace-post", [])
    assert result["target"] == case.target.result()
    assert result["task"]["name"] == case.task_name
    assert [step["description"] for step in result["task"]["subtasks"]] == ["Stop it", "Start it"]
    assert all(member["name"] for member in result["before"]["members"])
    assert service.posts == [case.post]
    assert service.time.pauses == []


@every_restart
def test_diff_shows_members_as_restarted(case, service):
    diff = restart(service, case, request())["diff"]
    assert diff["before_header"] == diff["after_header"] == case.target.label
    assert all(line.endswith(" restarted") for line in diff["after"].splitlines())
    assert "restarted" not in diff["before"]


@every_restart
def test_check_mode_only_reads(case, service):
    result = restart(service, case, request(check_mode=True, wait=True))
    assert (result["changed"], result["action"]) == (True, "submitted")
    assert {result[key] for key in ("task_id", "task", "after", "verified", "trace_id")} == {None}
    assert result["diff"]["after"].count(" restarted\n") == len(case.things(service))
    assert (service.posts, service.jobs, service.time.pauses) == ([], [], [])


@every_restart
def test_restart_with_wait_is_verified(case, service):
    result = restart(service, case, request(wait=True))
    assert result["task"]["succeeded"] is True
    assert result["verified"] is case.proven
    assert result["warnings"] == []
    assert ("not verified" in result["reason"]) is (case.proven is None)
    assert result["before"].keys() == result["after"].keys() == {"status", "members"}
    assert 10 <= result["elapsed"] <= 11
    assert service.posts == [case.post]


@every_restart
def test_all_reads_precede_the_post_and_no_request_follows_it(case, service):
    """All that can fail comes first, and nothing slow is between the last observation and the POST."""
    restart(service, case, request())
    *before, post = service.calls
    look = before[-before[::-1].index("tasks") - 1 :]
    assert look[-1] in READS_OF[case.post[0]]
    assert not {"tasks", "tenants"} & {*look[1:], post}


@every_restart
@however_shown
def test_restart_completed_by_another_controller_is_skipped(names_operations, case, service):
    """The observation shows a restart that ends while the newest task is read, however long that takes."""
    service.names_operations = names_operations

    def held_up():
        if not service.jobs:
            service.begin(case.task_name, case.things(service), seconds=5)
            service.time.time += 10

    service.after_list = held_up
    result = restart(service, case, request(started_before=at(0)))
    assert (result["action"], service.posts, len(service.jobs)) == ("skipped", [], 1)


def test_task_id_is_above_all_existing_tasks(service):
    for _other in range(3):
        service.begin("Take over cluster", [], seconds=0)
    assert restart(service, SERVER, request())["task_id"] == 1004


@every_restart
@pytest.mark.parametrize("check_mode", [False, True], ids=["for real", "check mode"])
def test_target_restarted_since_is_skipped(check_mode, case, service):
    """An earlier run restarted it, as the service shows."""
    service.begin(case.task_name, case.things(service))
    service.time.time += 60
    result = restart(service, case, request(started_before=at(0), check_mode=check_mode, wait=True))
    assert (result["changed"], result["action"], result["verified"]) == (False, "skipped", case.proven)
    assert (result["task_id"], result["task"], result["diff"], result["after"]) == (None, None, {}, None)
    assert "not before 2026-05-04T03:00:00+08:00" in result["reason"]
    assert (service.posts, service.time.pauses) == ([], [])


@every_restart
def test_repeated_run_with_the_same_time_is_skipped(case, service):
    since = at(0)
    outcomes = [restart(service, case, request(started_before=since, wait=True)) for _run in range(3)]
    assert [result["action"] for result in outcomes] == ["submitted", "skipped", "skipped"]
    assert [result["changed"] for result in outcomes] == [True, False, False]
    assert len(service.posts) == len(service.jobs) == 1


@every_restart
def test_each_run_restarts_without_started_before(case, service):
    for _run in range(2):
        restart(service, case, request(wait=True))
    assert len(service.posts) == 2


# Not started


@every_restart
@pytest.mark.parametrize("check_mode", [False, True], ids=["for real", "check mode"])
@pytest.mark.parametrize("last", [False, True], ids=["first read", "last read"])
def test_unreadable_target_is_not_restarted(last, check_mode, case, service):
    reads = [name for name in READS_OF[case.post[0]] if name != "tasks"]
    error = refused(403)
    service.failing[reads[-1 if last else 0]] = [error]
    raised = failure(service, case, request(check_mode=check_mode))
    assert raised is error
    assert str(raised) == f"Did not restart {case.target.label}: it cannot be read. Refused with 403."
    assert {key: raised.facts[key] for key in RESULT_KEYS | PASSED_ON} == {
        **dict.fromkeys(RESULT_KEYS),
        "changed": False,
        "target": case.target.result(),
        "trace_id": "trace-no",
        "elapsed": 0,
        "warnings": [],
        "diff": {},
    }
    assert raised.facts["url"] == URL
    assert service.posts == []


@every_restart
@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_unreadable_task_list_prevents_the_post(status, case, service):
    error = refused(status)
    service.failing["tasks"] = [error]
    with pytest.raises(OcpError) as raised:
        restart(service, case, request())
    assert (raised.value, service.posts) == (error, [])


@every_restart
@however_shown
@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_task_list_unreadable_after_queueing_prevents_the_post(status, names_operations, case, service):
    service.names_operations = names_operations
    service.begin(case.task_name, case.things(service), seconds=5)
    service.time.after_sleep = lambda: service.now < 5 or service.failing.update(tasks=[refused(status)] * 9)
    error = failure(service, case, request("queue"))
    assert str(error).startswith(f"Did not restart {case.target.label}: ")
    assert (error.facts["changed"], error.facts["task_id"]) == (False, None)
    assert service.posts == []


@every_restart
@pytest.mark.parametrize(
    "make_error",
    [*(lambda status=status: refused(status) for status in (400, 401, 403, 404, 409, 423, 429)),
     lambda: ConnectionFailed("Cannot be reached.", url=URL)],
    ids=["400", "401", "403", "404", "409", "423", "429", "no connection"],
)  # fmt: skip
def test_refused_restart_of_an_idle_target_changes_nothing(make_error, case, service):
    error = make_error()
    words = str(error)
    service.lose_before = [error]
    raised = failure(service, case, request(wait=True))
    assert raised is error
    assert str(raised) == f"Did not restart {case.target.label}. {words}"
    assert raised.facts["changed"] is False
    assert {raised.facts[key] for key in ("action", "task_id", "task", "after", "verified")} == {None}
    assert raised.facts["before"]["members"]
    assert raised.facts["url"] == URL
    looked = [20.0] if getattr(error, "status", None) == 429 else []
    assert (len(service.posts), service.jobs, service.time.pauses) == (1, [], looked)


# The wait fails


@every_restart
def test_failed_task_fails_the_restart(case, service):
    service.end = "FAILED"
    error = failure(service, case, request(wait=True))
    assert error.__class__ is TaskFailed
    assert str(error).startswith(f"The restart of {case.target.label} did not succeed.")
    assert f"Task 1001 ({case.task_name}) FAILED at subtask 2 of 2, Start it (id 2)" in str(error)
    assert "log of 2 of 1001" in str(error)
    assert (error.facts["changed"], error.facts["task_id"], error.facts["verified"]) == (True, 1001, None)
    assert error.facts["task"]["status"] == "FAILED"
    assert error.facts["trace_id"] == "trace-post"
    assert "tasks" not in error.facts
    assert len(service.posts) == 1


def test_rolled_back_task_fails_the_restart(service):
    service.end = "ROLLBACK"
    error = failure(service, SERVER, request(wait=True))
    assert "was rolled back" in str(error)
    assert error.facts["task"]["rolled_back"] is True
    assert error.facts["changed"] is True
    assert len(service.posts) == 1


@every_restart
def test_next_run_after_a_timeout_attaches_to_the_same_task(case, service):
    service.seconds = 100
    error = failure(service, case, request(wait=True, started_before=at(0)))
    assert error.__class__ is WaitTimeout
    first, second, *more = str(error).split("\n")
    assert first == f"The restart of {case.target.label} goes on."
    assert second == f"Task 1001 ({case.task_name}) is not finished after 60 seconds (status RUNNING)."
    assert "It is at subtask 1 of 2, Stop it (id 1)." in more
    assert "task_ids=1001 detail=compact'" in more[-3]
    assert error.facts["task"]["progress"]["running"] == ["Stop it"]
    assert (error.facts["changed"], error.facts["task_id"], error.facts["elapsed"]) == (True, 1001, 60.0)
    again = restart(service, case, request(wait=True, started_before=at(0)))
    assert (again["action"], again["task_id"], again["task"]["succeeded"]) == ("attached", 1001, True)
    assert len(service.posts) == 1


def test_unread_task_is_reported_as_the_post_returned_it(service):
    service.failing["task"] = [ResponseLost("The answer was lost.", url=URL)] * 500
    error = failure(service, SERVER, request(wait=True, seconds=1))
    assert error.facts["task"]["status"] == "RUNNING"
    assert error.facts["task_id"] == 1001
    assert "The answer was lost" in str(error)


@pytest.mark.parametrize(("kind", "status"), [(AuthenticationFailed, 401), (PermissionDenied, 403)])
def test_refused_poll_fails_and_names_the_running_task(kind, status, service):
    service.failing["task"] = [refused(status)]
    error = failure(service, SERVER, request(wait=True))
    assert error.__class__ is kind
    assert str(error).startswith(f"The restart of {SERVER.target.label} runs as task 1001")
    assert f"Refused with {status}." in str(error)
    assert (error.facts["changed"], error.facts["task_id"]) == (True, 1001)
    assert error.facts["task"]["status"] == "RUNNING"
    assert error.facts["trace_id"] == "trace-post"  # not the one of the poll
    assert service.time.pauses == []
    assert len(service.posts) == 1


def test_task_missing_for_more_than_a_minute_ends_the_wait(service):
    service.failing["task"] = [refused(404)] * 500
    began = service.time.time
    error = failure(service, SERVER, request(wait=True, seconds=7200))
    assert isinstance(error, NotFound)
    assert (error.facts["changed"], error.facts["task_id"]) == (True, 1001)
    assert 60 <= service.time.time - began < 65


@pytest.mark.parametrize("status", [404, 503])
def test_failed_polls_are_a_warning(service, status):
    service.failing["task"] = [refused(status)]
    result = restart(service, SERVER, request(wait=True))
    assert result["verified"] is True
    [warning] = result["warnings"]
    assert warning.startswith("1 poll of the tasks failed")
    assert warning.endswith(f"Refused with {status}.")


def test_unverified_restart_includes_the_warning_of_failed_polls(service):
    service.failing["task"] = [refused(503)]
    service.restarts_really = False
    assert len(failure(service, SERVER, request(wait=True)).facts["warnings"]) == 1


@pytest.mark.parametrize(
    "odd",
    [
        {"cluster": "orders"},
        {"subtasks": ["first"]},
        {"subtasks": {"first": 1}},
        {"subtasks": [{"id": 1, "upstreams": 5}]},
        {"tags": ["x"]},
    ],
    ids=json.dumps,
)
def test_malformed_started_task_keeps_its_id(odd, service, monkeypatch):
    monkeypatch.setattr(
        service, "restart_server", lambda *_ids, **_flags: ApiResponse(raw_task(81, **odd), URL, "trace-1")
    )
    result = restart(service, SERVER, request())
    assert (result["task_id"], result["changed"], result["task"]["id"]) == (81, True, 81)


# The clocks of this machine and of the service


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        (0, None),
        (5, None),
        (-5, None),
        (40, "The clock of the service is 40 seconds ahead of the clock of this machine"),
        (-40, "The clock of the service is 40 seconds behind the clock of this machine"),
    ],
)
@pytest.mark.parametrize("seconds", [-62, 62], ids=["started before", "started after"])
def test_started_before_is_shifted_by_the_clock_offset(seconds, offset, words, service):
    """The start is a minute before or after ``started_before`` by the service's clock: its host's may be so far off."""
    service.clock_offset = offset
    service.servers_there[0].started = offset - 600 + seconds
    result = restart(service, SERVER, request(started_before=at(-600)))
    assert result["action"] == ("skipped" if seconds > 0 else "submitted")
    assert [words in warning for warning in result["warnings"]] == ([True] if words else [])


def test_clock_offset_warns_only_with_started_before(service):
    service.clock_offset = 1200
    assert restart(service, SERVER, request())["warnings"] == []


def test_started_before_a_little_ahead_is_waited_for(service):
    result = restart(service, SERVER, request(started_before=at(50)))
    assert (result["action"], result["warnings"]) == ("submitted", [])
    assert service.time.time >= 50


def test_start_while_started_before_is_waited_for_was_before_it(service):
    """The clocks of hosts do not tell, and nothing that was read before the change may decide."""

    def starts() -> None:
        service.time.after_sleep = lambda: None
        SERVER.things(service)[0].started = 20.0

    def find(api: FakeOcp) -> Target:
        return dataclasses.replace(SERVER.target, first_observation=SERVER.target.observe(api))

    service.time.after_sleep = starts
    options = request(started_before=at(50))
    result = restart_target(service, SimpleNamespace(find=find), options, service.time.clock)
    assert (result["action"], len(service.posts)) == ("submitted", 1)


@pytest.mark.parametrize("offset", [0, 200, -200])
def test_future_started_before_is_refused_before_anything_is_sent(service, offset):
    service.clock_offset = offset
    with pytest.raises(OptionError) as refusal:
        restart(service, SERVER, request(started_before=at(100)))
    error = refusal.value
    assert str(error).startswith(
        "started_before: 2026-05-04T03:01:40+08:00 is in the future: by the clock of the service it is 2026-05-04T0"
    )
    assert str(error).endswith("give the instant of the change, which is in the past.")
    assert service.posts == []


def test_failure_includes_the_warnings(service):
    service.clock_offset = 40
    service.lose_before = [refused(429)]
    error = failure(service, SERVER, request(started_before=at(0)))
    assert "40 seconds ahead" in str(error.facts["warnings"])
