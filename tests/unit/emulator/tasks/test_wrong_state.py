# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Operations that the state of their target does not allow: their codes, what is free of the rule, deleted servers."""

import pytest
from ocp_emulator.base.compatibility import PROFILES, Switches
from ocp_emulator.fleet.generate_fleet import generated_fleet

CLUSTER = "/api/v2/ob/clusters/1/"
ZONE = f"{CLUSTER}zones/zone1/"
SERVER = f"{CLUSTER}servers/1/"
AGENT = "/api/v2/compute/hosts/1/agent/"
CODES = {SERVER: 19004, ZONE: 18005, CLUSTER: 11008}


def do(emulated, path, **options):
    emulated.data("POST", path, **options)
    emulated.pass_time(60)


def refused(emulated, path, code, **options):
    error = emulated.error(400, "POST", path, **options)
    assert error["code"] == code
    assert emulated.get("/api/v2/tasks/instances", params={"status": "RUNNING"})["contents"] == []
    return error["message"]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("target", "code"), CODES.items())
def test_what_runs_is_not_started_and_what_is_stopped_is_not_stopped(start, profile, target, code):
    emulated = start(switches=PROFILES[profile])
    assert "is RUNNING: this operation needs STOPPED" in refused(emulated, f"{target}start", code)
    do(emulated, f"{target}stop")
    assert "is STOPPED: this operation needs RUNNING" in refused(emulated, f"{target}stop", code)
    do(emulated, f"{target}start")
    refused(emulated, f"{target}start", code)
    # A restart needs neither.
    do(emulated, f"{target}stop")
    do(emulated, f"{target}restart", params={"freezeServer": True})
    refused(emulated, f"{target}start", code)


@pytest.mark.parametrize("target", CODES)
def test_a_switch_lets_the_service_accept_them(start, target):
    emulated = start(switches=Switches(wrong_state="accept"))
    before = [emulated.server(number)["startTime"] for number in range(1, 7)]
    do(emulated, f"{target}start")
    assert [emulated.server(number)["startTime"] for number in range(1, 7)] == before
    do(emulated, f"{target}stop")
    do(emulated, f"{target}stop")
    tasks = emulated.get("/api/v2/tasks/instances")["contents"]
    assert [task["status"] for task in tasks] == ["SUCCESSFUL"] * 3


def test_server_that_does_not_answer_can_be_started_and_stopped(emulated):
    for verb in ("start", "stop"):
        emulated.request("PUT", "/emulator/servers/1", json={"available": False}).raise_for_status()
        assert emulated.server(1)["status"] == "UNAVAILABLE"
        do(emulated, f"{SERVER}{verb}")


def test_process_of_a_server_out_of_service_can_be_stopped(emulated):
    do(emulated, f"{SERVER}stop", params={"type": "STOP_SERVICE"})
    refused(emulated, f"{SERVER}stop", 19004, params={"type": "STOP_SERVICE"})
    do(emulated, f"{SERVER}stop", params={"type": "STOP_PROCESS"})
    assert emulated.server(1)["innerStatus"] == "INACTIVE"
    refused(emulated, f"{SERVER}stop", 19004, params={"type": "STOP_PROCESS"})


def test_only_server_of_a_cluster_is_not_stopped_but_its_cluster_is(start):
    emulated = start(fleet=generated_fleet(1, 1, 1))
    assert "stop the cluster instead" in refused(emulated, f"{SERVER}stop", 19020)
    do(emulated, f"{CLUSTER}stop")
    do(emulated, f"{SERVER}start")


def test_busy_comes_before_the_state(emulated):
    task_id = emulated.restart_server(1)["id"]
    assert f"task {task_id} " in emulated.error(409, "POST", f"{SERVER}start")["message"]


def test_operation_that_waits_for_a_busy_target_is_not_judged_by_its_state(start):
    emulated = start(busy="accept")
    emulated.data("POST", f"{SERVER}stop")
    do(emulated, f"{SERVER}stop")
    assert emulated.get("/api/v2/tasks/instances")["page"]["totalElements"] == 2


def test_stopped_agent_is_not_stopped_again(start):
    emulated = start(switches=PROFILES["4.2"])
    do(emulated, f"{AGENT}stop")
    assert "is OFFLINE" in refused(emulated, f"{AGENT}stop", 7019)
    do(emulated, f"{AGENT}restart")
    do(emulated, f"{AGENT}stop")


def test_deleted_server_takes_no_operation_and_its_zone_works_without_it(emulated):
    emulated.request("DELETE", "/emulator/servers/1").raise_for_status()
    found = emulated.server(1)
    assert (found["status"], found["innerStatus"]) == ("DELETED", "INACTIVE")
    for verb in ("start", "stop", "restart"):
        assert "is DELETED" in refused(emulated, f"{SERVER}{verb}", 19004, params={"freezeServer": True})
    do(emulated, f"{ZONE}restart")
    do(emulated, f"{CLUSTER}restart")
    assert emulated.server(1) == found
    assert emulated.restarts() == {
        **{("OB_SERVER", number): 1 for number in range(3, 7)},
        ("OB_SERVER", 2): 2,
        ("OB_ZONE", 1): 2,
        ("OB_ZONE", 2): 1,
        ("OB_ZONE", 3): 1,
        ("OB_CLUSTER", 1): 1,
    }
    emulated.error(404, "PUT", "/emulator/servers/1", json={"available": True})
    emulated.error(404, "PUT", "/emulator/servers/1/process", json={"running": True})
    emulated.error(404, "DELETE", "/emulator/servers/1")


def test_zone_and_cluster_go_with_their_last_server(emulated):
    for server in (1, 2):
        emulated.request("DELETE", f"/emulator/servers/{server}").raise_for_status()
    assert [zone["status"] for zone in emulated.cluster(1)["zones"]] == ["DELETED", "RUNNING", "RUNNING"]
    assert emulated.cluster(1)["status"] == "RUNNING"
    for verb in ("start", "stop", "restart"):
        assert "is DELETED" in refused(emulated, f"{ZONE}{verb}", 18005)
    for server in range(3, 7):
        emulated.request("DELETE", f"/emulator/servers/{server}").raise_for_status()
    assert emulated.cluster(1)["status"] == "DELETING"
    for verb in ("start", "stop", "restart"):
        assert "is DELETING" in refused(emulated, f"{CLUSTER}{verb}", 11008)


def test_server_that_a_task_works_on_is_not_deleted(emulated):
    emulated.restart_server(1)
    emulated.error(409, "DELETE", "/emulator/servers/1")
