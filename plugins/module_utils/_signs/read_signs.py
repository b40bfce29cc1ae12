# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is read about a cluster for the signs of trouble, and the warning for what the service does not show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from .._base.clock import Clock
from .._base.errors import RequestRefused, ResponseUnreadable
from .._base.parsing import Record
from .._base.service_clock import service_time
from .._ocp.endpoints import OcpApi
from .._ocp.sign_reads import LAG
from .._ocp.unknown_path import if_shown
from .sign_rules import Readings, Sign, Watch

Found = TypeVar("Found")

# The newest sample counts if it is at most this old.
SAMPLES_OF = timedelta(seconds=120)
# No backup runs for longer.
BACKUPS_OF = timedelta(days=7)
# Each of these costs a request; the others show in the records of the cluster.
ASKED = frozenset({Sign.ALARMS, Sign.NTP}), frozenset({Sign.LAG}), frozenset({Sign.BACKUP})


@dataclass
class SignReader:
    """Reads the signs of clusters. ``warnings`` gets a sentence, once, for each that the service does not show."""

    api: OcpApi
    watch: Watch
    clock: Clock
    warnings: list[str] = field(default_factory=list)
    _not_shown: set[str] = field(default_factory=set)

    @property
    def requests(self) -> int:
        """How many requests it sends at most for a cluster."""
        return sum(bool(signs & self.watch.signs) for signs in ASKED)

    def read(self, cluster_id: int, cluster: str) -> Readings:
        """The requested signs of a cluster with this id and name. Raises a ServiceError."""
        now = service_time(self.api.service_clock, self.clock)
        signs = self.watch.signs
        samples = self._read(
            "lag of replicas", {Sign.LAG}, lambda: self.api.lag_samples(cluster, now - SAMPLES_OF, now) or None
        )
        return Readings(
            at=now,
            alarms=self._read("alarms", signs & {Sign.ALARMS, Sign.NTP}, self.api.active_alarms),
            lag=newest_lag(samples or ()),
            backups=self._read("backups", {Sign.BACKUP}, lambda: self.api.data_backups(cluster_id, now - BACKUPS_OF)),
        )

    def _read(self, what: str, signs: Iterable[Sign], read: Callable[[], Found | None]) -> Found | None:
        """The result of ``read``; None if none of ``signs`` is requested, or the service does not show it."""
        asked = self.watch.signs.intersection(signs)
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


def newest_lag(samples: Iterable[Record]) -> float | None:
    """The newest value of the metric, in seconds; None without any."""
    values = [(_number(sample.get("timestamp")), _number(sample.get(LAG))) for sample in samples]
    shown = [(at, value) for at, value in values if at is not None and value is not None]
    return max(shown)[1] if shown else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _why(error: RequestRefused | ResponseUnreadable) -> str:
    return f"status {error.status}" if isinstance(error, RequestRefused) else "its answer has another form"
