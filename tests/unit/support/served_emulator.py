# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An emulator on a real socket in a thread of the test, and what a client sees of it."""

import json
import socket
import threading
import time
from base64 import b64encode
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPSConnection

import pytest
import uvicorn
from ocp_emulator.serve.app import create_app
from ocp_emulator.serve.run_server import listen
from ocp_emulator.serve.shutdown_and_outage import EmulatorServer
from ocp_emulator.service import Settings

ADMIN = {"Authorization": "Basic " + b64encode(b"admin:ocp-demo-1").decode()}
RESTART = ("POST", "/api/v2/arbitration/services/1/restart")
TASKS = "/api/v2/tasks/instances"
# Long enough to tell an answer from none.
PATIENCE = 0.3
# Far below what a server waits for its requests, and far above what a busy machine takes to do without.
QUICK = 20
# For ever, until the test ends it.
PAUSE = 6_000


class Served:
    """An emulator on a socket, in a thread of the test."""

    def __init__(self, port, server, context):
        self.port = port
        self.server = server
        self._context = context

    def connect(self, patience=30):
        """A new connection that is open."""
        if self._context:
            connection = HTTPSConnection("127.0.0.1", self.port, context=self._context, timeout=patience)
        else:
            connection = HTTPConnection("127.0.0.1", self.port, timeout=patience)
        connection.connect()
        return connection

    def ask(self, method, path, body=None, patience=30, connection=None):
        """The answer with its body; the connection is closed unless it was given."""
        with ExitStack() as stack:
            if connection is None:
                connection = self.connect(patience)
                stack.callback(connection.close)
            headers = {**ADMIN, "Content-Type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            answer.content = answer.read()
            return answer

    def data(self, method, path, body=None):
        answer = self.ask(method, path, body)
        assert answer.status == 200, answer.content
        return json.loads(answer.content).get("data")

    def plan(self, action, match=None, **fault):
        match = match or {"method": RESTART[0], "path": RESTART[1]}
        return self.data("POST", "/emulator/faults", {"kind": "http", "action": action, "match": match, **fault})

    def tasks(self):
        return self.data("GET", TASKS)["page"]["totalElements"]

    def last_seen(self):
        """The last restart that was asked for; it is over."""
        query = "/emulator/requests?method=POST&sort=id,desc&size=1"
        while (request := self.data("GET", query)["contents"][0])["milliseconds"] is None:
            time.sleep(0.01)
        return request

    def is_refused(self):
        try:
            self.connect().close()
        except ConnectionRefusedError:
            return True
        return False

    def come_back(self):
        """End a pause."""
        self.server._outage_until = 0
        self.wait_until_back()

    def wait_until_back(self):
        while self.is_refused():
            time.sleep(0.02)


@contextmanager
def serving(context=None, settings=None, **files):
    bound = listen("127.0.0.1", 0)
    host, port = bound.getsockname()
    config = uvicorn.Config(
        create_app(Settings(host=host, port=port, **{"step_ms": 0, **(settings or {})})),
        log_config=None,
        timeout_graceful_shutdown=QUICK * 2,
        **files,
    )
    ready = threading.Event()
    again = partial(rebound, bound.getsockname())
    server = EmulatorServer(config, again, ready.set)
    thread = threading.Thread(target=partial(server.run, sockets=[bound]))
    thread.start()
    try:
        assert ready.wait(30)
        yield Served(port, server, context)
    finally:
        server.should_exit = True
        thread.join(QUICK * 3)
        assert not thread.is_alive()


def rebound(address):
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(address)
    return bound


def is_whole(served):
    answer = served.ask(*RESTART)
    assert answer.status == 200
    assert json.loads(answer.content)["data"]["name"] == "Restart arbitration service"
    return 200


def ends_in_reset(connection):
    """Whatever has come before, the connection ends by RST; looked at below TLS, since ssl makes a mere end of it."""
    with socket.fromfd(connection.sock.fileno(), socket.AF_INET, socket.SOCK_STREAM) as raw:
        raw.settimeout(30)
        with pytest.raises(ConnectionResetError):
            while True:
                assert raw.recv(65_536), "closed, not reset"
    connection.close()
