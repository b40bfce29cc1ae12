# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""ansible-playbook is killed by SIGKILL at any stage of a rolling restart: the next run ends it, and undrains all.

`make test` kills while a node is drained. The rest is for the night: a stage is a task of an undisturbed run, and the
kills are spread over all of them, whatever their number.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from itertools import count

import pytest
import yaml
from rolling import PLAYBOOK, QUICK, once, posts

# More than the usual ones by OCP_ROLLING_KILLS=50.
KILLS = int(os.environ.get("OCP_ROLLING_KILLS", "12"))
GOLDEN = 0.6180339887
FLEET = ("--clusters", "1", "--zones", "3", "--servers-per-zone", "2", *QUICK)
WAYS = ({"batch": 1}, {"batch": 2}, {"strategy": "zone"})

FIFTH = {"record": "server", "id": 2}
LATE_START = {"kind": "answer", "action": "late_start", "seconds": 600, "match": FIFTH, "times": None}


@pytest.fixture
def drains(tmp_path):
    """Task files that drain nodes and zones and silence an alarm, by a file for each, and back; and what is drained."""
    folder = tmp_path / "drained"
    folder.mkdir()
    names = {"node": "{{ rolling_restart_node.name }}", "zone": "{{ rolling_restart_batch_now.zone }}", "run": "alarm"}
    given = {}
    for kind, name in names.items():
        for when, state in (("before", "touch"), ("after", "absent")):
            task = {"name": f"{when} the {kind}", "ansible.builtin.file": {"path": f"{folder}/{name}", "state": state}}
            (tmp_path / f"{when}_{kind}.yml").write_text(yaml.safe_dump([task]))
            given[f"{when}_{kind}"] = str(tmp_path / f"{when}_{kind}.yml")
    return given, lambda: sorted(each.name for each in folder.iterdir())


@pytest.fixture
def rolling(ansible, connect, drains):
    """Start the playbook with these variables; returns the process and what it has printed so far."""
    runs = count()

    def start(emulator, change, way):
        connect(emulator)
        given = {"clusters": ["cluster1"], "started_before": change, "gate_timeout": 60, **way, **drains[0]}
        play = {"import_playbook": PLAYBOOK, "vars": {f"rolling_restart_{name}": given[name] for name in given}}
        name = f"run-{next(runs)}"
        process = ansible.start([play], name)
        return process, lambda: ansible.output(name).read_text()

    return start


def stages(text):
    return text.count("\nTASK [")


# Of an undisturbed run, by its way.
COUNTED: dict[str, int] = {}


@pytest.fixture
def last_stage(tmp_path, rolling, start_emulator, change):
    def counted(way):
        if str(way) not in COUNTED:
            undisturbed, text = rolling(start_emulator(*FLEET), change, way)
            assert undisturbed.wait(timeout=120) == 0, text()
            COUNTED[str(way)] = stages(text())
            # The servers of another emulator are the same to the journal.
            shutil.rmtree(tmp_path / "home/oceanbase.ocp")
        return COUNTED[str(way)]

    return counted


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_run_is_ended_by_the_next_one_and_leaves_nothing_drained(
    ansible, rolling, last_stage, start_emulator, change, drains, seed
):
    chance = random.Random(seed)
    way = WAYS[seed % len(WAYS)]
    stage = 1 + int(last_stage(way) * (seed * GOLDEN % 1))
    emulator = start_emulator(*FLEET)
    process, text = rolling(emulator, change, way)
    while stages(text()) < stage and process.poll() is None:
        time.sleep(0.01)
    # At any moment of the stage; no rule about time is proven by it.
    time.sleep(chance.uniform(0, 0.3))
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, text()
    ansible.end()

    again, text = rolling(emulator, change, way)
    assert again.wait(timeout=120) == 0, text()
    assert emulator.restarts("OB_SERVER") == once(emulator)
    assert drains[1]() == []


@pytest.mark.nightly
def test_run_killed_twice_restarts_each_server_once_and_leaves_nothing_drained(
    ansible, rolling, start_emulator, change, drains
):
    emulator = start_emulator("--clusters", "1", "--zones", "3", "--servers-per-zone", "2", "--step-seconds", "0.03")
    for begun in (2, 5):
        if begun == 5:
            emulator.post("/emulator/faults", LATE_START)
        process, text = rolling(emulator, change, {})
        while len(posts(emulator)) < begun:
            assert process.poll() is None, text()
            time.sleep(0.05)
        if begun == 5:
            # The task of the fifth has ended, and the start that it made does not show yet.
            while emulator.get("/api/v2/tasks/instances?status=RUNNING")["contents"]:
                time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        ansible.end()
        assert drains[1]()
    process, text = rolling(emulator, change, {})
    # The last run waits for it.
    while "(id 2) of cluster cluster1 (id 1): waiting" not in text():
        assert process.poll() is None, text()
        assert len(posts(emulator)) == 5, text()
        time.sleep(0.05)
    emulator.delete("/emulator/faults")
    assert process.wait(timeout=120) == 0, text()
    assert emulator.restarts("OB_SERVER") == once(emulator)
    assert posts(emulator) == [3, 4, 5, 6, 2, 1]
    assert drains[1]() == []
