# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The emulator as a test double: its options and credentials, what a test asks of it, and that it ends."""

import time

import pytest
import requests
from ocp_emulator.cli_options import BadInputError
from ocp_emulator.testing.emulated_ocp import EmulatedOcp, beside
from ocp_emulator.testing.threaded_server import ControlError

FLEET = {
    "clusters": [{"name": "shop", "zones": [{"name": "z1", "servers": [{"ip": "10.1.0.1"}]}]}],
    "users": [
        {"name": "dba", "password": "not-a-secret", "permissions": ["CLUSTER_VIEWER"]},
        {"name": "root", "password": "hardly-one", "permissions": ["ADMIN"]},
    ],
}
WITHOUT_ADMIN = {**FLEET, "users": FLEET["users"][:1]}
RESTART = "/api/v2/ob/clusters/1/servers/1/restart?freezeServer=true"
# Far more than 20 ms, which is what it takes on a quiet machine.
QUICK = 0.2


@pytest.fixture
def ocp():
    with EmulatedOcp(step_seconds=1) as emulated:
        yield emulated


def ask(ocp, path, method="GET", **options):
    return requests.request(method, ocp.url + path, auth=(ocp.username, ocp.password), timeout=10, **options)


def test_each_has_a_fleet_of_its_own(ocp):
    with EmulatedOcp() as other:
        assert ask(ocp, RESTART, "POST").status_code == 200
        ocp.clock.advance(60)
        assert (ocp.restarts(), other.restarts()) == ({"10.0.0.1:2882": 1}, {})
        assert other.requests() == []


def test_a_new_one_takes_little_time():
    def seconds():
        began = time.perf_counter()
        with EmulatedOcp() as another:
            assert ask(another, "/api/v2/time").status_code == 200
        return time.perf_counter() - began

    assert min(seconds() for _try in range(10)) < QUICK


def test_a_restart_of_20_minutes_takes_no_time():
    with EmulatedOcp(task_seconds={"Restart OB server": 1200}) as ocp:
        ocp.clock.run_faster(10_000)
        task = ask(ocp, RESTART, "POST").json()["data"]
        ocp.clock.advance(1200)
        shown = ask(ocp, f"/api/v2/tasks/instances/{task['id']}").json()["data"]
        assert (shown["status"], ocp.restarts()) == ("SUCCESSFUL", {"10.0.0.1:2882": 1})


def test_connection_is_refused_after_the_end():
    with EmulatedOcp() as ocp:
        assert ask(ocp, "/api/v2/time").status_code == 200
    with pytest.raises(requests.ConnectionError):
        ask(ocp, "/api/v2/time")


def test_environment_has_the_connection(ocp):
    assert ocp.environment == {"OCP_URL": ocp.url, "OCP_USERNAME": "admin", "OCP_PASSWORD": ocp.password}
    assert (ocp.access_key_id, ocp.access_key_secret) == ("emulator", "emulator-secret")


def test_the_user_is_the_first_who_may_do_everything():
    with EmulatedOcp(fleet=FLEET) as ocp:
        assert (ocp.username, ocp.password, ocp.access_key_id) == ("root", "hardly-one", "")
        assert ask(ocp, "/api/v2/ob/clusters").status_code == 200


def test_options_are_those_of_the_command(tmp_path):
    (tmp_path / "faults.yml").write_text("[{kind: http, action: error, status: 503}]")
    options = beside(tmp_path, {"faults": "faults.yml", "profile": "4.2", "rate_limit": ["2/60", "5/600"]})
    with EmulatedOcp(**options) as ocp:
        answers = [ask(ocp, "/api/v2/info") for _call in range(4)]
    assert [answer.status_code for answer in answers] == [503, 200, 200, 429]
    assert '"buildVersion":"4.2.2' in answers[1].text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"profil": "4.2"}, "unrecognized arguments: --profil=4.2"),
        ({"profile": "9"}, "argument --profile: invalid choice: '9'"),
        ({"help": True}, "argument -h/--help: ignored explicit argument 'True'"),
        ({"fleet": {"clusters": 1}}, "--fleet {'clusters': 1}: clusters: "),
        ({"fleet": []}, "--fleet []: the file has no mapping at its top"),
        ({"fleet": "/no/such.yml"}, "--fleet /no/such.yml: the file cannot be read"),
        ({"fleet": WITHOUT_ADMIN}, "no user has ADMIN, so nobody could use the control API"),
        ({"fleet": {**FLEET, "users": []}}, "no user has ADMIN, so nobody could use the control API"),
        ({"fleet": FLEET, "clusters": 2}, "give a fleet or its size, not both"),
        ({"faults": [{"kind": "htp"}]}, "entry 1, key 'kind'"),
        ({"port": 70000}, "'70000' is not a port"),
    ],
)
def test_error_names_the_bad_option(options, sentence):
    with pytest.raises(BadInputError) as error:
        EmulatedOcp(**options)
    assert sentence in str(error.value)


def test_clock_moves_tasks_on(ocp):
    ocp.clock.stop()
    task = ask(ocp, RESTART, "POST").json()["data"]["id"]
    before = ocp.clock.now
    ocp.clock.advance(5.5)
    assert (ocp.clock.now - before).total_seconds() == 5.5
    assert ocp.summary().splitlines()[0] == f"task {task} Restart OB server: RUNNING, at 'Wait observer active'"
    ocp.clock.start()
    ocp.clock.advance(60)
    assert ocp.summary().splitlines()[0] == f"task {task} Restart OB server: SUCCESSFUL"


def test_restarts_are_counted_by_kind(ocp):
    assert ask(ocp, "/api/v2/ob/clusters/2/restart", "POST").status_code == 200
    ocp.clock.advance(600)
    assert ocp.restarts("cluster") == {"payments": 1}
    assert ocp.restarts("zone") == {f"payments/zone{number}": 1 for number in (1, 2, 3)}
    assert len(ocp.restarts()) == 3
    assert ocp.restarts("agent") == ocp.restarts("obproxy") == ocp.restarts("arbitration_service") == {}
    with pytest.raises(ValueError, match="kind: 'host' is not one of server, zone, "):
        ocp.restarts("host")


def test_requests_are_listed_by_method_and_path(ocp):
    ask(ocp, "/api/v2/info")
    ask(ocp, RESTART, "POST")
    assert [each["path"] for each in ocp.requests()] == ["/api/v2/info", RESTART.partition("?")[0]]
    assert [each["method"] for each in ocp.requests("POST")] == ["POST"]
    assert ocp.requests(path="/api/v1/*") == []


def test_more_requests_than_a_page_holds_are_listed(ocp, monkeypatch):
    for _call in range(25):
        ask(ocp, "/api/v2/time")
    control = ocp.control
    monkeypatch.setattr(ocp, "control", lambda method, path: control(method, f"{path}&size=10"))
    assert [each["id"] for each in ocp.requests()] == list(range(1, 26))
    assert ocp.summary().splitlines()[0] == "5 requests before these"


def test_fleet_shows_what_is_whatever_a_fault_shows(ocp):
    server = "10.0.0.1:2882"
    match = {"record": "server", "path": "/api/v2/*"}
    ocp.faults.plan("answer", "status", match, status="DELETING", times=None)
    shown = ask(ocp, "/api/v2/ob/clusters/1/servers").json()["data"]["contents"]
    assert {each["status"] for each in shown} == {"DELETING"}
    assert ocp.fleet.servers[server]["status"] == "RUNNING"
    ocp.fleet.stop(server)
    assert ocp.fleet.servers[server]["innerStatus"] == "INACTIVE"
    ocp.fleet.start(server)
    assert ocp.fleet.servers[server]["status"] == "RUNNING"
    assert {name: zone["zones"][0]["name"] for name, zone in ocp.fleet.clusters.items()} == {
        "orders": "zone1",
        "payments": "zone1",
    }
    with pytest.raises(KeyError):
        ocp.fleet.stop("10.9.9.9:2882")


def test_control_works_while_connections_are_refused(ocp):
    ocp.control("POST", "/emulator/service/restart", {"seconds": 600})
    with pytest.raises(requests.ConnectionError):
        ask(ocp, "/api/v2/time")
    assert ocp.restarts() == {}


def test_refused_call_says_why(ocp):
    with pytest.raises(ControlError, match="kind"):
        ocp.faults.plan("htp", "reset")
    with pytest.raises(ControlError, match="Fault 9"):
        ocp.faults.remove(9)


def test_fault_is_planned_counted_and_taken_back(ocp):
    fault = ocp.faults.plan("http", "error", {"path": "/api/v2/info"}, status=503, times=None)
    assert [ask(ocp, "/api/v2/info").status_code for _call in range(2)] == [503, 503]
    assert ocp.faults.hits(fault) == 2
    ocp.faults.remove(fault)
    assert ocp.faults.planned() == []
    assert ask(ocp, "/api/v2/info").status_code == 200
    ocp.faults.plan("http", "reset")
    ocp.faults.remove()
    assert ocp.faults.planned() == []


def test_planted_risk_is_found_by_inspections_until_it_is_cleared(ocp):
    inspection = {"inspectionObjectType": "OB_CLUSTER", "objectIds": [1], "tags": 1}
    other = ocp.fleet.plant_risk("orders", "replica_count", "LOW")
    risk = ocp.fleet.plant_risk("orders", "data_disk_usage", target="10.0.0.1:2882", value="97")
    ocp.clock.stop()
    found = []
    for number, cleared in enumerate((risk, other, None), 1):
        ask(ocp, "/api/v2/inspection/run", "POST", json=inspection).raise_for_status()
        ocp.clock.advance(3)
        report = ask(ocp, f"/api/v2/inspection/report/{number}").json()["data"]
        found.append([(item["target"], item["value"]) for item in report["reportItems"] if "level" in item])
        ocp.fleet.clear_risks(cleared)
    assert found == [[("10.0.0.1:2882", "97"), ("orders", "planted")], [("orders", "planted")], []]


@pytest.mark.parametrize(("cluster", "item"), [("nowhere", "replica_count"), ("orders", "weather")])
def test_risk_of_an_unknown_cluster_or_item_is_refused(ocp, cluster, item):
    with pytest.raises(ControlError):
        ocp.fleet.plant_risk(cluster, item)
    with pytest.raises(ControlError, match="Risk 1"):
        ocp.fleet.clear_risks(1)


def test_unused_faults_are_told_with_what_came_near(ocp):
    ocp.faults.plan("http", "reset", {"path": "/nowhere"})
    ocp.faults.plan("http", "error", {"path": "/api/v2/info"}, status=503, call=3)
    ocp.faults.plan("subtask", "stall", {"subtask": "Stop server"}, times=2)
    ocp.faults.plan("busy", "refuse")
    ocp.faults.plan("proxy", "hold", seconds=3, optional=True)
    hit = ocp.faults.plan("http", "slow", {"path": "/api/v2/status"}, seconds=0)
    for _call in range(2):
        ask(ocp, "/api/v2/info")
    ask(ocp, "/api/v2/status")
    ocp.clock.stop()
    assert ocp.faults.hits(hit) == 1
    assert ocp.faults.unused().splitlines()[1:-1] == [
        '  fault 1: http reset {"match": {"path": "/nowhere"}}',
        "    Requests: GET /api/v2/info, GET /api/v2/status",
        '  fault 2: http error {"match": {"path": "/api/v2/info"}, "call": 3, "status": 503}',
        "    Requests that matched: 2. None was hit, by its call or probability, or an earlier fault.",
        '  fault 3: subtask stall {"match": {"subtask": "Stop server"}}',
        "    Tasks: none. Subtasks that began: none",
        '  fault 4: busy refuse {"match": {}}',
        "    Tasks: none; none was asked for while another one had its target.",
    ]


def test_list_of_what_came_near_is_short(ocp):
    ocp.faults.plan("http", "reset", {"path": "/nowhere"})
    for number in range(15):
        ask(ocp, f"/api/v2/ob/clusters/{number}")
    told = ocp.faults.unused()
    assert "/api/v2/ob/clusters/11, and 3 more" in told
    assert "/api/v2/ob/clusters/12" not in told
