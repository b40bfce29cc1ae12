# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which listed tasks touch a target, and which requests find out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.running_tasks import (
    failed_task_holding,
    listed_operations,
    named_operations,
    read_high_water_mark,
    restarts_above,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, Observation
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import (
    AGENTS,
    ARBITRATION,
    CLUSTER,
    SERVER,
    ZONE,
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


def test_cluster_is_touched_by_cluster_zone_and_server_restarts(api):
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
def test_server_tasks_are_matched_by_their_tags(task, touches, api):
    api.expect("tasks", clusterId=31, above=80, gives=[task])
    assert touching(SERVER_41, api, above=80) == ([(90, ALL)] if touches else [])


# Without the part of the cluster; a documented sample has the cluster alone.
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
def test_server_tasks_without_tags_are_matched_by_host(name, unknown, touches, tags, api):
    """A task on the host of the server is known to be its own only if no other server is there."""
    found = [listed(91, name, *tags), listed(90, name, *tags)]
    api.expect("tasks", clusterId=31, status="RUNNING", gives=found)
    api.expect("tasks", clusterId=31, hostId=51, status="RUNNING", gives=found[1:])
    assert touching(replace(SERVER_41, **unknown), api, status="RUNNING") == touches


@untelling
@pytest.mark.parametrize("name", [SERVER, ZONE])
def test_server_task_without_tags_and_host_has_an_unknown_scope(name, tags, api):
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
def test_agent_tasks_are_matched_by_their_tags(tags, restarts, api):
    task = listed(90, AGENTS, *({"hostId": number} for number in tags))
    api.expect("tasks", name="agent", status="RUNNING", gives=[task, listed(89, "Upgrade agent later", {"hostId": 51})])
    assert touching(BOTH, api, status="RUNNING") == ([(90, restarts)] if restarts else [])


@pytest.mark.parametrize(
    ("name", "restarts"),
    [
        ("Restart OCP agent", {"10.1.0.1"}),
        ("Restart OCP Agent", {"10.1.0.1"}),
        ("Stop OCP agent", NOTHING),
        ("Reinstall OCP agent", NOTHING),
        ("Batch stop OCP agent", NOTHING),
    ],
)
@pytest.mark.parametrize("tagged", [True, False], ids=["by tag", "by its own field"])
def test_every_task_on_an_agent_is_seen(name, restarts, tagged, api):
    task = listed(90, name, {"hostId": 51}) if tagged else {**listed(90, name), "hostId": 51}
    api.expect("tasks", name="agent", gives=[task])
    assert touching(BOTH, api) == [(90, restarts)]


@pytest.mark.parametrize(
    ("target", "name"), [(BOTH, "batch restart ocp AGENT"), (SERVICE, "Restart Arbitration Service")]
)
def test_task_names_are_compared_without_regard_to_case(target, name, api):
    tags = {"hostId": 51, "arbitrationServiceId": 61}
    api.expect("tasks", name="agent" if target is BOTH else "arbitration", gives=[listed(90, name, tags)])
    assert [number for number, _restarts in touching(target, api)] == [90]


def test_agent_tasks_without_tags_are_matched_by_host(api):
    found = [listed(92, AGENTS), listed(91, AGENTS, {"objectType": "HOST"}), listed(90, AGENTS)]
    api.expect("tasks", name="agent", gives=found)
    api.expect("tasks", name="agent", hostId=51, gives=[listed(92, AGENTS), listed(91, AGENTS)])
    api.expect("tasks", name="agent", hostId=52, gives=[listed(92, AGENTS)])
    assert touching(BOTH, api) == [(92, {"10.1.0.1", "10.1.0.2"}), (91, {"10.1.0.1"})]


def test_arbitration_tasks_are_matched_by_their_tags(api):
    tasks = [listed(90 + n, ARBITRATION, {"arbitrationServiceId": number}) for n, number in enumerate((61, 62))]
    untold = [listed(92, ARBITRATION), listed(93, ARBITRATION, {"svrIp": "10.1.0.8"})]
    api.expect(
        "tasks", name="arbitration", status="RUNNING", gives=[*tasks, *untold, listed(94, f"{ARBITRATION} later")]
    )
    assert touching(SERVICE, api, status="RUNNING") == [(90, ALL), (92, NOTHING), (93, NOTHING)]


# Running tasks


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
def test_task_named_by_the_target_is_found_with_its_scope(target, name, observed, restarts, api):
    api.expect("task", 90, gives={**raw_task(90), "name": name, "startTime": BEGINNING.isoformat()})
    named = named_operations(api.double, target, observed)
    [operation] = named.running
    assert (operation.task_id, operation.name, operation.started_at, named.outdated) == (90, name, BEGINNING, False)
    assert operation.restarts == restarts


def test_running_tasks_are_listed_newest_first(api):
    for number, status in {93: "FAILED", 92: "RUNNING", 90: "RUNNING"}.items():
        api.expect("task", number, gives=raw_task(number, status))
    found = named_operations(api.double, ORDERS, observation(90, 92, whole=93))
    assert [operation.task_id for operation in found.running] == [92, 90]


@pytest.mark.parametrize(
    ("now", "outdated"),
    [(raw_task(91, "SUCCESSFUL"), True), (raw_task(91, "FAILED"), True), (refused(404), True), (raw_task(91), False)],
    ids=["successful", "failed", "gone", "running"],
)
def test_named_task_that_has_ended_is_outdated(now, outdated, api):
    api.expect("task", 92, gives=raw_task(92)).expect("task", 91, gives=now)
    assert named_operations(api.double, ORDERS, observation(92, 91)).outdated is outdated


def test_forbidden_named_task_is_an_unknown_operation(api):
    api.expect("task", 91, gives=refused(403)).expect("task", 90, gives=refused(404))
    [operation] = named_operations(api.double, ORDERS, observation(90, 91)).running
    assert (operation.task_id, operation.name, operation.started_at, operation.restarts) == (91, None, None, NOTHING)


def test_listed_tasks_have_their_start_time_and_scope(api):
    tasks = [{**listed(91, CLUSTER), "startTime": "2026-05-04T03:00:00+08:00"}, listed(90, SERVER)]
    api.expect("tasks", clusterId=31, status="RUNNING", gives=tasks)
    found = listed_operations(api.double, ORDERS)
    assert [(one.task_id, one.started_at, one.restarts) for one in found] == [(91, BEGINNING, ALL), (90, None, NOTHING)]


def test_rollback_does_not_count_as_a_restart(api):
    tasks = [{**listed(91, CLUSTER), "operation": "rollback"}]
    api.expect("tasks", clusterId=31, status="RUNNING", gives=tasks)
    [operation] = listed_operations(api.double, ORDERS)
    assert operation.restarts == NOTHING


@pytest.mark.parametrize(
    ("status", "held"), [("FAILED", 90), ("RUNNING", None), ("SUCCESSFUL", None), (None, None)], ids=repr
)
def test_only_a_failed_task_holds_the_target(status, held, api):
    api.expect("task", 90, gives=raw_task(90, status))
    found = failed_task_holding(api.double, observation(90))
    assert (found and found.id) == held


@pytest.mark.parametrize("status", [403, 404, 503])
def test_unreadable_task_does_not_hold_the_target(status, api):
    api.expect("task", 90, gives=refused(status))
    assert failed_task_holding(api.double, observation(90)) is None


# Before and after a POST


@pytest.mark.parametrize(("tasks", "mark"), [([{"id": 80}], 80), ([], 0), ([{"id": None}], 0), ([{}], 0)], ids=repr)
def test_newest_task_id_is_the_high_water_mark(tasks, mark, api):
    api.expect("tasks", 1, gives=tasks)
    assert read_high_water_mark(api.double) == mark


def test_high_water_mark_is_unknown_without_permission(api):
    api.expect("tasks", 1, gives=refused(403))
    assert read_high_water_mark(api.double) is None


@pytest.mark.parametrize(
    ("members", "found"), [(["10.1.0.1"], [92, 91]), (["10.1.0.1", "10.1.0.2"], [92]), (["10.1.0.2"], [92])], ids=repr
)
def test_new_agent_task_must_cover_the_hosts(members, found, api):
    tasks = [listed(92, AGENTS, {"hostId": 51}, {"hostId": 52}), listed(91, AGENTS, {"hostId": 51})]
    api.expect("tasks", name="agent", above=80, gives=tasks)
    started = restarts_above(api.double, BOTH, 80, frozenset(members))
    assert [record["id"] for record in started] == found


def test_new_tasks_of_another_kind_are_ignored(api):
    tasks = [listed(92, CLUSTER), listed(91, SERVER, {"serverId": 41}), listed(90, ZONE, {"zoneName": "zone1"})]
    api.expect("tasks", clusterId=31, above=80, gives=tasks)
    assert [record["id"] for record in restarts_above(api.double, SERVER_41, 80, frozenset(["m"]))] == [91]


def test_task_without_an_id_is_the_one_that_was_asked_for(api):
    api.expect("task", 90, gives={"name": SERVER, "status": "RUNNING"})
    found = named_operations(api.double, SERVER_41, Observation(None, (), 90))
    assert [operation.task_id for operation in found.running] == [90]
