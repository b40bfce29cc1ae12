# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Every restart of the documented 4.2.2 service, from options down to the HTTP client: done once, and proven."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._fleet.fleet_queries import read_clusters, read_servers
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import session, transport
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import AccessKeyAuth, basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.documented_ocp import (
    ADDRESS,
    CLUSTER,
    UNKNOWN,
    ZONES,
    DocumentedOcp,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING

SERVER = "172.20.1.43:2882"
TARGETS = {
    "server": (
        Selector(Server, {"cluster": "billing", "server": SERVER, "freeze_server": False, "force": False}),
        {"7000043"},
    ),
    "server by ids": (
        Selector(Server, {"cluster": str(CLUSTER), "server": "7000043", "freeze_server": False, "force": False}),
        {"7000043"},
    ),
    "zone": (Selector(Zone, {"cluster": "billing", "zone": "east"}), {str(number) for number in ZONES["east"]}),
    "cluster": (Selector(Cluster, {"cluster": "billing"}), {str(n) for zone in ZONES.values() for n in zone}),
    "agents": (Selector(Agents, {"hosts": ["172.20.1.51", "52"]}), {"agent-51", "agent-52"}),
}
every_target = pytest.mark.parametrize(("selector", "restarts"), TARGETS.values(), ids=TARGETS)
every_unknown = pytest.mark.parametrize("unknown", UNKNOWN)
AUTHS = {"password": basic_auth("admin", "pass-word-9"), "access key": AccessKeyAuth("key-id", "key-secret-9")}


@pytest.fixture
def ocp(time_passes, monkeypatch):
    """A service below the client, whose clock is the test's."""
    service = DocumentedOcp(time_passes)
    monkeypatch.setattr(transport.Adapter, "send", lambda _self, request, **options: service.send(request, **options))
    clock = SimpleNamespace(time=time_passes.clock.wall, monotonic=time_passes.clock.now)
    monkeypatch.setattr(session, "time", clock)
    return service


def restart(ocp, selector, *, auth="password", check_mode=False, since=None):
    api = OcpApi(HttpClient(ADDRESS, AUTHS[auth], verify=True, timeout=5.0))
    request = RestartRequest(check_mode=check_mode, wait=True, policy=PollPolicy(7200, 10), started_before=since)
    return restart_target(api, selector, request, ocp.time.clock)


@every_target
@every_unknown
@pytest.mark.parametrize("below", ["/api/v2", ""], ids=["prefixed", "plain"])
def test_restart_is_done_once_and_proven(selector, restarts, unknown, below, ocp):
    ocp.unknown, ocp.agents_below = unknown, below
    first = restart(ocp, selector, since=BEGINNING)
    assert (first["action"], first["verified"], first["task"]["status"]) == ("submitted", True, "SUCCESSFUL")
    assert ocp.starts == dict.fromkeys(restarts, 1)
    again = restart(ocp, selector, since=BEGINNING)
    assert (again["action"], again["verified"], again["changed"]) == ("skipped", True, False)
    assert len(ocp.posts) == 1


@every_target
@pytest.mark.parametrize("auth", AUTHS)
def test_check_mode_sends_no_post(selector, restarts, auth, ocp):
    result = restart(ocp, selector, auth=auth, check_mode=True, since=BEGINNING)
    assert (result["action"], result["changed"], ocp.posts) == ("submitted", True, [])
    assert restarts


@every_unknown
@pytest.mark.parametrize(("read", "found"), [(read_clusters, 1), (read_servers, 3)], ids=["clusters", "servers"])
def test_cluster_is_read_by_its_id(read, found, unknown, ocp):
    ocp.unknown = unknown
    api = OcpApi(HttpClient(ADDRESS, AUTHS["password"], verify=True, timeout=5.0))
    assert len(read(api, {"cluster": [str(CLUSTER)]})) == found


@every_target
def test_running_restart_is_joined(selector, restarts, ocp):
    restart(ocp, selector, check_mode=True)
    api = OcpApi(HttpClient(ADDRESS, AUTHS["password"], verify=True, timeout=5.0))
    request = RestartRequest(check_mode=False, wait=False, policy=PollPolicy(7200, 10), started_before=BEGINNING)
    restart_target(api, selector, request, ocp.time.clock)
    second = restart(ocp, selector, since=BEGINNING)
    assert second["action"] in ("attached", "skipped")
    assert ocp.starts == dict.fromkeys(restarts, 1)


NEVER = "1970-01-01T08:00:00+08:00"


@pytest.mark.parametrize("name", ["server", "zone", "cluster"])
def test_start_of_1970_is_no_start(name, ocp):
    """It proves neither that it has restarted nor that it has not."""
    selector, restarts = TARGETS[name]

    def without_starts(template, data):
        if template.endswith("/servers"):
            return {"contents": [{**server, "startTime": NEVER} for server in data["contents"]]}
        return data

    ocp.change = without_starts
    first = restart(ocp, selector, since=BEGINNING)
    assert (first["action"], first["verified"]) == ("submitted", None)
    assert [member["start_time"] for member in first["after"]["members"]] == [None] * len(restarts)
    assert "the service shows no start time or process of it" in first["reason"]


@every_target
@pytest.mark.parametrize("extreme", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"])
def test_time_at_an_end_of_the_calendar_is_none(selector, restarts, extreme, ocp, monkeypatch):
    """Of the clock, of tasks and of what restarts: arithmetic with it would overflow."""
    monkeypatch.setattr(DocumentedOcp, "_instant", lambda *_args: extreme)
    result = restart(ocp, selector, since=BEGINNING)
    assert (result["action"], result["task"]["status"]) == ("submitted", "SUCCESSFUL")
    assert ocp.starts == dict.fromkeys(restarts, 1)


def with_texts(_template, data):
    """What is a number, as a text."""
    if isinstance(data, dict):
        return {key: with_texts(_template, value) for key, value in data.items()}
    if isinstance(data, list):
        return [with_texts(_template, value) for value in data]
    return str(data) if isinstance(data, int) and not isinstance(data, bool) else data


@every_target
def test_numbers_may_be_texts(selector, restarts, ocp):
    ocp.change = with_texts
    first = restart(ocp, selector, since=BEGINNING)
    assert (first["action"], first["verified"], first["task"]["status"]) == ("submitted", True, "SUCCESSFUL")
    again = restart(ocp, selector, since=BEGINNING)
    assert (again["action"], ocp.starts, len(ocp.posts)) == ("skipped", dict.fromkeys(restarts, 1), 1)
