# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a fault of kind `proxy` does to one request: redirect, replace, hold or repeat."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ocp_emulator.base.clock import SECOND
from ocp_emulator.faults.proxy_faults import ProxyFault
from ocp_emulator.web.captured_response import CapturedResponse, proxy_page
from ocp_emulator.web.held_requests import HeldRequests

_GATEWAY_TIMEOUT = 504


@dataclass(frozen=True)
class ProxyInjection:
    """A request, and the fault that hits it.

    `handle` lets the service handle the request, `handle_again` once more, at an instant or now; `read` lets it answer
    a GET of a path to the same user. They send the response.
    """

    fault: ProxyFault
    now: int
    held: HeldRequests
    handle: Callable[[Send], Awaitable[None]]
    handle_again: Callable[[Send, int | None], Awaitable[None]]
    read: Callable[[str, Send], Awaitable[None]]
    scope: Scope
    receive: Receive
    send: Send

    async def run(self) -> None:
        """Carry out the fault."""
        await _ACTIONS[self.fault.action](self)

    async def redirect(self) -> None:
        await self._reach_service()
        await self._respond(
            Response(status_code=self.fault.status or 302, headers={"Location": self.fault.location or ""})
        )

    async def replace(self) -> None:
        await self._reach_service()
        await self.read(self.fault.path or "", self.send)

    async def hold(self) -> None:
        self._hold()
        await self._respond(proxy_page(self.fault.status or _GATEWAY_TIMEOUT))

    async def repeat(self) -> None:
        if self.fault.seconds is None:
            await self.handle(CapturedResponse().capture)
            await self.handle_again(self.send, None)
        else:
            self._hold()
            await self.handle(self.send)

    def _hold(self) -> None:
        async def deliver(due: int) -> None:
            await self.handle_again(CapturedResponse().capture, due)

        self.held.hold(self.now + round((self.fault.seconds or 0) * SECOND), deliver)

    async def _reach_service(self) -> None:
        if self.fault.when == "after":
            await self.handle(CapturedResponse().capture)

    async def _respond(self, response: Response) -> None:
        await response(self.scope, self.receive, self.send)


_ACTIONS: dict[str, Callable[[ProxyInjection], Awaitable[None]]] = {
    action.__name__: action
    for action in (ProxyInjection.redirect, ProxyInjection.replace, ProxyInjection.hold, ProxyInjection.repeat)
}
