# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which servers are dead or in flight, by what the service shows of them and of tasks."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.server_states import OwnRestart, server_states
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.serving import database_serves
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, PlacedServer

SERVER, ZONE, CLUSTER = "Restart OB server", "restart ob zone", "Restart OB cluster"


def placed(*statuses, zone_status="RUNNING", operated_by=None, inner=None):
    """Servers s1, s2 and so on, each in a zone and on a host of its own; the options are for the first."""
    return [
        PlacedServer(
            number, 10 + number, f"z{number}", zone_status if number == 1 else "RUNNING",
            Member(
                f"s{number}", status, serves=database_serves(status, inner if number == 1 else None),
                operated_by=operated_by if number == 1 else None, inner_status=inner if number == 1 else None,
            ),
        )
        for number, status in enumerate(statuses, 1)
    ]  # fmt: skip


def told(servers, tasks=(), own=(), taken=()):
    states = server_states(servers, tasks, own, taken)
    words = {
        "dead": lambda state: state.dead,
        "flight": lambda state: state.in_flight,
        "unclear": lambda state: state.unclear,
        "taken": lambda state: state.taken,
    }
    return {name: " ".join(word for word, holds in words.items() if holds(state)) for name, state in states.items()}


def running(name, **fields):
    return {"id": 81, "name": name, "status": "RUNNING", **fields}


@pytest.mark.parametrize(
    ("status", "expected"),
    [("RUNNING", ""), (None, ""), ("STOPPED", "dead"), ("UNAVAILABLE", "dead"), ("RESTARTING", "flight")],
)
def test_status_tells(status, expected):
    assert told(placed(status)) == {"s1": expected}


@pytest.mark.parametrize(
    ("status", "inner", "expected"),
    [
        ("RUNNING", "ACTIVE", "taken"),
        (None, "ACTIVE", "taken"),
        ("UNAVAILABLE", "INACTIVE", "dead"),
        ("STOPPED", "INACTIVE", "dead"),
        ("DELETED", None, "dead"),
        ("UNAVAILABLE", "ACTIVE", "unclear taken"),
        ("STOPPED", "ACTIVE", "unclear taken"),
        ("UNAVAILABLE", "DELETING", "unclear taken"),
        ("RUNNING", "INACTIVE", "unclear taken"),
        (None, "INACTIVE", "unclear taken"),
        ("ABNORMAL", "INACTIVE", "unclear taken"),
        ("ABNORMAL", None, "unclear taken"),
        ("RESTARTING", "INACTIVE", "flight taken"),
    ],
)
def test_server_is_dead_only_if_all_that_is_shown_says_so(status, inner, expected):
    """What may serve is taken away; it does not count as what remains."""
    servers = placed(status, inner=inner)
    assert told(servers, taken=["s1"]) == {"s1": expected}
    [state] = server_states(servers, (), (), ()).values()
    assert state.may_serve == ("dead" not in expected)
    assert state.stays == (expected == "taken")


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (running(SERVER, tags=[{"serverId": 2}]), {"s2"}),
        (running(SERVER, tags=[{"serverId": 99}]), set()),
        (running(SERVER, hostId=13), {"s3"}),
        (running(SERVER, tags=[{"serverId": 2}], hostId=13), {"s2"}),
        (running(ZONE, tags=[{"zoneName": "z3"}]), {"s3"}),
        (running(CLUSTER), {"s1", "s2", "s3"}),
        (running(SERVER), {"s1", "s2", "s3"}),
        (running(ZONE), {"s1", "s2", "s3"}),
        (running("Backup tenant"), set()),
        ({"id": 81, "name": SERVER, "status": "FAILED", "tags": [{"serverId": 2}]}, set()),
        ({"id": 81, "name": SERVER, "status": "SUCCESSFUL"}, set()),
    ],
)
def test_unfinished_restart_is_of_what_it_names_or_of_any(task, expected):
    found = told(placed("RUNNING", "RUNNING", "RUNNING"), [task])
    assert {name for name, words in found.items() if words == "flight"} == expected


def test_restart_without_a_name_is_that_of_the_server_at_work():
    assert told(placed("RUNNING", "RESTARTING"), [running(SERVER)]) == {"s1": "", "s2": "flight"}
    two = [running(SERVER), {**running(SERVER), "id": 82}]
    assert told(placed("RUNNING", "RESTARTING"), two) == {"s1": "flight", "s2": "flight"}


def test_own_restart_tells_which_server_its_task_is_of():
    own = [OwnRestart(81, frozenset({"s2"}), frozenset())]
    assert told(placed("RUNNING", "RUNNING"), [running(SERVER)], own) == {"s1": "", "s2": "flight"}


def test_server_is_left_by_an_own_restart_that_has_ended_unless_another_one_brings_it_back():
    ended, again = (OwnRestart(number, frozenset({"s2"}), frozenset(), has_ended=number == 81) for number in (81, 82))
    two = placed("RUNNING", "STOPPED")
    assert [server_states(two, [], own, ())["s2"].is_left for own in ([ended], [again], [ended, again])] == [
        True,
        False,
        False,
    ]
    assert server_states(two, [{**running(SERVER), "hostId": 2}], [ended], ())["s1"].is_left is False


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ([], "flight"),
        ([running("Stop OB server")], "flight"),
        ([{"id": 81, "name": SERVER, "status": "FAILED"}], ""),
        ([{"id": 81, "name": SERVER, "status": "SUCCESSFUL"}], ""),
    ],
)
def test_task_that_a_server_names_works_on_it_until_it_has_ended(tasks, expected):
    assert told(placed("RUNNING", "RUNNING", operated_by=81), tasks) == {"s1": expected, "s2": ""}


@pytest.mark.parametrize(
    ("status", "expected"), [("RESTARTING", "flight"), ("OPERATING", ""), ("UNAVAILABLE", ""), (None, "")]
)
def test_status_of_the_zone_tells_of_work_on_the_whole(status, expected):
    assert told(placed("RUNNING", "RUNNING", zone_status=status)) == {"s1": expected, "s2": ""}


def test_only_what_may_serve_is_taken():
    servers = placed("RUNNING", "STOPPED", "RESTARTING")
    assert told(servers, taken=["s1", "s2", "s3"]) == {"s1": "taken", "s2": "dead", "s3": "flight taken"}
