# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How a request is answered in a replay: by exchanges alone; or by the routes now and at the start, and a recording."""

import json
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ocp_emulator.base.paths import OWN_PATHS, is_control
from ocp_emulator.base.time_format import iso
from ocp_emulator.recordings.exchanges import Exchanges
from ocp_emulator.recordings.recording_file import RecordedAnswer
from ocp_emulator.service import Service
from ocp_emulator.web.captured_response import CapturedResponse
from ocp_emulator.web.request_context import RequestContext, context_of


class Replay:
    """The routes of an application, seen through a recording."""

    def __init__(self, app: ASGIApp) -> None:
        """`app` has the routes."""
        self._app = app

    async def answer(self, service: Service, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request whose caller is known."""
        start = service.start
        if service.exchanges is not None and not is_control(scope["path"]) and scope["path"] not in OWN_PATHS:
            await _from_exchanges(service.exchanges, scope, receive, send)
            return
        if start is None or is_control(scope["path"]):
            await self._app(scope, receive, send)
            return
        refusal = start.answers.refusal(scope["path"]) if scope["method"] == "GET" else None
        if refusal is not None:
            await _as_recorded(refusal, scope, receive, send)
            return
        live = CapturedResponse()
        await self._app(scope, receive, live.capture)
        # The router notes what it has found.
        if "endpoint" not in scope and start.answers.unknown is not None:
            await _as_recorded(start.answers.unknown, scope, receive, send)
            return
        if scope["method"] == "GET":
            await self._merge(service, live, scope, receive)
        await live.send_head(send)
        await live.send_rest(send)

    async def _merge(self, service: Service, live: CapturedResponse, scope: Scope, receive: Receive) -> None:
        """Put into `live` what the recording shows."""
        start = service.start
        if start is None:
            return
        context = context_of(HTTPConnection(scope))
        before = RequestContext(context.path, context.clock, context.server, start.at, caller=context.caller)
        base = CapturedResponse()
        state = {**scope["state"], "service": start.service(service), "context": before}
        await self._app({**scope, "state": state}, receive, base.capture)
        if live.start["status"] != 200 or base.start["status"] != 200:
            recorded = start.answers.recorded(scope["path"])
            if recorded is not None and live.start["status"] == base.start["status"]:
                # The emulator never had it.
                live.start["status"], live.body = recorded.status, _json(_body(recorded, context))
                _measure(live)
            return
        if (b"content-type", b"application/json") not in live.start["headers"]:
            return
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        envelope, was = json.loads(live.body), json.loads(base.body)
        is_enveloped = "successful" in envelope
        data, old = (envelope.get("data"), was.get("data")) if is_enveloped else (envelope, was)
        shown = start.answers.shown(scope["path"], query, old, data)
        live.body = _json({**envelope, "data": shown} if is_enveloped else shown)
        _measure(live)


async def _from_exchanges(exchanges: Exchanges, scope: Scope, receive: Receive, send: Send) -> None:
    context = context_of(HTTPConnection(scope))
    query = scope["query_string"].decode("latin-1")
    found = exchanges.answer(scope["method"], context.path, query, context.body)
    if found is None:
        text = f"The recording has no answer to {scope['method']} {context.path}.\n"
        await PlainTextResponse(text, 501)(scope, receive, send)
        return
    if found.form == "json":
        response = Response(_json(found.answer), found.status, found.headers, "application/json")
    else:
        response = _of_another_form(found.form, found.status)
        response.headers.update(found.headers)
    await response(scope, receive, send)


def _measure(answer: CapturedResponse) -> None:
    headers = [each for each in answer.start["headers"] if each[0] != b"content-length"]
    answer.start["headers"] = [*headers, (b"content-length", str(len(answer.body)).encode())]


async def _as_recorded(answer: RecordedAnswer, scope: Scope, receive: Receive, send: Send) -> None:
    await _response(answer, context_of(HTTPConnection(scope)))(scope, receive, send)


def _body(answer: RecordedAnswer, context: RequestContext) -> Any:
    """The recorded body; an envelope has the time and the trace id of this answer."""
    if not isinstance(answer.body, dict) or "successful" not in answer.body:
        return answer.body
    new = {"timestamp": iso(context.shown_now()), "traceId": context.trace_id, "server": context.server}
    return {key: new.get(key, value) for key, value in answer.body.items()}


def _response(answer: RecordedAnswer, context: RequestContext) -> Response:
    if answer.form == "json":
        return Response(_json(_body(answer, context)), answer.status, media_type="application/json")
    return _of_another_form(answer.form, answer.status)


def _of_another_form(form: str, status: int) -> Response:
    text = f"A body of the form {form}, which is not part of the recording.\n"
    if form == "html":
        return HTMLResponse(f"<html><body><p>{text}</p></body></html>\n", status)
    return PlainTextResponse("" if form == "empty" else text, status)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
