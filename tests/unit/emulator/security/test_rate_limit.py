# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The rate limit: headers, 429, and that no window ever lets more through than it may."""

from hypothesis import given
from hypothesis import strategies as st
from ocp_emulator.security.rate_limit import Rate, RateLimiter

TASKS = "/api/v2/tasks/instances"
NAMES = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


def limits(answer):
    return tuple(int(answer.headers[name]) for name in NAMES)


def test_unlimited_responses_have_no_rate_limit_headers(emulated):
    assert not {name.lower() for name in NAMES} & set(emulated.request("GET", TASKS).headers)


def test_requests_are_counted_down_and_then_refused(start):
    emulated = start(rates=(Rate(3, 10),))
    assert [limits(emulated.request("GET", TASKS)) for _call in range(3)] == [(3, 2, 10), (3, 1, 10), (3, 0, 10)]
    emulated.pass_time(3.2)
    answer = emulated.request("GET", TASKS)
    assert (answer.status_code, limits(answer)) == (429, (3, 0, 7))
    body = answer.json()
    assert (body["error"]["code"], body["traceId"], body["successful"]) == (0, "", False)
    emulated.pass_time(6.8)
    answer = emulated.request("GET", TASKS)
    assert (answer.status_code, limits(answer)) == (200, (3, 2, 10))


def test_client_that_waits_for_the_reset_is_accepted(start):
    emulated = start(rates=(Rate(1, 10), Rate(2, 60)))
    emulated.get(TASKS)
    for _pause in range(5):
        emulated.pass_time(limits(emulated.request("GET", TASKS))[2])
        emulated.get(TASKS)


def test_limit_applies_per_user_and_not_to_anonymous_requests(start):
    emulated = start(rates=(Rate(1, 10),))
    emulated.get(TASKS)
    emulated.error(429, "GET", TASKS)
    emulated.get(TASKS, auth=("viewer", "ocp-demo-1"))
    for _call in range(3):
        assert NAMES[0] not in emulated.request("GET", "/api/v2/time", auth=None).headers
        assert NAMES[0] not in emulated.request("GET", TASKS, auth=None).headers
        assert NAMES[0] not in emulated.request("GET", "/emulator/clock").headers


def test_refused_requests_count_and_have_headers(start):
    emulated = start(rates=(Rate(4, 10),))
    statuses = [
        emulated.request("POST", "/api/v2/ob/clusters/9/restart", auth=("viewer", "ocp-demo-1")),
        emulated.request("GET", "/api/v2/tasks/instances/7", auth=("viewer", "ocp-demo-1")),
        emulated.request("GET", "/no/such/url", auth=("viewer", "ocp-demo-1")),
    ]
    assert [answer.status_code for answer in statuses] == [403, 404, 400]
    assert [limits(answer)[1] for answer in statuses] == [3, 2, 1]


def test_rate_limited_request_has_no_effect(start):
    emulated = start(rates=(Rate(1, 10),))
    emulated.get(TASKS)
    emulated.error(429, "POST", "/api/v2/ob/clusters/1/restart")
    emulated.pass_time(10)
    assert emulated.get(TASKS)["contents"] == []


def test_headers_show_the_most_restrictive_window(start):
    emulated = start(rates=(Rate(2, 10), Rate(3, 60)))
    assert limits(emulated.request("GET", TASKS)) == (2, 1, 10)
    emulated.pass_time(10)
    # Both windows leave one call: the one that ends later counts.
    assert limits(emulated.request("GET", TASKS)) == (3, 1, 50)
    assert limits(emulated.request("GET", TASKS)) == (3, 0, 50)
    emulated.pass_time(10)
    answer = emulated.request("GET", TASKS)
    assert (answer.status_code, limits(answer)) == (429, (3, 0, 40))


@given(
    rates=st.lists(st.builds(Rate, st.integers(1, 5), st.integers(1, 20)), min_size=1, max_size=3),
    pauses=st.lists(st.integers(0, 8_000), max_size=60),
)
def test_no_window_exceeds_its_limit(rates, pauses):
    limiter, now, let_in = RateLimiter(rates), 0, []
    for pause in pauses:
        now += pause
        allowance = limiter.acquire("admin", now)
        assert (allowance.remaining > 0) or allowance.reset > 0
        if not allowance.exceeded:
            let_in.append(now)
        else:
            assert allowance.remaining == 0
            rate = next(rate for rate in rates if rate.calls == allowance.limit)
            assert 0 < allowance.reset <= max(each.seconds for each in rates if each.calls == rate.calls)
    for rate in rates:
        # Windows follow each other without overlap: no more than two of them meet in any span of their length.
        for instant in let_in:
            span = [each for each in let_in if instant <= each < instant + rate.seconds * 1000]
            assert len(span) <= 2 * rate.calls
