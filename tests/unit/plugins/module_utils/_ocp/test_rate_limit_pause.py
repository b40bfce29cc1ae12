# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The pause after a 429 or a used-up rate limit, by the headers that the service sends."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import session
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import FakeClock
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import ask, connect, error_of
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import Reply, envelope, refusal


@pytest.fixture
def monotonic(monkeypatch, time_passes) -> FakeClock:
    """The client's clock."""
    monkeypatch.setattr(
        session,
        "time",
        SimpleNamespace(monotonic=time_passes.clock.now, time=time_passes.clock.wall, sleep=time_passes.clock.sleep),
    )
    return time_passes


def limited(remaining: str | None, reset: str | None) -> Reply:
    reply = envelope("good")
    headers = {"RateLimit-Remaining": remaining, "RateLimit-Reset": reset}
    given = {name: value for name, value in headers.items() if value is not None}
    return Reply(reply.status, reply.body, {**reply.headers, **given})


@pytest.mark.usefixtures("monotonic")
@pytest.mark.parametrize(
    ("remaining", "reset", "retry_after"),
    [
        ("0", "7", 7),
        ("0", "0", 0),
        ("1", "7", 0),
        ("0", None, 0),
        (None, "7", 0),
        (None, None, 0),
        ("0", "-7", 0),
        ("0", "soon", 0),
        ("none", "7", 0),
    ],
)
def test_retry_after_comes_from_the_rate_limit_headers(remaining, reset, retry_after, server):
    server.expect("GET", "/api/v2/x", limited(remaining, reset))
    client = connect(server.url)
    assert client.retry_after == 0
    ask(client, "GET")
    assert client.retry_after == OcpApi(client).retry_after == retry_after


@pytest.mark.usefixtures("monotonic")
@pytest.mark.parametrize(
    ("reset", "retry_after"),
    [
        ("3000", 3000),
        ("86400", 3600),
        ("86401", 0),
        (90, 90),
        (7000, 3600),
        (-90, 0),
        ("1900000000000", 0),
        ("9" * 400, 0),
        ("9" * 5000, 0),
        ("\u0667", 0),
    ],
    ids=[
        "hour",
        "day",
        "more",
        "time",
        "late time",
        "past time",
        "milliseconds",
        "400 digits",
        "5000 digits",
        "not ASCII",
    ],
)
def test_reset_as_a_time_or_out_of_range_does_not_stop_the_polling(reset, retry_after, server):
    value = reset if isinstance(reset, str) else str(int(time.time()) + reset)
    server.expect("GET", "/api/v2/x", limited("0", value.encode().decode("latin-1")))
    client = connect(server.url)
    ask(client, "GET")
    assert client.retry_after == pytest.approx(retry_after, abs=2)


@pytest.mark.parametrize("name", ["RateLimit_Reset", "Retry_After"])
@pytest.mark.parametrize(
    "value", ["9" * 400, "9" * 5000, "Sat, 01 Jan 99999999999999999999 00:00:00 GMT"], ids=["400", "5000", "date"]
)
def test_absurd_pause_after_429_is_not_waited_for(value, name, server, pauses):
    server.expect("GET", "/api/v2/x", *[refusal(429, **{name: value})] * 3)
    error = error_of(connect(server.url))
    del server._script[:]
    assert (error.status, error.may_have_run) == (429, False)
    assert sum(pauses) < 5


def test_retry_after_counts_down(server, monotonic):
    server.expect("GET", "/api/v2/x", limited("0", "7"))
    client = connect(server.url)
    ask(client, "GET")
    monotonic.time += 5
    assert client.retry_after == 2
    monotonic.time += 5
    assert client.retry_after == 0


@pytest.mark.usefixtures("monotonic")
def test_last_response_sets_retry_after(server):
    server.expect("GET", "/api/v2/x", limited("0", "7"), limited("5", "7"))
    client = connect(server.url)
    ask(client, "GET")
    ask(client, "GET")
    assert client.retry_after == 0


@pytest.mark.usefixtures("monotonic")
def test_refusal_sets_retry_after(server):
    server.expect("GET", "/api/v2/x", refusal(403, RateLimit_Remaining="0", RateLimit_Reset="9"))
    client = connect(server.url)
    assert error_of(client).status == 403
    assert client.retry_after == 9


# Room for several requests


@pytest.mark.parametrize(
    ("remaining", "reset", "room"),
    [
        ("3", "7", 3),
        ("0", "7", 0),
        (None, "7", None),
        ("3", None, None),
        ("3", "soon", None),
        ("many", "7", None),
        ("-1", "7", None),
        ("9" * 5000, "7", None),
    ],
)
@pytest.mark.usefixtures("monotonic")
def test_room_is_what_the_last_response_leaves(remaining, reset, room, server):
    server.expect("GET", "/api/v2/x", limited(remaining, reset))
    client = connect(server.url)
    assert OcpApi(client).room is None
    ask(client, "GET")
    assert OcpApi(client).room == room


def test_room_is_unknown_after_the_window(server, monotonic):
    server.expect("GET", "/api/v2/x", limited("3", "7"))
    client = connect(server.url)
    ask(client, "GET")
    monotonic.time += 7
    assert OcpApi(client).room is None


@pytest.mark.parametrize(
    ("remaining", "reset", "requests", "pause"),
    [
        ("3", "7", 3, 0),
        ("2", "7", 3, 7),
        ("0", "7", 1, 7),
        pytest.param("0", "86400", 1, 3600, marks=pytest.mark.nightly),
        ("2", None, 3, 0),
        (None, "7", 3, 0),
    ],
)
def test_wait_for_room_lasts_to_the_end_of_the_window(remaining, reset, requests, pause, server, monotonic):
    server.expect("GET", "/api/v2/x", limited(remaining, reset))
    client = connect(server.url)
    ask(client, "GET")
    OcpApi(client).wait_for_room(requests, monotonic.clock)
    assert sum(monotonic.pauses) == pytest.approx(pause)


def test_room_is_waited_for_once(server, monotonic):
    """Also where the clock that sleeps is not the one of the client, and where the limit is below what is asked."""
    other = FakeClock()
    server.expect("GET", "/api/v2/x", limited("2", "7"))
    client = connect(server.url)
    ask(client, "GET")
    for _time in range(2):
        OcpApi(client).wait_for_room(1000, other.clock)
    assert sum(other.pauses) == 7
    assert monotonic.pauses == []
    assert client.retry_after == 0
