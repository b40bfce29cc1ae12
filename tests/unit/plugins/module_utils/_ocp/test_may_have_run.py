# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which answers to a POST leave its outcome unknown, over a real connection."""

from __future__ import annotations

import json

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import RequestRefused, ResponseUnreadable
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.may_have_run import may_have_run
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import connect, error_of
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import Reply, refusal, text
from hypothesis import given
from hypothesis import strategies as st

LOOK_FIRST = "It is not known whether the service carried it out"
UNCERTAIN = (408, 425, 499)


def named(http_status: int, **content: object) -> Reply:
    return Reply(http_status, json.dumps(content).encode(), {"Content-Type": "application/json"})


REFUSED = {
    **{f"{status}": refusal(status) for status in (400, 401, 403, 404, 405, 409, 415, 423, 429)},
    "400, with HTTP 200": refusal(400, http_status=200),
    "400, without the status in the envelope": named(400, successful=False),
}
UNKNOWN = {
    **{f"{status} in an envelope": refusal(status) for status in (*UNCERTAIN, 500, 501, 502, 503, 504, 599)},
    **{f"{status} in an envelope, with HTTP 200": refusal(status, http_status=200) for status in (*UNCERTAIN, 500)},
    **{f"{status} of a proxy": text("<h1>No</h1>", status) for status in (400, 401, 403, 404, 405, 409, 429, 502)},
    **{f"a redirect, {status}": Reply(status) for status in (300, 301, 302, 303, 304, 305, 307, 308)},
    **{f"a redirect with an envelope, {status}": refusal(400, http_status=status) for status in (302, 308)},
    "404 of Spring": named(404, status=404, error="Not Found", path="/api/v2/x"),
    "404, and successful is a text": named(404, successful="false", status=404),
    "400, and successful": named(400, successful=True, status=400),
    "400, and the envelope says 500": named(400, successful=False, status=500),
    "503, and the envelope says 400": named(503, successful=False, status=400),
    "200, not successful, without a status": named(200, successful=False),
    "200, not successful, with status 200": named(200, successful=False, status=200),
    "200 of a portal": text("<html>Sign in</html>"),
    "204": Reply(204),
}


@pytest.mark.parametrize("reply", REFUSED.values(), ids=REFUSED)
def test_post_that_ocp_refused_did_not_run(reply, server, pauses):
    server.expect("POST", "/api/v2/x", reply)
    error = error_of(connect(server.url), "POST")
    assert isinstance(error, RequestRefused)
    assert not error.may_have_run
    assert LOOK_FIRST not in str(error)
    assert pauses == []


@pytest.mark.parametrize("reply", UNKNOWN.values(), ids=UNKNOWN)
def test_post_with_any_other_answer_may_have_run(reply, server, pauses):
    server.expect("POST", "/api/v2/x", reply)
    error = error_of(connect(server.url), "POST")
    assert isinstance(error, (RequestRefused, ResponseUnreadable))
    assert error.may_have_run
    assert LOOK_FIRST in str(error)
    assert "run this again" not in str(error)
    assert pauses == []


@pytest.mark.parametrize("reply", UNKNOWN.values(), ids=UNKNOWN)
def test_read_never_runs_anything(reply, server, pauses):
    repeated = 3 if reply.status in (429, 502, 503, 504) else 1
    server.expect("GET", "/api/v2/x", *[reply] * repeated)
    error = error_of(connect(server.url))
    assert not error.may_have_run
    assert LOOK_FIRST not in str(error)
    assert len(pauses) < repeated


def test_refusal_by_a_page_says_that_it_is_not_of_ocp(server):
    server.expect("POST", "/api/v2/x", text("<h1>No</h1>", 403))
    assert str(error_of(connect(server.url), "POST")).startswith(
        f"POST {server.url}/api/v2/x was refused with status 403. The answer is not an OCP response envelope (11 "
        "bytes, "
        f"text/html). {LOOK_FIRST}"
    )


@given(st.sets(st.integers(100, 599), max_size=2))
def test_only_refusals_of_the_client_are_certain(statuses):
    certain = bool(statuses) and all(400 <= status < 500 and status not in UNCERTAIN for status in statuses)
    assert may_have_run("POST", refused_with=statuses) is not certain
    assert not may_have_run("GET", refused_with=statuses)
