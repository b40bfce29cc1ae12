# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The values of parameters that a restart is for: read with each look, and afterwards until they are in effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from .._base.clock import Clock
from .._base.errors import CredentialsRefused, ServiceError
from .._base.text import join_names
from .._journal.journal import Journal
from .._ocp.endpoints import OcpApi
from .._targets.target import Member, Observation, Target
from .awaited_start import PAUSES
from .evidence import PROOF_TIMEOUT
from .restart_request import RestartRequest
from .values_reader import ValuesReader
from .values_seen import ValuesSeen

# The names of the members that were restarted for these values before.
Tried = Callable[[Iterable[Member]], frozenset[str]]


class EffectCheck:
    """The values that a ``request`` wants. ``warnings`` gets a sentence for what the service does not show.

    Without a date they alone decide, so values that the service does not show are refused.
    """

    def __init__(
        self,
        api: OcpApi,
        target: Target,
        request: RestartRequest,
        journal: Journal,
        clock: Clock,
        warnings: list[str],
    ) -> None:
        self._api = api
        self._wanted = request.until_effective
        self._alone = not request.is_dated
        self._check_mode = request.check_mode
        self._clock = clock
        cluster = target.cluster_id or 0, str(target.result().get("cluster_name"))
        self._reader = ValuesReader(api, cluster, self._wanted, warnings, journal, alone=self._alone)
        self._before: ValuesSeen | None = None
        self._after: ValuesSeen | None = None

    def learn(self) -> None:
        """See ``ValuesReader.learn``. Raises a ServiceError."""
        if self._wanted:
            self._reader.learn(self._clock, check_mode=self._check_mode)

    @property
    def requests(self) -> int:
        """How many requests a look for the values takes."""
        return 1 if self._wanted else 0

    def read(self) -> None:
        """Read them, before the target itself is looked at. Raises a ServiceError."""
        self._reader.read()

    def seen(self, observed: Observation, tried: Tried) -> ValuesSeen | None:
        """What was read means for the cluster that was observed; see ``ValuesReader.seen``."""
        seen = self._reader.seen(_servers(observed))
        self._before = None if seen is None else replace(seen, tried=tried(observed.members))
        return self._before

    def facts(self, members: Iterable[Member]) -> dict[str, Any] | None:
        """The key ``effective`` of the result, by what was read last; None if no values are wanted."""
        seen = self._after or self._before
        nothing: dict[str, Any] = {name: {"value": None, "effective": None, "servers": {}} for name in self._wanted}
        return (seen.result(member.name for member in members) if seen else nothing) or None

    def in_effect(self, observed: Observation) -> frozenset[str]:
        """The names of the members that showed all wanted values at last."""
        seen = self._after or self._before
        return frozenset(one.name for one in observed.members if seen and seen.is_in_effect(one.name))

    def await_values(self, observed: Observation) -> ServiceError | None:
        """Read until all members show the wanted values, for PROOF_TIMEOUT; the error of the last read, if any."""
        began, problem = self._clock.now(), None
        while True:
            try:
                self.read()
            except CredentialsRefused as error:
                return error
            except ServiceError as error:
                problem = error
            else:
                self._after, problem = self._reader.shown(_servers(observed)), None
            waited = self._clock.now() - began
            if (problem is None and not self._may_still_show(observed)) or waited >= PROOF_TIMEOUT:
                return problem
            self._clock.sleep(PAUSES.pause(waited, self._clock.jitter(), self._api.retry_after))

    def other_values(self, observed: Observation) -> str:
        """Which members showed other values than the wanted ones at last, in words; empty if none did."""
        seen = self._after
        others = [member for member in observed.members if seen and seen.is_in_effect(member.name) is False]
        return seen.words(others) if seen else ""

    def gap(self, observed: Observation) -> str:
        """Which values were not shown at last, in words; empty if all were, or if something else decides."""
        if not self._wanted or not self._alone:
            return ""
        if self._after is None:
            return f"the service does not show the value of {join_names(self._wanted)} on each server"
        hidden = [member for member in observed.members if self._after.is_in_effect(member.name) is None]
        return self._after.words(hidden)

    def lines(self, restarted: frozenset[str] = frozenset()) -> tuple[dict[str, str], dict[str, str]]:
        """The values of each server before and afterwards, for a diff; ``restarted`` ones will show what is wanted."""
        if self._before is None:
            return {}, {}
        return self._before.lines(), self._after.lines() if self._after else self._before.lines(wanted=restarted)

    def _may_still_show(self, observed: Observation) -> bool:
        if self._after is None:
            return self._before is not None
        return not all(self._after.is_in_effect(member.name) for member in observed.members)


def _servers(observed: Observation) -> list[str]:
    return [server.member.name for server in observed.servers]
