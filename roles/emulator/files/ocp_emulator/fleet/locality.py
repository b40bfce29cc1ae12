# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The locality of a tenant: which replicas it has in which zone, as the database writes it.

`FULL{1}@zone1, READONLY{1}@zone2` is the long form. `F@zone1, R{2}@zone2` has the short names F, L and R, and one
replica where there is no number. `FULL{1},READONLY{1}@zone1` has two types in one zone.
"""

import re
from dataclasses import dataclass
from typing import Literal

ReplicaType = Literal["FULL", "LOGONLY", "READONLY"]

_TYPES: dict[str, ReplicaType] = {
    "F": "FULL",
    "FULL": "FULL",
    "L": "LOGONLY",
    "LOGONLY": "LOGONLY",
    "R": "READONLY",
    "READONLY": "READONLY",
}
# Full and log replicas vote; a read-only replica follows.
VOTING: frozenset[ReplicaType] = frozenset({"FULL", "LOGONLY"})
_PART = re.compile(r"(?P<type>[A-Z]+)(\{(?P<number>[1-9]\d?)\})?(@(?P<zone>\S+))?")


@dataclass(frozen=True)
class Replicas:
    """So many replicas of one type in a zone."""

    zone: str
    type: ReplicaType
    number: int


def parse_locality(text: str) -> tuple[Replicas, ...]:
    """The replicas of a locality, in its order. Raises ValueError with one sentence that names the invalid part."""
    found: list[Replicas] = []
    # Types that stand before the zone that they share.
    waiting: list[tuple[ReplicaType, int]] = []
    for part in (each.strip() for each in text.split(",")):
        match = _PART.fullmatch(part)
        if match is None or match["type"] not in _TYPES:
            raise ValueError(f"{part!r} is not a part of a locality, such as FULL{{1}}@zone1")
        waiting.append((_TYPES[match["type"]], int(match["number"] or 1)))
        if match["zone"]:
            found += [Replicas(match["zone"], type_, number) for type_, number in waiting]
            waiting.clear()
    if waiting:
        raise ValueError(f"{text!r} ends without a zone")
    places = [(each.zone, each.type) for each in found]
    if len(places) > len(set(places)):
        raise ValueError(f"{text!r} names a type of replica twice in a zone")
    if not any(each.type in VOTING for each in found):
        raise ValueError(f"{text!r} has no replica that votes")
    return tuple(found)
