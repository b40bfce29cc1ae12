# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Metrics: how far replicas lag, and those that a test plants."""

import pytest

METRIC = "max_full_clog_sync_delay_second"
NEEDED = {
    "metrics": METRIC,
    "labels": "app:ob,ob_cluster_name:orders",
    "groupBy": "app",
    "interval": 60,
    "startTime": "2026-11-21T11:57:30+08:00",
    "endTime": "2026-11-21T12:02:00+08:00",
}
# 2026-11-21T12:00:00+08:00
NOON = 1_795_233_600


def read(emulated, **changes):
    return emulated.get("/api/v2/monitor/metric", params={**NEEDED, **changes})


def values(emulated, **changes):
    return {each["timestamp"] - NOON: each[METRIC] for each in read(emulated, **changes)["contents"]}


def plant(emulated, server, value):
    body = {"name": METRIC, "value": value}
    emulated.request("PUT", f"/emulator/servers/{server}/metric", json=body).raise_for_status()


def test_samples_have_the_documented_form(emulated):
    found = read(emulated)
    assert {name: type(value) for name, value in found["contents"][0].items()} == {METRIC: float, "timestamp": int}
    assert found["page"] == {"number": 1, "size": 2_147_483_647, "totalElements": 3, "totalPages": 1}


def test_samples_are_multiples_of_the_interval_up_to_now(emulated):
    assert values(emulated) == {-120: 0.05, -60: 0.05, 0: 0.05}
    emulated.pass_time(90)
    assert [*values(emulated)] == [-120, -60, 0, 60]
    assert [*values(emulated, interval=100)] == [-100, 0]
    assert values(emulated, endTime="2026-11-21T11:00:00+08:00") == {}


def test_planted_value_holds_from_then_on_and_the_largest_is_shown(emulated):
    plant(emulated, 3, 40)
    emulated.pass_time(30)
    plant(emulated, 4, 7.5)
    emulated.pass_time(40)
    plant(emulated, 3, 0)
    emulated.pass_time(50)
    assert values(emulated) == {-120: 0.05, -60: 0.05, 0: 40, 60: 40, 120: 7.5}


def test_any_metric_can_be_planted_and_is_0_before(emulated):
    emulated.pass_time(30)
    body = {"name": "sql_rt", "value": 12.5}
    emulated.request("PUT", "/emulator/servers/3/metric", json=body).raise_for_status()
    emulated.pass_time(60)
    found = read(emulated, metrics=f"sql_rt,{METRIC}")["contents"]
    assert [(each["sql_rt"], each[METRIC]) for each in found] == [(0, 0.05)] * 3 + [(12.5, 0.05)]


@pytest.mark.parametrize(
    ("labels", "value"),
    [
        ("app:ob,ob_cluster_name:orders", 40),
        ("app=ob,obregion=orders", 40),
        ("ob_cluster_name:orders,obzone:zone2", 40),
        ("ob_cluster_name:orders,obzone:zone1", 0.05),
        ("svr_ip:10.0.0.3", 40),
        ("svr_ip:10.0.0.4", 0.05),
        ("ob_cluster_id:101", 40),
        ("ob_cluster_id:102", 0.05),
        ("ob_cluster_name:payments", 0.05),
        ("ob_cluster_name:nowhere", None),
    ],
)
def test_labels_choose_servers(emulated, labels, value):
    plant(emulated, 3, 40)
    assert values(emulated, labels=labels).get(0) == value


def test_older_names_of_the_times_are_taken_too(emulated):
    old = {"start_time": NEEDED["startTime"], "end_time": NEEDED["endTime"], "startTime": None, "endTime": None}
    params = {name: value for name, value in {**NEEDED, **old}.items() if value is not None}
    assert len(emulated.get("/api/v2/monitor/metric", params=params)["contents"]) == 3


def test_there_are_no_more_samples_than_documented(emulated):
    assert 1_400 < len(values(emulated, startTime="2026-11-19T12:00:00+08:00", interval=1)) <= 1_440
    assert len(values(emulated, interval=1, maxPoints=10)) <= 10


@pytest.mark.parametrize(
    "changes",
    [
        {"metrics": "cpu_percent"},
        {"startTime": "yesterday"},
        {"startTime": "2026-11-21T11:57:30"},
        {"interval": 0},
        {"groupBy": ""},
        *({name: None} for name in NEEDED),
    ],
)
def test_invalid_request_is_refused(emulated, changes):
    params = {name: value for name, value in {**NEEDED, **changes}.items() if value is not None}
    emulated.error(400, "GET", "/api/v2/monitor/metric", params=params)


@pytest.mark.parametrize(
    ("server", "body", "status"),
    [
        (99, {"name": METRIC, "value": 1}, 404),
        (1, {"name": "CPU %", "value": 1}, 400),
        (1, {"name": METRIC, "value": -1}, 400),
    ],
)
def test_invalid_value_is_refused(emulated, server, body, status):
    emulated.error(status, "PUT", f"/emulator/servers/{server}/metric", json=body)
