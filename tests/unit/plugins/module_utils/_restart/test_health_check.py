# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A restart that demands a healthy cluster: what it refuses, waits for and leaves apart, and what is read for that."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotHealthy, RequestRefused
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER as SERVER_TASK
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import Thing, lost, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES

SERVER, ZONE = RESTART_CASES["server"], RESTART_CASES["zone"]
parts = pytest.mark.parametrize("case", [SERVER, ZONE], ids=["server", "zone"])


def restart(service, case=SERVER, *, seconds=0, check_mode=False, healthy=True, majority=True, zone=None):
    shown = []
    policy = PollPolicy(60, 10, lambda line, _failed: shown.append(line))
    safety = Safety(majority=majority, healthy=healthy, zone=zone)
    request = RestartRequest(check_mode, False, policy, safety=safety, safety_timeout=seconds)
    return {**restart_target(service, case, request, service.time.clock), "shown": shown}


def refusal(service, case=SERVER, **options):
    sent = len(service.posts)
    with pytest.raises(NotHealthy) as raised:
        restart(service, case, **options)
    assert len(service.posts) == sent
    facts = raised.value.facts
    assert (facts["changed"], facts["action"], facts["task_id"], facts["safety"]["allowed"]) == (
        False,
        None,
        None,
        False,
    )
    return raised.value


@parts
def test_healthy_cluster_is_restarted_without_a_request_more(case, service):
    restart(service, case, healthy=False)
    before = list(service.calls)
    service.passes(100)
    service.calls.clear()
    result = restart(service, case)
    assert (result["action"], result["safety"]["problems"], result["safety"]["allowed"]) == ("submitted", [], True)
    assert service.calls == before


@parts
def test_ill_server_of_another_zone_is_named(case, service):
    service.servers_there[1].status = "UNAVAILABLE"
    error = refusal(service, case)
    words = "server 10.1.0.2:2882 of zone2 is UNAVAILABLE"
    assert str(error) == (
        f"Did not restart {case.target.label}: cluster orders (id 31) is not healthy: {words}. "
        "Check the cluster first, or wait until it is with safety_timeout=600 this time."
    )
    assert error.facts["safety"]["problems"] == [words]
    assert str(refusal(service, case, check_mode=True, seconds=60)) == str(error)


@parts
def test_stopped_server_of_another_zone_is_to_be_started_and_no_longer_wait_is_proposed(case, service):
    service.servers_there[1].status = "STOPPED"
    error = str(refusal(service, case))
    assert "safety_timeout" not in error
    assert "  Start 10.1.0.2:2882 by a restart: ansible localhost -m " in error
    assert error.endswith("\nThen run the same command again.")


def test_server_that_does_not_serve_is_restarted_only_without_the_demand(service):
    service.servers_there[0].status = "UNAVAILABLE"
    assert "server 10.1.0.1:2882 of zone1 is UNAVAILABLE" in str(refusal(service))
    assert restart(service, healthy=False)["action"] == "submitted"


def test_waits_until_the_cluster_is_healthy(service):
    service.begin("Back up", service.servers_there[1:2], seconds=50)
    result = restart(service, seconds=120)
    assert (result["action"], len(service.posts)) == ("submitted", 1)
    assert [line.strip() for line in result["shown"]] == [
        f"{SERVER.target.label}: not safe yet, waiting until 03:02:00+08:00 at the latest",
        "orders: task 1001 (Back up) is RUNNING on server 10.1.0.2:2882",
    ]


def test_wait_for_health_ends(service):
    service.servers_there[1].status = "STOPPED"
    error = refusal(service, seconds=200)
    assert "is not healthy after 200 seconds: server 10.1.0.2:2882 of zone2 is STOPPED." in str(error)
    options = "cluster=31 server=10.1.0.2:2882 freeze_server=false wait=true detail=compact"
    assert str(error).splitlines()[1:] == [
        f"  Start 10.1.0.2:2882 by a restart: ansible localhost -m oceanbase.ocp.server_restart -a '{options}'",
        "Then run the same command again.",
    ]


def test_failed_task_that_holds_a_server_is_not_waited_for(service):
    service.begin(SERVER_TASK, service.servers_there[1:2], end="FAILED", seconds=1)
    service.passes(10)
    began = service.time.time
    error = str(refusal(service, seconds=600))
    assert service.time.time == began
    assert "and waiting does not help: task 1001 (Restart OB server) FAILED at subtask 2 of 2" in error
    assert "task_id=1001 state=rolled_back" in error


def test_what_this_controller_restarts_in_the_same_zone_is_apart(service):
    service.servers_there.append(Thing(44, 54, "zone1"))
    assert restart(service)["action"] == "submitted"
    service.servers_there[0].status = "RESTARTING"
    second = service.servers_there[3]
    case = _case(second)
    assert restart(service, case)["action"] == "submitted"
    service.servers_there[3].status = "UNAVAILABLE"
    service.passes(100)
    assert "is UNAVAILABLE" in str(refusal(service, case))


def test_what_this_controller_restarts_in_another_zone_is_not(service):
    assert restart(service)["action"] == "submitted"
    error = refusal(service, _case(service.servers_there[1]), majority=False)
    assert "task 1001 (Restart OB server) is RUNNING on server 10.1.0.1:2882" in str(error)


def test_what_others_restart_in_the_same_zone_is_not(service):
    service.servers_there.append(Thing(44, 54, "zone1"))
    service.begin(SERVER_TASK, service.servers_there[3:])
    assert "task 1001 (Restart OB server) is RUNNING on server 10.1.0.4:2882" in str(refusal(service))


@pytest.mark.parametrize("healthy", [True, False])
def test_server_in_another_zone_is_not_restarted(service, healthy):
    service.servers_there[0].zone = "zone3"
    error = refusal(service, zone="zone1", healthy=healthy, majority=healthy, seconds=600)
    assert "server 10.1.0.1:2882 is in zone3 and no longer in zone1; run the plan again" in str(error)
    assert restart(service, zone="zone3", majority=False)["action"] == "submitted"


def test_stale_name_of_a_task_is_read_and_all_is_seen_again(service):
    """What is read after a look may be newer than it."""
    service.servers_there[1].operated_by = 77
    reads = []

    def read(number):
        reads.append(number)
        service.servers_there[2].status = "UNAVAILABLE"
        raise refused(404)

    service.task = read
    assert "server 10.1.0.3:2882 of zone3 is UNAVAILABLE" in str(refusal(service, majority=False))
    assert reads == [77]


def test_tasks_that_cannot_be_read_are_no_licence(service):
    service.failing["tasks"] = [refused(403)]
    assert "its tasks cannot be read with these credentials" in str(refusal(service, seconds=600))


def test_without_majority_tenants_are_not_read(service):
    result = restart(service, majority=False)
    assert "tenants" not in service.calls
    assert result["safety"] == {"evidence": None, "tenants": [], "outages": [], "problems": [], "allowed": True}


@pytest.mark.parametrize("call", ["cluster", "servers", "tasks", "tenants"])
def test_service_that_is_away_for_a_while_does_not_end_the_wait(service, call):
    service.failing[call] = [refused(502), refused(502)]
    assert restart(service, seconds=60)["action"] == "submitted"
    service.passes(100)
    service.failing[call] = [refused(502)]
    with pytest.raises(RequestRefused):
        restart(service, healthy=False, seconds=60)
    service.failing[call] = [refused(502)] * 200
    with pytest.raises(RequestRefused):
        restart(service, seconds=60)
    assert len(service.posts) == 1


def test_target_is_looked_for_while_the_service_is_away(service):
    finds = iter([lost(), refused(503)])

    class Finding:
        def find(self, _api):
            for error in finds:
                raise error
            return SERVER.target

    result = restart(service, Finding(), seconds=60)
    assert result["action"] == "submitted"
    assert result["shown"] == ["  the service cannot be read: Lost", "  the service cannot be read: Refused with 503"]


@pytest.mark.parametrize("status", [401, 404])
def test_refusal_that_lasts_ends_the_wait(service, status):
    service.failing["cluster"] = [refused(status)]
    began = service.time.time
    with pytest.raises(RequestRefused):
        restart(service, seconds=60)
    assert service.time.time == began


def _case(thing):
    """The restart of another server."""
    target = replace(SERVER.target, id=thing.id, address=f"10.1.0.{thing.id - 40}:2882", zone=thing.zone)
    return replace(SERVER, target=target)
