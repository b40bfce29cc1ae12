# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""restart_journal_info and restart_journal_clear: what they show, what counts no more, and what they never write."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.open_journal import open_journal
from ansible_collections.oceanbase.ocp.tests.unit.support.journal_cases import (
    CHANGE,
    ELSEWHERE,
    FIRST,
    SECOND,
    START,
    WISH,
    request,
    sight,
)

# START, which a service of another zone has written.
IN_UTC = "2026-03-01T02:00:00+00:00"
HERE, THERE = "change memory-2026-11-20 in cluster orders 1", "change memory-2026-11-20 in cluster stock 2"
OTHER = "change another in cluster orders 1"
REQUEST = "request 1: server_restart 10.1.0.1:2882 for change memory-2026-11-20"
UNNAMED = "request 2: server_restart 10.2.0.1:2882"
FACT = "fact told apart: http://ocp.test 1 stack_size"
ALL = [OTHER, HERE, THERE, REQUEST, UNNAMED, FACT]


@pytest.fixture(params=["local", "shared"])
def place(request, tmp_path, monkeypatch):
    """The option for the journal of this controller, or for a shared one."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    return {} if request.param == "local" else {"journal_url": f"sqlite:///{tmp_path}/shared.db"}


@pytest.fixture
def journal(place, service):
    """That journal, with something of everything in it."""
    made = open_journal(place.get("journal_url"), read_only=False, is_required=True, warnings=[])
    made.register(CHANGE, WISH, [sight(), sight(SECOND), sight(ELSEWHERE)])
    made.register("another", WISH, [sight()])
    with made.lock(["orders 1"], service.time.clock, 0):
        made.begin(request())
        made.begin(request(ELSEWHERE, change=None, values='{"stack_size": "5M"}'))
    made.note(1, task_id=81, began=START, outcome="SUCCESSFUL")
    made.remember("told apart", ("http://ocp.test", 1, "stack_size"), "yes")
    return made


@pytest.fixture
def lines(place, run):
    """What counts in the journal, a line for each entry, without a change of it."""

    def found():
        result = run(
            "restart_journal_clear", {**place, "everything": True, "_ansible_check_mode": True, "_ansible_diff": True}
        )
        return sorted(result["diff"]["before"].splitlines())

    return found


@pytest.mark.usefixtures("journal")
def test_everything_is_shown(place, run):
    shown = run("restart_journal_info", place)
    assert shown["changed"] is False
    assert [(each["change"], each["cluster"], len(each["sights"])) for each in shown["changes"]] == [
        *sorted([(CHANGE, "orders 1", 2), (CHANGE, "stock 2", 1), ("another", "orders 1", 1)], key=_key(shown))
    ]
    [change] = [each for each in shown["changes"] if each["cluster"] == "stock 2"]
    assert change["asks_for"] == WISH.words
    assert change["sights"] == [
        {
            "cluster": "stock 2",
            "kind": "server",
            "id": 51,
            "address": ELSEWHERE.address,
            "start": IN_UTC,
            "pids": None,
            "at": "1970-01-01T00:16:40.000+00:00",
            "task_ids": [],
            "late": False,
        }
    ]
    first, second = shown["requests"]
    assert (first["number"], first["task_id"], first["outcome"], first["settled"]) == (1, 81, "SUCCESSFUL", False)
    assert first["began"] == IN_UTC
    assert first["members"][0]["pids"] == {"observer": 7}
    assert (second["change"], second["until_effective"], second["outcome"]) == (None, {"stack_size": "5M"}, None)
    assert shown["facts"] == [{"kind": "told apart", "key": ["http://ocp.test", "1", "stack_size"], "value": "yes"}]


def _key(shown):
    order = [(each["change"], each["cluster"]) for each in shown["changes"]]
    return lambda each: order.index(each[:2])


@pytest.mark.parametrize("cluster", ["orders", "1", "orders 1"])
@pytest.mark.usefixtures("journal")
def test_entries_of_a_cluster_or_a_change_are_shown(cluster, place, run):
    shown = run("restart_journal_info", {**place, "cluster": cluster})
    assert {each["cluster"] for each in shown["changes"]} == {"orders 1"}
    assert [each["number"] for each in shown["requests"]] == [1]
    assert shown["facts"] == []
    shown = run("restart_journal_info", {**place, "change": CHANGE, "cluster": "stock"})
    assert ([each["cluster"] for each in shown["changes"]], shown["requests"]) == (["stock 2"], [])


@pytest.mark.parametrize("name", ["restart_journal_info", "restart_journal_clear"])
def test_journal_that_is_not_there_is_empty_and_stays_so(name, place, run, tmp_path):
    given = {"everything": True} if name == "restart_journal_clear" else {}
    result = run(name, {**place, **given})
    assert (result["changed"], list(tmp_path.rglob("*"))) == (False, [])


@pytest.mark.parametrize("name", ["restart_journal_info", "restart_journal_clear"])
def test_journal_that_cannot_be_read_is_one_sentence(name, run, tmp_path):
    (tmp_path / "shared.db").mkdir()
    given = {"everything": True} if name == "restart_journal_clear" else {}
    result = run(name, {"journal_url": f"sqlite:///{tmp_path}/shared.db", **given})
    assert result["msg"].startswith(f"The journal {tmp_path}/shared.db (sqlite) cannot be used: ")


@pytest.mark.usefixtures("journal")
@pytest.mark.parametrize(
    ("given", "gone"),
    [
        ({"change": CHANGE}, [HERE, THERE, REQUEST]),
        ({"change": CHANGE, "cluster": "stock"}, [THERE]),
        ({"change": CHANGE, "cluster": "1"}, [HERE, REQUEST]),
        ({"change": CHANGE, "cluster": "elsewhere"}, []),
        ({"change": "misspelt"}, []),
        ({"request": 2}, [UNNAMED]),
        ({"everything": True}, ALL),
    ],
)
def test_what_is_cleared_counts_no_more(given, gone, place, run, lines):
    checked = run("restart_journal_clear", {**place, **given, "_ansible_check_mode": True})
    assert lines() == sorted(ALL)
    result = run("restart_journal_clear", {**place, **given, "_ansible_diff": True})
    assert (result["changed"], sorted(result["cleared"])) == (bool(gone), sorted(gone))
    assert (checked["changed"], checked["cleared"]) == (result["changed"], result["cleared"])
    left = sorted(set(ALL) - set(gone))
    assert (sorted(result["diff"]["after"].splitlines()), lines()) == (left, left)
    assert run("restart_journal_clear", {**place, **given})["changed"] is False


def test_request_of_a_name_that_is_cleared_stays_to_be_read(journal, place, run):
    run("restart_journal_clear", {**place, "change": CHANGE})
    assert [row.settled for row in journal.requests([FIRST])] == [True]
    assert run("restart_journal_info", place)["requests"][0]["settled"] is True


@pytest.mark.usefixtures("journal")
def test_request_that_is_not_there_is_told(place, run, warned):
    assert run("restart_journal_clear", {**place, "request": 12})["changed"] is False
    assert "has no request 12; oceanbase.ocp.restart_journal_info shows those it has." in str(warned)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "one of the following is required: change, request, everything"),
        ({"change": CHANGE, "request": 1}, "parameters are mutually exclusive: change|request"),
        ({"cluster": "orders", "everything": True}, "missing parameter(s) required by 'cluster': change"),
        ({"change": CHANGE, "cluster": ""}, "cluster: is empty; leave it out for all clusters."),
        ({"everything": False}, "everything: is false; give true, or leave it out and give change or request."),
    ],
)
def test_exactly_one_thing_is_cleared(given, words, run):
    assert run("restart_journal_clear", given)["msg"] == words
