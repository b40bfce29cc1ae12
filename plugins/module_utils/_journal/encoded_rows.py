# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How the rows of the journal are written as JSON, and read back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from .._base.parsing import Record
from .rows import FirstSight, MemberKey, Place, RequestRow, Shown


def member_record(member: MemberKey, shown: Shown) -> Record:
    """A member and what it shows, as JSON has it."""
    return {**asdict(member), **asdict(shown)}


def _member(found: Record) -> tuple[MemberKey, Shown]:
    return MemberKey(found["cluster"], found["kind"], found["id"], found["address"]), _shown(found)


def _shown(found: Record) -> Shown:
    return Shown(found["start"], tuple((name, pid) for name, pid in found["pids"]), bool(found["ahead"]))


def _place(found: Record) -> Place:
    shown = found.get("shown")
    return Place(**{**found, "shown": None if shown is None else _shown(shown)})


def sight_record(sight: FirstSight) -> Record:
    """A first sight, as JSON has it."""
    return {
        **member_record(sight.member, sight.shown),
        "at": sight.at,
        "tasks": None if sight.tasks is None else list(sight.tasks),
        "late": list(sight.late),
        "starting": list(sight.starting),
        "running": list(sight.running),
        "filled": sight.filled,
        **({} if sight.newest is None else {"newest": sight.newest}),
        **({} if sight.clocks is None else {"clocks": list(sight.clocks)}),
    }


def read_sight(found: Record) -> FirstSight:
    """The first sight in a record of JSON. Raises KeyError, TypeError or ValueError if it has none."""
    return FirstSight(
        *_member(found),
        at=float(found["at"]),
        tasks=_numbers(found["tasks"]),
        late=tuple(map(int, found["late"])),
        starting=tuple(map(int, found["starting"])),
        running=tuple(map(int, found["running"])),
        filled=bool(found["filled"]),
        newest=None if found.get("newest") is None else float(found["newest"]),
        clocks=_bounds(found.get("clocks")),
    )


def _bounds(found: list[float] | None) -> tuple[float, float] | None:
    return None if found is None else (float(found[0]), float(found[1]))


def request_record(row: RequestRow) -> Record:
    """A request without its number, as JSON has it."""
    record = {**asdict(row), "members": [member_record(*each) for each in row.members]}
    del record["number"]
    return record


def request_json(row: RequestRow) -> str:
    """A request without its number, in ASCII."""
    return json.dumps(request_record(row))


@lru_cache(maxsize=4096)
def read_request(content: str, number: int) -> RequestRow:
    """The request with this number in JSON. Raises KeyError, TypeError or ValueError if it has none.

    Who waits for others reads the same again and again.
    """
    found = json.loads(content)
    members, known = tuple(map(_member, found["members"])), _numbers(found["known"])
    places = tuple(map(_place, found["places"]))
    ahead = found.get("ahead")
    more = {"known": known, "places": places, "ahead": None if ahead is None else tuple(ahead)}
    return RequestRow(**{**found, "number": number, "members": members, **more})


def _numbers(found: Sequence[Any] | None) -> tuple[int, ...] | None:
    return None if found is None else tuple(map(int, found))
