# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Run the benchmarks: `python tests/bench [NAME ...]`, all of them without a name.

A benchmark is a file `bench_NAME.py` beside this one, whose `run()` yields lines of at most 100 characters.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PREFIX = "bench_"


def main(names: list[str]) -> int:
    """0; 2 when there is no benchmark of a name that was given."""
    found = sorted(path.stem.removeprefix(PREFIX) for path in Path(__file__).parent.glob(f"{PREFIX}*.py"))
    unknown = [name for name in names if name not in found]
    if unknown:
        sys.stderr.write(f"There is no benchmark {unknown[0]!r}; there are: {', '.join(found)}.\n")
        return 2
    for name in names or found:
        command = f"make bench ONLY={name}"
        print(f"{command}\n{facts()}", flush=True)
        for line in importlib.import_module(PREFIX + name).run():
            print(line, flush=True)
    return 0


def facts() -> str:
    """What the figures depend on; a load average above 0 means that others were at work on the machine."""
    load = os.getloadavg()[0]
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {platform.machine()}, {platform.system()},"
        f" Python {platform.python_version()}, ansible-core {version('ansible-core')},\n"
        f"load average {load:.1f} before"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
