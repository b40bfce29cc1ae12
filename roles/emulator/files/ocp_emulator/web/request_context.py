# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One request on its way through the service: what is known of it, and the answers made for it."""

import secrets
import time
from dataclasses import dataclass, field
from typing import Any, cast

from starlette.requests import HTTPConnection
from starlette.responses import Response

from ocp_emulator.base import errors
from ocp_emulator.base.clock import Clock, iso
from ocp_emulator.schemas.envelope import EmptyEnvelope, Envelope, ErrorDetail, ErrorEnvelope
from ocp_emulator.schemas.restart_schemas import StartedTask
from ocp_emulator.schemas.schema import Schema
from ocp_emulator.security.authentication import Caller
from ocp_emulator.security.rate_limit import RateLimitStatus


@dataclass
class RequestContext:
    """A request. `path` is the one received, still encoded; `now` the instant at which all of it is handled.

    `task_id` is the task that it has started.
    `caller` is None where nobody has to log on, `allowance` where the calls of the caller are not limited.
    """

    path: str
    clock: Clock
    server: str
    now: int
    body: bytes = b""
    caller: Caller | None = None
    rate_limit: RateLimitStatus | None = None
    task_id: int | None = None
    trace_id: str = field(default_factory=lambda: secrets.token_hex(8))
    _began: float = field(default_factory=time.perf_counter)

    def require_caller(self) -> Caller:
        """The caller. ApiError 401 when nobody has logged on."""
        if self.caller is None:
            raise errors.missing_credentials()
        return self.caller

    def milliseconds(self) -> float:
        """How long the request has taken so far."""
        return (time.perf_counter() - self._began) * 1_000

    def reply(self, envelope: type[Envelope[Any]], data: object) -> Response:
        """The successful answer, with data of the type that the form has."""
        if isinstance(data, StartedTask):
            self.task_id = data.id
        return json_response(envelope(data=data, **self._success_fields()))

    def reply_empty(self) -> Response:
        """The successful answer of a call that has no data to give."""
        return json_response(EmptyEnvelope(**self._success_fields()))

    def _success_fields(self) -> dict[str, Any]:
        return {
            "duration": int(self.milliseconds()),
            "server": self.server,
            "status": 200,
            "successful": True,
            "timestamp": iso(self.clock.now()),
            "trace_id": self.trace_id,
        }

    def reply_error(self, error: errors.ApiError) -> Response:
        """The error envelope. That of 429 is documented to have an empty trace id (ocp-api.md, section 5)."""
        envelope = ErrorEnvelope(
            duration=int(self.milliseconds()),
            error=ErrorDetail(code=error.code, message=error.message),
            server=self.server,
            status=error.status,
            successful=False,
            timestamp=iso(self.clock.now()),
            trace_id="" if error.status == 429 else self.trace_id,
        )
        response = json_response(envelope, error.status)
        if error.status == 401:
            response.headers["WWW-Authenticate"] = 'Basic realm="OCP emulator", charset="UTF-8"'
        return response


def json_response(body: Schema, status: int = 200) -> Response:
    """A form as the answer."""
    return Response(body.to_json(), status, media_type="application/json")


def context_of(request: HTTPConnection) -> RequestContext:
    """The call that this request is."""
    return cast(RequestContext, request.state.context)
