# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Emulators as processes, forked from one that has imported the emulator already: most of a start is its imports."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from ansible_process import ask

# Seconds.
MOST = 20


class EmulatorProcess:
    """An emulator that has been forked; it ends with this process at the latest."""

    def __init__(self, connection: socket.socket, output: TextIO) -> None:
        self._connection = connection
        self._pid = int(connection.recv(16))
        self.output = output
        connection.settimeout(MOST)

    def end(self, how: signal.Signals) -> None:
        """Send it this signal, and wait for its end, unless it has ended so before."""
        if self.output.closed:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, how)
        with self._connection:
            self._connection.recv(16)
        self.output.close()


def serve(folder: Path, options: Sequence[str], log_file: Path) -> EmulatorProcess:
    """``ocp_emulator serve`` with these options, by the process that has its socket in this folder."""
    read, write = os.pipe()
    with log_file.open("w") as log, Path(os.devnull).open() as nothing:
        connection = ask(folder, ["ocp-emulator", "serve", *options], [nothing.fileno(), write, log.fileno()])
    os.close(write)
    return EmulatorProcess(connection, os.fdopen(read))
