# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The end of the server, and its outages: what becomes of open connections, and when it comes back."""

import json
import time
from contextlib import contextmanager
from queue import Queue

import pytest
from ansible_collections.oceanbase.ocp.tests.unit.support.served_emulator import (
    ADMIN,
    PATIENCE,
    PAUSE,
    QUICK,
    RESTART,
    TASKS,
    ends_in_reset,
    is_whole,
    serving,
)


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


@pytest.mark.parametrize("turns", [1, 2, 3], ids=["not yet accepted", "accepted", "with a transport"])
def test_connection_that_begins_with_an_outage_does_not_hang(turns):
    with serving() as served:
        loop = served.server.servers[0].get_loop()
        connections = Queue()

        def outage_after(turns):
            if turns:
                loop.call_soon(outage_after, turns - 1)
            else:
                served.server.outage(PAUSE, None, reset=False)

        def connect():
            # The loop accepts it in its next turn, and makes its transport in the one after that.
            connection = served.connect()
            connection.request("GET", TASKS, headers=ADMIN)
            connections.put(connection)
            outage_after(turns)

        loop.call_soon_threadsafe(connect)
        ends_in_reset(connections.get(timeout=QUICK))
        served.come_back()


def test_pause_ends_by_itself_but_not_early():
    with serving() as served:
        begin = time.monotonic()
        served.data("POST", "/emulator/service/restart", {"seconds": PATIENCE})
        served.wait_until_back()
        assert time.monotonic() - begin >= PATIENCE
        assert is_whole(served) == 200
