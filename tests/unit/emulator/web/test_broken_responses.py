# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of kind http on real sockets: what the client sees, and whether the request has had its effect."""

import json
import ssl
from http.client import IncompleteRead

import pytest
import trustme
from ansible_collections.oceanbase.ocp.tests.unit.support.served_emulator import (
    ADMIN,
    PATIENCE,
    PAUSE,
    RESTART,
    TASKS,
    ends_in_reset,
    is_whole,
    serving,
)


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
