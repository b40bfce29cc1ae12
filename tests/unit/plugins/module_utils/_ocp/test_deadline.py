# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A request ends in time, whatever the service does to stretch it."""

from __future__ import annotations

import gzip
import http.client
import io
import socket
import time
from types import SimpleNamespace
from unittest import mock

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ResponseLost, ServiceError
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import deadline
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import ask, connect, error_of
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import (
    SILENCE,
    Reply,
    endless,
    envelope,
    refusal,
)

TIMEOUT = 0.4
PAUSE = 0.02
LIMIT = 2.0
OK = "HTTP/1.1 200 OK\r\n"
CHUNKED = f"{OK}Transfer-Encoding: chunked\r\n"
SLOW = {
    "silence": lambda: SILENCE,
    "100 Continue": lambda: endless("", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "100 Continue, slowly": lambda: endless("", b"HTTP/1.1 100 Continue\r\n\r\n", PAUSE),
    "status line by bytes": lambda: endless("HTTP/1.1 200 ", b"O", PAUSE),
    "header by bytes": lambda: endless(f"{OK}X-Long: ", b"x", PAUSE),
    "headers": lambda: endless(OK, b"X-More: x\r\n", PAUSE),
    "body by bytes": lambda: endless(f"{OK}Content-Length: 1000000\r\n\r\n", b" ", PAUSE),
    "body without a length": lambda: endless(f"{OK}\r\n", b" ", PAUSE),
    "body by chunks": lambda: endless(f"{CHUNKED}\r\n", b"1\r\n \r\n", PAUSE),
    "chunk size by bytes": lambda: endless(f"{CHUNKED}\r\n", b"0", PAUSE),
    "trailers": lambda: endless(f"{CHUNKED}\r\n0\r\n", b"X-More: x\r\n", PAUSE),
    "gzip of nothing": lambda: endless(f"{OK}Content-Encoding: gzip\r\n\r\n", gzip.compress(b"")),
    "error by bytes": lambda: endless("HTTP/1.1 503 No\r\nContent-Length: 1000\r\n\r\n", b" ", PAUSE),
    "limit by bytes": lambda: endless(
        "HTTP/1.1 429 No\r\nRateLimit-Reset: 0\r\nContent-Length: 1000\r\n\r\n", b" ", PAUSE
    ),
}


def timed(client, method) -> tuple[ServiceError, float]:
    began = time.monotonic()
    error = error_of(client, method)
    return error, time.monotonic() - began


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("slow", SLOW.values(), ids=SLOW)
def test_slow_response_ends_at_the_timeout(slow, method, server):
    server.expect(method, "/api/v2/x", slow())
    error, took = timed(connect(server.url, timeout=TIMEOUT), method)
    assert error.__class__ is ResponseLost
    assert f"did not arrive within {TIMEOUT:g} seconds: timed out. " in str(error)
    assert error.may_have_run is (method == "POST")
    assert took < LIMIT


@pytest.mark.parametrize("slow", ["header by bytes", "body by bytes"])
def test_slow_response_over_tls_ends_at_the_timeout(slow, tls_server, ca_path):
    tls_server.expect("GET", "/api/v2/x", SLOW[slow]())
    error, took = timed(connect(tls_server.url, verify=ca_path, timeout=TIMEOUT), "GET")
    assert error.__class__ is ResponseLost
    assert took < LIMIT


@pytest.mark.parametrize("slow", ["status line by bytes", "headers"])
def test_slow_proxy_ends_at_the_timeout(slow, server, monkeypatch):
    monkeypatch.setenv("https_proxy", server.url)
    server.expect("CONNECT", "8443", SLOW[slow]())  # urlsplit reads the port as the path
    _error, took = timed(connect("https://ocp.test:8443", timeout=TIMEOUT), "POST")
    assert took < LIMIT


def test_silent_tls_handshake_ends_at_the_timeout():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        error, took = timed(connect(url, timeout=TIMEOUT), "POST")
    assert isinstance(error, ServiceError)
    assert took < LIMIT


@pytest.mark.parametrize("slow", ["silence", "body by bytes"])
def test_retries_share_the_timeout(slow, server):
    """The first two attempts fail at once; the third gets what they left."""
    server.expect("GET", "/api/v2/x", refusal(503), Reply(act="reset"), SLOW[slow]())
    error, took = timed(connect(server.url, timeout=1.5), "GET")
    assert isinstance(error, ServiceError)
    assert took < LIMIT


def test_nothing_is_repeated_after_the_deadline(server, pauses):
    server.expect("GET", "/api/v2/x", SILENCE)
    error = error_of(connect(server.url, timeout=TIMEOUT))
    assert "timed out" in str(error)
    assert pauses == []


def test_open_connection_sends_within_the_deadline():
    class Connection(deadline._TimedConnection, SimpleNamespace):
        pass

    sock = mock.Mock()
    connection = Connection(deadline=deadline.Deadline(), sock=sock)
    connection.deadline.start(7)
    with pytest.raises(AttributeError, match="putrequest"):  # of urllib3, which is not there
        connection.putrequest("GET", "/")
    [[[seconds], _options]] = sock.settimeout.call_args_list
    assert 6 < seconds <= 7
    connection.deadline.start(0)
    with pytest.raises(TimeoutError):
        connection.putrequest("GET", "/")


def test_endless_chunk_size_is_not_collected(server):
    """Older urllib3 reads it as one line."""
    server.expect("GET", "/api/v2/x", endless(f"{CHUNKED}\r\n", b"1" * 8192))
    error, took = timed(connect(server.url, timeout=20), "GET")
    assert error.__class__ is ResponseLost
    assert took < LIMIT


def test_line_without_end_is_read_up_to_a_limit():
    """As urllib3 before 2 reads the size of a chunk."""
    raw = io.BytesIO(b"1" * 64 * deadline.LONGEST_LINE)
    lines = deadline._LimitedLines(raw)
    with pytest.raises(http.client.LineTooLong):
        lines.readline()
    assert raw.tell() < 2 * deadline.LONGEST_LINE


def test_each_request_has_its_own_deadline(server):
    client = connect(server.url, timeout=TIMEOUT)
    for number in range(4):
        server.expect("GET", "/api/v2/x", envelope(number))
        assert ask(client, "GET").data == number
        time.sleep(TIMEOUT / 2)
    assert len(server.connections) == 1


def test_pause_after_429_does_not_shorten_the_timeout(server):
    slow = Reply(
        act="pieces", pieces=[b"", f"{OK}Content-Length: 20\r\n\r\n".encode(), b'{"successful": true}'], pause=0.2
    )
    server.expect("GET", "/api/v2/x", refusal(429, RateLimit_Reset="1"), slow)
    assert ask(connect(server.url, timeout=1), "GET").data is None
