# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The control calls that tell who did not serve when, and when tenants had lost their voters."""

import pytest
from ocp_emulator.fleet.fleet_file import FleetFile
from ocp_emulator.fleet.resolve_fleet import resolve

DEGRADED = {"cluster": "pair", "tenant": "app", "logStreams": [1001]}


def outages(emulated, **chosen):
    return [
        (each["tenantName"], each["needed"], each["remaining"], [one["name"] for one in each["down"]], bool(each["to"]))
        for each in emulated.get("/emulator/outages", params=chosen)["contents"]
    ]


def put(emulated, path, body):
    emulated.request("PUT", f"/emulator/{path}", json=body).raise_for_status()


@pytest.fixture
def pair(start):
    """Two full replicas and an arbiter."""
    zones = [{"name": f"zone{number}", "servers": [{"ip": f"10.0.0.{number}"}]} for number in (1, 2)]
    cluster = {"name": "pair", "zones": zones, "arbitration_service": "10.0.0.9"}
    return start(
        fleet=resolve(FleetFile.model_validate({"clusters": [cluster], "arbitration_services": [{"ip": "10.0.0.9"}]}))
    )


def test_restarts_of_one_zone_take_no_voters(emulated):
    emulated.restart_server(1)
    emulated.restart_server(2)
    emulated.pass_time(20)
    assert outages(emulated) == []
    absences = emulated.get("/emulator/absences")["contents"]
    assert [(each["name"], each["zoneName"], each["cause"]) for each in absences] == [
        ("10.0.0.1:2882", "zone1", "task"),
        ("10.0.0.2:2882", "zone1", "task"),
    ]
    assert {each["from"] for each in absences} == {"2026-11-21T12:00:04+08:00"}
    assert {each["to"] for each in absences} == {"2026-11-21T12:00:06+08:00"}


def test_restarts_of_two_zones_show_tasks_and_users(emulated):
    first, second = emulated.restart_server(1)["id"], emulated.restart_server(4)["id"]
    emulated.pass_time(4)
    # sys has no unit on server 4.
    assert outages(emulated) == [("app", 2, 1, ["10.0.0.1:2882", "10.0.0.4:2882"], False)]
    [outage] = emulated.get("/emulator/outages")["contents"]
    assert [(each["taskId"], each["taskName"], each["user"]) for each in outage["down"]] == [
        (first, "Restart OB server", "admin"),
        (second, "Restart OB server", "admin"),
    ]
    assert (outage["clusterName"], outage["voters"], outage["to"]) == ("orders", 3, None)
    emulated.pass_time(2)
    assert emulated.get("/emulator/outages")["contents"][0]["to"] == "2026-11-21T12:00:06+08:00"


@pytest.mark.parametrize(
    ("method", "paths", "lost"),
    [
        ("POST", ["zones/zone1/restart"], []),
        ("POST", ["zones/zone1/restart", "zones/zone2/restart"], ["sys", "app"]),
        ("POST", ["zones/zone1/stop", "servers/3/stop"], ["app", "sys"]),
        ("POST", ["servers/1/stop", "servers/4/stop"], ["app"]),
        ("POST", ["restart"], ["sys", "app"]),
        ("POST", ["stop"], ["sys", "app"]),
    ],
)
def test_outages_are_counted_for_every_operation(emulated, method, paths, lost):
    for path in paths:
        emulated.data(method, f"/api/v2/ob/clusters/1/{path}")
    emulated.pass_time(60)
    assert [each[0] for each in outages(emulated)] == lost


def test_a_stop_of_the_service_alone_counts_as_an_absence(emulated):
    emulated.data("POST", "/api/v2/ob/clusters/2/servers/7/stop", json={"type": "STOP_SERVICE"})
    emulated.pass_time(60)
    [absence] = emulated.get("/emulator/absences", params={"cluster": "payments"})["contents"]
    assert (absence["taskName"], absence["to"]) == ("Stop OB server", None)
    emulated.data("POST", "/api/v2/ob/clusters/2/servers/7/start")
    emulated.pass_time(60)
    assert emulated.get("/emulator/absences")["contents"][0]["to"] is not None


def test_people_and_incidents_count_too_and_have_no_task(emulated):
    put(emulated, "servers/7/process", {"running": False})
    emulated.pass_time(5)
    put(emulated, "servers/8", {"available": False})
    assert outages(emulated) == [(name, 2, 1, ["10.0.0.7:2882", "10.0.0.8:2882"], False) for name in ("sys", "app")]
    down = emulated.get("/emulator/outages")["contents"][0]["down"]
    assert {(each["cause"], each["taskId"], each["taskName"], each["user"]) for each in down} == {
        ("incident", None, None, None)
    }
    emulated.pass_time(5)
    put(emulated, "servers/7/process", {"running": True})
    assert [each[-1] for each in outages(emulated)] == [True, True]
    assert emulated.get("/emulator/outages")["contents"][0]["from"] == "2026-11-21T12:00:05+08:00"
    server = emulated.server(7)
    assert (server["status"], server["startTime"]) == ("RUNNING", "2026-11-21T12:00:10+08:00")
    assert emulated.restarts() == {}


def test_a_process_that_ended_leaves_its_server_stopped_until_a_restart(emulated):
    put(emulated, "servers/7/process", {"running": False})
    stopped = emulated.server(7)
    assert (stopped["status"], stopped["innerStatus"], stopped["stopTime"]) == (
        "STOPPED",
        "INACTIVE",
        "2026-11-21T12:00:00+08:00",
    )
    put(emulated, "servers/7/process", {"running": False})
    emulated.restart_server(7)
    emulated.error(409, "PUT", "/emulator/servers/7/process", json={"running": True})
    emulated.pass_time(20)
    assert emulated.server(7)["status"] == "RUNNING"
    [absence] = emulated.get("/emulator/absences")["contents"]
    assert (absence["cause"], absence["from"]) == ("incident", "2026-11-21T12:00:00+08:00")


def test_an_arbiter_lets_half_of_the_voters_be_enough(pair):
    pair.restart_server(1)
    pair.pass_time(20)
    assert outages(pair) == []
    pair.restart_arbitration()
    pair.pass_time(20)
    assert outages(pair) == []
    pair.restart_arbitration()
    pair.restart_server(2)
    pair.pass_time(3)
    assert outages(pair) == []
    pair.pass_time(17)
    assert outages(pair) == []


def test_a_restart_while_the_arbiter_is_away_is_an_outage(pair):
    pair.plan("slow", "Start arbitration service", seconds=10)
    pair.restart_arbitration()
    pair.restart_server(1)
    pair.pass_time(30)
    assert outages(pair) == [(name, 2, 1, ["10.0.0.1:2882", "10.0.0.9:2888"], True) for name in ("sys", "app")]


def test_an_arbiter_that_somebody_stopped_stands_in_for_nobody(pair):
    put(pair, "arbitration-services/1/process", {"running": False})
    assert pair.get("/api/v2/arbitration/services/1")["status"] == "STOPPED"
    put(pair, "arbitration-services/1/process", {"running": False})
    pair.restart_server(1)
    pair.pass_time(20)
    assert outages(pair) == [(name, 2, 1, ["10.0.0.1:2882", "10.0.0.9:2888"], True) for name in ("sys", "app")]
    put(pair, "arbitration-services/1/process", {"running": True})
    assert pair.get("/api/v2/arbitration/services/1")["status"] == "RUNNING"
    pair.restart_server(2)
    pair.pass_time(20)
    assert len(outages(pair)) == 2
    assert pair.restarts().keys() == {("OB_SERVER", 1), ("OB_SERVER", 2)}
    pair.restart_arbitration()
    pair.error(409, "PUT", "/emulator/arbitration-services/1/process", json={"running": False})


def test_a_restart_while_log_streams_are_degraded_is_an_outage(pair):
    put(pair, "arbitration-services/1", {"degraded": [DEGRADED]})
    pair.restart_server(1)
    pair.pass_time(30)
    assert outages(pair) == [("app", 2, 1, ["10.0.0.1:2882", "app"], True)]
    put(pair, "arbitration-services/1", {"degraded": []})
    pair.restart_server(2)
    pair.pass_time(30)
    assert len(outages(pair)) == 1
    [degraded] = [each for each in pair.get("/emulator/absences")["contents"] if each["objectType"] == "TENANT"]
    assert (degraded["from"], degraded["to"]) == ("2026-11-21T12:00:00+08:00", "2026-11-21T12:00:30+08:00")


def test_outages_are_chosen_by_cluster_and_tenant(emulated):
    emulated.restart_cluster(1)
    emulated.restart_cluster(2)
    emulated.pass_time(60)
    assert len(outages(emulated)) == 4
    assert [each[0] for each in outages(emulated, cluster="payments")] == ["sys", "app"]
    assert [each[0] for each in outages(emulated, cluster="payments", tenant="app")] == ["app"]
    assert outages(emulated, cluster="nowhere") == []
    assert len(emulated.get("/emulator/absences", params={"cluster": "payments"})["contents"]) == 3


def test_the_ledger_survives_a_restart_of_the_emulator(start, tmp_path):
    emulated = start(database=tmp_path / "state.db")
    emulated.restart_cluster(2)
    emulated.pass_time(60)
    before = emulated.get("/emulator/outages")
    assert len(before["contents"]) == 2
    emulated.app.state.service.close()
    assert start(database=tmp_path / "state.db").get("/emulator/outages") == before


def test_a_rolled_back_restart_was_an_absence_too(emulated):
    emulated.plan("fail", "Start observer process")
    task_id = emulated.restart_server(1)["id"]
    emulated.pass_time(20)
    assert [each["to"] for each in emulated.get("/emulator/absences")["contents"]] == [None]
    emulated.steer(task_id, "rollback")
    emulated.pass_time(20)
    [absence] = emulated.get("/emulator/absences")["contents"]
    assert absence["taskId"] == task_id
    assert absence["to"] is not None


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/emulator/servers/99/process", {"running": True}, 404),
        ("/emulator/servers/1/process", {"running": "no"}, 400),
        ("/emulator/servers/1/process", {}, 400),
    ],
)
def test_invalid_process_change_is_refused(emulated, path, body, status):
    emulated.error(status, "PUT", path, json=body)
    assert emulated.get("/emulator/absences")["contents"] == []
