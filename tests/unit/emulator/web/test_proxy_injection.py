# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of the kinds proxy and answer on real sockets."""

import json

import pytest
from ansible_collections.oceanbase.ocp.tests.unit.support.served_emulator import RESTART, TASKS, is_whole, serving


@pytest.fixture(scope="module")
def shared():
    with serving() as served:
        yield served


@pytest.fixture
def served(shared):
    """Nothing planned."""
    shared.data("DELETE", "/emulator/faults")
    return shared


def plan(served, kind, **fault):
    return served.data("POST", "/emulator/faults", {"kind": kind, "match": {"path": RESTART[1]}, **fault})


def test_connection_goes_on_after_each_fault_of_a_proxy(served):
    before = served.tasks()
    plan(served, "proxy", action="redirect", status=307, location=RESTART[1], when="after")
    plan(served, "proxy", action="replace", path="/api/v2/ob/clusters?name=orders", when="after")
    plan(served, "proxy", action="repeat")
    plan(served, "proxy", action="hold", seconds=0)
    connection = served.connect()
    answers = [served.ask(*RESTART, connection=connection) for _call in range(4)]
    assert [answer.status for answer in answers] == [307, 200, 200, 504]
    assert json.loads(answers[1].content)["data"]["contents"][0]["name"] == "orders"
    assert served.ask("GET", TASKS, connection=connection).status == 200
    connection.close()
    assert served.tasks() - before == 5
    assert is_whole(served) == 200


def test_every_answer_has_one_date_and_it_is_the_one_that_is_shown(served):
    plan(served, "answer", action="clock", time="1999-12-31T00:00:00Z", match={"path": "/api/v2/info"})
    dates = [served.ask("GET", "/api/v2/info").headers.get_all("Date") for _call in range(2)]
    assert dates[0] == ["Fri, 31 Dec 1999 00:00:00 GMT"]
    assert len(dates[1]) == 1
    assert dates[1] != dates[0]
