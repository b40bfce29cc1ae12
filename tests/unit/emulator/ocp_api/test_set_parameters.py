# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Setting parameters: when they take effect, what is refused, and what each server really runs with."""

from dataclasses import replace

import pytest
from ocp_emulator.base.compatibility import PROFILES, Switches
from ocp_emulator.fleet.fleet_file import FleetError, FleetFile
from ocp_emulator.fleet.resolve_fleet import resolve

PATH = "/api/v2/ob/clusters/{}/parameters"
STATIC, DYNAMIC = "stack_size", "trace_log_slow_query_watermark"
# The default fleet: cluster 2 is payments, with one of the servers 7, 8 and 9 in each of its three zones.
SERVERS = (7, 8, 9)


def put(emulated, cluster=2, **values):
    return emulated.request("PUT", PATH.format(cluster), json=[{"name": k, "value": v} for k, v in values.items()])


def set_values(emulated, cluster=2, **values):
    answer = put(emulated, cluster, **values)
    assert answer.status_code == 200, answer.text
    assert "data" not in answer.json()


def current(emulated, name, cluster=2):
    listed = emulated.get(PATH.format(cluster))["contents"]
    return next(each for each in listed if each["name"] == name)["currentValue"]


def shown(emulated, name, cluster=2):
    """What each server shows."""
    return {each["svrIp"]: each["value"] for each in current(emulated, name, cluster)["obParameters"]}


def truth(emulated, name, servers=SERVERS):
    """What each server runs with, what was set, and its starts."""
    listed = {each["id"]: each for each in emulated.get("/emulator/parameters")["contents"]}
    return [
        (
            listed[number]["parameters"][name]["value"],
            listed[number]["parameters"][name]["setValue"],
            listed[number]["starts"],
        )
        for number in servers
    ]


def process(emulated, server, running):
    emulated.request("PUT", f"/emulator/servers/{server}/process", json={"running": running}).raise_for_status()


def restarted(emulated, path):
    emulated.data("POST", f"/api/v2/ob/clusters/2/{path}", params={"freezeServer": True})
    emulated.pass_time(60)


def test_dynamic_parameter_is_in_effect_at_once(emulated):
    set_values(emulated, **{DYNAMIC: "2s"})
    assert set(shown(emulated, DYNAMIC).values()) == {"2s"}
    assert truth(emulated, DYNAMIC) == [("2s", "2s", 0)] * 3
    assert set(shown(emulated, DYNAMIC, cluster=1).values()) == {"1s"}


def test_static_parameter_is_in_effect_on_a_server_from_its_start_on(emulated):
    set_values(emulated, **{STATIC: "5M"})
    assert set(shown(emulated, STATIC).values()) == {"512K"}
    assert truth(emulated, STATIC) == [("512K", "5M", 0)] * 3
    restarted(emulated, "servers/8/restart")
    assert shown(emulated, STATIC) == {"10.0.0.7": "512K", "10.0.0.8": "5M", "10.0.0.9": "512K"}
    value = current(emulated, STATIC)
    assert (value["values"], value["singleValueInCluster"]) == (["512K", "5M"], False)
    assert truth(emulated, STATIC) == [("512K", "5M", 0), ("5M", "5M", 1), ("512K", "5M", 0)]


@pytest.mark.parametrize(
    ("paths", "taken"),
    [
        (("zones/zone2/restart",), (8,)),
        (("restart",), SERVERS),
        (("servers/9/stop", "servers/9/start"), (9,)),
        (("zones/zone3/stop", "zones/zone3/start"), (9,)),
        (("stop", "start"), SERVERS),
    ],
)
def test_every_start_brings_static_parameters_into_effect(emulated, paths, taken):
    set_values(emulated, **{STATIC: "5M"})
    for path in paths:
        restarted(emulated, path)
    found = dict(zip(SERVERS, truth(emulated, STATIC), strict=True))
    assert {number: value for number, (value, _set, _starts) in found.items()} == {
        number: "5M" if number in taken else "512K" for number in SERVERS
    }


def test_starts_by_people_and_by_a_rollback_bring_them_into_effect_too(emulated):
    set_values(emulated, **{STATIC: "5M"})
    process(emulated, 7, False)
    process(emulated, 7, True)
    emulated.plan("fail", "Start observer process")
    task_id = emulated.restart_server(8)["id"]
    emulated.pass_time(60)
    emulated.steer(task_id, "rollback").raise_for_status()
    emulated.pass_time(60)
    assert truth(emulated, STATIC) == [("5M", "5M", 1), ("5M", "5M", 1), ("512K", "5M", 0)]


def test_server_that_does_not_answer_shows_no_value(emulated):
    process(emulated, 7, False)
    emulated.request("PUT", "/emulator/servers/8", json={"available": False}).raise_for_status()
    set_values(emulated, **{DYNAMIC: "2s", STATIC: "5M"})
    assert shown(emulated, DYNAMIC) == {"10.0.0.9": "2s"}
    assert current(emulated, STATIC)["valueToServers"] == {"512K": ["10.0.0.9:2882"]}
    assert truth(emulated, STATIC) == [(None, "5M", 0), ("512K", "5M", 0), ("512K", "5M", 0)]
    process(emulated, 7, True)
    emulated.request("PUT", "/emulator/servers/8", json={"available": True}).raise_for_status()
    assert shown(emulated, DYNAMIC) == {"10.0.0.7": "2s", "10.0.0.8": "2s", "10.0.0.9": "2s"}
    assert shown(emulated, STATIC) == {"10.0.0.7": "5M", "10.0.0.8": "512K", "10.0.0.9": "512K"}


def test_cluster_of_which_no_server_answers_cannot_be_asked_or_set(emulated):
    for number in SERVERS:
        process(emulated, number, False)
    error = emulated.error(400, "GET", PATH.format(2))
    assert error["code"] == 11102
    assert error["message"] == "Cluster payments cannot be connected: none of its servers answers."
    answer = put(emulated, **{STATIC: "5M"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, 11102)
    assert truth(emulated, STATIC) == [(None, "512K", 0)] * 3


def test_repeated_setting_changes_nothing_more(emulated):
    set_values(emulated, **{STATIC: "5M", DYNAMIC: "2s"})
    once = emulated.get("/emulator/parameters")
    set_values(emulated, **{STATIC: "5M", DYNAMIC: "2s"})
    assert emulated.get("/emulator/parameters") == once


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (STATIC, "512K"),
        (STATIC, "20M"),
        (STATIC, "20480kb"),
        ("internal_sql_execute_timeout", "1000us"),
        ("internal_sql_execute_timeout", "1h"),
        ("server_permanent_offline_time", "20"),
        ("net_thread_count", "64"),
        ("enable_tcp_keepalive", "false"),
        ("use_large_pages", "only"),
        ("syslog_level", "INFO"),
        ("ilog_index_expire_time", "whatever"),
    ],
)
def test_values_within_the_range_are_taken(emulated, name, value):
    set_values(emulated, **{name: value})
    assert truth(emulated, name)[0][1] == value


@pytest.mark.parametrize(
    ("name", "value", "code", "message"),
    [
        ("stack_sice", "1M", 10001, "There is no parameter 'stack_sice'."),
        ("data_dir", "/data", 10001, "The parameter 'data_dir' cannot be set: it is read-only."),
        (STATIC, "511K", 10001, "it is less than 512K."),
        (STATIC, "20481K", 10001, "it is more than 20M."),
        (STATIC, "5", 50005, "it has no unit, such as M or G."),
        (STATIC, "5s", 10001, "one of the units b, k, kb, m, mb, g, gb, t, tb, p, pb."),
        (STATIC, "-5M", 10001, "it is not a whole number with one of the units"),
        (STATIC, "", 10001, "it is not a whole number with one of the units"),
        (STATIC, "5.5M", 10001, "it is not a whole number with one of the units"),
        ("internal_sql_execute_timeout", "999us", 10001, "it is less than 1000us."),
        ("internal_sql_execute_timeout", "61m", 10001, "it is more than 1h."),
        ("internal_sql_execute_timeout", "1M2", 10001, "units us, ms, s, m, h, d."),
        ("net_thread_count", "65", 10001, "it is more than 64."),
        ("net_thread_count", "6k", 10001, 'does not take the value "6k": it is not a whole number.'),
        ("enable_tcp_keepalive", "maybe", 10001, "it is none of TRUE, FALSE."),
        ("use_large_pages", "never", 10001, "it is none of true, false, only."),
    ],
)
def test_other_values_are_refused_and_nothing_is_set(emulated, name, value, code, message):
    before = emulated.get("/emulator/parameters")
    error = put(emulated, **{DYNAMIC: "2s", name: value}).json()["error"]
    assert error["code"] == code
    assert message in error["message"]
    assert emulated.get("/emulator/parameters") == before


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "not an array with something in it"),
        ({STATIC: "5M"}, "not an array with something in it"),
        ([{"name": STATIC}], "The field '0.value' of the body is invalid"),
        ([{"name": STATIC, "value": 5}], "The field '0.value' of the body is invalid"),
        ([{"name": STATIC, "value": "5M"}, "x"], "The field '1' of the body is invalid"),
        ([{"name": STATIC, "value": "5M", "zone": "zone1"}], "The field '0.zone' of the body is invalid"),
    ],
)
def test_other_bodies_are_refused(emulated, body, message):
    assert message in emulated.error(400, "PUT", PATH.format(2), json=body)["message"]
    assert truth(emulated, STATIC)[0][1] == "512K"


def test_unknown_cluster_is_not_found(emulated):
    assert put(emulated, cluster=9, **{STATIC: "5M"}).status_code == 404


def test_setting_needs_the_permission_to_manage_clusters(start):
    people = [
        {"name": "reads", "password": "x", "permissions": ["CLUSTER_VIEWER"]},
        {"name": "sets", "password": "x", "permissions": ["CLUSTER_MANAGER"]},
        {"name": "admin", "password": "ocp-demo-1", "permissions": ["ADMIN"]},
    ]
    zones = [{"name": "zone1", "servers": [{"ip": "10.0.0.1"}]}]
    fleet = FleetFile.model_validate({"clusters": [{"name": "orders", "zones": zones}], "users": people})
    emulated = start(fleet=resolve(fleet))
    body = [{"name": STATIC, "value": "5M"}]
    for user, get, set_ in (("reads", 200, 403), ("sets", 403, 200)):
        assert emulated.request("GET", PATH.format(1), auth=(user, "x")).status_code == get
        assert emulated.request("PUT", PATH.format(1), auth=(user, "x"), json=body).status_code == set_
        assert emulated.request("GET", "/emulator/parameters", auth=(user, "x")).status_code == 403


# Planted


def nine(set_for_all, runs):
    """A cluster of nine servers; `runs` is what the last ones of them run with."""
    servers = [{"ip": f"10.0.0.{number}"} for number in range(1, 10)]
    for server, value in zip(reversed(servers), runs, strict=False):
        server["parameters"] = {STATIC: value}
    zones = [{"name": f"zone{n + 1}", "servers": servers[3 * n : 3 * n + 3]} for n in range(3)]
    cluster = {"name": "orders", "zones": zones, "parameters": {STATIC: set_for_all}}
    return resolve(FleetFile.model_validate({"clusters": [cluster]}))


def test_fleet_file_lets_some_servers_run_with_the_value_of_tomorrow(start):
    emulated = start(fleet=nine("1M", ["5M"] * 4))
    assert list(shown(emulated, STATIC, cluster=1).values()) == ["1M"] * 5 + ["5M"] * 4
    set_values(emulated, cluster=1, **{STATIC: "5M"})
    assert truth(emulated, STATIC, range(1, 10)) == [("1M", "5M", 0)] * 5 + [("5M", "5M", 0)] * 4


def test_fleet_file_lets_some_servers_run_with_the_value_of_yesterday(start):
    emulated = start(fleet=nine("5M", ["1M"]))
    assert truth(emulated, STATIC, (8, 9)) == [("5M", "5M", 0), ("1M", "5M", 0)]
    process(emulated, 9, False)
    process(emulated, 9, True)
    assert truth(emulated, STATIC, (8, 9)) == [("5M", "5M", 0), ("5M", "5M", 1)]


def test_dynamic_parameter_of_a_server_in_the_fleet_file_is_what_was_set(start):
    zones = [{"name": "z", "servers": [{"ip": "10.0.0.1", "parameters": {DYNAMIC: "9s"}}, {"ip": "10.0.0.2"}]}]
    emulated = start(fleet=resolve(FleetFile.model_validate({"clusters": [{"name": "orders", "zones": zones}]})))
    assert truth(emulated, DYNAMIC, (1, 2)) == [("9s", "9s", 0), ("1s", "1s", 0)]


def test_fleet_file_names_the_server_of_an_unknown_parameter():
    zones = [{"name": "z", "servers": [{"ip": "10.0.0.1", "parameters": {"speed": "9"}}]}]
    with pytest.raises(FleetError, match=r"server 10\.0\.0\.1:2882 has no parameter 'speed'"):
        resolve(FleetFile.model_validate({"clusters": [{"name": "orders", "zones": zones}]}))


def test_planted_static_value_lasts_until_the_next_start(emulated):
    body = {"parameters": {STATIC: "5M", DYNAMIC: "2s"}}
    emulated.request("PUT", "/emulator/servers/8/parameters", json=body).raise_for_status()
    assert truth(emulated, STATIC) == [("512K", "512K", 0), ("5M", "512K", 0), ("512K", "512K", 0)]
    process(emulated, 8, False)
    process(emulated, 8, True)
    assert truth(emulated, STATIC) == [("512K", "512K", 0), ("512K", "512K", 1), ("512K", "512K", 0)]
    assert truth(emulated, DYNAMIC) == [("1s", "1s", 0), ("2s", "2s", 1), ("1s", "1s", 0)]


# Services that show less, or what is not true


def with_switch(start, **switch):
    return start(switches=replace(Switches(), **switch))


def test_service_without_metadata_shows_names_and_values_alone(start):
    emulated = with_switch(start, parameter_metadata="absent")
    assert {frozenset(each) for each in emulated.get(PATH.format(2))["contents"]} == {
        frozenset({"name", "currentValue"})
    }
    assert set(shown(emulated, STATIC).values()) == {"512K"}
    # It knows them all the same.
    assert put(emulated, **{STATIC: "511K"}).status_code == 400


def test_service_without_values_of_servers_shows_which_values_there_are(start):
    emulated = with_switch(start, parameter_servers="absent")
    emulated.request("PUT", "/emulator/servers/8/parameters", json={"parameters": {STATIC: "5M"}}).raise_for_status()
    assert current(emulated, STATIC) == {"singleValueInCluster": False, "values": ["512K", "5M"]}


def test_service_may_show_at_once_what_is_not_in_effect(start):
    emulated = with_switch(start, parameter_values="set")
    set_values(emulated, **{STATIC: "5M"})
    assert set(shown(emulated, STATIC).values()) == {"5M"}
    assert truth(emulated, STATIC) == [("512K", "5M", 0)] * 3
    restarted(emulated, "servers/8/restart")
    assert truth(emulated, STATIC) == [("512K", "5M", 0), ("5M", "5M", 1), ("512K", "5M", 0)]


def test_static_parameter_may_never_take_effect(start):
    emulated = with_switch(start, static_parameters="never")
    set_values(emulated, **{STATIC: "5M", DYNAMIC: "2s"})
    restarted(emulated, "restart")
    assert truth(emulated, STATIC) == [("512K", "5M", 1)] * 3
    # Cluster 2 has started, server 2 has not.
    assert truth(emulated, STATIC, (2,)) == [("512K", "512K", 0)]
    assert set(shown(emulated, STATIC).values()) == {"512K"}
    assert set(shown(emulated, DYNAMIC).values()) == {"2s"}


@pytest.mark.parametrize("profile", PROFILES)
def test_profiles_show_parameters_as_documented_and_as_they_are(profile):
    switches = PROFILES[profile]
    assert (switches.parameter_metadata, switches.parameter_servers) == ("shown", "shown")
    assert (switches.parameter_values, switches.static_parameters) == ("in_effect", "at_start")


def test_values_that_were_set_survive_the_end_of_the_emulator(start, tmp_path):
    emulated = start(database=tmp_path / "db")
    set_values(emulated, **{STATIC: "5M"})
    emulated.app.state.service.close()
    again = start(database=tmp_path / "db")
    process(again, 8, False)
    process(again, 8, True)
    assert truth(again, STATIC) == [("512K", "5M", 0), ("5M", "5M", 1), ("512K", "5M", 0)]
