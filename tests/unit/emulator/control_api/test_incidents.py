# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The control calls for incidents: servers that do not answer or move, degraded log streams."""

import pytest

SERVERS = "/api/v2/ob/clusters/{}/servers"
SERVICE = "/api/v2/arbitration/services/1"
DEGRADED = {"cluster": "orders", "tenant": "shop", "logStreams": [1001, 1002]}


def put(emulated, path, body):
    assert emulated.request("PUT", f"/emulator/{path}", json=body).status_code == 200


def let(emulated, server_id, available):
    put(emulated, f"servers/{server_id}", {"available": available})


def server(emulated, cluster_id, server_id):
    servers = emulated.data("GET", SERVERS.format(cluster_id))["contents"]
    return next(found for found in servers if found["id"] == server_id)


def statuses(emulated, cluster_id):
    cluster = emulated.cluster(cluster_id)
    return cluster["status"], [zone["status"] for zone in cluster["zones"]]


def test_server_is_unavailable_until_it_recovers(emulated):
    started = server(emulated, 1, 3)["startTime"]
    let(emulated, 3, False)
    found = server(emulated, 1, 3)
    assert (found["status"], found["innerStatus"], found["startTime"]) == ("UNAVAILABLE", "INACTIVE", started)
    assert statuses(emulated, 1) == ("RUNNING", ["RUNNING"] * 3)
    let(emulated, 3, True)
    assert (server(emulated, 1, 3)["status"], server(emulated, 1, 3)["innerStatus"]) == ("RUNNING", "ACTIVE")


def test_zone_is_unavailable_when_its_only_server_is(emulated):
    let(emulated, 7, False)
    assert statuses(emulated, 2) == ("RUNNING", ["UNAVAILABLE", "RUNNING", "RUNNING"])
    let(emulated, 7, True)
    assert statuses(emulated, 2) == ("RUNNING", ["RUNNING"] * 3)


def test_restart_recovers_an_unavailable_server(emulated):
    let(emulated, 3, False)
    emulated.data("POST", SERVERS.format(1) + "/3/restart", json={"freezeServer": False})
    emulated.pass_time(100)
    assert server(emulated, 1, 3)["status"] == "RUNNING"


def test_server_moves_to_another_zone(emulated):
    put(emulated, "servers/3", {"available": True, "zone": "zone3"})
    assert server(emulated, 1, 3)["zoneName"] == "zone3"
    zones = {zone["name"]: zone["serverCount"] for zone in emulated.cluster(1)["zones"]}
    assert zones == {"zone1": 2, "zone2": 1, "zone3": 3}


def test_incident_on_a_server_held_by_a_task_is_refused(emulated):
    emulated.data("POST", SERVERS.format(1) + "/3/restart", json={"freezeServer": False})
    error = emulated.error(409, "PUT", "/emulator/servers/3", json={"available": False})
    assert error["message"].startswith("Server 3 is occupied by task ")


def test_degraded_log_streams_are_shown_until_they_recover(emulated):
    assert emulated.data("GET", SERVICE)["clusters"] == []
    put(emulated, "arbitration-services/1", {"degraded": [DEGRADED]})
    expected = [
        {
            "id": 1,
            "name": "orders",
            "obClusterId": 101,
            "tenants": [{"id": 1002, "name": "shop", "degradedLsIdList": [1001, 1002]}],
        }
    ]
    assert emulated.data("GET", SERVICE)["clusters"] == expected
    assert emulated.data("GET", "/api/v2/arbitration/services")["contents"][0]["clusters"] == expected
    put(emulated, "arbitration-services/1", {"degraded": []})
    assert emulated.data("GET", SERVICE)["clusters"] == []


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/emulator/servers/99", {"available": True}, 404),
        ("/emulator/servers/1", {"available": "no"}, 400),
        ("/emulator/servers/1", {}, 400),
        ("/emulator/servers/1", {"available": True, "zone": "zone9"}, 404),
        ("/emulator/arbitration-services/9", {"degraded": []}, 404),
        ("/emulator/arbitration-services/1", {"degraded": [{**DEGRADED, "cluster": "nowhere"}]}, 404),
        ("/emulator/arbitration-services/1", {"degraded": [{**DEGRADED, "logStreams": []}]}, 400),
    ],
)
def test_invalid_incident_is_refused_and_changes_nothing(emulated, path, body, status):
    put(emulated, "arbitration-services/1", {"degraded": [DEGRADED]})
    before = emulated.data("GET", SERVICE)
    emulated.error(status, "PUT", path, json=body)
    assert emulated.data("GET", SERVICE) == before
