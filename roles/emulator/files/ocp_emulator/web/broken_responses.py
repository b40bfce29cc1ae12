# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What each action of a fault of kind `http` sends: nothing, half an answer, garbage, an error; and when."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.responses import PlainTextResponse, Response
from starlette.types import Message, Receive, Scope, Send

from ocp_emulator.base import errors
from ocp_emulator.faults.http_faults import HttpFault
from ocp_emulator.schemas.envelope import Envelope
from ocp_emulator.security.rate_limit import RateLimitStatus
from ocp_emulator.web.captured_response import CapturedResponse, proxy_page
from ocp_emulator.web.connection import Connection
from ocp_emulator.web.request_context import RequestContext

Handler = Callable[[Send], Awaitable[None]]

# The rate limit that a fault with status 429 shows.
_CALLS = 100
_RESET = 1

_REASON = "A fault of the emulator's plan made this call fail."
_GARBAGE = b'\x1f\x8b\x00{"data": \xff\xfe <<< neither JSON nor text >>>'
_CODES = {401: errors.BAD_CREDENTIALS, 403: errors.NOT_AUTHORIZED, 409: errors.UNSPECIFIC, 429: errors.UNSPECIFIC}


def _piece(body: bytes) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": True}


@dataclass(frozen=True)
class FaultInjection:
    """A request, and the fault that hits it. Only faults that need the connection call `connection`."""

    fault: HttpFault
    context: RequestContext
    connection: Callable[[], Connection]
    scope: Scope
    receive: Receive
    send: Send

    async def run(self, handle: Handler) -> None:
        """Carry out the fault; `handle` lets the service handle the request."""
        captured = CapturedResponse()
        if self.fault.takes_effect():
            await handle(captured.capture)
        await _ACTIONS[self.fault.action](self, captured)

    async def refuse(self, captured: CapturedResponse) -> None:
        # Before the response, so that a client that has it is refused.
        self.connection().outage(self._seconds(), reset=False)
        await captured.send_head(self.send, (b"connection", b"close"))
        await captured.send_rest(self.send)

    async def reset(self, _captured: CapturedResponse) -> None:
        self.connection().reset()
        await self._client_left()

    async def drop(self, _captured: CapturedResponse) -> None:
        with self.connection().abandonable():
            await self._client_left()

    async def slow(self, captured: CapturedResponse) -> None:
        with self.connection().abandonable():
            left = await self._client_left(self._seconds())
        if not left:
            await captured.send_head(self.send)
            await captured.send_rest(self.send)

    async def trickle(self, captured: CapturedResponse) -> None:
        size = self.fault.size or 1
        last = (len(captured.body) - 1) // size * size
        await captured.send_head(self.send)
        with self.connection().abandonable():
            for first in range(0, last, size):
                await self.send(_piece(captured.body[first : first + size]))
                if await self._client_left(self._seconds()):
                    return
        await captured.send_rest(self.send, last)

    async def truncate(self, captured: CapturedResponse) -> None:
        await captured.send_head(self.send)
        length = len(captured.body)
        await self.send(_piece(captured.body[: min(self.fault.size or length // 2, length - 1)]))
        self.connection().close()
        await self._client_left()

    async def garbage(self, _captured: CapturedResponse) -> None:
        await self._respond(Response(_GARBAGE, media_type="application/json"))

    async def html(self, _captured: CapturedResponse) -> None:
        await self._respond(proxy_page(self.fault.response_status()))

    async def error(self, _captured: CapturedResponse) -> None:
        status = self.fault.response_status()
        code = _CODES.get(status, errors.UNEXPECTED)
        response = self.context.reply_error(errors.ApiError(status, code, self.fault.message or _REASON))
        if status == 429:
            response.raw_headers.extend(RateLimitStatus(_CALLS, 0, self.fault.reset or _RESET).headers())
        if self.fault.retry_after is not None:
            response.headers["Retry-After"] = str(self.fault.retry_after)
        await self._respond(response)

    async def respond(self, _captured: CapturedResponse) -> None:
        fault, status = self.fault, self.fault.response_status()
        if fault.code is not None:
            response = self.context.reply_error(errors.ApiError(status, fault.code, fault.message or _REASON))
        elif fault.data is not None:
            response = self.context.reply(Envelope[Any], fault.data)
            response.status_code = status
        elif isinstance(fault.body, str):
            response = PlainTextResponse(fault.body, status)
        else:
            response = Response(b"" if fault.body is None else json.dumps(fault.body).encode(), status)
            response.headers.update({} if fault.body is None else {"Content-Type": "application/json"})
        response.headers.update(fault.headers or {})
        await self._respond(response)

    async def restart(self, captured: CapturedResponse) -> None:
        self.connection().outage(self._seconds(), reset=True)
        await self.reset(captured)

    def _seconds(self) -> float:
        return self.fault.seconds or 0

    async def _respond(self, response: Response) -> None:
        await response(self.scope, self.receive, self.send)

    async def _client_left(self, seconds: float | None = None) -> bool:
        """Wait until the client leaves, at most this many seconds; returns whether it did."""
        try:
            async with asyncio.timeout(seconds):
                while (await self.receive())["type"] != "http.disconnect":
                    pass
        except TimeoutError:
            return False
        return True


_ACTIONS: dict[str, Callable[[FaultInjection, CapturedResponse], Awaitable[None]]] = {
    action.__name__: action
    for action in (
        FaultInjection.refuse,
        FaultInjection.reset,
        FaultInjection.drop,
        FaultInjection.slow,
        FaultInjection.trickle,
        FaultInjection.truncate,
        FaultInjection.garbage,
        FaultInjection.html,
        FaultInjection.error,
        FaultInjection.restart,
        FaultInjection.respond,
    )
}
