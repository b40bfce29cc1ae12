# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The wait for a healthy cluster: when it ends, its progress lines, and the error at its timeout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from types import MappingProxyType
from typing import Any

from .._base.checks import check_range
from .._base.cli_hints import NEXT_STEPS_HEADING, RUN_AGAIN
from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import NotHealthy, ServiceError
from .._base.parsing import Record
from .._base.text import NAMED_AT_MOST, in_seconds
from .._fleet.facts import Facts
from .._ocp.endpoints import OcpApi
from .._signs.read_signs import SignReader
from .._signs.sign_rules import Sign, Trouble, Watch, troubles
from .._targets.cluster import placed_servers
from .._targets.lookup import clusters_named, exactly_one
from .._waiting.poll_pauses import LASTING, LASTING_AT_FIRST, PollPolicy, poll_until_done, transient_error_warnings
from .._waiting.progress_lines import HEARTBEAT_SECONDS, Show, progress_line
from .health_rules import Kind, Problem
from .read_health import ClusterHealth, Demands, read_health

Result = dict[str, Any]

NO_CHANGES: Mapping[str, str] = MappingProxyType({})


def await_health(
    api: OcpApi,
    cluster: str,
    demands: Demands,
    policy: PollPolicy,
    *,
    soak: float = 0.0,
    watch: Watch | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Result:
    """Poll until the ``cluster`` with this name or id is healthy (see ``health_problems``); returns its facts.

    Then it has to stay healthy for ``soak`` seconds; a task that somebody begins meanwhile is not a problem. What that
    does to the cluster, and what may pass, has to be over by the end of them, or within the timeout after that. With
    ``watch`` it must also have no signs of trouble. They are read when everything else is healthy, or explained.

    Temporary polling errors do not end the wait. Raises NotHealthy after one last poll, or at once if only a person
    can clear a problem; its facts hold the result with the ``problems``. Raises TargetError if the cluster does not
    exist.
    """
    if demands.min_zones is not None:
        check_range("min_zones", demands.min_zones, 1)
    signs = None if watch is None else SignReader(api, watch, clock)
    poller = _PolledCluster(api, cluster, demands, policy.show, signs)
    waited = poll_until_done(poller, api, policy, clock)
    if poller.problems:
        advice = "Check the cluster first; then wait again, or with a larger wait_timeout."
        words = unhealthy_words(poller.problems, waited, advice)
        raise NotHealthy(f"Cluster {poller.name} {words}", **poller.result(waited))
    if soak > 0:
        waited += _soak(poller, api, policy, soak, clock)
    result = poller.result(waited)
    if soak > 0 and poller.unsettled:
        words = unhealthy_words(poller.unsettled, None, "Check the cluster before you go on.")
        raise NotHealthy(f"Cluster {poller.name} did not stay healthy for {in_seconds(soak)}; it {words}", **result)
    return result


def _soak(poller: _PolledCluster, api: OcpApi, policy: PollPolicy, seconds: float, clock: Clock) -> float:
    """Poll for so many seconds, and until what may pass has passed; returns the seconds taken."""
    poller.phase = _Phase.SOAK
    waited = poll_until_done(poller, api, replace(policy, timeout=seconds), clock)
    if poller.unsettled and not poller.ill:
        poller.phase = _Phase.END_OF_SOAK
        waited += poll_until_done(poller, api, policy, clock)
    return waited


def unhealthy_words(
    problems: Sequence[Problem], waited: float | None, advice: str, changes: Mapping[str, str] = NO_CHANGES
) -> str:
    """That a cluster is not healthy, why, and what to do; ``advice`` if a wait may help. See problem_words."""
    held = [problem for problem in problems if problem.kind is Kind.HELD]
    if held:
        return f"is not healthy, and waiting does not help: {problem_words(held)}"
    after = "" if waited is None else f" after {in_seconds(round(waited))}"
    return f"is not healthy{after}: {problem_words(problems, advice, changes)}"


def problem_words(problems: Sequence[Problem], advice: str = "", changes: Mapping[str, str] = NO_CHANGES) -> str:
    """The first of ``problems``, and what a person can do about them, with the commands on lines of their own.

    ``changes`` are by servers the names for which the start of one that is stopped is to count.
    """
    remedies = [line for problem in problems[:NAMED_AT_MOST] for line in problem.ways(changes)]
    words = f"{_first([problem.text for problem in problems])}.{' ' if advice else ''}{advice}"
    return "\n".join([f"{words} {NEXT_STEPS_HEADING}", *remedies, RUN_AGAIN]) if remedies else words


def _first(problems: Sequence[str]) -> str:
    more = f"; and {len(problems) - NAMED_AT_MOST} more" if len(problems) > NAMED_AT_MOST else ""
    return "; ".join(problems[:NAMED_AT_MOST]) + more


def _kind_of(trouble: Trouble) -> Kind:
    if not trouble.passes:
        return Kind.HELD
    return Kind.AT_WORK if trouble.sign in (Sign.BACKUP, Sign.MERGE) else Kind.PASSING


class _Phase(Enum):
    """The wait for a healthy cluster; the time that it has to stay so; and the wait for what may pass at its end."""

    WAIT = "wait"
    SOAK = "soak"
    END_OF_SOAK = "end of soak"


class _PolledCluster:
    """A cluster as last read, with its health problems."""

    def __init__(
        self, api: OcpApi, cluster_option: str, demands: Demands, show: Show, signs: SignReader | None
    ) -> None:
        self.cluster: Facts | None = None
        self.servers: list[Facts] = []
        self.problems: list[Problem] = []
        self.phase = _Phase.WAIT
        self.failures: list[ServiceError] = []
        self._api = api
        self._cluster_option = cluster_option
        self._demands = demands
        self._show = show
        self._signs = signs
        self._is_found = False
        self._reported: list[str] = []
        self._last_report = 0.0

    @property
    def done(self) -> bool:
        """Whether the wait of this phase is over before its time."""
        if self.phase is _Phase.WAIT:
            return bool(self.held) or not self.problems
        return bool(self.ill) or (self.phase is _Phase.END_OF_SOAK and not self.unsettled)

    @property
    def unsettled(self) -> list[Problem]:
        """The problems without the tasks at work: what these explain, too."""
        return [problem for problem in self.problems if problem.kind is not Kind.AT_WORK]

    @property
    def unexplained(self) -> list[Problem]:
        """The problems that no running task explains."""
        return [problem for problem in self.problems if problem.kind in (Kind.PASSING, Kind.ILL, Kind.HELD)]

    @property
    def ill(self) -> list[Problem]:
        """Of these, the ones that do not pass soon."""
        return [problem for problem in self.unexplained if problem.kind is not Kind.PASSING]

    @property
    def held(self) -> list[Problem]:
        """The problems that only a person can clear."""
        return [problem for problem in self.problems if problem.kind is Kind.HELD]

    @property
    def name(self) -> str:
        """As in ``orders (id 1)``; the option until the cluster is found."""
        return f"{self.cluster['name']} (id {self.cluster['id']})" if self.cluster else self._cluster_option

    def result(self, waited: float) -> Result:
        """The result of the module after these seconds."""
        of_signs = self._signs.warnings if self._signs else []
        return {
            "changed": False,
            "cluster": self.cluster,
            "servers": self.servers,
            "problems": [problem.text for problem in self.problems],
            "held": bool(self.held),
            "elapsed": round(waited, 3),
            "warnings": [*transient_error_warnings("the cluster", self.failures), *of_signs],
        }

    @property
    def heartbeat_due(self) -> float:
        """Seconds into the wait at which ``heartbeat`` is due."""
        return self._last_report + HEARTBEAT_SECONDS

    def poll(self) -> None:
        """Read the cluster again."""
        try:
            self._read()
        except ServiceError as error:
            if isinstance(error, LASTING if self._is_found else LASTING_AT_FIRST):
                raise
            self.failures.append(error)
            self.problems = [Problem(f"it cannot be read: {error.what.rstrip('.')}", Kind.PASSING)]

    def _read(self) -> None:
        record = self._record()
        self._is_found = True
        health = read_health(self._api, record, self._demands)
        self.cluster, self.servers = health.cluster, health.servers
        self.problems = health.problems
        is_explained = self.phase is not _Phase.WAIT and not self.unexplained
        if is_explained or not self.problems:
            self.problems = [*self.problems, *self._signs_of(health)]

    def _signs_of(self, health: ClusterHealth) -> list[Problem]:
        if self._signs is None:
            return []
        name = str(health.cluster["name"])
        readings = self._signs.read(health.cluster["id"], name)
        placed = placed_servers(health.records.cluster, health.records.servers)
        found = troubles(name, placed, readings, self._signs.watch, health.listed)
        return [Problem(trouble.words, _kind_of(trouble)) for trouble in found]

    def _record(self) -> Record:
        if self.cluster is None:
            return exactly_one("cluster", self._cluster_option, *clusters_named(self._api, self._cluster_option))
        return self._api.cluster(self.cluster["id"])

    def report(self, waited: float) -> None:
        """Show each problem once while it persists, and the recovery."""
        texts = [problem.text for problem in self.problems]
        for text in texts:
            if text not in self._reported:
                self._say(f": {text}", waited, failed=True)
        if self._reported and not texts:
            self._say(f": healthy after {waited:.0f} s", waited)
        self._reported = texts

    def heartbeat(self, waited: float) -> None:
        """Show that the first problem persists, or that there is none."""
        if not self.problems:
            self._say(f": healthy for {waited:.0f} s", waited)
            return
        self._say(f" not healthy after {waited:.0f} s: {self.problems[0].text}", waited, failed=True)

    def _say(self, text: str, waited: float, *, failed: bool = False) -> None:
        self._last_report = waited
        name = self.cluster["name"] if self.cluster else self._cluster_option
        self._show(progress_line(f"{name}{text}"), failed)
