# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An HTTP server that plays a script: an unexpected request gets a 500, and fails the test in the end."""

from __future__ import annotations

import itertools
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Received:
    """A request as received; header names as sent."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query))

    def header(self, name: str) -> str | None:
        """The value of the header; fails if it was sent twice."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(values) <= 1, f"{name} was sent {len(values)} times"
        return values[0] if values else None


@dataclass(frozen=True)
class Reply:
    """The server's reaction to one request."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    act: str = "answer"  # or truncate, reset, close, silence, pieces
    pieces: Iterable[bytes] = ()  # sent as they are, each after the pause
    pause: float = 0.0


def envelope(data: Any = None, status: int = 200, **more: Any) -> Reply:
    """A successful response in the envelope."""
    content = {"data": data, "successful": True, "status": status, "traceId": "trace-ok", "duration": 3, **more}
    return Reply(status, json.dumps(content).encode(), {"Content-Type": "application/json"})


def refusal(status: int, message: str = "No.", *, http_status: int | None = None, **headers: str) -> Reply:
    """A refusal in the envelope."""
    content = {
        "error": {"code": 0, "message": message},
        "successful": False,
        "status": status,
        "traceId": f"trace-{status}",
    }
    named = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Reply(http_status or status, json.dumps(content).encode(), named)


def text(body: str, status: int = 200, kind: str = "text/html") -> Reply:
    """A response without an envelope."""
    return Reply(status, body.encode(), {"Content-Type": kind})


def endless(head: str, piece: bytes, pause: float = 0.0) -> Reply:
    """A response that begins with ``head`` and never ends."""
    return Reply(act="pieces", pieces=itertools.chain([head.encode()], itertools.repeat(piece)), pause=pause)


RESET = Reply(act="reset")
SILENCE = Reply(act="silence")
TRUNCATED = Reply(200, b'{"successful": true, "da', act="truncate")


# Bound for the life of the process, so that no server of another one gets their ports.
_CLOSED: list[socket.socket] = []


def closed_port() -> int:
    """A port of 127.0.0.1 without a listener."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    _CLOSED.append(bound)
    return int(bound.getsockname()[1])


class ScriptedServer:
    """A server on a free port of 127.0.0.1; with ``tls`` it speaks https, as a proxy after its tunnel is open.

    As a proxy, it answers in place of the target.
    """

    def __init__(self, tls: ssl.SSLContext | None = None, *, proxy: bool = False) -> None:
        self._tls = tls
        self._proxy = proxy
        self._script: list[tuple[str, str, Reply]] = []
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._arrived = threading.Event()
        self.received: list[Received] = []
        self.unexpected: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def port(self) -> int:
        return self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def expect(self, method: str, path: str, *replies: Reply) -> None:
        """Expect the same request once for each reply."""
        self._script += [(method, path, reply) for reply in replies]

    def await_request(self) -> None:
        """Wait until a request has arrived: a client may give up before this server's thread has had its turn."""
        assert self._arrived.wait(5), "no request has arrived"

    def finish(self) -> None:
        """Stop, and fail after unexpected or missing requests."""
        self._done.set()
        # Closing alone would leave the threads in accept() and recv().
        for each in (self._listener, *self.connections):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(timeout=5)
        missing = [f"{method} {path}" for method, path, _reply in self._script]
        assert not self.unexpected, f"requests that are not in the script: {self.unexpected}"
        assert not missing, f"requests that did not come: {missing}"

    def _accept(self) -> None:
        while True:
            try:
                connection, _peer = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._guarded, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _guarded(self, connection: socket.socket) -> None:
        connection.settimeout(5)
        try:
            if self._proxy and self._tls and not self._exchange(connection):
                connection.close()
                return
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                self.connections.append(connection)
                while self._exchange(connection):
                    pass
        except OSError:
            connection.close()  # the client went away, or rejects the certificate

    def _exchange(self, connection: socket.socket) -> bool:
        request = _read(connection.recv)
        if request is None:
            return False
        reply = self._next(request)
        if reply.act == "silence":
            self._done.wait(5)
            return False
        if reply.act == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        if reply.act in ("reset", "close"):
            return False
        if reply.act == "pieces":
            for piece in reply.pieces:
                if self._done.wait(reply.pause):
                    break
                connection.sendall(piece)
            return False
        if request.method == "CONNECT" and reply.status == 200:
            connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            return True
        length = len(reply.body) + (100 if reply.act == "truncate" else 0)
        headers = {"Content-Length": str(length), **reply.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        connection.sendall(f"HTTP/1.1 {reply.status} Scripted\r\n{head}\r\n".encode() + reply.body)
        return reply.act == "answer"

    def _next(self, request: Received) -> Reply:
        with self._lock:
            self.received.append(request)
            self._arrived.set()
            expected = self._script[0][:2] if self._script else None
            if (request.method, request.path) != expected:
                self.unexpected.append(f"{request.method} {request.target} instead of {expected}")
                return Reply(500)
            return self._script.pop(0)[2]


def _read(receive: Callable[[int], bytes]) -> Received | None:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = receive(65536)
        if not chunk:
            return None
        data += chunk
    head, body = data.split(b"\r\n\r\n", 1)
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = [(name, value.strip()) for name, _colon, value in (line.partition(":") for line in lines)]
    length = int(next((value for name, value in headers if name.lower() == "content-length"), 0))
    while len(body) < length:
        body += receive(65536)
    method, target, _version = first.split(" ")
    return Received(method, target, headers, body)
