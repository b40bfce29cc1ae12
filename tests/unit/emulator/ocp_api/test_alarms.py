# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Alarms: what a restart raises, what is planted, the filters of the list."""

import pytest
from ocp_emulator.base.compatibility import PROFILES

ALARMS = "/api/v2/alarm/alarms"
# Names and types as the documented response has them; `resolvedAt` is there once an alarm is cleared.
FORM = {
    "activeAt": str,
    "alarmTarget": dict,
    "alarmTemplateId": int,
    "alarmType": str,
    "appType": str,
    "description": str,
    "gmtCreate": str,
    "gmtModified": str,
    "id": int,
    "labels": dict,
    "level": int,
    "messagePush": dict,
    "name": str,
    "scope": str,
    "status": str,
    "statusUpdatedAt": str,
    "summary": str,
    "target": str,
    "updatedAt": str,
}
DOCUMENTED_LABELS = {
    *("alarm_name", "app_type", "svr_ip", "alarm_level", "alarm_type", "alarm_summary", "alarm_status"),
    *("alarm_scope", "alarm_active_at", "alarm_target", "app", "host_ip", "alarm_description", "alarm_updated_at"),
    "alarm_evaluation_interval",
    "alarm_template_id",
}


def alarms(emulated, **filters):
    return emulated.get(ALARMS, params=filters)["contents"]


def active(emulated, **filters):
    return [(each["alarmType"], each["target"]) for each in alarms(emulated, status="Active", **filters)]


def plant(emulated, **alarm):
    return emulated.data("POST", "/emulator/alarms", json=alarm)["id"]


@pytest.mark.parametrize("profile", PROFILES)
def test_alarms_have_the_documented_fields(start, profile):
    emulated = start(switches=PROFILES[profile])
    number = plant(emulated, alarmType="host_ntp_offset_too_large", server=3)
    [found] = alarms(emulated)
    assert {name: type(value) for name, value in found.items()} == FORM
    assert found["labels"].keys() >= DOCUMENTED_LABELS
    assert {type(value) for value in found["labels"].values()} == {str}
    assert (found["activeAt"], found["status"]) == ("2026-11-21T04:00:00Z", "Active")
    emulated.pass_time(5)
    emulated.request("DELETE", f"/emulator/alarms/{number}").raise_for_status()
    [found] = alarms(emulated)
    assert {name: type(value) for name, value in found.items()} == {**FORM, "resolvedAt": str}
    assert (found["resolvedAt"], found["updatedAt"], found["status"]) == ("2026-11-21T04:00:05Z",) * 2 + ("Inactive",)


def test_a_restart_raises_an_alarm_that_is_cleared_by_itself(emulated):
    emulated.restart_server(1)
    # The process stops at 4 and starts at 5 seconds.
    emulated.pass_time(33)
    assert alarms(emulated) == []
    emulated.pass_time(1)
    assert active(emulated) == [("observer_process_stop", "ob_cluster=orders-101:svr_ip=10.0.0.1")]
    [found] = alarms(emulated)
    assert (found["level"], found["scope"], found["activeAt"]) == (1, "Host", "2026-11-21T04:00:34Z")
    emulated.pass_time(150)
    assert len(active(emulated)) == 1
    emulated.pass_time(1)
    assert active(emulated) == []
    assert alarms(emulated)[0]["resolvedAt"] == "2026-11-21T04:03:05Z"


def test_alarm_of_a_server_that_stops_again_goes_on(emulated):
    for _time in range(2):
        emulated.restart_server(1)
        emulated.pass_time(60)
    assert len(alarms(emulated)) == 1
    emulated.pass_time(124)
    assert len(active(emulated)) == 1
    emulated.pass_time(1)
    assert active(emulated) == []
    emulated.restart_server(1)
    emulated.pass_time(40)
    assert [each["status"] for each in alarms(emulated)] == ["Active", "Inactive"]


def test_alarm_of_a_server_that_stays_down_stays(emulated):
    emulated.request("PUT", "/emulator/servers/7/process", json={"running": False})
    emulated.pass_time(4_000)
    assert active(emulated) == [("observer_process_stop", "ob_cluster=payments-102:svr_ip=10.0.0.7")]
    emulated.request("PUT", "/emulator/servers/8", json={"available": False})
    emulated.pass_time(60)
    assert len(active(emulated)) == 1


def test_planted_alarm_is_active_until_it_is_cleared(emulated):
    first = plant(emulated, alarmType="ob_cluster_merge_error", cluster="orders")
    plant(emulated, alarmType="ob_tenant_log_stream_degraded", cluster="orders", tenant="app", level=3)
    plant(emulated, alarmType="host_ntp_offset_too_large", host="10.0.0.9", summary="the clock is off")
    plant(emulated, alarmType="arbitration_service_unavailable", appType="OCP", scope="Service")
    assert [(each["scope"], each["target"], each["level"]) for each in alarms(emulated)] == [
        ("Service", "service=OCP", 2),
        ("Host", "svr_ip=10.0.0.9", 2),
        ("Tenant", "ob_cluster=orders-101:tenant_name=app", 3),
        ("Cluster", "ob_cluster=orders-101", 2),
    ]
    assert alarms(emulated)[1]["summary"] == "the clock is off"
    emulated.restart_cluster(1)
    emulated.pass_time(3_600)
    assert len(active(emulated)) == 4
    emulated.request("DELETE", f"/emulator/alarms/{first}").raise_for_status()
    assert len(active(emulated)) == 3
    emulated.error(404, "DELETE", f"/emulator/alarms/{first}")
    emulated.request("DELETE", "/emulator/alarms").raise_for_status()
    assert active(emulated) == []
    assert len(alarms(emulated, size=200)) == 10


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, [4, 3, 2, 1]),
        ({"status": "Active"}, [4, 3, 2]),
        ({"status": "Inactive"}, [1]),
        ({"status": "Silenced"}, []),
        ({"obCluster": "orders"}, [4, 2, 1]),
        ({"obCluster": "orders", "obTenant": "app"}, [2]),
        ({"appType": "OCP"}, [3]),
        ({"alarmType": "ob_cluster_merge_error"}, [1]),
        ({"scope": "Host"}, [4]),
        ({"level": "5"}, [2]),
        ({"hostIp": "10.0.0.3"}, [4]),
        ({"hostName": "host3"}, [4]),
        ({"keyword": "NTP"}, [4]),
        ({"keyword": "Odd"}, [3]),
        ({"activeAtStart": "2026-11-21T04:00:01Z"}, [4]),
        ({"activeAtEnd": "2026-11-21T12:00:00+08:00"}, [3, 2, 1]),
        ({"size": 3, "page": 2}, [1]),
        ({"isSubscribedByMe": "false"}, [4, 3, 2, 1]),
        ({"isSubscribedByMe": "true"}, []),
        ({"appType": "OceanBase", "scope": "Cluster"}, [1]),
        ({"scope": "Arbitration"}, []),
    ],
)
def test_alarms_can_be_filtered_and_paged(emulated, filters, found):
    plant(emulated, alarmType="ob_cluster_merge_error", cluster="orders")
    plant(emulated, alarmType="ob_tenant_log_stream_degraded", cluster="orders", tenant="app", level=5)
    plant(emulated, alarmType="other", appType="OCP", summary="something odd")
    emulated.request("DELETE", "/emulator/alarms/1")
    emulated.pass_time(10)
    plant(emulated, alarmType="host_ntp_offset_too_large", server=3)
    assert [each["id"] for each in alarms(emulated, **filters)] == found


@pytest.mark.parametrize(
    "filters",
    [
        {"level": 6},
        {"status": "active"},
        {"appType": "OB"},
        {"scope": "ObCluster"},
        {"activeAtStart": "2026-11-21T04:00:01"},
    ],
)
def test_invalid_filter_is_refused(emulated, filters):
    emulated.error(400, "GET", ALARMS, params=filters)


def test_page_of_alarms_has_200_at_most(emulated):
    assert emulated.get(ALARMS, params={"size": 2000})["page"]["size"] == 200


def test_an_alarm_is_read_by_its_id(emulated):
    number = plant(emulated, alarmType="ob_tenant_log_stream_degraded", cluster="orders", tenant="app")
    found = emulated.get(f"{ALARMS}/{number}")
    assert found == alarms(emulated)[0]
    assert found["alarmTarget"] == {
        "appType": "OceanBase",
        "scope": "Tenant",
        "includeTargets": [
            {
                "cluster": {"clusterId": 1, "name": "orders", "obClusterId": 101},
                "tenants": [{"name": "app", "obTenantId": 1002, "tenantId": 5002}],
            }
        ],
        "excludeTargets": [],
    }
    emulated.restart_server(1)
    emulated.pass_time(4)
    # Its stop is an alarm in 30 seconds.
    emulated.error(404, "GET", f"{ALARMS}/{number + 1}")


def test_one_alarm_of_an_older_ocp_has_its_cluster_and_the_labels_of_its_target(start):
    emulated = start(switches=PROFILES["4.2"])
    about_tenant = plant(emulated, alarmType="ob_tenant_log_stream_degraded", cluster="orders", tenant="app")
    about_host = plant(emulated, alarmType="host_ntp_offset_too_large", host="10.0.0.9")
    found = emulated.get(f"{ALARMS}/{about_tenant}")
    listed = alarms(emulated)[1]
    assert {**found, "messagePush": listed["messagePush"]} == {
        **listed,
        "obCluster": {
            "appType": "OceanBase",
            "scope": "Cluster",
            "includeTargets": [{"cluster": {"clusterId": 1, "name": "orders", "obClusterId": 101}}],
            "excludeTargets": [],
        },
        "targetLabels": {
            "alarm_template_id": "0",
            "ob_cluster": "orders-101",
            "ob_cluster_id": "101",
            "tenant_name": "app",
        },
    }
    found = emulated.get(f"{ALARMS}/{about_host}")
    assert found["targetLabels"] == {"alarm_template_id": "0", "svr_ip": "10.0.0.9"}
    assert not {"obCluster", "messagePush"} & found.keys()


@pytest.mark.parametrize(
    ("alarm", "status"),
    [
        ({}, 400),
        ({"alarmType": "x", "level": 0}, 400),
        ({"alarmType": "x", "cluster": "nowhere"}, 404),
        ({"alarmType": "x", "server": 99}, 404),
        ({"alarmType": "x", "server": 7, "cluster": "orders"}, 404),
    ],
)
def test_invalid_alarm_is_refused(emulated, alarm, status):
    emulated.error(status, "POST", "/emulator/alarms", json=alarm)
    assert alarms(emulated) == []


def test_alarms_survive_a_restart_of_the_emulator(start, tmp_path):
    emulated = start(database=tmp_path / "state.db")
    emulated.restart_server(1)
    emulated.pass_time(40)
    before = alarms(emulated)
    assert len(before) == 1
    emulated.app.state.service.close()
    assert alarms(start(database=tmp_path / "state.db")) == before
