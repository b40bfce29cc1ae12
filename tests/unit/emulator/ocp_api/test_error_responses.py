# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The status, code and message of every refusal of the API."""

import json

import pytest

TASKS = "/api/v2/tasks/instances"
SERVER = "/api/v2/ob/clusters/1/servers/1/restart"
AGENTS = "/compute/hosts/batchRestartAgents"
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v2/ob/clusters/99/servers/1/restart?freezeServer=true"),
        ("POST", "/api/v2/ob/clusters/1/servers/99/restart?freezeServer=true"),
        ("POST", "/api/v2/ob/clusters/2/servers/1/restart?freezeServer=true"),
        ("POST", "/api/v2/ob/clusters/-1/restart"),
        ("POST", "/api/v2/ob/clusters/9223372036854775807/restart"),
        ("POST", "/api/v2/ob/clusters/99/zones/zone1/restart"),
        ("POST", "/api/v2/ob/clusters/1/zones/zone9/restart"),
        ("POST", "/api/v2/ob/clusters/1/servers/7/stop"),
        ("POST", "/api/v2/arbitration/services/2/restart"),
        ("GET", f"{TASKS}/1"),
        ("GET", f"{TASKS}/1/subtasks/1/log"),
        ("GET", "/api/v2/ob/clusters/3/zones"),
        ("GET", "/api/v2/ob/clusters/3/servers"),
        ("GET", "/api/v2/ob/clusters/3/zones/zone1/servers"),
        ("GET", "/api/v2/ob/clusters/1/zones/zone9/servers"),
        ("GET", "/api/v2/compute/hosts/11"),
        ("GET", "/api/v2/compute/hosts/11/agent"),
        ("GET", "/api/v2/arbitration/services/2"),
    ],
)
def test_unknown_ids_are_404(emulated, method, path):
    emulated.error(404, method, path)


def test_error_names_the_missing_object(emulated):
    assert (
        "Server 99"
        in emulated.error(404, "POST", SERVER.replace("s/1/r", "s/99/r"), params={"freezeServer": 1})["message"]
    )
    assert "99, 98" in emulated.error(404, "POST", AGENTS, json={"hostIds": [1, 99, 98]})["message"]


def test_subtask_of_another_task_is_404(emulated):
    one, other = emulated.restart_server(1), emulated.restart_server(2)
    emulated.error(404, "GET", f"{TASKS}/{one['id']}/subtasks/{other['subtasks'][0]['id']}/log")


@pytest.mark.parametrize(
    "value", ["x", "1.0", "1_0", "0x1", "%201", "1e3", "9223372036854775808", "99999999999999999999"]
)
@pytest.mark.parametrize("path", [f"{TASKS}/{{}}", "/api/v2/ob/clusters/{}/zones", "/api/v2/compute/hosts/{}/agent"])
def test_an_id_of_the_wrong_type_is_400_and_named(emulated, path, value):
    message = emulated.error(400, "GET", path.format(value))["message"]
    assert value.replace("%20", " ") in message
    assert "Id'" in message or "'id'" in message


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (f"{TASKS}?sort=id,up", "sort"),
        (f"{TASKS}?sort=colour,asc", "sort"),
        (f"{TASKS}?sort=asc", "sort"),
        ("/api/v2/compute/hosts/1/agent/processes?sort=alias", "sort"),
        (f"{TASKS}?status=DONE", "status"),
        (f"{TASKS}?status=running", "status"),
        (f"{TASKS}?type=AUTOMATIC", "type"),
        (f"{TASKS}?clusterId=orders", "clusterId"),
        (f"{TASKS}?hostId=10.0.0.1", "hostId"),
        (f"{TASKS}?tenantId=x", "tenantId"),
        ("/api/v2/ob/clusters?status=UP", "status"),
        ("/api/v2/compute/hosts?status=RUNNING", "status"),
        ("/api/v2/arbitration/services?statusList=UP", "statusList"),
        ("/api/v2/arbitration/services?tagIdList=a", "tagIdList"),
    ],
)
def test_invalid_parameter_is_400_and_named(emulated, path, name):
    assert f"'{name}'" in emulated.error(400, "GET", path)["message"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/api/v2/alarm/alarms?category=x", "category"),
        ("/api/v2/alarm/alarms?obClusterGroup=x", "obClusterGroup"),
        ("/api/v2/alarm/alarms?appCluster=x", "appCluster"),
        ("/api/v2/alarm/alarms?serviceName=x", "serviceName"),
        ("/api/v2/audit/events?eventInfo=%7B%7D", "eventInfo"),
        ("/api/v2/ob/clusters?withStandby=false", "withStandby"),
    ],
)
def test_documented_filter_that_is_not_served_is_an_error_and_named(emulated, path, name):
    assert f"'{name}'" in emulated.error(501, "GET", path)["message"]
    # As before any parameter, the permission is checked first.
    emulated.error(401, "GET", path, auth=None)


@pytest.mark.parametrize(
    ("query", "number", "size"),
    [
        ("", 1, 10),
        ("page=0", 1, 10),
        ("page=-3", 1, 10),
        ("page=one", 1, 10),
        ("page=2147483648", 1, 10),
        ("page=2&size=3", 2, 3),
        ("size=0", 1, 10),
        ("size=-1", 1, 10),
        ("size=", 1, 10),
        ("size=many", 1, 10),
        ("size=2001", 1, 2000),
    ],
)
def test_pages_are_those_that_spring_takes(emulated, query, number, size):
    page = emulated.get(f"{TASKS}?{query}")["page"]
    assert (page["number"], page["size"]) == (number, size)


@pytest.mark.parametrize("options", [{}, {"json": {}}, {"json": {"force": True}}, {"json": {"freezeServer": None}}])
def test_freeze_server_is_required(emulated, options):
    error = emulated.error(400, "POST", SERVER, **options)
    assert "'freezeServer'" in error["message"]
    assert error["code"] == 0


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"params": {"freezeServer": "maybe"}}, "freezeServer"),
        ({"params": {"freezeServer": ""}}, "freezeServer"),
        ({"params": {"freezeServer": "2"}}, "freezeServer"),
        ({"params": {"freezeServer": "true", "force": "please"}}, "force"),
        ({"json": {"freezeServer": "true"}}, "freezeServer"),
        ({"json": {"freezeServer": 1}}, "freezeServer"),
        ({"json": {"freezeServer": [True]}}, "freezeServer"),
        ({"json": {"freezeServer": True, "force": 0}}, "force"),
        ({"params": {"freezeServer": "true"}, "json": {"freezeServer": False}}, "freezeServer"),
        ({"params": {"freezeServer": "true", "force": "true"}, "json": {"force": False}}, "force"),
    ],
)
def test_invalid_or_conflicting_flags_are_400_and_named(emulated, options, name):
    assert f"'{name}'" in emulated.error(400, "POST", SERVER, **options)["message"]
    assert emulated.server(1)["status"] == "RUNNING"


@pytest.mark.parametrize("path", [AGENTS, f"/api/v2{AGENTS}"])
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"hosts": [1]},
        {"hostIds": None},
        {"hostIds": 1},
        {"hostIds": "1"},
        {"hostIds": {"1": 1}},
        {"hostIds": []},
        {"hostids": []},
        {"hostIds": ["1"]},
        {"hostIds": [1.0]},
        {"hostIds": [True]},
        {"hostIds": [None]},
        {"hostIds": [1, [2]]},
        {"hostIds": [2**63]},
    ],
)
def test_invalid_host_ids_are_400_and_named(emulated, path, body):
    error = emulated.error(400, "POST", path, json=body)
    assert "'hostIds'" in error["message"] or "'hostids'" in error["message"]


@pytest.mark.parametrize("path", [AGENTS, SERVER])
@pytest.mark.parametrize(
    "body", ["{", "nonsense", "[1]", '"text"', "1", "\xff", "[" * 100_000, '{"a": %s}' % ("9" * 5_000)]
)
def test_body_other_than_a_json_object_is_400(emulated, path, body):
    emulated.error(400, "POST", path, content=body.encode("latin-1"), headers=JSON)


def test_agent_restart_requires_a_body(emulated):
    assert "body" in emulated.error(400, "POST", AGENTS, headers=JSON)["message"]


@pytest.mark.parametrize("path", [AGENTS, f"{SERVER}?freezeServer=true"])
@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/plain", ""])
def test_body_without_json_content_type_is_415(emulated, path, content_type):
    body = json.dumps({"hostIds": [1]})
    error = emulated.error(415, "POST", path, content=body, headers={"Content-Type": content_type})
    assert "application/json" in error["message"]


@pytest.mark.parametrize("content_type", ["application/json", "application/json;charset=utf-8", "Application/JSON"])
def test_json_content_type_is_accepted_in_several_spellings(emulated, content_type):
    emulated.data("POST", AGENTS, content='{"hostIds": [1]}', headers={"Content-Type": content_type})


def test_oversized_body_is_refused(emulated):
    emulated.error(413, "POST", AGENTS, content=b" " * (2**20 + 1), headers=JSON)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/redoc"),
        ("GET", "/api/v2/tasks/1"),
        ("GET", f"{TASKS}/"),
        ("GET", SERVER),
        ("GET", "/api/v2/%6eo%0a"),
        ("POST", TASKS),
        ("PUT", "/api/v2/ob/clusters/1"),
        ("DELETE", "/api/v2/time"),
        ("POST", "/api/v2/ob/clusters/1/restart/"),
        ("OPTIONS", TASKS),
    ],
)
def test_an_unknown_url_or_method_is_400_with_code_0(emulated, method, path):
    error = emulated.error(400, method, path)
    assert error["code"] == 0
    assert f"{method} {path}" in error["message"]


def test_unexpected_error_is_500_without_details(emulated, monkeypatch, caplog):
    def fail(*_, **__):
        raise RuntimeError("the inner secret")

    monkeypatch.setattr("ocp_emulator.serializers.cluster_serializers.cluster_page", fail)
    answer = emulated.request("GET", "/api/v2/ob/clusters")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.json()["error"]["message"].startswith("The emulator failed")
    assert "the inner secret" in caplog.text
    assert answer.json()["traceId"] in caplog.text


def test_failed_task_insert_leaves_nothing_behind(emulated, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("too late")

    monkeypatch.setattr("ocp_emulator.tasks.occupancy.occupy", fail)
    emulated.error(500, "POST", SERVER, params={"freezeServer": "true"})
    assert emulated.get(TASKS)["contents"] == []
    monkeypatch.undo()
    assert emulated.restart_server(1)["status"] == "RUNNING"


def test_encoded_slash_is_part_of_a_name(emulated):
    zones = "/api/v2/ob/clusters/1/zones"
    assert "Zone zone1%2Fservers " in emulated.error(404, "POST", f"{zones}/zone1%2fservers/restart")["message"]
    emulated.error(400, "GET", "/api/v2%2Fob/clusters")
    (*_others, request) = emulated.get("/emulator/requests")["contents"]
    assert request["path"] == "/api/v2%2Fob/clusters"
