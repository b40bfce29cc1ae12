# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How long steps take: by name, by the name of their task, by chance; and no longer than their time-outs."""

from datetime import datetime

import pytest
from ocp_emulator.base.compatibility import PROFILES
from ocp_emulator.fleet.generate_fleet import generated_fleet
from ocp_emulator.tasks.blueprints import BLUEPRINTS
from ocp_emulator.tasks.durations import Durations
from pydantic import ValidationError

SERVER = "Restart OB server"
DURATIONS = "/emulator/durations"


def ends_after(emulated, task_id, seconds):
    """Whether a task is RUNNING a second before, and SUCCESSFUL a second after; steps are rounded to milliseconds."""
    emulated.pass_time(seconds - 1)
    before = emulated.task(task_id)["status"]
    emulated.pass_time(2)
    return (before, emulated.task(task_id)["status"]) == ("RUNNING", "SUCCESSFUL")


@pytest.mark.parametrize("profile", PROFILES)
def test_a_task_takes_the_time_of_its_name(start, profile):
    emulated = start(durations=Durations(tasks={"restart ob server": 1200}), switches=PROFILES[profile])
    assert ends_after(emulated, emulated.restart_server()["id"], 1200)
    assert ends_after(emulated, emulated.restart_agents()["id"], 9)


def test_named_steps_are_part_of_the_time_of_their_task(start):
    emulated = start(durations=Durations(tasks={SERVER: 600}, subtasks={"Start observer process": 500}))
    task_id = emulated.restart_server()["id"]
    emulated.pass_time(600)
    step = emulated.step(task_id, "Start observer process")
    assert emulated.task(task_id)["status"] == "SUCCESSFUL"
    assert 449 <= seconds_of(step) <= 451


def seconds_of(step):
    begin, end = (datetime.fromisoformat(step[key]) for key in ("startTime", "finishTime"))
    return (end - begin).total_seconds()


@pytest.mark.parametrize("blueprint", BLUEPRINTS, ids=lambda each: f"{each.task_name}-{len(each.steps)}")
def test_no_step_takes_longer_than_its_time_out(blueprint):
    slow = Durations(step_seconds=86_400, jitter=1.0)
    for place, (milliseconds, step) in enumerate(zip(slow.of(blueprint), blueprint.steps, strict=True)):
        assert milliseconds == step.timeout * 1000
        assert 0 <= slow.by_chance(milliseconds, step.timeout, 1, place) <= milliseconds


def test_long_steps_end_without_a_time_out(start):
    emulated = start(step_ms=86_400_000)
    task_id = emulated.restart_arbitration()["id"]
    assert ends_after(emulated, task_id, 60 + 1800 + 1800 + 120 + 60)


def test_chance_depends_on_the_seed_alone(start):
    def times(seed):
        emulated = start(durations=Durations(jitter=0.5, seed=seed))
        task_id = emulated.restart_server()["id"]
        emulated.pass_time(13 * 1.5)
        return [seconds_of(step) for step in emulated.steps(task_id)]

    first, other = times(1), times(2)
    assert times(1) == first != other
    assert len(set(first)) > 5
    assert all(0.45 <= each <= 1.35 for each in first)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"tasks": {"Restart server": 5}}, "no task has the name 'Restart server'; there are Batch restart"),
        ({"subtasks": {"Start": 5}}, "no subtask has the name 'Start'; there are Active agent modules"),
        ({"tasks": {SERVER: 12_000}}, "9060 s at most"),
        ({"subtasks": {"Wait node": 31}}, "30 s at most"),
        ({"jitter": 1.1}, "less than or equal to 1"),
        ({"step_seconds": -1}, "greater than or equal to 0"),
    ],
)
def test_what_cannot_be_is_refused(fields, named):
    with pytest.raises(ValidationError, match=named):
        Durations(**fields)


def test_durations_can_be_changed_and_are_set_back(emulated):
    assert emulated.get(DURATIONS) == {"stepSeconds": 1.0, "tasks": {}, "subtasks": {}, "jitter": 0.0, "seed": 0}
    changed = emulated.data("PUT", DURATIONS, json={"tasks": {SERVER: 130}})
    assert changed == {"stepSeconds": 1.0, "tasks": {SERVER: 130}, "subtasks": {}, "jitter": 0.0, "seed": 0}
    assert ends_after(emulated, emulated.restart_server()["id"], 130)
    emulated.request("PUT", "/emulator/snapshots/slow").raise_for_status()
    emulated.request("POST", "/emulator/reset").raise_for_status()
    assert emulated.get(DURATIONS)["tasks"] == {}
    emulated.request("POST", "/emulator/snapshots/slow/restore").raise_for_status()
    assert emulated.get(DURATIONS)["tasks"] == {SERVER: 130}
    message = emulated.error(400, "PUT", DURATIONS, json={"tasks": {"x": 1}})["message"]
    assert "no task has the name 'x'" in message


def test_at_most_ten_subtasks_of_a_task_run_at_once(start):
    emulated = start(fleet=generated_fleet(1, 1, 25))
    task_id = emulated.restart_agents(*range(1, 26))["id"]
    most = 0
    for _tenth in range(400):
        states = [step["status"] for step in emulated.task(task_id)["subtasks"]]
        most = max(most, states.count("RUNNING"))
        if set(states) == {"SUCCESSFUL"}:
            break
        emulated.pass_time(0.1)
    assert (emulated.task(task_id)["status"], most) == ("SUCCESSFUL", 10)
    # Three rounds for each of five split steps, one for each of four others; 0.9 s of a second are RUNNING.
    assert ends_within(emulated, task_id, 4 + 5 * (0.1 + 3 * 0.9))


def ends_within(emulated, task_id, seconds):
    return abs(seconds_of(emulated.task(task_id)) - seconds) < 0.01
