# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The largest response: bytes, values and depth, in every encoding."""

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
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import json_limits, paging, response_body
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import ask, connect, error_of
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import Reply, envelope, refusal

MIB = 1024**2
LIMIT = 2 * MIB
TOO_LONG = "is longer than 2 MiB, so reading stopped."


@pytest.fixture
def limit(monkeypatch) -> int:
    """Lower the limit for faster tests."""
    monkeypatch.setattr(response_body, "LARGEST_BODY", LIMIT)
    return LIMIT


def test_limits_are_the_documented_ones():
    assert response_body.LARGEST_BODY == 32 * MIB
    assert (json_limits.MOST_VALUES, json_limits.MOST_CONTAINERS) == (750_000, 250_000)


@contextmanager
def memory() -> Iterator[Callable[[], int]]:
    """Trace the peak memory of this process; it is told afterwards, in bytes."""
    peaks: list[int] = []
    tracemalloc.start()
    try:
        yield lambda: peaks[0]
    finally:
        # A trace that has been stopped tells of no bytes.
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()


def packed_zeros(size: int) -> bytes:
    """Pack this number of zeros with gzip."""
    packer = zlib.compressobj(1, wbits=31)
    return b"".join(packer.compress(bytes(MIB)) for _mib in range(size // MIB)) + packer.flush()


def gzipped(reply: Reply, times: int = 1) -> Reply:
    body = reply.body
    for _time in range(times):
        body = gzip.compress(body, compresslevel=1)
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
    assert f"comes in the encoding {encoding}, which was not requested. Check that url " in str(error)


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


TOO_DEEP = "is nested deeper than 100 levels, so it was ignored."


@pytest.mark.parametrize(
    ("body", "why"),
    [(b"[" * 200_000, TOO_DEEP), (b'{"data":' * 200_000, TOO_DEEP), (b"1" * 10_000, "is not an OCP response envelope")],
    ids=["lists", "objects", "digits"],
)
def test_json_beyond_the_parser_limits_is_unreadable(body, why, server):
    server.expect("GET", "/api/v2/x", Reply(200, body, {"Content-Type": "application/json"}))
    assert why in str(error_of(connect(server.url)))


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_response_nested_too_deep_is_unreadable(method, server):
    server.expect(method, "/api/v2/x", envelope(json.loads("[" * 101 + "]" * 101)))
    error = error_of(connect(server.url), method)
    assert error.__class__ is ResponseUnreadable
    assert f"The answer to {method} {server.url}/api/v2/x {TOO_DEEP}" in str(error)
    assert error.may_have_run is (method == "POST")


def contents(values: str) -> Reply:
    body = f'{{"successful":true,"data":{{"page":{{"totalPages":9}},"contents":[{values}]}}}}'
    return gzipped(Reply(200, body.encode(), {}))


def flat(values: int) -> str:
    """An object with this many values, which costs the most memory for each."""
    return "{" + ",".join(f'"{number:06x}":{number}.25' for number in range(values)) + "}"


WHOLE, TENTH = 1, 10
# To trace the memory of a million values takes seconds, so `make test` has a tenth of the values, and of the limits.
fractions = pytest.mark.parametrize(
    "fraction",
    [TENTH, pytest.param(WHOLE, marks=[pytest.mark.slow, pytest.mark.nightly])],
    indirect=True,
    ids=["tenth", "whole"],
)


@pytest.fixture
def fraction(request, monkeypatch) -> int:
    """Lower the limits of the number of values to a fraction."""
    monkeypatch.setattr(json_limits, "MOST_VALUES", json_limits.MOST_VALUES // request.param)
    monkeypatch.setattr(json_limits, "MOST_CONTAINERS", json_limits.MOST_CONTAINERS // request.param)
    monkeypatch.setattr(paging, "MOST_VALUES", json_limits.MOST_VALUES)
    return request.param


VALUES = "has more than {0.MOST_VALUES:,} values, so it was ignored."
CONTAINERS = "has more than {0.MOST_CONTAINERS:,} lists and objects, so it was ignored."
BOMBS = {
    "objects of one key": (
        lambda number: ",".join(f'{{"{n:06x}":{{"a":1.5}}}}' for n in range(number)),
        200_000,
        CONTAINERS,
    ),
    "numbers": (lambda number: "[" + "1.5," * number + "1]", 5_000_000, VALUES),
    "one object": (flat, 1_200_000, VALUES),
    "no JSON": (lambda number: '""' * (number // 5) + "," * number, 1_000_000, VALUES),
}


@pytest.mark.nightly
def test_bomb_of_empty_objects_is_not_parsed(server):
    assert_not_parsed(server, contents("{}," * 5_000_000 + "{}"), CONTAINERS, 100 * MIB)


@fractions
@pytest.mark.parametrize("bomb", BOMBS)
def test_bomb_of_values_is_not_parsed(bomb, fraction, server):
    values, number, why = BOMBS[bomb]
    # A connection takes some too.
    assert_not_parsed(server, contents(values(number // fraction)), why, 100 * MIB // fraction + MIB)


def assert_not_parsed(server, bomb, why, most):
    server.expect("GET", "/api/v2/x", bomb)
    with memory() as peak:
        error = error_of(connect(server.url))
    assert error.__class__ is ResponseUnreadable
    assert f"The answer to GET {server.url}/api/v2/x {why.format(json_limits)}" in str(error)
    assert peak() < most


LARGEST = {
    "values": lambda fraction: flat(749_000 // fraction),
    "objects": lambda fraction: ",".join(f'{{"{n:06x}":1}}' for n in range(249_000 // fraction)),
}


@pytest.mark.nightly
@fractions
@pytest.mark.parametrize("largest", LARGEST)
def test_most_values_take_a_bearable_memory(largest, fraction, server):
    assert_read(server, contents(LARGEST[largest](fraction)), 400 * MIB // fraction + MIB)


@pytest.mark.nightly
@pytest.mark.slow
def test_longest_response_takes_a_bearable_memory(server):
    assert_read(server, envelope({"log": "😀" + "x" * (31 * MIB)}), 400 * MIB)


def assert_read(server, reply, most):
    server.expect("GET", "/api/v2/x", reply)
    with memory() as peak:
        assert ask(connect(server.url), "GET").data
    assert peak() < most


def test_commas_of_a_log_are_no_values(server):
    log = 'a,"{[\\",' * 1_000_000
    server.expect("GET", "/api/v2/x", envelope({"log": log}))
    assert ask(connect(server.url), "GET").data == {"log": log}


def test_strings_count_once(server):
    texts = ["a,b"] * 400_000
    server.expect("GET", "/api/v2/x", envelope(texts))
    assert len(ask(connect(server.url), "GET").data) == len(texts)


@fractions
def test_pages_together_take_a_bearable_memory(fraction, server):
    server.expect("GET", "/api/v2/ob/clusters", *[contents(flat(700_000 // fraction))] * 2)
    with memory() as peak, pytest.raises(ResponseUnreadable) as raised:
        OcpApi(connect(server.url, timeout=60)).clusters()
    too_many = f"has more than {json_limits.MOST_VALUES:,} values, so reading"
    assert f"The list at {server.url}/api/v2/ob/clusters {too_many}" in str(raised.value)
    assert peak() < 400 * MIB // fraction + MIB


def test_deeply_nested_response_is_read(server):
    deep = json.loads("[" * 100 + "]" * 100)
    server.expect("GET", "/api/v2/x", envelope(deep))
    assert ask(connect(server.url), "GET").data == deep
