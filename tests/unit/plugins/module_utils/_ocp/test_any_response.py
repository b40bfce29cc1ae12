# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""For any response, a request returns what it documents or raises ServiceError: it never crashes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ServiceError
from ansible_collections.oceanbase.ocp.plugins.module_utils._module import bridge
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import transport
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.envelope import ApiResponse
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task
from ansible_collections.oceanbase.ocp.plugins.modules.task_info import DEFINITION
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, chain, raw_task, step
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import SECRET, connect, response_to
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import CONNECTION
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.datetimes().map(str),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
ENVELOPE_KEYS = ("data", "successful", "status", "traceId", "timestamp", "error", "duration", "server")
ODD_TIMES = st.sampled_from(
    ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-05-04T03:00:00", "2026-05-04T03:00:00Z", "now"]
)
TASK_KEYS = (
    *("id", "name", "status", "operation", "type", "creator", "executor", "cluster", "clusterId", "hostId", "tags"),
    *("startTime", "finishTime", "createTime", "subtasks", "tasks"),
)
STEP_KEYS = (
    *("id", "name", "description", "status", "operation", "upstreams", "downstreams", "seriesId", "parallelIdx"),
    *("startTime", "finishTime", "timeout", "nodeType"),
)


def keyed(keys: tuple[str, ...], **known: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw objects with some of these keys; values are ``known`` ones or any JSON."""
    return st.fixed_dictionaries({}, optional={key: known.get(key, JSON) | JSON for key in keys})


STEPS = keyed(STEP_KEYS, id=st.integers(1, 4), upstreams=st.lists(st.integers(1, 4)), startTime=ODD_TIMES)
TASKS = keyed(TASK_KEYS, id=st.integers(1, 3), subtasks=st.lists(STEPS, max_size=4), startTime=ODD_TIMES)
PAGES = keyed(("contents", "page"), contents=st.lists(TASKS, max_size=3), page=st.just({"totalPages": 1}))
ENVELOPES = keyed(
    ENVELOPE_KEYS,
    successful=st.booleans(),
    data=TASKS | PAGES,
    timestamp=ODD_TIMES,
    error=keyed(("message", "code")),
)
BODIES = (
    ENVELOPES.map(lambda envelope: json.dumps(envelope).encode()) | JSON.map(json.dumps).map(str.encode) | st.binary()
)
STATUSES = st.sampled_from([200, 200, 200, 204, 302, 400, 401, 403, 404, 409, 500])
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        name: st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30) | values
        for name, values in {
            "Date": st.just("Mon, 04 May 2026 03:00:00 GMT"),
            "RateLimit-Remaining": st.just("0"),
            "RateLimit-Reset": st.integers().map(str),
            "Retry-After": st.integers().map(str),
            "Location": st.just("//[::1"),
            "Content-Type": st.just("application/json"),
        }.items()
    },
)
CALLS = {
    "a start": lambda api: api.restart_cluster(1),
    "a task": lambda api: api.task(1),
    "tasks": lambda api: api.tasks(limit=10),
    "tasks above": lambda api: api.tasks(above=1),
    "a log": lambda api: api.subtask_log(1, 2),
    "servers": lambda api: api.servers(1),
    "an agent": lambda api: api.host_agent(1),
}
many = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


@pytest.fixture
def answers(monkeypatch):
    """Answer every request with the newest entry."""
    given: list[Any] = []

    def send(_adapter, request, **_options):
        return response_to(request, *given[-1])

    monkeypatch.setattr(transport.Adapter, "send", send)
    return given


@pytest.mark.nightly
@many
@given(status=STATUSES, headers=HEADERS, body=BODIES)
@example(status=302, headers={"Location": "//[::1"}, body=b"")
@example(status=200, headers={"Date": "Mon, 01 Jan 0001 00:00:00 GMT"}, body=b'{"successful": true}')
@example(status=200, headers={}, body=b'{"successful": true, "timestamp": "0001-01-01T00:00:00+23:59"}')
@pytest.mark.parametrize("method", ["get", "post"])
def test_any_response_is_data_or_a_service_error(method, answers, status, headers, body):
    answers.append((status, headers, body))
    try:
        found = getattr(connect(URL), method)("/api/v2/x")
    except ServiceError as error:
        assert str(error)
        assert SECRET not in str(error)
    else:
        assert isinstance(found, ApiResponse)


@pytest.mark.nightly
@many
@given(envelope=ENVELOPES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_any_envelope_is_a_result_or_a_service_error(call, answers, envelope):
    answers.append((200, {}, json.dumps({**envelope, "successful": True}).encode()))
    api = OcpApi(connect(URL))
    try:
        found = call(api)
    except ServiceError as error:
        assert str(error)
    else:
        assert isinstance(found, (ApiResponse, dict, list, str))


@many
@given(raw=TASKS)
@example(raw=raw_task(1, subtasks=chain(step(1, "a"), step(1, "b"))))
def test_any_task_has_a_result(raw):
    task = Task.from_api(raw)
    result = task.result()
    json.dumps(result)
    assert len(task.subtasks) == result["progress"]["total"]
    assert not (task.succeeded and (task.rolled_back or not task.finished))
    assert task.label
    assert all(task.position(each) and each.label for each in task.subtasks)


@pytest.mark.nightly
@many
@given(page=PAGES)
def test_any_list_of_tasks_is_a_result_or_a_failure(answers, page):
    answers.append((200, {}, json.dumps({"successful": True, "data": page}).encode()))
    params = {**CONNECTION, "validate_certs": True, "ca_path": None, "timeout": 5, "access_key_id": None}
    options = dict.fromkeys(DEFINITION.argument_spec)
    outcome = bridge.call_module(DEFINITION, {**options, **params, "limit": 10}, bridge.RunMode(check_mode=False))
    json.dumps(outcome.result)
    assert outcome.failed is bool(outcome.result.get("msg"))
