# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of kind http on real sockets: what the client sees, and whether the request has had its effect."""

import json
import socket
import ssl
import threading
import time
from base64 import b64encode
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPSConnection, IncompleteRead

import pytest
import trustme
import uvicorn
from ocp_emulator.serve.app import create_app
from ocp_emulator.serve.run_server import listen
from ocp_emulator.serve.server import EmulatorServer
from ocp_emulator.service import Settings

ADMIN = {"Authorization": "Basic " + b64encode(b"admin:emulator").decode()}
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
def serving(context=None, **files):
    bound = listen("127.0.0.1", 0)
    host, port = bound.getsockname()
    config = uvicorn.Config(
        create_app(Settings(host=host, port=port, step_ms=0)),
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


@pytest.fixture(scope="module", params=["http", "https"])
def shared(request, tmp_path_factory):
    if request.param == "http":
        with serving() as served:
            yield served
        return
    folder = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    issued.private_key_pem.write_to_path(folder / "key.pem")
    issued.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with serving(context, ssl_certfile=folder / "cert.pem", ssl_keyfile=folder / "key.pem") as served:
        yield served


@pytest.fixture
def served(shared):
    """Nothing planned."""
    shared.data("DELETE", "/emulator/faults")
    return shared


# --- What the client sees -----------------------------------------------------------------------------------------


def is_whole(served):
    answer = served.ask(*RESTART)
    assert answer.status == 200
    assert json.loads(answer.content)["data"]["name"] == "Restart arbitration service"
    return 200


def is_whole_and_then_refused(served):
    idle = served.connect()
    served.ask("GET", "/api/v2/time", connection=idle)
    answer = served.ask(*RESTART)
    assert (answer.status, answer.headers["Connection"]) == (200, "close")
    assert json.loads(answer.content)["successful"] is True
    # Closed, not reset.
    assert idle.sock.recv(1) == b""
    idle.close()
    assert served.is_refused()
    served.come_back()
    return 200


def ends_in_reset(connection):
    """Whatever has come before, the connection ends by RST; looked at below TLS, since ssl makes a mere end of it."""
    with socket.fromfd(connection.sock.fileno(), socket.AF_INET, socket.SOCK_STREAM) as raw:
        raw.settimeout(30)
        with pytest.raises(ConnectionResetError):
            while True:
                assert raw.recv(65_536), "closed, not reset"
    connection.close()


def is_reset(served):
    connection = served.connect()
    connection.request(*RESTART, headers=ADMIN)
    ends_in_reset(connection)


def is_reset_with_all_others_and_then_refused(served):
    idle = served.connect()
    served.ask("GET", "/api/v2/time", connection=idle)
    is_reset(served)
    ends_in_reset(idle)
    assert served.is_refused()
    served.come_back()


def is_never_answered(served):
    with pytest.raises(TimeoutError):
        served.ask(*RESTART, patience=PATIENCE)


def is_cut(served):
    with pytest.raises(IncompleteRead) as cut:
        served.ask(*RESTART)
    assert (len(cut.value.partial), cut.value.expected > 1_000) == (17, True)
    return 200


def is_half(served):
    with pytest.raises(IncompleteRead) as cut:
        served.ask(*RESTART)
    assert 0 <= cut.value.expected - len(cut.value.partial) <= 1
    return 200


def is_no_json(served):
    answer = served.ask(*RESTART)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    with pytest.raises(ValueError, match="codec"):
        json.loads(answer.content)
    return 200


def is_a_page(status):
    def check(served):
        answer = served.ask(*RESTART)
        assert answer.headers["Content-Type"].startswith("text/html")
        assert answer.content.startswith(b"<html>")
        assert str(status).encode() in answer.content
        assert answer.status == status
        return status

    return check


def is_an_error(status):
    def check(served):
        answer = served.ask(*RESTART)
        body = json.loads(answer.content)
        assert (answer.status, body["status"], body["successful"]) == (status, status, False)
        return status

    return check


SPARING = [
    ("reset", {}, is_reset),
    ("drop", {}, is_never_answered),
    ("garbage", {}, is_no_json),
    ("html", {}, is_a_page(502)),
    ("html", {"status": 200}, is_a_page(200)),
    ("error", {"status": 401}, is_an_error(401)),
    ("error", {"status": 403}, is_an_error(403)),
    ("error", {"status": 409}, is_an_error(409)),
    ("error", {"status": 429}, is_an_error(429)),
    ("error", {"status": 500}, is_an_error(500)),
    ("error", {"status": 503}, is_an_error(503)),
    ("restart", {"seconds": PAUSE}, is_reset_with_all_others_and_then_refused),
]
# Each with its options, what the client sees, and whether a task has started.
ROWS = [
    *((action, {"when": "before", **options}, check, False) for action, options, check in SPARING),
    *((action, {"when": "after", **options}, check, True) for action, options, check in SPARING),
    *((action, options, check, False) for action, options, check in SPARING if action in ("reset", "drop", "garbage")),
    ("html", {}, is_a_page(502), False),
    ("refuse", {"seconds": PAUSE}, is_whole_and_then_refused, True),
    ("slow", {"seconds": 0.01}, is_whole, True),
    ("trickle", {"seconds": 0}, is_whole, True),
    ("trickle", {"seconds": 0.001, "size": 100}, is_whole, True),
    ("trickle", {"seconds": 10, "size": 100_000}, is_whole, True),
    ("truncate", {}, is_half, True),
    ("truncate", {"size": 17}, is_cut, True),
]


@pytest.mark.parametrize(
    ("action", "options", "check", "effect"),
    ROWS,
    ids=[f"{action}-{'-'.join(map(str, options.values()))}" for action, options, _check, _effect in ROWS],
)
def test_fault_has_its_documented_symptom_and_effect(served, action, options, check, effect):
    before = served.tasks()
    fault = served.plan(action, **options)
    status = check(served)
    seen = served.last_seen()
    assert (seen["fault"], seen["status"]) == ({"id": fault["id"], "action": action}, status)
    assert (served.tasks() - before, seen["taskId"] is not None) == (effect, effect)
    # The fault is used up, and leaves nothing behind.
    assert is_whole(served) == 200
    assert served.tasks() - before == effect + 1


def test_slow_response_does_not_delay_other_requests(served):
    before = served.tasks()
    served.plan("slow", seconds=60)
    with pytest.raises(TimeoutError):
        served.ask(*RESTART, patience=PATIENCE)
    assert served.tasks() == before + 1
    assert served.last_seen()["status"] is None


def test_trickled_response_arrives_piece_by_piece(served):
    served.plan("trickle", seconds=60, size=5)
    connection = served.connect(PATIENCE)
    connection.request(*RESTART, headers=ADMIN)
    answer = connection.getresponse()
    assert answer.read(5) == b'{"dat'
    with pytest.raises(TimeoutError):
        answer.read(1)
    connection.close()
    assert served.last_seen()["status"] == 200


def test_fault_applies_to_each_request_of_a_connection_separately(served):
    served.plan("html", match={"path": TASKS}, call=2)
    connection = served.connect()
    assert [served.ask("GET", TASKS, connection=connection).status for _call in range(3)] == [200, 502, 200]
    connection.close()


# --- The end of the server, and its restart -----------------------------------------------------------------------


@contextmanager
def undecided(served, action, **options):
    """A connection whose request is held by a fault."""
    served.plan(action, **options)
    connection = served.connect()
    connection.request(*RESTART, headers=ADMIN)
    while served.data("GET", "/emulator/requests?method=POST")["contents"] == []:
        time.sleep(0.01)
    yield connection
    connection.close()


@pytest.mark.parametrize("action", ["drop", "slow", "trickle"])
def test_held_requests_do_not_block_shutdown(action, caplog):
    options = {} if action == "drop" else {"seconds": 600}
    with serving() as served, undecided(served, action, **options) as connection:
        begin = time.monotonic()
        served.server.should_exit = True
        ends_in_reset(connection)
        assert time.monotonic() - begin < QUICK
    assert "Traceback" not in caplog.text
    assert "Cancel" not in caplog.text


def test_shutdown_ends_a_pause_at_once():
    with serving() as served:
        served.data("POST", "/emulator/service/restart", {"seconds": 600})
        assert served.is_refused()
        begin = time.monotonic()
    assert time.monotonic() - begin < QUICK
    assert served.is_refused()


def test_service_restart_resets_connections_and_keeps_state():
    with serving() as served:
        served.plan("drop")
        served.plan("slow", match={"path": "/api/v2/info"}, seconds=600)
        started = json.loads(served.ask("POST", "/api/v2/ob/clusters/1/restart").content)["data"]["id"]
        held, idle = served.connect(), served.connect()
        held.request("GET", "/api/v2/info", headers=ADMIN)
        served.ask("GET", TASKS, connection=idle)
        answer = served.ask("POST", "/emulator/service/restart", {"seconds": PAUSE})
        assert (answer.status, answer.headers["Connection"]) == (200, "close")
        for connection in (held, idle):
            ends_in_reset(connection)
        assert served.is_refused()
        served.come_back()
        assert served.data("GET", f"{TASKS}/{started}")["status"] == "SUCCESSFUL"
        assert len(served.data("GET", "/emulator/faults")["contents"]) == 2


def test_open_requests_finish_while_new_connections_are_refused():
    with serving() as served:
        served.plan("slow", match={"path": "/api/v2/info"}, seconds=PATIENCE)
        served.plan("refuse", seconds=PAUSE)
        slow = served.connect()
        slow.request("GET", "/api/v2/info", headers=ADMIN)
        while served.data("GET", "/emulator/requests")["page"]["totalElements"] == 0:
            time.sleep(0.01)
        is_whole(served)
        assert served.is_refused()
        answer = slow.getresponse()
        assert (answer.status, json.loads(answer.read())["edition"]) == (200, "EMULATOR")
        slow.close()
        served.come_back()


def test_pause_ends_by_itself_but_not_early():
    with serving() as served:
        begin = time.monotonic()
        served.data("POST", "/emulator/service/restart", {"seconds": PATIENCE})
        served.wait_until_back()
        assert time.monotonic() - begin >= PATIENCE
        assert is_whole(served) == 200
