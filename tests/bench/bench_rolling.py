# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A rolling restart of 24 servers, one at a time, at default settings: what it takes beyond the restarts.

The restarts are counted by the service's own times. What is beyond them is the controller's: gates, the start of each
restart, the seconds until its end is seen, and Ansible itself. One run is of restarts that take next to no time, which
leaves Ansible and the requests; the other of restarts of 5 s, of which the end has to be seen too.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from emulator import Emulator, serving
from measured import Cost
from plays import EMPTY, Controller
from table import table

ZONES, SERVERS_PER_ZONE, STEPS = 3, 8, 13
SERVERS = ZONES * SERVERS_PER_ZONE
LIMIT = 1.0
_FLEET = ("--clusters", "1", "--zones", str(ZONES), "--servers-per-zone", str(SERVERS_PER_ZONE))
_HEAD = (f"{SERVERS} servers, one at a time", "wall s", "restarts s", "beyond s/node", "cpu s/node", "requests/node")
_WAYS = (("restarts of no time", 0.001), ("restarts of 5 s", 5 / STEPS))


def run() -> Iterator[str]:
    """Restart the fleet, and print what it costs."""
    with tempfile.TemporaryDirectory() as name:
        empty = Controller(Path(name), "http://127.0.0.1").run([EMPTY])
    yield f"one run each; empty play: {empty.wall:.2f} s, cpu {empty.cpu:.2f} s, taken off"
    rows, most = [], 0.0
    for way, step in _WAYS:
        options = (*_FLEET, "--step-seconds", str(step))
        with tempfile.TemporaryDirectory() as name, serving(Path(name), *options) as emulator:
            cost = _roll(Path(name), emulator).beyond(empty)
            restarts = restart_seconds(emulator.get("/api/v2/tasks/instances?size=2000").json()["data"]["contents"])
            beyond = (cost.wall - restarts) / SERVERS
            most = max(most, beyond)
            figures = (f"{beyond:.2f}", f"{cost.cpu / SERVERS:.2f}", round(len(emulator.requests()) / SERVERS))
            rows.append((way, cost.wall, restarts, *figures))
    yield from table(_HEAD, rows)
    yield f"under {LIMIT:.0f} s a node beyond the restarts: {'yes' if most < LIMIT else 'NO'}"


def restart_seconds(tasks: list[dict[str, str]]) -> float:
    """The seconds that these tasks took in all, one after another. RuntimeError unless there is one for each server."""
    if len(tasks) != SERVERS:
        raise RuntimeError(f"{len(tasks)} tasks, not {SERVERS}")
    times = [[datetime.fromisoformat(task[name]) for name in ("startTime", "finishTime")] for task in tasks]
    return sum((finish - start).total_seconds() for start, finish in times)


def _roll(folder: Path, emulator: Emulator) -> Cost:
    given = {
        "rolling_restart_clusters": ["cluster1"],
        "rolling_restart_started_before": emulator.get("/emulator/clock").json()["data"]["time"],
    }
    plays = [{"import_playbook": "oceanbase.ocp.rolling_restart"}]
    return Controller(folder, emulator.url).run(plays, "-e", json.dumps(given))
