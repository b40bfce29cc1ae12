# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The steps of docs/approved-plan.md: a plan is written, approved, and run as it was, unless something has changed."""

from __future__ import annotations

import json
import runpy
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from documentation_blocks import blocks
from jsonschema import Draft202012Validator
from repository import REPOSITORY
from rolling import QUICK, message, plan_lines, posts, tasks

# That of the recording on the page, and its clock.
RECORD = SimpleNamespace(**runpy.run_path(str(REPOSITORY / "tools" / "record")))
ONE = ("--clusters", "1", "--zones", "3", "--servers-per-zone", "1", *QUICK)
SCHEMA = json.loads((Path(__file__).parents[2] / "docs/approved-plan.schema.json").read_text())


def test_plan_is_written_and_run_as_it_was_approved_or_not_at_all(roll, start_emulator, tmp_path):
    emulator = start_emulator(*ONE)
    file = tmp_path / "plan.json"
    checked = roll(emulator, ["cluster1"], check=True, plan_file=str(file))
    assert (checked.rc, file.exists()) == (0, False), checked.output
    written = roll(emulator, ["cluster1"], plan_file=str(file))
    assert (written.rc, posts(emulator)) == (0, []), written.output
    plan = json.loads(file.read_text())
    Draft202012Validator(SCHEMA).validate(plan)
    assert file.stat().st_mode & 0o777 == 0o600
    assert f"plan: {plan['digest']}" in plan_lines(checked)
    emulator.put("/emulator/servers/3", {"available": False})
    refused = roll(emulator, ["cluster1"], approved_plan=str(file))
    assert (refused.rc, posts(emulator)) == (2, []), refused.output
    assert "server 10.0.0.3:2882 has the status UNAVAILABLE now, the plan has RUNNING" in message(refused)
    emulator.put("/emulator/servers/3", {"available": True})
    done = roll(emulator, ["cluster1"], approved_plan=str(file))
    assert (done.rc, posts(emulator)) == (0, [2, 3, 1]), done.output
    again = roll(emulator, ["cluster1"], approved_plan=str(file))
    assert (again.rc, posts(emulator)) == (0, [2, 3, 1]), again.output


@pytest.mark.parametrize("files", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_run_pauses_while_the_file_is_there(roll, start_emulator, tmp_path, files):
    emulator = start_emulator(*ONE)
    pause, step = tmp_path / "pause", tmp_path / "step.yml"
    step.write_text(f"- ansible.builtin.file: {{path: {pause}, state: touch, mode: '0600'}}\n")
    given = {"pause_file": str(pause), **({"after_node": str(step)} if files else {})}
    if not files:
        pause.touch()
    paused = roll(emulator, ["cluster1"], **given)
    assert (paused.rc, posts(emulator)) == (0, [2] if files else []), paused.output
    assert f"since {pause} is there; remove it, then run the same command again: " in paused.output
    pause.unlink()
    given.pop("after_node", None)
    done = roll(emulator, ["cluster1"], **given)
    assert (done.rc, posts(emulator)) == (0, [2, 3, 1]), done.output


FLEET_FILE = blocks("docs/approved-plan.md", "yaml")[1]
WRITE, RUN = next(
    block for block in blocks("docs/approved-plan.md", "console") if "fleet_restart_plan_file" in block
).splitlines()


@pytest.fixture
def restart_fleet(ansible, connect, tmp_path):
    """The playbook as the page calls it, with its file of variables."""
    (tmp_path / "fleet.yml").write_text(FLEET_FILE)

    def run(emulator, command, more=""):
        connect(emulator)
        _prompt, _program, playbook, *arguments = command.replace("$PWD", str(tmp_path)).split()
        given = " ".join(arguments).replace("@fleet.yml", f"@{tmp_path / 'fleet.yml'}")
        return ansible.playbook(playbook, arguments=f"{given} -e fleet_restart_wait_interval=1 {more}")

    return run


def test_plan_of_a_fleet_is_written_and_run_as_it_was_approved_or_not_at_all(restart_fleet, emulator, tmp_path):
    file = tmp_path / "fleet.json"
    checked = restart_fleet(emulator, WRITE, "--check")
    assert (checked.rc, file.exists()) == (0, False), checked.output
    written = restart_fleet(emulator, WRITE)
    assert (written.rc, posts(emulator)) == (0, []), written.output
    plan = json.loads(file.read_text())
    Draft202012Validator(SCHEMA).validate(plan)
    assert (file.stat().st_mode & 0o777, len(plan["waves"])) == (0o600, 2)
    for shown in (checked, written):
        assert plan_lines(shown)[:2] == ["would restart 3 servers in 2 waves, 0 left alone", f"plan: {plan['digest']}"]
    emulator.put("/emulator/servers/4", {"available": False})
    refused = restart_fleet(emulator, RUN)
    assert (refused.rc, posts(emulator)) == (2, []), refused.output
    said = refused.result["msg"]
    assert said.startswith(f"Nothing was sent, since fleet_restart_approved_plan {file} does not fit any more (1 diff")
    assert "cluster orders: server 10.0.0.4:2882 has the status UNAVAILABLE now, the plan has RUNNING" in said
    assert "make a new plan with fleet_restart_plan_file" in said
    emulator.put("/emulator/servers/4", {"available": True})
    done = restart_fleet(emulator, RUN)
    assert done.rc == 0, done.output
    assert plan_lines(done)[:2] == [
        "3 to restart in 2 waves, 0 left alone",
        f"approved plan, unchanged: {plan['digest']}",
    ]
    order = posts(emulator)
    assert (order[-1], sorted(order)) == (1, [1, 3, 7])
    again = restart_fleet(emulator, RUN)
    assert (again.rc, posts(emulator)) == (0, order), again.output


def test_plan_of_one_kind_is_refused_by_the_other_and_an_edited_one_by_both(restart_fleet, roll, emulator, tmp_path):
    file = tmp_path / "fleet.json"
    assert restart_fleet(emulator, WRITE).rc == 0
    rolled = roll(emulator, ["orders"], approved_plan=str(file))
    assert (rolled.rc, "is a plan for fleet_restart, not for rolling_restart" in rolled.output) == (2, True), (
        rolled.output
    )
    file.write_text(file.read_text().replace("10.0.0.3", "10.0.0.4"))
    edited = restart_fleet(emulator, RUN)
    assert edited.rc == 2
    assert f"fleet_restart_approved_plan: {file} was edited: its content has the digest" in edited.result["msg"]
    roll(emulator, ["orders"], plan_file=str(file))
    other = restart_fleet(emulator, RUN)
    assert other.rc == 2
    assert f"fleet_restart_approved_plan: {file} is a plan for rolling_restart, not for" in other.result["msg"]
    both = restart_fleet(emulator, RUN, f"-e fleet_restart_plan_file={file}")
    assert both.rc == 2
    assert "fleet_restart_plan_file, fleet_restart_approved_plan: both are given" in both.result["msg"]
    assert posts(emulator) == []


@pytest.fixture
def nights(ansible, start_emulator, connect, tmp_path):
    """The example of a night shift, with clocks that go by what the test says; each restart takes 25 minutes."""
    emulator = start_emulator("--step-seconds", str(RECORD.NIGHT_STEP))
    connect(emulator)
    shutil.copy(REPOSITORY / "examples/night_shift.yml", tmp_path)
    clock, monday = RECORD.MovedClock(emulator.url, tmp_path), RECORD.next_monday(datetime.now(RECORD.BERLIN))

    def play(given, days, at, touched_at=None):
        """Run the example so many days after Monday, and make its pause file at a time of that day."""
        clock.until(RECORD.night(monday, days, at))
        touch = RECORD.night(monday, days, touched_at) if touched_at else None
        ansible.environment |= clock.variables(tmp_path / "pause", touch)
        outcome = ansible.playbook(
            str(tmp_path / "night_shift.yml"),
            arguments=f"-e {given}={tmp_path}/plan.json -e rolling_restart_wait_interval=120",
        )
        assert outcome.rc == 0, outcome.output
        return " ".join(outcome.output.split())

    return SimpleNamespace(play=play, emulator=emulator, monday=monday, pause=tmp_path / "pause")


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_night_shift_pauses_ends_with_its_window_and_goes_on_the_next_night(nights):
    play, emulator = nights.play, nights.emulator
    assert "would restart 6 servers one by one" in play("plan", 0, "12:00")
    assert posts(emulator) == []
    paused = play("approved", 1, "01:00", touched_at="01:30")
    assert f"Left for the next run, since {nights.pause} is there; remove it, then run the same command again" in paused
    assert posts(emulator) == [3, 4]
    nights.pause.unlink()
    ended = play("approved", 1, "01:59")
    assert "since it would not be done before the window closes on Tuesday" in ended
    assert "the next window opens on Wednesday" in ended
    assert posts(emulator) == [3, 4, 5, 6]
    by_day = play("approved", 1, "12:00")
    assert "Left for the next run, since no window is open; the next window opens on Wednesday" in by_day
    assert posts(emulator) == [3, 4, 5, 6]
    assert "6 servers: 2 restarted, 4 left alone, 0 failed, 0 not touched" in play("approved", 2, "01:00")
    assert "0 to restart, 6 left alone" in play("approved", 2, "02:00")
    assert posts(emulator) == [3, 4, 5, 6, 2, 1]
    assert sorted(emulator.restarts("OB_SERVER").values()) == [1] * 6
    for _task, _name, status, begun, ended in tasks(emulator):
        opens = begun.astimezone(RECORD.BERLIN).replace(hour=1, minute=0, second=0, microsecond=0)
        assert (status, opens.weekday() in (1, 2)) == ("SUCCESSFUL", True)
        assert opens <= begun < ended <= opens + timedelta(hours=2, minutes=10)
