# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How a request is passed on to the service: once, as it is, with its credentials; and how its answer is read."""

import ssl
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

Headers = Sequence[tuple[bytes, bytes]]

LARGEST_ANSWER = 64 << 20
_SECONDS = 600
# Those of one connection, and those that belong to a body as it was sent.
_OWN = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
# A signature covers the host that the client has sent to.
_SIGNED = b"OCP-ACCESS-KEY"


class UpstreamError(Exception):
    """The service did not answer; the message says why. It may have carried out the request."""


@dataclass(frozen=True)
class Answer:
    """An answer of the service."""

    status: int
    headers: Headers
    body: bytes

    def header(self, name: str) -> str:
        """The first header with this name, or an empty text."""
        wanted = name.encode()
        return next((value.decode("latin-1") for key, value in self.headers if key.lower() == wanted), "")


class Upstream:
    """The service at a URL."""

    def __init__(self, url: str, trusted: ssl.SSLContext | None) -> None:
        """`trusted` has the authorities for HTTPS; without it, those of the machine. ValueError for a bad URL."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("it is not a URL such as https://ocp.example.com:8080")
        if parts.username is not None:
            raise ValueError("credentials come from the client, so leave them out")
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._netloc, self._path = parts.netloc, parts.path.rstrip("/")
        self._host, self._port = parts.hostname, parts.port
        self._trusted = (trusted or ssl.create_default_context()) if parts.scheme == "https" else None

    def send(self, method: str, target: str, headers: Headers, body: bytes) -> Answer:
        """The answer to a request; `target` is its path and query as received. Raises UpstreamError."""
        connection = self._connection()
        try:
            connection.putrequest(method, self._path + target, skip_host=True, skip_accept_encoding=True)
            for name, value in self._passed_on(headers):
                connection.putheader(name, value)
            if body:
                connection.putheader(b"Content-Length", str(len(body)))
            connection.endheaders(body or None)
            response = connection.getresponse()
            content = response.read(LARGEST_ANSWER + 1)
        except (OSError, HTTPException) as error:
            raise UpstreamError(getattr(error, "strerror", None) or type(error).__name__) from error
        finally:
            connection.close()
        if len(content) > LARGEST_ANSWER:
            raise UpstreamError(f"its answer has more than {LARGEST_ANSWER >> 20} MiB")
        return Answer(response.status, _kept(response.getheaders()), content)

    def _connection(self) -> HTTPConnection:
        if self._trusted is None:
            return HTTPConnection(self._host, self._port, timeout=_SECONDS)
        return HTTPSConnection(self._host, self._port, timeout=_SECONDS, context=self._trusted)

    def _passed_on(self, headers: Headers) -> Iterable[tuple[bytes, bytes]]:
        own = next((value for name, value in headers if name.lower() == b"host"), b"")
        is_signed = any(value.startswith(_SIGNED) for name, value in headers if name.lower() == b"authorization")
        yield b"Host", own if is_signed else self._netloc.encode()
        yield b"Accept-Encoding", b"identity"
        yield from ((name, value) for name, value in headers if name.lower().decode("latin-1") not in _OWN)


def _kept(headers: Iterable[tuple[str, str]]) -> Headers:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers if name.lower() not in _OWN]
