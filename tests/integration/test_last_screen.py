# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The last screen of a failed restart, however it was asked for: the cause, and the commands that can be run now."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from ansible.release import __version__
from screen import last_screen

CORE = tuple(map(int, __version__.split(".")[:2]))

SERVER = {"cluster": "orders", "server": "10.0.0.1:2882"}
PLAY = {"hosts": "localhost", "gather_facts": False}
RESTART = {**SERVER, "freeze_server": True, "change": "memory-1", "wait": True, "wait_interval": 1}
ROLLOUT = {
    "import_playbook": "oceanbase.ocp.parameter_rollout",
    "vars": {
        "parameter_rollout_clusters": ["orders"],
        "parameter_rollout_values": {"stack_size": "5M"},
        "rolling_restart_wait_interval": 1,
    },
}
ROLE = {
    "ansible.builtin.include_role": {"name": "oceanbase.ocp.rolling_restart"},
    "vars": {"rolling_restart_clusters": ["orders"], "rolling_restart_change": "memory-1"},
}
FLEET = {
    "import_playbook": "oceanbase.ocp.fleet_restart",
    "vars": {"fleet_restart_servers": [SERVER], "fleet_restart_change": "memory-1", "fleet_restart_wait_interval": 1},
}
WAIT = {
    "ansible.builtin.include_role": {"name": "oceanbase.ocp.wait_for_restart"},
    "vars": {"wait_for_restart_tasks": "{{ restart }}", "wait_for_restart_interval": 1},
}
STARTED = {"oceanbase.ocp.server_restart": {**SERVER, "freeze_server": True, "wait": False}, "register": "restart"}
PLAYS = {
    "task": {**PLAY, "tasks": [{"oceanbase.ocp.server_restart": RESTART}]},
    "role": {**PLAY, "tasks": [ROLE]},
    "fleet_restart": FLEET,
    "parameter_rollout": ROLLOUT,
    "wait_for_restart": {**PLAY, "tasks": [STARTED, WAIT]},
}
# What comes after the command of one's choice; a role that only waits does not know what has started the task.
AGAIN, UNKNOWN_STARTER = "Then run the same command again.", "After a rollback, run again what started the task."
OPTIONS = "cluster=orders server=10.0.0.1:2882 freeze_server=true change=memory-1 wait=true wait_interval=1"
CAUSE = "cannot allocate memory, since the host has less of it than the server was given, and 6 GiB are taken by others"


@pytest.fixture
def home():
    """A folder with a path as short as those of people: files that are written there are named in the message."""
    with TemporaryDirectory(prefix="dba-") as folder:
        yield folder


@pytest.fixture
def failed(start_emulator, ansible, connect, home, executables):
    """Run a command whose restart fails in a terminal; returns the last screen."""

    def run(program, *words):
        # So slow that progress is shown.
        emulator = start_emulator("--step-seconds", "0.1")
        fault = {"match": {"subtask": "Start observer process"}, "action": "fail", "message": CAUSE}
        emulator.post("/emulator/faults", {"kind": "subtask", **fault})
        connect(emulator)
        environment = {**os.environ, **ansible.variables(), "PWD": home, "TERM": "xterm"}
        del environment["ANSIBLE_NOCOLOR"]
        return last_screen([str(executables / program), *words], environment)

    return run


def check(screen, then=AGAIN):
    """The cause, the commands and what comes after them are there, and nothing of it was cut.

    They are lines of their own, not only part of the JSON below, which is all that Ansible shows before 2.19.
    """
    if CORE >= (2, 19):
        assert screen.index("cannot allocate memory") < screen.index("\n  Retry what failed: ansible localhost")
    assert "cannot allocate memory" in screen
    assert "FAILED at subtask 5 of 13, Start observer process" in screen
    task = "ansible localhost -m oceanbase.ocp.task -a 'task_id=1001"
    for words in ("state=retried", "subtask_id=50006 state=skipped", "state=rolled_back"):
        assert f"{task} {words} wait=true detail=compact'" in screen
    assert then in screen
    assert screen.count("cannot allocate memory") <= 2


def test_ad_hoc_command(failed):
    check(failed("ansible", "localhost", "-m", "oceanbase.ocp.server_restart", "-a", OPTIONS))


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.nightly] * (name != "role")) for name in PLAYS])
def test_playbook(failed, tmp_path, name):
    playbook = Path(tmp_path) / "playbook.yml"
    playbook.write_text(yaml.safe_dump([PLAYS[name]], sort_keys=False))
    screen = failed("ansible-playbook", str(playbook))
    check(screen, UNKNOWN_STARTER if name == "wait_for_restart" else AGAIN)
