# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A controller or a service that is killed in the middle: the next run restarts nothing twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time

import pytest
from fleet_play import fleet_play, now

# More than the usual few by OCP_CONTROLLER_CRASHES=10.
CRASHES = int(os.environ.get("OCP_CONTROLLER_CRASHES", "3"))


@pytest.mark.parametrize("seed", range(CRASHES))
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
