# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The answers and effects of a zone's restart, and of starts and stops of server, zone and cluster."""

from datetime import datetime, timedelta

import pytest
from ocp_emulator.base.compatibility import PROFILES, Switches

CLUSTER = "/api/v2/ob/clusters/1"
ZONE = f"{CLUSTER}/zones/zone1"
SERVER = f"{CLUSTER}/servers/2"
NEVER = "1970-01-01T08:00:00+08:00"


def states(emulated):
    """The status of cluster 1, of its zones, and the status and inner status of its servers, two a zone."""
    cluster = emulated.cluster(1)
    servers = [server for zone in cluster["zones"] for server in zone["servers"]]
    return (
        cluster["status"],
        [zone["status"] for zone in cluster["zones"]],
        [server["status"] for server in servers],
        [server["innerStatus"] for server in servers],
    )


ALL_UP = ("RUNNING", ["RUNNING"] * 3, ["RUNNING"] * 6, ["ACTIVE"] * 6)


def test_zone_restart_returns_its_task_and_subtasks(emulated, ordered):
    task = emulated.data("POST", f"{ZONE}/restart")
    assert set(task) == {
        "id",
        "name",
        "operation",
        "status",
        "startTime",
        "creator",
        "executor",
        "taskDefinitionId",
        "type",
        "clusterId",
        "context",
        "subtasks",
    }
    assert (task["name"], task["clusterId"], task["status"]) == ("Restart OB zone", 1, "RUNNING")
    assert task["context"]["listMap"] == {"server_ids": ["1", "2"]}
    assert task["context"]["stringMap"]["zone_name"] == "zone1"
    first, *others = ordered(task["subtasks"])
    assert (first["description"], first["status"]) == ("Prepare restart OB zone", "READY")
    assert {subtask["status"] for subtask in others} == {"PENDING"}
    assert len(task["subtasks"]) == 20
    subtasks = {subtask["id"]: subtask for subtask in task["subtasks"]}
    for number, subtask in subtasks.items():
        assert "className" in subtask
        assert all(number in subtasks[upstream]["downstreams"] for upstream in subtask["upstreams"])
        assert all(number in subtasks[downstream]["upstreams"] for downstream in subtask["downstreams"])
    (tag,) = emulated.task(task["id"])["tags"]
    assert (tag["objectType"], tag["clusterName"], tag["zoneName"]) == ("OB_ZONE", "orders", "zone1")


def test_zone_restart_restarts_only_the_servers_of_the_zone(emulated):
    before = emulated.cluster(1)["obStartTime"]
    task = emulated.data("POST", f"{ZONE}/restart")
    assert states(emulated) == (
        "OPERATING",
        ["RESTARTING", "RUNNING", "RUNNING"],
        ["RESTARTING"] * 2 + ["RUNNING"] * 4,
        ["ACTIVE"] * 6,
    )
    emulated.pass_time(5)
    assert states(emulated)[3] == ["INACTIVE"] * 2 + ["ACTIVE"] * 4
    assert emulated.get(f"{CLUSTER}/zones")["contents"][0]["innerStatus"] == "INACTIVE"
    emulated.pass_time(10)
    assert states(emulated) == ALL_UP
    started = datetime.fromisoformat(task["startTime"]) + timedelta(seconds=7)
    assert {datetime.fromisoformat(emulated.server(server)["startTime"]) for server in (1, 2)} == {started}
    assert {emulated.server(server)["stopTime"] for server in (1, 2)} == {NEVER}
    assert emulated.cluster(1)["obStartTime"] == before
    assert emulated.get(f"{CLUSTER}/zones")["contents"][0]["innerStatus"] == "ACTIVE"
    assert emulated.restarts() == {("OB_SERVER", 1): 1, ("OB_SERVER", 2): 1, ("OB_ZONE", 1): 1}


def test_one_server_of_a_zone_can_fail_and_be_rolled_back(emulated):
    emulated.plan("fail", match={"subtask": "Start observer process", "element": 2})
    task_id = emulated.data("POST", f"{ZONE}/restart")["id"]
    emulated.pass_time(15)
    assert emulated.task(task_id)["status"] == "FAILED"
    assert emulated.restarts() == {("OB_SERVER", 1): 1}
    emulated.steer(task_id, "rollback")
    emulated.pass_time(15)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"
    assert states(emulated) == ALL_UP


def test_a_server_is_stopped_and_started(emulated):
    task = emulated.data("POST", f"{SERVER}/stop", json={"freezeServer": True})
    assert (task["name"], task["clusterId"], task["hostId"]) == ("Stop OB server", 1, 2)
    assert emulated.server(2)["status"] == "STOPPING"
    emulated.pass_time(8)
    assert emulated.task(task["id"])["status"] == "SUCCESSFUL"
    down = emulated.server(2)
    assert (down["status"], down["innerStatus"]) == ("STOPPED", "INACTIVE")
    assert down["stopTime"] != NEVER
    # The zone has another server that runs.
    assert states(emulated)[:2] == ("RUNNING", ["RUNNING"] * 3)
    assert emulated.data("POST", f"{SERVER}/start")["name"] == "Start OB server"
    assert emulated.server(2)["status"] == "STARTING"
    emulated.pass_time(9)
    up = emulated.server(2)
    assert (up["status"], up["innerStatus"], up["stopTime"]) == ("RUNNING", "ACTIVE", NEVER)
    assert up["startTime"] > down["stopTime"]
    assert emulated.restarts() == {("OB_SERVER", 2): 1}


def test_a_server_can_be_taken_out_of_service_and_back(emulated):
    before = emulated.server(2)
    task = emulated.data("POST", f"{SERVER}/stop", params={"type": "STOP_SERVICE"})
    assert len(task["subtasks"]) == 6
    emulated.pass_time(6)
    out = emulated.server(2)
    assert (out["status"], out["innerStatus"], out["startTime"]) == ("STOPPED", "ACTIVE", before["startTime"])
    emulated.data("POST", f"{SERVER}/start")
    emulated.pass_time(9)
    again = emulated.server(2)
    assert (again["status"], again["stopTime"], again["startTime"]) == ("RUNNING", NEVER, before["startTime"])
    assert emulated.restarts() == {}


def test_stopped_server_can_be_restarted(emulated):
    emulated.data("POST", f"{SERVER}/stop")
    emulated.pass_time(8)
    emulated.restart_server(2)
    emulated.pass_time(13)
    assert states(emulated) == ALL_UP


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"params": {"type": "STOP_ALL"}}, "type"),
        ({"json": {"type": "STOP_ALL"}}, "type"),
        ({"json": {"type": 1}}, "type"),
        ({"params": {"type": "STOP_SERVICE"}, "json": {"type": "STOP_PROCESS"}}, "type"),
        ({"json": {"freezeServer": "yes"}}, "freezeServer"),
        ({"params": {"force": "maybe"}}, "force"),
    ],
)
def test_invalid_stop_parameters_are_400_and_named(emulated, options, name):
    assert f"'{name}'" in emulated.error(400, "POST", f"{SERVER}/stop", **options)["message"]


@pytest.mark.parametrize(
    ("what", "zones", "servers"),
    [
        (ZONE, ["STOPPED", "RUNNING", "RUNNING"], ["STOPPED"] * 2 + ["RUNNING"] * 4),
        (CLUSTER, ["STOPPED"] * 3, ["STOPPED"] * 6),
    ],
)
def test_zone_and_cluster_are_stopped_and_started(emulated, what, zones, servers):
    stop = emulated.data("POST", f"{what}/stop")
    assert "STOPPING" in states(emulated)[1]
    emulated.pass_time(20)
    assert emulated.task(stop["id"])["status"] == "SUCCESSFUL"
    assert states(emulated)[:3] == ("STOPPED" if what == CLUSTER else "RUNNING", zones, servers)
    start = emulated.data("POST", f"{what}/start")
    assert "STARTING" in states(emulated)[1]
    emulated.pass_time(20)
    assert emulated.task(start["id"])["status"] == "SUCCESSFUL"
    assert states(emulated) == ALL_UP
    assert {zone["innerStatus"] for zone in emulated.get(f"{CLUSTER}/zones")["contents"]} == {"ACTIVE"}


@pytest.mark.parametrize(("verb", "step"), [("stop", "Update observer status"), ("start", "Wait observer active")])
def test_rollback_undoes_a_stop_but_not_the_start_of_a_running_server(start, verb, step):
    emulated = start(switches=Switches(wrong_state="accept"))
    emulated.plan("fail", step)
    task_id = emulated.data("POST", f"{SERVER}/{verb}")["id"]
    emulated.pass_time(10)
    assert emulated.server(2)["innerStatus"] == ("INACTIVE" if verb == "stop" else "ACTIVE")
    emulated.steer(task_id, "rollback")
    emulated.pass_time(10)
    assert states(emulated) == ALL_UP


REDUCED = {"id", "name", "status", "startTime", "creator", "cluster", "context", "tasks"}


@pytest.mark.parametrize(
    ("profile", "path", "steps"),
    [
        ("4.3", f"{CLUSTER}/stop", 11),
        ("4.2", f"{CLUSTER}/stop", 11),
        ("4.2", f"{CLUSTER}/start", 18),
        ("4.2", f"{SERVER}/stop", 8),
        ("4.2", f"{SERVER}/start", 9),
    ],
)
def test_start_and_stop_have_the_reduced_form_and_begin_with_a_running_step(start, ordered, profile, path, steps):
    emulated = start(switches=PROFILES[profile])
    if path.endswith("start"):
        emulated.data("POST", path.replace("start", "stop"))
        emulated.pass_time(60)
    task = emulated.data("POST", path)
    assert set(task) == REDUCED
    assert task["creator"] == {"id": 100, "name": "admin"}
    assert task["cluster"] == {"id": 1, "name": "orders", "obClusterId": 101}
    assert task["context"].startswith("Context(parallelIdx=-1, stringMap={cluster_")
    first, *others = ordered(task["tasks"])
    assert first["status"] == "RUNNING"
    assert first["description"].startswith("Prepare ")
    assert ({each["status"] for each in others}, len(others)) == ({"PENDING"}, steps - 1)
    # The first step has begun with the request.
    emulated.pass_time(steps)
    assert emulated.task(task["id"])["status"] == "SUCCESSFUL"


def test_cluster_stop_has_the_form_of_the_other_restarts_by_a_switch(start):
    task = start(switches=Switches(cluster_answer="subtasks")).data("POST", f"{CLUSTER}/stop")
    assert (task["name"], task["operation"]) == ("Stop OB cluster", "EXECUTE")
    assert "subtasks" in task


def test_older_service_knows_no_type_of_a_stop(start):
    emulated = start(switches=PROFILES["4.2"])
    emulated.data("POST", f"{SERVER}/stop", params={"type": "STOP_SERVICE"})
    emulated.pass_time(60)
    assert emulated.server(2)["innerStatus"] == "INACTIVE"
