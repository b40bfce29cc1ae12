# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
import traces

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="as Receptor, for Linux alone")


@pytest.fixture
def run(monkeypatch):
    """The mark of a run, whose processes are gone in the end."""
    monkeypatch.setattr(traces, "_PATIENCE", 0.2)
    token = secrets.token_hex(8)
    yield token
    traces.end_processes(token)


def start(run, code, *words, node="worker1"):
    """A process of a run, which has said that it is there."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"{code}\nprint('there', flush=True)\nimport time\ntime.sleep(600)", *words],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, traces.RUN: run, traces.NODE: node},
    )
    assert process.stdout.readline() == "there\n"
    process.stdout.close()
    return process


def test_processes_of_a_run_are_known_by_run_and_node(run):
    first, second = start(run, ""), start(run, "", node="worker2")
    assert sorted(traces.processes(run)) == sorted([first.pid, second.pid])
    assert traces.processes(run, "worker2") == [second.pid]
    assert traces.processes("another") == []


@pytest.mark.parametrize(
    "code",
    [
        "",
        # As Receptor starts jobs.
        "import os\nos.setsid()",
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)",
    ],
    ids=["plain", "own session", "deaf"],
)
def test_no_process_of_a_run_is_left(run, code):
    # The kernel shows no environment of a process that is being started: the child says that it is there, too.
    child = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'print(1, flush=True); import time; time.sleep(600)'], "
        f"stdout=subprocess.PIPE)\nchild.stdout.readline()\n{code}"
    )
    start(run, child)
    assert len(traces.processes(run)) == 2
    other = start("another", "")
    traces.end_processes(run)
    assert traces.processes(run) == []
    assert other.poll() is None
    other.kill()
    other.wait()


def test_secret_in_a_command_line_is_found(run):
    start(run, "")
    assert traces.exposed(run, ["a-secret"]) == []
    start(run, "", "--password=a-secret")
    assert traces.exposed(run, ["a-secret"]) == [sys.executable]


def test_files_with_a_secret_are_found(tmp_path):
    (tmp_path / "job/env").mkdir(parents=True)
    (tmp_path / "job/env/envvars").write_text('{"OCP_PASSWORD": "a-secret"}')
    (tmp_path / "job/settings").write_bytes(b"\xff\x00")
    assert traces.files_with(tmp_path, ["a-secret", "another"]) == [tmp_path / "job/env/envvars"]
    assert traces.files_with(tmp_path, ["another"]) == []


def test_processor_time_is_that_of_the_node(run):
    busy = "import time\nwhile time.process_time() < 0.1: pass"
    start(run, busy)
    # By ticks of the kernel's clock.
    assert traces.cpu_seconds(run, "worker1") >= 0.05
    assert traces.cpu_seconds(run, "worker2") == 0
