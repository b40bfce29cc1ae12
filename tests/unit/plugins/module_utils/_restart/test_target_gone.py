# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A target that the service shows no more right before the request: nothing is sent, and the message says so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotVerified
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER, at
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES, failure, request, restart

CHANGE = at(-60)


def _forget_the_server(service):
    del service.servers_there[0]


def _forget_an_agent(service):
    service.hosts = lambda: [{"id": 51, "innerIpAddress": "10.1.0.1"}]


def _forget_an_obproxy(service):
    del service.obproxies_there[0]


GONE = {
    "server": _forget_the_server,
    "zone": _forget_the_server,
    "agents": _forget_an_agent,
    "obproxies": _forget_an_obproxy,
}


@pytest.mark.parametrize("kind", GONE)
@pytest.mark.parametrize("since", [None, CHANGE], ids=["without a change", "for a change"])
def test_target_that_is_gone_gets_no_request(kind, since, service):
    GONE[kind](service)
    error = failure(service, RESTART_CASES[kind], request(started_before=since))
    assert isinstance(error, NotVerified)
    assert service.posts == []
    assert "the service no longer shows it, or a part of it" in str(error)
    assert (error.facts["changed"], error.facts["verified"]) == (False, None)


def test_zone_that_has_lost_a_server_has_not_restarted(service):
    """The server that is left has started since the change."""
    zone = RESTART_CASES["zone"]
    both = replace(zone.target, servers=((41, "10.1.0.1:2882"), (42, "10.1.0.2:2882")))
    service.servers_there[1].zone = "zone1"
    service.servers_there[0].started = service.now
    del service.servers_there[1]
    service.time.time += 400
    error = failure(service, replace(zone, target=both), request(started_before=at(-300)))
    assert "the service no longer shows it, or a part of it" in str(error)
    assert service.posts == []


def test_cluster_that_has_lost_a_server_gets_no_request(service):
    zones = [{"name": server["zoneName"], "servers": [server]} for server in service.servers(31)]
    whole = Cluster.from_api({**service.cluster(31), "zones": zones, "serverCount": len(zones)})
    _forget_the_server(service)
    error = failure(service, replace(RESTART_CASES["cluster"], target=whole), request())
    assert service.posts == []
    assert "the service no longer shows it, or a part of it" in str(error)


@pytest.mark.parametrize("when", ["before", "after"])
def test_cluster_whose_record_has_no_servers_has_those_that_it_was_found_with(when, service):
    """As older versions of OCP show it."""
    found = replace(RESTART_CASES["cluster"], target=Cluster.find(service, "31"))
    if when == "before":
        _forget_the_server(service)
    else:
        service.after_restart = lambda: len(service.servers_there) == 3 and _forget_the_server(service)
    error = failure(service, found, request(wait=True))
    assert "the service no longer shows it, or a part of it" in str(error)
    assert len(service.posts) == (when == "after")


def test_server_that_shows_no_start_and_disappears_during_the_run_gets_no_request(service):
    for thing in service.servers_there:
        thing.started = None
    service.after_list = lambda: service.servers_there and _forget_the_server(service)
    error = failure(service, RESTART_CASES["server"], request())
    assert service.posts == []
    assert "the service no longer shows it" in str(error)


def test_answer_of_a_replica_that_does_not_know_the_server_yet_is_waited_out(service):
    first = service.servers_there.pop(0)
    began = service.now

    def remember():
        if service.now > began + 20 and first not in service.servers_there:
            service.servers_there.insert(0, first)

    service.after_list = remember
    assert restart(service, RESTART_CASES["server"], request())["action"] == "submitted"
    assert len(service.posts) == 1


@pytest.mark.parametrize("kind", GONE)
def test_target_that_is_gone_after_its_restart_is_not_proven(kind, service):
    service.after_restart = lambda: service.servers_there and GONE[kind](service)
    error = failure(service, RESTART_CASES[kind], request(wait=True))
    assert isinstance(error, NotVerified)
    assert "the service no longer shows it, or a part of it" in str(error)
    assert (error.facts["changed"], error.facts["verified"], len(service.posts)) == (True, False, 1)


def test_target_that_is_not_shown_for_a_while_after_its_restart_is_waited_for(service):
    gone = []
    service.after_restart = lambda: gone or gone.append((service.now, service.servers_there.pop(0)))

    def remember():
        if gone and service.now > gone[0][0] + 30 and gone[0][1] not in service.servers_there:
            service.servers_there.insert(0, gone[0][1])

    service.time.after_sleep = remember
    assert restart(service, RESTART_CASES["server"], request(wait=True))["verified"] is True


def test_name_is_not_used_on_what_is_gone(service):
    """What restarts it before it shows again is no restart since the name."""
    first = service.servers_there.pop(0)
    named = replace(request(), change="memory")
    failure(service, RESTART_CASES["server"], named)
    service.begin(SERVER, [first])
    service.passes(400)
    service.servers_there.insert(0, first)
    assert restart(service, RESTART_CASES["server"], named)["action"] == "submitted"


def test_agent_of_a_host_that_is_offline_is_not_proven(service):
    """Its record may stay as it was, or have no processes."""
    service.after_restart = lambda: setattr(service.agents_there[0], "host_status", "OFFLINE")
    error = failure(service, RESTART_CASES["agents"], request(wait=True))
    assert isinstance(error, NotVerified)
    assert "10.1.0.1 is OFFLINE" in str(error)
    assert (error.facts["verified"], len(service.posts)) == (False, 1)
