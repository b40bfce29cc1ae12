# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An emulator whose process ended is started again on the same database: tasks, ids and fleet go on where they were."""

import pytest
from ocp_emulator.fleet.generate_fleet import default_fleet, generated_fleet
from ocp_emulator.store.database import StoreError

START = "Start observer process"
FAULTS, CLOCK = "/emulator/faults", "/emulator/clock"


def restarted(emulated, start, database, **settings):
    """The emulator on the same database again, as after its process has ended."""
    emulated.app.state.service.close()
    return start(database=database, **settings)


def test_tasks_resume_after_a_restart_and_the_downtime_counts(start, tmp_path):
    database = tmp_path / "state.db"
    emulated = start(database=database)
    task_id = emulated.restart_server(2)["id"]
    emulated.pass_time(3.5)
    before = emulated.task(task_id)

    again = restarted(emulated, start, database)
    assert again.task(task_id) == before
    assert again.server(2)["operatingTaskInstanceId"] == task_id
    again.error(409, "POST", "/api/v2/ob/clusters/1/restart")

    again.app.state.service.close()
    again.pass_time(5)
    third = start(database=database)
    done = [step["status"] for step in third.steps(task_id)].count("SUCCESSFUL")
    assert done == 8
    third.pass_time(5)
    assert third.task(task_id)["status"] == "SUCCESSFUL"


def test_started_task_keeps_its_step_duration(start, tmp_path):
    database = tmp_path / "state.db"
    emulated = start(database=database)
    first = emulated.restart_server(2)["id"]
    again = restarted(emulated, start, database, step_ms=100)
    second = again.restart_server(3)["id"]
    again.pass_time(1.3)
    assert [again.task(number)["status"] for number in (first, second)] == ["RUNNING", "SUCCESSFUL"]
    again.pass_time(11.7)
    assert again.task(first)["status"] == "SUCCESSFUL"


def test_ids_are_not_reused_after_a_restart(start, tmp_path):
    database = tmp_path / "state.db"
    emulated = start(database=database)
    first = emulated.restart_server(2)
    again = restarted(emulated, start, database)
    second = again.restart_server(3)
    assert second["id"] > first["id"]
    assert min(step["id"] for step in second["subtasks"]) > max(step["id"] for step in first["subtasks"])


def test_a_database_keeps_its_fleet(start, tmp_path):
    database = tmp_path / "state.db"
    emulated = start(database=database, fleet=generated_fleet(2, 1, 1))
    for fleet in (None, generated_fleet(2, 1, 1)):
        emulated = restarted(emulated, start, database, fleet=fleet)
        assert [cluster["name"] for cluster in emulated.get("/api/v2/ob/clusters")["contents"]] == [
            "cluster1",
            "cluster2",
        ]
    with pytest.raises(StoreError, match="another fleet"):
        restarted(emulated, start, database, fleet=default_fleet())


def test_faults_clock_and_failed_tasks_survive_a_process_restart(start, tmp_path):
    emulated = start(database=tmp_path / "state.db")
    task_id = emulated.failed_restart(START)
    emulated.plan("stall", START)
    emulated.data("PUT", CLOCK, json={"running": False})
    before = emulated.get(CLOCK), emulated.get(FAULTS), emulated.task(task_id), emulated.restarts()
    emulated.app.state.service.close()
    emulated.pass_time(500)
    again = start(database=tmp_path / "state.db")
    assert (again.get(CLOCK), again.get(FAULTS), again.task(task_id), again.restarts()) == before
    again.steer(task_id, "retry")
    again.data("POST", f"{CLOCK}/advance", json={"seconds": 1200})
    assert again.step(task_id, START)["status"] == "RUNNING"
    again.data("POST", f"{CLOCK}/advance", json={"seconds": 0.1})
    assert again.step(task_id, START)["operation"] == "CANCEL"
