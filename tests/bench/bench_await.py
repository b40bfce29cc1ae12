# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""100, 1,000 and 5,000 running tasks awaited in one process: what a poll costs, and how that grows.

The clock of the emulator stands still, so no task changes between the polls; after some the clock is moved on and all
tasks end. A poll's figures are the medians of all but the first. Memory is the peak of the waiting process: before the
tasks have ended, and at the end with the result.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import seeded
from emulator import serving
from table import table

TASKS, POLLS = (100, 1_000, 5_000), 5
PAGE = 2_000
LARGEST_MB = 150
_HEAD = ("tasks", "requests", "cpu ms", "emulator cpu ms", "first: requests", "cpu ms", "MB waiting", "MB at the end")


def run() -> Iterator[str]:
    """Wait, and print what a poll costs."""
    yield f"per poll, medians of {POLLS - 1}, and the first; no pauses between them"
    rows = [(f"{tasks:,}", *figures(_wait(tasks))) for tasks in TASKS]
    yield from table(_HEAD, rows)
    few, many = rows[0], rows[-1]
    growth = ", ".join(
        f"{what} {many[column] / few[column]:.1f} x" for what, column in (("requests", 1), ("cpu", 2), ("memory", 6))
    )
    yield f"from {few[0]} to {many[0]}: {growth}"
    pages = -(-TASKS[-1] // PAGE)
    yield f"requests per poll at most the pages of the list, {pages}: {'yes' if many[1] <= pages else 'NO'}"
    yield f"{many[0]} tasks under {LARGEST_MB} MB: {'yes' if many[7] < LARGEST_MB else 'NO'}"


def figures(result: dict[str, Any]) -> tuple[int, float, float, int, float, float, float]:
    """The figures of a row, of what `await_many.py` has told."""
    first, *others = result["polls"]
    requests, cpu, used = (statistics.median(poll[what] for poll in others) for what in ("requests", "cpu", "emulator"))
    return round(requests), cpu, used, first["requests"], first["cpu"], result["waiting"], result["end"]


def _wait(tasks: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        database = Path(name) / "emulator.db"
        ids = seeded.start(database, tasks)
        with serving(Path(name), "--database", str(database)) as emulator:
            emulator.stop_clock()
            job = {"url": emulator.url, "pid": emulator.pid, "ids": ids, "polls": POLLS, "seconds": seeded.LONGEST_RUN}
            command = [sys.executable, Path(__file__).with_name("await_many.py")]
            done = subprocess.run(command, input=json.dumps(job), stdout=subprocess.PIPE, text=True, check=True)
            return json.loads(done.stdout)
