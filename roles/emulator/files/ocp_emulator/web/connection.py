# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How the connection of a request is reset, closed, or refused for a while."""

import asyncio
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, cast

from starlette.requests import HTTPConnection

# Under this key the state of a request has its connection.
CONNECTION = "connection"

# Linger for zero seconds: closing the socket drops unsent data and sends RST.
_NO_LINGER = struct.pack("ii", 1, 0)


class Outage(Protocol):
    def __call__(self, seconds: float, requested_by: "Connection", *, reset: bool) -> None:
        """Take the service off the network."""


class Connection:
    """The connection of a request."""

    def __init__(self, transport: asyncio.Transport, outage: Outage) -> None:
        """`outage` takes the service off the network."""
        self._transport = transport
        self._outage = outage
        self._is_abandonable = False

    def reset(self) -> None:
        """Send RST, with TLS too; unsent data is lost."""
        if not self._transport.is_closing():
            self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self._transport.abort()

    def outage(self, seconds: float, *, reset: bool) -> None:
        """Refuse connections for this many seconds (EmulatorServer.outage); this one may still send its response."""
        self._outage(seconds, self, reset=reset)

    def close(self) -> None:
        """Close it after all data was sent."""
        self._transport.close()

    @contextmanager
    def abandonable(self) -> Iterator[None]:
        """Its request may take long in this block: a shutdown of the server resets it instead of waiting."""
        self._is_abandonable = True
        yield
        self._is_abandonable = False

    def reset_if_abandonable(self) -> None:
        """Reset it if its request may take long: the server shuts down."""
        if self._is_abandonable:
            self.reset()


def connection_of(request: HTTPConnection) -> Connection:
    """The connection of this request."""
    return cast(Connection, request.scope["state"][CONNECTION])
