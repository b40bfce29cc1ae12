# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The proxy: passes each request on once, keeps it and its answer, and answers 502 if the service did not."""

from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from ocp_emulator.record.recorder import Recorder
from ocp_emulator.record.upstream import Upstream, UpstreamError

_LARGEST_BODY = 16 << 20


class RecordingProxy:
    """An ASGI application."""

    def __init__(self, upstream: Upstream, recorder: Recorder, tell: Callable[[str], None]) -> None:
        """`tell` gets a line for each request that was not answered."""
        self._upstream = upstream
        self._recorder = recorder
        self._tell = tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one event of the server."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            await self._handle(scope, receive, send)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > _LARGEST_BODY:
                await PlainTextResponse("The body is too large for this proxy.\n", 413)(scope, receive, send)
                return
        path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
        target = f"{path}?{query}" if query else path
        try:
            answer = await run_in_threadpool(
                self._upstream.send, scope["method"], target, scope["headers"], bytes(body)
            )
        except UpstreamError as error:
            text = f"no answer of {self._upstream.url}: {error}"
            self._tell(text)
            await PlainTextResponse(f"ocp-emulator record: {text}\n", 502)(scope, receive, send)
            return
        try:
            self._recorder.add(scope["method"], path, query, bytes(body), answer)
        except Exception as error:
            # A full disk, or JSON that is too deep: the client gets its answer nevertheless.
            self._tell(f"a {scope['method']} is not recorded: {type(error).__name__}")
        length = (b"content-length", str(len(answer.body)).encode())
        await send({"type": "http.response.start", "status": answer.status, "headers": [*answer.headers, length]})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else answer.body})


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
