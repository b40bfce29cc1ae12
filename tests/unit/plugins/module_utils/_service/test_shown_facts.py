# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A fact is shown by all records, by some, by none, or nothing tells."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.findings import Answer, Findings, Read, Shown
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.shown_facts import shown_facts

START = "2026-05-04T03:00:00+08:00"
NEVER = "1970-01-01T08:00:00+08:00"
UP, DOWN, BARE = {"startTime": START}, {"startTime": NEVER}, {}
ENDED, RUNS = {"status": "SUCCESSFUL"}, {"status": "RUNNING"}
SERVER = {"id": 7, "name": "Restart OB server", "cluster": {"id": 1}}


def state(name, answer=Answer.ABSENT, **found):
    reads = {each: Read(each, None, answer, why="so") for each in ("tenants", "parameters", "alarms")}
    [fact] = [each for each in shown_facts(Findings(ServiceClock(), None, reads, **found)) if each.name == name]
    assert fact.message
    return fact.state


@pytest.mark.parametrize(
    ("servers", "of_servers", "of_zones"),
    [
        ([UP, UP], Shown.SHOWN, Shown.SHOWN),
        ([UP, DOWN], Shown.PARTLY, Shown.ABSENT),
        ([BARE, DOWN], Shown.ABSENT, Shown.ABSENT),
        ([], Shown.UNKNOWN, Shown.UNKNOWN),
    ],
)
def test_starts_of_servers_and_their_zone(servers, of_servers, of_zones):
    found = {"servers": [{"zoneName": "east", **server} for server in servers], "zones": [{"name": "east"}]}
    assert (state("server_start", **found), state("zone_start", **found)) == (of_servers, of_zones)


def test_zone_without_servers_shows_no_start():
    found = {"servers": [{"zoneName": "east", **UP}], "zones": [{"name": "east"}, {"name": "west"}]}
    assert state("zone_start", **found) is Shown.PARTLY


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ([{**SERVER, "tags": [{"serverId": 41}]}], Shown.SHOWN),
        ([{**SERVER, "name": "restart ob SERVER", "tags": [{"serverId": 41}]}], Shown.SHOWN),
        ([{**SERVER, "tags": [{"serverId": 41}]}, SERVER], Shown.PARTLY),
        ([SERVER], Shown.ABSENT),
        # A tag of another kind does not name the server.
        ([{**SERVER, "tags": [{"hostId": 51}]}], Shown.ABSENT),
        # A cluster needs no tag.
        ([{"id": 7, "name": "Restart OB cluster"}], Shown.UNKNOWN),
        ([{"id": 7, "name": "Add host", "tags": [{"hostId": 51}]}], Shown.SHOWN),
        ([], Shown.UNKNOWN),
    ],
)
def test_tags_of_restarts(tasks, expected):
    assert state("task_tags", tasks=tasks, restarts=tasks) is expected


CLUSTER = {"id": 1, "name": "orders"}
OPERATED = {"operatingTaskInstanceId": None}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"clusters": [{**CLUSTER, **OPERATED}]}, Shown.SHOWN),
        ({"clusters": [{**CLUSTER, "zones": [{"servers": [OPERATED]}]}]}, Shown.SHOWN),
        ({"clusters": [CLUSTER], "services": [OPERATED]}, Shown.SHOWN),
        ({"clusters": [CLUSTER], "cluster": CLUSTER, "restarts": [{**SERVER, **RUNS}]}, Shown.ABSENT),
        ({"clusters": [CLUSTER], "cluster": CLUSTER, "restarts": [{**SERVER, **ENDED}]}, Shown.UNKNOWN),
        # Of another cluster, whose servers were not read.
        ({"clusters": [CLUSTER], "cluster": CLUSTER, "restarts": [{**SERVER, **RUNS, "clusterId": 2}]}, Shown.UNKNOWN),
        ({"clusters": [CLUSTER], "cluster": CLUSTER, "restarts": [{**RUNS, "id": 7, "name": "Other"}]}, Shown.UNKNOWN),
        ({}, Shown.UNKNOWN),
    ],
)
def test_operating_task(found, expected):
    assert state("operating_task", **found) is expected


RUNNING = {"alias": "ocp_agentd", "status": "STARTED", "pid": 7, "elapsedTime": 60, "lastActiveTime": START}


@pytest.mark.parametrize(
    ("agent", "start", "pids"),
    [
        ({"processes": [RUNNING]}, Shown.SHOWN, Shown.SHOWN),
        ({"processes": [{**RUNNING, "elapsedTime": None}]}, Shown.ABSENT, Shown.SHOWN),
        ({"processes": [{**RUNNING, "status": "STOPPED", "pid": 0}]}, Shown.ABSENT, Shown.ABSENT),
        ({}, Shown.ABSENT, Shown.ABSENT),
        (None, Shown.UNKNOWN, Shown.UNKNOWN),
    ],
)
def test_agent(agent, start, pids):
    assert (state("agent_start", agent=agent), state("agent_pids", agent=agent)) == (start, pids)


@pytest.mark.parametrize(
    ("answer", "found", "expected"),
    [
        (Answer.OK, [{"locality": "FULL{1}@east"}], Shown.SHOWN),
        (Answer.OK, [{"name": "sys"}], Shown.ABSENT),
        (Answer.OK, [], Shown.SHOWN),
        (Answer.ABSENT, None, Shown.ABSENT),
        (Answer.FORBIDDEN, None, Shown.UNKNOWN),
        (Answer.SKIPPED, None, Shown.UNKNOWN),
    ],
)
def test_tenants(answer, found, expected):
    assert state("tenants", answer, tenants=found) is expected


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        ({"valueToServers": {"10": ["10.0.0.1:2882"]}}, Shown.SHOWN),
        ({"obParameters": [{"svrIp": "10.0.0.1", "value": "10"}]}, Shown.SHOWN),
        ({"values": ["10"]}, Shown.ABSENT),
        (None, Shown.ABSENT),
    ],
)
def test_parameters_count_by_their_value_on_each_server(current, expected):
    assert state("parameters", Answer.OK, parameters=[{"name": "x", "currentValue": current}]) is expected
