# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""One deadline for all of a request: connecting, TLS, headers, body, retries; the longest line of a head.

The timeouts of ``requests`` limit only each silence, so a service that sends a byte now and then would never time out.
"""

from __future__ import annotations

import http.client
import io
import time
from math import inf
from typing import Any

try:
    from urllib3.connection import HTTPConnection, HTTPSConnection
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
except ImportError:  # reported by bridge, with the name of the library
    HTTPConnection = HTTPSConnection = HTTPConnectionPool = HTTPSConnectionPool = object  # type: ignore[misc, assignment]

# As http.client allows for a header.
LONGEST_LINE = 64 * 1024


class Deadline:
    """The end of the current request of one session; whether it ``has_paused``, as the service asked."""

    def __init__(self) -> None:
        self._end = inf
        self.has_paused = False

    def start(self, seconds: float) -> None:
        """Begin a request that may take this long."""
        self._end = time.monotonic() + seconds
        self.has_paused = False

    def extend(self, seconds: float) -> None:
        """Add a pause that the request limit of the service needed."""
        self._end += seconds

    @property
    def left(self) -> float:
        """Seconds to the end, not positive after it."""
        return self._end - time.monotonic()

    def checked(self) -> float:
        """Seconds to the end; raises TimeoutError after it."""
        left = self.left
        if left <= 0:
            raise TimeoutError("timed out")
        return left


def pool_classes(deadline: Deadline) -> dict[str, Any]:
    """The classes of connection pools of urllib3 by scheme, with connections that hold ``deadline``."""
    pools = {"http": (HTTPConnectionPool, HTTPConnection), "https": (HTTPSConnectionPool, HTTPSConnection)}
    return {
        scheme: type(
            pool.__name__,
            (pool,),
            {"ConnectionCls": type(connection.__name__, (_TimedConnection, connection), {"deadline": deadline})},
        )
        for scheme, (pool, connection) in pools.items()
    }


class _TimedConnection:
    """The connections of urllib3, within the deadline."""

    deadline: Deadline
    timeout: Any
    sock: Any

    def _new_conn(self) -> Any:
        self.timeout = min(self.timeout, self.deadline.checked())
        sock = super()._new_conn()  # type: ignore[misc]
        # For the TLS handshake and what is sent to a proxy.
        sock.settimeout(max(self.deadline.left, 0.001))
        return sock

    def putrequest(self, *args: Any, **options: Any) -> Any:
        """Begin to send a request, on a new connection or on one that is open."""
        if self.sock is not None:
            self.sock.settimeout(self.deadline.checked())
        return super().putrequest(*args, **options)  # type: ignore[misc]

    def response_class(self, sock: Any, *args: Any, **options: Any) -> http.client.HTTPResponse:
        """The response of http.client."""
        return _TimedResponse(sock, self.deadline, *args, **options)


class _TimedResponse(http.client.HTTPResponse):
    def __init__(self, sock: Any, deadline: Deadline, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp: Any = _LimitedLines(_TimedReader(self.fp.detach(), sock, deadline))


class _TimedReader(io.RawIOBase):
    """The bytes of a socket; no wait for more is longer than the time left."""

    def __init__(self, raw: Any, sock: Any, deadline: Deadline) -> None:
        super().__init__()
        self._raw = raw
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def readinto(self, buffer: Any) -> Any:
        self._sock.settimeout(self._deadline.checked())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _LimitedLines(io.BufferedReader):
    def readline(self, size: int | None = -1, /) -> bytes:
        """A line. urllib3 reads the sizes of chunks without a limit, http.client has one of its own."""
        if size is not None and size >= 0:
            return super().readline(size)
        line = super().readline(LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE:
            raise http.client.LineTooLong("chunk size")
        return line
