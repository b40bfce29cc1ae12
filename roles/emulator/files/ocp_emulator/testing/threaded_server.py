# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The emulator in a thread of the test's process: its start and end, and calls that go past its socket."""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.types import Message, Scope

from ocp_emulator.base.permissions import Permission
from ocp_emulator.fleet.entities import User
from ocp_emulator.security.authentication import Caller
from ocp_emulator.serve.app import create_app
from ocp_emulator.serve.run_server import Certificate, listen, located, make_server, url_of
from ocp_emulator.service import Service, Settings
from ocp_emulator.web.connection import CONNECTION, Connection
from ocp_emulator.web.request_context import CALLER

Result = TypeVar("Result")

# Far longer than a start takes on a busy machine.
_SECONDS_TO_START = 60

_TEST = Caller(User(0, "test", "", (Permission.ADMIN,)), by_password=False)


class ControlError(ValueError):
    """A call of the control API that was refused; the message is the emulator's."""


class ThreadedServer:
    """A running emulator. `url` is its address."""

    def __init__(self, settings: Settings, host: str, port: int, certificate: Certificate | None) -> None:
        """Start it. Raises OSError when it cannot listen there, StoreError when its database cannot be used."""
        bound = listen(host, port)
        settings = located(settings, bound)
        try:
            self._app: FastAPI = create_app(settings)
        except BaseException:
            bound.close()
            raise
        self.url = url_of(settings, certificate)
        self._listens = threading.Event()
        self._server = make_server(self._app, bound, certificate, self._ready)
        # It ends soon after the test, while the next one runs; the process waits for it at exit.
        self._thread = threading.Thread(
            target=partial(self._server.run, sockets=[bound]), name=f"emulator at {self.url}"
        )
        self._thread.start()
        if not self._listens.wait(_SECONDS_TO_START):
            raise TimeoutError(f"the emulator does not listen at {self.url} after {_SECONDS_TO_START} seconds")

    def close(self) -> None:
        """Refuse connections from now on, and let the thread end what it has begun."""
        self._wait_for(self._end())

    def run(self, function: Callable[[Service], Result]) -> Result:
        """The result of the function on the service, called between two requests, after all tasks have caught up."""

        async def call() -> Result:
            service: Service = self._app.state.service
            service.catch_up(service.clock.now())
            return function(service)

        return self._wait_for(call())

    def call(self, method: str, path: str, body: object = None) -> Any:
        """The data of a call of the control API, whatever the state of the network and the logins.

        Raises ControlError.
        """
        return self._wait_for(self._call(method, path, body))

    def _wait_for(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _call(self, method: str, path: str, body: object) -> Any:
        request = [{"type": "http.request", "body": b"" if body is None else json.dumps(body).encode()}]
        answer: list[Message] = []

        async def receive() -> Message:
            return request.pop() if request else {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            answer.append(message)

        await self._app(self._scope(method, path), receive, send)
        envelope = json.loads(b"".join(message.get("body", b"") for message in answer))
        if not envelope["successful"]:
            raise ControlError(envelope["error"]["message"])
        return envelope.get("data")

    def _scope(self, method: str, target: str) -> Scope:
        url = urlsplit(target)
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "method": method,
            "path": url.path,
            "raw_path": url.path.encode(),
            "root_path": "",
            "query_string": url.query.encode(),
            "headers": [(b"content-type", b"application/json")],
            "client": None,
            "server": None,
            "state": {CALLER: _TEST, CONNECTION: Connection(asyncio.Transport(), self._server.outage)},
        }

    def _ready(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._listens.set()

    async def _end(self) -> None:
        self._server.should_exit = True
        for server in self._server.servers:
            server.close()
