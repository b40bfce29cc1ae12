# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""OBProxies: how they are read, restarted several in one task, and refused."""

import pytest

CLUSTERS = "/api/v2/obproxy/clusters"
RESTART = f"{CLUSTERS}/1/obproxies/{{}}/restart"
DOCUMENTED = {
    "address",
    "configUrl",
    "createTime",
    "creatorId",
    "creatorName",
    "id",
    "name",
    "obLinks",
    "obproxies",
    "parameterVersion",
    "port",
    "topo",
    "updateTime",
    "versions",
    "workMode",
}
DOCUMENTED_OBPROXY = {
    "architecture",
    "clusterId",
    "exporterPort",
    "hostId",
    "id",
    "idcName",
    "ip",
    "lastActiveTime",
    "operateStatus",
    "parameterVersion",
    "sqlPort",
    "status",
    "version",
}


def states(emulated):
    return [(each["status"], each["operateStatus"]) for each in emulated.get(f"{CLUSTERS}/1")["obproxies"]]


def test_list_and_detail_have_the_documented_fields(emulated):
    [listed] = emulated.get(CLUSTERS)["contents"]
    detail = emulated.get(f"{CLUSTERS}/1")
    assert listed.keys() == detail.keys() == DOCUMENTED
    assert [each.keys() for each in detail["obproxies"]] == [DOCUMENTED_OBPROXY] * 2
    assert (detail["name"], detail["address"], detail["port"]) == ("entry", "10.0.0.8", 2883)
    assert [(each["id"], each["ip"], each["hostId"]) for each in detail["obproxies"]] == [
        (1, "10.0.0.8", 8),
        (2, "10.0.0.9", 9),
    ]
    assert (detail["topo"], detail["versions"][0]["count"]) == ([{"idcName": "default_idc", "count": 2}], 2)


@pytest.mark.parametrize(("name", "found"), [("ENT", [1]), ("exit", [])])
def test_list_is_filtered_by_name(name, found, emulated):
    assert [each["id"] for each in emulated.get(CLUSTERS, params={"name": name})["contents"]] == found


def test_host_shows_its_obproxy(emulated):
    services = emulated.get("/api/v2/compute/hosts/8")["services"]
    assert ("10.0.0.8:2883", "OB_PROXY") in [(each["name"], each["type"]) for each in services]


def test_answer_names_the_obproxies_in_its_context_and_reads_do_by_tags(emulated):
    answer = emulated.restart_obproxies(2, 1)
    lists = {"host_ids": ["9", "8"], "obproxy_server_ids": ["2", "1"]}
    assert (answer["name"], answer["context"]["listMap"]) == ("Restart obproxy", lists)
    assert all(step["className"] for step in answer["subtasks"])
    task = emulated.task(answer["id"])
    assert "context" not in task
    assert [(tag["obproxyId"], tag["hostId"], tag["objectType"]) for tag in task["tags"]] == [
        (2, 9, "OBPROXY"),
        (1, 8, "OBPROXY"),
    ]
    for host, found in ((8, [answer["id"]]), (9, [answer["id"]]), (1, [])):
        listed = emulated.get("/api/v2/tasks/instances", params={"hostId": host})["contents"]
        assert [each["id"] for each in listed] == found


def test_obproxy_is_operating_and_away_while_it_restarts(emulated):
    emulated.restart_obproxies(1)
    assert states(emulated) == [("RUNNING", "OPERATING"), ("RUNNING", "NORMAL")]
    emulated.pass_time(2)
    assert states(emulated) == [("UNAVAILABLE", "OPERATING"), ("RUNNING", "NORMAL")]
    emulated.pass_time(2)
    assert states(emulated) == [("RUNNING", "OPERATING"), ("RUNNING", "NORMAL")]
    emulated.pass_time(2)
    assert states(emulated) == [("RUNNING", "NORMAL")] * 2
    assert emulated.restarts() == {("OBPROXY", 1): 1}


def test_rolled_back_restart_is_none(emulated):
    fault = {"kind": "subtask", "action": "fail", "match": {"subtask": "Start obproxy", "element": 2}}
    emulated.data("POST", "/emulator/faults", json=fault)
    task = emulated.restart_obproxies(2)["id"]
    emulated.pass_time(4)
    assert (emulated.task(task)["status"], states(emulated)[1]) == ("FAILED", ("UNAVAILABLE", "OPERATING"))
    emulated.request("POST", f"/api/v2/tasks/instances/{task}/rollback")
    emulated.pass_time(5)
    assert (emulated.task(task)["status"], states(emulated)[1]) == ("SUCCESSFUL", ("RUNNING", "NORMAL"))
    assert emulated.restarts() == {}


@pytest.mark.parametrize("path", [RESTART.format("3"), RESTART.format("1,3"), f"{CLUSTERS}/2/obproxies/1/restart"])
def test_unknown_obproxy_is_refused_and_none_restarts(path, emulated):
    assert "does not exist" in emulated.error(404, "POST", path)["message"]
    assert emulated.get("/api/v2/tasks/instances")["contents"] == []


@pytest.mark.parametrize("ids", ["x", "1,", "1;2", "-1"])
def test_ids_that_are_no_numbers_are_refused(ids, emulated):
    assert "obproxyIds" in emulated.error(400, "POST", RESTART.format(ids))["message"]


def test_busy_obproxy_is_refused(emulated):
    emulated.restart_obproxies(1)
    emulated.pass_time(2)
    assert "OBProxy 1 (10.0.0.8:2883)" in emulated.error(409, "POST", RESTART.format("2,1"))["message"]


def test_obproxy_that_does_not_run_is_refused(emulated):
    assert emulated.request("PUT", "/emulator/obproxies/1/process", json={"running": False}).status_code == 200
    assert states(emulated)[0] == ("UNAVAILABLE", "NORMAL")
    assert "needs RUNNING" in emulated.error(400, "POST", RESTART.format("1"))["message"]
    assert emulated.request("PUT", "/emulator/obproxies/1/process", json={"running": True}).status_code == 200
    assert emulated.restart_obproxies(1)["status"] == "RUNNING"


PARAMETERS = f"{CLUSTERS}/1/parameters"


def proxy_parameter(emulated, name):
    return next(each for each in emulated.get(PARAMETERS)["contents"] if each["name"] == name)


def test_parameters_show_which_need_a_restart_and_the_values_of_each_obproxy(emulated):
    listed = emulated.get(PARAMETERS)["contents"]
    assert {frozenset(each) for each in listed} == {
        frozenset({"description", "name", "needReboot", "valueString", "values"})
    }
    assert {each["name"] for each in listed if each["needReboot"]} == {
        "net_accept_threads",
        "work_thread_num",
        "stack_size",
    }
    shown = proxy_parameter(emulated, "net_accept_threads")
    assert (shown["valueString"], shown["values"]) == ("2", [{"value": "2", "obproxies": ["10.0.0.8", "10.0.0.9"]}])


def test_planted_parameters_of_an_obproxy_are_shown_while_it_runs(emulated):
    body = {"parameters": {"net_accept_threads": "4"}}
    emulated.request("PUT", "/emulator/obproxies/2/parameters", json=body).raise_for_status()
    shown = proxy_parameter(emulated, "net_accept_threads")
    assert shown["valueString"] == "2,4"
    assert shown["values"] == [{"value": "2", "obproxies": ["10.0.0.8"]}, {"value": "4", "obproxies": ["10.0.0.9"]}]
    emulated.request("PUT", "/emulator/obproxies/1/process", json={"running": False}).raise_for_status()
    assert proxy_parameter(emulated, "net_accept_threads")["values"] == [{"value": "4", "obproxies": ["10.0.0.9"]}]


def test_parameters_of_obproxies_cannot_be_set_and_unknown_ones_are_refused(emulated):
    emulated.error(404, "GET", f"{CLUSTERS}/9/parameters")
    emulated.error(400, "PUT", PARAMETERS, json=[{"name": "net_accept_threads", "value": "4"}])
    emulated.error(400, "PUT", "/emulator/obproxies/1/parameters", json={"parameters": {"cpu_count": "4"}})
    emulated.error(404, "PUT", "/emulator/obproxies/9/parameters", json={"parameters": {"stack_size": "2MB"}})
