# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The service's clock in the headers of responses, and the advice after a 401 when a clock is wrong."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import AuthenticationFailed
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import AccessKeyAuth, basic_auth
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import SECRET, ask, connect, error_of
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import Reply, envelope, refusal

CREDENTIALS = {"key": AccessKeyAuth("key", SECRET), "password": basic_auth("admin", SECRET)}


def now(off: float = 0) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=off)


def date(off: float) -> str:
    return format_datetime(now(off), usegmt=True)


def told(by: str, off: float, status: int = 200, **names: str) -> Reply:
    """Answer with a clock that is ``off`` seconds off; ``names`` are more keys of the envelope."""
    stamp = {"timestamp": now(off).isoformat(timespec="milliseconds")} if by == "timestamp" else {}
    headers = {"Date": date(off)} if by == "Date" else {}
    good = status < 400
    content = {"successful": good, "status": status, "data": 1, **stamp, **names}
    return Reply(status, json.dumps(content).encode(), {"Content-Type": "application/json", **headers})


@pytest.mark.parametrize("by", ["timestamp", "Date"])
@pytest.mark.parametrize("off", [1200, -1200, 30, 0])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_responses_set_the_clock_offset(method, off, by, server):
    client = connect(server.url)
    server.expect(method, "/api/v2/x", told(by, off))
    started = time.monotonic()
    ask(client, method)
    took = time.monotonic() - started
    assert client.service_clock.offset == pytest.approx(off, abs=1 + took)
    if off == 0:
        assert client.service_clock.offset == pytest.approx(0, abs=0.02 + took)


def test_application_servers_that_the_envelopes_name_have_clocks_of_their_own(server):
    client = connect(server.url)
    for name, off in [("a83ad33525", 0), ("b12", 40), ("a83ad33525", 0), ("a83ad33525", 0)]:
        server.expect("GET", "/api/v2/x", told("timestamp", off, server=name))
        ask(client, "GET")
    least, most = client.service_clock.bounds
    assert (round(least, -1), round(most, -1)) == (0, 40)


def test_timestamp_takes_precedence_over_the_date_header(server):
    client = connect(server.url)
    reply = told("timestamp", 1200)
    server.expect("GET", "/api/v2/x", Reply(reply.status, reply.body, {**reply.headers, "Date": date(-5000)}))
    ask(client, "GET")
    assert client.service_clock.offset == pytest.approx(1200, abs=2)


@pytest.mark.parametrize(
    "reply",
    [
        envelope(1),
        envelope(1, timestamp="yesterday"),
        envelope(1, timestamp=1777834800),
        envelope(1, timestamp="2026-05-04T03:00:00"),
        Reply(200, envelope(1).body, {"Date": "yesterday"}),
        Reply(200, envelope(1).body, {"Date": "Mon, 04 May 2026 03:00:00"}),
        Reply(200, envelope(1).body, {"Date": ""}),
    ],
    ids=["nothing", "no time", "a number", "no offset", "Date is none", "Date without a zone", "Date is empty"],
)
def test_response_without_a_valid_time_sets_no_clock_offset(reply, server):
    client = connect(server.url)
    server.expect("GET", "/api/v2/x", reply)
    assert ask(client, "GET").data == 1
    assert client.service_clock.offset == 0


@pytest.mark.parametrize("by", ["timestamp", "Date"])
@pytest.mark.parametrize(("off", "words"), [(1200, "1200 seconds behind that"), (-1200, "1200 seconds ahead of that")])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_refused_signature_names_the_clock_offset(method, off, words, by, server, pauses):
    server.expect(method, "/api/v2/x", told(by, off, 401))
    error = error_of(connect(server.url, auth=CREDENTIALS["key"]), method)
    assert isinstance(error, AuthenticationFailed)
    message = str(error).replace("1199", "1200").replace("1201", "1200")
    advice = f"The clock of this machine is {words} of the service, which refuses a signature more than 900 seconds off"
    assert advice in message
    assert "set the clock right" in message
    assert "was refused with status 401" in message
    assert len(server.received) == 1
    assert pauses == []


@pytest.mark.parametrize(
    ("off", "credentials"), [(1200, "password"), (-1200, "password"), (0, "key"), (30, "key"), (0, "password")]
)
def test_clock_is_not_named_for_passwords_or_small_offsets(off, credentials, server):
    server.expect("GET", "/api/v2/x", told("Date", off, 401))
    message = str(error_of(connect(server.url, auth=CREDENTIALS[credentials])))
    assert message.startswith(f"GET {server.url}/api/v2/x was refused with status 401")
    assert "seconds" not in message


def test_clock_is_not_named_for_a_missing_permission(server):
    server.expect("GET", "/api/v2/x", told("Date", 1200, 403))
    assert "seconds" not in str(error_of(connect(server.url, auth=CREDENTIALS["key"])))


def test_unknown_clock_offset_is_not_named(server):
    server.expect("GET", "/api/v2/x", refusal(401))
    assert "seconds" not in str(error_of(connect(server.url, auth=CREDENTIALS["key"])))
