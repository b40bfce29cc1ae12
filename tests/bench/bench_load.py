# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""200 clients that poll at once an emulator with 5,000 tasks: how long it takes to answer.

Each client keeps its connection, logs on by HTTP Basic, and reads a running server restart of its own. Paced: it asks
again half a second after the answer, which is as often as the waits of the collection do at most. Back to back: it asks
again at once, so that all 200 always wait for one process, and an answer takes 200 times what one costs.
The floor is the one call of the service that needs neither credentials nor a table, `/api/v2/time`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import seeded
from emulator import HEADERS, Emulator, serving
from table import table

TASKS, CLIENTS = 5_000, 200
PAUSE, SECONDS = 0.5, 15
LARGEST_MEDIAN_MS = 20
LISTS, LIST_SIZE = 10, 2_000
_HEAD = ("milliseconds", "requests", "errors", "median", "p95", "max", "per second", "cores")
_FLOOR = "/api/v2/time"


@dataclass(frozen=True)
class Load:
    """What one way of polling came to; `latencies` in milliseconds, `cores` those that the emulator was busy on."""

    what: str
    latencies: list[float]
    errors: list[str]
    per_second: float
    cores: float

    @property
    def median(self) -> float:
        return statistics.median(self.latencies)

    def row(self) -> tuple[object, ...]:
        """A row of the table."""
        p95 = statistics.quantiles(self.latencies, n=20)[-1]
        counts = (len(self.latencies), len(self.errors))
        return (self.what, *counts, self.median, p95, max(self.latencies), round(self.per_second), f"{self.cores:.2f}")


def run() -> Iterator[str]:
    """Fill a database, poll, and print what came of it."""
    with tempfile.TemporaryDirectory() as name:
        database = Path(name) / "emulator.db"
        began = time.perf_counter()
        ids = seeded.fill(database, TASKS, CLIENTS)
        yield f"{TASKS} tasks, {len(ids)} of them running, made in {time.perf_counter() - began:.0f} s"
        with serving(Path(name), "--database", str(database)) as emulator:
            details = [f"/api/v2/tasks/instances/{task_id}" for task_id in ids]
            floors = [_FLOOR] * len(ids)
            yield f"{len(ids)} clients, {SECONDS} s each way of polling"
            loads = [
                _poll(emulator, "task, paced", details, PAUSE),
                _poll(emulator, "time, paced", floors, PAUSE),
                _poll(emulator, "task, back to back", details, 0),
                _poll(emulator, "time, back to back", floors, 0),
            ]
            yield from table(_HEAD, [load.row() for load in loads])
            yield from _verdicts(*loads)
            yield _lists(emulator)


def _poll(emulator: Emulator, what: str, paths: list[str], pause: float) -> Load:
    job = {
        "urls": [emulator.url + path for path in paths],
        "headers": HEADERS,
        "pause": pause,
        "seconds": SECONDS,
    }
    command = [sys.executable, Path(__file__).with_name("poll.py")]
    before = emulator.cpu_seconds()
    done = subprocess.run(command, input=json.dumps(job), stdout=subprocess.PIPE, text=True, check=True)
    used = emulator.cpu_seconds() - before
    result = json.loads(done.stdout)
    seconds = result["seconds"]
    return Load(what, result["latencies"], result["errors"], len(result["latencies"]) / seconds, used / seconds)


def _verdicts(paced: Load, paced_floor: Load, rush: Load, rush_floor: Load) -> Iterator[str]:
    kept = paced.median < LARGEST_MEDIAN_MS and not paced.errors
    yield (
        f"task, paced: median under {LARGEST_MEDIAN_MS} ms and no error: {'yes' if kept else 'NO'};"
        f" {paced.median / paced_floor.median:.1f} times the floor"
    )
    yield f"task, back to back: {rush_floor.per_second / rush.per_second:.1f} times the floor"
    for error in sorted({*paced.errors, *rush.errors}):
        yield f"error: {error}"


def _lists(emulator: Emulator) -> str:
    path = f"/api/v2/tasks/instances?size={LIST_SIZE}"
    size = len(emulator.get(path).content)
    before = emulator.cpu_seconds()
    began = time.perf_counter()
    for _number in range(LISTS):
        emulator.get(path)
    milliseconds = (time.perf_counter() - began) / LISTS * 1_000
    busy = (emulator.cpu_seconds() - before) / LISTS * 1_000
    return f"list of {LIST_SIZE} tasks ({size / 1e6:.1f} MB): {milliseconds:.0f} ms, {busy:.0f} ms of them processor"
