# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What may prevent a restart besides tenants: failures elsewhere, signs of trouble, restarts that took too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from .._base.cli_hints import sentence
from .._base.clock import Clock
from .._base.errors import AuthenticationFailed, NotSafe, OcpError, ServiceError
from .._base.text import in_seconds
from .._journal.journal import Journal
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import SUCCESSFUL
from .._signs.cluster_lag import ClusterLag
from .._signs.offline_budget import PARAMETER, OfflineBudget, exceeded_words, longest_of_newest, read_offline_time
from .._signs.read_signs import SignReader
from .._signs.sign_rules import Readings, Trouble, allowing_words, troubles
from .._targets.target import Target
from .failure_limit import FailureCheck
from .look import Look
from .restart_request import RestartRequest
from .verdicts import Go, Judgement, Refuse, Wait


@dataclass(frozen=True)
class _Budget:
    """How many seconds a server may be offline, None if not shown."""

    allowed: float | None


class SignGate:
    """Judges the signs of trouble of one target. ``warnings`` gets a sentence for what is not shown.

    A ``lag`` is read by another gate before.
    """

    def __init__(
        self,
        api: OcpApi,
        target: Target,
        request: RestartRequest,
        clock: Clock,
        warnings: list[str],
        lag: ClusterLag | None,
        journal: Journal,
    ) -> None:
        self._api = api
        self._target = target
        self._request = request
        self._warnings = warnings
        self._failures = FailureCheck(api, request.failures, request.started_before, clock, warnings)
        if request.change is not None:
            self._failures.begin_with(journal, request.change)
        watch = request.watch
        self._reader = None if watch is None else SignReader(api, watch, clock, warnings, lag, self._began)
        self._read: Readings | ServiceError | None = None
        self._budget: _Budget | ServiceError | None = None

    def _began(self) -> datetime | None:
        """When the change began, by the clock of the service; None if that is not known. Raises JournalError."""
        return self._failures.since

    @property
    def requests(self) -> int:
        """How many requests a look for signs takes."""
        # The parameters of the cluster.
        knows_budget = isinstance(self._budget, _Budget) or self._request.offline_time is not None
        budget = 0 if knows_budget or self._ignores_budget else 1
        return budget + (self._reader.requests if self._reader else 0) + self._failures.requests

    @property
    def offline_time(self) -> float | None:
        """How many seconds a server may be offline, if it was asked for and is shown."""
        return self._budget.allowed if isinstance(self._budget, _Budget) else None

    @property
    def _ignores_budget(self) -> bool:
        return self._request.offline_budget is OfflineBudget.IGNORE

    def read(self) -> None:
        """Read the signs. What fails is raised once the restart is needed."""
        self._failures.read()
        number = self._target.cluster_id
        if number is None:
            return
        try:
            if self._reader is not None:
                self._read = self._reader.read(number, str(self._target.result()["cluster_name"]))
        except AuthenticationFailed:
            raise
        except ServiceError as error:
            self._read = error
        if not isinstance(self._budget, _Budget) and not self._ignores_budget:
            try:
                self._budget = self._read_budget(number)
            except AuthenticationFailed:
                raise
            except ServiceError as error:
                self._budget = error

    def judge(self, look: Look, waited: float) -> Judgement:
        """Refuse what failures elsewhere, the time offline or signs speak against; wait for signs that may end.

        Raises ChangeStopped, and a ServiceError if the signs cannot be read for now.
        """
        self._failures.check(self._target.label)
        over = self._over_budget(look)
        if over is not None and self._request.offline_budget is OfflineBudget.REFUSE:
            return Judgement(Refuse(self._too_long(over)), problems=(over,))
        slow = () if over is None else (f"The restart of {self._target.label} may take too long: {over}.",)
        if self._reader is None or self._read is None:
            return Judgement(Go(), warnings=slow)
        if isinstance(self._read, ServiceError):
            self._read.add_advice("Without stop_on, signs of trouble are not checked.")
            raise self._read
        cluster = str(self._target.result()["cluster_name"])
        found = troubles(cluster, look.observed.servers, self._read, self._reader.watch, look.listed)
        if not found:
            return Judgement(Go(), warnings=slow)
        words, refusal = tuple(one.words for one in found), self._refusal(found, waited)
        passes = all(trouble.passes for trouble in found)
        return Judgement(Wait(refusal, words) if passes else Refuse(refusal), problems=words, warnings=slow)

    def long_restart(self, duration: float | None) -> list[str]:
        """A warning if a restart has taken most of the time that a server may be offline."""
        allowed = self.offline_time
        if allowed is None or duration is None or duration <= allowed / 2:
            return []
        return [
            f"The restart of {self._target.label} took {duration:.0f} of the {allowed:g} seconds that a server may be "
            f"offline ({PARAMETER})."
        ]

    def _read_budget(self, cluster_id: int) -> _Budget:
        allowed = self._request.offline_time
        return _Budget(read_offline_time(self._api, cluster_id, self._warnings) if allowed is None else allowed)

    def _over_budget(self, look: Look) -> str | None:
        """A past restart that took longer than a server may be offline, in words. Raises a ServiceError."""
        budget = self._budget
        try:
            if isinstance(budget, ServiceError):
                raise budget
            if budget is None or budget.allowed is None:
                return None
            # Without the permission this raises the same error as the look did.
            tasks = look.tasks if look.reads_tasks else self._target.tasks(self._api)
        except ServiceError as error:
            error.add_advice(f"With {self._request.hints.named('offline_budget')}=ignore this is not checked.")
            raise
        slowest = longest_of_newest(entry for entry in tasks if entry.task.status == SUCCESSFUL)
        if slowest is None or (slowest.duration or 0.0) <= budget.allowed:
            return None
        return exceeded_words(slowest, budget.allowed)

    def _too_long(self, words: str) -> OcpError:
        option = self._request.hints.given("offline_budget", "warn")
        allowing = f", or allow it with {option}" if option else ""
        larger = sentence(f"Set a larger {PARAMETER} for the cluster{allowing}")
        return NotSafe(f"Did not restart {self._target.label}: {words}. {larger}")

    def _refusal(self, found: Sequence[Trouble], waited: float) -> NotSafe:
        after = f" after {in_seconds(round(waited))}" if waited else ""
        signs = [trouble.words for trouble in found]
        return NotSafe(
            f"Did not restart {self._target.label}: there are signs of trouble{after}: {'; '.join(signs)}. "
            f"{allowing_words(found, self._request.watch, self._request.hints)}",
            signs=signs,
        )
