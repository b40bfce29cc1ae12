# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""200 servers, restarts of 10 s, 5 forks: `ansible.builtin.uri` by hosts, and the playbook `fleet_restart`.

By `uri` each host sends its POST, then asks once a second until its task has ended. It is measured on all 200 servers:
20 would tell little of 200, since restarts go on while the forks are busy with others. Beside them stands the
physical limit, the longest restart by the service's own times. Both take all servers of a cluster at once. In waves the
tenants of each cluster keep their majority.

Then one server each of 200 and of 2,000 clusters of three zones, by the playbook alone. Restarts of minutes are what
databases take; what comes on top is the work of the controller and of the emulator on the same processors.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from emulator import Emulator, serving
from measured import Cost
from plays import EMPTY, Controller, play, uri_restart, uri_until
from table import table

CLUSTERS, ZONES, SERVERS_PER_ZONE = 10, 5, 4
SERVERS_PER_CLUSTER = ZONES * SERVERS_PER_ZONE
SERVERS, FORKS = CLUSTERS * SERVERS_PER_CLUSTER, 5
SECONDS, STEPS = 10, 13
# Of what `uri` takes.
SHARE = 1 / 3
# Clusters, seconds of a restart, and how many times as long all of them may take.
LARGE = ((200, 120, 1.1), (2_000, 300, 1.5))
# Seconds. A poll of many tasks is one request, and by default there are up to ten seconds between two.
INTERVAL = 2
_FLEET = ("--clusters", str(CLUSTERS), "--zones", str(ZONES), "--servers-per-zone", str(SERVERS_PER_ZONE))
_OPTIONS = (*_FLEET, "--step-seconds", str(SECONDS / STEPS))
_HEAD = ("200 servers", "wall s", "cpu s", "memory MB", "requests", "failed", "longest restart s", "emulator cpu s")
_LARGE_HEAD = (
    "one server of each", "wall s", "cpu s", "memory MB", "requests", "failed", "longest restart s", "emulator cpu s"
)  # fmt: skip
_URI, _OURS, _WAVES = "uri by hosts", "fleet_restart", "in waves"


def run() -> Iterator[str]:
    """Restart the fleet, and print what it costs."""
    with tempfile.TemporaryDirectory() as name:
        empty = Controller(Path(name), "http://127.0.0.1").run([EMPTY])
    yield f"one run each, {FORKS} forks; empty play: {empty.wall:.2f} s, cpu {empty.cpu:.2f} s, taken off"
    rows = []
    for way in (_URI, _OURS, _WAVES):
        with tempfile.TemporaryDirectory() as name, serving(Path(name), *_OPTIONS) as emulator:
            rows.append((way, *_figures(_restart(way, Path(name), emulator).beyond(empty), emulator)))
    yield from table(_HEAD, rows)
    (_uri, theirs, *_others), (_ours, wall, _cpu, _memory, _requests, failed, *_rest) = rows[:2]
    yield f"fleet_restart in at most a third of the time of uri: {'yes' if wall <= SHARE * theirs else 'NO'}"
    yield f"fleet_restart without a failed request: {'NO' if failed else 'yes'}"
    for clusters, seconds, times in LARGE:
        yield from _large(clusters, seconds, times, empty)


def _large(clusters: int, seconds: float, times: float, empty: Cost) -> Iterator[str]:
    fleet = ("--clusters", str(clusters), "--zones", "3", "--servers-per-zone", "1")
    options = (*fleet, "--step-seconds", str(seconds / STEPS))
    with tempfile.TemporaryDirectory() as name, serving(Path(name), *options) as emulator:
        servers = [(f"cluster{number}", 3 * number) for number in range(1, clusters + 1)]
        cost = _fleet_restart(Path(name), emulator, servers, wait_interval=INTERVAL).beyond(empty)
        row = _figures(cost, emulator, clusters)
    yield from table(_LARGE_HEAD, [(f"{clusters:,} clusters", *row)])
    allowed = times * row[5]
    yield (
        f"{clusters:,} servers within {times} times the longest restart, {allowed:.0f} s: "
        f"{'yes' if cost.wall <= allowed and not row[4] else 'NO'}"
    )


def _fleet_restart(folder: Path, emulator: Emulator, servers: list[tuple[str, int]], **more: object) -> Cost:
    """Restart these servers of clusters; ``more`` are variables of the playbook."""
    given = {
        "fleet_restart_started_before": emulator.get("/emulator/clock").json()["data"]["time"],
        "fleet_restart_servers": [{"cluster": cluster, "server": str(server)} for cluster, server in servers],
        **{f"fleet_restart_{name}": value for name, value in more.items()},
    }
    file = folder / "given.json"
    file.write_text(json.dumps(given))
    play = {"import_playbook": "oceanbase.ocp.fleet_restart"}
    return Controller(folder, emulator.url).run([play], "--forks", str(FORKS), "-e", f"@{file}")


def longest(tasks: list[dict[str, Any]]) -> float:
    """The seconds of the longest of these tasks, all of which have ended."""
    times = [[datetime.fromisoformat(task[name]) for name in ("startTime", "finishTime")] for task in tasks]
    return max((finish - start).total_seconds() for start, finish in times)


def _restart(way: str, folder: Path, emulator: Emulator) -> Cost:
    controller = Controller(folder, emulator.url)
    servers = range(1, SERVERS + 1)
    clusters = {server: (server - 1) // SERVERS_PER_CLUSTER + 1 for server in servers}
    forks = ("--forks", str(FORKS))
    if way != _URI:
        named = [(f"cluster{clusters[server]}", server) for server in servers]
        more = {"waves": True} if way == _WAVES else {"safety": "none"}
        return _fleet_restart(folder, emulator, named, **more)
    hosts = {f"server{server}": {"cluster_id": clusters[server], "server_id": server} for server in servers}
    inventory = folder / "hosts.yml"
    # Without the interpreter Ansible would look for one on each host.
    everywhere = {"ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    inventory.write_text(yaml.safe_dump({"all": {"hosts": hosts, "vars": everywhere}}))
    start = {**uri_restart(emulator.url, "{{ cluster_id }}", "{{ server_id }}"), "register": "started"}
    tasks = [start, uri_until(emulator.url, "{{ started.json.data.id }}")]
    return controller.run([play(*tasks, hosts="all")], *forks, "--inventory", str(inventory))


def _figures(cost: Cost, emulator: Emulator, servers: int = SERVERS) -> tuple[float, float, int, int, int, float, str]:
    used, seen = emulator.cpu_seconds(), emulator.requests()
    failed = sum(request["status"] != 200 for request in seen)
    tasks = emulator.get("/api/v2/tasks/instances?size=2000").json()["data"]["contents"]
    if len(tasks) != servers:
        raise RuntimeError(f"{len(tasks)} tasks, not {servers}")
    return cost.wall, cost.cpu, round(cost.memory), emulator.requests_so_far(), failed, longest(tasks), f"{used:.1f}"
