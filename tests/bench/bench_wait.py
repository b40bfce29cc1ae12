# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One task of 20 s awaited, by `ansible.builtin.uri` with `until` and `delay: 1`, and by `task_wait`.

The restart is started before the play, which waits for it and then tells the time, by a task that runs in the
controller. Runs of both ways and of an empty play take turns; the figures are medians. `late` is from the `finishTime`
of the task until that, the largest of all runs beside it.

Ansible's main process asks its workers a thousand times a second whether they are done, whatever they do. So each way
runs with its default for that, and with one that asks 20 times a second.
"""

from __future__ import annotations

import re
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from emulator import serving
from measured import Cost, median
from plays import EMPTY, Controller, Task, play, uri_until
from table import table

SECONDS, STEPS, RUNS = 20, 13, 3
LATE_SECONDS, LATE_SHARE, CPU_SHARE = 0.7, 0.05, 0.1
_OPTIONS = ("--step-seconds", str(SECONDS / STEPS))
_GOES_ON = {"ansible.builtin.debug": {"msg": "went on at {{ now().timestamp() }}"}}
_CALM = "internal_poll_interval=0.05"
_URI, _OURS = "uri, until, delay: 1", "task_wait"
_CALM_URI, _CALM_OURS = f"{_URI} *", f"{_OURS} *"
_WAYS = {_URI: "", _OURS: "", _CALM_URI: _CALM, _CALM_OURS: _CALM}
_HEAD = ("one task of 20 s", "cpu s", "requests", "late s", "late max s", "memory MB", "emulator cpu s")


@dataclass(frozen=True)
class _Wait:
    cost: Cost
    requests: int
    late: float
    emulator: float


def run() -> Iterator[str]:
    """Wait, and print what it costs and how late it is."""
    waits: dict[str, list[_Wait]] = {way: [] for way in _WAYS}
    empty: list[Cost] = []
    for _number in range(RUNS):
        with tempfile.TemporaryDirectory() as name:
            empty.append(Controller(Path(name), "http://127.0.0.1").run([EMPTY]))
        for way, found in waits.items():
            found.append(_wait(way))
    nothing = median(empty)
    yield f"medians of {RUNS} runs; empty play: {nothing.wall:.2f} s, cpu {nothing.cpu:.2f} s, taken off"
    cpu = {way: median([wait.cost for wait in found]).beyond(nothing).cpu for way, found in waits.items()}
    yield from table(
        _HEAD,
        [
            (
                way,
                f"{cpu[way]:.2f}",
                statistics.median(wait.requests for wait in found),
                f"{statistics.median(wait.late for wait in found):.2f}",
                f"{max(wait.late for wait in found):.2f}",
                round(median([wait.cost for wait in found]).memory),
                f"{statistics.median(wait.emulator for wait in found):.2f}",
            )
            for way, found in waits.items()
        ],
    )
    yield f"* with {_CALM} in ansible.cfg"
    latest = max(wait.late for way in (_OURS, _CALM_OURS) for wait in waits[way])
    allowed = max(LATE_SECONDS, LATE_SHARE * SECONDS)
    yield f"task_wait at most {allowed:.1f} s late: {'yes' if latest <= allowed else 'NO'}"
    for ours, uri in ((_OURS, _URI), (_CALM_OURS, _CALM_URI)):
        share = cpu[ours] / cpu[uri]
        yield f"{ours}: cpu at most {CPU_SHARE:.0%} of {uri}: {'yes' if share <= CPU_SHARE else 'NO'}, {share:.1%}"


def went_on(printed: str) -> float:
    """When the play went on, in seconds since 1970, by what it printed."""
    [seconds] = re.findall(r"went on at ([\d.]+)", printed)
    return float(seconds)


def _wait(way: str) -> _Wait:
    with tempfile.TemporaryDirectory() as name, serving(Path(name), *_OPTIONS) as emulator:
        controller = Controller(Path(name), emulator.url, _WAYS[way])
        task_id = emulator.restart(1, 1)
        before, sent = emulator.cpu_seconds(), emulator.requests_so_far()
        waiting: Task = {"oceanbase.ocp.task_wait": {"task_ids": [task_id]}}
        cost = controller.run(
            [play(uri_until(emulator.url, task_id) if way in (_URI, _CALM_URI) else waiting, _GOES_ON)]
        )
        used, sent = emulator.cpu_seconds() - before, emulator.requests_so_far() - sent
        finish = emulator.get(f"/api/v2/tasks/instances/{task_id}").json()["data"]["finishTime"]
        late = went_on(controller.output.read_text()) - datetime.fromisoformat(finish).timestamp()
        return _Wait(cost, sent, late, used)
