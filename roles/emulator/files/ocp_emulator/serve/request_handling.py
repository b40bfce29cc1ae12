# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The order in which a request is handled: tasks catch up, credentials, lock-out, rate limit, routes.

All of this happens before routing, so a caller without credentials learns nothing about URLs or parameters, and every
error is sent in the envelope.
"""

import logging
import sqlite3
from collections.abc import Callable

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ocp_emulator.base import errors
from ocp_emulator.base.paths import PUBLIC_PATHS, is_control
from ocp_emulator.faults.request_faults import Received
from ocp_emulator.security import signing
from ocp_emulator.serve.replayed_answers import Replay
from ocp_emulator.service import Service, service_of
from ocp_emulator.store.database import is_full
from ocp_emulator.tasks import audit
from ocp_emulator.web.false_answers import AnswerChanges
from ocp_emulator.web.request_context import RequestContext, context_of

_LOG = logging.getLogger("ocp_emulator.requests")

_READS = ("GET", "HEAD")
# Not in the envelope of the service: it is the emulator that fails.
_FULL = "The emulator's disk is full: it answers reads only.\n"


class RequestHandler:
    """Handles requests by the routes of an application; the state of each has a context with the body."""

    def __init__(self, app: ASGIApp) -> None:
        """`app` has the routes."""
        self._replay = Replay(app)
        self._is_full = False

    async def handle(self, scope: Scope, receive: Receive, send: Send, at: int | None = None) -> None:
        """Handle a request now, or at an instant before at which it was due."""
        request = HTTPConnection(scope)
        service, context = service_of(request), context_of(request)
        started = False

        async def send_with_rate_limit(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                if context.task_id is not None:
                    audit.note(service.store, context.task_id, _client(scope))
                if context.rate_limit is not None:
                    message["headers"] = [*message["headers"], *context.rate_limit.headers()]
            await send(message)

        try:
            # Reading the body may have taken long, and time does not go back.
            context.now = service.clock.now() if at is None else max(at, service.store.instant)
            self._catch_up(service, context, scope["method"])
            context.changes = _changes(service, scope, context)
            if _needs_login(service, scope["path"]) and context.caller is None:
                log_in(service, scope, context)
            changed = _changed_scope(service, scope, context, context.changes)
            await self._replay.answer(service, changed, receive, send_with_rate_limit)
            if scope["method"] not in _READS:
                self._is_full = False
        except errors.ApiError as error:
            await context.reply_error(error)(scope, receive, send_with_rate_limit)
        except Exception as error:
            answer = self._failure(error, context)
            if started:
                raise
            await answer(scope, receive, send_with_rate_limit)

    def _catch_up(self, service: Service, context: RequestContext, method: str) -> None:
        """Bring the service to now; while the disk is full, let reads show what it was last."""
        try:
            service.catch_up(context.now)
        except sqlite3.OperationalError as error:
            if not is_full(error) or method not in _READS:
                raise
            self._note_full(error)
            context.now = service.store.instant

    def _failure(self, error: Exception, context: RequestContext) -> Response:
        """The answer to a request that failed for a reason of the emulator; it is logged."""
        if isinstance(error, sqlite3.OperationalError) and is_full(error):
            self._note_full(error)
            return PlainTextResponse(_FULL, 507)
        _LOG.exception("trace %s: unexpected error", context.trace_id)
        return context.reply_error(errors.internal_error())

    def _note_full(self, error: sqlite3.Error) -> None:
        if not self._is_full:
            _LOG.error("the database cannot be written: %s; until it can, only reads are answered", error)
        self._is_full = True

    async def read(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond as to a GET of `path` by the user of this request, who logs in with it unless that is done."""
        request = HTTPConnection(scope)
        service, context = service_of(request), context_of(request)
        try:
            if context.caller is None:
                log_in(service, scope, context)
        except errors.ApiError as error:
            await context.reply_error(error)(scope, receive, send)
            return
        decoded, _mark, query = path.partition("?")
        inner = RequestContext(path, context.clock, context.server, context.now, caller=context.caller)
        await self.handle(
            {
                **scope,
                "method": "GET",
                "path": decoded,
                "raw_path": decoded.encode(),
                "query_string": query.encode(),
                "state": {**scope["state"], "context": inner},
            },
            receive,
            send,
        )


def user_of_credentials(service: Service, scope: Scope, context: RequestContext) -> Callable[[], str | None]:
    """The user of the credentials, if they are right. Nobody is logged in, and nothing is counted."""

    def user() -> str | None:
        try:
            return service.authenticator.authenticate(
                _signed_request(scope, context), service.machine_clock.now()
            ).user.name
        except errors.ApiError:
            return None

    return user


def received(scope: Scope, context: RequestContext) -> Received:
    """A request as faults see it."""
    return Received(scope["method"], scope["path"], scope["query_string"], context.body)


def log_in(service: Service, scope: Scope, context: RequestContext) -> None:
    """Check credentials, lock-out and rate limit, in this order. ApiError 401 or 429 when that fails."""
    request, machine_now = _signed_request(scope, context), service.machine_clock.now()
    if is_control(scope["path"]):
        context.caller = service.authenticator.authenticate(request, machine_now)
        return
    context.caller = service.login_guard.log_in(request, machine_now, _client(scope), context.now)
    context.rate_limit = service.rate_limiter.acquire(context.caller.user.name, context.now)
    if context.rate_limit is not None and context.rate_limit.exceeded:
        raise errors.too_many_requests()


def _needs_login(service: Service, path: str) -> bool:
    """A replay of exchanges does not know the credentials of those who sent them."""
    return path not in PUBLIC_PATHS and (service.exchanges is None or is_control(path))


def _client(scope: Scope) -> str:
    return scope["client"][0] if scope["client"] else ""


def _changes(service: Service, scope: Scope, context: RequestContext) -> AnswerChanges:
    """The changes of planned faults to the answer."""
    return AnswerChanges.of_request(
        service.store, received(scope, context), user_of_credentials(service, scope, context)
    )


def _changed_scope(service: Service, scope: Scope, context: RequestContext, changes: AnswerChanges) -> Scope:
    """The request with the changes of planned faults to its query and its database."""
    state = scope["state"]
    if changes.lag is not None:
        lagging = service.lagging(changes.lag, context.now)
        changes.db = lagging.store.db
        context.now -= changes.lag
        state = {**state, "service": lagging}
    return {**scope, "query_string": changes.query(scope["query_string"]), "state": state}


def _signed_request(scope: Scope, context: RequestContext) -> signing.SignedRequest:
    return signing.SignedRequest(
        method=scope["method"],
        path=context.path,
        query=scope["query_string"].decode("latin-1"),
        headers=[(key.decode("latin-1"), value.decode("latin-1")) for key, value in scope["headers"]],
        body=context.body,
    )
