# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The molecule scenarios of the collection, with their idempotence step, on an emulator of their own."""

from __future__ import annotations

import os
import socket
import subprocess

import pytest
from support import REPOSITORY


@pytest.mark.usefixtures("ansible")
def test_every_scenario_converges_and_is_idempotent(executables):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "PATH": f"{executables}:{os.environ['PATH']}",
        "MOLECULE_OCP_PORT": str(port),
        "NO_COLOR": "1",
    }
    run = subprocess.run(
        [executables / "molecule", "test", "--all"],
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=280,
    )
    assert run.returncode == 0, run.stdout
    assert "server_restart > idempotence: Executed: Successful" in run.stdout
