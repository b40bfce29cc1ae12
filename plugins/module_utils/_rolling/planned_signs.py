# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The signs of trouble in a plan: which are there now, which alarms are known, how long a server may be offline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from .._base.clock import Clock
from .._health.health_rules import Kind, Problem
from .._health.read_health import ClusterHealth
from .._ocp.endpoints import OcpApi
from .._signs.alarm_rules import alarms_of
from .._signs.offline_budget import read_offline_time
from .._signs.read_signs import SignReader
from .._signs.sign_rules import Trouble, Watch, troubles
from .._targets.cluster import placed_servers


@dataclass(frozen=True)
class SeenSigns:
    """The signs of trouble in a cluster, the ids of its alarms, and the seconds that a server of it may be offline.

    ``metrics`` are the medians before the change.
    """

    troubles: Sequence[Trouble] = ()
    alarms: Sequence[int] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    offline_time: float | None = None

    @property
    def blocking(self) -> list[Problem]:
        """The signs that waiting cannot end."""
        return [Problem(trouble.words, Kind.HELD) for trouble in self.troubles if not trouble.passes]

    def result(self) -> dict[str, Any]:
        """As registered facts."""
        words = [trouble.words for trouble in self.troubles]
        offline_time = None if self.offline_time is None else max(1, int(self.offline_time))
        return {
            "signs": words,
            "alarms": list(self.alarms),
            "metrics": dict(self.metrics),
            "offline_time": offline_time,
        }


class PlannedSigns:
    """Looks at each cluster for signs of trouble.

    The restarts ignore alarms that are there now. Without ``watch`` it checks none. ``judges_budget``: it reads how
    long a server may be offline. ``began`` tells when the change began, None if it begins now.
    ``raised`` are the seconds that this is raised to before the first restart.
    """

    def __init__(
        self,
        api: OcpApi,
        watch: Watch | None,
        judges_budget: bool,
        clock: Clock,
        warnings: list[str],
        began: Callable[[], datetime | None],
        raised: float | None = None,
    ) -> None:
        self._api = api
        self._judges_budget = judges_budget
        self._warnings = warnings
        self._raised = raised
        self._reader = None if watch is None else SignReader(api, watch, clock, warnings, began=began)

    def of(self, health: ClusterHealth) -> SeenSigns:
        """What is seen of a cluster. Raises a ServiceError."""
        number, name = health.cluster["id"], str(health.cluster["name"])
        found: list[Trouble] = []
        alarms: list[int] = []
        metrics: Mapping[str, float] = {}
        if self._reader is not None:
            readings = self._reader.read(number, name)
            placed = placed_servers(health.records.cluster, health.records.servers)
            own = alarms_of(readings.alarms or (), name, placed)
            alarms = [known for alarm in own if (known := alarm.get("id")) is not None]
            watch = replace(self._reader.watch, alarms_before=frozenset(alarms))
            found = troubles(name, placed, readings, watch, health.listed)
            metrics = readings.metrics_before
        offline = read_offline_time(self._api, number, self._warnings) if self._judges_budget else None
        if self._raised is not None:
            offline = max(self._raised, offline or 0.0)
        return SeenSigns(found, alarms, metrics, offline)
