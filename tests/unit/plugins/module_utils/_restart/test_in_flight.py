# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which tasks of the list touch a target, and with which calls that is found out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.in_flight import (
    held_by_failed,
    listed_on,
    named_on,
    newest_task_id,
    started_above,
    with_last_restart,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster, Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import (
    AGENTS,
    ARBITRATION,
    CLUSTER,
    SERVER,
    ZONE,
    at,
    refused,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, raw_task

ORDERS = Cluster(31, "orders")
SERVER_41 = Server(41, "10.1.0.1:2882", ORDERS, 51, "zone1", True, True, False)
BOTH = Agents(((51, "10.1.0.1"), (52, "10.1.0.2")))
SERVICE = ArbitrationService(61, "10.1.0.8:2888")
ALL, NOTHING = None, frozenset()


def listed(number, name, *tags):
    return {"id": number, "name": name, "status": "RUNNING", **({"tags": list(tags)} if tags else {})}


def touching(target, api, **query):
    return [(entry.record["id"], entry.restarts) for entry in target.tasks(api.double, **query)]


def test_of_a_cluster(api):
    names = [CLUSTER, ZONE, SERVER, "Take over cluster", AGENTS, None]
    found = [listed(90 + n, name) for n, name in enumerate(names)]
    api.expect("tasks", clusterId=31, status="RUNNING", gives=found)
    assert touching(ORDERS, api, status="RUNNING") == [(90, ALL), (91, NOTHING), (92, NOTHING)]


@pytest.mark.parametrize(
    ("task", "touches"),
    [
        (listed(90, CLUSTER), True),
        (listed(90, CLUSTER, {"clusterId": 31}), True),
        (listed(90, SERVER, {"serverId": 41}), True),
        (listed(90, SERVER, {"clusterId": 31}, {"serverId": 41}), True),
        (listed(90, SERVER, {"serverId": 42}), False),
        (listed(90, SERVER, {"clusterId": 31, "serverId": 42}), False),
        (listed(90, ZONE, {"zoneName": "zone1"}), True),
        (listed(90, ZONE, {"zoneName": "zone2"}), False),
        (listed(90, "Stop OB server", {"serverId": 41}), False),
    ],
    ids=repr,
)
def test_of_a_server(task, touches, api):
    api.expect("tasks", clusterId=31, above=80, gives=[task])
    assert touching(SERVER_41, api, above=80) == ([(90, ALL)] if touches else [])


# What tells nothing of the part of the cluster; a documented sample names the cluster alone.
untelling = pytest.mark.parametrize("tags", [(), ({"clusterId": 31},), ({"hostId": 51},)], ids=repr)


@untelling
@pytest.mark.parametrize(
    ("name", "unknown", "touches"),
    [
        (SERVER, {}, [(90, ALL)]),
        (SERVER, {"alone": False}, [(90, NOTHING)]),
        (ZONE, {}, [(91, NOTHING), (90, ALL)]),
        (ZONE, {"alone": False}, [(91, NOTHING), (90, NOTHING)]),
    ],
    ids=repr,
)
def test_of_a_server_whose_tags_do_not_tell_by_its_host(name, unknown, touches, tags, api):
    """What works on its host is known not to be of another server only if there is no other one."""
    found = [listed(91, name, *tags), listed(90, name, *tags)]
    api.expect("tasks", clusterId=31, status="RUNNING", gives=found)
    api.expect("tasks", clusterId=31, hostId=51, status="RUNNING", gives=found[1:])
    assert touching(replace(SERVER_41, **unknown), api, status="RUNNING") == touches


@untelling
@pytest.mark.parametrize("name", [SERVER, ZONE])
def test_of_a_server_whose_tags_and_host_do_not_tell(name, tags, api):
    api.expect("tasks", clusterId=31, gives=[listed(90, name, *tags)])
    assert touching(replace(SERVER_41, host_id=None), api) == [(90, NOTHING)]


@pytest.mark.parametrize(
    ("tags", "restarts"),
    [
        ([51, 52], {"10.1.0.1", "10.1.0.2"}),
        ([51], {"10.1.0.1"}),
        ([52, 53], {"10.1.0.2"}),
        ([53], None),
    ],
)
def test_of_agents(tags, restarts, api):
    task = listed(90, AGENTS, *({"hostId": number} for number in tags))
    api.expect("tasks", name=AGENTS, status="RUNNING", gives=[task, listed(89, f"{AGENTS} later", {"hostId": 51})])
    assert touching(BOTH, api, status="RUNNING") == ([(90, restarts)] if restarts else [])


def test_of_agents_without_tags_by_their_hosts(api):
    found = [listed(92, AGENTS), listed(91, AGENTS, {"objectType": "HOST"}), listed(90, AGENTS)]
    api.expect("tasks", name=AGENTS, gives=found)
    api.expect("tasks", name=AGENTS, hostId=51, gives=[listed(92, AGENTS), listed(91, AGENTS)])
    api.expect("tasks", name=AGENTS, hostId=52, gives=[listed(92, AGENTS)])
    assert touching(BOTH, api) == [(92, {"10.1.0.1", "10.1.0.2"}), (91, {"10.1.0.1"})]


def test_of_an_arbitration_service(api):
    tasks = [listed(90 + n, ARBITRATION, {"arbitrationServiceId": number}) for n, number in enumerate((61, 62))]
    untold = [listed(92, ARBITRATION), listed(93, ARBITRATION, {"svrIp": "10.1.0.8"})]
    api.expect("tasks", name=ARBITRATION, status="RUNNING", gives=[*tasks, *untold, listed(94, f"{ARBITRATION} later")])
    assert touching(SERVICE, api, status="RUNNING") == [(90, ALL), (92, NOTHING), (93, NOTHING)]


# What is running


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
        pytest.param(SERVER_41, CLUSTER, observation(90), {"m0"}, id="server under its cluster"),
        pytest.param(SERVER_41, "Stop OB server", observation(90), NOTHING, id="other work on a server"),
        pytest.param(SERVICE, ARBITRATION, observation(90), ALL, id="arbitration service"),
        pytest.param(SERVICE, "Upgrade", observation(90), NOTHING, id="other work on an arbitration service"),
        pytest.param(SERVICE, None, observation(90), NOTHING, id="task without a name"),
    ],
)
def test_named_by_the_target(target, name, observed, restarts, api):
    api.expect("task", 90, gives={**raw_task(90), "name": name, "startTime": BEGINNING.isoformat()})
    named = named_on(api.double, target, observed)
    [operation] = named.running
    assert (operation.task_id, operation.name, operation.begun, named.outdated) == (90, name, BEGINNING, False)
    assert operation.restarts == restarts


def test_newest_first_and_only_what_is_running(api):
    for number, status in {93: "FAILED", 92: "RUNNING", 90: "RUNNING"}.items():
        api.expect("task", number, gives=raw_task(number, status))
    found = named_on(api.double, ORDERS, observation(90, 92, whole=93))
    assert [operation.task_id for operation in found.running] == [92, 90]


@pytest.mark.parametrize(
    ("now", "outdated"),
    [(raw_task(91, "SUCCESSFUL"), True), (raw_task(91, "FAILED"), True), (refused(404), True), (raw_task(91), False)],
    ids=["successful", "failed", "gone", "running"],
)
def test_where_the_name_of_what_has_ended_stands_is_no_room_for_another(now, outdated, api):
    api.expect("task", 92, gives=raw_task(92)).expect("task", 91, gives=now)
    assert named_on(api.double, ORDERS, observation(92, 91)).outdated is outdated


def test_named_task_that_may_not_be_read_is_work_of_an_unknown_kind(api):
    api.expect("task", 91, gives=refused(403)).expect("task", 90, gives=refused(404))
    [operation] = named_on(api.double, ORDERS, observation(90, 91)).running
    assert (operation.task_id, operation.name, operation.begun, operation.restarts) == (91, None, None, NOTHING)


def test_by_the_task_list(api):
    tasks = [{**listed(91, CLUSTER), "startTime": "2026-05-04T03:00:00+08:00"}, listed(90, SERVER)]
    api.expect("tasks", clusterId=31, status="RUNNING", gives=tasks)
    found = listed_on(api.double, ORDERS)
    assert [(one.task_id, one.begun, one.restarts) for one in found] == [(91, BEGINNING, ALL), (90, None, NOTHING)]


def test_what_is_being_rolled_back_is_no_restart(api):
    tasks = [{**listed(91, CLUSTER), "operation": "rollback"}]
    api.expect("tasks", clusterId=31, status="RUNNING", gives=tasks)
    [operation] = listed_on(api.double, ORDERS)
    assert operation.restarts == NOTHING


@pytest.mark.parametrize(
    ("status", "held"), [("FAILED", 90), ("RUNNING", None), ("SUCCESSFUL", None), (None, None)], ids=repr
)
def test_held_by_a_failed_task(status, held, api):
    api.expect("task", 90, gives=raw_task(90, status))
    found = held_by_failed(api.double, observation(90))
    assert (found and found.id) == held


@pytest.mark.parametrize("status", [403, 404, 503])
def test_held_by_what_cannot_be_read(status, api):
    api.expect("task", 90, gives=refused(status))
    assert held_by_failed(api.double, observation(90)) is None


# Before and after a POST


@pytest.mark.parametrize(("tasks", "mark"), [([{"id": 80}], 80), ([], 0), ([{"id": None}], 0), ([{}], 0)], ids=repr)
def test_newest_task(tasks, mark, api):
    api.expect("tasks", 1, gives=tasks)
    assert newest_task_id(api.double) == mark


def test_newest_task_that_may_not_be_read(api):
    api.expect("tasks", 1, gives=refused(403))
    assert newest_task_id(api.double) is None


@pytest.mark.parametrize(
    ("members", "found"), [(["10.1.0.1"], [92, 91]), (["10.1.0.1", "10.1.0.2"], [92]), (["10.1.0.2"], [92])], ids=repr
)
def test_agents_started_since(members, found, api):
    tasks = [listed(92, AGENTS, {"hostId": 51}, {"hostId": 52}), listed(91, AGENTS, {"hostId": 51})]
    api.expect("tasks", name=AGENTS, above=80, gives=tasks)
    started = started_above(api.double, BOTH, 80, frozenset(members))
    assert [record["id"] for record in started] == found


def test_only_the_own_kind_was_started_since(api):
    tasks = [listed(92, CLUSTER), listed(91, SERVER, {"serverId": 41}), listed(90, ZONE, {"zoneName": "zone1"})]
    api.expect("tasks", clusterId=31, above=80, gives=tasks)
    assert [record["id"] for record in started_above(api.double, SERVER_41, 80, frozenset(["m"]))] == [91]


# The last restart as evidence


@pytest.mark.parametrize(
    ("begun", "more", "started"),
    [
        (10, {}, 10),
        (0, {}, 0),
        (-10, {}, None),
        (None, {}, None),
        (10, {"operation": "rollback"}, None),
        (10, {"subtasks": [{"id": 1, "status": "PENDING"}]}, None),
    ],
    ids=repr,
)
def test_last_restart(begun, more, started, api):
    task = {**listed(90, ARBITRATION, {"arbitrationServiceId": 61}), "status": "SUCCESSFUL", **more}
    task["startTime"] = None if begun is None else at(begun).isoformat()
    api.expect("tasks", name=ARBITRATION, status="SUCCESSFUL", gives=[task])
    [member] = with_last_restart(api.double, SERVICE, observation(None), BEGINNING).members
    assert member.started == (None if started is None else at(started))
