# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of kind proxy: what the client gets, and what reaches the service."""

import pytest

FAULTS, REQUESTS = "/emulator/faults", "/emulator/requests"
TASKS = "/api/v2/tasks/instances"
RESTART = "/api/v2/ob/clusters/1/servers/1/restart?freezeServer=true"


def plan(emulated, action, **fault):
    fault.setdefault("match", {"method": "POST"})
    return emulated.data("POST", FAULTS, json={"kind": "proxy", "action": action, **fault})


def tasks(emulated):
    return [task["id"] for task in emulated.get(TASKS)["contents"]]


def posts(emulated):
    """The restarts that have reached the proxy or the service: status, task, and fault of each."""
    found = emulated.get(f"{REQUESTS}?method=POST")["contents"]
    return [(each["status"], each["taskId"], each["fault"] and each["fault"]["action"]) for each in found]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(("when", "started"), [("after", [1001]), ("before", []), (None, [])])
def test_redirect_hides_whether_the_restart_has_begun(emulated, status, when, started):
    plan(emulated, "redirect", status=status, location="/login?next=%2F", when=when)
    answer = emulated.request("POST", RESTART)
    assert (answer.status_code, answer.headers["Location"], answer.content) == (status, "/login?next=%2F", b"")
    assert tasks(emulated) == started
    assert posts(emulated) == [(status, started[0] if started else None, "redirect")]
    emulated.request("POST", RESTART)
    assert len(tasks(emulated)) == 1


@pytest.mark.parametrize(("when", "started"), [("after", [1001]), ("before", [])])
def test_another_answer_comes_in_place(emulated, when, started):
    servers = emulated.get("/api/v2/ob/clusters/2/servers")
    plan(emulated, "replace", path="/api/v2/ob/clusters/2/servers", when=when)
    assert emulated.data("POST", RESTART) == servers
    assert tasks(emulated) == started


def test_record_of_another_task_comes_in_place_of_the_one_that_was_asked_for(emulated):
    first = emulated.restart_server(1)["id"]
    second = emulated.restart_server(3)["id"]
    plan(emulated, "replace", path=f"{TASKS}/{first}", match={"path": f"{TASKS}/{second}"}, times=None)
    assert (emulated.task(second)["id"], emulated.task(first)["id"]) == (first, first)
    assert [task["id"] for task in emulated.get(f"{TASKS}?status=RUNNING")["contents"]] == [second, first]


def test_answer_in_place_has_its_own_query_and_needs_credentials(emulated):
    emulated.restart_server(1)
    plan(emulated, "replace", path=f"{TASKS}?status=FAILED", match={"path": "/api/v2/info"}, times=None)
    assert emulated.get("/api/v2/info")["contents"] == []
    emulated.error(401, "GET", "/api/v2/info", auth=("admin", "wrong"))
    emulated.error(403, "POST", RESTART, auth=("viewer", "ocp-demo-1"))


@pytest.mark.parametrize(("options", "status"), [({}, 504), ({"status": 502}, 502)])
def test_held_request_is_answered_by_a_page_and_carried_out_later(emulated, options, status):
    plan(emulated, "hold", seconds=30, **options)
    answer = emulated.request("POST", RESTART)
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "text/html; charset=utf-8")
    emulated.pass_time(29.999)
    assert (tasks(emulated), posts(emulated)) == ([], [(status, None, "hold")])
    emulated.pass_time(60)
    assert tasks(emulated) == [1001]
    task = emulated.task(1001)
    # It was accepted at the instant at which it was due, not when somebody looked.
    assert (task["status"], task["createTime"]) == ("SUCCESSFUL", "2026-11-21T12:00:30+08:00")
    assert posts(emulated) == [(status, None, "hold"), (200, 1001, "hold")]
    assert emulated.restarts() == {("OB_SERVER", 1): 1}


def test_held_request_and_its_repetition_by_the_client_restart_twice(emulated):
    plan(emulated, "hold", seconds=60)
    emulated.request("POST", RESTART)
    emulated.restart_server(1)
    emulated.data("POST", "/emulator/clock/advance", json={"seconds": 120})
    assert tasks(emulated) == [1002, 1001]
    assert emulated.restarts() == {("OB_SERVER", 1): 2}


def test_held_requests_arrive_in_the_order_in_which_they_are_due(emulated):
    for seconds in (20, 10):
        plan(emulated, "hold", seconds=seconds)
    emulated.request("POST", RESTART)
    emulated.request("POST", "/api/v2/ob/clusters/2/restart")
    emulated.pass_time(25)
    assert [emulated.task(number)["name"] for number in (1001, 1002)] == ["Restart OB cluster", "Restart OB server"]


def test_held_request_may_be_refused_when_it_arrives(emulated):
    plan(emulated, "hold", seconds=3)
    emulated.request("POST", RESTART)
    emulated.restart_server(1)
    emulated.pass_time(5)
    emulated.get(TASKS)
    assert posts(emulated) == [(504, None, "hold"), (200, 1001, None), (409, None, "hold")]


def test_request_that_arrives_twice_at_once_gets_the_second_answer(emulated):
    plan(emulated, "repeat")
    assert "task 1001 " in emulated.error(409, "POST", RESTART)["message"]
    assert posts(emulated) == [(409, 1001, "repeat"), (409, None, "repeat")]
    assert tasks(emulated) == [1001]


def test_request_that_arrives_twice_at_a_service_that_accepts_both_restarts_twice(start):
    emulated = start(busy="accept")
    plan(emulated, "repeat")
    assert emulated.data("POST", RESTART)["id"] == 1002
    emulated.pass_time(60)
    assert emulated.restarts() == {("OB_SERVER", 1): 2}


def test_request_that_arrives_again_later_gets_the_first_answer(emulated):
    plan(emulated, "repeat", seconds=40)
    assert emulated.data("POST", RESTART)["id"] == 1001
    emulated.pass_time(60)
    assert tasks(emulated) == [1002, 1001]
    assert emulated.restarts() == {("OB_SERVER", 1): 2}


def test_repeated_body_arrives_whole_both_times(emulated):
    plan(emulated, "repeat", seconds=40)
    emulated.restart_agents(1, 2)
    emulated.pass_time(80)
    assert emulated.restarts() == {("HOST", 1): 2, ("HOST", 2): 2}


def test_first_fault_of_the_kinds_http_and_proxy_hits(emulated):
    emulated.data("POST", FAULTS, json={"kind": "http", "action": "error", "status": 503, "match": {"method": "POST"}})
    plan(emulated, "redirect", status=302, location="/login", times=None)
    emulated.data("POST", FAULTS, json={"kind": "http", "action": "error", "status": 500, "match": {"method": "POST"}})
    assert [emulated.request("POST", RESTART).status_code for _call in range(3)] == [503, 302, 302]


@pytest.mark.parametrize(("status", "retry"), [(429, 4), (503, 120)])
def test_error_may_tell_when_to_try_again(emulated, status, retry):
    fault = {"kind": "http", "action": "error", "status": status, "retryAfter": retry, "match": {"method": "POST"}}
    emulated.data("POST", FAULTS, json=fault)
    answer = emulated.request("POST", RESTART)
    assert (answer.status_code, answer.headers["Retry-After"]) == (status, str(retry))
    assert tasks(emulated) == []


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ({"action": "reset"}, ["'action'"]),
        ({"action": "redirect", "status": 302}, ["redirect needs location"]),
        ({"action": "redirect", "location": "/login"}, ["redirect needs status"]),
        ({"action": "redirect", "status": 304, "location": "/"}, ["304", "301, 302, 303, 307, 308"]),
        ({"action": "redirect", "status": 302, "location": "/é"}, ["location", "ASCII"]),
        ({"action": "redirect", "status": 302, "location": "/\r\nX: y"}, ["location"]),
        ({"action": "replace"}, ["replace needs path"]),
        ({"action": "replace", "path": "api"}, ["path api is not a path of the service"]),
        ({"action": "replace", "path": "/emulator/restarts"}, ["/emulator/restarts is not a path"]),
        ({"action": "hold"}, ["hold needs seconds"]),
        ({"action": "hold", "seconds": -1}, ["'seconds'"]),
        ({"action": "hold", "seconds": 1, "status": 404}, ["404", "500 to 599"]),
        ({"action": "hold", "seconds": 1, "when": "after"}, ["when does not go with the action hold"]),
        ({"action": "repeat", "status": 502}, ["status does not go with the action repeat"]),
    ],
)
def test_invalid_fault_is_400_and_named(emulated, fault, named):
    message = emulated.error(400, "POST", FAULTS, json={"kind": "proxy", **fault})["message"]
    assert all(part in message for part in named), message
    assert emulated.get(FAULTS) == {"contents": []}
