# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A rolling restart at default settings: what each node takes beyond its restart, and what large batches save.

What a node takes is that of a run beyond a run that finds nothing to do: banners of tasks, processor, requests. The
restarts take next to no time there, which leaves the controller. Then 72 servers are restarted that take 5 s each, one
at a time and in batches as large as their tenants allow, a canary first; the emulator tells whether a tenant was lost.
The second run may take little more than the longest restart of each batch. Last, 100 clusters are restarted at the same
time, see roll_clusters.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import roll_clusters
from emulator import Emulator, serving
from measured import Cost
from plays import Controller
from table import table

ZONES, STEPS = 3, 13
MOST_BANNERS, MOST_CPU, LEAST_RATIO = 2.0, 0.2, 5.0
# Of 72 servers in three zones: a canary, its zone, another one, and that of the root server, which is by itself. How
# much longer a run may take than the longest restart of each, and the seconds that Ansible takes to start.
MOST_BATCHES, MOST_BEYOND, START = 5, 1.25, 2.0
_NEVER = "2000-01-01T00:00:00Z"


@dataclass(frozen=True)
class _Run:
    """What a run took, its banners of tasks, and the requests that it sent."""

    cost: Cost
    banners: int
    requests: int


def run() -> Iterator[str]:
    """Restart fleets, and print what it costs."""
    yield from _controller(10)
    yield from _large(24)
    yield from roll_clusters.run()


def _controller(per_zone: int) -> Iterator[str]:
    servers, rows = ZONES * per_zone, []
    for batch in ("1", "2", "auto"):
        with tempfile.TemporaryDirectory() as name, serving(Path(name), *_fleet(per_zone, 0.001)) as emulator:
            idle = _roll(Path(name), emulator, batch, started_before=_NEVER)
            done = _roll(Path(name), emulator, batch)
        banners = (done.banners - idle.banners) / servers
        cpu = (done.cost.cpu - idle.cost.cpu) / servers
        rows.append((f"batch {batch}", f"{banners:.2f}", f"{cpu:.3f}", (done.requests - idle.requests) / servers))
    yield from table((f"{servers} servers of no time", "banners/node", "cpu s/node", "requests/node"), rows)
    default = rows[0]
    good = float(default[1]) <= MOST_BANNERS and float(default[2]) <= MOST_CPU
    limits = f"{MOST_BANNERS:.0f} banners and {MOST_CPU} s of processor a node"
    yield f"by default at most {limits}: {'yes' if good else 'NO'}"


def _large(per_zone: int) -> Iterator[str]:
    seconds, lost, rows = {}, 0, []
    for batch in ("1", "auto"):
        with tempfile.TemporaryDirectory() as name, serving(Path(name), *_fleet(per_zone, 5 / STEPS)) as emulator:
            done = _roll(Path(name), emulator, batch, canary=int(batch == "auto"))
            outages = len(emulator.get("/emulator/outages").json()["data"]["contents"])
            finished = emulator.get("/api/v2/tasks/instances?size=2000&status=SUCCESSFUL").json()["data"]["contents"]
        seconds[batch], lost = done.cost.wall, lost + outages
        rows.append((f"batch {batch}", done.cost.wall, _seconds(finished), len(finished), outages))
    yield from table((f"{ZONES * per_zone} servers of 5 s", "wall s", "tasks s", "restarts", "tenants lost"), rows)
    ratio = seconds["1"] / seconds["auto"]
    good = ratio >= LEAST_RATIO and not lost
    yield f"{ratio:.1f} times faster, at least {LEAST_RATIO:.0f}, and no tenant lost: {'yes' if good else 'NO'}"
    longest = _longest_of_batches(finished)
    most = MOST_BEYOND * sum(longest) + START
    good = len(longest) <= MOST_BATCHES and seconds["auto"] <= most
    limits = f"at most {MOST_BATCHES} batches and {MOST_BEYOND} times the longest restart of each plus {START:.0f} s"
    yield f"{len(longest)} batches in {seconds['auto']:.1f} s, {limits}, {most:.1f} s: {'yes' if good else 'NO'}"


def _times(tasks: list[dict[str, str]]) -> list[tuple[datetime, datetime]]:
    """When these tasks began and ended, in the order in which they began."""
    shown = ((task["startTime"], task["finishTime"]) for task in tasks)
    return sorted((datetime.fromisoformat(begin), datetime.fromisoformat(end)) for begin, end in shown)


def _seconds(tasks: list[dict[str, str]]) -> float:
    """The seconds that these tasks took in all, one after another."""
    return sum((end - begin).total_seconds() for begin, end in _times(tasks))


def _longest_of_batches(tasks: list[dict[str, str]]) -> list[float]:
    """The seconds of the longest task of each batch: of those that overlap."""
    longest: list[float] = []
    busy_until = datetime.min.replace(tzinfo=UTC)
    for begin, end in _times(tasks):
        if begin >= busy_until:
            longest.append(0.0)
        longest[-1] = max(longest[-1], (end - begin).total_seconds())
        busy_until = max(busy_until, end)
    return longest


def _fleet(per_zone: int, step: float) -> tuple[str, ...]:
    sizes = ("--clusters", "1", "--zones", str(ZONES), "--servers-per-zone", str(per_zone))
    return (*sizes, "--step-seconds", str(step))


def _roll(folder: Path, emulator: Emulator, batch: str, started_before: str | None = None, *, canary: int = 0) -> _Run:
    given = {
        "rolling_restart_clusters": ["cluster1"],
        "rolling_restart_batch": batch,
        "rolling_restart_canary": canary,
        "rolling_restart_soak": 0,
        "rolling_restart_started_before": started_before or emulator.get("/emulator/clock").json()["data"]["time"],
    }
    before = emulator.requests_so_far()
    controller = Controller(folder, emulator.url)
    cost = controller.run([{"import_playbook": "oceanbase.ocp.rolling_restart"}], "-e", json.dumps(given))
    banners = controller.output.read_text().count("\nTASK [")
    return _Run(cost, banners, emulator.requests_so_far() - before)
