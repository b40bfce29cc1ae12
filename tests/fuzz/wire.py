# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Connections without a network, below urllib3: the bytes that the client writes get bytes for an answer."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from ansible_collections.oceanbase.ocp.tests.fuzz.virtual_time import BoundedClock, LimitPassed
from urllib3.connection import HTTPConnection
from urllib3.exceptions import NewConnectionError

MOST_REQUESTS = 5_000
MOST_BYTES = 64 * 1024


@dataclass(frozen=True)
class Request:
    """A request as the service gets it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Reply:
    """The bytes of an answer, in ``pieces`` that arrive with ``pause`` seconds between them.

    ``cut``: the connection is reset after the pieces.
    """

    pieces: Iterable[bytes] = ()
    pause: float = 0.0
    cut: bool = False


Answer = Callable[[Request], Reply]


@contextmanager
def wired(answer: Answer, refuses: Callable[[], bool], clock: BoundedClock) -> Iterator[None]:
    """Every connection leads to ``answer``, unless the service ``refuses`` it."""
    made = 0

    def connect(connection: HTTPConnection) -> _Socket:
        nonlocal made
        made += 1
        if made > MOST_REQUESTS:
            raise LimitPassed(f"it sent more than {MOST_REQUESTS} requests")
        if refuses():
            raise NewConnectionError(connection, "Connection refused")
        return _Socket(answer, clock)

    with mock.patch.object(HTTPConnection, "_new_conn", connect):
        yield


class _Socket:
    """What http.client and urllib3 use of a socket."""

    def __init__(self, answer: Answer, clock: BoundedClock) -> None:
        self._answer = answer
        self._clock = clock
        self._written = bytearray()
        self.timeout: float | None = None

    def settimeout(self, seconds: float | None) -> None:
        self.timeout = seconds

    def sendall(self, data: Any) -> None:
        self._written += data

    def makefile(self, *_args: Any, **_options: Any) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self._answer(_parsed(bytes(self._written))), self, self._clock))

    def close(self) -> None:
        self._written.clear()


class _Incoming(io.RawIOBase):
    def __init__(self, reply: Reply, sock: _Socket, clock: BoundedClock) -> None:
        super().__init__()
        self._pieces = iter(reply.pieces)
        self._rest = b""
        self._reply = reply
        self._sock = sock
        self._clock = clock

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError(os.strerror(9))

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            timeout = self._sock.timeout
            if timeout is not None and self._reply.pause > timeout:
                self._clock.pass_by(timeout)
                raise TimeoutError("timed out")
            self._clock.pass_by(self._reply.pause)
            self._rest = next(self._pieces, b"")
        if not self._rest and self._reply.cut:
            raise ConnectionResetError(104, "Connection reset by peer")
        count = min(len(buffer), len(self._rest), MOST_BYTES)
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _parsed(written: bytes) -> Request:
    head, _end, body = written.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _version = first.split(" ")
    return Request(method, path, dict(line.split(": ", 1) for line in lines), body)
