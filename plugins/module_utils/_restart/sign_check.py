# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What may prevent a restart besides tenants: failures elsewhere, signs of trouble, restarts that took too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .._base.clock import Clock
from .._base.errors import NotSafe, ServiceError
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import SUCCESSFUL, Task
from .._signs.offline_budget import (
    PARAMETER,
    TASKS_READ,
    OfflineBudget,
    exceeded_words,
    longest_of_newest,
    read_offline_time,
)
from .._signs.read_signs import SignReader
from .._signs.sign_rules import Readings, Trouble, allowing_words, troubles
from .._targets.target import Target
from .._waiting.poll_pauses import PollPolicy
from .attempt import Progressing, RestartAttempt
from .failure_limit import FailureCheck
from .look import Sight
from .restart_request import RestartRequest
from .safety_wait import SafetyWait

# The parameters, and the finished restarts.
BUDGET_REQUESTS = 2


@dataclass(frozen=True)
class _Budget:
    """How many seconds a server may be offline, None if not shown, and a past restart that took longer, if any."""

    allowed: float | None
    exceeded: Task | None


class SignCheck:
    """Judges the signs of trouble of one target, again and again; ``wait`` is for those that may end."""

    def __init__(
        self,
        api: OcpApi,
        target: Target,
        request: RestartRequest,
        attempt: Progressing[RestartAttempt],
        wait: SafetyWait,
        clock: Clock,
    ) -> None:
        self._api = api
        self._target = target
        self._request = request
        self._attempt = attempt
        self._safety_wait = wait
        self._reader = None if request.watch is None else SignReader(api, request.watch, clock, attempt.warnings)
        self._failures = FailureCheck(api, request.failures, request.started_before, clock, attempt.warnings)
        self._read: Readings | ServiceError | None = None
        self._budget: _Budget | ServiceError | None = None

    @property
    def requests(self) -> int:
        """How many requests a look for signs takes."""
        budget = 0 if self._budget is not None or self._ignores_budget else BUDGET_REQUESTS
        return budget + (self._reader.requests if self._reader else 0) + self._failures.requests

    @property
    def _ignores_budget(self) -> bool:
        return self._request.offline_budget is OfflineBudget.IGNORE

    @property
    def _offline_time(self) -> float | None:
        return self._budget.allowed if isinstance(self._budget, _Budget) else None

    def read(self) -> None:
        """Read the signs, before the target itself is looked at. What fails is raised once the restart is needed."""
        self._failures.read()
        number = self._target.cluster_id
        if number is None:
            return
        try:
            if self._reader is not None:
                self._read = self._reader.read(number, str(self._target.result()["cluster_name"]))
        except ServiceError as error:
            self._read = error
        if self._budget is None and not self._ignores_budget:
            try:
                self._budget = self._read_budget(number)
            except ServiceError as error:
                self._budget = error

    def allows(self, sight: Sight) -> bool:
        """Whether nothing prevents the request right after this sight; if not, look again: it has waited.

        Raises NotSafe, ChangeStopped, and a ServiceError if the signs cannot be read for now.
        """
        self._failures.check(self._target.label)
        self._judge_budget()
        if self._reader is None or self._read is None:
            return True
        if isinstance(self._read, ServiceError):
            self._read.add_advice("Without stop_on, signs of trouble are not checked.")
            raise self._read
        cluster = str(self._target.result()["cluster_name"])
        found = troubles(cluster, sight.observed.servers, self._read, self._reader.watch)
        if not found:
            return True
        passes = all(trouble.passes for trouble in found)
        if not self._safety_wait.puts_off([one.words for one in found], passes=passes):
            raise self._refusal(found)
        return False

    def with_offline_time(self, policy: PollPolicy) -> PollPolicy:
        """The policy of the wait for the restart, which shows how much longer a server may be offline."""
        return replace(policy, offline_time=self._offline_time)

    def warn_of_long_restart(self) -> None:
        """Say in the result that a restart has taken most of the time that a server may be offline."""
        task = self._attempt.so_far.task
        taken = None if task is None else task["duration"]
        allowed = self._offline_time
        if allowed is not None and taken is not None and taken > allowed / 2:
            self._attempt.warnings.append(
                f"The restart of {self._target.label} took {taken:.0f} of the {allowed:g} seconds that a server may be "
                f"offline ({PARAMETER})."
            )

    def _read_budget(self, cluster_id: int) -> _Budget:
        allowed = self._request.offline_time
        if allowed is None:
            allowed = read_offline_time(self._api, cluster_id, self._attempt.warnings)
        if allowed is None:
            return _Budget(None, None)
        past = self._target.tasks(self._api, status=SUCCESSFUL, limit=TASKS_READ)
        longest = longest_of_newest(past)
        exceeds = longest is not None and (longest.duration or 0.0) > allowed
        return _Budget(allowed, longest if exceeds else None)

    def _judge_budget(self) -> None:
        budget = self._budget
        if isinstance(budget, ServiceError):
            budget.add_advice("With offline_budget=ignore, this is not checked.")
            raise budget
        if budget is None or budget.allowed is None or budget.exceeded is None:
            return
        words = exceeded_words(budget.exceeded, budget.allowed)
        if self._request.offline_budget is OfflineBudget.REFUSE:
            self._note_refusal([words])
            raise NotSafe(
                f"Did not restart {self._target.label}: {words}. Set a larger {PARAMETER} for the cluster, or allow it "
                "with offline_budget=warn."
            )
        self._attempt.warnings.append(f"The restart of {self._target.label} may take too long: {words}.")

    def _refusal(self, found: Sequence[Trouble]) -> NotSafe:
        waited = f" after {self._safety_wait.waited:.0f} seconds" if self._safety_wait.waited else ""
        signs = [trouble.words for trouble in found]
        self._note_refusal(signs)
        return NotSafe(
            f"Did not restart {self._target.label}: there are signs of trouble{waited}: {'; '.join(signs)}. "
            f"{allowing_words(found)}",
            signs=signs,
        )

    def _note_refusal(self, words: Sequence[str]) -> None:
        """Add the reasons to the safety result: tenants are not all that decides."""
        safety = self._attempt.so_far.safety
        if safety is not None:
            problems = [*safety["problems"], *words]
            self._attempt.note(safety={**safety, "problems": problems, "allowed": False})
