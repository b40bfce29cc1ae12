# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""`make demo`: restarts of all kinds, their proof and a failure in 60 lines, and on an emulator only."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from repository import REPOSITORY

DEMO = REPOSITORY / "playbooks" / "demo.yml"


def demo(ansible):
    return subprocess.run(
        [sys.executable, REPOSITORY / "tools" / "demo"],
        env={**os.environ, **ansible.variables()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


# Also in a home that knows the servers of an earlier emulator.
@pytest.mark.parametrize("earlier", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_demo_fits_a_screen_and_shows_each_restart_with_its_proof(ansible, earlier):
    for _run in range(earlier):
        assert demo(ansible).returncode == 0
    done = demo(ansible)
    assert done.returncode == 0, done.stdout
    assert len(done.stdout.splitlines()) <= 60
    shown = [line.strip() for line in done.stdout.splitlines()]
    proofs = {
        "10.0.0.1:2882": "; started ",
        "payments": "; all 3 servers restarted",
        "10.0.0.2": "; pid of ocp_agentd ",
        "10.0.0.10:2888": "; not verified, since",
        "zone2": "; retried after this failure:",
    }
    for target, proof in proofs.items():
        [row] = [line for line in shown if line.startswith(f"{target} ")]
        assert " SUCCESSFUL in " in row
        assert proof in row
    assert [line for line in shown if line.startswith("second run") and " skipped: 10.0.0.1:2882 started at" in line]
    command = "ansible localhost -m oceanbase.ocp.task -a 'task_id=1005 state=retried wait=true detail=compact'"
    assert f"Retry what failed: {command}" in shown
    [next_line] = [number for number, line in enumerate(shown) if line.startswith("Next: run `make emulator`")]
    proposed = shlex.split(shown[next_line + 2])
    assert proposed[:2] == [".venv/bin/ansible-playbook", "oceanbase.ocp.rolling_restart"]
    assert json.loads(proposed[3]) == {"rolling_restart_clusters": ["orders"]}
    # Ansible hides a password wherever it occurs.
    assert "***" not in "".join(line for line in shown if not line.startswith(("PLAY", "TASK")))


class NotAnEmulator(BaseHTTPRequestHandler):
    """A service without the emulator's control API, which lists the paths that it is asked for."""

    def do_POST(self):
        self.server.asked.append(self.path)
        self.send_error(404)

    def log_message(self, *_arguments):
        """Say nothing."""


@pytest.fixture
def other_service():
    with HTTPServer(("127.0.0.1", 0), NotAnEmulator) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever).start()
        yield server
        server.shutdown()


def test_demo_asks_another_service_for_no_restart(ansible, other_service):
    url = f"http://127.0.0.1:{other_service.server_port}"
    outcome = ansible.playbook(str(DEMO), arguments=f"-e demo_url={url}")
    assert outcome.rc == 2
    assert set(other_service.asked) == {"/emulator/faults"}
