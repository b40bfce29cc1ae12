# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A service that answers with any bytes, at any speed. It has no code in common with plugins or emulator."""

from __future__ import annotations

import itertools
import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

# The bytes of the answer to a request for this path, in the pieces in which they are sent.
Pieces = Callable[[str], Iterable[bytes]]


def envelope(data: Any, *headers: str) -> bytes:
    """A whole successful answer."""
    return packed(json.dumps({"successful": True, "status": 200, "traceId": "trace", "data": data}).encode(), *headers)


def packed(body: bytes, *headers: str, status: int = 200) -> bytes:
    """A whole answer with this body."""
    head = (f"HTTP/1.1 {status} x", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers)
    return "".join(f"{line}\r\n" for line in (*head, "")).encode() + body


def endless(head: str, piece: bytes) -> Iterable[bytes]:
    """An answer that begins with these lines and never ends."""
    return itertools.chain([head.replace("\n", "\r\n").encode()], itertools.repeat(piece))


@contextmanager
def serve(pieces: Pieces, pause: float = 0.0) -> Iterator[str]:
    """Answer every request with ``pieces``, each after a pause of so many seconds; gives host and port."""
    ended = threading.Event()
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=50))
        threads: list[threading.Thread] = []

        def start(work: Callable[..., None], *args: Any) -> None:
            threads.append(threading.Thread(target=work, args=args, daemon=True))
            threads[-1].start()

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _peer = listener.accept()
                    stack.callback(_shut, connection)
                    start(converse, connection)

        def converse(connection: socket.socket) -> None:
            with suppress(OSError), connection, connection.makefile("rb") as requests:
                while first := requests.readline():
                    length = 0
                    while (line := requests.readline()).strip():
                        name, _colon, value = line.partition(b":")
                        length = int(value) if name.lower() == b"content-length" else length
                    requests.read(length)
                    # The greeting of TLS has no path.
                    _method, *path = first.decode("latin-1").split(" ")
                    for piece in pieces("".join(path[:1])):
                        if ended.wait(pause):
                            return
                        connection.sendall(piece)

        start(accept)
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            ended.set()
            _shut(listener)
            threads[0].join(timeout=20)
            stack.close()
            for thread in threads:
                thread.join(timeout=20)


def _shut(connection: socket.socket) -> None:
    """End it for the thread that waits for it too."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
