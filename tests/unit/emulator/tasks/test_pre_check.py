# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The pre-check of restarts and stops: what it refuses, and what it lets through."""

import pytest
from ocp_emulator.base.compatibility import Switches
from ocp_emulator.fleet.fleet_file import FleetFile
from ocp_emulator.fleet.generate_fleet import generated_fleet
from ocp_emulator.fleet.resolve_fleet import resolve

ON = Switches(pre_check="refuse", wrong_state="accept")
FREEZE = {"freezeServer": False}


@pytest.fixture
def checked(start):
    return start(switches=ON)


def restart(emulated, server, status=200, **body):
    answer = emulated.request("POST", f"/api/v2/ob/clusters/1/servers/{server}/restart", json={**FREEZE, **body})
    assert answer.status_code == status, answer.text
    return answer.json()


def test_restart_that_takes_the_majority_is_refused_and_starts_no_task(checked):
    restart(checked, 1)
    error = restart(checked, 4, 400)["error"]
    assert error["code"] == 11070
    assert error["message"] == (
        "Server 4 (10.0.0.4:2882) of cluster orders cannot be stopped: tenant app would have 1 of its 3 voting replicas"
        " left, and needs 2."
    )
    assert checked.get("/api/v2/tasks/instances")["page"]["totalElements"] == 1
    restart(checked, 2)
    checked.pass_time(20)
    restart(checked, 4)


def test_force_goes_without_the_check(checked):
    restart(checked, 1)
    restart(checked, 4, force=True)


def test_check_is_off_by_default(emulated):
    restart(emulated, 1)
    restart(emulated, 4)


def test_server_that_is_down_counts_as_gone(checked):
    checked.request("PUT", "/emulator/servers/3/process", json={"running": False})
    restart(checked, 1, 400)
    restart(checked, 4)


def test_dead_server_without_a_majority_needs_force(checked):
    for server in (3, 5):
        checked.request("PUT", f"/emulator/servers/{server}", json={"available": False})
    restart(checked, 3, 400)
    restart(checked, 3, force=True)


def test_failed_restart_that_left_its_server_serving_takes_nothing(checked):
    checked.plan("fail", "Prepare restart observer")
    restart(checked, 1)
    checked.pass_time(2)
    restart(checked, 4)


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ("zones/zone1/restart", "zones/zone2/restart", 400),
        ("zones/zone1/stop", "zones/zone2/stop", 400),
        ("zones/zone1/stop", "servers/3/stop", 400),
        ("zones/zone1/restart", "servers/3/stop", 400),
        ("zones/zone1/stop", "zones/zone1/start", 409),
        ("servers/1/stop", "servers/2/stop", 200),
        ("servers/1/stop", "servers/3/start", 200),
    ],
)
def test_stops_and_restarts_of_zones_and_servers_are_checked(checked, first, second, status):
    checked.data("POST", f"/api/v2/ob/clusters/1/{first}")
    assert checked.request("POST", f"/api/v2/ob/clusters/1/{second}").status_code == status


def test_operations_on_whole_clusters_agents_and_arbiters_are_not_checked(checked):
    checked.restart_cluster(1)
    checked.restart_agents(1, 3)
    checked.restart_arbitration()


def test_a_single_replica_cannot_be_restarted_without_force(start):
    emulated = start(switches=ON, fleet=generated_fleet(1, 1, 2))
    assert "tenant sys would have 0 of its 1" in restart(emulated, 1, 400)["error"]["message"]
    restart(emulated, 1, force=True)


def test_two_replicas_and_an_arbiter_can_be_restarted_one_after_the_other(start):
    zones = [{"name": f"zone{number}", "servers": [{"ip": f"10.0.0.{number}"}]} for number in (1, 2)]
    entry = {"name": "pair", "zones": zones, "arbitration_service": "10.0.0.9"}
    file = FleetFile.model_validate({"clusters": [entry], "arbitration_services": [{"ip": "10.0.0.9"}]})
    emulated = start(switches=ON, fleet=resolve(file))
    restart(emulated, 1)
    restart(emulated, 2, 400)
    emulated.pass_time(20)
    degraded = {"cluster": "pair", "tenant": "app", "logStreams": [1001]}
    emulated.request("PUT", "/emulator/arbitration-services/1", json={"degraded": [degraded]})
    assert "tenant app would have 1 of its 2" in restart(emulated, 2, 400)["error"]["message"]
    emulated.request("PUT", "/emulator/arbitration-services/1", json={"degraded": []})
    emulated.restart_arbitration()
    emulated.pass_time(2.5)
    restart(emulated, 2, 400)
    emulated.pass_time(10)
    restart(emulated, 2)
    emulated.pass_time(20)
    assert emulated.get("/emulator/outages")["contents"] == []
