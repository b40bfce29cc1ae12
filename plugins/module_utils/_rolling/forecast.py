# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How long a plan will take, in how many windows, until when: by the durations of past restarts of its kind."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import prod
from statistics import median
from typing import TYPE_CHECKING, Any

from .._base.parsing import Record, instant
from .._base.text import counted
from .._restart.time_gate import longest_restart, past_restarts
from .run_record import duration_words

if TYPE_CHECKING:
    from .._base.windows import Calendar, Span

Result = dict[str, Any]

# The newest past restarts of a cluster that count, and the longest pause between two of one run, in seconds.
MOST_PAST, LONGEST_PAUSE = 200, 300.0
# Where the past shows none: a poll, and the looks before the next request.
UNKNOWN_PAUSE = 10.0
# Of more clusters at once the past is put together.
MOST_APART = 8


@dataclass(frozen=True)
class Past:
    """Past restarts of one kind in a cluster, in seconds: ``took``, in order, the ``longest``, and ``pauses`` between.

    ``longest`` is what the gate of time goes by: 0 if there is none.
    """

    took: Sequence[float] = ()
    longest: float = 0.0
    pauses: Sequence[float] = ()

    @classmethod
    def of(cls, tasks: Sequence[Record], kind: str | None) -> Past:
        """The past of the ``tasks`` of a cluster, newest first."""
        plain = [task for task in past_restarts(tasks, kind) if task.is_plain][:MOST_PAST]
        slowest = longest_restart(tasks, kind)
        times = sorted(
            (begin, end)
            for begin, end in ((instant(task.start_time), instant(task.finish_time)) for task in plain)
            if begin is not None and end is not None
        )
        apart = [(after[0] - before[1]).total_seconds() for before, after in pairwise(times)]
        return cls(
            sorted(task.duration or 0.0 for task in plain),
            0.0 if slowest is None else slowest.duration or 0.0,
            [pause for pause in apart if 0 <= pause <= LONGEST_PAUSE],
        )


@dataclass(frozen=True)
class Stage:
    """Restarts at the same time: how many in each cluster, with its past. ``soak`` seconds are watched after them."""

    parts: Sequence[tuple[Past, int]]
    soak: float = 0.0


def forecast(stages: Sequence[Stage], every: Iterable[Past], now: datetime, windows: Calendar | None) -> Result:
    """The key ``forecast`` of a plan. A cluster without past restarts is judged by that of ``every`` cluster."""
    known = list(every)
    pooled = Past(
        sorted(seconds for past in known for seconds in past.took), pauses=[p for past in known for p in past.pauses]
    )
    if stages and not pooled.took:
        return _facts(None, None, None, "It is not known how long it takes: OCP shows no past restart of this kind.")
    pause = median(pooled.pauses) if pooled.pauses else UNKNOWN_PAUSE
    last = len(stages) - 1
    steps = [
        (
            _expected(stage, pooled) + (pause if place < last else 0.0),
            stage.soak,
            max(past.longest for past, _count in stage.parts),
        )
        for place, stage in enumerate(stages)
    ]
    return _laid_out(steps, now, windows)


def time_left_words(count: int, pace: float, watch: float, now: datetime, windows: Calendar) -> str:
    """The windows that ``count`` restarts still need, each of ``pace`` seconds, as in ``in 2 windows, until ...``.

    The first of them begins when ``watch`` seconds have passed.
    """
    found = _laid_out([(pace, 0.0, pace)] * count, now + timedelta(seconds=watch), windows)
    return str(found["message"]).partition(", ")[2].removesuffix(".")


def _expected(stage: Stage, pooled: Past) -> float:
    """The seconds until the slowest of a stage has ended, on average."""
    parts = [(past.took or pooled.took, count) for past, count in stage.parts]
    if len(parts) > MOST_APART:
        parts = [(pooled.took, sum(count for _took, count in parts))]
    values = sorted({seconds for took, _count in parts for seconds in took})
    below, expected = 0.0, 0.0
    for seconds in values:
        share = prod((bisect_right(took, seconds) / len(took)) ** count for took, count in parts)
        expected, below = expected + seconds * (share - below), share
    return expected


def _laid_out(steps: Sequence[tuple[float, float, float]], now: datetime, windows: Calendar | None) -> Result:
    """Lay steps into windows: the seconds of each, those that are watched after it, those that the gate demands."""
    seconds = sum(took + soak for took, soak, _longest in steps)
    work = f"About {duration_words(seconds)}"
    if windows is None or not steps:
        return _facts(seconds, None, now + timedelta(seconds=seconds), f"{work}.")
    spans = windows.spans(now)
    at, place, used = now, 0, set()
    for took, soak, longest in steps:
        found = _place(spans, place, at, longest)
        if found is None:
            needed = duration_words(longest)
            return _facts(seconds, None, None, f"{work}, but no window of the next 400 days has {needed} left for it.")
        place = found
        used.add(place)
        at = max(at, spans[place].opens) + timedelta(seconds=took + soak)
    count = len(used)
    return _facts(seconds, count, at, f"{work}, in {counted(count, 'window')}, until {windows.local(at)}.")


def _place(spans: Sequence[Span], place: int, at: datetime, longest: float) -> int | None:
    """The first window from ``place`` on in which a restart may begin at ``at`` or later."""
    needed = timedelta(seconds=longest)
    for number in range(place, len(spans)):
        begins = max(at, spans[number].opens)
        if begins < spans[number].closes and begins + needed <= spans[number].closes:
            return number
    return None


def _facts(seconds: float | None, windows: int | None, ends: datetime | None, message: str) -> Result:
    return {
        "seconds": None if seconds is None else round(float(seconds), 1),
        "windows": windows,
        "ends": None if ends is None else ends.astimezone(UTC).isoformat(timespec="seconds"),
        "message": message,
    }
