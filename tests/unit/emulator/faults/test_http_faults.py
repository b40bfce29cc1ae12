# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of kind http: which requests they hit, and which are refused. What they do: web/test_broken_responses.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ocp_emulator.faults.request_faults import HttpMatch, Received

FAULTS, REQUESTS = "/emulator/faults", "/emulator/requests"
TASKS = "/api/v2/tasks/instances"


def plan(emulated, action="error", **fault):
    if action == "error":
        fault.setdefault("status", 503)
    return emulated.data("POST", FAULTS, json={"kind": "http", "action": action, **fault})


def statuses(emulated, calls, path=TASKS):
    return [emulated.request("GET", path).status_code for _call in range(calls)]


@pytest.mark.parametrize(
    ("match", "hit"),
    [
        ({}, True),
        ({"method": "GET"}, True),
        ({"method": "get"}, True),
        ({"method": "POST"}, False),
        ({"path": f"{TASKS}/*"}, True),
        ({"path": "*"}, True),
        ({"path": f"{TASKS}/1001?sort=x"}, False),
        ({"path": TASKS}, False),
        ({"path": "/api/v2/*/10?1"}, True),
        ({"path": "/API/*"}, False),
        ({"path": "/emulator/restarts"}, False),
        ({"user": "admin"}, True),
        ({"user": "viewer"}, False),
        ({"method": "GET", "path": "/api/*", "user": "admin"}, True),
        ({"method": "GET", "path": "/api/*", "user": "viewer"}, False),
    ],
)
def test_fault_hits_only_matching_requests(emulated, match, hit):
    plan(emulated, match=match)
    assert (emulated.request("GET", f"{TASKS}/%31001").status_code == 503) is hit
    (fault,) = emulated.get(FAULTS)["contents"]
    assert fault["hits"] == hit


def test_user_matches_only_with_valid_credentials(emulated):
    plan(emulated, match={"user": "admin"}, times=None)
    emulated.error(401, "GET", TASKS, auth=("admin", "wrong"))
    emulated.error(401, "GET", TASKS, auth=None)
    emulated.get(TASKS, auth=("viewer", "ocp-demo-1"))
    emulated.error(503, "GET", TASKS)


def test_control_api_is_hit_only_when_the_path_names_it(emulated):
    plan(emulated, times=None)
    plan(emulated, match={"path": "*"}, times=None)
    plan(emulated, match={"path": "/emulator/clock"}, status=500)
    emulated.error(503, "GET", "/no/such/url")
    emulated.get("/emulator/restarts")
    assert statuses(emulated, 2, "/emulator/clock") == [500, 200]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ({}, [503, 200, 200, 200]),
        ({"times": 2}, [503, 503, 200, 200]),
        ({"times": None}, [503] * 4),
        ({"call": 3}, [200, 200, 503, 200]),
        ({"call": 2, "times": 2}, [200, 503, 503, 200]),
        ({"call": 3, "times": None}, [200, 200, 503, 503]),
        ({"probability": 1.0, "times": 3}, [503, 503, 503, 200]),
    ],
)
def test_fault_hits_according_to_call_times_and_probability(emulated, fault, expected):
    plan(emulated, match={"path": TASKS}, **fault)
    # What does not match does not count.
    emulated.request("GET", "/api/v2/info")
    assert statuses(emulated, 4) == expected


def test_first_of_several_faults_hits_and_the_others_count(emulated):
    plan(emulated, status=500, call=2)
    plan(emulated, status=501, call=2)
    plan(emulated, status=502, call=4)
    assert statuses(emulated, 5) == [200, 500, 501, 502, 200]


@given(st.text(), st.text(), st.none() | st.text(min_size=1, max_size=20))
def test_wildcards_do_not_match_the_control_api(left, right, pattern):
    match = HttpMatch(path=pattern)
    assert not match.matches(Received("GET", f"/emulator/{left}{right}"), lambda: None) or pattern.startswith(
        "/emulator"
    )


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ({"action": "explode"}, ["'action'"]),
        ({"action": "fail"}, ["'action'"]),
        ({"action": "reset", "seconds": 1}, ["seconds", "reset"]),
        ({"action": "reset", "when": "later"}, ["'when'"]),
        ({"action": "refuse"}, ["refuse", "seconds"]),
        ({"action": "refuse", "seconds": 1, "when": "before"}, ["when", "refuse"]),
        ({"action": "slow"}, ["slow", "seconds"]),
        ({"action": "slow", "seconds": -1}, ["'seconds'"]),
        ({"action": "trickle", "seconds": 1, "size": 0}, ["'size'"]),
        ({"action": "truncate", "status": 500}, ["status", "truncate"]),
        ({"action": "error"}, ["error", "status"]),
        ({"action": "error", "status": 404}, ["404"]),
        ({"action": "error", "status": "503"}, ["'status'"]),
        ({"action": "error", "status": 503, "reset": 3}, ["reset", "429"]),
        ({"action": "html", "status": 304}, ["304"]),
        ({"action": "html", "message": "x"}, ["message", "html"]),
        ({"action": "reset", "call": 0}, ["'call'"]),
        ({"action": "reset", "call": 1, "probability": 0.5}, ["call", "probability"]),
        ({"action": "reset", "probability": 0}, ["'probability'"]),
        ({"action": "reset", "probability": 1.1}, ["'probability'"]),
        ({"action": "reset", "seed": 1}, ["seed", "probability"]),
        ({"action": "reset", "times": 0}, ["'times'"]),
        ({"action": "reset", "match": {"task": "x"}}, ["'match.task'"]),
        ({"action": "reset", "match": {"path": ""}}, ["'match.path'"]),
        ({"action": "reset", "colour": "red"}, ["'colour'"]),
        ({"kind": "subtask", "action": "reset"}, ["'action'"]),
        ({"kind": "disk", "action": "reset"}, ["'kind'", "http, proxy, answer or busy"]),
        ({"kind": None, "action": "reset"}, ["'kind'"]),
    ],
)
def test_invalid_fault_is_400_and_named(emulated, fault, named):
    message = emulated.error(400, "POST", FAULTS, json={"kind": "http", **fault})["message"]
    assert all(part in message for part in named), message
    assert emulated.get(FAULTS) == {"contents": []}


@pytest.mark.parametrize("status", [401, 403, 409, 429, 500, 503, 599])
def test_error_fault_returns_the_error_envelope(emulated, status):
    plan(emulated, status=status, message="as told")
    assert emulated.error(status, "GET", TASKS)["message"] == "as told"


@pytest.mark.parametrize(("fault", "reset"), [({}, "1"), ({"reset": 30}, "30")])
def test_429_fault_has_rate_limit_headers(emulated, fault, reset):
    plan(emulated, status=429, **fault)
    answer = emulated.request("GET", TASKS)
    assert (answer.headers["RateLimit-Remaining"], answer.headers["RateLimit-Reset"]) == ("0", reset)
    assert answer.json()["traceId"] == ""


def test_intercepted_request_does_not_count_toward_a_lockout(start):
    emulated = start(max_attempts=2)
    plan(emulated, "html", times=5)
    for _call in range(5):
        assert emulated.request("GET", TASKS, auth=("admin", "wrong")).status_code == 502
    assert statuses(emulated, 1) == [200]


def test_log_and_request_list_show_the_fault_that_hit(emulated, caplog):
    caplog.set_level("INFO", logger="ocp_emulator")
    fault = plan(emulated, "html", match={"method": "POST"}, when="after")
    emulated.request("POST", "/api/v2/ob/clusters/1/restart")
    (task,) = emulated.get(TASKS)["contents"]
    hit, other = emulated.get(REQUESTS)["contents"]
    assert (hit["fault"], hit["status"]) == ({"id": fault["id"], "action": "html"}, 502)
    assert (hit["taskId"], other["fault"]) == (task["id"], None)
    assert f" fault={fault['id']} html" in caplog.text


def test_http_faults_survive_a_process_restart(start, tmp_path):
    emulated = start(database=tmp_path / "state.db")
    plan(emulated, call=3)
    before = statuses(emulated, 1), emulated.get(FAULTS)
    emulated.app.state.service.close()
    again = start(database=tmp_path / "state.db")
    assert again.get(FAULTS) == before[1]
    assert statuses(again, 3) == [200, 503, 200]
