# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""100 clusters as hosts, restarted by 20 forks; ten of them in sequence; 1,000 clusters planned in check mode.

100 clusters in sequence would take half an hour, so it is measured for ten. Ansible's main process looks a thousand
times a second whether a fork has ended; `internal_poll_interval` makes that twenty times, as documented for many hosts.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml
from emulator import Emulator, serving
from measured import Cost
from plays import Controller
from table import table

CLUSTERS, ONE_AFTER_ANOTHER, PLANNED, ZONES = 100, 10, 1_000, 3
FORKS, SECONDS, STEPS = 20, 5, 13
LIMIT_TIMES, MOST_CPU, MOST_LINES = 1.3, 0.2, 12
PLAN_SECONDS, PLAN_MEMORY = 30.0, 300.0
POLLS_LESS = "internal_poll_interval = 0.05"
_HEAD = (f"restarts of {SECONDS} s", "clusters", "wall s", "cpu s", "cpu s/node", "memory MB", "lines/node", "requests")


def run() -> Iterator[str]:
    """Restart and plan the clusters, and print what it costs."""
    done = _restart(CLUSTERS)
    one_by_one = _restart(ONE_AFTER_ANOTHER, in_sequence=True)
    rows = [(way, *figures) for way, figures in (("as hosts, 20 forks", done), ("in sequence", one_by_one))]
    yield from table(_HEAD, rows)
    least = CLUSTERS * ZONES * SECONDS / FORKS
    good = done[1] <= LIMIT_TIMES * least
    yield f"as hosts within {LIMIT_TIMES} times {least:.0f} s, {LIMIT_TIMES * least:.1f} s: {'yes' if good else 'NO'}"
    good = float(done[3]) <= MOST_CPU and float(done[5]) <= MOST_LINES
    yield f"at most {MOST_CPU} s of processor and {MOST_LINES} lines a node: {'yes' if good else 'NO'}"
    cost = _plan()
    yield f"{PLANNED:,} clusters planned: {cost.wall:.1f} s, cpu {cost.cpu:.1f} s, {cost.memory:.0f} MB"
    good = cost.wall <= PLAN_SECONDS and cost.memory <= PLAN_MEMORY
    yield f"planned within {PLAN_SECONDS:.0f} s and {PLAN_MEMORY:.0f} MB: {'yes' if good else 'NO'}"


def _restart(clusters: int, *, in_sequence: bool = False) -> tuple[int, float, float, str, int, str, int]:
    with tempfile.TemporaryDirectory() as name, serving(Path(name), *_fleet(clusters)) as emulator:
        names = [f"cluster{number}" for number in range(1, clusters + 1)]
        given = {"rolling_restart_clusters": names} if in_sequence else {}
        controller, cost = _roll(Path(name), emulator, given)
        done = emulator.get("/api/v2/tasks/instances?size=2000&status=SUCCESSFUL").json()["data"]["contents"]
        seen = emulator.requests_so_far()
        nodes, printed = clusters * ZONES, controller.output.read_text().splitlines()
    if len(done) != nodes:
        raise RuntimeError(f"{len(done)} restarts, not {nodes}")
    a_node = f"{cost.cpu / nodes:.3f}", round(cost.memory), f"{len(printed) / nodes:.1f}"
    return clusters, cost.wall, cost.cpu, *a_node, seen


def _plan() -> Cost:
    with tempfile.TemporaryDirectory() as name, serving(Path(name), *_fleet(PLANNED)) as emulator:
        return _roll(Path(name), emulator, {"rolling_restart_max_servers": PLANNED * ZONES}, "--check")[1]


def _fleet(clusters: int) -> tuple[str, ...]:
    sizes = ("--clusters", str(clusters), "--zones", str(ZONES), "--servers-per-zone", "1")
    return (*sizes, "--step-seconds", str(SECONDS / STEPS))


def _roll(folder: Path, emulator: Emulator, given: dict[str, object], *more: str) -> tuple[Controller, Cost]:
    fleet = folder / "fleet.ocp.yml"
    fleet.write_text(yaml.safe_dump({"plugin": "oceanbase.ocp.ocp", "hosts": "clusters"}))
    since = emulator.get("/emulator/clock").json()["data"]["time"]
    every = {"rolling_restart_started_before": since, "rolling_restart_folder": str(folder)}
    controller = Controller(folder, emulator.url, POLLS_LESS)
    arguments = ("-i", str(fleet), "--forks", str(FORKS), "-e", json.dumps({**every, **given}), *more)
    return controller, controller.run([{"import_playbook": "oceanbase.ocp.rolling_restart"}], *arguments)
