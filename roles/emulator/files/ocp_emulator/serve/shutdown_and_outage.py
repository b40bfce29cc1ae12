# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How the server ends its connections, and how it refuses connections for a while without losing its port."""

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ocp_emulator.web.connection import CONNECTION, Connection

_LOG = logging.getLogger(__name__)

_SERVER = "server"

# How often an outage checks whether its end moved.
_TICK = 0.1


class _Protocol(H11Protocol):
    """The protocol of uvicorn, which also gives its connection to the application.

    A connection that was accepted right before an outage begins ends with it.
    """

    def __init__(self, *, app_state: dict[str, Any], **options: Any) -> None:
        """Raises ConnectionAbortedError in an outage; asyncio then drops the connection.

        asyncio itself would leave it open without a reader: it makes no transport for a closed server.
        """
        if app_state[_SERVER].in_outage:
            raise ConnectionAbortedError("the service is off the network")
        super().__init__(app_state=app_state, **options)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        server: EmulatorServer = self.app_state[_SERVER]
        self.connection = Connection(transport, server.outage)
        self.app_state = {**self.app_state, CONNECTION: self.connection}
        if server.in_outage:
            self.connection.reset()


class EmulatorServer(uvicorn.Server):
    """The server of uvicorn, which also reports when it is ready, and can go off the network for a while."""

    def __init__(self, config: uvicorn.Config, bind: Callable[[], socket.socket], ready: Callable[[], None]) -> None:
        """`bind` makes a new socket, bound to the address of the first one."""
        super().__init__(config)
        config.http = _Protocol
        # The application has its own.
        config.date_header = False
        self._bind = bind
        self._ready = ready
        self._outage_task: asyncio.Task[None] | None = None
        self._outage_until = 0.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.lifespan.state[_SERVER] = self
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._outage_task is not None:
            self._outage_task.cancel()
        for connection in self._connections():
            connection.reset_if_abandonable()
        await super().shutdown(sockets=sockets)

    @property
    def in_outage(self) -> bool:
        """Whether connections are refused."""
        return self._outage_task is not None

    def outage(self, seconds: float, requested_by: Connection, *, reset: bool) -> None:
        """Refuse connections for this many seconds; a second outage may make it longer.

        With `reset`, open connections are reset, except the one that requested this. Otherwise they are closed, after
        the response if a request is in progress.
        """
        if reset:
            for connection in self._connections():
                if connection is not requested_by:
                    connection.reset()
        else:
            for protocol in list(self.server_state.connections):
                protocol.shutdown()
        self._outage_until = max(self._outage_until, asyncio.get_running_loop().time() + seconds)
        if self._outage_task is None:
            for server in self.servers:
                server.close()
            self.servers.clear()
            # Bound all the time, but not listening: no other process can take the port.
            self._outage_task = asyncio.create_task(self._listen_again(self._bind()))
            _LOG.info("connections are refused for %g s", seconds)

    async def _listen_again(self, bound: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            while (left := self._outage_until - loop.time()) > 0:
                await asyncio.sleep(min(left, _TICK))
            self.servers.append(await loop.create_server(self._protocol, sock=bound, ssl=self.config.ssl))
        except BaseException:
            bound.close()
            raise
        self._outage_task = None
        _LOG.info("connections are accepted again")

    def _connections(self) -> list[Connection]:
        return [cast(_Protocol, protocol).connection for protocol in self.server_state.connections]

    def _protocol(self) -> asyncio.Protocol:
        return _Protocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)
