# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How long a server may be away, and which past restarts say that it would be for longer."""

from __future__ import annotations

from datetime import timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.offline_budget import (
    RESTARTS_COUNTED,
    exceeded_words,
    longest_of_newest,
    offline_time,
    seconds_of,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import TaskOnTarget
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, raw_task

PARAMETER = "server_permanent_offline_time"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3600s", 3600), ("1h", 3600), ("90m", 5400), (" 2D ", 172800), ("500ms", 0.5), ("7us", 7e-6), ("60", 60),
        (60, 60), ("", None), (None, None), ("1.5h", None), ("-1h", None), ("1w", None), ("h", None),
    ],
)  # fmt: skip
def test_times_are_read_as_parameters_have_them(value, seconds):
    assert seconds_of(value) == seconds


def parameter(name=PARAMETER, **current):
    return {"name": name, "currentValue": current}


@pytest.mark.parametrize(
    ("shown", "seconds"),
    [
        ([parameter(obParameters=[{"value": "3600s"}, {"value": "20m"}, {"value": None}])], 1200),
        ([parameter(valueToServers={"2h": ["a"], "1h": ["b"]})], 3600),
        ([parameter("stack_size", obParameters=[{"value": "1"}])], None),
        ([{"name": PARAMETER}], None),
        ([parameter(obParameters=[{"value": "0s"}])], None),
        ([], None),
    ],
)
def test_server_that_allows_least_decides(shown, seconds):
    assert offline_time(shown) == seconds


def restart(number, seconds, *, name="Restart OB server", restarts=None, status="SUCCESSFUL", **fields):
    times = {"startTime": BEGINNING.isoformat(), "finishTime": (BEGINNING + timedelta(seconds=seconds)).isoformat()}
    return TaskOnTarget({**raw_task(number, status), "name": name, **times, **fields}, restarts)


def longest(*entries):
    found = longest_of_newest(entries)
    return found and found.id


def test_longest_of_the_newest_restarts_counts():
    newest_first = [restart(9 - number, 100 + number) for number in range(RESTARTS_COUNTED)]
    assert longest(*newest_first) == 5
    assert longest(*newest_first, restart(1, 9999)) == 5
    assert longest() is None


@pytest.mark.parametrize(
    "other",
    [
        restart(2, 9999, name="Restart OB cluster"),
        restart(2, 9999, restarts=frozenset()),
        restart(2, 9999, status="FAILED"),
        restart(2, 9999, operation="RETRY"),
        restart(2, 9999, operation="rollback"),
        restart(2, 9999, finishTime=None),
    ],
    ids=["of the whole cluster", "perhaps of another", "failed", "retried", "rolled back", "of unknown duration"],
)
def test_what_says_nothing_of_the_target_does_not_count(other):
    assert longest(other, restart(1, 10)) == 1
    assert longest(restart(3, 20, name="restart ob zone", restarts=frozenset({"a"})), restart(1, 10)) == 3


def test_what_took_too_long_is_named():
    task = longest_of_newest([restart(81, 4000.4)])
    assert exceeded_words(task, 3600.0) == (
        "one of its last restarts took 4000 seconds (task 81 (Restart OB server), "
        "2026-05-04T03:00:00+08:00), and after server_permanent_offline_time=3600 seconds the cluster gives up the "
        "replicas of a server that is down"
    )
