# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The search for the effect of a request whose response was lost: how long, how often, and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from .._base.clock import Clock
from .._base.errors import CredentialsRefused, OcpError, ServiceError, TargetError
from .._ocp.endpoints import OcpApi
from .poll_pauses import SHORTEST_PAUSE

Found = TypeVar("Found")


@dataclass(frozen=True)
class Search(Generic[Found]):
    """What was ``found``, if anything, and the error of the last look, if it failed."""

    found: Found | None
    problem: OcpError | None

    @property
    def is_in_vain(self) -> bool:
        """Whether looking again is pointless."""
        return isinstance(self.problem, (CredentialsRefused, TargetError))

    @property
    def last_look(self) -> str:
        """Words about the last look, if it failed."""
        return f" (the last poll failed: {str(self.problem).rstrip('.')})" if self.problem else ""


def search_outcome(api: OcpApi, look: Callable[[], Found | None], clock: Clock) -> Search[Found]:
    """Look again and again until something is found, for as long as one request may last.

    A look may read many pages of the list: at most a third of the time is spent with looks.
    """
    until = clock.now() + api.timeout
    while True:
        began = clock.now()
        try:
            search = Search(look(), None)
        except (ServiceError, TargetError) as error:
            search = Search(None, error)
        if search.found or search.is_in_vain or clock.now() >= until:
            return search
        clock.sleep(max(SHORTEST_PAUSE, 2 * (clock.now() - began)))
