# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a gate may say about a request that is about to be sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from .._base.errors import OcpError
from .look import Look


@dataclass(frozen=True)
class Go:
    """Nothing prevents it."""


@dataclass(frozen=True)
class LookAgain:
    """Something was read after the look, so that no longer decides."""


@dataclass(frozen=True)
class Wait:
    """It may be allowed later; ``lines`` are shown meanwhile, and ``refusal`` is raised when there is no time left."""

    refusal: OcpError
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Refuse:
    """It is not allowed."""

    error: OcpError


@dataclass(frozen=True)
class Postpone:
    """It is not begun in this run, which is no failure."""

    why: str


Verdict: TypeAlias = "Go | LookAgain | Wait | Refuse | Postpone"


@dataclass(frozen=True)
class Judgement:
    """A verdict, and what it adds to the result.

    ``safety`` is the whole key of the result, None if this gate does not judge it; ``problems`` are added to that of
    another gate. ``meaning`` is added to the reason.
    """

    verdict: Verdict
    safety: dict[str, Any] | None = None
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    meaning: str = ""


class Gate(Protocol):
    """Judges a request by the look that decides, and by what it has read before that look."""

    @property
    def requests(self) -> int:
        """How many requests ``read`` takes at most."""

    def read(self) -> None:
        """Read anew what the look does not show. An error that only matters for a restart is kept for ``judge``."""

    def judge(self, look: Look, waited: float) -> Judgement:
        """Judge it; ``waited`` are the seconds that this restart has waited for gates. Raises a ServiceError."""
