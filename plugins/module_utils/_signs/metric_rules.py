# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How far metrics of a cluster may go: which samples count, how few decide nothing, and what is too much."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from statistics import median
from typing import Any

from .._base.checks import check_range
from .._base.errors import OptionError
from .._base.parsing import Record, instant, number
from .._base.text import counted
from .._ocp.sign_reads import SECONDS_BETWEEN_SAMPLES
from .._targets.task_names import DATABASE_RESTARTS, kind_of
from .metric_limit import MetricLimit

# Seconds: the longest time over which a median is formed.
LONGEST_LOOK_BACK = 3600
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.:]{0,199}")


def parse_limit(given: Mapping[str, Any]) -> MetricLimit:
    """The limit of an entry of the option ``metric_limits``. Raises OptionError."""
    name, samples, seconds = given["name"], given["samples"], given["seconds"]
    if not _NAME.fullmatch(name):
        shown = name or "an empty text"
        raise OptionError(
            f"metric_limits: {shown} is not the name of a metric; give one as OCP has it, like sql_all_rt."
        )
    for option in ("most", "rise"):
        value = given[option]
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise OptionError(f"metric_limits: {option} of {name} is {value:g}; give a number of at least 0.")
    check_range(f"metric_limits.samples of {name}", samples, 1, LONGEST_LOOK_BACK // SECONDS_BETWEEN_SAMPLES)
    # A sample may be missing at either end.
    least = (samples + 1) * SECONDS_BETWEEN_SAMPLES
    check_range(f"metric_limits.seconds of {name}", seconds, least, LONGEST_LOOK_BACK, " seconds")
    return MetricLimit(name, given["most"], given["rise"], samples, seconds)


def parse_medians(given: Mapping[str, Any] | None) -> dict[str, float] | None:
    """The medians of the option ``metrics_before``; None if it is not given. Raises OptionError."""
    if given is None:
        return None
    found = {name: number(value) for name, value in given.items()}
    for name, value in found.items():
        if value is None:
            raise OptionError(
                f"metrics_before: {given[name]} is not a number; give the median of {name} before the change."
            )
    return {name: value for name, value in found.items() if value is not None}


def last_restart(listed: Iterable[Record]) -> datetime | None:
    """The end of the last restart among these tasks of a cluster; None if none of them shows its end."""
    restarts = (task for task in listed if kind_of(task.get("name")) in DATABASE_RESTARTS)
    return max((end for task in restarts if (end := instant(task.get("finishTime"))) is not None), default=None)


def medians_before(limits: Iterable[MetricLimit], samples: Sequence[Record], began: datetime) -> dict[str, float]:
    """The medians by metric before a change that ``began`` then, as far as there are enough samples."""
    found = {limit.name: (_values(samples, limit, began, None), limit.samples) for limit in limits}
    return {name: median(values) for name, (values, least) in found.items() if len(values) >= least}


def metric_words(
    cluster: str,
    limits: Iterable[MetricLimit],
    samples: Sequence[Record],
    before: Mapping[str, float],
    now: datetime,
    settled: datetime | None,
) -> Iterator[str]:
    """What speaks against going on, in words; ``before`` are the medians before the change.

    Samples count that are later than ``settled``, the end of the last restart.
    """
    for limit in limits:
        values = _values(samples, limit, now, settled)
        there = f"{limit.name} of {cluster}"
        if len(values) < limit.samples:
            shown = counted(len(values), "sample")
            yield f"{there} has {shown} of {limit.seconds:g} seconds and since the last restart, not {limit.samples}"
            continue
        value = median(values)
        if limit.most is not None and value > limit.most:
            yield f"{there} is {value:g}, more than {limit.most:g}"
        if limit.rise is not None:
            yield from _risen(there, value, before.get(limit.name), limit.rise)


def _risen(there: str, value: float, before: float | None, rise: float) -> Iterator[str]:
    if before is None:
        yield f"{there} has too few samples from before the change, so it is not known whether it has risen"
    elif value > before * (1 + rise / 100):
        yield f"{there} has risen from {before:g} to {value:g}, by more than {rise:g} %"


def _values(samples: Iterable[Record], limit: MetricLimit, until: datetime, after: datetime | None) -> list[float]:
    last = until.timestamp()
    first = max(last - limit.seconds, 0.0 if after is None else after.timestamp())
    shown = ((number(sample.get("timestamp")), number(sample.get(limit.name))) for sample in samples)
    return [value for at, value in shown if at is not None and value is not None and first < at <= last]
