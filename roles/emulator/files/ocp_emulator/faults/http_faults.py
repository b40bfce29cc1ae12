# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of kind `http`: they break a request, or the response to it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ocp_emulator.base.paths import CONTROL, is_control
from ocp_emulator.faults import fault_chance, fault_effects, fault_plan
from ocp_emulator.faults.fault_effects import HttpAction, When
from ocp_emulator.faults.fault_plan import MAX_SECONDS, Count, Text
from ocp_emulator.schemas.schema import Schema
from ocp_emulator.store.database import Store

_ERROR_STATUSES = frozenset({401, 403, 409, 429, *range(500, 600)})
_HTML_STATUSES = frozenset({200, *range(400, 600)})


class HttpMatch(Schema):
    """Which requests; what is left out matches any.

    `path` is a shell pattern over the decoded path, in which `*` stands for slashes too. Calls of the control API match
    only where it begins with `/emulator`. `user` is the user of the right credentials that were sent.
    """

    method: Text | None = None
    path: Text | None = None
    user: Text | None = None

    def matches(self, method: str, path: str, user: Callable[[], str | None]) -> bool:
        """Whether a request matches; `user` is called only if the user matters."""
        return (
            (self.path or "").startswith(CONTROL) >= is_control(path)
            and (self.method is None or self.method.upper() == method)
            and (self.path is None or fnmatchcase(path, self.path))
            and (self.user is None or self.user == user())
        )


class HttpFault(Schema):
    """Disturbs requests: refuses connections, spoils the answer, or restarts the service; see docs/emulator.md.

    `when` tells whether the request has no effect on the service (`before`, which it is where nothing is said) or all
    of it (`after`). `call` is the first matching request that is hit, counted from 1; `probability` lets chance decide
    about each of them, by `seed` always in the same way. `times` is how often it hits, null for always. `seconds` are
    those of the machine, not of the emulator's clock; `size` is in bytes.
    """

    kind: Literal["http"]
    match: HttpMatch = Field(default_factory=HttpMatch)
    action: HttpAction
    when: When | None = None
    call: Count | None = None
    probability: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Annotated[int, Field(strict=True)] | None = None
    times: Count | None = 1
    seconds: Annotated[float, Field(ge=0, le=MAX_SECONDS)] | None = None
    size: Count | None = None
    status: Annotated[int, Field(ge=200, le=599, strict=True)] | None = None
    message: Text | None = None
    reset: Count | None = None

    @model_validator(mode="after")
    def _check_options_of_action(self) -> "HttpFault":
        options = fault_effects.OPTIONS[self.action]
        given = {name for name in fault_effects.OPTIONS_OF_ANY_ACTION if getattr(self, name) is not None}
        for name in sorted(options.needed - given):
            raise ValueError(f"the action {self.action} needs {name}")
        for name in sorted(given - options.needed - options.possible):
            raise ValueError(f"{name} does not go with the action {self.action}")
        if self.action == "error" and self.status not in _ERROR_STATUSES:
            raise ValueError(f"status {self.status} is none of 401, 403, 409, 429 and 500 to 599")
        if self.action == "html" and self.response_status() not in _HTML_STATUSES:
            raise ValueError(f"status {self.status} is neither 200 nor one of 400 to 599")
        if self.reset is not None and self.status != 429:
            raise ValueError("reset goes with status 429")
        return self

    @model_validator(mode="after")
    def _check_when_it_hits(self) -> "HttpFault":
        if self.call is not None and self.probability is not None:
            raise ValueError("call and probability cannot both be given")
        if self.seed is not None and self.probability is None:
            raise ValueError("seed goes with probability")
        return self

    def takes_effect(self) -> bool:
        """Whether the service handles a request that is hit."""
        return fault_effects.takes_effect(self.action, self.when)

    def response_status(self) -> int:
        """The status that html and error respond with."""
        return 502 if self.status is None else self.status

    def hits(self, match: int) -> bool:
        """Whether it hits the `match`th request that matches, counted from 1."""
        return fault_chance.hits(match, self.call, self.probability, self.seed)


@dataclass(frozen=True)
class FaultHit:
    """A fault that hits a request."""

    id: int
    fault: HttpFault


def match_request(store: Store, method: str, path: str, user: Callable[[], str | None]) -> FaultHit | None:
    """The first fault of the plan that hits this request. Counts its hit, and the match of each fault that matches."""
    faults = [(row, HttpFault.model_validate(json.loads(row["fault"]))) for row in fault_plan.active(store.db, "http")]
    matching = [(row, fault) for row, fault in faults if fault.match.matches(method, path, user)]
    if not matching:
        return None
    hit = next((FaultHit(row["id"], fault) for row, fault in matching if fault.hits(row["matches"] + 1)), None)
    with store.transaction() as db:
        for row, _fault in matching:
            fault_plan.count_match(db, row["id"])
        if hit is not None:
            fault_plan.count_hit(db, hit.id)
    return hit
