# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What happens before the service handles a request: the limit of its body, faults, its record and log line."""

import logging
import re
from collections.abc import Mapping
from urllib.parse import unquote

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ocp_emulator.base import errors
from ocp_emulator.base.paths import is_control
from ocp_emulator.faults import request_faults
from ocp_emulator.faults.http_faults import HttpFault
from ocp_emulator.faults.proxy_faults import ProxyFault
from ocp_emulator.serve.request_handling import RequestHandler, received, user_of_credentials
from ocp_emulator.service import service_of
from ocp_emulator.web.broken_responses import FaultInjection
from ocp_emulator.web.connection import connection_of
from ocp_emulator.web.proxy_injection import ProxyInjection
from ocp_emulator.web.request_context import CALLER, RequestContext, context_of
from ocp_emulator.web.request_log import RequestRecord, masked, masked_body

_LOG = logging.getLogger("ocp_emulator.requests")

# A batch of 100,000 hosts fits in.
LARGEST_BODY = 1 << 20

# One fault of these kinds hits a request.
_MODELS: Mapping[str, type[HttpFault | ProxyFault]] = {"http": HttpFault, "proxy": ProxyFault}


class EmulatorMiddleware:
    """An ASGI middleware."""

    def __init__(self, app: ASGIApp) -> None:
        """`app` is the next ASGI application."""
        self._app = app
        self._handler = RequestHandler(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection event of the server."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = {**scope, "path": _decoded(scope["raw_path"])}
        request = HTTPConnection(scope)
        service = service_of(request)
        context = RequestContext(
            scope["raw_path"].decode("latin-1"),
            service.clock,
            service.address,
            service.clock.now(),
            caller=scope["state"].get(CALLER),
        )
        request.state.context = context
        record = _record_of(scope, context)
        if not is_control(record.path):
            service.request_log.add(record)

        recording_send = _recording(send, record, context)
        try:
            body = await _read_body(receive)
            if body is None:
                return
            context.body = body
            record.body = masked_body(body)
            await service.held.deliver(service.clock.now())
            await self._handle_with_faults(scope, receive, recording_send, record)
        except errors.ApiError as error:
            await context.reply_error(error)(scope, receive, recording_send)
        finally:
            _finish(record, context)

    async def _handle_with_faults(self, scope: Scope, receive: Receive, send: Send, record: RequestRecord) -> None:
        """Handle a request whose body was read, unless a planned fault hits it: then the fault decides."""
        request = HTTPConnection(scope)
        service, context = service_of(request), context_of(request)
        hit = request_faults.first_hit(
            service.store,
            _MODELS,
            received(scope, context),
            user_of_credentials(service, scope, context),
        )
        if hit is None:
            await self._handler.handle(scope, receive, send)
            return
        record.fault = (hit.id, hit.fault.action)
        if isinstance(hit.fault, HttpFault):
            injection = FaultInjection(hit.fault, context, lambda: connection_of(request), scope, receive, send)
            await injection.run(lambda capture: self._handler.handle(scope, receive, capture))
            return
        await ProxyInjection(
            hit.fault,
            service.clock.now(),
            service.held,
            lambda send: self._handler.handle(scope, receive, send),
            lambda send, at: self._handle_again(scope, send, record, at),
            lambda path, send: self._handler.read(path, scope, receive, send),
            scope,
            receive,
            send,
        ).run()

    async def _handle_again(self, scope: Scope, send: Send, first: RequestRecord, at: int | None) -> None:
        """Handle a request that a fault delivers later or once more; it has a record of its own."""
        request = HTTPConnection(scope)
        service, context = service_of(request), context_of(request)
        again = RequestContext(context.path, context.clock, context.server, context.clock.now(), context.body)
        scope = {**scope, "state": {**scope["state"], "context": again}}
        record = _record_of(scope, again)
        record.body = masked_body(context.body)
        record.fault = first.fault
        service.request_log.add(record)
        try:
            await self._handler.handle(scope, _gone, _recording(send, record, again), at)
        finally:
            _finish(record, again)


def _decoded(path: bytes) -> str:
    """A path with its slashes as they were: one that is encoded is part of a name."""
    return "%2F".join(unquote(part) for part in re.split("%2[Ff]", path.decode("latin-1")))


def _recording(send: Send, record: RequestRecord, context: RequestContext) -> Send:
    """A `send` that keeps the status, and adds the time that the service shows."""

    async def recording_send(message: Message) -> None:
        if message["type"] == "http.response.start":
            record.status = message["status"]
            message["headers"] = [*message["headers"], (b"date", context.date().encode())]
        await send(message)

    return recording_send


def _finish(record: RequestRecord, context: RequestContext) -> None:
    """Complete the record of a request that is over, and log it."""
    if record.fault is None and context.changes is not None and context.changes.hits:
        record.fault = context.changes.hits[0]
    record.user = context.caller.user.name if context.caller else None
    record.task_id = context.task_id
    record.milliseconds = round(context.milliseconds(), 1)
    _log(context.path, record)


async def _gone() -> Message:
    """The `receive` of a request whose client has left."""
    return {"type": "http.disconnect"}


async def _read_body(receive: Receive) -> bytes | None:
    """The whole body; None when the client left. ApiError when it is too large."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise errors.too_large(LARGEST_BODY)
        if not message.get("more_body", False):
            return bytes(body)


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
