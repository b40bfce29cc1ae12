# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An inventory of 5,000 servers, beside a plain loop of requests that reads the same; and one of 1,000 clusters.

`ansible-inventory --list` prints all of it, `ansible --list-hosts` what a play over one zone needs. Of both what the
command takes with an inventory of one host is shown beside, since it is Ansible's own. The plain loop is a Python
that reads the same pages and prints JSON; its start is part of it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml
from emulator import PASSWORD, USERNAME, Emulator, serving
from measured import Cost, measured, median
from table import table

CLUSTERS, ZONES, SERVERS_PER_ZONE = 50, 5, 20
SERVERS = CLUSTERS * ZONES * SERVERS_PER_ZONE
MANY_CLUSTERS, SERVERS_PER_CLUSTER = 1_000, 9
RUNS, LIMIT = 3, 5.0
_HEAD = ("5,000 servers", "wall s", "cpu s", "memory MB", "requests", "cpu: plain loop")
_LOOP, _LIST, _ZONE = "plain loop of requests", "ansible-inventory --list", "ansible --list-hosts, one zone"
_EMPTY = "ansible-inventory --list, one host"
_CLUSTERS_HEAD = ("1,000 clusters as hosts", "wall s", "cpu s", "memory MB", "requests")
_ALL_CLUSTERS, _ONE_CLUSTER = "ansible-inventory --list", "ansible --list-hosts, one cluster"


def run() -> Iterator[str]:
    """Read the fleet in each way, and print what it costs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "fleet.yml").write_text(yaml.safe_dump(fleet(CLUSTERS, ZONES, SERVERS_PER_ZONE)))
        with serving(folder, "--fleet", str(folder / "fleet.yml")) as emulator:
            costs = {way: _cost(command, folder, emulator) for way, command in _ways(folder, emulator).items()}
    loop, _requests = costs[_LOOP]
    yield f"medians of {RUNS} runs"
    rows = [
        (way, f"{cost.wall:.2f}", f"{cost.cpu:.2f}", round(cost.memory), requests, f"{cost.cpu / loop.cpu:.1f} x")
        for way, (cost, requests) in costs.items()
    ]
    yield from table(_HEAD, rows)
    for way in (_LIST, _ZONE):
        yield f"{way} under {LIMIT:.0f} s: {'yes' if costs[way][0].wall < LIMIT else 'NO'}"
    yield from _clusters_as_hosts()


def _clusters_as_hosts() -> Iterator[str]:
    fleet = ("--clusters", str(MANY_CLUSTERS), "--zones", "3", "--servers-per-zone", str(SERVERS_PER_CLUSTER // 3))
    with tempfile.TemporaryDirectory() as name, serving(Path(name), *fleet) as emulator:
        source = Path(name, "clusters.ocp.yml")
        source.write_text(yaml.safe_dump({**_given(emulator), "hosts": "clusters"}))
        ways: dict[str, list[str | Path]] = {
            _ALL_CLUSTERS: [_program("ansible-inventory"), "--inventory", source, "--list"],
            _ONE_CLUSTER: [_program("ansible"), "--inventory", source, "cluster7+*", "--list-hosts"],
        }
        costs = {way: _cost(command, Path(name), emulator) for way, command in ways.items()}
    rows = [
        (way, f"{cost.wall:.2f}", f"{cost.cpu:.2f}", round(cost.memory), requests)
        for way, (cost, requests) in costs.items()
    ]
    yield from table(_CLUSTERS_HEAD, rows)
    most = max(cost.wall for cost, _requests in costs.values())
    yield f"1,000 clusters as hosts under {LIMIT:.0f} s: {'yes' if most < LIMIT else 'NO'}"


def fleet(clusters: int, zones: int, servers_per_zone: int) -> dict[str, object]:
    """A fleet file of so many clusters, zones of each, and servers of each zone."""
    return {
        "clusters": [
            {
                "name": f"cluster{cluster}",
                "zones": [
                    {
                        "name": f"zone{zone}",
                        "region": f"region{zone}",
                        "servers": [{"ip": f"10.{cluster}.{zone}.{last}"} for last in range(1, servers_per_zone + 1)],
                    }
                    for zone in range(1, zones + 1)
                ],
            }
            for cluster in range(1, clusters + 1)
        ]
    }


def _ways(folder: Path, emulator: Emulator) -> Mapping[str, list[str | Path]]:
    source, one = folder / "fleet.ocp.yml", folder / "one.ocp.yml"
    given = _given(emulator)
    source.write_text(yaml.safe_dump(given))
    one.write_text(yaml.safe_dump({**given, "filters": {"cluster": "cluster1", "server": "10.1.1.1:2882"}}))
    return {
        _LOOP: [sys.executable, Path(__file__).with_name("read_fleet.py"), emulator.url, USERNAME, PASSWORD],
        _LIST: [_program("ansible-inventory"), "--inventory", source, "--list"],
        _ZONE: [_program("ansible"), "--inventory", source, "ocp_zone_cluster7_zone2", "--list-hosts"],
        _EMPTY: [_program("ansible-inventory"), "--inventory", one, "--list"],
    }


def _given(emulator: Emulator) -> dict[str, str]:
    return {"plugin": "oceanbase.ocp.ocp", "url": emulator.url, "username": USERNAME, "password": PASSWORD}


def _program(name: str) -> Path:
    return Path(sys.executable).with_name(name)


def _cost(command: list[str | Path], folder: Path, emulator: Emulator) -> tuple[Cost, int]:
    """What the command took, and how many requests it sent."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "OCP_"))}
    environment |= {"ANSIBLE_HOME": str(folder / "home"), "ANSIBLE_INVENTORY_UNPARSED_FAILED": "true"}
    before = emulator.requests_so_far()
    costs = [measured(command, environment, folder / "output.txt") for _run in range(RUNS)]
    return median(costs), (emulator.requests_so_far() - before) // RUNS
