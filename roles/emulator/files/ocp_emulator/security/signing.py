# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The signature of an access key, and how old it may be (docs/dev/contract.md, "Access-key signature")."""

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qsl, quote, quote_plus

from ocp_emulator.base.clock import SECOND
from ocp_emulator.base.compatibility import SignedQuery

LARGEST_SKEW = 15 * 60 * SECOND


@dataclass(frozen=True)
class SignedRequest:
    """A request as it was received: path and query still encoded, header names in lower case."""

    method: str
    path: str
    query: str
    headers: Sequence[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of a header; `name` in lower case."""
        return next((value for key, value in self.headers if key == name), None)


def sign(secret: str, text: str) -> str:
    """Base64 of the HMAC-SHA1 of a string to sign."""
    return base64.b64encode(hmac.new(secret.encode(), text.encode(), hashlib.sha1).digest()).decode()


def is_timely(date: str, now: int) -> bool:
    """Whether the date is an RFC 1123 date, and no more than LARGEST_SKEW from `now`."""
    try:
        moment = parsedate_to_datetime(date)
        instant = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * SECOND
    except (ValueError, OverflowError, OSError):
        return False
    return abs(now - instant) <= LARGEST_SKEW


def strings_to_sign(request: SignedRequest, date: str, encoding: SignedQuery) -> Iterator[str]:
    """The strings that the client may have signed, with `date` as its time.

    The older documents require RFC 3986, the newer ones show Java's URLEncoder. None says whether the comma between
    repeated values is encoded, so there are two strings if values are repeated, and more for the encoding `either`.
    """
    digest = hashlib.md5(request.body, usedforsecurity=False).hexdigest().upper() if request.body else ""
    head = [
        request.method.upper(),
        digest,
        request.header("content-type") or "",
        date,
        request.header("host") or "",
        _ocp_headers(request.headers),
    ]
    for query in dict.fromkeys(_queries(request.query, encoding)):
        yield "\n".join([*head, f"{request.path}?{query}" if query else request.path])


def _ocp_headers(headers: Sequence[tuple[str, str]]) -> str:
    values: dict[str, list[str]] = {}
    for key, value in headers:
        if key.startswith("x-ocp-"):
            values.setdefault(key, []).append(value)
    return "\n".join(f"{key}:{','.join(sorted(values[key]))}" for key in sorted(values))


def _queries(query: str, encoding: SignedQuery) -> Iterator[str]:
    values: dict[str, list[str]] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        values.setdefault(key, []).append(value)
    for encode in _ENCODERS[encoding]:
        for comma in (encode(","), ","):
            yield "&".join(f"{encode(key)}={comma.join(map(encode, sorted(values[key])))}" for key in sorted(values))


def _rfc3986(text: str) -> str:
    return quote(text, safe="-._~")


def _url_encoder(text: str) -> str:
    return quote_plus(text, safe="*-._").replace("~", "%7E")


_ENCODERS: Mapping[SignedQuery, tuple[Callable[[str], str], ...]] = {
    "rfc3986": (_rfc3986,),
    "url_encoder": (_url_encoder,),
    "either": (_rfc3986, _url_encoder),
}
