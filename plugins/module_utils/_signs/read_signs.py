# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is read about a cluster for the signs of trouble, and the warning for what the service does not show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from .._base.clock import Clock
from .._base.errors import RequestRefused, ResponseUnreadable
from .._base.parsing import Record
from .._base.service_clock import service_time
from .._ocp.endpoints import OcpApi
from .._ocp.unknown_path import if_shown
from .cluster_lag import ClusterLag, read_lag
from .sign_rules import Readings, Sign, Watch

Found = TypeVar("Found")

# No backup and no restore runs for longer.
BACKUPS_OF = timedelta(days=7)
# Each of these costs a request; the others show in the records of the cluster.
ALARMS, LAG, BACKUPS, RESTORES, METRICS = "alarms", "lag of replicas", "backups", "restores", "metrics"
ASKED = {
    ALARMS: frozenset({Sign.ALARMS, Sign.NTP}),
    LAG: frozenset({Sign.LAG}),
    BACKUPS: frozenset({Sign.BACKUP}),
    RESTORES: frozenset({Sign.BACKUP}),
    METRICS: frozenset({Sign.METRICS}),
}


@dataclass
class SignReader:
    """Reads the signs of clusters. ``warnings`` gets a sentence, once, for each that the service does not show.

    A ``lag`` that somebody else reads before is not read again. ``began`` tells when the change began, by the clock of
    the service, None if it begins now: metrics from before it are read once, unless the watch has them.
    """

    api: OcpApi
    watch: Watch
    clock: Clock
    warnings: list[str] = field(default_factory=list)
    lag: ClusterLag | None = None
    began: Callable[[], datetime | None] | None = None
    _before: dict[str, Mapping[str, float]] = field(default_factory=dict)
    _not_shown: set[str] = field(default_factory=set)

    @property
    def requests(self) -> int:
        """How many requests it sends at most for a cluster."""
        asked = [what for what, signs in ASKED.items() if signs & self.watch.checked]
        of_metrics = METRICS in asked and self.watch.metrics_before is None and not self._before
        return sum(what != LAG or self.lag is None for what in asked) + of_metrics

    def read(self, cluster_id: int, cluster: str) -> Readings:
        """The requested signs of a cluster with this id and name. Raises a ServiceError."""
        now = service_time(self.api.service_clock, self.clock)
        lag = partial(read_lag, self.api, cluster, now) if self.lag is None else self.lag.shown_seconds
        return Readings(
            at=now,
            lag=self._read(LAG, lag),
            alarms=self._read(ALARMS, self.api.active_alarms),
            backups=self._read(BACKUPS, lambda: self.api.data_backups(cluster_id, now - BACKUPS_OF)),
            restores=self._read(RESTORES, lambda: self.api.tenant_restores(cluster_id, now - BACKUPS_OF)),
            metrics=self._read(METRICS, partial(self._samples, self.api.newest_metrics, cluster, now)),
            metrics_before=self._read(METRICS, partial(self._medians_before, cluster, now)) or {},
        )

    def _samples(self, read: Callable[..., list[Record]], cluster: str, until: datetime) -> list[Record]:
        longest = max(limit.seconds for limit in self.watch.limits)
        names = sorted({limit.name for limit in self.watch.limits})
        return read(cluster, names, until - timedelta(seconds=longest), until)

    def _medians_before(self, cluster: str, now: datetime) -> Mapping[str, float]:
        known = self.watch.metrics_before
        if known is not None or not any(limit.rise is not None for limit in self.watch.limits):
            return known or {}
        if cluster not in self._before:
            from .metric_rules import medians_before

            began = (self.began() if self.began else None) or now
            samples = self._samples(self.api.metric_samples, cluster, began)
            self._before[cluster] = medians_before(self.watch.limits, samples, began)
        return self._before[cluster]

    def _read(self, what: str, read: Callable[[], Found | None]) -> Found | None:
        """The result of ``read``; None if no sign is requested that needs it, or the service does not show it."""
        asked = self.watch.checked & ASKED[what]
        if not asked or what in self._not_shown:
            return None
        found = if_shown(read, lambda error: self._warn(what, asked, _why(error)))
        if found is None:
            self._warn(what, asked, "there is none")
        return found

    def _warn(self, what: str, asked: Iterable[Sign], why: str) -> None:
        if what not in self._not_shown:
            self._not_shown.add(what)
            names = ", ".join(sorted(sign.value for sign in asked))
            self.warnings.append(f"The service does not show {what} ({why}), so stop_on={names} cannot check it.")


def _why(error: RequestRefused | ResponseUnreadable) -> str:
    return f"status {error.status}" if isinstance(error, RequestRefused) else "its answer has another form"
