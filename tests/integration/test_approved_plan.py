# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The steps of docs/approved-plan.md: a plan is written, approved, and run as it was, unless something has changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from rolling import QUICK, message, plan_lines, posts

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


@pytest.mark.parametrize("files", [False, True])
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
