# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Back to the start, and to named snapshots: fleet, tasks, faults, clock, requests; lagging replicas; files."""

import pytest
from ocp_emulator.security.rate_limit import Rate

TASKS = "/api/v2/tasks/instances"
SNAPSHOT = "/emulator/snapshots/before"


def state(emulated):
    return (
        emulated.cluster(1),
        emulated.get(TASKS)["contents"],
        emulated.get("/emulator/faults")["contents"],
        emulated.get("/api/v2/alarm/alarms")["contents"],
        emulated.get("/api/v2/audit/events")["contents"],
    )


def reset(emulated):
    emulated.request("POST", "/emulator/reset").raise_for_status()


def change(emulated):
    emulated.plan("fail", "Start observer process", times=None)
    emulated.data("POST", "/emulator/alarms", json={"alarmType": "x"})
    emulated.request("DELETE", "/emulator/servers/6").raise_for_status()
    emulated.restart_server(1)
    emulated.data("POST", "/emulator/clock/advance", json={"seconds": 60})


@pytest.mark.parametrize("on_disk", [False, True])
def test_reset_sets_all_back_to_the_start(start, tmp_path, on_disk):
    emulated = start(database=tmp_path / "state.db" if on_disk else None)
    before = state(emulated)
    change(emulated)
    assert state(emulated) != before
    reset(emulated)
    assert emulated.get("/emulator/requests")["contents"] == []
    assert state(emulated) == before
    assert emulated.get("/emulator/clock") == {"time": "2026-11-21T12:00:00+08:00", "running": True, "speed": 1.0}
    # And all works as before.
    task = emulated.restart_server(1)
    assert task["id"] == 1001
    emulated.pass_time(13)
    assert emulated.task(1001)["status"] == "SUCCESSFUL"


def test_reset_of_a_database_that_was_there_is_to_the_start_of_the_process(start, tmp_path):
    first = start(database=tmp_path / "state.db")
    first.restart_server(1)
    first.pass_time(20)
    first.app.state.service.close()
    emulated = start(database=tmp_path / "state.db")
    before = state(emulated)
    change(emulated)
    reset(emulated)
    assert state(emulated) == before
    assert len(before[1]) == 1


def test_snapshot_is_a_state_to_go_back_to_with_its_time(emulated):
    emulated.restart_server(1)
    emulated.pass_time(5)
    emulated.request("PUT", SNAPSHOT).raise_for_status()
    shown = {"name": "before", "time": "2026-11-21T12:00:05+08:00"}
    assert emulated.get("/emulator/snapshots") == {"contents": [shown]}
    before = state(emulated)
    for _twice in range(2):
        change_of = emulated.restart_server(2)
        emulated.pass_time(600)
        assert emulated.task(change_of["id"])["status"] == "SUCCESSFUL"
        emulated.request("POST", f"{SNAPSHOT}/restore").raise_for_status()
        assert state(emulated) == before
        assert emulated.get("/api/v2/time") == "2026-11-21T12:00:05+08:00"
    # The task goes on from where it was.
    assert emulated.task(1001)["status"] == "RUNNING"
    emulated.pass_time(8)
    assert emulated.task(1001)["status"] == "SUCCESSFUL"


def test_stopped_clock_of_a_snapshot_stays_stopped(emulated):
    emulated.data("PUT", "/emulator/clock", json={"running": False})
    emulated.request("PUT", SNAPSHOT).raise_for_status()
    emulated.data("POST", "/emulator/clock/advance", json={"seconds": 60})
    emulated.data("PUT", "/emulator/clock", json={"running": True})
    emulated.request("POST", f"{SNAPSHOT}/restore").raise_for_status()
    assert emulated.get("/emulator/clock") == {"time": "2026-11-21T12:00:00+08:00", "running": False, "speed": 1.0}


def test_snapshots_are_replaced_forgotten_and_limited(emulated):
    emulated.request("PUT", SNAPSHOT).raise_for_status()
    emulated.restart_server(1)
    emulated.request("PUT", SNAPSHOT).raise_for_status()
    reset(emulated)
    assert emulated.get(TASKS)["contents"] == []
    emulated.request("POST", f"{SNAPSHOT}/restore").raise_for_status()
    assert len(emulated.get(TASKS)["contents"]) == 1
    emulated.request("DELETE", SNAPSHOT).raise_for_status()
    emulated.error(404, "POST", f"{SNAPSHOT}/restore")
    emulated.error(404, "DELETE", SNAPSHOT)
    emulated.error(400, "PUT", "/emulator/snapshots/a%20b")
    for number in range(50):
        emulated.request("PUT", f"/emulator/snapshots/s{number}").raise_for_status()
    emulated.error(400, "PUT", "/emulator/snapshots/one-more")
    emulated.error(403, "POST", "/emulator/reset", auth=("viewer", "ocp-demo-1"))


def test_reset_while_answers_lag_and_requests_are_held(emulated):
    lag = {"kind": "answer", "action": "lag", "seconds": 5, "match": {"path": f"{TASKS}*"}, "times": None}
    hold = {"kind": "proxy", "action": "hold", "seconds": 30, "match": {"path": "*/restart"}}
    for fault in (lag, hold):
        emulated.data("POST", "/emulator/faults", json=fault)
    assert emulated.get(TASKS)["contents"] == []
    emulated.request("POST", "/api/v2/ob/clusters/1/restart")
    emulated.pass_time(3)
    reset(emulated)
    emulated.pass_time(60)
    assert emulated.get(TASKS)["contents"] == []
    # A new fault has a copy of its own.
    emulated.data("POST", "/emulator/faults", json=lag)
    emulated.restart_cluster(1)
    assert emulated.get(TASKS)["contents"] == []
    emulated.pass_time(6)
    assert len(emulated.get(TASKS)["contents"]) == 1


def test_reset_begins_new_windows_of_the_rate_limit(start):
    emulated = start(rates=(Rate(1, 60),))
    emulated.get(TASKS)
    assert emulated.request("GET", TASKS).status_code == 429
    reset(emulated)
    emulated.get(TASKS)


def test_index_has_every_call_of_the_control_api(emulated):
    index = emulated.get("/emulator")
    document = emulated.app.openapi()["paths"]
    there = {(call["method"], call["path"]) for call in index["calls"]}
    assert there == {
        (method.upper(), path) for path in document if path.startswith("/emulator") for method in document[path]
    }
    assert ("POST", "/emulator/reset") in there
    assert all(call["summary"] for call in index["calls"])
    assert index["switches"]["wrong_state"] == "refuse"
    assert emulated.request("GET", index["openapi"], auth=None).status_code == 200
