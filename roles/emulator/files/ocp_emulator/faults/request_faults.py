# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which requests a fault matches (method, path, query, body, user), which fault hits first, how hits are counted."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Generic, TypeVar
from urllib.parse import parse_qsl

from pydantic import Field, JsonValue, model_validator
from pydantic.alias_generators import to_camel

from ocp_emulator.base.paths import CONTROL, is_control
from ocp_emulator.faults import fault_chance, fault_plan
from ocp_emulator.faults.fault_plan import Count, Text
from ocp_emulator.schemas.schema import Schema
from ocp_emulator.store.database import Store


@dataclass(frozen=True)
class Received:
    """What a fault sees of a request; `path` is decoded, `query` and `body` are as received."""

    method: str
    path: str
    query: bytes = b""
    body: bytes = b""

    def parameters(self) -> list[tuple[str, str]]:
        """The parameters of the query, whatever its bytes are."""
        return parse_qsl(self.query.decode("latin-1"), keep_blank_values=True)

    def json(self) -> object:
        """The body; None when it is no JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


class HttpMatch(Schema):
    """Which requests; an omitted field matches any.

    `path` is a shell pattern over the decoded path, in which `*` stands for slashes too. Calls of the control API match
    only where it begins with `/emulator`. `user` is the user of the right credentials that were sent. `query` has a
    shell pattern for each parameter that the request needs. `body` is JSON, all of which the body has: of an object
    each of these keys, of a list as many elements.
    """

    method: Text | None = None
    path: Text | None = None
    user: Text | None = None
    query: dict[str, str] | None = None
    body: JsonValue = None

    def matches(self, received: Received, user: Callable[[], str | None]) -> bool:
        """Whether a request matches; `user` is called only if the user matters."""
        return (
            (self.path or "").startswith(CONTROL) >= is_control(received.path)
            and (self.method is None or self.method.upper() == received.method)
            and (self.path is None or fnmatchcase(received.path, self.path))
            and (self.query is None or _has_parameters(received.parameters(), self.query))
            and (self.body is None or _has(received.json(), self.body))
            and (self.user is None or self.user == user())
        )


def _has_parameters(parameters: list[tuple[str, str]], wanted: Mapping[str, str]) -> bool:
    return all(
        any(name == found and fnmatchcase(value, pattern) for found, value in parameters)
        for name, pattern in wanted.items()
    )


def _has(value: object, wanted: JsonValue) -> bool:
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(name in value and _has(value[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(_has, value, wanted))
    return type(value) is type(wanted) and value == wanted


class RequestFault(Schema):
    """A fault that hits requests, or the answers to them.

    `call` is the first matching request that is hit, counted from 1; `probability` lets chance decide about each of
    them, by `seed` always in the same way. `times` is how often it hits, null for always.
    """

    match: HttpMatch = Field(default_factory=HttpMatch)
    call: Count | None = None
    probability: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Annotated[int, Field(strict=True)] | None = None
    times: Count | None = 1

    @model_validator(mode="after")
    def _check_when_it_hits(self) -> "RequestFault":
        if self.call is not None and self.probability is not None:
            raise ValueError("call and probability cannot both be given")
        if self.seed is not None and self.probability is None:
            raise ValueError("seed goes with probability")
        return self

    def hits(self, match: int) -> bool:
        """Whether it hits the `match`th request that matches, counted from 1."""
        return fault_chance.hits(match, self.call, self.probability, self.seed)


@dataclass(frozen=True)
class ActionOptions:
    """The options of an action: required and optional ones."""

    needed: frozenset[str] = frozenset()
    possible: frozenset[str] = frozenset()


def check_options(fault: Schema, action: str, table: Mapping[str, ActionOptions]) -> None:
    """ValueError when the fault lacks an option that its action needs, or has one of another action of the table."""
    options = table[action]
    known = frozenset().union(*(each.needed | each.possible for each in table.values()))
    given = {name for name in known if getattr(fault, name) is not None}
    for name in sorted(options.needed - given):
        raise ValueError(f"the action {action} needs {to_camel(name)}")
    for name in sorted(given - options.needed - options.possible):
        raise ValueError(f"{to_camel(name)} does not go with the action {action}")


Fault = TypeVar("Fault", bound=RequestFault)


@dataclass(frozen=True)
class Planned(Generic[Fault]):
    """A fault of the plan that is not used up, when it was planned, and how many requests have matched it so far."""

    id: int
    fault: Fault
    create_time: int
    matches: int

    def hits_next(self) -> bool:
        """Whether it hits the next request that matches."""
        return self.fault.hits(self.matches + 1)


def planned(db: sqlite3.Connection, models: Mapping[str, type[Fault]]) -> list[Planned[Fault]]:
    """The faults of these kinds that are not used up, oldest first."""
    rows = sorted((row for kind in models for row in fault_plan.active(db, kind)), key=lambda row: int(row["id"]))
    return [
        Planned(
            row["id"], models[row["kind"]].model_validate(json.loads(row["fault"])), row["create_time"], row["matches"]
        )
        for row in rows
    ]


def count(store: Store, matching: list[Planned[Fault]], hits: list[Planned[Fault]]) -> None:
    """Count a match of each of these faults, and a hit of each of those."""
    if not matching:
        return
    with store.transaction() as db:
        for each in matching:
            fault_plan.count_match(db, each.id)
        for each in hits:
            fault_plan.count_hit(db, each.id)


def first_hit(
    store: Store, models: Mapping[str, type[Fault]], received: Received, user: Callable[[], str | None]
) -> Planned[Fault] | None:
    """The first fault of these kinds that hits this request. Counts its hit, and the match of each that matches."""
    matching = [each for each in planned(store.db, models) if each.fault.match.matches(received, user)]
    hit = next((each for each in matching if each.hits_next()), None)
    count(store, matching, [hit] if hit else [])
    return hit
