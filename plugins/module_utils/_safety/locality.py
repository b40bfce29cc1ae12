# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which zones have a voter of a tenant, and one that can lead, by its locality: types, counts, lists, spellings.

The forms are in docs/dev/contract.md, "Tenants".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

LEADING = frozenset({"F", "FULL"})
VOTING = LEADING | {"L", "LOGONLY"}
NOT_VOTING = frozenset({"R", "READONLY", "C", "COLUMNSTORE"})

# Whether each zone has a voter, or one that can lead; None where a replica is of a type that is not known.
Voters: TypeAlias = Mapping[str, "bool | None"]

# A comma that separates is in neither {} nor [].
_SEPARATOR = re.compile(r",(?![^{\[]*[}\]])")
_REPLICAS = re.compile(r"([^\W\d]\w*)\s*(?:\{\s*(\w*)[^}]*\})?")
_ZONE = re.compile(r"[\w.-]+")
_NOTHING: Voters = MappingProxyType({})


def type_votes(word: str) -> bool | None:
    """Whether a replica of this type votes; None if the type is not known."""
    known = word.strip().upper()
    return True if known in VOTING else False if known in NOT_VOTING else None


def type_leads(word: str) -> bool | None:
    """Whether a replica of this type can become the leader, which has the data; None if the type is not known."""
    votes = type_votes(word)
    return word.strip().upper() in LEADING if votes else votes


def voters_of(locality: str | None) -> Voters | None:
    """The zones of a locality such as ``FULL{1}@zone1, READONLY{1}@zone2``; None if it is not understood.

    A zone has one voter at most, whatever the count. Types before one place belong there together, as in
    ``F,R{2}@zone1``. If different types are spread over a list of zones, it is not known which zone has which.
    """
    return _places(locality, type_votes)


def leaders_of(locality: str | None) -> Voters | None:
    """The same zones, and whether each has a voter that can become the leader."""
    return _places(locality, type_leads)


def _places(locality: str | None, answer: Callable[[str], bool | None]) -> Voters | None:
    """The zones with the ``answer`` for the types of their replicas."""
    found: dict[str, bool | None] = {}
    waiting: list[bool | None] = []
    for part in _SEPARATOR.split((locality or "").strip().strip("'\"")):
        types, at, place = part.partition("@")
        replicas = _REPLICAS.fullmatch(types.strip())
        zones = list(_zones(place))
        if replicas is None or (at and not (zones and all(map(_ZONE.fullmatch, zones)))):
            return None
        if replicas[2] != "0":
            waiting.append(answer(replicas[1]))
        for zone in zones:
            found[zone] = _strongest([*waiting, *([found[zone]] if zone in found else [])], apart=len(zones) > 1)
        waiting = [] if at else waiting
    return found if found and not waiting else None


def zones_in(zone_list: str | None) -> Voters:
    """The zones of a list such as ``zone1;zone2``, of whose replicas nothing is known."""
    names = re.split(r"[;,\s]+", zone_list or "")
    return {name: None for name in names if name} or _NOTHING


def _zones(place: str) -> Iterator[str]:
    """The names in ``zone1`` or ``[zone1, zone2]``."""
    for name in place.strip().removeprefix("[").removesuffix("]").split(","):
        if name.strip():
            yield name.strip()


def _strongest(votes: list[bool | None], *, apart: bool) -> bool | None:
    """Whether one of these replicas of a place votes or leads; ``apart``: each of its zones has some of them only."""
    if apart and len(set(votes)) > 1:
        return None
    return True if True in votes else None if None in votes else False
