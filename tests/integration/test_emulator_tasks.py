# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Every command of docs/emulator.md, in its order; the suite of examples/emulator; a restart recorded and replayed."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest
import requests
from credentials import BASIC
from documentation_blocks import EXAMPLE_URL, blocks
from in_process import called
from repository import REPOSITORY

PAGE = "docs/emulator.md"
COMMANDS = [line.removeprefix("$ ") for block in blocks(PAGE, "console") for line in block.splitlines()]
SERVES = [shlex.split(line)[2:] for line in COMMANDS if line.startswith("ocp-emulator serve")]
[RECORD] = [shlex.split(line)[2:] for line in COMMANDS if line.startswith("ocp-emulator record")]
ASKS = [line for line in COMMANDS if not line.startswith("ocp-emulator")]
RESTART = {"server": "10.0.0.1:2882", "freeze_server": True, "wait": True}


def test_commands_with_curl_do_as_the_page_says(start_emulator):
    emulator = start_emulator()
    script = "\n".join(["set -euo pipefail", *ASKS]).replace("http://127.0.0.1:8080", emulator.url)
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr
    assert len(ASKS) > 20


@pytest.mark.parametrize("options", [each for each in SERVES if "--replay" not in each], ids=" ".join)
def test_emulators_of_the_page_start(start_emulator, options):
    given = [each.replace("examples/", f"{REPOSITORY}/examples/") for each in options]
    emulator = start_emulator(*given, "--port", "0")
    shown = emulator.get("/emulator/durations")
    if "--task-seconds" in options:
        assert (shown["tasks"], shown["jitter"]) == ({"Restart OB server": 1200.0}, 0.1)
    assert emulator.get("/emulator/clock")["speed"] == (60 if "--speed" in options else 1)
    if "--faults" in options:
        planned = [each["fault"]["action"] for each in emulator.get("/emulator/faults")["contents"]]
        assert planned.count("respond") == 22
        # A call of the emulator that a stub would hit too.
        assert "serverIp" in emulator.get("/api/v2/ob/clusters/1/tenants/5001/units")["contents"][0]


def test_suite_with_curl_alone_passes(emulator):
    suite = REPOSITORY / "examples/emulator/suite.sh"
    for _twice in range(2):
        run = subprocess.run(["sh", suite, emulator.url], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr
        assert run.stdout.splitlines()[-1] == "passed"


def test_suite_fails_where_something_else_was_sent(emulator):
    suite = (REPOSITORY / "examples/emulator/suite.sh").read_text()
    wrong = suite.replace("""is '"count":1'""", """is '"count":2'""")
    assert wrong != suite
    run = subprocess.run(["sh", "-s", emulator.url], input=wrong, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.startswith('FAILED: no "count":2 in {')


@contextmanager
def recording(upstream, file):
    """The proxy of the page; the lines that it has printed when it has ended."""
    given = [{EXAMPLE_URL: upstream, "ocp-exchanges.jsonl": str(file), "8081": "0"}.get(each, each) for each in RECORD]
    command = [sys.executable, "-m", "ocp_emulator", "record", *given]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline().strip()]
        try:
            yield lines[0].split()[-1], lines
        finally:
            process.send_signal(signal.SIGINT)
            rest, errors = process.communicate(timeout=120)
            lines += rest.splitlines()
    assert (process.returncode, errors) == (0, "")


@pytest.mark.nightly
def test_a_restart_is_recorded_and_replayed(start_emulator, tmp_path):
    """With the tools that people use: here, modules of the collection, one of them with a signature."""
    file = tmp_path / "exchanges.jsonl"
    emulator = start_emulator()
    with recording(emulator.url, file) as (url, printed):
        keys = {"access_key_id": "emulator", "access_key_secret": "emulator-secret"}
        assert [each["name"] for each in called("cluster_info", url, **keys)["clusters"]] == ["orders", "payments"]
        real = called("server_restart", url, cluster="orders", **RESTART, **BASIC)
    assert (real["verified"], emulator.restarts("OB_SERVER")) == (True, {"10.0.0.1:2882": 1})
    assert printed[0] == f"OCP recorder listens on {url}"
    assert printed[-1].endswith(f" requests are in {file}. The service differs from the documents in 1 way, see above.")
    assert printed[1].startswith("differs: GET /api/v2/ob/clusters/9")
    text = file.read_text()
    assert [word for word in ("orders", "payments", "10.0.0.", "admin", "ocp-demo-1", "emulator") if word in text] == []

    replay = start_emulator("--replay", str(file))
    clusters = called("cluster_info", replay.url, **BASIC)["clusters"]
    servers = requests.get(f"{replay.url}/api/v2/ob/clusters/{clusters[0]['id']}/servers?page=1&size=2000", timeout=10)
    first = servers.json()["data"]["contents"][0]
    given = {**RESTART, "server": f"{first['ip']}:{first['port']}"}
    # From the first answer to each request again.
    replay.post("/emulator/reset")
    replayed = called("server_restart", replay.url, cluster=clusters[0]["name"], **given, **BASIC)
    assert (replayed["verified"], replayed["changed"]) == (True, True)
    assert [step["description"] for step in replayed["task"]["subtasks"]] == [
        step["description"] for step in real["task"]["subtasks"]
    ]
