# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Zones as targets: how they are found, which tasks touch them, and restarts of a zone with two servers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import TargetBusy, TargetError
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.operating_tasks import NO_HOST
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.tests.unit.support import fake_ocp
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_process
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    RESTART_CASES,
    SERVER_41,
    failure,
    however_shown,
    request,
    restart,
)

A, B, C = "10.1.0.1:2882", "10.1.0.2:2882", "10.1.0.3:2882"
ORDERS = Cluster(31, "orders")
ZONE = Zone(71, "zone1", ORDERS, ((41, A), (42, B)), (51, 52), True, (51, 52))
LABEL = "zone zone1 of cluster orders (id 31)"


def server(number, zone, host, **more):
    address = {"ip": f"10.1.0.{number}", "port": 2882, "hostId": host, "zoneName": zone}
    return {"id": 40 + number, **address, "status": "RUNNING", **more}


SERVERS = [server(1, "zone1", 51), server(2, "zone1", 52), server(3, "zone2", 53)]
RECORD = {
    "id": 31,
    "name": "orders",
    "zones": [
        {"id": 71, "name": "zone1", "status": "RUNNING", "operatingTaskInstanceId": 90},
        {"id": 72, "name": "zone2", "status": "STOPPED"},
    ],
}


def find(api, servers, cluster="31", zone="zone1", record=None):
    api.expect("cluster", 31, gives=record or RECORD).expect("servers", 31, gives=servers)
    return Zone.find(api.double, cluster, zone)


# Find


def test_zone_is_found_with_its_servers(api):
    zone = find(api, SERVERS)
    assert zone == ZONE
    assert (zone.label, zone.unchanged_facts(frozenset({A}))) == (LABEL, {})
    assert zone.result() == {
        "kind": "zone",
        "id": 71,
        "name": "zone1",
        "cluster_id": 31,
        "cluster_name": "orders",
    }
    assert [member.name for member in zone.first_observation.members] == [A, B]
    assert (
        zone.first_observation.status,
        zone.first_observation.operations,
        zone.first_observation.names_operations,
    ) == ("RUNNING", [90], True)


def test_cluster_record_with_servers_is_read_once(api):
    """In older versions, only nesting shows the zone of a server."""
    nested = [{key: value for key, value in found.items() if key != "zoneName"} for found in SERVERS]
    zones = [{**RECORD["zones"][0], "servers": nested[:2]}, {**RECORD["zones"][1], "servers": nested[2:]}]
    record = {**RECORD, "zones": zones, "serverCount": 3}
    api.expect("cluster", 31, gives=record).expect("cluster", 31, gives=record)
    zone = Zone.find(api.double, "31", "zone1")
    assert zone == ZONE
    assert zone.observe(api.double) == zone.first_observation


@pytest.mark.parametrize(
    ("third", "hosts", "alone", "every_host"),
    [
        ({"hostId": 52}, (51,), False, (51, 52)),
        ({"hostId": None}, (51, 52), True, (51, 52)),
        ({"zoneName": "zone1"}, (51, 52, 53), True, (51, 52, 53)),
        ({"zoneName": "zone1", "hostId": None}, (51, 52), False, ()),
    ],
    ids=["shared with another zone", "not told", "of the zone", "of the zone and not told"],
)
def test_zone_hosts_exclude_hosts_shared_with_other_zones(third, hosts, alone, every_host, api):
    zone = find(api, [*SERVERS[:2], {**SERVERS[2], **third}])
    assert (zone.hosts, zone.alone) == (hosts, alone)
    assert zone.every_host == every_host


def test_servers_without_an_id_or_a_host_are_observed(api):
    zone = find(api, [{**SERVERS[0], "id": None, "hostId": None}, *SERVERS[1:]])
    assert (zone.servers, zone.hosts, zone.every_host) == (((42, B),), (52,), ())
    assert [member.name for member in zone.first_observation.members] == [A, B]


@pytest.mark.parametrize(("name", "there"), [("zone9", "; to choose from: zone1, zone2"), ("zone", "")])
def test_unknown_zone_is_refused_with_choices(name, there, api):
    record = RECORD if there else {"id": 31, "name": "orders"}
    api.expect("cluster", 31, gives=record)
    if not there:
        api.expect("zones", 31, gives=[])
    with pytest.raises(TargetError) as raised:
        Zone.find(api.double, "31", name)
    assert str(raised.value) == (
        f"zone: {name} matches nothing in cluster orders (id 31){there}. Check the name or id."
    )


def test_zone_of_a_cluster_that_shows_none_is_found_in_their_list(api):
    api.expect("cluster", 31, gives={"id": 31, "name": "orders"}).expect("zones", 31, gives=RECORD["zones"])
    api.expect("servers", 31, gives=SERVERS)
    assert Zone.find(api.double, "31", "zone1") == ZONE


def test_zone_of_a_cluster_that_shows_none_is_observed_with_its_own_status(api):
    api.expect("cluster", 31, gives={"id": 31, "name": "orders"}).expect("zones", 31, gives=RECORD["zones"])
    api.expect("servers", 31, gives=SERVERS)
    assert ZONE.observe(api.double).status == "RUNNING"


def test_missing_zone_is_observed_as_empty(api):
    api.expect("cluster", 31, gives={**RECORD, "zones": RECORD["zones"][1:]}).expect("servers", 31, gives=SERVERS[2:])
    assert ZONE.observe(api.double).result() == {"status": None, "members": []}


# Tasks that touch it


def listed(name, *tags):
    return {"id": 90, "name": name, "status": "RUNNING", "tags": list(tags)}


WHOLE, NOTHING, UNKNOWN = [None], [], [frozenset()]


@pytest.mark.parametrize(
    ("task", "restarts"),
    [
        (listed(fake_ocp.CLUSTER, {"clusterId": 31}), WHOLE),
        (listed(fake_ocp.CLUSTER), WHOLE),
        (listed(fake_ocp.ZONE, {"zoneName": "zone1"}), WHOLE),
        (listed(fake_ocp.ZONE, {"zoneName": "zone2"}), NOTHING),
        (listed(fake_ocp.SERVER, {"serverId": 42, "zoneName": "zone1"}), [frozenset({B})]),
        (listed(fake_ocp.SERVER, {"serverId": 41}, {"serverId": 42}), [frozenset({A, B})]),
        (listed(fake_ocp.SERVER, {"serverId": 43, "zoneName": "zone2"}), NOTHING),
        (listed(fake_ocp.AGENTS, {"hostId": 51}), NOTHING),
        (listed("Stop OB zone", {"zoneName": "zone2"}), NOTHING),
        (listed("Stop OB zone", {"zoneName": "zone1"}), [frozenset()]),
    ],
    ids=lambda value: (str(value) if isinstance(value, dict) else str(sorted(map(sorted, filter(None, value)))))[:60],
)
def test_tasks_are_matched_by_their_tags(task, restarts, api):
    api.expect("tasks", clusterId=31, status="RUNNING", gives=[task])
    assert [found.restarts for found in ZONE.tasks(api.double, status="RUNNING")] == restarts


@pytest.mark.parametrize(
    ("name", "host", "restarts"),
    [
        (fake_ocp.ZONE, 51, WHOLE),
        (fake_ocp.ZONE, 52, WHOLE),
        (fake_ocp.ZONE, None, UNKNOWN),
        (fake_ocp.SERVER, 52, UNKNOWN),
        (fake_ocp.SERVER, None, UNKNOWN),
    ],
)
def test_tasks_without_tags_are_matched_by_host(name, host, restarts, api):
    """A zone restart counts unless it is known to be of another zone."""
    api.expect("tasks", clusterId=31, above=80, gives=[listed(name)])
    for number in (51, 52):
        on_host = [listed(name)] if number == host else []
        api.expect("tasks", clusterId=31, hostId=number, above=80, gives=on_host)
    if host is not None:
        api.expect("tasks", clusterId=31, hostId=NO_HOST, above=80, gives=[])
    assert [found.restarts for found in ZONE.tasks(api.double, above=80)] == restarts


@pytest.mark.parametrize(("host", "restarts"), [(53, NOTHING), (None, UNKNOWN)])
def test_task_is_of_another_host_only_if_the_filter_finds_tasks(host, restarts, api):
    """A task may have no host, and then no filter finds it."""
    api.expect("tasks", clusterId=31, gives=[listed(fake_ocp.SERVER)])
    for number in (51, 52, 53):
        on_host = [listed(fake_ocp.SERVER)] if number == host else []
        api.expect("tasks", clusterId=31, hostId=number, gives=on_host)
    zone = replace(ZONE, other_hosts=(53,))
    assert [found.restarts for found in zone.tasks(api.double)] == restarts
    assert api.double.finds_by_host is (host is not None)


# Restart


@pytest.fixture
def of_two(service):
    """Put two servers into the zone; returns the restart case."""
    service.servers_there[1].zone = "zone1"
    return replace(RESTART_CASES["zone"], target=ZONE)


def test_all_servers_of_the_zone_are_restarted_and_verified(of_two, service):
    result = restart(service, of_two, request(wait=True))
    assert (service.posts, result["verified"]) == ([of_two.post], True)
    assert [member["name"] for member in result["after"]["members"]] == [A, B]
    assert C not in result["diff"]["after"]


def test_one_stale_server_restarts_the_zone_and_is_verified(of_two, service):
    service.servers_there[0].started = 0
    result = restart(service, of_two, request(started_before=at(-100), wait=True))
    assert f"{B} started at" in result["reason"]
    assert result["reason"].split(";")[0].endswith("(1 of 2)")
    assert (result["action"], result["verified"], len(service.posts)) == ("submitted", True, 1)
    again = restart(service, of_two, request(started_before=at(-100), wait=True))
    assert (again["action"], len(service.posts)) == ("skipped", 1)


NAMED = replace(request(wait=True), change="memory-2026-11-20")


def restart_by_name(service, case):
    """In another process, as each run is."""
    another_process()
    return restart(service, case, NAMED)


def restart_servers_by_name(service, *numbers):
    """Restart each of the servers by itself; returns what was done."""
    targets = [
        replace(SERVER_41, id=40 + number, address=f"10.1.0.{number}:2882", host_id=50 + number) for number in numbers
    ]
    return [restart_by_name(service, replace(RESTART_CASES["server"], target=one))["action"] for one in targets]


def test_name_that_servers_have_used_one_by_one_leaves_their_zone_and_cluster_alone(of_two, service):
    assert restart_servers_by_name(service, 1, 2, 3) == ["submitted"] * 3
    for whole in (of_two, RESTART_CASES["cluster"]):
        result = restart_by_name(service, whole)
        assert (result["action"], result["verified"], result["changed"]) == ("skipped", True, False)
        assert f"{A} started at" in result["reason"]
        assert "after change memory-2026-11-20 was first used" in result["reason"]
    assert [sent[1] for _call, sent in service.posts] == [41, 42, 43]


def test_name_that_a_zone_has_used_leaves_its_servers_alone(of_two, service):
    restart_by_name(service, of_two)
    assert restart_servers_by_name(service, 1, 2, 3) == ["skipped", "skipped", "submitted"]
    assert [sent[1] for _call, sent in service.posts] == ["zone1", 43]


@pytest.mark.parametrize(("whole", "rest"), [("zone", "(1 of 2)"), ("cluster", "(2 of 3)")])
def test_one_server_that_has_not_used_the_name_restarts_the_whole_and_is_verified(whole, rest, of_two, service):
    case = {"zone": of_two, "cluster": RESTART_CASES["cluster"]}[whole]
    assert restart_servers_by_name(service, 1) == ["submitted"]
    result = restart_by_name(service, case)
    named = result["reason"].split(";")[0]
    assert named.startswith("change memory-2026-11-20 is new for 10.1.0.2:2882")
    assert named.endswith(rest)
    assert A not in named
    assert (result["action"], result["verified"], service.posts[1:]) == ("submitted", True, [case.post])
    again = restart_by_name(service, case)
    assert (again["action"], again["verified"], len(service.posts)) == ("skipped", True, 2)


@however_shown
def test_restart_of_one_server_does_not_cover_the_zone(names_operations, of_two, service):
    service.names_operations = names_operations
    service.begin(fake_ocp.SERVER, service.servers_there[:1], seconds=100)
    error = failure(service, of_two, request())
    assert error.__class__ is TargetBusy
    assert "(Restart OB server) is running, but it does not restart everything that is asked for" in str(error)
    assert service.posts == []


@however_shown
def test_restart_of_the_only_stale_server_is_joined(names_operations, of_two, service):
    service.names_operations = names_operations
    service.servers_there[0].started = -30
    job = service.begin(fake_ocp.SERVER, service.servers_there[1:2], seconds=100)
    result = restart(service, of_two, request(started_before=at(-100)))
    assert (result["action"], result["task_id"], service.posts) == ("attached", job.id, [])


@however_shown
@pytest.mark.parametrize("name", [fake_ocp.SERVER, fake_ocp.ZONE])
def test_restart_in_another_zone_does_not_block(name, names_operations, of_two, service):
    service.names_operations = names_operations
    service.begin(name, service.servers_there[2:], seconds=100)
    assert restart(service, of_two, request())["action"] == "submitted"


@pytest.mark.parametrize("in_flight", ["attach", "queue"])
def test_untagged_zone_restart_is_queued_or_refused(in_flight, of_two, service):
    service.names_operations = service.tags = False
    service.begin(fake_ocp.ZONE, service.servers_there[2:], seconds=20)
    if in_flight == "queue":
        result = restart(service, of_two, request("queue"))
        assert (result["action"], result["elapsed"] >= 20) == ("submitted", True)
    else:
        assert "it is not known to restart this target" in str(failure(service, of_two, request()))
        assert service.posts == []
