# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""One request in, the ``data`` of the response envelope out, or an error that says what is known of the request.

Reads are repeated a few times. A POST is sent again only if it never left or was refused unrun for too many requests:
what it starts cannot be taken back, and the service has no token by which it would know a repetition.
"""

from __future__ import annotations

import json
import ssl
import time
import warnings
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from .._base.clock import ServiceClock
from .._base.errors import (
    AnswerLost,
    AnswerUnreadable,
    AuthenticationFailed,
    ConnectionFailed,
    NotFound,
    PermissionDenied,
    RequestRefused,
    ServiceError,
)
from .._base.parsing import Record, instant, record
from .._base.text import excerpt, label
from .auth import SKEW_ALLOWED, AccessKeyAuth
from .transport import LONGEST_ANSWER, Adapter, body_of, foreign_encoding, seconds_to_reset

try:
    import requests
    from urllib3.exceptions import ConnectTimeoutError, InsecureRequestWarning, NewConnectionError
except ImportError as error:  # reported by _module, with the name of the library
    REQUESTS_IMPORT_ERROR: ImportError | None = error
else:
    REQUESTS_IMPORT_ERROR = None

if TYPE_CHECKING:
    from requests.auth import AuthBase

CONNECT_SECONDS = 10.0
NOTED_SKEW = 60.0
OTHER_NAME = 62
CERTIFICATE_ADVICE = {
    # The numbers are OpenSSL's: not yet valid, expired, made for another name, made for another address.
    9: "Check the clock of this machine.",
    10: "Have it renewed.",
    OTHER_NAME: "Put the name it was made for in url.",
    64: "Put the name it was made for in url.",
}
REASON_LENGTH = 500
NEXT_STEPS = {
    400: "Check the options, and whether this version of OCP has the call",
    403: "Ask for the permission, or use credentials that have it",
    404: "Check that url is the address of an OCP and that the id exists there",
    409: "Let the task that works on it come to its end, then run this again",
    429: "The request limit of this user is used up; run this again later",
}
NEXT_STEP_OTHERWISE = "Check that url is the address of an OCP, not of a proxy or another service, and its version"


@dataclass(frozen=True)
class Answer:
    """The ``data`` of an envelope (section 2.1; None where there is none) and the trace id of the request."""

    data: Any
    url: str
    trace_id: str | None


class HttpClient:
    """A session with one service.

    ``url`` is its base address, ``verify`` True, False or the path of a CA bundle, ``timeout`` the seconds that one
    request may stay without an answer. ``service_clock`` is what the answers have told of the service's clock, and
    ``trace_id`` that of the last one.
    """

    trace_id: str | None = None

    def __init__(self, url: str, auth: AuthBase, *, verify: bool | str, timeout: float) -> None:
        self.url = url.rstrip("/")
        self.timeout = timeout
        self.service_clock = ServiceClock()
        self._resume = 0.0
        self._verify = verify
        self._timeouts = (min(timeout, CONNECT_SECONDS), timeout)
        self._session = requests.Session()
        self._session.auth = auth
        self._session.headers.update(
            {
                "Accept": "application/json",
                "Accept-Encoding": "gzip",
                "Accept-Language": "en-US",
                "Content-Type": "application/json",
                "User-Agent": "ansible-collection-oceanbase.ocp",
            }
        )
        adapter = Adapter(verify=verify, budget=timeout)
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, adapter)

    def close(self) -> None:
        """Close the connections that are kept open."""
        self._session.close()

    def get(self, path: str, params: dict[str, Any] | None = None) -> Answer:
        """GET ``path`` below the base address; raises a ServiceError."""
        return self._request("GET", path, params, None)

    def post(self, path: str, params: dict[str, Any] | None = None, body: dict[str, Any] | None = None) -> Answer:
        """POST once over a connection; raises ServiceError, whose ``maybe_done`` tells if it may have taken effect."""
        return self._request("POST", path, params, body)

    def _request(self, method: str, path: str, params: dict[str, Any] | None, body: dict[str, Any] | None) -> Answer:
        url = self.url + path
        sent = time.time()
        try:
            with self._response(method, url, params, body) as response:
                foreign = foreign_encoding(response)
                text = b"" if foreign else body_of(response)
        # Beside RequestException, which is an OSError: a CA bundle that is not there, a host name or header of no form.
        except (OSError, ValueError) as error:
            raise _no_answer(error, method, url, self.timeout) from None
        used_up = response.headers.get("RateLimit-Remaining") == "0"
        self._resume = time.monotonic() + ((seconds_to_reset(response.headers) or 0.0) if used_up else 0.0)
        envelope = _envelope(text or b"")
        self.trace_id = label(envelope.get("traceId"))
        completed = instant(envelope.get("timestamp")) or _date(response)
        if completed is not None:
            self.service_clock.shown(completed, sent, time.time())
        form = f"comes in the encoding {foreign}, which was not asked for" if foreign else _form(response, text)
        try:
            return _answer(response, envelope, form, method, url)
        except AuthenticationFailed as refusal:
            refusal.follow(f"{self._what_to_check()} It was asked once only, since repeated attempts lock the account.")
            raise

    def _response(
        self, method: str, url: str, params: dict[str, Any] | None, body: dict[str, Any] | None
    ) -> requests.Response:
        # The process may be the controller's own, so its filters are not to be changed for good.
        with warnings.catch_warnings(action="ignore", category=InsecureRequestWarning):
            return self._session.request(
                method,
                url,
                params=params,
                json=body,
                timeout=self._timeouts,
                # Per request, since a session's own setting loses to REQUESTS_CA_BUNDLE.
                verify=self._verify,
                # Following would send the credentials to another address, and a POST as a GET.
                allow_redirects=False,
                stream=True,
            )

    @property
    def rest(self) -> float:
        """For how many seconds there are to be no more requests, by the RateLimit headers of the last answer."""
        return max(0.0, self._resume - time.monotonic())

    def _what_to_check(self) -> str:
        """What a 401 may come from, by the kind of credentials."""
        ahead = self.service_clock.ahead
        if not isinstance(self._session.auth, AccessKeyAuth):
            return "Check username and password."
        if abs(ahead) <= NOTED_SKEW:
            return "Check access_key_id and access_key_secret."
        return (
            f"The clock of this machine is {abs(ahead):.0f} seconds {'behind' if ahead > 0 else 'ahead of'} that of "
            f"the service, which refuses a signature more than {SKEW_ALLOWED} seconds off; set the clock right."
        )


def _no_answer(error: OSError | ValueError, method: str, url: str, timeout: float) -> ServiceError:
    causes = _causes(error)
    writes = method == "POST"
    certificate = next((cause for cause in causes if _is_of_a_certificate(cause)), None)
    if certificate is not None:
        why = getattr(certificate, "verify_message", str(certificate))
        advice = CERTIFICATE_ADVICE.get(
            getattr(certificate, "verify_code", OTHER_NAME),
            "Give the authority's certificate with ca_path, or validate_certs=false for a test system.",
        )
        return ConnectionFailed(f"The certificate of {url} is not trusted: {why.rstrip('.')}. {advice}", url=url)
    if isinstance(error, requests.exceptions.SSLError):
        return ConnectionFailed(
            f"No TLS connection with {url}: {causes[-1]}. Check that url has the scheme the service speaks, "
            "http or https, and that it speaks TLS 1.2 or newer.",
            url=url,
            maybe_done=writes,
        )
    if any(_never_left(cause) for cause in causes):
        return ConnectionFailed(
            f"{url} cannot be reached: {_innermost(causes)}. Check url and that the service is running.", url=url
        )
    unsendable = requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema
    if isinstance(error, unsendable) or not isinstance(error, requests.RequestException):
        # A header that cannot be sent is quoted by a ValueError, credentials and all.
        why = type(error).__name__ if isinstance(error, ValueError) else error
        return ConnectionFailed(f"{method} {url} cannot be sent: {why}. Check url and the credentials.", url=url)
    # A read that was repeated raises no Timeout.
    timed_out = any(isinstance(cause, (requests.exceptions.Timeout, TimeoutError)) for cause in causes)
    what = f"within {timeout:g} seconds" if timed_out else "whole"
    return AnswerLost(
        f"The answer to {method} {url} did not arrive {what}: {_innermost(causes)}. {_unknown(writes)}",
        url=url,
        maybe_done=writes,
    )


def _never_left(cause: BaseException) -> bool:
    """Whether there was no connection at all; a ProxyError may also be one that ended after the request."""
    no_connection = isinstance(cause, (NewConnectionError, ConnectTimeoutError))
    # What http.client says, and nothing but its text tells.
    return no_connection or (isinstance(cause, OSError) and str(cause).startswith("Tunnel connection failed"))


def _is_of_a_certificate(cause: BaseException) -> bool:
    # Before its version 2, urllib3 compares the names itself, and its error has no more than a text.
    return isinstance(cause, ssl.SSLCertVerificationError) or type(cause).__name__ == "CertificateError"


def _envelope(body: bytes) -> Record:
    try:
        return record(json.loads(body))
    except (ValueError, RecursionError):  # the latter for brackets in brackets, some thousand deep
        return {}


def _form(response: requests.Response, body: bytes | None) -> str:
    """What is said of an answer that is no envelope."""
    if body is None:
        return f"is longer than {LONGEST_ANSWER // 1024**2} MiB, and was not read to its end"
    kind = response.headers.get("Content-Type", "no content type")
    return f"is no OCP response envelope ({len(body)} bytes, {kind})"


def _date(response: requests.Response) -> datetime | None:
    try:
        date = parsedate_to_datetime(response.headers.get("Date", ""))
    except ValueError:
        return None
    return date if date.tzinfo is not None else None


def _answer(response: requests.Response, envelope: Record, form: str, method: str, url: str) -> Answer:
    status = response.status_code
    writes = method == "POST"
    if 300 <= status < 400:
        raise AnswerUnreadable(
            f"{method} {url} is redirected to {_host(url, response.headers.get('Location', ''))}; redirects are not "
            "followed. Put the address of the service itself in url.",
            url=url,
        )
    trace_id = label(envelope.get("traceId"))
    if status < 400 and not isinstance(envelope.get("successful"), bool):
        raise AnswerUnreadable(
            f"The answer to {method} {url} {form}. "
            "Check that url is the address of an OCP, not of a proxy or another service."
            + (f" {_unknown(writes)}" if writes else ""),
            url=url,
            trace_id=trace_id,
            maybe_done=writes,
        )
    if status >= 400 or not envelope["successful"]:
        raise _refusal(envelope, status, method, url, trace_id)
    return Answer(envelope.get("data"), url, trace_id)


def _host(url: str, location: str) -> str:
    parts = urlsplit(urljoin(url, location))
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _refusal(envelope: Record, status: int, method: str, url: str, trace_id: str | None) -> RequestRefused:
    if status < 400 and isinstance(envelope.get("status"), int):
        status = envelope["status"]
    reason = excerpt(str(record(envelope.get("error")).get("message") or ""), REASON_LENGTH)
    kind = {401: AuthenticationFailed, 403: PermissionDenied, 404: NotFound}.get(status, RequestRefused)
    maybe_done = method == "POST" and status >= 500
    sentences = [f"{method} {url} was refused with status {status}" + (f": {reason.rstrip('.')}" if reason else "")]
    if trace_id:
        sentences.append(f"Trace id {trace_id}")
    if status >= 500:
        sentences.append(_unknown(maybe_done).rstrip("."))
    elif kind is not AuthenticationFailed:
        sentences.append(NEXT_STEPS.get(status, NEXT_STEP_OTHERWISE))
    return kind(
        ". ".join(sentences) + ".", status=status, reason=reason, url=url, trace_id=trace_id, maybe_done=maybe_done
    )


def _unknown(writes: bool) -> str:
    if not writes:
        return "Check that the service is well, and that url has the scheme it speaks; run this again."
    return (
        "It is not known whether the service carried it out: "
        "look at its newest tasks (oceanbase.ocp.task_info) before sending it again."
    )


def _causes(error: BaseException) -> list[BaseException]:
    """The error and what lies behind it, outermost first; urllib3 keeps the cause in ``reason`` or in the arguments."""
    found: list[BaseException] = []
    pending: list[object] = [error]
    while pending:
        cause = pending.pop(0)
        if isinstance(cause, BaseException) and cause not in found:
            found.append(cause)
            pending += [getattr(cause, "reason", None), cause.__cause__, cause.__context__, *cause.args]
    return found


def _innermost(causes: list[BaseException]) -> str:
    """What the operating system says, or else the error that all others come from."""
    system = (cause for cause in reversed(causes) if isinstance(cause, OSError))
    inner = next((cause for cause in system if not isinstance(cause, requests.RequestException)), causes[-1])
    return getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
