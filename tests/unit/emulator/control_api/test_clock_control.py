# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The control calls that stop, start and advance the clock."""

from datetime import datetime, timedelta

import pytest

CLOCK = "/emulator/clock"


def moment(text):
    return datetime.fromisoformat(text)


def test_stopped_clock_moves_only_when_advanced(emulated):
    begin = moment(emulated.get(CLOCK)["time"])
    assert emulated.data("PUT", CLOCK, json={"running": False})["running"] is False
    task_id = emulated.restart_server(1)["id"]
    emulated.pass_time(3_600)
    assert moment(emulated.get(CLOCK)["time"]) == begin
    assert moment(emulated.get("/api/v2/time")) == begin
    assert emulated.steps(task_id)[0]["status"] == "READY"
    state = emulated.data("POST", f"{CLOCK}/advance", json={"seconds": 12.9})
    assert moment(state["time"]) == begin + timedelta(seconds=12.9)
    assert emulated.task(task_id)["status"] == "RUNNING"
    emulated.data("POST", f"{CLOCK}/advance", json={"seconds": 0.1})
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"
    assert emulated.data("PUT", CLOCK, json={"running": True})["running"] is True
    emulated.pass_time(5)
    assert moment(emulated.get(CLOCK)["time"]) == begin + timedelta(seconds=18)


def test_advancing_a_running_clock_keeps_the_machine_clock_unchanged(emulated):
    begin = moment(emulated.get(CLOCK)["time"])
    emulated.data("POST", f"{CLOCK}/advance", json={"seconds": 7_200})
    emulated.pass_time(1)
    assert moment(emulated.get(CLOCK)["time"]) == begin + timedelta(seconds=7_201)
    service = emulated.app.state.service
    assert service.machine_clock.now() == service.clock.now() - 7_200_000


def test_a_faster_clock_makes_a_restart_shorter(emulated):
    begin = moment(emulated.get(CLOCK)["time"])
    assert emulated.data("PUT", CLOCK, json={"speed": 60})["speed"] == 60
    emulated.data("PUT", "/emulator/durations", json={"tasks": {"Restart OB server": 1200}})
    task_id = emulated.restart_server(1)["id"]
    emulated.pass_time(19.9)
    assert emulated.task(task_id)["status"] == "RUNNING"
    emulated.pass_time(0.1)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"
    assert moment(emulated.get(CLOCK)["time"]) == begin + timedelta(minutes=20)
    emulated.data("PUT", CLOCK, json={"running": False})
    emulated.pass_time(5)
    assert emulated.data("PUT", CLOCK, json={"running": True, "speed": 1})["speed"] == 1
    emulated.pass_time(5)
    assert moment(emulated.get(CLOCK)["time"]) == begin + timedelta(minutes=20, seconds=5)


def test_speed_survives_a_restart_and_is_set_back(start, tmp_path):
    database = tmp_path / "state.db"
    first = start(database=database, speed=10)
    begin = moment(first.get(CLOCK)["time"])
    first.pass_time(1)
    first.data("PUT", CLOCK, json={"speed": 2})
    first.request("POST", "/emulator/reset").raise_for_status()
    assert moment(first.get(CLOCK)["time"]) == begin + timedelta(seconds=10)
    first.app.state.service.close()
    second = start(database=database)
    second.pass_time(1)
    assert second.get(CLOCK)["speed"] == 10
    assert moment(second.get(CLOCK)["time"]) == begin + timedelta(seconds=20)


def test_a_snapshot_has_its_speed(emulated):
    emulated.data("PUT", CLOCK, json={"speed": 60})
    then = moment(emulated.get(CLOCK)["time"])
    emulated.request("PUT", "/emulator/snapshots/fast").raise_for_status()
    emulated.pass_time(1)
    emulated.data("PUT", CLOCK, json={"speed": 1})
    emulated.request("POST", "/emulator/snapshots/fast/restore").raise_for_status()
    emulated.pass_time(1)
    assert moment(emulated.get(CLOCK)["time"]) == then + timedelta(minutes=1)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", CLOCK, {}),
        ("PUT", CLOCK, {"speed": 0}),
        ("PUT", CLOCK, {"speed": "fast"}),
        ("PUT", CLOCK, {"running": "no"}),
        ("PUT", CLOCK, {"running": True, "time": 1}),
        ("POST", f"{CLOCK}/advance", {}),
        ("POST", f"{CLOCK}/advance", {"seconds": -1}),
        ("POST", f"{CLOCK}/advance", {"seconds": "1"}),
        ("POST", f"{CLOCK}/advance", {"seconds": 1e12}),
    ],
)
def test_invalid_clock_request_is_400(emulated, method, path, body):
    emulated.error(400, method, path, json=body)


def test_clock_cannot_advance_past_the_last_valid_date(emulated):
    answers = {
        emulated.request("POST", f"{CLOCK}/advance", json={"seconds": 3.15e8}).status_code for _year in range(805)
    }
    assert answers == {200, 400}
    assert emulated.get(CLOCK)["time"].startswith("99")
