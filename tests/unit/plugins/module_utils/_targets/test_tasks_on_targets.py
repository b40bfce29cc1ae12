# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which of the listed tasks touch a target, and which requests find out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import AuthenticationFailed
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_list import RECENT_TASKS
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.operating_tasks import operated_by
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.task_names import is_foreign
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import (
    AGENTS,
    ARBITRATION,
    CLUSTER,
    SERVER,
    ZONE,
    refused,
)

ORDERS = Cluster(31, "orders")
SERVER_41 = Server(41, "10.1.0.1:2882", ORDERS, 51, "zone1", True, True, False)
BOTH = Agents(((51, "10.1.0.1"), (52, "10.1.0.2")))
SERVICE = ArbitrationService(61, "10.1.0.8:2888")
ZONE_1 = Zone(71, "zone1", ORDERS, ((41, "10.1.0.1:2882"),), (51,), True)
ALL, NOTHING = None, frozenset()
# Ids of hosts begin at 1.
NO_HOST = 0


def listed(number, name, *tags):
    return {"id": number, "name": name, "status": "RUNNING", **({"tags": list(tags)} if tags else {})}


def touching(target, api, **query):
    return [(entry.record["id"], entry.restarts) for entry in target.tasks(api.double, **query)]


@pytest.mark.parametrize(
    ("shown", "number"), [(1001, 1001), ("1001", 1001), (0, None), (-1, None), (None, None)], ids=str
)
def test_zero_names_no_task(shown, number):
    assert operated_by({"operatingTaskInstanceId": shown}) == number


def test_cluster_is_touched_by_cluster_zone_and_server_restarts(api):
    names = [CLUSTER, ZONE, SERVER, "Take over cluster", AGENTS, None]
    found = [listed(90 + n, name) for n, name in enumerate(names)]
    api.expect("tasks", clusterId=31, status="RUNNING", gives=found)
    assert touching(ORDERS, api, status="RUNNING") == [(90, ALL), (91, NOTHING), (92, NOTHING)]


@pytest.mark.parametrize(
    ("task", "restarts"),
    [
        (listed(90, SERVER, {"serverId": 41}), ["10.1.0.1:2882"]),
        (listed(90, SERVER, {"clusterId": 31}, {"serverId": 42}), ["10.1.0.2:2882"]),
        (listed(90, SERVER, {"serverId": 49}), []),
        (listed(90, ZONE, {"zoneName": "zone2"}), ["10.1.0.2:2882", "10.1.0.3:2882"]),
    ],
    ids=repr,
)
def test_tags_tell_which_part_of_the_cluster_is_restarted(task, restarts, api):
    places = [(41, "zone1"), (42, "zone2"), (43, "zone2")]
    servers = [{"id": n, "ip": f"10.1.0.{n - 40}", "port": 2882, "zoneName": zone} for n, zone in places]
    api.expect("tasks", clusterId=31, gives=[task]).expect("servers", 31, gives=servers)
    assert touching(ORDERS, api) == [(90, frozenset(restarts))]


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
        (listed(90, "Stop OB server", {"serverId": 42}), False),
    ],
    ids=repr,
)
def test_server_tasks_are_matched_by_their_tags(task, touches, api):
    api.expect("tasks", clusterId=31, above=80, gives=[task])
    assert touching(SERVER_41, api, above=80) == ([(90, ALL)] if touches else [])


def test_other_work_that_runs_on_the_server_restarts_none_that_is_known(api):
    api.expect("tasks", clusterId=31, above=80, gives=[listed(90, "Stop OB server", {"serverId": 41})])
    assert touching(SERVER_41, api, above=80) == [(90, frozenset())]


@pytest.mark.parametrize("target", [SERVER_41, ZONE_1, ORDERS], ids=lambda target: target.kind)
@pytest.mark.parametrize(
    ("name", "touches"), [("重启 OBServer", True), ("Upgrade OB server", True), ("Modify OB parameters", False)]
)
def test_ended_task_that_may_start_something_may_have_restarted_what_it_names(name, touches, target, api):
    ended = {**listed(90, name, {"serverId": 41}), "status": "SUCCESSFUL"}
    api.expect("tasks", clusterId=31, gives=[ended])
    assert touching(target, api) == ([(90, NOTHING)] if touches else [])
    assert target.may_restart_part(ended) is touches
    # Only one in another language may be that of a request of ours.
    assert target.may_be_kind(ended) is (not name.isascii())


@pytest.mark.parametrize(
    ("status", "tags", "touched"),
    [
        ("SUCCESSFUL", [], ["server", "zone", "cluster"]),
        ("SUCCESSFUL", [{"zoneName": "zone1"}], ["server", "zone", "cluster"]),
        ("SUCCESSFUL", [{"zoneName": "zone2"}], ["cluster"]),
        ("SUCCESSFUL", [{"serverId": 42}], ["cluster"]),
        ("RUNNING", [], []),
    ],
)
@pytest.mark.parametrize("name", ["重启集群", "Rolling restart of cluster"])
@pytest.mark.parametrize("target", [SERVER_41, ZONE_1, ORDERS], ids=lambda target: target.kind)
def test_ended_task_with_a_foreign_name_may_have_restarted_all_of_it(target, name, status, tags, touched, api):
    """One that runs may be harmless, such as a report; a restart shows in the status of what it restarts."""
    api.expect("tasks", clusterId=31, gives=[{**listed(90, name, *tags), "status": status, "clusterId": 31}])
    assert touching(target, api) == ([(90, NOTHING)] if target.kind in touched else [])


FOREIGN_OF_AGENTS = [
    ({"tags": [{"hostId": 51}]}, True),
    ({"tags": [{"hostId": 59}]}, False),
    ({"tags": [{"hostId": 51, "serverId": 41}]}, False),
    ({"tags": [{"hostId": 51}], "clusterId": 31}, False),
]
FOREIGN_OF_ARBITRATION = [
    ({}, True),
    ({"tags": [{"arbitrationServiceId": 61}]}, True),
    ({"tags": [{"arbitrationServiceId": 62}]}, False),
    ({"tags": [{"hostId": 51}]}, False),
    ({"clusterId": 31}, False),
]


@pytest.mark.parametrize(
    ("target", "word", "shown", "touches"),
    [
        *((BOTH, "agent", *each) for each in FOREIGN_OF_AGENTS),
        *((SERVICE, "arbitration", *each) for each in FOREIGN_OF_ARBITRATION),
    ],
    ids=repr,
)
def test_where_tasks_have_names_in_another_language_all_of_them_are_looked_at(target, word, shown, touches, api):
    foreign = {**listed(90, "重启"), "status": "SUCCESSFUL", **shown}
    api.expect("tasks", name=word, gives=[])
    api.expect("tasks", RECENT_TASKS, gives=[foreign])
    api.expect("tasks", name=word, gives=[])
    api.expect("tasks", gives=[foreign, listed(80, "Upgrade OB server")])
    assert touching(target, api) == ([(90, NOTHING)] if touches else [])


@pytest.mark.parametrize(("target", "word"), [(BOTH, "agent"), (SERVICE, "arbitration")], ids=repr)
def test_language_of_the_names_is_looked_at_once(target, word, api):
    api.expect("tasks", name=word, gives=[])
    api.expect("tasks", RECENT_TASKS, gives=[listed(80, "Upgrade OB server")])
    for _look in range(2):
        api.expect("tasks", name=word, gives=[])
        assert touching(target, api) == []


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
    api.expect("tasks", clusterId=31, hostId=NO_HOST, status="RUNNING", gives=[])
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


@pytest.mark.parametrize(("tags", "others"), [([51, 52], False), ([51], False), ([51, 53], True)])
def test_restart_of_agents_of_other_hosts_too_is_told(tags, others, api):
    api.expect("tasks", name="agent", gives=[listed(90, AGENTS, *({"hostId": number} for number in tags))])
    assert [entry.restarts_others for entry in BOTH.tasks(api.double)] == [others]


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


@pytest.mark.parametrize(
    ("task", "foreign"),
    [
        ({}, True),
        ({"name": None}, True),
        ({"name": "42"}, True),
        ({"name": "重启仲裁服务"}, True),
        ({"name": "Restart log proxy"}, True),
        ({"name": AGENTS}, False),
        ({"name": "Create tenant"}, False),
    ],
)
def test_task_whose_name_tells_no_kind_may_be_of_any(task, foreign):
    assert is_foreign(task) is foreign


def test_agent_tasks_without_tags_are_matched_by_host(api):
    found = [listed(92, AGENTS), listed(91, AGENTS, {"objectType": "HOST"}), listed(90, AGENTS)]
    api.expect("tasks", name="agent", gives=found)
    api.expect("tasks", name="agent", hostId=51, gives=[listed(92, AGENTS), listed(91, AGENTS)])
    api.expect("tasks", name="agent", hostId=52, gives=[listed(92, AGENTS)])
    api.expect("tasks", name="agent", hostId=NO_HOST, gives=[])
    assert touching(BOTH, api) == [(92, {"10.1.0.1", "10.1.0.2"}), (91, {"10.1.0.1"})]


def test_arbitration_tasks_are_matched_by_their_tags(api):
    tasks = [listed(90 + n, ARBITRATION, {"arbitrationServiceId": number}) for n, number in enumerate((61, 62))]
    untold = [listed(92, ARBITRATION), listed(93, ARBITRATION, {"svrIp": "10.1.0.8"})]
    api.expect(
        "tasks",
        name="arbitration",
        status="RUNNING",
        gives=[*tasks, *untold, listed(94, "Upgrade arbitration service")],
    )
    assert touching(SERVICE, api, status="RUNNING") == [(90, ALL), (92, NOTHING), (93, NOTHING)]


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ({"svrIp": "10.1.0.8", "arbitrationServiceSvrPort": 2888}, [(90, ALL)]),
        ({"svrIp": "10.1.0.9", "arbitrationServiceSvrPort": 2888}, []),
        ({"svrIp": "10.1.0.9", "arbitrationServiceSvrPort": 2888, "arbitrationServiceId": 61}, [(90, ALL)]),
    ],
    ids=["its own", "another", "the id decides"],
)
def test_arbitration_tasks_without_an_id_are_matched_by_the_address_in_their_tags(tags, found, api):
    task = listed(90, ARBITRATION, tags)
    api.expect("tasks", name="arbitration", gives=[task])
    assert touching(SERVICE, api) == found
    assert SERVICE.may_be_of(task) is bool(found)


# A service that ignores filters


@pytest.mark.parametrize("probe", [refused(400), refused(404), []], ids=["400", "404", "no tasks"])
def test_host_that_cannot_be_shows_whether_the_filter_by_host_works(probe, api):
    found = [listed(90, SERVER)]
    api.expect("tasks", clusterId=31, gives=found).expect("tasks", clusterId=31, hostId=51, gives=found)
    api.expect("tasks", clusterId=31, hostId=NO_HOST, gives=probe)
    assert touching(SERVER_41, api) == [(90, ALL)]


def test_refused_credentials_say_nothing_about_the_filter_by_host(api):
    found = [listed(90, SERVER)]
    api.expect("tasks", clusterId=31, gives=found).expect("tasks", clusterId=31, hostId=51, gives=found)
    api.expect("tasks", clusterId=31, hostId=NO_HOST, gives=refused(401))
    with pytest.raises(AuthenticationFailed):
        touching(SERVER_41, api)


@pytest.mark.parametrize(
    ("target", "name"),
    [(SERVER_41, SERVER), (SERVER_41, ZONE), (ZONE_1, SERVER), (ZONE_1, ZONE)],
    ids=["server of a server", "zone of a server", "server of a zone", "zone of a zone"],
)
def test_ignored_filter_by_host_leaves_the_server_of_a_task_unknown(target, name, api):
    """It may be of this target, so it is not overtaken; it is known to be of none, so it is not joined."""
    found = [listed(90, name)]
    for host in ({}, {"hostId": 51}, {"hostId": NO_HOST}):
        api.expect("tasks", clusterId=31, **host, gives=found)
    assert touching(target, api) == [(90, NOTHING)]


@pytest.mark.parametrize(
    "probe", [refused(404).without_envelope(), refused(503), refused(429)], ids=["page", "failure", "too many"]
)
def test_answer_that_is_not_about_the_host_leaves_the_server_of_a_task_unknown(probe, api):
    found = [listed(90, ZONE)]
    for host in ({}, {"hostId": 51}):
        api.expect("tasks", clusterId=31, **host, gives=found)
    api.expect("tasks", clusterId=31, hostId=NO_HOST, gives=probe)
    assert touching(SERVER_41, api) == [(90, NOTHING)]


def test_filter_that_was_seen_to_be_ignored_stays_ignored_though_a_replica_is_behind(api):
    found = [listed(90, SERVER)]
    for host in ({}, {"hostId": 51}, {"hostId": NO_HOST}):
        api.expect("tasks", clusterId=31, **host, gives=found)
    assert touching(SERVER_41, api) == [(90, NOTHING)]
    for host in ({}, {"hostId": 51}):
        api.expect("tasks", clusterId=31, **host, gives=found)
    assert touching(SERVER_41, api) == [(90, NOTHING)]


def test_ignored_filter_by_host_leaves_the_hosts_of_an_agent_task_unknown(api):
    found = [listed(90, AGENTS)]
    for host in ({}, {"hostId": 51}, {"hostId": 52}, {"hostId": NO_HOST}):
        api.expect("tasks", name="agent", **host, gives=found)
    assert touching(BOTH, api) == [(90, NOTHING)]


@pytest.mark.parametrize(
    ("shown", "counts"),
    [({}, True), ({"clusterId": 31}, True), ({"clusterId": 32}, False), ({"cluster": {"id": 32}}, False)],
    ids=repr,
)
@pytest.mark.parametrize("target", [ORDERS, SERVER_41, ZONE_1], ids=["cluster", "server", "zone"])
def test_task_that_shows_another_cluster_does_not_count(target, shown, counts, api):
    """The service may ignore the filter by cluster."""
    api.expect("tasks", clusterId=31, gives=[{**listed(90, CLUSTER), **shown}])
    assert touching(target, api) == ([(90, ALL)] if counts else [])


# A list that is behind


@pytest.mark.parametrize(
    ("target", "name", "restarts"),
    [(SERVER_41, SERVER, ALL), (ZONE_1, ZONE, ALL), (ZONE_1, SERVER, NOTHING)],
    ids=["server", "zone", "server of a zone"],
)
def test_task_that_the_filter_by_host_alone_finds_counts(target, name, restarts, api):
    """Another application server may have answered. What it shows of another cluster does not count."""
    elsewhere = {**listed(94, name), "clusterId": 32}
    api.expect("tasks", clusterId=31, gives=[listed(90, name)])
    api.expect("tasks", clusterId=31, hostId=51, gives=[elsewhere, listed(93, name)])
    api.expect("tasks", clusterId=31, hostId=NO_HOST, gives=[])
    found = dict(touching(target, api))
    assert (found[93], 94 in found) == (restarts, False)


def test_agent_task_that_the_filter_by_host_alone_finds_counts(api):
    api.expect("tasks", name="agent", gives=[listed(90, AGENTS)])
    api.expect("tasks", name="agent", hostId=51, gives=[listed(93, AGENTS)])
    api.expect("tasks", name="agent", hostId=52, gives=[])
    api.expect("tasks", name="agent", hostId=NO_HOST, gives=[])
    assert touching(BOTH, api)[0] == (93, frozenset(["10.1.0.1"]))
