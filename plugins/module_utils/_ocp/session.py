# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""One GET, PUT or POST: its time-out for connecting, its headers, its pause for the rate limit, its errors.

Reads and PUTs are retried a few times. A POST is sent again only if there was no connection: a started task cannot be
taken back, and OCP has no idempotency key.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import parent_process
from typing import TYPE_CHECKING, Any

from .._base.clock import Clock
from .._base.errors import AuthenticationFailed, Halted, ServiceError
from .._base.parsing import Record, http_date, instant, record
from .._base.service_clock import ServiceClock
from .._base.text import one_line
from .auth import account_of, credentials_advice, encoded_query, no_credentials, user_of
from .deadline import Deadline
from .envelope import ApiResponse, read_envelope, read_time, read_without_envelope
from .quiet import Quiet
from .redirects import UnredirectedSession, refuse_redirect
from .request_limit import RequestLimit
from .response_body import Body, read_body
from .shared_limit import SharedLimit
from .transport import Adapter

try:
    import requests
    from urllib3.exceptions import InsecureRequestWarning
except ImportError as error:  # reported by bridge, with the name of the library
    REQUESTS_IMPORT_ERROR: ImportError | None = error
else:
    REQUESTS_IMPORT_ERROR = None
    QUIET = Quiet(InsecureRequestWarning)

if TYPE_CHECKING:
    from requests.auth import AuthBase

CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class Answered:
    """One answer: the path and query that it is to, its HTTP status, content type and body."""

    path: str
    query: Record
    status: int
    content_type: str
    body: Body


@cache
def parent_of(_pid: int) -> int:
    """The id of the process that began this one, also if that is gone by now; the same for all connections.

    A fork of Ansible outlives a killed ``ansible-playbook``, and may make its first connection only then.
    """
    begun_by = parent_process()
    pid = None if begun_by is None else begun_by.pid
    return os.getppid() if pid is None else pid


class HttpClient:
    """A session with one service.

    ``url`` is the base address, ``verify`` True, False or the path of a CA bundle, ``timeout`` the seconds that one
    request may take in all, not counting pauses that the service asks for. ``client_cert`` has the paths of a
    certificate and its key. ``service_clock`` and ``trace_id`` come from the responses. ``last_path`` is the path of
    the last request, ``sent`` how many there were, without repetitions.
    """

    url: str = ""
    trace_id: str | None = None
    last_path: str | None = None
    sent: int = 0
    timeout: float = 30.0
    # Gets each answer, whatever happens to it later.
    observe: Callable[[Answered], None] | None = None
    # Gets the method and address of each request before it is sent; an error that it raises replaces the answer.
    permit: Callable[[str, str], None] | None = None
    # Called after each pause that the service has asked for, before or during a request.
    paused: Callable[[], None] | None = None

    def __init__(
        self,
        url: str,
        auth: AuthBase,
        *,
        verify: bool | str,
        timeout: float,
        client_cert: tuple[str, str] | None = None,
        use_proxy: bool = True,
    ) -> None:
        self.url = url.rstrip("/")
        self.timeout = timeout
        self.service_clock = ServiceClock()
        self._parent = parent_of(os.getpid())
        self._limit = RequestLimit()
        self._shared_limit = SharedLimit(self.url, user_of(auth))
        self._verify = verify if use_proxy or verify is not True else _environment_bundle()
        self._timeouts = (min(timeout, CONNECT_SECONDS), timeout)
        self._session = UnredirectedSession()
        self._session.auth = auth
        # Not by a list of hosts, which requests would put into the environment of this process for a moment.
        self._session.trust_env = use_proxy
        self._session.headers.update(
            {
                "Accept": "application/json",
                "Accept-Encoding": "gzip",
                "Accept-Language": "en-US",
                "Content-Type": "application/json",
                "User-Agent": "ansible-collection-oceanbase.ocp",
            }
        )
        self._deadline = Deadline()
        adapter = Adapter(verify=verify, client_cert=client_cert, budget=timeout, deadline=self._deadline)
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, adapter)

    def close(self) -> None:
        """Close the open connections."""
        self._shared_limit.leave()
        self._session.close()

    def get(self, path: str, params: Record | None = None) -> ApiResponse:
        """GET ``path`` below the base address; raises a ServiceError."""
        return self._request("GET", path, params, None)

    def get_time(self, path: str) -> ApiResponse:
        """GET the time of the service without credentials, in an envelope or as text; raises a ServiceError."""
        return self._request("GET", path, None, None, read=read_time, auth=no_credentials)

    def get_without_envelope(self, path: str) -> ApiResponse:
        """GET an object that has no envelope; raises a ServiceError."""
        return self._request("GET", path, None, None, read=read_without_envelope)

    def post(self, path: str, params: Record | None = None, body: Record | None = None) -> ApiResponse:
        """POST once; raises a ServiceError, whose ``may_have_run`` says whether it may have taken effect."""
        try:
            return self._request("POST", path, params, body)
        finally:
            self._shared_limit.leave()

    def put(self, path: str, body: Any) -> ApiResponse:
        """PUT, repeated if needed; raises a ServiceError, whose ``may_have_run`` is as for ``post``."""
        return self._request("PUT", path, None, body)

    def _request(
        self,
        method: str,
        path: str,
        params: Record | None,
        body: Any,
        *,
        read: Callable[..., ApiResponse] = read_envelope,
        auth: Any = None,
    ) -> ApiResponse:
        url = self.url + path
        self._check_parent(method, url)
        self._wait_for_turn(method)
        if self.permit is not None:
            self.permit(method, url)
        self.last_path = path
        self.sent += 1
        sent = time.time()
        self._deadline.start(self.timeout)
        try:
            with self._response(method, url, params, body, auth) as response:
                answer = read_body(response)
        # Not only RequestException, an OSError: a missing CA bundle, a malformed host name or header.
        except (OSError, ValueError) as error:
            self._shared_limit.shown({}, time.monotonic())
            raise self._failed(error, method, url) from None
        finally:
            if self._deadline.has_paused:
                self._tell_pause()
        if self.observe is not None:
            form = str(response.headers.get("Content-Type") or "")
            self.observe(Answered(path, params or {}, response.status_code, form, answer))
        self._learn(response, answer, sent)
        refuse_redirect(response, method, url)
        try:
            return read(response, answer, method, url)
        except AuthenticationFailed as refusal:
            if auth is None:
                refusal.add_advice(credentials_advice(self._session.auth, self.service_clock.offset, self.url))
            raise

    def _failed(self, error: OSError | ValueError, method: str, url: str) -> ServiceError:
        """The error for a request that ended in ``error`` instead of a response."""
        from .connection_errors import connection_error

        return connection_error(error, method, url, self.timeout)

    def _check_parent(self, method: str, url: str) -> None:
        """Raise Halted instead of changing something for a run that nobody sees any more: its first process is gone."""
        if method != "GET" and os.getppid() != self._parent:
            raise Halted("The request was not sent, since the process that began this run has been killed.", url=url)

    def _learn(self, response: requests.Response, answer: Body, sent: float) -> None:
        """Note what every answer shows: the request limit, the trace id, the time of the service."""
        self._limit.shown(response.headers, time.monotonic())
        self._shared_limit.shown(response.headers, time.monotonic())
        envelope = record(answer.value)
        self.trace_id = one_line(envelope.get("traceId"))
        completed = (
            instant(envelope.get("timestamp")) or instant(answer.time) or http_date(response.headers.get("Date"))
        )
        if completed is not None:
            self.service_clock.shown(completed, sent, time.time(), one_line(envelope.get("server")))

    def _response(self, method: str, url: str, params: Record | None, body: Any, auth: Any) -> requests.Response:
        with QUIET:
            return self._session.request(
                method,
                # Encoded here, since requests would send a space as "+", but it is signed as "%20".
                url + encoded_query(params or {}),
                json=body,
                # None is the session's.
                auth=auth,
                timeout=self._timeouts,
                # Per request, since REQUESTS_CA_BUNDLE overrides the session's setting.
                verify=self._verify,
                # A redirect would send the credentials to another address, and a POST as a GET.
                allow_redirects=False,
                stream=True,
            )

    @property
    def user(self) -> str | None:
        """The name of the user, if it is known."""
        return user_of(self._session.auth)

    @property
    def account(self) -> str:
        """See account_of."""
        return account_of(self._session.auth)

    @property
    def retry_after(self) -> float:
        """Seconds without further requests, from the RateLimit headers of the last response."""
        return self._limit.pause(1, time.monotonic())

    @property
    def room(self) -> int | None:
        """How many requests the last response leaves until the request limit resets; None if that is not known."""
        return self._limit.room(time.monotonic())

    def wait_for_room(self, requests: int, clock: Clock) -> None:
        """Sleep until this many requests are allowed and not promised to others here, as far as is known.

        If a window allows fewer, it waits once for what the window allows.
        """
        if self._sleep_while(lambda now: self._shared_limit.pause(requests, now), clock.sleep):
            self._limit.forget()

    def wait_to_send(self, clock: Clock) -> None:
        """Sleep until the request is allowed that follows a look, as far as is known, so that ``post`` does not pause.

        After a sleep it is time for another look.
        """
        if self._sleep_while(partial(self._pause_for_one, is_last=True), clock.sleep):
            self._limit.forget()

    def _wait_for_turn(self, method: str) -> None:
        def sleep(seconds: float) -> None:
            time.sleep(seconds)

        if self._sleep_while(partial(self._pause_for_one, is_last=method != "GET"), sleep):
            self._tell_pause()

    def _pause_for_one(self, now: float, *, is_last: bool) -> float:
        return self._shared_limit.pause_for_one(now, longest=self.timeout, is_last=is_last)

    def _tell_pause(self) -> None:
        if self.paused is not None:
            self.paused()

    @staticmethod
    def _sleep_while(pause_at: Callable[[float], float], sleep: Callable[[float], object]) -> float:
        """Sleep as long as there is a pause; the seconds slept. The clock that sleeps may be another one."""
        began, slept = time.monotonic(), 0.0
        while pause := pause_at(max(time.monotonic(), began + slept)):
            sleep(pause)
            slept += pause
        return slept


def _environment_bundle() -> bool | str:
    """The CA bundle of the environment, as ``requests`` takes it together with the proxies; True without one."""
    return os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or True
