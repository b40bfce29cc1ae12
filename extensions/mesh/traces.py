# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a run leaves: which processes are its own, what processor they took, and where a password can be read."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

# In the environment of every process of a run: which run it is, and which node. Receptor starts jobs in sessions of
# their own, so neither a group nor a parent shows which run they belong to.
RUN, NODE = "MESH_RUN", "MESH_NODE"
_TICKS = os.sysconf("SC_CLK_TCK")
# Seconds that a process gets to end by itself.
_PATIENCE = 5.0


def processes(run: str, node: str | None = None) -> list[int]:
    """The ids of the processes of a run, or of one node of it, without this one (Linux)."""
    marks = {f"{RUN}={run}".encode()} | ({f"{NODE}={node}".encode()} if node else set())
    found = (int(entry.name) for entry in Path("/proc").glob("[0-9]*"))
    return [pid for pid in found if pid != os.getpid() and marks <= set(_read(pid, "environ").split(b"\0"))]


def words(pid: int) -> list[str]:
    """The command line of a process; empty if it has ended."""
    return _read(pid, "cmdline").decode(errors="replace").split("\0")


def cpu_seconds(run: str, node: str) -> float:
    """The processor time of a node so far, with that of processes which have ended and were waited for."""
    ticks = 0
    for pid in processes(run, node):
        fields = _read(pid, "stat").rpartition(b")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS


def end_processes(run: str) -> int:
    """End all processes of a run, kindly first; how many had to be killed."""
    asked = _signal(processes(run), signal.SIGTERM)
    until = time.monotonic() + _PATIENCE
    while processes(run) and time.monotonic() < until:
        _reap(asked)
        time.sleep(0.05)
    killed: set[int] = set()
    # A process may have started another one just before.
    while left := processes(run):
        killed |= _signal(left, signal.SIGKILL)
        time.sleep(0.05)
    _reap(asked | killed)
    return len(killed)


def _signal(pids: Collection[int], number: signal.Signals) -> set[int]:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
    return set(pids)


def exposed(run: str, secrets: Collection[str]) -> list[str]:
    """The programs of a run that have one of the secrets in their command line, by name."""
    lines = [words(pid) for pid in processes(run)]
    return [line[0] for line in lines if any(secret in word for secret in secrets for word in line)]


def files_with(folder: Path, secrets: Collection[str]) -> list[Path]:
    """The files below a folder in which one of the secrets can be read."""
    return [path for path in _files(folder) if any(secret.encode() in path.read_bytes() for secret in secrets)]


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _reap(pids: Collection[int]) -> None:
    """Wait for those that are children of this process and have ended."""
    for pid in pids:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
