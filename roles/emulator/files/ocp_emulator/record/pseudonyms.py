# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What stands in place of names, ids and addresses: the same for the same, another for another."""

import re
from collections import Counter
from ipaddress import IPv4Address, IPv6Address, ip_address

MASK = "***"
_FIRST_ID = 900_001
# Both ranges are reserved for tests and documents.
_FIRST_V4, _FIRST_V6 = IPv4Address("198.18.0.1"), IPv6Address("2001:db8::1")
_WORD = re.compile(r"[a-z]{1,20}")


class Pseudonyms:
    """The replacements of one recording."""

    def __init__(self) -> None:
        """Nothing was replaced yet."""
        self._names: dict[str, str] = {}
        self._ids: dict[int, int] = {}
        self._addresses: dict[IPv4Address | IPv6Address, str] = {}
        self._counts: Counter[str] = Counter()

    def has_name(self, name: str) -> bool:
        """Whether this was replaced as a name."""
        return name in self._names

    def name(self, name: str, kind: str) -> str:
        """The replacement of a name; `kind` is a word for people, that of the first use."""
        if name not in self._names:
            word = kind.lower() if _WORD.fullmatch(kind.lower()) else "name"
            self._counts[word] += 1
            self._names[name] = f"{word}_{self._counts[word]}"
        return self._names[name]

    def number(self, number: int) -> int:
        """The replacement of an id; 0 and below stand for none, and stay."""
        if number <= 0:
            return number
        return self._ids.setdefault(number, _FIRST_ID + len(self._ids))

    def address(self, address: IPv4Address | IPv6Address) -> str:
        """The replacement of an address."""
        first = _FIRST_V4 if isinstance(address, IPv4Address) else _FIRST_V6
        return self._addresses.setdefault(address, str(first + len(self._addresses)))


def parsed_address(text: str) -> IPv4Address | IPv6Address | None:
    """An address, in whatever spelling; None for other texts."""
    try:
        return ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None
