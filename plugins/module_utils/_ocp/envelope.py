# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How a response envelope is read: its data, or the error by HTTP status, with the advice for each status."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._base.errors import (
    AuthenticationFailed,
    NotFound,
    PageNotFound,
    PermissionDenied,
    RateLimited,
    RequestRefused,
    ResponseUnreadable,
)
from .._base.parsing import Record, integer, record, text
from .._base.text import one_line, truncate
from .error_codes import Meaning, meaning_of
from .may_have_run import may_have_run, outcome_sentence
from .response_body import Body
from .retries import TOO_MANY_REQUESTS, seconds_to_wait

if TYPE_CHECKING:
    import requests

REASON_LENGTH = 500
BUSY_STATUSES = (409, 423)
NEXT_STEPS = {
    400: "Check the options, and whether this version of OCP has the call",
    403: "Ask for the permission, or use credentials that have it",
    404: "Check that url is the address of an OCP and that the id exists there",
    409: "Wait until the task that works on it has ended, then run this again",
    429: "The request limit of this user is used up; run this again later",
}
DEFAULT_NEXT_STEP = "Check that url is the address of an OCP, not of a proxy or another service, and its version"

_KINDS = {401: AuthenticationFailed, 403: PermissionDenied, 404: NotFound, TOO_MANY_REQUESTS: RateLimited}


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
    trace_id = one_line(envelope.get("traceId"))
    if response.status_code < 400 and not isinstance(envelope.get("successful"), bool):
        unknown = may_have_run(method)
        raise ResponseUnreadable(
            f"The answer to {method} {url} {_defect(response, body)}.",
            advice="Check that url is the address of an OCP, not of a proxy or another service."
            + (f" {outcome_sentence(unknown, method)}" if unknown else ""),
            url=url,
            trace_id=trace_id,
            may_have_run=unknown,
        ).without_envelope()
    if response.status_code >= 400 or not envelope["successful"]:
        raise _refusal(envelope, response, body, method, url)
    return ApiResponse(envelope.get("data"), url, trace_id, body.size, body.values)


def read_without_envelope(response: requests.Response, body: Body, method: str, url: str) -> ApiResponse:
    """The object in a response that has no envelope, as that of the version; one with an envelope is read as such.

    Raises ServiceError.
    """
    bare = record(body.value)
    if response.status_code >= 400 or not bare or "successful" in bare:
        return read_envelope(response, body, method, url)
    return ApiResponse(bare, url, None, body.size, body.values)


def read_time(response: requests.Response, body: Body, method: str, url: str) -> ApiResponse:
    """The time in a response that is only its text; one with an envelope is read as such. Raises ServiceError."""
    if response.status_code >= 400 or body.time is None:
        return read_envelope(response, body, method, url)
    return ApiResponse(body.time, url, None, body.size, body.values)


def _defect(response: requests.Response, body: Body) -> str:
    """Why a response is not an envelope."""
    kind = one_line(response.headers.get("Content-Type")) or "no content type"
    return body.unread or f"is not an OCP response envelope ({body.size} bytes, {kind})"


def _refusal(envelope: Record, response: requests.Response, body: Body, method: str, url: str) -> RequestRefused:
    in_http, in_envelope = response.status_code, integer(envelope.get("status"))
    status = in_http if in_http >= 400 else in_envelope or in_http
    error = record(envelope.get("error"))
    reason = truncate(text(error.get("message")) or "", REASON_LENGTH)
    trace_id = one_line(envelope.get("traceId"))
    meaning = meaning_of(error.get("code"))
    is_refusal = envelope.get("successful") is False
    kind = _kind(status, meaning, has_envelope=is_refusal)
    named = {status for status in (in_http if in_http >= 400 else None, in_envelope) if status is not None}
    unknown = may_have_run(method, refused_with=named if is_refusal else ())
    sentences = [f"{method} {url} was refused with status {status}" + (f": {reason.rstrip('.')}" if reason else "")]
    if trace_id:
        sentences.append(f"Trace id {trace_id}")
    if unknown and not is_refusal:
        sentences.append(f"The answer {_defect(response, body)}")
    advice = [outcome_sentence(unknown, method)] if unknown or status >= 500 else []
    if kind is AuthenticationFailed:
        pass  # the session knows more
    elif meaning is not None:
        advice.append(f"{meaning.value}.")
    elif not unknown and status < 500:
        advice.append(f"{NEXT_STEPS.get(status, DEFAULT_NEXT_STEP)}.")
    refusal = kind(
        ". ".join(sentences) + ".",
        advice=" ".join(advice),
        status=status,
        reason=reason,
        url=url,
        trace_id=trace_id,
        may_have_run=unknown,
        state_decides=meaning not in (Meaning.NO_PERMISSION, Meaning.NO_LOGIN, Meaning.NOT_FOUND),
        is_busy=meaning is Meaning.BUSY or status in BUSY_STATUSES,
    )
    refusal.has_envelope = is_refusal
    if isinstance(refusal, RateLimited):
        refusal.retry_after = seconds_to_wait(response.headers)
    return refusal


def _kind(status: int, meaning: Meaning | None, *, has_envelope: bool) -> type[RequestRefused]:
    """By status, and for 400, the status of most refusals, by the error code. A locked account may get a 403."""
    if status in (400, 403) and meaning is Meaning.NO_LOGIN:
        return AuthenticationFailed
    if status == 400 and meaning is Meaning.NOT_FOUND:
        return NotFound
    if status == 400 and meaning is Meaning.NO_PERMISSION:
        return PermissionDenied
    if status == 404 and not has_envelope:
        return PageNotFound
    return _KINDS.get(status, RequestRefused)
