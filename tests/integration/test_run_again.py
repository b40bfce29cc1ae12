# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The last line of a failure: if it says to run something again, that restarts nothing twice."""

from __future__ import annotations

import pytest
from credentials import BASIC
from in_process import outcome_of

SERVER = {"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True}
AGAIN = "Then run the same command again."
RETRIED = "A retry that succeeds has restarted it. After a rollback, run the same command again."
FLEET = {"servers": [{"cluster": "orders", "server": "10.0.0.1:2882"}], "freeze_server": True}
CHANGE = {"change": "memory-1"}


@pytest.fixture
def run(emulator, monkeypatch, tmp_path):
    """Run a module; returns the last line of its failure, or an empty text."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))

    def last_line(module, **options):
        outcome = outcome_of(module, {"url": emulator.url, **BASIC, **options})
        return outcome.result["msg"].splitlines()[-1] if outcome.failed else ""

    emulator.fail_subtask("Start observer process", times=2)
    return last_line


@pytest.mark.parametrize(
    ("module", "options", "after_the_failure", "where_it_holds"),
    [
        ("server_restart", {**SERVER, **CHANGE}, AGAIN, AGAIN),
        ("fleet_restart", {**FLEET, **CHANGE}, AGAIN, None),
        ("server_restart", SERVER, RETRIED, "Then run the same command again, unless a retry has restarted it."),
    ],
    ids=["server for a change", "fleet for a change", "server each time"],
)
def test_restart_is_run_again_after_a_retry_only_if_that_leaves_it_alone(
    run, emulator, module, options, after_the_failure, where_it_holds
):
    assert run(module, **options, wait=True) == after_the_failure
    held = run(module, **options, wait=True)
    assert where_it_holds in (held, None)
    assert run("task", task_id=1001, state="retried", wait=True) != AGAIN
    assert run("task", task_id=1001, state="retried", wait=True) == ""
    if after_the_failure == AGAIN:
        assert run(module, **options, wait=True) == ""
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 1}


@pytest.mark.parametrize("then", [pytest.param("task_wait", marks=pytest.mark.nightly), "task"])
def test_command_that_only_waits_does_not_tell_to_run_it_again(run, emulator, then):
    assert run("server_restart", **SERVER) == ""
    waits = {"task_wait": {"task_ids": [1001]}, "task": {"task_id": 1001, "state": "retried", "wait": True}}
    run("task_wait", **waits["task_wait"])
    assert run(then, **waits[then]) == (
        "A retry that succeeds has done the work. After a rollback, run again what started the task."
    )
    assert len(emulator.requests("POST")) == (2 if then == "task" else 1)
