# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which forms of a secret are masked in texts for people: as it is, encoded, escaped, or cut off."""

from __future__ import annotations

import base64
import html
import json
import re
import string
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

from .text import CUT, escape_unprintable

MASK = "********"
# Ansible removes shorter ones as they are; masking them in every form would leave no text.
SHORTEST_SECRET = 4
SHORTEST_PIECE = 6

_SIGNATURE = re.compile(r"(HMACSHA1[ +]+[^\s:]+:)[A-Za-z0-9+/=]+")
_USERINFO = re.compile(r"(?<=://).*@|\A[^/]*@")
# Their digits may be of either case.
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}")
_LOWER = {ord(letter): letter.lower() for letter in string.ascii_uppercase}
_OWN_KEY = re.compile(r"[a-z_]+")


class Censor:
    """Replaces ``secrets``: as they are, in base64, URL-encoded, JSON-escaped, HTML-escaped, and cut.

    ``logins`` are whole texts that are sent in base64, such as ``user:password``.
    """

    def __init__(self, secrets: Iterable[str] = (), logins: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        forms |= {form for login in logins for form in _base64_forms(login)}
        forms = set(map(_canonical, forms))
        # The longest first, since a form may be a part of another.
        self._forms = sorted((form for form in forms if len(form) >= SHORTEST_SECRET), key=len, reverse=True)

    def clean(self, text: str) -> str:
        """``text`` without the secrets."""
        canonical = _canonical(text)
        for form in self._forms:
            if form in canonical:
                text = _replaced(text, canonical, form)
                canonical = canonical.replace(form, MASK)
        if CUT in text:
            first, *others = text.split(CUT)
            pieces = [self._without_cut_end(piece) for piece in (first, *map(self._without_cut_start, others[:-1]))]
            text = CUT.join([*pieces, self._without_cut_start(others[-1])])
        return _SIGNATURE.sub(rf"\1{MASK}", text) if "HMACSHA1" in text else text

    def clean_all(self, value: Any) -> Any:
        """``value`` with every text in it cleaned; names of facts stay."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, dict):
            return {self._key(key): self.clean_all(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.clean_all(item) for item in value]
        return value

    def _key(self, key: Any) -> Any:
        return self.clean(key) if isinstance(key, str) and not _OWN_KEY.fullmatch(key) else key

    def _without_cut_end(self, text: str) -> str:
        """``text``, which ends at a cut, without the beginning of a secret there."""
        length = max((_overlap(text, form) for form in self._forms), default=0)
        return text[: len(text) - length] + MASK if length else text

    def _without_cut_start(self, text: str) -> str:
        """``text``, which begins at a cut, without the end of a secret there."""
        length = max((_overlap(form, text) for form in self._forms), default=0)
        return MASK + text[length:] if length else text


def without_userinfo(url: str) -> str:
    """``url`` without a user name and password in it."""
    return _USERINFO.sub(f"{MASK}@", url)


def _canonical(text: str) -> str:
    """``text``, as long as it is, with its escapes in lower case."""
    if "%" not in text and "\\u" not in text:
        return text
    return _ESCAPE.sub(lambda escape: escape[0].lower(), text)


def _replaced(text: str, canonical: str, form: str) -> str:
    """``text`` with MASK wherever its ``canonical`` has ``form``."""
    pieces, end = [], 0
    while (start := canonical.find(form, end)) >= 0:
        pieces.append(text[end:start])
        end = start + len(form)
    return MASK.join([*pieces, text[end:]])


def _overlap(first: str, second: str) -> int:
    """How many characters, SHORTEST_PIECE or more, end ``first`` and begin ``second``; 0 if fewer.

    In either case, since one of them may end within an escape.
    """
    longest = min(len(first), len(second))
    first, second = first[len(first) - longest :].translate(_LOWER), second[:longest].translate(_LOWER)
    lengths = range(longest, SHORTEST_PIECE - 1, -1)
    return next((length for length in lengths if first.endswith(second[:length])), 0)


def _forms(secret: str) -> Iterator[str]:
    if not secret.strip():
        return
    # As it is read out of a header, too.
    in_header = secret.encode(errors="surrogateescape").decode("latin-1")
    for text in (secret, secret.strip(), in_header):
        yield text
        yield from _encoded(text)
        yield from _base64_forms(text)


def _encoded(text: str) -> Iterator[str]:
    raw = text.encode(errors="surrogateescape")
    for encoded in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        # Encoded again, where it is a part of an address in an address.
        yield from (encoded, quote(encoded, safe=""))
    for escaped in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield escaped
        yield escaped.replace("/", "\\/")
    yield html.escape(text)
    yield html.escape(text, quote=False)
    yield escape_unprintable(text)


def _base64_forms(text: str) -> Iterator[str]:
    encoded = text.encode(errors="surrogateescape")
    for form in (base64.b64encode(encoded).decode(), base64.urlsafe_b64encode(encoded).decode()):
        bare = form.rstrip("=")
        yield from (form, bare, quote(form, safe=""), quote(bare, safe=""))
