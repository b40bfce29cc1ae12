# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A service that is slow in every way: commands end in time, as whole processes."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import threading
import time
from contextlib import ExitStack

import pytest
import yaml
from credentials import BASIC
from hostile_ocp import HostileOcp
from hostile_ocp import serve as serve_ocp
from raw_service import endless, envelope, packed, serve

# Minutes in all.
pytestmark = pytest.mark.nightly


# Seconds, beyond what the same command takes where each request is refused at once.
LIMIT = 10
# Of a command that would not end at all.
GUARD = 90
RUNS = 3
PAUSE = 0.02
OK = "HTTP/1.1 200 OK\n"
CHUNKED = f"{OK}Transfer-Encoding: chunked\n\n"
IDS = itertools.count(1)


def page(path):
    """One more of a thousand million pages; what is read by itself is a task that runs."""
    entry = {"id": next(IDS), "name": "x", "status": "RUNNING", "startTime": "2026-05-04T00:00:00Z"}
    listed = {"contents": [entry], "page": {"totalPages": 10**9}}
    return [envelope(listed if "?" in path or path.endswith("s") else entry)]


def empty_page(_path):
    return [envelope({"contents": [], "page": {"totalPages": 10**9}, "id": 1001, "status": "RUNNING"})]


def limited(value, *names, status):
    body = b'{"successful": false, "status": 429, "error": {"message": "Later."}}'
    running = b'{"successful": true, "data": {"id": 1001, "status": "RUNNING", "contents": []}}'
    headers = [f"{name}: {value}" for name in names]
    return lambda _path: [packed(running if status == 200 else body, *headers, status=status)]


# By what each request is answered, and the pause before each piece of it.
WAYS = {
    "no answer": (lambda _path: endless("", b""), 0.5),
    "100 Continue": (lambda _path: endless("", b"HTTP/1.1 100 Continue\r\n\r\n"), PAUSE),
    "status line by bytes": (lambda _path: endless("HTTP/1.1 200 ", b"O"), PAUSE),
    "header by bytes": (lambda _path: endless(f"{OK}X-Long: ", b"x"), PAUSE),
    "headers": (lambda _path: endless(OK, b"X-More: x\r\n"), PAUSE),
    "body by bytes": (lambda _path: endless(f"{OK}Content-Length: 1000000\n\n", b" "), PAUSE),
    "body without a length": (lambda _path: endless(f"{OK}\n", b" "), PAUSE),
    "chunks": (lambda _path: endless(CHUNKED, b"1\r\n \r\n"), PAUSE),
    "chunk size by bytes": (lambda _path: endless(CHUNKED, b"0"), PAUSE),
    "chunk size, fast": (lambda _path: endless(CHUNKED, b"1" * 1000), 0.001),
    "trailers": (lambda _path: endless(f"{CHUNKED}0\n", b"X-More: x\r\n"), PAUSE),
    "503 by bytes": (lambda _path: endless("HTTP/1.1 503 No\nContent-Length: 1000\n\n", b" "), PAUSE),
    "empty pages": (empty_page, 0.0),
    "pages": (page, 0.0),
    "slow pages": (page, 0.2),
    # As late as the time-out allows, again and again.
    "each answer just in time": (page, 1.8),
    "reset as a time": (limited(2_000_000_000, "RateLimit-Reset", status=200), 0.0),
    "nothing remains, reset as a time": (
        limited("0\r\nRateLimit-Reset: 2000000000", "RateLimit-Remaining", status=200),
        0.0,
    ),
    "later": (limited(10**9, "Retry-After", "RateLimit-Reset", status=429), 0.0),
    "later, of 400 digits": (limited("9" * 400, "Retry-After", "RateLimit-Reset", status=429), 0.0),
}
WAIT = "wait_timeout=3 wait_interval=0.5"
COMMANDS = {
    "task_wait": f"task_ids=1001 {WAIT}",
    "task_info": "limit=10",
    "cluster_wait": f"cluster=orders {WAIT}",
    "server_restart": f"cluster=1 server=1 freeze_server=false wait=true {WAIT}",
    "agent_restart": f"hosts=1 wait=true {WAIT}",
    "cluster_info": "",
    "cluster_rolling_restart_info": "clusters=1 started_before=2026-05-04T00:00:00Z",
}


@pytest.fixture
def run(ansible, commands, tmp_path):
    """Run a command on hosts of these URLs, all at once; returns what it prints and how many seconds it took."""

    def timed(urls, module, arguments):
        inventory = tmp_path / "hosts.yml"
        connection = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
        hosts = {f"way{number}": {"ocp": url, **connection} for number, url in enumerate(urls)}
        inventory.write_text(yaml.safe_dump({"all": {"hosts": hosts}}))
        login = " ".join(f"{name}={value}" for name, value in BASIC.items())
        words = f"url={{{{ ocp }}}} timeout=2 {login} {arguments}"
        command = [commands / "ansible", "all", "-i", inventory, "-f", "50", "-m", f"oceanbase.ocp.{module}"]
        began = time.monotonic()
        with subprocess.Popen(
            [*command, "-a", words],
            env={**os.environ, **ansible.variables()},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                shown, _errors = process.communicate(timeout=GUARD)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return shown, time.monotonic() - began

    return timed


@pytest.mark.parametrize(
    "module", [pytest.param(name, marks=[] if name == "task_wait" else pytest.mark.nightly) for name in COMMANDS]
)
def test_command_ends_in_time_however_the_service_dawdles(module, run):
    with ExitStack() as stack:
        refusing = stack.enter_context(serve(lambda _path: [packed(b"{}", status=401)]))
        services = {name: stack.enter_context(serve(*way)) for name, way in WAYS.items()}
        urls = [f"http://{service}" for service in services.values()]
        # It accepts and never says a word of TLS.
        urls.append(f"https://{services['no answer']}")
        over = []
        # On a machine that is busy with something else one run may take long.
        while len(over) < RUNS and not any(seconds < LIMIT for seconds in over):
            _shown, own = run([f"http://{refusing}"] * len(urls), module, COMMANDS[module])
            shown, took = run(urls, module, COMMANDS[module])
            over.append(took - own)
    assert min(over) < LIMIT
    assert "crashed" not in shown
    assert "Traceback" not in shown
    assert shown.count(" => {") == len(urls)


def test_restart_whose_answer_does_not_come_ends_in_time(ansible):
    """All is read at once; only what starts the restart is not answered."""
    ocp, ended = HostileOcp(lambda _where, _number: None, 1), threading.Event()

    def answer(method, target):
        if method == "POST":
            ended.wait(GUARD)
        return ocp.answer(method, target)

    with serve_ocp(answer) as url:
        options = {"cluster": "orders", "server": "10.9.0.1:2882", "freeze_server": False, "wait": True}
        limits = {"timeout": 2, "wait_timeout": 3, "wait_interval": 0.5}
        result = ansible.module("server_restart", url=url, **options, **limits, **BASIC)
        ended.set()
    assert "It is not known whether a restart" in result["msg"]
    assert result["changed"] is True
    assert result["elapsed"] < LIMIT
