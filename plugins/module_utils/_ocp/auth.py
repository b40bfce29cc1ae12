# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How a request is signed: HTTP Basic or OCP-ACCESS-KEY-HMACSHA1; the advice after a 401."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from email.utils import formatdate
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlsplit

try:
    from requests.auth import AuthBase, HTTPBasicAuth
except ImportError:  # reported by bridge, with the name of the library
    AuthBase = object  # type: ignore[misc, assignment]

if TYPE_CHECKING:
    from requests import PreparedRequest

SCHEME = "OCP-ACCESS-KEY-HMACSHA1"
SKEW_ALLOWED = 15 * 60
LARGEST_SILENT_SKEW = 60.0
ONCE = "The request was sent only once."
# See docs/dev/contract.md, "Lock-out".
LOCKED = (
    "The request was sent only once: 5 failures (20 in OCP 4.2) lock the account for 30 minutes, and 10 lock this "
    "client's address for 10 minutes. Either may be locked already; OCP answers a lock in the same way."
)


def basic_auth(username: str, password: str) -> AuthBase:
    """HTTP Basic in UTF-8; ``requests`` itself refuses what Latin-1 cannot encode."""
    return HTTPBasicAuth(username.encode(errors="surrogateescape"), password.encode(errors="surrogateescape"))


def user_of(auth: object) -> str | None:
    """The name of the user, as the service writes it; None for an access key, which does not show its owner."""
    name = getattr(auth, "username", None)
    return name.decode(errors="replace") if isinstance(name, bytes) else None


def account_of(auth: object) -> str:
    """The name of the user, or the id of the access key. Neither is a secret."""
    return user_of(auth) or str(getattr(auth, "key_id", ""))


def no_credentials(request: PreparedRequest) -> PreparedRequest:
    """Send a request without credentials, for what OCP answers to everybody."""
    return request


class AccessKeyAuth(AuthBase):
    """Sign each request with an access key.

    ``date`` returns the ``Date`` header, RFC 1123 in GMT. The service refuses a date that is more than SKEW_ALLOWED
    seconds off.
    """

    def __init__(self, key_id: str, secret: str, date: Callable[[], str] | None = None) -> None:
        self.key_id = key_id
        self._secret = secret
        self._date = date or (lambda: formatdate(usegmt=True))

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        """Add ``Host``, ``Date`` and ``Authorization`` to ``request``."""
        url = urlsplit(str(request.url))
        request.headers["Date"] = self._date()
        # Sign and send the same value: the HTTP library would drop some ports.
        request.headers["Host"] = url.netloc
        text = string_to_sign(str(request.method), str(request.url), request.headers, _bytes(request.body))
        request.headers["Authorization"] = f"{SCHEME} {self.key_id}:{signature(self._secret, text)}"
        return request


def signature(secret: str, text: str) -> str:
    """Base64 of the HMAC-SHA1 of ``text`` under ``secret``."""
    # The service defines its signature with SHA-1 and MD5.
    return base64.b64encode(hmac.new(secret.encode(), text.encode(), hashlib.sha1).digest()).decode()


def string_to_sign(method: str, url: str, headers: Mapping[str, str], body: bytes) -> str:
    """Seven parts, one a line: method, MD5 of the body, content type, date, host, x-ocp headers, path with query."""
    lowered = {name.lower(): value for name, value in headers.items()}
    extra = sorted((name, value) for name, value in lowered.items() if name.startswith("x-ocp-"))
    return "\n".join(
        [
            method.upper(),
            hashlib.md5(body, usedforsecurity=False).hexdigest().upper() if body else "",
            lowered.get("content-type", ""),
            lowered["date"],
            lowered["host"],
            "\n".join(f"{name}:{value}" for name, value in extra),
            _path_and_query(url),
        ]
    )


def encoded_query(params: Mapping[str, object]) -> str:
    """The query of a URL with its question mark, in the form that is signed: sorted, encoded by RFC 3986."""
    pairs = (f"{quote(key, safe='')}={quote(str(params[key]), safe='')}" for key in sorted(params))
    return "?" + "&".join(pairs) if params else ""


def _path_and_query(url: str) -> str:
    parts = urlsplit(url)
    values: dict[str, list[str]] = {}
    for key, value in parse_qsl(parts.query, keep_blank_values=True):
        values.setdefault(key, []).append(value)
    pairs = (
        f"{quote(key, safe='')}={','.join(quote(value, safe='') for value in sorted(values[key]))}"
        for key in sorted(values)
    )
    return parts.path + ("?" + "&".join(pairs) if values else "")


def _bytes(body: object) -> bytes:
    if isinstance(body, bytes):
        return body
    return str(body).encode() if body else b""


def credentials_advice(auth: object, offset: float, base_url: str) -> str:
    """Likely causes of a 401, by the kind of credentials; ``offset`` is how many seconds the service is ahead."""
    if not isinstance(auth, AccessKeyAuth):
        return f"Check username and password. {LOCKED}"
    if abs(offset) > LARGEST_SILENT_SKEW:
        return (
            f"The clock of this machine is {abs(offset):.0f} seconds {'behind' if offset > 0 else 'ahead of'} that "
            f"of the service, which refuses a signature more than {SKEW_ALLOWED} seconds off; set the clock right. "
            f"{ONCE}"
        )
    path = urlsplit(base_url).path
    signed = f"the path ({path}) and the Host of url" if path else "the Host of url"
    return (
        f"Check access_key_id and access_key_secret. The signature covers {signed}: if a proxy changes "
        f"{'them' if path else 'it'}, put the address of the service itself in url. {ONCE}"
    )
