# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Before every route: the engine catches up, the caller logs in, the request gets its line in the log.

All of this comes before routing, so that a caller without credentials learns nothing about URLs or parameters, and
every error is sent in the envelope.
"""

import logging

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ocp_emulator.base import errors
from ocp_emulator.base.paths import PUBLIC_PATHS, is_control
from ocp_emulator.faults import http_faults
from ocp_emulator.security import signing
from ocp_emulator.service import Service, service_of
from ocp_emulator.web.connection import connection_of
from ocp_emulator.web.fault_injection import FaultInjection
from ocp_emulator.web.request_context import RequestContext, context_of
from ocp_emulator.web.request_log import RequestRecord, masked

_LOG = logging.getLogger("ocp_emulator.requests")

# A batch of 100,000 hosts fits in.
LARGEST_BODY = 1 << 20


class EmulatorMiddleware:
    """An ASGI middleware."""

    def __init__(self, app: ASGIApp) -> None:
        """`app` is the next ASGI application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection event of the server."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        service = service_of(request)
        context = RequestContext(
            scope["raw_path"].decode("latin-1"), service.clock, service.address, service.clock.now()
        )
        request.state.context = context
        record = _record_of(scope, context)
        if not is_control(record.path):
            service.request_log.add(record)

        async def recording_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.status = message["status"]
            await send(message)

        try:
            body = await _read_body(receive)
            if body is None:
                return
            context.body = body
            await self._handle_with_faults(scope, receive, recording_send, record)
        except errors.ApiError as error:
            await context.reply_error(error)(scope, receive, recording_send)
        finally:
            record.user = context.caller.user.name if context.caller else None
            record.task_id = context.task_id
            record.milliseconds = round(context.milliseconds(), 1)
            _log(context.path, record)

    async def _handle_with_faults(self, scope: Scope, receive: Receive, send: Send, record: RequestRecord) -> None:
        """Handle a request whose body was read, unless a fault of the plan hits it: then the fault decides."""
        request = HTTPConnection(scope)
        service, context = service_of(request), context_of(request)
        hit = http_faults.match_request(
            service.store, record.method, record.path, lambda: _user_of_credentials(service, scope, context)
        )
        if hit is None:
            await self._handle(scope, receive, send)
            return
        record.fault = (hit.id, hit.fault.action)
        injection = FaultInjection(hit.fault, context, lambda: connection_of(request), scope, receive, send)
        await injection.run(lambda capture: self._handle(scope, receive, capture))

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request: log the caller in, and let the routes reply."""
        request = HTTPConnection(scope)
        service, context = service_of(request), context_of(request)
        started = False

        async def send_with_rate_limit(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                if context.rate_limit is not None:
                    message["headers"] = [*message["headers"], *context.rate_limit.headers()]
            await send(message)

        try:
            # Reading the body may have taken long.
            context.now = service.clock.now()
            service.engine.advance(context.now)
            if scope["path"] not in PUBLIC_PATHS:
                _log_in(service, scope, context)
            await self._app(scope, receive, send_with_rate_limit)
        except errors.ApiError as error:
            await context.reply_error(error)(scope, receive, send_with_rate_limit)
        except Exception:
            _LOG.exception("trace %s: unexpected error", context.trace_id)
            if started:
                raise
            await context.reply_error(errors.internal_error())(scope, receive, send_with_rate_limit)


def _log_in(service: Service, scope: Scope, context: RequestContext) -> None:
    """Check credentials, lock-out and rate limit, in this order. ApiError 401 or 429 when that fails."""
    request, machine_now = _signed_request(scope, context), service.machine_clock.now()
    if is_control(scope["path"]):
        context.caller = service.authenticator.authenticate(request, machine_now)
        return
    client = scope["client"][0] if scope["client"] else ""
    context.caller = service.login_guard.log_in(request, machine_now, client, context.now)
    context.rate_limit = service.rate_limiter.acquire(context.caller.user.name, context.now)
    if context.rate_limit is not None and context.rate_limit.exceeded:
        raise errors.too_many_requests()


def _user_of_credentials(service: Service, scope: Scope, context: RequestContext) -> str | None:
    """The user of the credentials, if they are right. Nobody is logged in, and nothing is counted."""
    try:
        return service.authenticator.authenticate(
            _signed_request(scope, context), service.machine_clock.now()
        ).user.name
    except errors.ApiError:
        return None


async def _read_body(receive: Receive) -> bytes | None:
    """The whole body; None when the client left. ApiError when it is too large."""
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


def _signed_request(scope: Scope, context: RequestContext) -> signing.SignedRequest:
    return signing.SignedRequest(
        method=scope["method"],
        path=context.path,
        query=scope["query_string"].decode("latin-1"),
        headers=[(key.decode("latin-1"), value.decode("latin-1")) for key, value in scope["headers"]],
        body=context.body,
    )


def _record_of(scope: Scope, context: RequestContext) -> RequestRecord:
    query = masked(scope["query_string"].decode("latin-1"))
    return RequestRecord(context.now, scope["method"], scope["path"], query, context.trace_id)


def _log(path: str, record: RequestRecord) -> None:
    # Path and query are still encoded here, so that no request can add lines to the log.
    _LOG.info(
        "%s %s%s %s %.1f ms user=%s trace=%s%s",
        record.method,
        path,
        f"?{record.query}" if record.query else "",
        record.status or "gone",
        record.milliseconds,
        record.user or "-",
        record.trace_id,
        " fault={} {}".format(*record.fault) if record.fault else "",
    )
