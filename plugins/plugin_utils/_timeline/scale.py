# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The time axis of a chart: its ticks, the least width of a bar, marks of steps without a start."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from .durations import duration
from .timeline import Step

# Free space at the right for the marks of steps without a start.
MARK_LANE = 0.05
LEAST_WIDTH = 0.006
MOST_TICKS = 4
_DAY = 86400
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200)


@dataclass(frozen=True)
class Bar:
    """The bar of a row; ``left`` and ``width`` are fractions of the chart's width. A row without a start has a mark."""

    left: float
    width: float
    is_mark: bool


@dataclass(frozen=True)
class Tick:
    """A line of the time axis; ``left`` is a fraction of the chart's width, ``label`` the time since its start."""

    left: float
    label: str


@dataclass(frozen=True)
class Scale:
    """The time range of a chart, over ``room`` (a fraction) of its width."""

    start: datetime | None
    seconds: float
    room: float

    @classmethod
    def over(cls, rows: list[Step]) -> Scale:
        """The scale that fits all ``rows``."""
        times = [time for row in rows for time in (row.start, row.end) if row.start and time]
        room = 1.0 if all(row.start for row in rows) else 1.0 - MARK_LANE
        if not times:
            return cls(None, 0.0, room)
        first = min(times)
        return cls(first, (max(times) - first).total_seconds(), room)

    def place(self, row: Step) -> Bar:
        """The bar of a row."""
        if self.start is None or row.start is None:
            return Bar(1.0 - MARK_LANE / 2, 0.0, True)
        left = self._part(row.start)
        right = max(left, self._part(row.end)) if row.end else left
        width = max(right - left, LEAST_WIDTH)
        return Bar(min(left, self.room - width), width, False)

    def ticks(self) -> list[Tick]:
        """The lines of the axis, the first at 0; empty if no time is known."""
        if not self.seconds:
            return []
        step = next((size for size in _TICKS if self.seconds / size <= MOST_TICKS), 0) or self._whole_days()
        count = int(self.seconds / step + 1e-9)
        return [Tick(n * step / self.seconds * self.room, duration(n * step)) for n in range(count + 1)]

    def _whole_days(self) -> float:
        return float(_DAY * ceil(self.seconds / MOST_TICKS / _DAY))

    def _part(self, time: datetime) -> float:
        if self.start is None or not self.seconds:
            return 0.0
        return (time - self.start) / timedelta(seconds=self.seconds) * self.room
