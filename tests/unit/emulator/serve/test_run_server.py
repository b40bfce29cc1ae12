# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The real process: started, asked over HTTP and HTTPS, and ended."""

import http.client
import json
import signal
import ssl
import subprocess
import sys
import time
from base64 import b64encode
from contextlib import contextmanager

import pytest
import trustme

ADMIN = {"Authorization": "Basic " + b64encode(b"admin:ocp-demo-1").decode()}


@contextmanager
def serving(*options):
    """A process on a free port: the process, its URL's scheme, and its port."""
    command = [sys.executable, "-m", "ocp_emulator", "serve", "--port", "0", *map(str, options)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            scheme, _separator, rest = process.stdout.readline().split()[-1].partition("://")
            host, _separator, port = rest.partition(":")
            assert host == "127.0.0.1"
            yield process, scheme, int(port)
        finally:
            process.kill()


def ask(connection, method, path):
    connection.request(method, path, headers=ADMIN)
    return json.loads(connection.getresponse().read())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_process_serves_http_until_a_signal_ends_it(tmp_path, number):
    with serving("--step-seconds", 0, "--database", tmp_path / "state.db") as (process, scheme, port):
        assert scheme == "http"
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        started = ask(connection, "POST", "/api/v2/ob/clusters/1/servers/2/restart?freezeServer=true")
        assert (started["status"], started["server"]) == (200, f"127.0.0.1:{port}")
        task = ask(connection, "GET", f"/api/v2/tasks/instances/{started['data']['id']}")
        assert task["data"]["status"] == "SUCCESSFUL"
        # The connection is still open: a client that keeps it does not keep the server from ending.
        begin = time.monotonic()
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
        assert time.monotonic() - begin < 10
        assert (process.returncode, out) == (0, "")
        assert "Traceback" not in err
        assert err.count("\n") == 4
        connection.close()


def test_process_serves_https(tmp_path):
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    for pem in issued.cert_chain_pems:
        pem.write_to_path(tmp_path / "cert.pem", append=True)
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with serving("--tls-cert", tmp_path / "cert.pem", "--tls-key", tmp_path / "key.pem") as (_process, scheme, port):
        assert scheme == "https"
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=20)
        assert ask(connection, "GET", "/api/v2/ob/clusters/1/servers")["data"]["contents"][0]["id"] == 1
        connection.close()


def test_accepted_task_survives_an_immediate_kill(tmp_path):
    database = tmp_path / "state.db"
    with serving("--database", database) as (process, _scheme, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        started = ask(connection, "POST", "/api/v2/ob/clusters/2/restart")["data"]
        process.kill()
        process.wait()
        connection.close()
    with serving("--database", database) as (_process, _scheme, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        task = ask(connection, "GET", f"/api/v2/tasks/instances/{started['id']}")["data"]
        assert {step["id"] for step in task["subtasks"]} == {step["id"] for step in started["tasks"]}
        connection.close()
