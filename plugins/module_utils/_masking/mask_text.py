# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which parts of a text are replaced: all but signs, times, counts in braces, ports, and documented words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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
_SPACE = re.compile(r"\s")
# Where a name may begin.
_START = re.compile(r"(?<!\w)\S")
_FULL_TIME = re.compile(_TIME, re.ASCII)


@dataclass
class TextMask:
    """Replaces what is in texts. While ``noting``, it collects the originals and replaces nothing."""

    numbers: Numbers
    addresses: Addresses
    names: Names
    noting: bool = True

    def name(self, text: str, kind: str = NAME) -> str:
        """A text without documented words; without separators it is one name."""
        if _FULL_TIME.fullmatch(text):
            return text
        if _SEPARATORS.search(text) or _is_number(text) or parsed_address(text):
            return self._replaced(text, kind, lambda _word: False)
        return self._name(text, kind) if text.strip() else text

    def words(self, text: str) -> str:
        """A text for people or of a documented grammar."""
        text = _SECRET.sub(rf"\1{MASK}", text)
        if self.noting or not self._odd_names:
            return self._replaced(text, NAME, is_documented)
        shown, done = [], 0
        for place, name in self._found(text):
            shown += [self._replaced(text[done:place], NAME, is_documented), self._name(name, NAME)]
            done = place + len(name)
        return "".join([*shown, self._replaced(text[done:], NAME, is_documented)])

    @cached_property
    def _odd_names(self) -> frozenset[str]:
        """The names that are searched for in texts as a whole, because their words would not show them."""
        return frozenset(name for name in self.names.noted() if is_documented(name) or _SPACE.search(name))

    @cached_property
    def _lengths(self) -> list[int]:
        return sorted({len(name) for name in self._odd_names}, reverse=True)

    def _found(self, text: str) -> Iterator[tuple[int, str]]:
        """Where a text has one of these names as words of its own; the longest where several begin."""
        done = 0
        for start in _START.finditer(text):
            place = start.start()
            names = (text[place : place + length] for length in self._lengths if place >= done)
            name = next((each for each in names if each in self._odd_names and _ends(text, place + len(each))), None)
            if name is not None:
                yield place, name
                done = place + len(name)

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


def _ends(text: str, place: int) -> bool:
    """Whether no word goes on there."""
    return not (text[place - 1].isalnum() and text[place : place + 1].isalnum())


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18
