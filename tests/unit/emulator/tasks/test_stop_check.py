# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Stops that the database refuses: at which step, of which operations, and what a retry does.

In which states is tested with the collection, in test_collection_on_emulator.py.
"""

import pytest
from ocp_emulator.base.compatibility import PROFILES, Switches

ON = Switches(stop_server="refuse", wrong_state="accept")
TENANT = "/api/v2/ob/clusters/1/tenants"
OLD = {**vars(PROFILES["4.2"]), "stop_server": "refuse"}


def modify(emulated, status="MODIFYING", number=None):
    number = number or emulated.get(TENANT)["contents"][0]["id"]
    return emulated.request("PUT", f"/emulator/tenants/{number}", json={"status": status})


def end(emulated, path, **body):
    """The task of an operation once it has ended, and the description of its failed step."""
    task = emulated.data("POST", f"/api/v2/ob/clusters/1/{path}", json=body)
    emulated.pass_time(60)
    found = emulated.task(task["id"])
    failed = [step["description"] for step in found["subtasks"] if step["status"] == "FAILED"]
    return found, failed


@pytest.mark.parametrize(
    ("path", "step"),
    [
        ("servers/1/restart", "Stop observer service"),
        ("servers/1/stop", "Stop observer service"),
        ("zones/zone1/restart", "Stop zone"),
        ("zones/zone1/stop", "Stop zone"),
    ],
)
def test_operation_fails_at_the_step_that_stops_the_service(path, step, start):
    emulated = start(switches=ON)
    modify(emulated)
    task, failed = end(emulated, path, freezeServer=False)
    assert (task["status"], failed) == ("FAILED", [step])
    assert emulated.restarts() == {}


def test_older_steps_fail_too(start):
    emulated = start(switches=Switches(**OLD))
    modify(emulated)
    assert end(emulated, "servers/1/restart")[1] == ["Stop server"]


@pytest.mark.parametrize("path", ["servers/1/start", "zones/zone1/start", "restart", "stop"])
def test_starts_and_whole_clusters_are_not_checked(path, start):
    emulated = start(switches=ON)
    modify(emulated)
    assert end(emulated, path)[0]["status"] == "SUCCESSFUL"


def test_force_is_not_checked(start):
    emulated = start(switches=ON)
    modify(emulated)
    assert end(emulated, "servers/1/restart", freezeServer=False, force=True)[0]["status"] == "SUCCESSFUL"


def test_it_is_off_by_default(emulated):
    modify(emulated)
    assert end(emulated, "servers/1/restart", freezeServer=False)[0]["status"] == "SUCCESSFUL"


def test_retry_succeeds_once_the_state_has_ended(start):
    emulated = start(switches=ON)
    modify(emulated)
    task, _failed = end(emulated, "servers/1/restart", freezeServer=False)
    retry = f"/api/v2/tasks/instances/{task['id']}/retry"
    emulated.data("POST", retry)
    emulated.pass_time(60)
    assert emulated.task(task["id"])["status"] == "FAILED"
    modify(emulated, "NORMAL")
    emulated.data("POST", retry)
    emulated.pass_time(60)
    assert emulated.task(task["id"])["status"] == "SUCCESSFUL"


def test_servers_of_one_zone_stop_together(start):
    emulated = start(switches=ON)
    for server in (1, 2):
        emulated.data("POST", f"/api/v2/ob/clusters/1/servers/{server}/restart", json={"freezeServer": False})
    emulated.pass_time(60)
    assert {task["status"] for task in emulated.get("/api/v2/tasks/instances")["contents"]} == {"SUCCESSFUL"}


def test_first_of_two_zones_stops_and_the_other_fails(start):
    emulated = start(switches=ON)
    emulated.data("POST", "/api/v2/ob/clusters/1/servers/1/restart", json={"freezeServer": False})
    emulated.pass_time(2.5)
    task, failed = end(emulated, "servers/3/restart", freezeServer=False)
    assert (task["status"], failed) == ("FAILED", ["Stop observer service"])


def test_server_that_is_stopped_already_is_not_checked(start):
    emulated = start(switches=ON)
    emulated.request("PUT", "/emulator/servers/1/process", json={"running": False})
    modify(emulated)
    assert end(emulated, "servers/1/restart", freezeServer=False)[0]["status"] == "SUCCESSFUL"


def test_tenant_is_changed_and_locked(emulated):
    before = emulated.get(TENANT)["contents"][0]
    assert modify(emulated).status_code == 200
    emulated.request("PUT", f"/emulator/tenants/{before['id']}", json={"locked": True})
    assert emulated.get(TENANT)["contents"][0] == {**before, "status": "MODIFYING", "locked": True}
    assert modify(emulated, number=99).status_code == 404
    assert modify(emulated, "BROKEN").status_code == 400
