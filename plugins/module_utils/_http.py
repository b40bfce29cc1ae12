# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""One request in, the ``data`` of the response envelope out, or an error that says what is known of the request.

Reads are repeated a few times. A POST is sent again only if it never left or was refused unrun for too many requests:
what it starts cannot be taken back, and the service has no token by which it would know a repetition.
"""

from __future__ import annotations

import ssl
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from ._auth import SKEW_ALLOWED, AccessKeyAuth
from ._errors import (
    AnswerLost,
    AnswerUnreadable,
    AuthenticationFailed,
    ConnectionFailed,
    NotFound,
    PermissionDenied,
    RequestRefused,
    ServiceError,
)
from ._shapes import Record, instant, record
from ._text import label, shorten, visible
from ._time import ServiceClock

try:
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.exceptions import InsecureRequestWarning, InvalidHeader, MaxRetryError, NewConnectionError
    from urllib3.util import Retry
except ImportError as error:  # reported by _module, with the name of the library
    REQUESTS_IMPORT_ERROR: ImportError | None = error
    Retry = object  # type: ignore[misc, assignment]
else:
    REQUESTS_IMPORT_ERROR = None

if TYPE_CHECKING:
    from requests.auth import AuthBase

CONNECT_SECONDS = 10.0
READ_REPEATS = 2
TOO_MANY_REQUESTS = 429
PASSING_STATUSES = (TOO_MANY_REQUESTS, 502, 503, 504)
NOTED_SKEW = 60.0
CERTIFICATE_ADVICE = {
    # The numbers are OpenSSL's: not yet valid, expired, made for another name, made for another address.
    9: "Check the clock of this machine.",
    10: "Have it renewed.",
    62: "Put the name it was made for in url.",
    64: "Put the name it was made for in url.",
}
REASON_LENGTH = 500
NEXT_STEPS = {
    400: "Check the options, and whether this version of OCP has the call",
    403: "Ask for the permission, or use credentials that have it",
    404: "Check that url is the address of an OCP and that the id exists there",
    409: "Wait until the running operation has ended, then run this again",
    429: "The request limit of this user is used up; run this again later",
}


@dataclass(frozen=True)
class Answer:
    """The ``data`` of an envelope (section 2.1; None where there is none) and the trace id of the request."""

    data: Any
    url: str
    trace_id: str | None


class RateLimitRetry(Retry):
    """Repeats as urllib3 does, and after a 429 any method, once the time is over that ``RateLimit-Reset`` names.

    ``budget`` is for how many seconds in all it may wait so; where that is not enough, the 429 is the answer.
    """

    def __init__(self, *args: Any, budget: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.budget = budget

    def new(self, **changes: Any) -> Any:
        """A copy with ``changes``."""
        return super().new(**{"budget": self.budget, **changes})

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """Whether what was answered with this status may be sent again."""
        return status_code == TOO_MANY_REQUESTS or super().is_retry(method, status_code, has_retry_after)

    def increment(self, method: Any = None, url: Any = None, response: Any = None, *rest: Any, **more: Any) -> Any:
        """Count one more failure; raises MaxRetryError when there is to be no repetition."""
        pause = None if response is None else self.get_retry_after(response)
        limited = response is not None and response.status == TOO_MANY_REQUESTS
        blind = limited and pause is None and not self._is_method_retryable(method)
        if blind or (pause or 0) > self.budget:
            raise MaxRetryError(more.get("_pool"), url, None)  # type: ignore[arg-type]
        if pause is None or not limited:
            return super().increment(method, url, response, *rest, **more)
        # A wait that was asked for is no failure, so only the budget bounds it.
        waited = self.new(total=None, budget=self.budget - pause)
        return super(RateLimitRetry, waited).increment(method, url, response, *rest, **more).new(total=self.total)

    def get_retry_after(self, response: Any) -> float | None:
        """Seconds that the service asks to wait, at least 1; None when it names no time."""
        # The header comes with every answer when limits are on; it counts when the limit is reached.
        pause = _reset(response.headers) if response.status == TOO_MANY_REQUESTS else None
        try:
            pause = super().get_retry_after(response) if pause is None else pause
        except InvalidHeader:
            return None
        return None if pause is None else max(1.0, pause)


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
                "Accept-Language": "en-US",
                "Content-Type": "application/json",
                "User-Agent": "ansible-collection-oceanbase.ocp",
            }
        )
        repeats = RateLimitRetry(
            total=READ_REPEATS,
            # Counts for every method: what found no connection never left.
            connect=1,
            other=0,
            status_forcelist=PASSING_STATUSES,
            allowed_methods={"GET"},
            backoff_factor=0.3,
            raise_on_status=False,
            budget=timeout,
        )
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(max_retries=repeats))

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
            # The process may be the controller's own, so its filters are not to be changed for good.
            with warnings.catch_warnings(action="ignore", category=InsecureRequestWarning):
                response = self._session.request(
                    method,
                    url,
                    params=params,
                    json=body,
                    timeout=self._timeouts,
                    # Per request, since a session's own setting loses to REQUESTS_CA_BUNDLE.
                    verify=self._verify,
                    # Following would send the credentials to another address, and a POST as a GET.
                    allow_redirects=False,
                )
        # Beside RequestException, which is an OSError: a CA bundle that is not there, a host name or header of no form.
        except (OSError, ValueError) as error:
            raise _no_answer(error, method, url, self.timeout) from None
        used_up = response.headers.get("RateLimit-Remaining") == "0"
        self._resume = time.monotonic() + ((_reset(response.headers) or 0.0) if used_up else 0.0)
        envelope = _envelope(response)
        self.trace_id = label(envelope.get("traceId"))
        completed = instant(envelope.get("timestamp")) or _date(response)
        if completed is not None:
            self.service_clock.shown(completed, sent, time.time())
        try:
            return _answer(response, envelope, method, url)
        except AuthenticationFailed as refusal:
            refusal.follow(f"{self._what_to_check()} It was asked once only, since repeated attempts lock the account.")
            raise

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
    certificate = next((cause for cause in causes if isinstance(cause, ssl.SSLCertVerificationError)), None)
    if certificate is not None:
        advice = CERTIFICATE_ADVICE.get(
            certificate.verify_code,
            "Give the authority's certificate with ca_path, or validate_certs=false for a test system.",
        )
        return ConnectionFailed(
            f"The certificate of {url} is not trusted: {certificate.verify_message.rstrip('.')}. {advice}", url=url
        )
    if isinstance(error, requests.exceptions.SSLError):
        return ConnectionFailed(
            f"No TLS connection with {url}: {causes[-1]}. Check that url has the scheme the service speaks, "
            "http or https.",
            url=url,
            maybe_done=writes,
        )
    unreached = requests.exceptions.ConnectTimeout, requests.exceptions.ProxyError, NewConnectionError
    if any(isinstance(cause, unreached) for cause in causes):
        return ConnectionFailed(
            f"{url} cannot be reached: {_innermost(causes)}. Check url and that the service is running.", url=url
        )
    unsendable = requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema
    if isinstance(error, unsendable) or not isinstance(error, requests.RequestException):
        # A header that cannot be sent is quoted by a ValueError, credentials and all.
        why = type(error).__name__ if isinstance(error, ValueError) else error
        return ConnectionFailed(f"{method} {url} cannot be sent: {why}. Check url and the credentials.", url=url)
    what = f"within {timeout:g} seconds" if isinstance(error, requests.exceptions.Timeout) else "whole"
    return AnswerLost(
        f"The answer to {method} {url} did not arrive {what}: {_innermost(causes)}. {_unknown(writes)}",
        url=url,
        maybe_done=writes,
    )


def _envelope(response: requests.Response) -> Record:
    try:
        return record(response.json())
    except ValueError:
        return {}


def _reset(headers: Mapping[str, str]) -> float | None:
    """In how many seconds the request limit of this user begins anew; None where no header tells."""
    seconds = headers.get("RateLimit-Reset", "")
    return float(seconds) if seconds.isdecimal() else None


def _date(response: requests.Response) -> datetime | None:
    try:
        date = parsedate_to_datetime(response.headers.get("Date", ""))
    except ValueError:
        return None
    return date if date.tzinfo is not None else None


def _answer(response: requests.Response, envelope: Record, method: str, url: str) -> Answer:
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
        kind = response.headers.get("Content-Type", "no content type")
        raise AnswerUnreadable(
            f"The answer to {method} {url} is no OCP response envelope ({len(response.content)} bytes, {kind}). "
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
    reason = shorten(visible(record(envelope.get("error")).get("message") or ""), REASON_LENGTH)
    kind = {401: AuthenticationFailed, 403: PermissionDenied, 404: NotFound}.get(status, RequestRefused)
    maybe_done = method == "POST" and status >= 500
    sentences = [f"{method} {url} was refused with status {status}" + (f": {reason.rstrip('.')}" if reason else "")]
    if trace_id:
        sentences.append(f"Trace id {trace_id}")
    if status in NEXT_STEPS:
        sentences.append(NEXT_STEPS[status])
    elif status >= 500:
        sentences.append(_unknown(maybe_done).rstrip("."))
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
    inner = next((cause for cause in reversed(causes) if isinstance(cause, OSError)), causes[-1])
    return getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
