# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How tasks move on: along the links, each event at its own instant."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from ocp_emulator.service import Service, Settings
from ocp_emulator.tasks.attempts import shares


def moment(text):
    return datetime.fromisoformat(text)


def test_next_subtask_becomes_ready_when_the_previous_one_succeeds(emulated):
    task_id = emulated.restart_server(1)["id"]
    seen = []
    for seconds in (0, 0.099, 0.001, 0.899, 0.001, 0.1, 0.9):
        emulated.pass_time(seconds)
        seen.append([step["status"] for step in emulated.steps(task_id)][:3])
    assert seen == [
        ["READY", "PENDING", "PENDING"],
        ["READY", "PENDING", "PENDING"],
        ["RUNNING", "PENDING", "PENDING"],
        ["RUNNING", "PENDING", "PENDING"],
        ["SUCCESSFUL", "READY", "PENDING"],
        ["SUCCESSFUL", "RUNNING", "PENDING"],
        ["SUCCESSFUL", "SUCCESSFUL", "READY"],
    ]


@pytest.mark.parametrize(
    ("begin", "steps"),
    [("restart_server", 13), ("restart_cluster", 19), ("restart_agents", 9), ("restart_arbitration", 5)],
)
def test_task_ends_after_one_second_per_step(emulated, begin, steps):
    task_id = getattr(emulated, begin)()["id"]
    emulated.pass_time(steps - 0.001)
    before = emulated.task(task_id)
    assert (before["status"], "finishTime" in before) == ("RUNNING", False)
    emulated.pass_time(0.001)
    after = emulated.task(task_id)
    assert after["status"] == "SUCCESSFUL"
    assert moment(after["finishTime"]) - moment(after["startTime"]) == timedelta(seconds=steps)
    assert {subtask["status"] for subtask in after["subtasks"]} == {"SUCCESSFUL"}


def test_late_poll_shows_the_actual_event_times(emulated):
    task = emulated.restart_server(1)
    emulated.pass_time(3_600)
    begin = moment(task["startTime"])
    for number, step in enumerate(emulated.steps(task["id"])):
        assert moment(step["startTime"]) == begin + timedelta(seconds=number + 0.1)
        assert moment(step["finishTime"]) == begin + timedelta(seconds=number + 1)
        assert step["executor"] == "127.0.0.1"


def test_a_subtask_has_no_times_and_no_executor_before_it_runs(emulated):
    task_id = emulated.restart_server(1)["id"]
    emulated.pass_time(0.5)
    first, second, *_others = emulated.steps(task_id)
    assert {"startTime", "executor"} <= set(first)
    assert "finishTime" not in first
    assert not {"startTime", "finishTime", "executor"} & set(second)


def test_parallel_subtasks_run_together_and_the_wait_node_waits_for_all(emulated):
    task_id = emulated.restart_agents(1, 2, 3)["id"]
    emulated.pass_time(0.5)
    assert [step["status"] for step in emulated.steps(task_id)][:5] == ["RUNNING"] * 3 + ["PENDING"] * 2
    emulated.pass_time(0.5)
    assert [step["status"] for step in emulated.steps(task_id)][:5] == ["SUCCESSFUL"] * 3 + ["READY", "PENDING"]
    emulated.pass_time(8)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"


def test_a_wait_node_waits_for_the_slowest_of_its_upstreams(emulated):
    task_id = emulated.restart_agents(1, 2, 3)["id"]
    slow = emulated.steps(task_id)[1]["id"]
    with emulated.app.state.service.store.transaction() as db:
        db.execute("UPDATE subtasks SET run_ms = 1900 WHERE id = ?", (slow,))
    emulated.pass_time(1.999)
    assert [step["status"] for step in emulated.steps(task_id)][:4] == [
        "SUCCESSFUL",
        "RUNNING",
        "SUCCESSFUL",
        "PENDING",
    ]
    emulated.pass_time(0.001)
    assert [step["status"] for step in emulated.steps(task_id)][:5] == ["SUCCESSFUL"] * 3 + ["READY", "PENDING"]
    emulated.pass_time(8)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"


def test_first_step_of_a_cluster_restart_runs_for_its_full_duration(emulated):
    task_id = emulated.restart_cluster(1)["id"]
    first = emulated.steps(task_id)[0]
    assert (first["status"], first["startTime"]) == ("RUNNING", emulated.task(task_id)["startTime"])
    emulated.pass_time(1)
    assert [step["status"] for step in emulated.steps(task_id)][:2] == ["SUCCESSFUL", "READY"]


def test_step_duration_is_configurable(start):
    emulated = start(step_ms=250)
    task_id = emulated.restart_arbitration()["id"]
    emulated.pass_time(1.249)
    assert emulated.task(task_id)["status"] == "RUNNING"
    emulated.pass_time(0.001)
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"


@settings(deadline=None)
@given(some.integers(min_value=0, max_value=10**9))
def test_ready_and_running_time_add_up_to_the_step_duration(step_ms):
    ready, running = shares(step_ms)
    assert ready + running == step_ms
    assert 0 <= ready <= running


class StillClock:
    def now(self):
        return 1_800_000_000_000


STATE = ("tasks", "subtasks", "clusters", "zones", "servers", "hosts", "agent_processes", "arbitration_services")


def state_after(looks):
    """All of the state 16 seconds after four restarts, when the engine was also asked to catch up at these times."""
    clock = StillClock()
    service = Service(Settings(step_ms=1000), clock)
    admin = service.store.users()[0]
    begin = clock.now()
    service.submitter.restart_server(admin, begin, 1, 1, freeze=True, force=False)
    service.submitter.restart_agents(admin, begin + 130, [1, 2])
    service.submitter.restart_cluster(admin, begin + 260, 2)
    service.submitter.restart_arbitration_service(admin, begin + 390, 1)
    for look in [*sorted(looks), 16_000]:
        service.engine.advance(begin + look)
    selections = [f"SELECT * FROM {table} ORDER BY id" for table in STATE]
    selections.append("SELECT subtask_id, line FROM log_lines ORDER BY subtask_id, rowid")
    state = [[tuple(row) for row in service.store.db.execute(selection)] for selection in selections]
    service.close()
    return state


@settings(max_examples=25, deadline=None)
@given(some.lists(some.integers(min_value=400, max_value=15_999), max_size=30))
def test_state_does_not_depend_on_earlier_polls(looks):
    assert state_after(looks) == state_after([])
