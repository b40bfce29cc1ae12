# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What every request passes first: the engine catches up, the caller logs on, the request gets its line in the log.

All of it stands before routing, so that a caller without credentials learns nothing about URLs or parameters, and an
error of any kind leaves in the envelope.
"""

import logging

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ocp_emulator.base import errors
from ocp_emulator.base.paths import PUBLIC_PATHS, is_control
from ocp_emulator.faults import http_faults
from ocp_emulator.security import signing
from ocp_emulator.service import Service, service_of
from ocp_emulator.web.fault_injection import Disturbance
from ocp_emulator.web.network import connection_of
from ocp_emulator.web.request_context import Call, call_of
from ocp_emulator.web.request_log import Seen, masked

_LOG = logging.getLogger("ocp_emulator.requests")

# A batch of 100,000 hosts fits in.
LARGEST_BODY = 1 << 20


class Front:
    """An ASGI middleware."""

    def __init__(self, app: ASGIApp) -> None:
        """`app` is what comes behind."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection event of the server."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        service = service_of(request)
        call = Call(scope["raw_path"].decode("latin-1"), service.clock, service.address, service.clock.now())
        request.state.call = call
        seen = _seen(scope, call)
        if not is_control(seen.path):
            service.history.add(seen)

        async def watched_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen.status = message["status"]
            await send(message)

        try:
            body = await _read(receive)
            if body is None:
                return
            call.body = body
            hit = http_faults.take(service.store, seen.method, seen.path, lambda: _user(service, scope, call))
            if hit is None:
                await self._handle(scope, receive, watched_send)
            else:
                seen.fault = (hit.id, hit.fault.action)
                disturbance = Disturbance(hit.fault, call, lambda: connection_of(request), scope, receive, watched_send)
                await disturbance.carry_out(lambda answer: self._handle(scope, receive, answer))
        except errors.ApiError as error:
            await call.refuse(error)(scope, receive, watched_send)
        finally:
            seen.user = call.caller.user.name if call.caller else None
            seen.task_id = call.task_id
            seen.milliseconds = round(call.milliseconds(), 1)
            _log(call.path, seen)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that has been read."""
        request = HTTPConnection(scope)
        service, call = service_of(request), call_of(request)
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                if call.allowance is not None:
                    message["headers"] = [*message["headers"], *call.allowance.headers()]
            await send(message)

        try:
            # Reading may have waited for the client.
            call.now = service.clock.now()
            service.engine.advance(call.now)
            if scope["path"] not in PUBLIC_PATHS:
                _admit(service, scope, call)
            await self._app(scope, receive, sending)
        except errors.ApiError as error:
            await call.refuse(error)(scope, receive, sending)
        except Exception:
            _LOG.exception("trace %s: unexpected error", call.trace_id)
            if started:
                raise
            await call.refuse(errors.unexpected())(scope, receive, sending)


def _admit(service: Service, scope: Scope, call: Call) -> None:
    """Let the caller in. ApiError 401 or 429 when that is not to be."""
    message, machine_now = _as_received(scope, call), service.machine_clock.now()
    if is_control(scope["path"]):
        call.caller = service.authenticator.authenticate(message, machine_now)
        return
    client = scope["client"][0] if scope["client"] else ""
    call.caller = service.admission.log_on(message, machine_now, client, call.now)
    call.allowance = service.admission.take(call.caller, call.now)
    if call.allowance is not None and call.allowance.exceeded:
        raise errors.too_many_requests()


def _user(service: Service, scope: Scope, call: Call) -> str | None:
    """The user of the credentials, if they are right; nobody is let in or counted by that."""
    try:
        return service.authenticator.authenticate(_as_received(scope, call), service.machine_clock.now()).user.name
    except errors.ApiError:
        return None


async def _read(receive: Receive) -> bytes | None:
    """The whole body; None when the client has gone. ApiError when it is too large."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise errors.bad_request(f"The body is larger than {LARGEST_BODY} bytes.")
        if not message.get("more_body", False):
            return bytes(body)


def _as_received(scope: Scope, call: Call) -> signing.Message:
    return signing.Message(
        method=scope["method"],
        path=call.path,
        query=scope["query_string"].decode("latin-1"),
        headers=[(key.decode("latin-1"), value.decode("latin-1")) for key, value in scope["headers"]],
        body=call.body,
    )


def _seen(scope: Scope, call: Call) -> Seen:
    query = masked(scope["query_string"].decode("latin-1"))
    return Seen(call.now, scope["method"], scope["path"], query, call.trace_id)


def _log(path: str, seen: Seen) -> None:
    # Path and query are still encoded here, so that nobody writes lines of his own into the log.
    _LOG.info(
        "%s %s%s %s %.1f ms user=%s trace=%s%s",
        seen.method,
        path,
        f"?{seen.query}" if seen.query else "",
        seen.status or "gone",
        seen.milliseconds,
        seen.user or "-",
        seen.trace_id,
        " fault={} {}".format(*seen.fault) if seen.fault else "",
    )
