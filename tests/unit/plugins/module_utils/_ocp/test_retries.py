# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Retries of requests: which, after which pause, and how often."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import RateLimited, ResponseLost
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import AccessKeyAuth, basic_auth
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import SECRET, ask, connect, error_of
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import (
    RESET,
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
            for status in (400, 401, 403, 409, 429, 500, 502, 503, 504)
        ),
    ],
)
def test_post_is_never_repeated_after_an_answer(status, headers, server, pauses):
    server.expect("POST", "/api/v2/x", refusal(status, **headers))
    error = error_of(connect(server.url), "POST")
    assert error.status == status
    assert error.may_have_run is (status >= 500)
    assert pauses == []


ANNOUNCED = [
    pytest.param({"RateLimit_Reset": "3"}, 3, id="RateLimit-Reset"),
    pytest.param({"RateLimit_Reset": "3", "Retry_After": "9"}, 3, id="RateLimit-Reset first"),
    pytest.param({"Retry_After": "2"}, 2, id="Retry-After"),
    pytest.param({"RateLimit_Reset": "soon", "Retry_After": "2"}, 2, id="RateLimit-Reset unreadable"),
    pytest.param({"RateLimit_Reset": "5", "Retry_After": "6"}, 5, id="the longest by RateLimit-Reset"),
    pytest.param({"Retry_After": "5"}, 5, id="the longest by Retry-After"),
    pytest.param({"RateLimit_Reset": "0"}, 1, id="at least a second"),
]


@pytest.mark.parametrize(("headers", "pause"), ANNOUNCED)
def test_get_is_repeated_after_the_time_that_429_names(headers, pause, server, pauses):
    server.expect("GET", "/api/v2/x", refusal(429, **headers), envelope("good"))
    client, told = connect(server.url, timeout=5), []
    client.paused = lambda: told.append(list(pauses))
    assert ask(client, "GET").data == "good"
    assert pauses == [pause]
    # After the pause, so that what was read before counts no more.
    assert told == [[pause]]


def test_pause_that_an_overloaded_service_asks_for_is_told(server, pauses):
    server.expect("GET", "/api/v2/x", refusal(503, Retry_After="12"), envelope("good"))
    client, heard = connect(server.url, timeout=30), []
    client.paused = lambda: heard.append(list(pauses))
    ask(client, "GET")
    assert heard == [[12]]


def test_pause_that_the_service_did_not_ask_for_is_not_told(server, pauses):
    server.expect("GET", "/api/v2/x", refusal(503), envelope("good"), envelope("good"))
    client, told = connect(server.url), []
    client.paused = lambda: told.append(list(pauses))
    ask(client, "GET")
    ask(client, "GET")
    assert told == []


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        *ANNOUNCED,
        pytest.param({}, None, id="none"),
        pytest.param({"RateLimit_Reset": "soon"}, None, id="unreadable RateLimit-Reset"),
        pytest.param({"Retry_After": "soon"}, None, id="unreadable Retry-After"),
        pytest.param({"Retry_After": "9" * 400}, None, id="absurd Retry-After"),
        pytest.param({"Retry_After": "9" * 5000}, None, id="Retry-After that is no number to Python"),
        pytest.param({"RateLimit_Remaining": "0"}, None, id="RateLimit-Remaining alone"),
        pytest.param({"RateLimit_Reset": "86400"}, 3600, id="a day by RateLimit-Reset"),
        pytest.param({"Retry_After": "86400"}, 3600, id="a day by Retry-After"),
        pytest.param({"Retry_After": "Mon, 05 Jan 2026 00:00:00 GMT"}, 1, id="a time in the past"),
    ],
)
def test_refused_post_names_the_pause_and_leaves_it_to_the_caller(headers, pause, server, pauses):
    server.expect("POST", "/api/v2/x", refusal(429, "Later.", **headers))
    error = error_of(connect(server.url, timeout=5), "POST")
    assert error.__class__ is RateLimited
    assert (error.status, error.reason, error.retry_after, error.may_have_run) == (429, "Later.", pause, False)
    assert pauses == []


def test_get_refused_too_often_names_the_pause_too(server, pauses):
    server.expect("GET", "/api/v2/x", refusal(429, RateLimit_Reset="31"))
    error = error_of(connect(server.url, timeout=30))
    assert (error.__class__, error.retry_after) == (RateLimited, 31)
    assert pauses == []


def test_429_of_a_gateway_does_not_say_that_nothing_ran(server, pauses):
    """It may have passed the request on before: docs/at-most-once-reference.md, "When the answer is lost"."""
    page = replace(text("<h1>Slow down</h1>", 429), headers={"Retry-After": "4"})
    server.expect("POST", "/api/v2/x", page)
    error = error_of(connect(server.url), "POST")
    assert (error.__class__, error.retry_after, error.may_have_run) == (RateLimited, 4, True)
    assert pauses == []


def test_invalid_retry_after_is_ignored(server, pauses):
    server.expect("GET", "/api/v2/x", refusal(503, Retry_After="soon"), envelope("good"))
    assert ask(connect(server.url), "GET").data == "good"
    assert len(pauses) <= 1


@pytest.mark.parametrize(
    "headers",
    [{"RateLimit_Reset": "31"}, {"RateLimit_Reset": "86400", "Retry_After": "1"}, {"Retry_After": "31"}],
    ids=["RateLimit-Reset", "RateLimit-Reset first", "Retry-After"],
)
def test_429_is_not_retried_when_the_pause_exceeds_the_timeout(headers, server, pauses):
    server.expect("GET", "/api/v2/x", refusal(429, "Later.", **headers))
    error = error_of(connect(server.url, timeout=30))
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


def test_429_pauses_stay_within_the_timeout_in_total(server, pauses):
    """More than the two retries of other failures: a requested wait is not a failure."""
    answers = [refusal(429, RateLimit_Reset=seconds) for seconds in ("4", "3", "2", "1", "1")]
    server.expect("GET", "/api/v2/x", *answers)
    error = error_of(connect(server.url, timeout=10))
    assert error.status == 429
    assert not error.may_have_run
    assert pauses == [4, 3, 2, 1]


def test_each_request_has_its_own_timeout(server, pauses):
    client = connect(server.url, timeout=5)
    for _request in range(2):
        server.expect("GET", "/api/v2/x", refusal(429, RateLimit_Reset="5"), envelope("good"))
        assert ask(client, "GET").data == "good"
    assert pauses == [5, 5]


@pytest.mark.parametrize("name", ["RateLimit_Reset", "Retry_After"])
@pytest.mark.usefixtures("pauses")
def test_zero_pause_does_not_retry_forever(name, server):
    server.expect("GET", "/api/v2/x", *[refusal(429, **{name: "0"})] * 6)
    assert error_of(connect(server.url, timeout=4)).status == 429
    del server._script[:]
    assert len(server.received) <= 6


@pytest.mark.parametrize("name", ["RateLimit_Reset", "Retry_After"])
def test_zero_pauses_stay_within_the_timeout_in_total(name, server, pauses):
    server.expect("GET", "/api/v2/x", *[refusal(429, **{name: "0"})] * 40)
    assert error_of(connect(server.url, timeout=30)).status == 429
    del server._script[:]
    assert sum(pauses) <= 30


def test_429_does_not_use_up_the_two_retries_of_a_get(server, pauses):
    server.expect("GET", "/api/v2/x", RESET, refusal(429, RateLimit_Reset="1"), refusal(503), refusal(503, "Last."))
    assert error_of(connect(server.url)).reason == "Last."
    assert 1 in pauses


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
        assert "sent only once" in str(error_of(connect(server.url, auth=auth)))
    assert len(server.received) == 2
    assert pauses == []
