# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The response envelope: its data, or an error with what is known of the request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._base.errors import (
    AuthenticationFailed,
    NotFound,
    PermissionDenied,
    RequestRefused,
    ResponseUnreadable,
)
from .._base.parsing import Record, integer, record
from .._base.text import one_line, truncate
from .error_codes import Meaning, meaning_of
from .response_body import Body

if TYPE_CHECKING:
    import requests

REASON_LENGTH = 500
NEXT_STEPS = {
    400: "Check the options, and whether this version of OCP has the call",
    403: "Ask for the permission, or use credentials that have it",
    404: "Check that url is the address of an OCP and that the id exists there",
    409: "Let the task that works on it come to its end, then run this again",
    429: "The request limit of this user is used up; run this again later",
}
DEFAULT_NEXT_STEP = "Check that url is the address of an OCP, not of a proxy or another service, and its version"


@dataclass(frozen=True)
class ApiResponse:
    """The ``data`` of an envelope (None if it has none) and the trace id of the request.

    ``size`` is its length in bytes, ``values`` how many values it has at most.
    """

    data: Any
    url: str
    trace_id: str | None
    size: int = field(default=0, compare=False)
    values: int = field(default=0, compare=False)


def read_envelope(response: requests.Response, body: Body, method: str, url: str) -> ApiResponse:
    """The data of a successful response with this ``body``; raises ServiceError."""
    envelope = record(body.value)
    status = response.status_code
    writes = method == "POST"
    trace_id = one_line(envelope.get("traceId"))
    if status < 400 and not isinstance(envelope.get("successful"), bool):
        raise ResponseUnreadable(
            f"The answer to {method} {url} {_defect(response, body)}. "
            "Check that url is the address of an OCP, not of a proxy or another service."
            + (f" {outcome_sentence(writes)}" if writes else ""),
            url=url,
            trace_id=trace_id,
            may_have_run=writes,
        )
    if status >= 400 or not envelope["successful"]:
        raise _refusal(envelope, status, method, url, trace_id)
    return ApiResponse(envelope.get("data"), url, trace_id, body.size, body.values)


def _defect(response: requests.Response, body: Body) -> str:
    """Why a response is not an envelope."""
    kind = one_line(response.headers.get("Content-Type")) or "no content type"
    return body.unread or f"is no OCP response envelope ({body.size} bytes, {kind})"


def _refusal(envelope: Record, status: int, method: str, url: str, trace_id: str | None) -> RequestRefused:
    if status < 400:
        status = integer(envelope.get("status")) or status
    error = record(envelope.get("error"))
    reason = truncate(str(error.get("message") or ""), REASON_LENGTH)
    meaning = meaning_of(error.get("code"))
    kind = _kind(status, meaning)
    may_have_run = method == "POST" and status >= 500
    sentences = [f"{method} {url} was refused with status {status}" + (f": {reason.rstrip('.')}" if reason else "")]
    if trace_id:
        sentences.append(f"Trace id {trace_id}")
    if status >= 500:
        sentences.append(outcome_sentence(may_have_run).rstrip("."))
    if meaning is not None:
        sentences.append(meaning.value)
    elif status < 500 and kind is not AuthenticationFailed:
        sentences.append(NEXT_STEPS.get(status, DEFAULT_NEXT_STEP))
    return kind(
        ". ".join(sentences) + ".",
        status=status,
        reason=reason,
        url=url,
        trace_id=trace_id,
        may_have_run=may_have_run,
        state_decides=meaning not in (Meaning.NO_PERMISSION, Meaning.NOT_FOUND),
    )


def _kind(status: int, meaning: Meaning | None) -> type[RequestRefused]:
    """By status, and for a 400, which most refusals have, by the error code."""
    if status == 400 and meaning is Meaning.NOT_FOUND:
        return NotFound
    if status == 400 and meaning is Meaning.NO_PERMISSION:
        return PermissionDenied
    return {401: AuthenticationFailed, 403: PermissionDenied, 404: NotFound}.get(status, RequestRefused)


def outcome_sentence(writes: bool) -> str:
    if not writes:
        return "Check that the service is well, and that url has the scheme it speaks; run this again."
    return (
        "It is not known whether the service carried it out: "
        "look at its newest tasks (oceanbase.ocp.task_info) before sending it again."
    )
