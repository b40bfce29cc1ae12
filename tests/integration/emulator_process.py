# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Emulators as processes, forked from one that has imported the emulator already: most of a start is its imports."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TextIO

from ocp_emulator.cli import main

FORKS = multiprocessing.get_context("forkserver")
# Not this module: Python 3.11 looks for what to import before it knows where the tests are.
FORKS.set_forkserver_preload(["ocp_emulator.cli"])


def serve(options: Sequence[str], log_file: Path) -> tuple[BaseProcess, TextIO]:
    """``ocp_emulator serve`` with these options, and what it prints to standard output."""
    ours, its_own = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=_serve, args=(options, log_file, its_own), daemon=True)
    process.start()
    its_own.close()
    return process, os.fdopen(os.dup(ours.fileno()))


def _serve(options: Sequence[str], log_file: Path, output: Connection) -> None:
    with log_file.open("w") as log:
        os.dup2(log.fileno(), sys.stderr.fileno())
    os.dup2(output.fileno(), sys.stdout.fileno())
    sys.exit(main(["serve", *options]))
