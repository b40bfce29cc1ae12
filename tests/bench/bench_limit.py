# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""60 servers of 60 clusters as hosts, 20 forks, at a service that allows a user 10 requests a second.

What the limit itself demands: the first window of a hundred requests is there at once, each further hundred takes ten
seconds. How many requests there are is counted in the same play without a limit. Beside it stands the module
`fleet_restart` with 16 threads.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml
from emulator import Emulator, serving
from measured import Cost
from plays import EMPTY, Controller, Task, play
from table import table

CLUSTERS, FORKS = 60, 20
LIMIT, WINDOW, TIMES = 100, 10, 1.5
# Restarts of five seconds.
_OPTIONS = ("--clusters", str(CLUSTERS), "--zones", "3", "--servers-per-zone", "1", "--step-seconds", str(5 / 13))
_LIMITED = ("--rate-limit", f"{LIMIT}/{WINDOW}")
_HEAD = ("60 servers", "wall s", "cpu s", "requests", "refused for it", "demanded s", "restarts")


def run() -> Iterator[str]:
    """Restart them without and with the limit, and print what it costs."""
    with tempfile.TemporaryDirectory() as name:
        empty = Controller(Path(name), "http://127.0.0.1").run([EMPTY])
    yield f"one run each, {FORKS} forks; empty play: {empty.wall:.2f} s, taken off"
    rows, verdicts = [], []
    for way in ("server_restart by hosts", "fleet_restart"):
        free, _refused, _restarts, wanted = _measured(way, empty)
        cost, refused, restarts, requests = _measured(way, empty, *_LIMITED)
        demanded = (math.ceil(wanted / LIMIT) - 1) * WINDOW
        rows.append((f"{way}, no limit", free.wall, free.cpu, wanted, 0, "", CLUSTERS))
        rows.append((f"{way}, {LIMIT}/{WINDOW} s", cost.wall, cost.cpu, requests, refused, demanded, restarts))
        is_met = cost.wall <= TIMES * demanded and restarts == CLUSTERS
        verdicts.append(
            f"{way} within {TIMES} times what the limit demands, {TIMES * demanded:.0f} s, without a failure: "
            f"{'yes' if is_met else 'NO'}"
        )
    yield from table(_HEAD, rows)
    yield from verdicts


def _measured(way: str, empty: Cost, *options: str) -> tuple[Cost, int, int, int]:
    """What it took, how many requests were refused for the limit, how many servers restarted, and all requests."""
    with tempfile.TemporaryDirectory() as name, serving(Path(name), *_OPTIONS, *options) as emulator:
        cost = _restart(way, Path(name), emulator)
        contents = emulator.get("/emulator/restarts").json()["data"]["contents"]
        restarts = sum(each["restarts"] for each in contents if each["objectType"] == "OB_SERVER")
        refused = sum(seen["status"] == 429 for seen in emulator.requests())
        return cost.beyond(empty), refused, restarts, emulator.requests_so_far()


def _restart(way: str, folder: Path, emulator: Emulator) -> Cost:
    """RuntimeError if one failed."""
    controller = Controller(folder, emulator.url)
    change = emulator.get("/emulator/clock").json()["data"]["time"]
    servers = {f"cluster{number}": str(3 * number) for number in range(1, CLUSTERS + 1)}
    if way == "fleet_restart":
        given = {
            "fleet_restart_started_before": change,
            "fleet_restart_servers": [{"cluster": cluster, "server": server} for cluster, server in servers.items()],
        }
        return controller.run([{"import_playbook": "oceanbase.ocp.fleet_restart"}], "-e", json.dumps(given))
    inventory = folder / "hosts.yml"
    inventory.write_text(
        yaml.safe_dump({"all": {"hosts": {cluster: {"server": server} for cluster, server in servers.items()}}})
    )
    start: Task = {
        "oceanbase.ocp.server_restart": {
            "cluster": "{{ inventory_hostname }}",
            "server": "{{ server }}",
            "freeze_server": False,
            "started_before": change,
        },
        "register": "restart",
    }
    wait: Task = {
        "oceanbase.ocp.task_wait": {
            "task_ids": "{{ ansible_play_hosts | map('extract', hostvars) | map(attribute='restart.task_id') }}",
            "detail": "summary",
        },
        "run_once": True,
    }
    return controller.run([play(start, wait, hosts="all")], "--forks", str(FORKS), "--inventory", str(inventory))
