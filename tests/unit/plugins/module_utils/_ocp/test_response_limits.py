# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How much of a response is read: enough for the longest log, but never without limit."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    RequestRefused,
    ResponseUnreadable,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import response_body
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import ask, connect, error_of
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import Reply, envelope, refusal

MIB = 1024**2
LIMIT = 2 * MIB
TOO_LONG = "is longer than 2 MiB, and was not read to its end."


@pytest.fixture
def limit(monkeypatch) -> int:
    """Lower the limit for faster tests."""
    monkeypatch.setattr(response_body, "LARGEST_BODY", LIMIT)
    return LIMIT


def test_response_limit_is_64_mib():
    assert response_body.LARGEST_BODY == 64 * MIB


@contextmanager
def memory() -> Iterator[Callable[[], int]]:
    """Trace the peak memory of this process."""
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def packed_zeros(size: int) -> bytes:
    """Pack this number of zeros with gzip."""
    packer = zlib.compressobj(1, wbits=31)
    return b"".join(packer.compress(bytes(MIB)) for _mib in range(size // MIB)) + packer.flush()


def gzipped(reply: Reply, times: int = 1) -> Reply:
    body = reply.body
    for _time in range(times):
        body = gzip.compress(body)
    return Reply(reply.status, body, {**reply.headers, "Content-Encoding": ", ".join(["gzip"] * times)})


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_ten_megabyte_log_is_read(packed, server):
    log = "2026-05-04 03:00:00 still waiting for the server to start\n" * 180_000
    assert len(log) > 10_000_000
    reply = envelope({"log": log})
    server.expect("GET", "/api/v2/x", gzipped(reply) if packed else reply)
    assert ask(connect(server.url), "GET").data == {"log": log}


def test_only_gzip_encoding_is_requested(server):
    server.expect("GET", "/api/v2/x", gzipped(envelope("small")))
    assert ask(connect(server.url), "GET").data == "small"
    assert server.received[0].header("Accept-Encoding") == "gzip"


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "bomb"])
def test_response_over_the_limit_is_unreadable(packed, method, limit, server):
    body = packed_zeros(256 * MIB) if packed else bytes(limit + MIB)
    server.expect(method, "/api/v2/x", Reply(200, body, {"Content-Encoding": "gzip"} if packed else {}))
    with memory() as peak:
        error = error_of(connect(server.url), method)
    assert error.__class__ is ResponseUnreadable
    assert f"The answer to {method} {server.url}/api/v2/x {TOO_LONG}" in str(error)
    assert error.may_have_run is (method == "POST")
    assert peak() < 64 * MIB


@pytest.mark.parametrize("encoding", ["gzip, gzip", "deflate", "br", "zstd"])
def test_unrequested_encoding_is_not_decoded(encoding, server):
    server.expect("GET", "/api/v2/x", Reply(200, envelope("x").body, {"Content-Encoding": encoding}))
    error = error_of(connect(server.url))
    assert error.__class__ is ResponseUnreadable
    assert f"comes in the encoding {encoding}, which was not asked for. Check that url " in str(error)


@pytest.mark.parametrize(("status", "kind"), [(401, AuthenticationFailed), (500, RequestRefused)])
def test_oversized_refusal_is_still_a_refusal(status, kind, limit, server):
    """A 401 read as another error would be repeated, which locks the account."""
    server.expect("GET", "/api/v2/x", Reply(status, bytes(limit + MIB)))
    assert error_of(connect(server.url)).__class__ is kind


def test_connection_is_not_reused_after_a_partly_read_response(limit, server):
    server.expect("GET", "/api/v2/x", Reply(200, bytes(limit + MIB)), envelope("next"))
    client = connect(server.url)
    error_of(client)
    assert ask(client, "GET").data == "next"


PASSED_OVER = {
    "short": (Reply(503, bytes(1000)), 1),
    "long": (Reply(503, bytes(128 * 1024)), 2),
    "of unknown length": (Reply(503, b"1\r\nx\r\n0\r\n\r\n", {"Transfer-Encoding": "chunked"}), 2),
}


@pytest.mark.parametrize(("reply", "connections"), PASSED_OVER.values(), ids=PASSED_OVER)
def test_long_response_before_a_retry_is_not_read_to_its_end(reply, connections, server, pauses):
    server.expect("GET", "/api/v2/x", reply, envelope("good"))
    assert ask(connect(server.url), "GET").data == "good"
    # A connection with unread data cannot be reused.
    assert len(server.connections) == connections
    assert len(pauses) <= 1


def test_long_final_refusal_is_read(server, pauses):
    reason = "busy " * 30_000
    server.expect("GET", "/api/v2/x", *[refusal(503, reason)] * 3)
    assert error_of(connect(server.url)).reason.startswith(reason[:400])
    assert len(pauses) <= 2


@pytest.mark.parametrize(
    "body", [b"[" * 200_000, b'{"data":' * 200_000, b"1" * 10_000], ids=["lists", "objects", "digits"]
)
def test_json_beyond_the_parser_limits_is_unreadable(body, server):
    server.expect("GET", "/api/v2/x", Reply(200, body, {"Content-Type": "application/json"}))
    assert "is no OCP response envelope" in str(error_of(connect(server.url)))


def test_deeply_nested_response_is_read(server):
    deep = json.loads("[" * 100 + "]" * 100)
    server.expect("GET", "/api/v2/x", envelope(deep))
    assert ask(connect(server.url), "GET").data == deep
