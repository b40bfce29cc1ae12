# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Restart a fleet over a mesh of Receptor on this machine, `python extensions/mesh [MIRROR]`, and leave nothing of it.

0 if every promise was kept, 1 if not or where Receptor cannot be had, 130 if it was interrupted.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import runs
from nodes import Mesh, MeshFailed
from receptor_program import MIRROR, PACKAGE, SUITE, NotToBeHad, fetch_package, unpack
from traces import end_processes

BUILD = Path(".build/mesh")
WORKERS = ("worker1", "worker2", "worker3")


def main(mirror: str) -> int:
    """Run all, and clean up whatever happens."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    run = secrets.token_hex(8)
    folder = None
    try:
        package = fetch_package(BUILD.absolute(), mirror)
        # A short path: Receptor listens on a socket there.
        folder = Path(tempfile.mkdtemp(prefix="mesh-"))
        receptor = unpack(package, folder / "receptor")
        return _run(Mesh(folder, receptor, run, WORKERS))
    except NotToBeHad as problem:
        say(str(problem))
        return 1
    except MeshFailed as problem:
        say(f"make mesh failed: {problem}")
        return 1
    except KeyboardInterrupt:
        say("make mesh was interrupted.")
        return 130
    finally:
        _leave_nothing(run, folder)


def _run(mesh: Mesh) -> int:
    say(f"Receptor {PACKAGE} of Debian {SUITE}; a control node and {len(mesh.workers)} workers on this machine,")
    say(f"{runs.CLUSTERS} clusters of {runs.emulator.ZONES} servers, restarts of {runs.SECONDS} s")
    mesh.start()
    check = runs.Check(say)
    runs.unsigned(mesh, check)
    costs = {workers: runs.plain(mesh, check, workers) for workers in (1, len(mesh.workers))}
    runs.killed(mesh, check)
    runs.stopped(mesh, check)
    say(f"{'workers':>7}  {'forks each':>10}  {'wall s':>6}  {'cpu s of workers':>16}  {'of control':>10}")
    for workers, cost in costs.items():
        say(f"{workers:7}  {runs.FORKS:10}  {cost.wall:6.1f}  {cost.workers:16.1f}  {cost.control:10.1f}")
    say(f"one machine of {os.cpu_count()} processors: this shows distribution, not more processors")
    if check.failed:
        say(f"{check.failed} promises were not kept")
    return 1 if check.failed else 0


def _leave_nothing(run: str, folder: Path | None) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    end_processes(run)
    if folder is not None:
        shutil.rmtree(folder)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:] or [MIRROR]))
