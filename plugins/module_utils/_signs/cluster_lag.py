# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How far the replicas of a cluster lag: read once for all that judge by the same look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .._base.clock import Clock
from .._base.errors import AuthenticationFailed, RequestRefused, ResponseUnreadable, ServiceError
from .._base.parsing import Record, number
from .._base.service_clock import service_time
from .._ocp.endpoints import OcpApi
from .._ocp.sign_reads import LAG
from .._ocp.unknown_path import if_shown

# The newest sample counts if it is at most this old.
SAMPLES_OF = timedelta(seconds=120)


@dataclass
class ClusterLag:
    """How far the replicas of one cluster lag. A service that does not show it is not asked again."""

    api: OcpApi
    cluster: str
    clock: Clock
    _found: float | None = None
    _problem: ServiceError | None = None
    _missing: list[RequestRefused | ResponseUnreadable] = field(default_factory=list)

    def read(self) -> None:
        """Read it anew. What fails is raised by those who need it."""
        self._found = self._problem = None
        if self._missing:
            return
        now = service_time(self.api.service_clock, self.clock)
        try:
            self._found = if_shown(lambda: read_lag(self.api, self.cluster, now), self._missing.append)
        except AuthenticationFailed:
            raise
        except ServiceError as error:
            self._problem = error

    @property
    def seconds(self) -> float | None:
        """What was read last; None if it is not shown. Raises the ServiceError of a read that failed for now."""
        if self._problem is not None:
            raise self._problem
        return self._found

    def shown_seconds(self) -> float | None:
        """The same; raises also the error because of which it is not shown."""
        for error in self._missing:
            raise error
        return self.seconds


def read_lag(api: OcpApi, cluster: str, now: datetime) -> float | None:
    """How far the replicas of a cluster lag, in seconds; None without a sample. Raises a ServiceError."""
    return newest_lag(api.lag_samples(cluster, now - SAMPLES_OF, now))


def newest_lag(samples: Iterable[Record]) -> float | None:
    """The newest value of the metric, in seconds; None without any."""
    values = [(number(sample.get("timestamp")), number(sample.get(LAG))) for sample in samples]
    shown = [(at, value) for at, value in values if at is not None and value is not None]
    return max(shown)[1] if shown else None
