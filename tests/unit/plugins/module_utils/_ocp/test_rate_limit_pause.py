# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The pause that the service announces when the request limit is used up."""

from __future__ import annotations

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
    monkeypatch.setattr(session, "time", SimpleNamespace(monotonic=time_passes.clock.now, time=time_passes.clock.wall))
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
