# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A connection without a network: the bytes of HTTP from the client of the modules to the model, and back."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from .scheduler import Actor, Scheduler
from .service import Answer, Request

REASONS = {200: "OK", 302: "Found", 404: "Not Found", 429: "Too Many Requests", 502: "Bad Gateway"}
Send = Callable[["Connection", Request], None]


class Connection:
    """What ``http.client`` takes for a socket. ``send`` is called with each whole request."""

    def __init__(self, scheduler: Scheduler, actor: Actor, send: Send) -> None:
        self._scheduler = scheduler
        self.actor = actor
        self._send = send
        self._outgoing = bytearray()
        self._incoming = b""
        self._timeout: float | None = None
        self._ending: str | None = None  # reset or closed
        self._waiting = False

    # As a socket

    def settimeout(self, seconds: float | None) -> None:
        self._timeout = seconds

    def sendall(self, data: bytes) -> None:
        self._scheduler.check(self.actor)
        if self._ending == "reset":
            raise ConnectionResetError(104, "Connection reset by peer")
        self._outgoing += data
        head, end, body = bytes(self._outgoing).partition(b"\r\n\r\n")
        if end and len(body) >= _content_length(head):
            self._outgoing.clear()
            self._send(self, parse_request(head, body))

    def makefile(self, *_mode: Any, **_options: Any) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self))

    def shutdown(self, _how: int) -> None:
        self.close()

    def close(self) -> None:
        self._ending = self._ending or "closed"

    # From the network

    @property
    def has_ended(self) -> bool:
        """Whether it must not be used for another request."""
        return self._ending is not None

    def deliver(self, data: bytes, ending: str | None = None) -> bool:
        """Bytes arrive, and perhaps the end, ``closed`` or ``reset``; returns whether anyone still waits for them."""
        if not self._waiting:
            return False
        self._incoming += data
        self._ending = self._ending or ending
        self._scheduler.wake(self.actor)
        return True

    def receive(self, buffer: Any) -> int:
        """Wait for bytes, for as long as the time-out allows."""
        deadline = self._scheduler.now + (1e9 if self._timeout is None else self._timeout)
        while not self._incoming and self._ending is None:
            if self._scheduler.now >= deadline:
                raise TimeoutError("timed out")
            self._waiting = True
            try:
                self._scheduler.sleep_until(deadline)
            finally:
                self._waiting = False
        self._scheduler.check(self.actor)
        if not self._incoming and self._ending == "reset":
            raise ConnectionResetError(104, "Connection reset by peer")
        length = min(len(buffer), len(self._incoming))
        buffer[:length] = self._incoming[:length]
        self._incoming = self._incoming[length:]
        return length


class _Incoming(io.RawIOBase):
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._connection.receive(buffer)


def _content_length(head: bytes) -> int:
    place = head.lower().find(b"content-length:")
    return int(head[place + 15 :].split(b"\r\n", 1)[0]) if place >= 0 else 0


def parse_request(head: bytes, body: bytes) -> Request:
    """A request from its bytes."""
    method, target, _version = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
    url = urlsplit(target)
    found = json.loads(body) if body else {}
    return Request(method, unquote(url.path), dict(parse_qsl(url.query)), found)


def response_bytes(answer: Answer, date: str, *, chunked: bool = False) -> bytes:
    """The bytes of an answer."""
    lines = [f"HTTP/1.1 {answer.status} {REASONS.get(answer.status, 'Status')}", f"Date: {date}"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    if not chunked:
        return "\r\n".join([*lines, f"Content-Length: {len(answer.body)}", "", ""]).encode() + answer.body
    head = "\r\n".join([*lines, "Transfer-Encoding: chunked", "", ""]).encode()
    half = len(answer.body) // 2
    pieces = (answer.body[:half], answer.body[half:])
    return head + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces if piece) + b"0\r\n\r\n"
