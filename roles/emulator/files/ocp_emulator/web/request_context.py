# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The context of one request: caller, time, trace id, and the envelope and headers of its answer."""

import secrets
import time
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, cast

from starlette.requests import HTTPConnection
from starlette.responses import Response

from ocp_emulator.base import errors
from ocp_emulator.base.clock import SECOND, Clock
from ocp_emulator.base.time_format import iso
from ocp_emulator.schemas.envelope import EmptyEnvelope, Envelope, ErrorDetail, ErrorEnvelope
from ocp_emulator.schemas.restart_schemas import StartedTask
from ocp_emulator.schemas.schema import Schema
from ocp_emulator.security.authentication import Caller
from ocp_emulator.security.rate_limit import RateLimitStatus
from ocp_emulator.web.false_answers import AnswerChanges

# Under this key the state of a request has its caller, if that needs no login: a test in the process of the emulator.
CALLER = "caller"


@dataclass
class RequestContext:
    """A request. `path` is as received, still encoded; `now` is the instant at which all of it is handled.

    `task_id` is the task that it started, `changes` what faults change in the answer. `caller` is None where no login
    is needed, `rate_limit` where the caller has no limit.
    """

    path: str
    clock: Clock
    server: str
    now: int
    body: bytes = b""
    caller: Caller | None = None
    rate_limit: RateLimitStatus | None = None
    task_id: int | None = None
    changes: AnswerChanges | None = None
    trace_id: str = field(default_factory=lambda: secrets.token_hex(8))
    _began: float = field(default_factory=time.perf_counter)

    def require_caller(self) -> Caller:
        """The caller. ApiError 401 when there is none."""
        if self.caller is None:
            raise errors.missing_credentials()
        return self.caller

    def milliseconds(self) -> float:
        """The duration of the request so far."""
        return (time.perf_counter() - self._began) * 1_000

    def reply(self, envelope: type[Envelope[Any]], data: object) -> Response:
        """The successful response, with data of the type that the envelope has."""
        if isinstance(data, StartedTask):
            self.task_id = data.id
        shown = self.changes.data(data, self.now) if self.changes else data
        return self._respond(envelope(data=shown, **self._success_fields()))

    def reply_empty(self) -> Response:
        """The successful response without data."""
        return self._respond(EmptyEnvelope(**self._success_fields()))

    def _success_fields(self) -> dict[str, Any]:
        return {
            "duration": int(self.milliseconds()),
            "server": self.server,
            "status": 200,
            "successful": True,
            "timestamp": iso(self.shown_now()),
            "trace_id": self.trace_id,
        }

    def shown_now(self) -> int:
        """The time that the service shows as its own."""
        now = self.clock.now()
        return self.changes.shown_now(now) if self.changes else now

    def date(self) -> str:
        """The header Date, by the clock that the service shows."""
        now = self.clock.now()
        return formatdate((self.changes.shown_time(now) if self.changes else now) / SECOND, usegmt=True)

    def _respond(self, body: Schema, status: int = 200) -> Response:
        text = body.to_json()
        return _json(self.changes.shown_text(text, self.clock.now()) if self.changes else text, status)

    def reply_error(self, error: errors.ApiError) -> Response:
        """The error response. That of 429 is documented to have an empty trace id."""
        envelope = ErrorEnvelope(
            duration=int(self.milliseconds()),
            error=ErrorDetail(code=error.code, message=error.message),
            server=self.server,
            status=error.status,
            successful=False,
            timestamp=iso(self.shown_now()),
            trace_id="" if error.status == 429 else self.trace_id,
        )
        response = self._respond(envelope, error.status)
        if error.status == 401:
            response.headers["WWW-Authenticate"] = 'Basic realm="OCP emulator", charset="UTF-8"'
        return response


def json_response(body: Schema, status: int = 200) -> Response:
    """A response with this body."""
    return _json(body.to_json(), status)


def _json(text: str, status: int) -> Response:
    return Response(text, status, media_type="application/json")


def context_of(request: HTTPConnection) -> RequestContext:
    """The context of this request."""
    return cast(RequestContext, request.state.context)
