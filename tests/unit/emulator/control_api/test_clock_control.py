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


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", CLOCK, {}),
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
