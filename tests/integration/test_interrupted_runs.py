# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Ctrl-C, a killed controller, a crash of the service: the next run goes on, and nothing is restarted twice."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from credentials import BASIC
from fleet_play import fleet_play, now
from progress_output import progress_lines

# More than the usual few by OCP_CONTROLLER_CRASHES=10.
CRASHES = int(os.environ.get("OCP_CONTROLLER_CRASHES", "3"))


def test_interrupted_wait_shows_the_task_id_and_can_be_resumed(ansible, start_emulator):
    emulator = start_emulator("--step-seconds", "0.5")
    options = {"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True, "wait": True}
    task = {"name": "restart", "oceanbase.ocp.server_restart": {"url": emulator.url, **BASIC, **options}}
    play = {"hosts": "localhost", "gather_facts": False, "tasks": [task]}
    process = ansible.start([play], "first")
    shown = ansible.output("first")
    until = time.monotonic() + 30
    while not progress_lines(shown.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    # It is there while the wait goes on, not when a buffer is full.
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) != 0
    assert "User interrupted execution" in shown.read_text()
    assert progress_lines(shown.read_text())[0].startswith("  1001 (Restart OB server 10.0.0.1) RUNNING ")
    again = ansible.playbook([play])
    assert again.rc == 0, again.output
    assert (again.result["action"], again.result["task_id"]) == ("attached", 1001)
    assert progress_lines(again.output)[0].startswith("  1001 (Restart OB server 10.0.0.1) RUNNING ")
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 1}


STARTED = "  server 10.0.0.1:2882 (id 1) of cluster orders (id 1): submitted, task 1001"


def server_restart(emulator, **keywords):
    options = {"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True, "wait": True}
    options |= {"show_progress": False, "url": emulator.url, **BASIC}
    return {"name": "restart", "oceanbase.ocp.server_restart": options, **keywords}


@pytest.mark.parametrize(
    "group",
    [pytest.param(True, id="to all"), pytest.param(False, id="to ansible-playbook alone", marks=pytest.mark.nightly)],
)
def test_ctrl_c_leaves_the_task_id_on_the_screen_without_progress(ansible, start_emulator, group):
    emulator = start_emulator("--step-seconds", "5")
    process = ansible.start([{"hosts": "localhost", "gather_facts": False, "tasks": [server_restart(emulator)]}], "run")
    shown = ansible.output("run")
    until = time.monotonic() + 30
    while not emulator.requests("POST") and time.monotonic() < until:
        time.sleep(0.05)
    while STARTED not in shown.read_text() and time.monotonic() < until:
        time.sleep(0.05)
    assert process.poll() is None
    (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) != 0
    assert STARTED in shown.read_text().splitlines()
    assert progress_lines(shown.read_text()) == []


@pytest.mark.smoke
def test_time_out_of_a_task_keeps_the_task_id(ansible, start_emulator):
    emulator = start_emulator("--step-seconds", "60")
    restart = server_restart(emulator, timeout=3, retries=2, until="run is success", register="run")
    after = {"name": "registered", "ansible.builtin.debug": {"msg": "task {{ run.task_id }} of {{ run.target.name }}"}}
    outcome = ansible.tasks({"block": [restart], "rescue": [after]})
    assert outcome.rc == 0, outcome.output
    result = outcome.results["restart"]
    assert (result["changed"], result["action"], result["task_id"]) == (True, "submitted", 1001)
    assert result["task"]["status"] == "RUNNING"
    assert result["timedout"]["period"] == 3
    assert re.match(
        r"Timed out after 3 second|The oceanbase.ocp.server_restart action failed to execute", result["msg"]
    )
    assert "oceanbase.ocp.task_wait -a 'task_ids=1001 detail=compact'" in result["msg"]
    assert outcome.results["registered"]["msg"] == "task 1001 of 10.0.0.1:2882"
    # As without the collection's doing, a time-out is not tried again.
    assert outcome.output.splitlines().count(STARTED) == 1
    assert (outcome.output.count("attached"), len(emulator.requests("POST"))) == (0, 1)
    assert BASIC["password"] not in str(result)


@pytest.mark.nightly
def test_until_sends_no_second_request_while_the_first_is_held_back(ansible, start_emulator):
    emulator = start_emulator("--step-seconds", "0.2")
    held_back = {"kind": "proxy", "action": "hold", "seconds": 5, "match": {"method": "POST", "path": "*/restart"}}
    emulator.post("/emulator/faults", held_back)
    restart = server_restart(emulator, retries=12, delay=1, until="run is success", register="run")
    restart["oceanbase.ocp.server_restart"]["timeout"] = 2
    outcome = ansible.tasks(restart)
    assert outcome.rc == 0, outcome.output
    assert outcome.result["attempts"] > 1
    assert (outcome.result["action"], outcome.result["task_id"]) == ("adopted", 1001)
    # The page of the proxy, and what it delivered later.
    assert [line.split()[3] for line in emulator.requests("POST")] == ["504", "200"]
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 1}


@pytest.mark.smoke
def test_time_out_of_a_no_log_task_shows_nothing(ansible, start_emulator):
    emulator = start_emulator("--step-seconds", "60")
    restart = server_restart(emulator, timeout=3, register="run", no_log=True)
    after = {"name": "registered", "ansible.builtin.debug": {"msg": "{{ run.task_id + 7 }}"}}
    outcome = ansible.tasks({"block": [restart], "rescue": [after]})
    assert outcome.results["registered"]["msg"] in (1008, "1008")
    assert "1001" not in outcome.output


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, CRASHES))])
def test_killed_playbook_restarts_each_server_once_when_rerun(ansible, start_emulator, seed):
    chance = random.Random(seed)
    emulator = start_emulator("--step-seconds", "0.1")
    play = [fleet_play(emulator, range(1, 7), now(), wait=chance.random() < 0.5)]
    killed = ansible.start(play, "killed")
    # The kill may come at any moment, which is what is tried here; no rule about time is proven by it.
    time.sleep(chance.uniform(0.5, 6))
    if chance.random() < 0.5:
        os.killpg(killed.pid, signal.SIGKILL)
    else:
        killed.kill()
    killed.wait(timeout=20)
    outcome = ansible.playbook(play)
    assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_SERVER") == {f"10.0.0.{number}:2882": 1 for number in range(1, 7)}
    assert " changed=0 " in ansible.playbook(play).output


@pytest.mark.nightly
def test_wait_survives_a_service_crash(ansible, start_emulator, tmp_path):
    database = ("--database", str(tmp_path / "emulator.db"), "--step-seconds", "0.4")
    emulator = start_emulator(*database)
    play = [fleet_play(emulator, [1], now(), wait=True)]
    process = ansible.start(play, "controller")
    while not emulator.requests("POST") and process.poll() is None:
        time.sleep(0.02)
    emulator.kill()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1)
    again = start_emulator(*database, "--port", emulator.url.rsplit(":", 1)[1])
    assert process.wait(timeout=60) == 0, ansible.output("controller").read_text()
    assert again.restarts("OB_SERVER") == {"10.0.0.1:2882": 1}


@pytest.mark.nightly
def test_run_whose_controller_is_killed_requests_nothing_more(ansible, start_emulator):
    """Its worker outlives it, and nobody sees what that does."""
    emulator = start_emulator("--step-seconds", "0.1")
    options = {"cluster": "orders", "freeze_server": False, "change": "memory", "url": emulator.url, **BASIC}
    task = {"name": "restart", "oceanbase.ocp.cluster_rolling_restart": options}
    process = ansible.start([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}], "run")
    until = time.monotonic() + 60
    while not emulator.requests("POST") and time.monotonic() < until:
        time.sleep(0.05)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
    while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{child}").exists() for child in children)
    assert len(emulator.requests("POST")) == 1
    ansible.end()
