# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Retries of requests: which, after which pause, and how often."""

from __future__ import annotations

from contextlib import suppress

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ResponseLost
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import AccessKeyAuth, basic_auth
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import SECRET, ask, connect, error_of
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import (
    RESET,
    TRUNCATED,
    envelope,
    refusal,
    text,
)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_get_is_retried_after_a_temporary_error(status, server, pauses):
    server.expect("GET", "/api/v2/x", refusal(status), text("<h1>Bad</h1>", status), envelope("good"))
    assert ask(connect(server.url), "GET").data == "good"
    assert 1 <= len(pauses) <= 2
    assert sum(pauses) < 5


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_get_gives_up_after_two_retries(status, server, pauses):
    server.expect("GET", "/api/v2/x", *[refusal(status, "Later.")] * 3)
    error = error_of(connect(server.url))
    assert (error.status, error.reason) == (status, "Later.")
    assert not error.may_have_run
    assert len(pauses) <= 2


def test_get_is_retried_when_the_url_needs_encoding(server, pauses):
    server.expect("GET", "/a%20b/api/v2/x", refusal(503), envelope("good"))
    assert ask(connect(f"{server.url}/a b"), "GET").data == "good"
    assert len(pauses) <= 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 500, 501])
def test_get_is_not_retried_after_a_permanent_error(status, server, pauses):
    server.expect("GET", "/api/v2/x", refusal(status))
    assert error_of(connect(server.url)).status == status
    assert pauses == []


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        *((status, {}) for status in (400, 401, 403, 404, 409, 423, 429, 500, 502, 503, 504)),
        *(
            (status, {"RateLimit_Reset": "1", "Retry_After": "1"})
            for status in (400, 401, 403, 409, 500, 502, 503, 504)
        ),
        (429, {"RateLimit_Reset": "soon"}),
        (429, {"Retry_After": "soon"}),
        (429, {"RateLimit_Remaining": "0"}),
    ],
)
def test_post_is_not_retried_unless_429_gives_a_retry_time(status, headers, server, pauses):
    server.expect("POST", "/api/v2/x", refusal(status, **headers))
    error = error_of(connect(server.url), "POST")
    assert error.status == status
    assert error.may_have_run is (status >= 500)
    assert pauses == []


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        pytest.param({"RateLimit_Reset": "3"}, 3, id="RateLimit-Reset"),
        pytest.param({"RateLimit_Reset": "3", "Retry_After": "9"}, 3, id="RateLimit-Reset first"),
        pytest.param({"Retry_After": "2"}, 2, id="Retry-After"),
        pytest.param({"RateLimit_Reset": "soon", "Retry_After": "2"}, 2, id="RateLimit-Reset unreadable"),
        pytest.param({"RateLimit_Reset": "5", "Retry_After": "6"}, 5, id="the longest by RateLimit-Reset"),
        pytest.param({"Retry_After": "5"}, 5, id="the longest by Retry-After"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_retry_after_429_waits_for_the_announced_time(method, headers, pause, server, pauses):
    server.expect(method, "/api/v2/x", refusal(429, **headers), envelope("good"))
    assert ask(connect(server.url, timeout=5), method).data == "good"
    assert pauses == [pause]


def test_invalid_retry_after_is_ignored(server, pauses):
    server.expect("GET", "/api/v2/x", refusal(503, Retry_After="soon"), envelope("good"))
    assert ask(connect(server.url), "GET").data == "good"
    assert len(pauses) <= 1


@pytest.mark.parametrize(
    "headers",
    [{"RateLimit_Reset": "31"}, {"RateLimit_Reset": "86400", "Retry_After": "1"}, {"Retry_After": "31"}],
    ids=["RateLimit-Reset", "RateLimit-Reset first", "Retry-After"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_429_is_not_retried_when_the_pause_exceeds_the_timeout(method, headers, server, pauses):
    server.expect(method, "/api/v2/x", refusal(429, "Later.", **headers))
    error = error_of(connect(server.url, timeout=30), method)
    assert (error.status, error.reason) == (429, "Later.")
    assert not error.may_have_run
    assert pauses == []


@pytest.mark.parametrize("status", [502, 503, 504])
def test_5xx_is_not_retried_when_the_pause_exceeds_the_timeout(status, server, pauses):
    server.expect("GET", "/api/v2/x", refusal(status, "Later.", Retry_After="31"))
    with suppress(ResponseLost):  # the server has no further reply
        error = error_of(connect(server.url, timeout=30))
        assert (error.status, error.reason) == (status, "Later.")
    assert pauses == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_429_pauses_stay_within_the_timeout_in_total(method, server, pauses):
    """More than the two retries of other failures: a requested wait is not a failure."""
    answers = [refusal(429, RateLimit_Reset=seconds) for seconds in ("4", "3", "2", "1", "1")]
    server.expect(method, "/api/v2/x", *answers)
    error = error_of(connect(server.url, timeout=10), method)
    assert error.status == 429
    assert not error.may_have_run
    assert pauses == [4, 3, 2, 1]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_each_request_has_its_own_timeout(method, server, pauses):
    client = connect(server.url, timeout=5)
    for _request in range(2):
        server.expect(method, "/api/v2/x", refusal(429, RateLimit_Reset="5"), envelope("good"))
        assert ask(client, method).data == "good"
    assert pauses == [5, 5]


@pytest.mark.parametrize("name", ["RateLimit_Reset", "Retry_After"])
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.usefixtures("pauses")
def test_zero_pause_does_not_retry_forever(method, name, server):
    server.expect(method, "/api/v2/x", *[refusal(429, **{name: "0"})] * 6)
    assert error_of(connect(server.url, timeout=4), method).status == 429
    del server._script[:]
    assert len(server.received) <= 6


@pytest.mark.parametrize("name", ["RateLimit_Reset", "Retry_After"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_zero_pauses_stay_within_the_timeout_in_total(method, name, server, pauses):
    server.expect(method, "/api/v2/x", *[refusal(429, **{name: "0"})] * 40)
    assert error_of(connect(server.url, timeout=30), method).status == 429
    del server._script[:]
    assert sum(pauses) <= 30


@pytest.mark.parametrize(
    "then",
    [refusal(503, RateLimit_Reset="1"), refusal(409), refusal(500), RESET, TRUNCATED],
    ids=["503", "409", "500", "reset", "cut"],
)
def test_retried_post_is_not_sent_a_third_time(then, server, pauses):
    """The second POST may have been carried out."""
    server.expect("POST", "/api/v2/x", refusal(429, RateLimit_Reset="1"), then)
    error = error_of(connect(server.url), "POST")
    assert error.may_have_run is (getattr(error, "status", 500) >= 500)
    assert pauses == [1]


def test_429_does_not_use_up_the_two_retries_of_a_get(server, pauses):
    server.expect("GET", "/api/v2/x", RESET, refusal(429, RateLimit_Reset="1"), refusal(503), refusal(503, "Last."))
    assert error_of(connect(server.url)).reason == "Last."
    assert 1 in pauses


def test_retried_post_is_identical(server, pauses):
    server.expect("POST", "/api/v2/x", refusal(429, RateLimit_Reset="1"), envelope("good"))
    connect(server.url).post("/api/v2/x", {"force": "false"}, {"force": False})
    first, second = server.received
    assert (first.target, first.body, first.headers) == (second.target, second.body, second.headers)
    assert pauses == [1]


def test_overlong_pause_is_reported_after_a_retry(server, pauses):
    server.expect("GET", "/api/v2/x", refusal(429, RateLimit_Reset="1"), refusal(429, RateLimit_Reset="31"))
    message = str(error_of(connect(server.url)))
    assert message.endswith("The request limit of this user is used up; run this again later.")
    assert pauses == [1]


@pytest.mark.parametrize("status", [502, 503, 504])
def test_rate_limit_reset_is_used_after_429_only(status, server, pauses):
    """With limits on, the service sends the header with every response."""
    server.expect("GET", "/api/v2/x", refusal(status, RateLimit_Reset="31"), envelope("good"))
    assert ask(connect(server.url), "GET").data == "good"
    assert sum(pauses) < 5


def test_401_is_not_retried_with_any_kind_of_credentials(server, pauses):
    server.expect("GET", "/api/v2/x", refusal(401), refusal(401))
    for auth in (basic_auth("admin", SECRET), AccessKeyAuth("key", SECRET)):
        assert "asked once only" in str(error_of(connect(server.url, auth=auth)))
    assert len(server.received) == 2
    assert pauses == []
