# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The catalogue of responses: the real client's errors for each status, malformed responses and lost ones."""

from __future__ import annotations

import re
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from types import SimpleNamespace
from typing import Any
from unittest import mock

import trustme
import urllib3.util.retry
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError, ServiceError
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import AccessKeyAuth, basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.retries import READ_RETRIES, TRANSIENT_STATUSES
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue import ADDRESS, ANSWERS, TRANSPORT, Entry
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import BASIC, KEY
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import (
    RESET,
    SILENCE,
    TRUNCATED,
    Reply,
    ScriptedServer,
    closed_port,
    envelope,
    refusal,
    text,
)

GET, POST = "GET", "POST"
READ, RESTART = "/api/v2/ob/clusters/1", "/api/v2/ob/clusters/1/restart"
SERVICE = "/api/v2/arbitration/services/1"
TASK = "/api/v2/tasks/instances/1"
PASSWORD = basic_auth(BASIC["username"], BASIC["password"])
ACCESS_KEY = AccessKeyAuth(KEY["access_key_id"], KEY["access_key_secret"])
REASONS = {
    400: "Illegal argument",
    401: "Bad credentials",
    403: "You are not authorized to perform the corresponding operation. Contact the administrator.",
    404: "The resource is not found",
    409: "Operation not allowed in cluster orders.",
    415: "Unsupported media type",
    429: "Excessive number of requests.",
    500: "Unhandled exception",
    502: "",
    503: "",
    504: "",
}
REDIRECTS = (301, 302, 303, 307, 308)
LONG_AGO = {"not_before": datetime(2001, 1, 1, tzinfo=UTC), "not_after": datetime(2001, 1, 2, tzinfo=UTC)}
# What varies by run or OpenSSL version, and its replacement.
SETTLED = {
    r"127\.0\.0\.1:\d+": ADDRESS,
    r" ?\(_ssl\.c:\d+\)": "",
    r"\[SSL[^]]*\] [\w ]+": "[SSL: WRONG_VERSION_NUMBER] wrong version number",
    r"\d+ seconds ahead of": "1200 seconds ahead of",
}


def answer_entries() -> Iterator[Entry]:
    """The errors for each status, for a GET and for a POST."""
    for status in REASONS:
        for method in (GET, POST):
            yield _of_answer(str(status), f"{method}, status {status}", method, error_status(method, status))
    yield _of_answer("401", "GET with an access key, status 401", GET, error_status(GET, 401, ACCESS_KEY))
    late = refusal(401, "Bad credentials", Date="Thu, 01 Jan 2026 00:00:00 GMT")
    yield _of_answer("401", "with an access key, and the clocks apart", GET, _error(GET, late, auth=ACCESS_KEY))
    for method in (GET, POST):
        odd = refusal(200, "Something else.")
        yield _of_answer(
            "200, not successful", f"{method}, an envelope that is not successful", method, _error(method, odd)
        )
        for status in REDIRECTS:
            moved = Reply(status, headers={"Location": "https://sso.example.com/login"})
            yield _of_answer("Redirects", f"{method}, a redirect", method, _error(method, moved))


def error_status(method: str, status: int, auth: Any = PASSWORD, path: str | None = None) -> ServiceError:
    """The error for a response with this ``status``."""
    reply = refusal(status, REASONS[status]) if REASONS[status] else text("<html></html>", status)
    return _error(method, reply, auth=auth, path=path)


def error_lost(path: str) -> ServiceError:
    """The error for a POST whose response is cut off."""
    return _error(POST, RESET, path=path)


def transport_entries() -> Iterator[Entry]:
    """The errors without a well-formed response."""
    for method in (GET, POST):
        yield _of_transport("No connection", f"{method}, nothing listens there", _unreached(method))
        yield _of_transport("No connection", f"{method}, no such host", _unknown_host(method))
        for cause, reply in (
            ("the connection is reset", RESET),
            ("the answer is cut off", TRUNCATED),
            ("no answer within timeout", SILENCE),
        ):
            yield _of_transport("No answer", f"{method}, {cause}", _error(method, reply, timeout=0.1))
        for cause, reply in (
            ("a web page instead of an envelope", text("<html>Sign in</html>")),
            ("JSON that is no envelope", text("[]", kind="application/json")),
            ("packed in a way that was not asked for", Reply(200, b"x", {"Content-Encoding": "br"})),
            ("more objects than are read", Reply(200, b"[" + b"{}," * 250_000 + b"{}]")),
            ("nested deeper than is read", Reply(200, b"[" * 102 + b"]" * 102)),
        ):
            yield _of_transport("No envelope", f"{method}, {cause}", _error(method, reply))
        page = _error(method, text("<html>Not found</html>", 404))
        yield _of_transport("No envelope", f"{method}, a web page with status 404", page)
    yield _of_transport("No data", "GET, no object where one is documented", _data(None))
    yield _of_transport("No data", "GET, no list where one is documented", _data({}, "hosts", "/api/v2/compute/hosts"))
    many = {"contents": [{}] * 100_001}
    yield _of_transport("No data", "GET, a list longer than is read", _data(many, "hosts", "/api/v2/compute/hosts"))
    yield _of_transport("No data", "GET, the record of another task", _data({"id": 7}, "task", TASK))
    yield _of_transport("No data", "POST, an answer that names no task", _no_task({}))
    yield _of_transport("No data", "POST, an answer that is the record of something else", _no_task({"id": 1}))
    yield from _tls_entries()


def _of_answer(heading: str, cause: str, method: str, error: OcpError) -> Entry:
    return Entry(ANSWERS, heading, cause, str(error), (method, ADDRESS), type(error))


def _of_transport(heading: str, cause: str, error: OcpError) -> Entry:
    return Entry(TRANSPORT, heading, cause, str(error), (ADDRESS,), type(error))


@contextmanager
def no_pauses() -> Iterator[None]:
    unhurried = SimpleNamespace(sleep=lambda _seconds: None, time=time.time)
    with mock.patch.object(urllib3.util.retry, "time", unhurried):
        yield


@contextmanager
def _served(tls: ssl.SSLContext | None = None) -> Iterator[ScriptedServer]:
    server = ScriptedServer(tls)
    try:
        yield server
    finally:
        server.finish()


def _error(
    method: str, reply: Reply, *, auth: Any = PASSWORD, path: str | None = None, timeout: float = 5.0
) -> ServiceError:
    """The error for a server that always answers this way."""
    repeated = method == GET and (reply.act == "reset" or reply.status in TRANSIENT_STATUSES)
    path = path or (READ if method == GET else RESTART)
    with _served() as server, no_pauses():
        server.expect(method, path, *[reply] * (1 + READ_RETRIES if repeated else 1))
        return raised(server.url, method, path, auth=auth, timeout=timeout)


def raised(url: str, method: str, path: str, *, auth: Any = PASSWORD, verify: Any = True, timeout: float = 5.0) -> Any:
    """The error of one request, with a stable address."""
    client = HttpClient(url, auth, verify=verify, timeout=timeout)
    try:
        client.get(path) if method == GET else client.post(path)
    except ServiceError as error:
        return _settled(error)
    finally:
        client.close()
    raise AssertionError(f"{method} {path} does not fail")


def _settled(error: ServiceError) -> ServiceError:
    error.message, error.advice = _settled_words(error.message), [_settled_words(words) for words in error.advice]
    return error


def _settled_words(words: str) -> str:
    for changing, constant in SETTLED.items():
        words = re.sub(changing, constant, words)
    return words


def _unreached(method: str) -> ServiceError:
    with no_pauses():
        return raised(f"http://127.0.0.1:{closed_port()}", method, READ)


def _unknown_host(method: str) -> ServiceError:
    unknown = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    with mock.patch.object(socket, "getaddrinfo", side_effect=unknown), no_pauses():
        return raised(f"http://{ADDRESS}", method, READ)


def _data(data: Any, call: str = "arbitration_service", path: str = SERVICE) -> ServiceError:
    with _served() as server:
        server.expect(GET, path, envelope(data))
        api = OcpApi(HttpClient(server.url, PASSWORD, verify=True, timeout=5.0))
        try:
            getattr(api, call)(*([] if call == "hosts" else [1]))
        except ServiceError as error:
            return _settled(error)
    raise AssertionError(f"{call} takes {data}")


def _no_task(data: Any) -> ServiceError:
    with _served() as server:
        server.expect(POST, RESTART, envelope(data))
        try:
            OcpApi(HttpClient(server.url, PASSWORD, verify=True, timeout=5.0)).restart_cluster(1)
        except ServiceError as error:
            return _settled(error)
    raise AssertionError(f"{data} is taken for a task")


@cache
def _authority() -> trustme.CA:
    return trustme.CA()


def _tls_entries() -> Iterator[Entry]:
    trusted = _authority().cert_pem.bytes()
    cases = {
        "the authority of the certificate is not known": ("127.0.0.1", {}, False),
        "the certificate has expired": ("127.0.0.1", LONG_AGO, True),
        "the certificate was made for another name": ("10.1.0.1", {}, True),
    }
    for cause, (made_for, dates, known) in cases.items():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        _authority().issue_cert(made_for, **dates).configure_cert(context)
        with _served(context) as server, no_pauses(), _bundle(trusted) as path:
            error = raised(server.url, GET, READ, verify=path if known else True)
        yield _of_transport("TLS", cause, error)
    yield _of_transport("TLS", "https is asked of what speaks http", _plain_server())


@contextmanager
def _bundle(content: bytes) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        file.write(content)
        file.flush()
        yield file.name


def _plain_server() -> ServiceError:
    # The scripted server would wait for the end of the "request".
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer_plainly() -> None:
            while True:
                try:
                    connection, _peer = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=answer_plainly, daemon=True)
        thread.start()
        with no_pauses():
            error: ServiceError = raised(f"https://127.0.0.1:{listener.getsockname()[1]}", GET, READ)
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(timeout=5)
    return error
