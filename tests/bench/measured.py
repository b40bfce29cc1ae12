# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Time, processor and memory that a command takes, and their median over runs."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """What a run took.

    `wall` and `cpu` are seconds, `cpu` is user and system time of the command and of all processes that it started;
    `memory` is the largest resident size in MB that any one of them had.
    """

    wall: float
    cpu: float
    memory: float

    def beyond(self, other: Cost) -> Cost:
        """What it took more time than `other`; the memory is its own."""
        return Cost(self.wall - other.wall, self.cpu - other.cpu, self.memory)


def median(costs: Sequence[Cost]) -> Cost:
    """The median of each figure."""
    return Cost(*(statistics.median(figures) for figures in zip(*map(astuple, costs), strict=True)))


def measured(command: Sequence[str | Path], environment: Mapping[str, str], output: Path) -> Cost:
    """Run a command that prints into `output`. RuntimeError with what it printed when it fails."""
    with output.open("w") as printed:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT, env=environment
        )
        # The usage that it gives holds that of the processes which this one has waited for.
        _pid, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(output.read_text())
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1_024)
