# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The reads that only a check sends: without credentials, without an envelope, one page; errors without an envelope."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    ResponseUnreadable,
    ServiceError,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.service_reads import ServiceReads
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import connect
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import Reply, envelope, refusal, text

JSON = {"Content-Type": "application/json"}
INFO = "/api/v2/info"


@pytest.fixture
def reads(server):
    return ServiceReads(connect(server.url))


def test_time_is_asked_without_credentials_and_all_else_with_them(reads, server, monkeypatch, tmp_path):
    # requests takes credentials from there too.
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login admin password from-netrc\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server.expect("GET", "/api/v2/time", envelope("2026-05-04T03:00:00+08:00"))
    server.expect("GET", INFO, Reply(200, b'{"buildVersion": "4.2.2"}', JSON))
    reads.time()
    reads.version()
    assert [request.header("Authorization") is None for request in server.received] == [True, False]
    assert (reads.sent, reads.last_path) == (2, INFO)


def test_refused_time_says_nothing_of_credentials(reads, server):
    server.expect("GET", "/api/v2/time", refusal(401))
    with pytest.raises(AuthenticationFailed) as raised:
        reads.time()
    assert "Check username" not in str(raised.value)


@pytest.mark.parametrize("body", [b"2026-05-04T03:00:00.5+08:00\n", b'"2026-05-04T03:00:00.5+08:00"'])
def test_time_as_text_is_the_clock_of_the_service(server, body):
    client = connect(server.url)
    # The header is rougher, and that of a proxy perhaps.
    headers = {"Content-Type": "text/plain;charset=UTF-8", "Date": "Mon, 04 May 2020 00:00:00 GMT"}
    server.expect("GET", "/api/v2/time", Reply(200, body, headers))
    ServiceReads(client).time()
    shown = datetime(2026, 5, 3, 19, tzinfo=UTC).timestamp()
    assert abs(time.time() + client.service_clock.offset - shown - 0.5) < 10


@pytest.mark.parametrize(
    "reply", [text("<html>"), text("okay"), text("2026-05-04T03:00:00"), text(""), text("2026-05-04T03:00:00Z" * 9)]
)
def test_time_that_is_neither_a_time_nor_in_an_envelope_is_unreadable(reads, server, reply):
    server.expect("GET", "/api/v2/time", reply)
    with pytest.raises(ResponseUnreadable):
        reads.time()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b'{"buildVersion": "4.2.2-1", "name": "ocp-server"}', JSON),
        envelope({"buildVersion": "4.2.2-1"}),
    ],
    ids=["bare", "in an envelope"],
)
def test_version_is_read_with_and_without_an_envelope(reads, server, reply):
    server.expect("GET", INFO, reply)
    assert reads.version() == "4.2.2-1"


@pytest.mark.parametrize("reply", [text("<html>"), Reply(200, b"[]", JSON), Reply(200, b"{}", JSON)])
def test_version_that_is_no_object_is_unreadable(reads, server, reply):
    server.expect("GET", INFO, reply)
    with pytest.raises(ResponseUnreadable):
        reads.version()


def test_one_page_of_a_list_is_read(reads, server):
    page = {"contents": [{"id": 1}], "page": {"totalPages": 3}}
    server.expect("GET", "/api/v2/ob/clusters/3/parameters", envelope(page))
    assert reads.parameters(3) == [{"id": 1}]
    server.expect("GET", "/api/v2/alarm/alarms", envelope(page))
    assert reads.alarms() == [{"id": 1}]
    assert server.received[1].query == {"page": "1", "size": "10", "status": "Active"}


@pytest.mark.parametrize(
    ("reply", "enveloped"),
    [
        (refusal(404), True),
        (refusal(401), True),
        (envelope([]), True),  # no data of the documented form
        (text("<html>", 404), False),
        (text("<html>", 200), False),
        (text("<html>", 401), False),
        (Reply(302, headers={"Location": "/login"}), False),
    ],
)
def test_error_tells_whether_the_answer_had_an_envelope(reads, server, reply, enveloped):
    server.expect("GET", "/api/v2/ob/clusters/3", reply)
    with pytest.raises(ServiceError) as raised:
        reads.cluster_detail(3)
    assert raised.value.has_envelope is enveloped
