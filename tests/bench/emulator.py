# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The emulator as a process that benchmarks measure."""

from __future__ import annotations

import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

# What every request carries.
HEADERS = {"Authorization": "Basic " + b64encode(b"admin:emulator").decode()}
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Emulator:
    """A running emulator."""

    url: str
    pid: int

    def cpu_seconds(self) -> float:
        """The processor time that it has used so far (Linux)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def get(self, path: str) -> requests.Response:
        """An answer that has to be a good one."""
        answer = requests.get(self.url + path, headers=HEADERS, timeout=60)
        answer.raise_for_status()
        return answer


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Emulator]:
    """An emulator on a free port; its log is in the folder."""
    command = [sys.executable, "-m", "ocp_emulator", "serve", "--port", "0", *options]
    log_file = folder / "emulator.log"
    with (
        log_file.open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            words = process.stdout.readline().split()
            if not words:
                raise RuntimeError(log_file.read_text())
            yield Emulator(words[-1], process.pid)
        finally:
            process.terminate()
