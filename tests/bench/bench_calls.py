# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""30 restarts submitted: by `ansible.builtin.uri`, by our module as an ordinary module, in the controller's process.

Each run is a play of its own on an emulator of its own, with one task that loops over 30 servers. Runs of the three
ways and of an empty play take turns; the figures are medians, the median of the empty play taken off, divided by 30.
`uri` sends its POST and nothing else. Ours reads the server, what works on it, the tenants of its cluster and how far
replicas lag, decides, and then sends the POST. Each server is of another cluster. The last table has the requests of a
call, by layout.
"""

from __future__ import annotations

import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from emulator import Emulator, serving
from measured import Cost, median
from plays import EMPTY, Controller, Play, play, uri_restart
from safety_requests import LAYOUTS, requests_of
from table import table

CALLS, RUNS = 30, 5
SERVERS_PER_CLUSTER = 3
LEAST_RATIO = 8
MOST_MORE = 2
# Restarts that are still running when the play is over, so that their steps cost nothing meanwhile.
_OPTIONS = ("--clusters", str(CALLS), "--step-seconds", "60")
_EMPTY, _URI, _ORDINARY, _HERE = "empty play", "uri POST", "ordinary module", "in-process"
_HEAD = ("per call", "wall ms", "cpu ms", "emulator cpu ms", "requests", "wall: uri is", "cpu: uri is")


def run() -> Iterator[str]:
    """Submit, and print what a call costs."""
    costs, used, sent = defaultdict(list), defaultdict(list), {}
    for _number in range(RUNS):
        for way in (_EMPTY, _URI, _ORDINARY, _HERE):
            with tempfile.TemporaryDirectory() as name, serving(Path(name), *_OPTIONS) as emulator:
                before = emulator.cpu_seconds()
                costs[way].append(Controller(Path(name), emulator.url).run([_play(way, emulator)]))
                used[way].append(emulator.cpu_seconds() - before)
                sent[way] = len(emulator.requests())
    empty = median(costs[_EMPTY])
    yield f"{CALLS} calls in a loop, medians of {RUNS} runs; empty play: {empty.wall:.2f} s, cpu {empty.cpu:.2f} s"
    calls = {way: per_call(median(costs[way]), empty) for way in (_URI, _ORDINARY, _HERE)}
    uri, here = calls[_URI], calls[_HERE]
    yield from table(
        _HEAD,
        [
            (
                way,
                cost.wall,
                cost.cpu,
                statistics.median(used[way]) / CALLS * 1_000,
                sent[way] / CALLS,
                f"{uri.wall / cost.wall:.1f} x",
                f"{uri.cpu / cost.cpu:.1f} x",
            )
            for way, cost in calls.items()
        ],
    )
    kept = uri.wall >= LEAST_RATIO * here.wall
    yield f"in-process at least {LEAST_RATIO} times less wall than uri: {'yes' if kept else 'NO'}"
    counts = [(layout.label, *(requests_of(layout, safety) for safety in ("none", "majority"))) for layout in LAYOUTS]
    yield from table(("requests of a call in-process", "safety: none", "safety: majority"), counts)
    _label, none, majority = counts[0]
    yield (
        f"three full replicas: at most {MOST_MORE} requests more than without safety:"
        f" {'yes' if majority - none <= MOST_MORE else 'NO'}"
    )


def per_call(run: Cost, empty: Cost) -> Cost:
    """Milliseconds of one call."""
    beyond = run.beyond(empty)
    return Cost(beyond.wall / CALLS * 1_000, beyond.cpu / CALLS * 1_000, run.memory)


def _play(way: str, emulator: Emulator) -> Play:
    if way == _EMPTY:
        return EMPTY
    targets = [{"cluster": number + 1, "server": number * SERVERS_PER_CLUSTER + 1} for number in range(CALLS)]
    if way == _URI:
        return play({**uri_restart(emulator.url, "{{ item.cluster }}", "{{ item.server }}"), "loop": targets})
    options = {"cluster": "{{ item.cluster }}", "server": "{{ item.server }}", "freeze_server": True}
    task = {"oceanbase.ocp.server_restart": options, "loop": targets}
    return play({**task, "environment": {"ANY_VARIABLE": "whatever"}} if way == _ORDINARY else task)
