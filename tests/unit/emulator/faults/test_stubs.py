# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults that stand in for the service: their answers, matching on query and body, and what is not valid."""

import pytest

TOOL = "/api/v2/sql/diagnosis"


def stub(emulated, match=None, **fields):
    fault = {"kind": "http", "action": "respond", "times": None, "match": match or {"path": TOOL}, **fields}
    return emulated.data("POST", "/emulator/faults", json=fault)


def test_call_that_the_emulator_lacks_is_stood_in_for(emulated):
    emulated.error(400, "GET", TOOL)
    stub(emulated, data={"contents": [{"sqlId": "A"}]})
    for _twice in range(2):
        assert emulated.get(TOOL) == {"contents": [{"sqlId": "A"}]}
    assert emulated.request("POST", TOOL, json={}).json()["data"]["contents"][0]["sqlId"] == "A"


@pytest.mark.parametrize(
    ("fields", "status", "kind", "text"),
    [
        ({}, 200, None, ""),
        ({"status": 204}, 204, None, ""),
        ({"body": "okay"}, 200, "text/plain; charset=utf-8", "okay"),
        ({"body": {"a": [1]}}, 200, "application/json", '{"a": [1]}'),
        ({"body": "bad", "status": 503, "headers": {"Content-Type": "text/x-health"}}, 503, "text/x-health", "bad"),
    ],
)
def test_body_status_and_headers_are_those_of_the_stub(emulated, fields, status, kind, text):
    stub(emulated, **fields)
    answer = emulated.request("GET", TOOL)
    assert (answer.status_code, answer.headers.get("Content-Type"), answer.text) == (status, kind, text)


@pytest.mark.parametrize("auth", [None, ("admin", "wrong")])
def test_a_stub_needs_no_credentials(emulated, auth):
    stub(emulated, data={})
    assert emulated.request("GET", TOOL, auth=auth).status_code == 200


def test_code_is_an_error_of_the_service(emulated):
    stub(emulated, code=21003, message="There is no tenant 7.", status=404, headers={"X-Retry": "no"})
    answer = emulated.request("GET", TOOL)
    assert answer.headers["X-Retry"] == "no"
    assert emulated.error(404, "GET", TOOL) == {"code": 21003, "message": "There is no tenant 7."}
    stub(emulated, {"path": "/other"}, code=1)
    assert emulated.error(400, "GET", "/other")["code"] == 1


def test_stub_after_the_service_has_handled_the_request(emulated):
    stub(emulated, {"path": "*/restart"}, when="after", status=502, body="gone")
    answer = emulated.request("POST", "/api/v2/ob/clusters/1/restart")
    assert (answer.status_code, answer.text) == (502, "gone")
    assert len(emulated.get("/api/v2/tasks/instances")["contents"]) == 1


@pytest.mark.parametrize(
    ("match", "options", "hit"),
    [
        ({"query": {"name": "a b"}}, {"params": {"name": "a b"}}, True),
        ({"query": {"name": "a*"}}, {"params": [("name", "b"), ("name", "abc")]}, True),
        ({"query": {"name": "a"}}, {"params": {"name": "b"}}, False),
        ({"query": {"name": "a"}}, {}, False),
        ({"query": {"name": "a", "size": "1"}}, {"params": {"name": "a", "size": "1", "page": "2"}}, True),
        ({"query": {"name": "a", "size": "1"}}, {"params": {"name": "a"}}, False),
        ({"query": {"name": ""}}, {"params": {"name": ""}}, True),
        ({"body": {"force": True}}, {"json": {"force": True, "type": "X"}}, True),
        ({"body": {"force": True}}, {"json": {"force": 1}}, False),
        ({"body": {"a": {"b": [1, {"c": 2}]}}}, {"json": {"a": {"b": [1, {"c": 2, "d": 3}], "e": 4}}}, True),
        ({"body": {"ids": [1]}}, {"json": {"ids": [1, 2]}}, False),
        ({"body": {"a": 1}}, {"content": b"a=1"}, False),
        ({"body": {"a": 1}}, {}, False),
        ({"body": ["x"]}, {"json": ["x"]}, True),
    ],
)
def test_query_and_body_decide_too(emulated, match, options, hit):
    stub(emulated, {"path": TOOL, **match}, data="stub")
    answer = emulated.request("POST", TOOL, **options).json()
    assert (answer.get("data") == "stub") == hit


def test_other_faults_match_on_query_and_body_too(emulated):
    emulated.data(
        "POST",
        "/emulator/faults",
        json={"kind": "answer", "action": "clock", "seconds": 60, "match": {"query": {"size": "3"}}, "times": None},
    )
    tasks = "/api/v2/tasks/instances"
    assert emulated.request("GET", f"{tasks}?size=3").json()["timestamp"] == "2026-11-21T12:01:00+08:00"
    assert emulated.request("GET", f"{tasks}?size=4").json()["timestamp"] == "2026-11-21T12:00:00+08:00"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"body": "a", "data": 1}, "cannot both be given"),
        ({"data": 1, "code": 1}, "cannot both be given"),
        ({"code": 1, "status": 200}, "does not go with code"),
        ({"message": "a"}, "message goes with code"),
        ({"status": 204, "body": "a"}, "has no body"),
        ({"status": 99}, "status"),
        ({"headers": {"a b": "c"}}, "headers"),
        ({"headers": {"a": "b\nc"}}, "headers"),
        ({"seconds": 1}, "does not go with the action respond"),
        ({"match": {"query": {"a": 1}}}, "query"),
    ],
)
def test_invalid_stub_is_refused(emulated, fields, told):
    body = {"kind": "http", "action": "respond", **fields}
    assert told in emulated.error(400, "POST", "/emulator/faults", json=body)["message"]
