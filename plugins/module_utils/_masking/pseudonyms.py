# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The replacements: the same original always has the same replacement, and no replacement is an original."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import count, product
from string import digits
from typing import TypeAlias

Address: TypeAlias = "IPv4Address | IPv6Address"

FIRST_ID = 1001
LETTERS = "xyzqvwkjabcdefghilmnoprstu"
# Both ranges are reserved for tests and documents.
FIRST_V4 = int(IPv4Address("198.18.0.1"))
FIRST_V6 = int(IPv6Address("2001:db8::1"))


class Numbers:
    """Ids above 0, in their order. All of them have to be collected before the first is replaced."""

    def __init__(self) -> None:
        self._noted: set[int] = set()
        self._replaced: dict[int, int] = {}

    def note(self, number: int) -> None:
        """Remember an id."""
        self._noted.add(number)

    def settle(self) -> None:
        """Choose the replacements."""
        self._replaced = _ranked(self._noted, FIRST_ID)

    def of(self, number: int) -> int:
        """The replacement; 0 and below stand for no id, and stay."""
        return self._replaced[number] if number > 0 else number


class Addresses:
    """IP addresses, in their order; as for Numbers."""

    def __init__(self) -> None:
        self._noted: set[Address] = set()
        self._replaced: dict[Address, Address] = {}

    def note(self, address: Address) -> None:
        """Remember an address."""
        self._noted.add(address)

    def settle(self) -> None:
        """Choose the replacements."""
        for family, first in ((IPv4Address, FIRST_V4), (IPv6Address, FIRST_V6)):
            own = {int(address) for address in self._noted if isinstance(address, family)}
            self._replaced |= {family(old): family(new) for old, new in _ranked(own, first).items()}

    def of(self, address: Address) -> str:
        """The replacement."""
        return str(self._replaced[address])


class Names:
    """Names of all kinds, numbered in the order in which they are replaced; as for Numbers."""

    def __init__(self) -> None:
        self._noted: set[str] = set()
        self._replaced: dict[str, str] = {}
        self._prefixes: dict[str, str] = {}
        self._numbers = count(1)

    def note(self, name: str) -> None:
        """Remember a name."""
        self._noted.add(name)

    def has(self, name: str) -> bool:
        """Whether this is one of them."""
        return name in self._noted

    def noted(self) -> list[str]:
        """All names, in their order."""
        return sorted(self._noted)

    def of(self, name: str, kind: str) -> str:
        """The replacement; ``kind`` is a word for people, that of the first use."""
        if name not in self._replaced:
            if kind not in self._prefixes:
                self._prefixes[kind] = self._clear_prefix(kind)
            self._replaced[name] = f"{self._prefixes[kind]}{next(self._numbers)}"
        return self._replaced[name]

    def _clear_prefix(self, kind: str) -> str:
        """A prefix that contains no name, whatever number follows: zone_x contains one if a name is zone, x or x1."""
        names = {name.lower() for name in self._noted}
        stems = tuple({name.rstrip(digits) for name in names if name[-1:].isdigit()} - {""})
        endings = ("".join(letters) for length in (1, 2) for letters in product(LETTERS, repeat=length))
        candidates = (prefix for ending in endings for prefix in (f"{kind}_{ending}", ending))
        clear = (each for each in candidates if not (each.endswith(stems) or any(name in each for name in names)))
        # If every letter is a name, each text contains one.
        return next(clear, f"{kind}_")


def parsed_address(text: str) -> Address | None:
    """An address, in whatever spelling; None for other texts."""
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


def _ranked(originals: set[int], first: int) -> dict[int, int]:
    free = (number for number in count(first) if number not in originals)
    return dict(zip(sorted(originals), free, strict=False))
