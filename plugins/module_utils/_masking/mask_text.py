# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What of a text is replaced: all but signs, times, counts in braces, ports after an address, and documented words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from .._base.censor import MASK
from .documented_words import is_documented
from .pseudonyms import Addresses, Names, Numbers, parsed_address

NAME = "name"
# The tenant that each cluster has.
RESERVED_NAMES = ("sys",)
LONGEST_SIGN = 3
_TIME = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)?"
_DAYTIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_TOKENS = re.compile(
    rf"""
      (?P<kept> (?<![\w.:-])(?:{_TIME}|{_DAYTIME})(?![\w:-]) | (?<=\{{)\d{{1,3}}(?=\}}) | (?<=\]:)\d{{1,5}}(?!\w) )
    | (?P<v4> (?<![\w.-])\d{{1,3}}(?:\.\d{{1,3}}){{3}} ) (?P<port> :\d{{1,5}} )? (?![\w.-]*\w)
    | (?P<v6> (?<![\w:.])[0-9A-Fa-f]{{0,4}}:[0-9A-Fa-f]{{0,4}}:[0-9A-Fa-f:.]*(?:%\w+)? )
    | (?P<token> [^\s,;:(){{}}\[\]"'=@|<>]+ )
    """,
    re.VERBOSE | re.ASCII,
)
_SEPARATORS = re.compile(r"""[,;:(){}\[\]"'=@|<>]""")
_SECRET = re.compile(
    r"(?im)((?:passw\w*|pwd|secret\w*|\w*token|credential\w*|access_?key\w*|authorization|cookie)\W{0,3}[:=]\s*).+$"
)
_FULL_TIME = re.compile(_TIME, re.ASCII)


@dataclass
class TextMask:
    """Replaces what is in texts. ``noting`` remembers the originals and replaces nothing."""

    numbers: Numbers
    addresses: Addresses
    names: Names
    noting: bool = True

    def name(self, text: str, kind: str = NAME) -> str:
        """A text in which nothing is documented; one that has no separators is one name."""
        if _FULL_TIME.fullmatch(text):
            return text
        if _SEPARATORS.search(text) or _is_number(text) or parsed_address(text):
            return self._replaced(text, kind, lambda _word: False)
        return self._name(text, kind) if text.strip() else text

    def words(self, text: str) -> str:
        """A text for people or of a documented grammar."""
        text = _SECRET.sub(rf"\1{MASK}", text)
        if not self.noting and self._names is not None:
            pieces = self._names.split(text)
            known = (self._name(piece, NAME) for piece in pieces[1::2])
            others = [self._replaced(piece, NAME, is_documented) for piece in pieces[::2]]
            return "".join(part for pair in zip(others, [*known, ""], strict=True) for part in pair)
        return self._replaced(text, NAME, is_documented)

    @cached_property
    def _names(self) -> re.Pattern[str] | None:
        """The names that are found in texts as a whole, which their words would not show."""
        odd = [name for name in self.names.noted() if is_documented(name) or re.search(r"\s", name)]
        longest = sorted((re.escape(name) for name in odd), key=len, reverse=True)
        return re.compile(rf"(?<!\w)({'|'.join(longest)})(?!\w)") if longest else None

    def _replaced(self, text: str, kind: str, stays: Callable[[str], bool]) -> str:
        def replace(match: re.Match[str]) -> str:
            if match["kept"]:
                return match["kept"]
            if match["v4"]:
                return self._address(match["v4"], kind) + (match["port"] or "")
            if match["v6"]:
                return self._address(match["v6"], kind)
            return self._token(match["token"], kind, stays)

        return _TOKENS.sub(replace, text)

    def _address(self, text: str, kind: str) -> str:
        found = parsed_address(text)
        if found is None:
            return ":".join(self._token(piece, kind, is_documented) if piece else "" for piece in text.split(":"))
        if self.noting:
            self.addresses.note(found)
            return text
        return self.addresses.of(found)

    def _token(self, token: str, kind: str, stays: Callable[[str], bool]) -> str:
        word = token.rstrip(".!?")
        end = token[len(word) :][:LONGEST_SIGN]
        if MASK in token:
            return MASK
        if not any(character.isalnum() or not character.isascii() for character in word):
            return token[:LONGEST_SIGN]
        if _is_number(word):
            return self._number(int(word)) + end
        if parsed_address(word):
            return self._address(word, kind) + end
        return (word if stays(word) else self._name(word, kind)) + end

    def _number(self, number: int) -> str:
        if self.noting:
            self.numbers.note(number)
            return str(number)
        return str(self.numbers.of(number))

    def _name(self, name: str, kind: str) -> str:
        if name in RESERVED_NAMES:
            return name
        if self.noting:
            self.names.note(name)
            return name
        return self.names.of(name, kind)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18
