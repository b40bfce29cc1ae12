# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The control call that lists requests: which are kept, what is masked, how they are filtered."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ocp_emulator.web.request_log import MAX_RECORDS, RequestFilter, RequestLog, RequestRecord, masked

TASKS = "/api/v2/tasks/instances"
REQUESTS = "/emulator/requests"


def seen(emulated, **filters):
    return emulated.get(REQUESTS, params=filters)["contents"]


def test_request_is_listed_with_its_details(emulated):
    answer = emulated.request("GET", TASKS, params={"size": 5, "name": "a b"})
    (request,) = seen(emulated)
    assert request.pop("milliseconds") >= 0
    assert request == {
        "id": 1,
        "time": "2026-11-21T12:00:00+08:00",
        "method": "GET",
        "path": TASKS,
        "query": "size=5&name=a+b",
        "body": None,
        "user": "admin",
        "status": 200,
        "traceId": answer.json()["traceId"],
        "fault": None,
        "taskId": None,
    }


def test_restart_request_is_listed_with_its_task(emulated):
    started = [
        emulated.restart_server(1)["id"],
        emulated.restart_cluster(2)["id"],
        emulated.restart_agents(1)["id"],
        emulated.restart_arbitration()["id"],
        emulated.data("POST", "/api/v2/ob/clusters/1/zones/zone2/restart")["id"],
    ]
    emulated.error(409, "POST", "/api/v2/ob/clusters/2/restart")
    emulated.task(started[0])
    assert [request["taskId"] for request in seen(emulated)] == [*started, None, None]


def test_refused_requests_are_listed(emulated):
    emulated.error(401, "GET", TASKS, auth=("admin", "wrong"))
    emulated.error(403, "POST", "/api/v2/ob/clusters/1/restart", auth=("viewer", "ocp-demo-1"))
    emulated.error(400, "GET", "/no/such%20url")
    emulated.request("GET", "/api/v2/time", auth=None)
    told = [(request["path"], request["user"], request["status"]) for request in seen(emulated)]
    assert told == [
        (TASKS, None, 401),
        ("/api/v2/ob/clusters/1/restart", "viewer", 403),
        ("/no/such url", "admin", 400),
        ("/api/v2/time", None, 200),
    ]


def test_control_api_requests_are_not_listed(emulated):
    emulated.get("/emulator/clock")
    emulated.get("/emulator")
    emulated.error(401, "GET", "/emulator/faults", auth=None)
    assert seen(emulated) == []


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({}, [1, 2, 3, 4]),
        ({"method": "GET"}, [1, 3]),
        ({"method": "post"}, [2, 4]),
        ({"path": TASKS}, [1]),
        ({"path": f"{TASKS}*"}, [1, 3]),
        ({"path": "*/restart"}, [2, 4]),
        ({"path": "/restart"}, []),
        ({"user": "viewer"}, [3, 4]),
        ({"user": "nobody"}, []),
        ({"since": 2}, [3, 4]),
        ({"status": 403}, [4]),
        ({"status": 200, "method": "POST"}, [2]),
        ({"since": 2, "method": "POST", "user": "viewer"}, [4]),
        ({"sort": "id,desc"}, [4, 3, 2, 1]),
        ({"size": 3, "page": 2}, [4]),
        ({"size": 3, "page": 2, "sort": "id,desc"}, [1]),
        ({"size": 3, "page": 3}, []),
    ],
)
def test_list_can_be_filtered_and_paged(emulated, filters, ids):
    viewer = ("viewer", "ocp-demo-1")
    emulated.request("GET", TASKS)
    emulated.request("POST", "/api/v2/ob/clusters/1/restart")
    emulated.request("GET", f"{TASKS}/1001", auth=viewer)
    emulated.request("POST", "/api/v2/ob/clusters/1/restart", auth=viewer)
    assert [request["id"] for request in seen(emulated, **filters)] == ids
    if not filters.keys() & {"sort", "size", "page"}:
        assert emulated.get(f"{REQUESTS}/count", params=filters) == {"count": len(ids)}


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"", None),
        (b'{"hostIds": [1, 2]}', {"hostIds": [1, 2]}),
        (
            b'{"user": {"password": "s3cret", "name": "dba"}, "list": [{"apiToken": 1}]}',
            {"user": {"password": "***", "name": "dba"}, "list": [{"apiToken": "***"}]},
        ),
        (b'[{"name": "root_password", "value": "s3cret"}]', [{"name": "root_password", "value": "***"}]),
        (b'[{"name": "stack_size", "value": "5M"}]', [{"name": "stack_size", "value": "5M"}]),
        (b"password=s3cret", "15 bytes"),
        (b'"' + b"x" * 16_384 + b'"', "16386 bytes"),
    ],
)
def test_body_is_shown_without_secrets(emulated, body, shown):
    emulated.request("POST", TASKS, content=body)
    (request,) = seen(emulated)
    assert request["body"] == shown
    assert "s3cret" not in emulated.request("GET", REQUESTS).text


def test_ids_continue_after_the_list_is_cleared(emulated):
    emulated.get(TASKS)
    assert emulated.request("DELETE", REQUESTS).status_code == 200
    assert seen(emulated) == []
    emulated.get(TASKS)
    page = emulated.get(REQUESTS)
    assert [request["id"] for request in page["contents"]] == [2]
    assert page["page"] == {"number": 1, "size": 2000, "totalElements": 1, "totalPages": 1}


def test_list_contains_no_secret(emulated):
    emulated.request("GET", f"{TASKS}?password=in-query&x=1&accessKey=in-key&api%5Ftoken=in-token&name=pass")
    emulated.request("POST", "/compute/hosts/batchRestartAgents", json={"hostIds": [1], "password": "in-body"})
    text = emulated.request("GET", REQUESTS).text
    for secret in ("in-query", "in-key", "in-token", "in-body", "YWRtaW46", "Authorization"):
        assert secret not in text
    assert "password=***&x=1&accessKey=***&api%5Ftoken=***&name=pass" in text


def test_oldest_requests_are_dropped_first():
    log = RequestLog()
    for number in range(MAX_RECORDS + 5):
        log.add(RequestRecord(number, "GET", "/", "", "trace"))
    ids = [each.id for each in log.find(RequestFilter())]
    assert (len(ids), ids[0], ids[-1]) == (MAX_RECORDS, 6, MAX_RECORDS + 5)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["name", "password", "PassWord", "pass%77ord", "secret", "x-token", "size"]),
            st.text("abcdef0123456789", min_size=1),
        )
    )
)
def test_mask_hides_only_secrets(parameters):
    query = "&".join(f"{name}={value}" for name, value in parameters)
    expected = [
        f"{name}={value if name in ('name', 'size') else '***'}" if parameters else "" for name, value in parameters
    ]
    assert masked(query) == "&".join(expected)
    assert masked(masked(query)) == masked(query)


def test_log_masks_secrets_in_the_query(emulated, caplog):
    caplog.set_level("INFO", logger="ocp_emulator")
    emulated.request("GET", f"{TASKS}?token=in-query&size=1")
    assert re.search(r"\?token=\*\*\*&size=1 200 ", caplog.text)
