# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""In flight: the unfinished tasks on a target, on the list or named by it."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.in_flight import listed_in_flight, named_tasks
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation, TaskOnTarget
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import ARBITRATION, CLUSTER, SERVER, ZONE, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, raw_task

ORDERS = Cluster(31, "orders")
SERVER_41 = Server(41, "10.1.0.1:2882", ORDERS, 51, "zone1", True, True, False)
SERVICE = ArbitrationService(61, "10.1.0.8:2888")
ALL, NOTHING = None, frozenset()
ENDED = {"finishTime": BEGINNING.isoformat()}

# The status of a task, what else it shows, and whether it is unfinished.
STATUSES = [
    pytest.param("RUNNING", {}, True, id="RUNNING"),
    pytest.param("PENDING", {}, True, id="PENDING"),
    pytest.param("READY", {}, True, id="READY"),
    pytest.param("CANCELING", {}, True, id="CANCELING"),
    pytest.param("RUNNING", ENDED, True, id="RUNNING again, with the finish time of the attempt before"),
    pytest.param("PAUSED", {}, True, id="every other word, known or not, is unfinished"),
    pytest.param(None, {}, True, id="no word"),
    pytest.param("PAUSED", ENDED, False, id="any other word with a finish time has ended"),
    pytest.param("SUCCESSFUL", {}, False, id="SUCCESSFUL has ended"),
    pytest.param("FAILED", {}, False, id="FAILED has ended"),
]


@pytest.mark.parametrize(("status", "more", "unfinished"), STATUSES)
def test_listed_task_that_has_not_ended_is_in_flight(status, more, unfinished):
    entry = TaskOnTarget(raw_task(90, status, **more), ALL)
    assert [operation.task_id for operation in listed_in_flight([entry])] == [90] * unfinished


@pytest.mark.parametrize(("status", "more", "unfinished"), STATUSES)
def test_named_task_that_has_not_ended_is_in_flight(status, more, unfinished, api):
    api.expect("task", 90, gives=raw_task(90, status, **more))
    named = named_tasks(api.double, ORDERS, observation(90))
    assert [operation.task_id for operation in named.unfinished] == [90] * unfinished


def test_listed_tasks_have_their_start_time_and_scope():
    tasks = [
        TaskOnTarget({**raw_task(91, name=CLUSTER), "startTime": BEGINNING.isoformat()}, ALL),
        TaskOnTarget(raw_task(90, name=SERVER), frozenset("a")),
    ]
    found = [(one.task_id, one.name, one.started_at, one.restarts) for one in listed_in_flight(tasks)]
    assert found == [(91, CLUSTER, BEGINNING, ALL), (90, SERVER, None, {"a"})]


@pytest.mark.parametrize("operation", ["ROLLBACK", "rollback"])
def test_rollback_does_not_count_as_a_restart(operation, api):
    task = raw_task(91, operation=operation, name=CLUSTER)
    [listed] = listed_in_flight([TaskOnTarget(task, ALL)])
    api.expect("task", 91, gives=task)
    [named] = named_tasks(api.double, ORDERS, observation(91, whole=91)).unfinished
    assert (listed.restarts, named.restarts) == (NOTHING, NOTHING)


# Named by the target


def observation(*operated_by, whole=None):
    members = tuple(Member(f"m{n}", "RUNNING", operated_by=number) for n, number in enumerate(operated_by))
    return Observation("RUNNING", members, whole)


@pytest.mark.parametrize(
    ("target", "name", "observed", "restarts"),
    [
        pytest.param(ORDERS, CLUSTER, observation(90, 90, whole=90), ALL, id="whole cluster"),
        pytest.param(ORDERS, CLUSTER, observation(90, None), {"m0"}, id="cluster restart that it does not name itself"),
        pytest.param(ORDERS, SERVER, observation(90, None), {"m0"}, id="one server of a cluster"),
        pytest.param(ORDERS, ZONE, observation(90, 90), {"m0", "m1"}, id="zone of a cluster"),
        pytest.param(ORDERS, "Stop OB cluster", observation(90, 90, whole=90), NOTHING, id="other work on a cluster"),
        pytest.param(SERVER_41, SERVER, observation(90), ALL, id="server"),
        pytest.param(SERVER_41, SERVER.upper(), observation(90), ALL, id="server, in upper case"),
        pytest.param(SERVER_41, CLUSTER, observation(90), {"m0"}, id="server under its cluster"),
        pytest.param(SERVER_41, "Stop OB server", observation(90), NOTHING, id="other work on a server"),
        pytest.param(SERVICE, ARBITRATION, observation(90), ALL, id="arbitration service"),
        pytest.param(SERVICE, "Upgrade", observation(90), NOTHING, id="other work on an arbitration service"),
        pytest.param(SERVICE, None, observation(90), NOTHING, id="task without a name"),
    ],
)
def test_task_named_by_the_target_is_found_with_its_scope(target, name, observed, restarts, api):
    api.expect("task", 90, gives={**raw_task(90), "name": name, "startTime": BEGINNING.isoformat()})
    named = named_tasks(api.double, target, observed)
    [operation] = named.unfinished
    assert (operation.task_id, operation.name, operation.started_at, named.outdated) == (90, name, BEGINNING, False)
    assert operation.restarts == restarts


def test_named_tasks_are_newest_first(api):
    for number, status in {93: "FAILED", 92: "RUNNING", 91: "FAILED", 90: "RUNNING"}.items():
        api.expect("task", number, gives=raw_task(number, status))
    named = named_tasks(api.double, ORDERS, observation(90, 92, 91, whole=93))
    assert [operation.task_id for operation in named.unfinished] == [92, 90]
    assert [task.id for task in named.failed] == [93, 91]


@pytest.mark.parametrize(
    ("now", "outdated", "failed"),
    [
        pytest.param(raw_task(91), False, [], id="running"),
        pytest.param(raw_task(91, "FAILED"), False, [91], id="FAILED"),
        pytest.param(raw_task(91, "FAILED", operation="ROLLBACK"), False, [91], id="FAILED while it was rolled back"),
        pytest.param(raw_task(91, "SUCCESSFUL"), True, [], id="successful"),
        pytest.param(raw_task(91, "SUCCESSFUL", operation="ROLLBACK"), True, [], id="rolled back"),
        pytest.param(raw_task(91, "ABORTED", **ENDED), True, [], id="ended with another word"),
        pytest.param(refused(404), True, [], id="gone"),
    ],
)
def test_named_task_that_has_ended_is_outdated_unless_it_failed(now, outdated, failed, api):
    api.expect("task", 92, gives=raw_task(92)).expect("task", 91, gives=now)
    named = named_tasks(api.double, ORDERS, observation(92, 91))
    assert (named.outdated, [task.id for task in named.failed]) == (outdated, failed)


def test_forbidden_named_task_is_unknown_work(api):
    api.expect("task", 91, gives=refused(403)).expect("task", 90, gives=refused(404))
    [operation] = named_tasks(api.double, ORDERS, observation(90, 91)).unfinished
    assert (operation.task_id, operation.name, operation.started_at, operation.restarts) == (91, None, None, NOTHING)
