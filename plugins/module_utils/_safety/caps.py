# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How many servers may be down at a time by host, IDC, region and in all, and which of these caps a restart passes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from math import ceil
from typing import Any

from .._base.errors import OptionError
from .._base.text import counted, join_names
from .._journal.rows import Place

OPTION = "most_down"
# What is capped, each with what it is called and where a server is by it; None where that is not shown.
SCOPES: Mapping[str, tuple[str, Callable[[Place], str | None]]] = {
    "host": ("host", lambda place: place.host),
    "idc": ("IDC", lambda place: place.idc),
    "region": ("region", lambda place: place.region),
    "servers": ("", lambda _place: ""),
    "percent": ("", lambda _place: ""),
}


@dataclass(frozen=True)
class Crossing:
    """A cap that is passed: ``words`` for people; ``down`` are the addresses of the servers that are down in it.

    ``fits_never``: also if no other server is down. ``needed`` is the number with which the cap would not be passed.
    """

    key: str
    words: str
    down: frozenset[str]
    fits_never: bool
    needed: int


@dataclass(frozen=True)
class Caps:
    """At most so many servers may be down in each host, IDC and region, and in all; each as in the option.

    ``percent`` is of all servers of the service, rounded down, but at least one.
    """

    most: Mapping[str, int]

    @property
    def needs_total(self) -> bool:
        """Whether it matters how many servers the service has."""
        return "percent" in self.most

    def crossings(self, total: int, down: Collection[Place], more: Collection[Place]) -> list[Crossing]:
        """The caps that are passed if ``more`` servers are taken down while others are ``down``, of ``total``.

        What is down already may be restarted. A server whose IDC or region is not shown may be in each.
        """
        return [found for key in self.most for found in self._crossed(key, total, down, more)]

    def allowing(self, found: Iterable[Crossing]) -> str:
        """The option with which none of these were passed, as in ``idc=2,percent=20``."""
        needed = dict(self.most)
        for crossing in found:
            needed[crossing.key] = max(needed[crossing.key], crossing.needed)
        return ",".join(f"{key}={number}" for key, number in needed.items())

    def _crossed(self, key: str, total: int, down: Collection[Place], more: Collection[Place]) -> Iterator[Crossing]:
        most, where = self._number(key, total), SCOPES[key][1]
        for value in dict.fromkeys(map(where, more)):
            there = _at(value, where, down)
            added = _at(value, where, more) - there
            if added and len(there) + len(added) > most:
                in_all = len(there) + len(added)
                needed = min(100, ceil(100 * in_all / max(1, total))) if key == "percent" else in_all
                words = self._words(key, value, total, there, added)
                yield Crossing(key, words, there, len(added) > most, needed)

    def _number(self, key: str, total: int) -> int:
        return max(1, total * self.most[key] // 100) if key == "percent" else self.most[key]

    def _words(self, key: str, value: str | None, total: int, there: Collection[str], added: Collection[str]) -> str:
        most, what = self._number(key, total), SCOPES[key][0]
        of = f" of {what} {value}" if what and value else f" of an {what} that is not shown" if what else ""
        share = f" ({self.most[key]} % of {total})" if key == "percent" else ""
        if len(added) > most:
            servers = counted(len(added), "server")
            return f"it takes down {servers}{of} at once, more than the {most} that may be down{share}"
        servers, verb = counted(most, "server"), "is" if len(there) == 1 else "are"
        return f"{len(there)} of {servers}{of}{share} {verb} down ({join_names(sorted(there))})"


def _at(value: str | None, where: Callable[[Place], str | None], places: Iterable[Place]) -> frozenset[str]:
    """The addresses of those that are, or may be, at this value."""
    return frozenset(place.address for place in places if value is None or where(place) in (None, value))


def parse_caps(option: str, given: Mapping[str, Any] | None) -> Caps | None:
    """The caps of the option, None where it is not given. Raises OptionError."""
    if given is None:
        return None
    known = join_names(SCOPES)
    if not given:
        raise OptionError(f"{option}: is empty; give one of {known}, each with a number, or leave it out.")
    for key in given:
        if key not in SCOPES:
            near = get_close_matches(str(key), SCOPES, 1)
            advice = f"did you mean {near[0]}? Give one of {known}." if near else f"give one of {known}."
            raise OptionError(f"{option}: {key} is not known; {advice}")
    return Caps({key: _number(f"{option}.{key}", given[key], 100 if key == "percent" else None) for key in given})


def _number(option: str, value: object, most: int | None) -> int:
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else value
    is_whole = isinstance(number, int) and not isinstance(number, bool)
    if not is_whole or number < 1 or (most is not None and number > most):  # type: ignore[operator]
        asked = "1 or more" if most is None else f"1 to {most}"
        raise OptionError(f"{option}: {value!r} is no such number; give a whole one, {asked}.")
    return number  # type: ignore[return-value]


def portions(caps: Caps, total: int, servers: Iterable[Place]) -> list[list[Place]]:
    """These servers in as many parts as the caps ask for: each is in the first part that it fits, in their order."""
    parts: list[list[Place]] = []
    for server in servers:
        part = next((part for part in parts if not caps.crossings(total, part, [server])), None)
        if part is None:
            parts.append(part := [])
        part.append(server)
    return parts
